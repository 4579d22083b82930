"""What each configuration of the five operations finds, and which of them a gate chooses.

There are 32 configurations; filtering by threshold changes no ranking of a question that memory answers, so 16 remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexamem.evals.gate_training import found_by_configuration
from hexamem.evals.study.records import DEPTH, Observed
from hexamem.evals.training import replaced
from hexamem.retrieval.gates import GateExample, GateSettings, OperationGate, learn_gate, switched
from hexamem.retrieval.operations import configurations
from hexamem.retrieval.ranker import Ranker

__all__ = [
    "CHOICES",
    "THRESHOLD",
    "Configured",
    "chosen_operations",
    "configured",
    "learned_turns",
    "with_gate",
]

THRESHOLD = "threshold_filtering"
CHOICES: tuple[frozenset[str], ...] = tuple(one for one in configurations() if THRESHOLD not in one)
"""The configurations that may rank a question differently."""


@dataclass(frozen=True, slots=True)
class Configured:
    """One question under every configuration.

    Attributes:
        recall, rewards: of :data:`CHOICES`, ``(16,)``; a reward is the mean of recall and nDCG at 10.
    """

    recall: npt.NDArray[np.float64]
    rewards: npt.NDArray[np.float64]


def configured(one: Observed, ranker: Ranker) -> Configured:
    """Rank a question under every configuration, by a ranker that was not trained on its conversation."""
    found = found_by_configuration(one.operable, one.asked.question.evidence, ranker)
    values = np.array([found[one.operable.plain(choice)] for choice in CHOICES])
    return Configured(values[:, 0], values.mean(axis=1))


def learned_turns(ranker: Ranker, one: Observed, on: frozenset[str]) -> tuple[str, ...]:
    """The turns as a recall with these operations gives them, best first."""
    return tuple(one.operable.ranked(ranker, one.operable.plain(on))[:DEPTH])


def chosen_operations(ranker: Ranker, one: Observed) -> frozenset[str]:
    """What the gate of some weights switches on for a question; what is usual where they have none."""
    gate = OperationGate(ranker.weights)
    return switched(gate.weights_of(*one.operable.gate_input(ranker.score(one.asked.features))), {})


def with_gate(ranker: Ranker, training: Sequence[tuple[Observed, Ranker, Configured]]) -> Ranker:
    """A ranker with a gate trained on questions of other conversations.

    Args:
        training: questions, each with the ranker that had not seen it and what that ranker finds under each configuration.
    """
    places = [CHOICES.index(one - {THRESHOLD}) for one in configurations()]
    examples = []
    for one, unseen, table in training:
        cues, shape = one.operable.gate_input(unseen.score(one.asked.features))
        rewards = np.asarray(table.rewards[places], np.float32)
        examples.append(GateExample(cues=cues, shape=shape, rewards=rewards, group=one.talk.conversation))
    if not examples:
        return ranker
    return Ranker(replaced(ranker.weights, {"operations": learn_gate(examples, GateSettings())}))
