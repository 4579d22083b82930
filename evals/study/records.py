"""What one pass over the conversations keeps: the talks, the questions with every ranking, and what each cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hexamem.evals.gate_training import Operable
from hexamem.evals.metrics import Interval, paired_bootstrap, recall_at_k
from hexamem.evals.training import AskedQuestion
from hexamem.models.usage import Usage
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "CUT",
    "DEPTH",
    "MODEL_NEEDED",
    "Observed",
    "Ranked",
    "Talk",
    "arm_recalls",
    "by_data_set",
    "difference",
    "halves",
    "mean",
    "recalls",
]

CUT = 10
"""How many turns count in the study's recall, unless it says otherwise."""
DEPTH = 40
"""How long the rankings are that are kept."""
MODEL_NEEDED = "needs a model"
"""Stands in place of figures that take a chat model, where none was given."""


@dataclass(frozen=True, slots=True)
class Talk:
    """A stored conversation as the baselines read it, ``n`` turns oldest first.

    Attributes:
        id: of this talk in the study; ``conversation`` the conversation's own, which two data sets may share.
        turns: their ids; ``texts`` and ``speakers`` what was said, by whom.
        tokens: what each costs in a prompt, with its time and speaker, ``(n,)``.
        seconds: when each was said, seconds since 1970 (0 where no time is known), ``(n,)``.
        vectors: of the words, unit length, ``(n, d)``.
        written: tokens that models read and wrote while it was stored; 0 with rules.
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
        """Turn id → its place."""
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
        vector: of the question, unit length, ``(d,)``.
        rankings: by the name of the arm; rankings by trained weights are computed later from the features.
    """

    data_set: str
    talk: Talk
    asked: AskedQuestion
    vector: FloatArray
    rankings: dict[str, Ranked] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        return self.talk.places

    @property
    def operable(self) -> Operable:
        """All searches of the question."""
        assert self.asked.operable is not None
        return self.asked.operable

    @cached_property
    def dense(self) -> FloatArray:
        """Cosine of the question with every turn."""
        return np.asarray(self.talk.vectors @ self.vector, np.float32)

    def tokens_of(self, turns: Sequence[str]) -> int:
        """What the turns cost in a prompt."""
        return int(sum(self.talk.tokens[self.places[turn]] for turn in turns if turn in self.places))

    def packed(self, turns: Sequence[str], budget: int) -> list[str]:
        """The turns that go into a budget, best first; one that does not fit is left out, as ``recall`` packs."""
        kept, used = [], 0
        for turn in turns:
            cost = self.tokens_of([turn])
            if used + cost <= budget:
                kept.append(turn)
                used += cost
        return kept


def recalls(
    observed: Sequence[Observed], ranking: Callable[[Observed], Sequence[str]], k: int = CUT
) -> npt.NDArray[np.float64]:
    """Recall of evidence turns at k of each question."""
    return np.array([recall_at_k(list(ranking(one)), one.asked.question.evidence, k) for one in observed], np.float64)


def arm_recalls(observed: Sequence[Observed], arm: str, k: int = CUT) -> npt.NDArray[np.float64]:
    """The same of an arm's rankings."""
    return recalls(observed, lambda one: one.rankings[arm].turns, k)


def mean(values: npt.NDArray[np.float64] | Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return float(np.mean(values)) if len(values) else None


def difference(
    observed: Sequence[Observed],
    a: npt.NDArray[np.float64],
    b: npt.NDArray[np.float64],
    *,
    samples: int,
    seed: int = 0,
) -> Interval | None:
    """``a - b`` over the questions by paired bootstrap over conversations; None for fewer than two conversations."""
    groups: dict[str, list[int]] = {}
    for index, one in enumerate(observed):
        groups.setdefault(one.talk.id, []).append(index)
    if len(groups) < 2:
        return None
    return paired_bootstrap(
        [float(a[rows].mean()) for rows in groups.values()],
        [float(b[rows].mean()) for rows in groups.values()],
        weights=[len(rows) for rows in groups.values()],
        samples=samples,
        seed=seed,
    )


def halves(observed: Sequence[Observed]) -> list[tuple[list[Observed], list[Observed]]]:
    """The questions of every other conversation and the remaining ones, as (held out, trained on), and the other way
    round; nothing for a single conversation."""
    names = list(dict.fromkeys(one.talk.conversation for one in observed))
    if len(names) < 2:
        return []
    return [
        (
            [one for one in observed if one.talk.conversation in part],
            [one for one in observed if one.talk.conversation not in part],
        )
        for part in (set(names[::2]), set(names[1::2]))
    ]


def by_data_set(observed: Sequence[Observed]) -> Mapping[str, list[Observed]]:
    """The questions of each data set, in the order in which they were given."""
    found: dict[str, list[Observed]] = {}
    for one in observed:
        found.setdefault(one.data_set, []).append(one)
    return found
