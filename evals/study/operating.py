"""What each configuration of the five operations finds, and which of them a gate chooses.

There are 32 configurations; filtering by threshold changes no ranking of a question that memory answers, so 16 remain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...retrieval.gate_learning import GateExample, GateSettings, learn_gate
from ...retrieval.gates import OperationGate, score_shape
from ...retrieval.operations import USUAL, base_scores, configurations, switched
from ...retrieval.ranker import Ranker
from ...stores.embedders.base import FloatArray
from ..metrics import ndcg_at_k, recall_at_k
from ..training import replaced
from .records import CUT, DEPTH, Observed

__all__ = [
    "CHOICES",
    "THRESHOLD",
    "Configured",
    "chosen_operations",
    "configured",
    "learned_turns",
    "plain_operations",
    "with_gate",
]

THRESHOLD = "threshold_filtering"
CHOICES: tuple[frozenset[str], ...] = tuple(one for one in configurations() if THRESHOLD not in one)
"""The configurations that may rank a question differently."""
_SINGLE = frozenset({"temporal_ordering", "semantic_reranking"})


class Configured:
    """One question under every configuration.

    Attributes:
        recall, rewards: of :data:`CHOICES`, ``(16,)``; a reward is the mean of recall and nDCG at 10.
    """

    __slots__ = ("recall", "rewards")

    def __init__(self, recall: npt.NDArray[np.float64], rewards: npt.NDArray[np.float64]) -> None:
        self.recall, self.rewards = recall, rewards


def plain_operations(one: Observed, on: frozenset[str]) -> frozenset[str]:
    """The operations that matter for a question: without the threshold, and without several steps where there is one search."""
    searches = one.asked.operable.searched.searches if one.asked.operable is not None else ()
    return on - {THRESHOLD} - (frozenset() if len(searches) > 1 else {"multi_step"})


def configured(one: Observed, ranker: Ranker) -> Configured:
    """Rank a question under every configuration, by a ranker that was not trained on its conversation."""
    gold = one.asked.question.evidence
    scores: dict[frozenset[str], FloatArray] = {}
    found: dict[frozenset[str], tuple[float, float]] = {}
    for choice in CHOICES:
        on = plain_operations(one, choice)
        if on in found:
            continue
        seen = on & _SINGLE
        if seen not in scores:
            scores[seen] = base_scores(ranker, one.asked.features, seen)
        turns = learned_turns(ranker, one, on, scores[seen])
        found[on] = recall_at_k(turns, gold, CUT), ndcg_at_k(turns, gold, CUT)
    values = np.array([found[plain_operations(one, choice)] for choice in CHOICES])
    return Configured(values[:, 0], values.mean(axis=1))


def learned_turns(
    ranker: Ranker, one: Observed, on: frozenset[str], scores: FloatArray | None = None
) -> tuple[str, ...]:
    """The turns as a recall with these operations gives them, best first; by the scorer alone without further searches."""
    if one.asked.operable is None:
        values = base_scores(ranker, one.asked.features, on) if scores is None else scores
        return tuple(one.asked.ranked_turns(values)[:DEPTH])
    return tuple(one.asked.operable.ranked(ranker, plain_operations(one, on), scores)[:DEPTH])


def chosen_operations(ranker: Ranker, one: Observed) -> frozenset[str]:
    """What the gate of some weights switches on for a question; what is usual where they have none."""
    gate = OperationGate(ranker.weights)
    if not gate.trained or one.asked.operable is None:
        return USUAL
    vector, shape = _seen(ranker, one)
    return switched(gate.weights_of(vector, one.asked.features.cues, shape), {})


def with_gate(
    ranker: Ranker, training: Sequence[tuple[Observed, Ranker, Configured]], settings: GateSettings | None = None
) -> Ranker:
    """A ranker with a gate trained on questions of other conversations.

    Args:
        training: questions, each with the ranker that had not seen it and what that ranker finds under each configuration.
        settings: of the training; the usual ones when None.
    """
    places = [CHOICES.index(one - {THRESHOLD}) for one in configurations()]
    examples = []
    for one, unseen, table in training:
        if one.asked.operable is None:
            continue
        vector, shape = _seen(unseen, one)
        rewards = np.asarray(table.rewards[places], np.float32)
        examples.append(GateExample(vector=vector, cues=one.asked.features.cues, shape=shape, rewards=rewards))
    if not examples:
        return ranker
    return Ranker(replaced(ranker.weights, learn_gate(examples, settings or GateSettings())))


def _seen(ranker: Ranker, one: Observed) -> tuple[FloatArray, FloatArray]:
    """The question's vector and the shape of its scores, which a gate sees."""
    features = one.asked.features
    parts = one.asked.operable.searched.parts if one.asked.operable is not None else 0
    return one.vector, score_shape(features, ranker.score(features), parts)
