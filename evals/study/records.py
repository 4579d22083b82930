"""What one pass over the conversations measures: conversations, questions with every ranking, and what each cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.gate_training import Operable
from hexamem.evals.metrics import Interval, paired_bootstrap, recall_at_k
from hexamem.evals.training import AskedQuestion
from hexamem.models.usage import Usage
from hexamem.stores.embedders.base import FloatArray

__all__ = ["CUT", "DEPTH", "Observed", "Ranked", "Talk", "Values", "arm_recalls", "difference", "halves", "recalls"]

CUT = 10
"""How many turns count in the study's recall, unless it says otherwise."""
DEPTH = 40
"""Length of the rankings."""
Values: TypeAlias = npt.NDArray[np.float64]
"""A number for each question, ``(n,)``, or for each question and configuration."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A stored conversation as the baselines read it, ``n`` turns oldest first.

    Attributes:
        id: of this conversation in the study; ``conversation`` is its own, which two data sets may share.
        turns: their ids, with ``texts`` and ``speakers``.
        tokens: what each costs in a prompt, with its time and speaker, ``(n,)``.
        seconds: time of each, seconds since 1970 (0 where no time is known), ``(n,)``.
        vectors: of the texts, unit length, ``(n, d)``.
        written: tokens that models read and wrote while it was stored; 0 without a model.
    """

    id: str
    conversation: str
    data_set: str
    turns: tuple[str, ...]
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    tokens: npt.NDArray[np.int64]
    seconds: npt.NDArray[np.float64]
    vectors: FloatArray
    written: int = 0

    @property
    def places(self) -> dict[str, int]:
        """Turn id → index."""
        return {turn: place for place, turn in enumerate(self.turns)}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One ranking of a question: turns best first, each once, and what models read and wrote for it."""

    turns: tuple[str, ...]
    usage: Usage = field(default_factory=Usage)
    degraded: tuple[str, ...] = ()


@dataclass
class Observed:
    """One question, asked once.

    Attributes:
        asked: with its candidates' features.
        operable: all searches of the question.
        vector: of the question, unit length, ``(d,)``.
        rankings: by the name of the arm; rankings by trained weights are computed later from the features.
    """

    talk: Talk
    asked: AskedQuestion
    operable: Operable
    vector: FloatArray
    rankings: dict[str, Ranked] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        """Turn id → index in the conversation."""
        return self.talk.places

    @property
    def evidence(self) -> tuple[str, ...]:
        """The turns that answer the question."""
        return self.asked.question.evidence

    @property
    def kind(self) -> str:
        """The category of the question."""
        return self.asked.question.category

    @cached_property
    def dense(self) -> FloatArray:
        """Cosine of the question with every turn."""
        return np.asarray(self.talk.vectors @ self.vector, np.float32)

    def tokens_of(self, turns: Sequence[str]) -> int:
        """What the turns cost in a prompt."""
        return int(sum(self.talk.tokens[self.places[turn]] for turn in turns if turn in self.places))

    def packed(self, turns: Sequence[str], budget: int) -> list[str]:
        """The turns that fit into a budget, best first; one that does not fit is left out, as ``recall`` packs."""
        packed: list[str] = []
        for turn in turns:
            cost = self.tokens_of([turn])
            if cost <= budget:
                packed.append(turn)
                budget -= cost
        return packed


def recalls(observed: Sequence[Observed], ranking: Callable[[Observed], Sequence[str]], k: int = CUT) -> Values:
    """Recall of evidence turns at k of each question."""
    return np.array([recall_at_k(list(ranking(one)), one.evidence, k) for one in observed], np.float64)


def arm_recalls(observed: Sequence[Observed], arm: str, k: int = CUT) -> Values:
    """The same of an arm's rankings."""
    return recalls(observed, lambda one: one.rankings[arm].turns, k)


def difference(observed: Sequence[Observed], a: Values, b: Values, *, samples: int, seed: int = 0) -> Interval | None:
    """``a - b`` over the questions by paired bootstrap over conversations; None for fewer than two conversations."""
    groups: dict[str, list[int]] = {}
    for index, one in enumerate(observed):
        groups.setdefault(one.talk.id, []).append(index)
    if len(groups) < 2:
        return None
    means = ([float(values[rows].mean()) for rows in groups.values()] for values in (a, b))
    return paired_bootstrap(*means, weights=[len(rows) for rows in groups.values()], samples=samples, seed=seed)


def halves(observed: Sequence[Observed]) -> list[tuple[list[Observed], list[Observed]]]:
    """The questions of every other conversation and the remaining ones, as (held out, trained on), and the other way
    round; nothing for a single conversation."""
    names = list(dict.fromkeys(one.talk.conversation for one in observed))
    parts = (set(names[::2]), set(names[1::2])) if len(names) > 1 else ()
    return [
        (
            [one for one in observed if one.talk.conversation in part],
            [one for one in observed if one.talk.conversation not in part],
        )
        for part in parts
    ]
