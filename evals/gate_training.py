"""What the gate of the operations is trained on: every question's reward under each of the 32 configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexamem.evals.metrics import ndcg_at_k, recall_at_k
from hexamem.retrieval.decide_and_rank import RecallSearches
from hexamem.retrieval.gates import GateExample, score_shape
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_operations import (
    ABSTAIN,
    configurations,
    order,
    order_by_configuration,
    ranking_operations,
)
from hexamem.stores.embedders.base import FloatArray

__all__ = ["DEPTH", "Operable", "found_by_configuration", "gate_example", "rewards_of"]

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Operable:
    """All searches of a question, and which turns each record stands for."""

    searched: RecallSearches
    turns: Mapping[str, tuple[str, ...]]

    def plain(self, on: frozenset[str]) -> frozenset[str]:
        """Those of the operations that may rank the question differently."""
        return ranking_operations(on, self.searched.searches)

    def gate_input(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a gate sees of the question: its cues, and the shape of these scores of the first search."""
        features = self.searched.searches[0].features
        return features.cues, score_shape(features, scores)

    def ranked(self, ranker: Ranker, on: frozenset[str], scores: FloatArray | None = None, k: int = DEPTH) -> list[str]:
        """The turns in the order in which a recall with these operations gives them, best first."""
        return self.turns_of(order(ranker, self.searched.searches, self.searched.steps, on, k, scores).ids)

    def turns_of(self, ids: Iterable[str]) -> list[str]:
        """The turns for which records stand, each once."""
        return list(dict.fromkeys(turn for name in ids for turn in self.turns.get(name, (f"unknown:{name}",))))


def found_by_configuration(
    operable: Operable, evidence: Sequence[str], ranker: Ranker
) -> dict[frozenset[str], tuple[float, float]]:
    """Recall and nDCG of the evidence at 10 under each configuration, by what :meth:`Operable.plain` leaves of it."""
    orders = order_by_configuration(ranker, operable.searched.searches, operable.searched.steps, DEPTH)
    ranked = {on: operable.turns_of(ids) for on, ids in orders.items()}
    return {
        on: (recall_at_k(turns, evidence, DEPTH), ndcg_at_k(turns, evidence, DEPTH)) for on, turns in ranked.items()
    }


def rewards_of(operable: Operable, evidence: Sequence[str], ranker: Ranker, probability: float | None) -> FloatArray:
    """The reward of each configuration, float32 ``(32,)``, in the order of ``configurations()``.

    The reward of an answerable question is the mean of recall and nDCG of its evidence at 10, that of an unanswerable
    one is 1 where the recall gives no hits.

    Args:
        evidence: turns; none where memory does not hold the answer.
        probability: that it does, as the ranking estimates it; None where it was not trained to.
    """
    abstains = probability is not None and probability < ABSTAIN
    ranks = bool(evidence) and len(operable.searched.searches[0].features.pool) > 0
    measures = found_by_configuration(operable, evidence, ranker) if ranks else {}
    rewards = np.zeros(32, np.float32)
    for number, on in enumerate(configurations()):
        if "threshold_filtering" in on and abstains:
            rewards[number] = float(not evidence)
        elif measures:
            rewards[number] = sum(measures[operable.plain(on)]) / 2
    return rewards


def gate_example(
    operable: Operable, evidence: Sequence[str], ranker: Ranker, probability: float | None, conversation: str = ""
) -> GateExample:
    """A question as the gate is trained on it, by a ranker that was not trained on its conversation."""
    cues, shape = operable.gate_input(ranker.score(operable.searched.searches[0].features))
    rewards = rewards_of(operable, evidence, ranker, probability)
    return GateExample(cues=cues, shape=shape, rewards=rewards, group=conversation)
