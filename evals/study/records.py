"""What one pass over the conversations yields: each question with every ranking, and the calls and tokens of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.asked_questions import AskedQuestion
from hexamem.evals.metrics import Interval, paired_bootstrap, recall_at_k
from hexamem.retrieval.decide_and_rank import RecallSearches
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_operations import order

__all__ = [
    "CUT",
    "DEPTH",
    "RANKINGS",
    "Observation",
    "Ranked",
    "StoredConversation",
    "Values",
    "arm_recalls",
    "difference",
    "halves",
    "recalls",
]

RANKINGS: Mapping[str, str] = {
    "dense": "cosine of the embedder's vectors",
    "bm25": "BM25 over stems and bigrams",
    "rrf": "reciprocal rank fusion of dense, BM25 and late interaction",
    "rrf_neighbours": "the same, with a share of each step's score added to the steps next to it",
    "label_density": "STITCH: label density first, similarity breaks ties",
    "research": "rounds of plan, search, integrate and reflect; without a model, no calls",
}
"""The rankings that are asked of the memory, in the order of the tables, with a description for the report."""
CUT = 10
"""Default cut-off of recall and nDCG."""
DEPTH = 40
"""Length of the rankings."""
Values: TypeAlias = npt.NDArray[np.float64]
"""A number for each question, ``(n,)``, or for each question and configuration."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation that was stored for the study.

    Attributes:
        id: unique in the study: data set and ``source_id``.
        source_id: id of the conversation itself; two data sets may hold the same one with other questions.
        tokens: turn id → tokens of the turn in a prompt, with its time and speaker.
    """

    id: str
    source_id: str
    data_set: str
    tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One ranking of a question: turns best first, without duplicates, and the model calls and tokens it took."""

    turns: tuple[str, ...]
    calls: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()


@dataclass
class Observation:
    """One question with the candidates and rankings that the memory returned.

    Attributes:
        asked: the question and the features of its candidates.
        searched: all searches of the question.
        turns: candidate of any of these → its turns.
        rankings: name → ranking; those by trained weights are computed later from the features.
    """

    conversation: StoredConversation
    asked: AskedQuestion
    searched: RecallSearches
    turns: Mapping[str, tuple[str, ...]]
    rankings: dict[str, Ranked] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[str, ...]:
        """The turns that answer the question."""
        return self.asked.question.evidence

    @property
    def kind(self) -> str:
        """The category of the question."""
        return self.asked.question.category

    def ranked(self, ranker: Ranker, on: frozenset[str]) -> list[str]:
        """The turns as a recall with these operations returns them, best first."""
        ids = order(ranker, self.searched.searches, self.searched.steps, on, CUT).ids
        return list(dict.fromkeys(turn for name in ids for turn in self.turns[name]))

    def tokens_of(self, turns: Sequence[str]) -> int:
        """Tokens of the turns in a prompt."""
        return sum(self.conversation.tokens.get(turn, 0) for turn in turns)

    def packed(self, turns: Sequence[str], budget: int) -> list[str]:
        """The turns that fit into a budget of tokens, best first; a turn that does not fit is skipped, as ``recall`` does."""
        packed: list[str] = []
        for turn in turns:
            cost = self.tokens_of([turn])
            if cost <= budget:
                packed.append(turn)
                budget -= cost
        return packed


def recalls(
    observations: Sequence[Observation], ranking: Callable[[Observation], Sequence[str]], k: int = CUT
) -> Values:
    """Recall of evidence turns at k of each question."""
    return np.array(
        [recall_at_k(list(ranking(observation)), observation.evidence, k) for observation in observations], np.float64
    )


def arm_recalls(observations: Sequence[Observation], arm: str, k: int = CUT) -> Values:
    """Recall at k of each question by the ranking of that name."""
    return recalls(observations, lambda observation: observation.rankings[arm].turns, k)


def difference(
    observations: Sequence[Observation], a: Values, b: Values, *, samples: int, seed: int = 0
) -> Interval | None:
    """``a - b`` over the questions by paired bootstrap over conversations; None for fewer than two conversations."""
    groups: dict[str, list[int]] = {}
    for index, observation in enumerate(observations):
        groups.setdefault(observation.conversation.id, []).append(index)
    if len(groups) < 2:
        return None
    means = ([float(values[rows].mean()) for rows in groups.values()] for values in (a, b))
    return paired_bootstrap(*means, weights=[len(rows) for rows in groups.values()], samples=samples, seed=seed)


def halves(observations: Sequence[Observation]) -> list[tuple[list[Observation], list[Observation]]]:
    """Two splits (held out, trained on): every second conversation against the others, and the reverse; none for a single
    conversation."""
    names = list(dict.fromkeys(observation.conversation.source_id for observation in observations))
    parts = (set(names[::2]), set(names[1::2])) if len(names) > 1 else ()
    return [
        (
            [observation for observation in observations if observation.conversation.source_id in part],
            [observation for observation in observations if observation.conversation.source_id not in part],
        )
        for part in parts
    ]
