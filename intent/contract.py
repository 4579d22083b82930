"""The interface of labelers, with their input and output (STITCH, section 3).

A labeler receives steps in the order in which they were stored and returns a :class:`LabelBatch`; it uses no store.
``agents/labelling/batches.py`` reads steps from the ledger and writes batches. The labels of a step depend only on steps
before it; a *revision* (:attr:`LabelBatch.revised`) may change them later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hexamem.intent.scope_text import explicit_keys, words_of
from hexamem.memory_types.labels import Label, Tier

__all__ = ["RECENT", "Embed", "LabelBatch", "LabeledStep", "Labeler", "PageTexts", "StepView", "Vectors"]

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
"""n texts → ``(n, d)`` unit rows; a row of zeros for a text without a known token."""


@dataclass(frozen=True, kw_only=True)
class StepView:
    """A step as input of a labeler.

    Attributes:
        speaker: the name if there is one, otherwise the role.
        text: the indexed text of the step, including captions and tool calls.
        vector: its embedding, ``(d,)``, a unit vector or zeros.
    """

    id: str
    thread_id: str
    turn: int
    role: str
    speaker: str
    text: str
    occurred_at: datetime
    vector: Vectors = field(compare=False, repr=False)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the text: see :func:`~hexamem.intent.scope_text.words_of`."""
        return words_of(self.text)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The explicit keys of the text: see :func:`~hexamem.intent.scope_text.explicit_keys`."""
        return explicit_keys(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledStep:
    """A step with its contextual intent.

    Attributes:
        scope: label id of its one thematic scope.
        events: label ids of one or more event types, the main one first; each may be fine (its parent is coarse).
        entities: label ids of key entity types.
        resolved_text: the text with references put into words; equals ``step.text`` where there was none.
        summary: the canonical summary ``c_t``, one line.
        antecedents: ids of the earlier steps that references were resolved from.
        confidence: 0..1, how sure the labeller is of the scope and the event (the lesser); the model tier may be asked
            for those below a threshold alone.
        provisional: may be refined when its batch closes.
    """

    step: StepView
    scope: str
    events: tuple[str, ...]
    entities: tuple[str, ...] = ()
    resolved_text: str
    summary: str
    antecedents: tuple[str, ...] = ()
    confidence: float = 1.0
    provisional: bool = False
    tier: Tier = "embedded"


class PageTexts(NamedTuple):
    """Header and memo of a page; "" leaves what there is."""

    header: str
    memo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBatch:
    """The outcome for one batch of steps.

    Attributes:
        steps: one a step, in the order given.
        labels: labels that are new or changed (a name, a parent, an alias, a gist), each as it is now.
        revised: earlier steps whose labels changed, as they are now.
        pages: page id → texts of the pages in which the steps lie; models alone write these.
        degraded: what fell back, in plain words.
    """

    steps: tuple[LabeledStep, ...]
    labels: tuple[Label, ...] = ()
    revised: tuple[LabeledStep, ...] = ()
    pages: Mapping[str, PageTexts] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


class Labeler(Protocol):
    """Labels the steps of one user, batch after batch, and remembers what it needs to know between them.

    One that reads questions too has a method ``query(text)``, which returns a
    :class:`~hexamem.intent.query.QueryFilter`.
    """

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        """Label steps that follow those labelled before, in order; several threads may be mixed."""
        ...

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Restore the state of an earlier process.

        Args:
            labels: all labels of the user, including aliases.
            recent: scope id → its latest labelled steps, oldest first, at most :data:`RECENT` each.
        """
        ...


RECENT = 32
"""The number of a scope's latest steps that :meth:`Labeler.restore` receives, on which alone a labeler may rely."""
