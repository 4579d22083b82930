"""What each configuration of the five operations finds, and which of them a gate chooses.

There are 32 configurations; filtering by threshold changes no ranking of a question that memory answers, so 16 remain.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexamem.evals.gate_training import found_by_configuration
from hexamem.evals.study.records import DEPTH, Observed
from hexamem.retrieval.gates import OperationGate, switched
from hexamem.retrieval.operations import configurations
from hexamem.retrieval.ranker import Ranker

__all__ = ["CHOICES", "THRESHOLD", "chosen_operations", "learned_turns", "recall_by_choice"]

THRESHOLD = "threshold_filtering"
CHOICES: tuple[frozenset[str], ...] = tuple(one for one in configurations() if THRESHOLD not in one)
"""The configurations that may rank a question differently."""


def recall_by_choice(one: Observed, ranker: Ranker) -> npt.NDArray[np.float64]:
    """Recall at 10 under each of :data:`CHOICES`, ``(16,)``, by a ranker that was not trained on the conversation."""
    measured = found_by_configuration(one.operable, one.evidence, ranker)
    return np.array([measured[one.operable.plain(choice)][0] for choice in CHOICES])


def learned_turns(ranker: Ranker, one: Observed, on: frozenset[str]) -> tuple[str, ...]:
    """The turns as a recall with these operations returns them, best first."""
    return tuple(one.operable.ranked(ranker, one.operable.plain(on))[:DEPTH])


def chosen_operations(ranker: Ranker, one: Observed) -> frozenset[str]:
    """What the gate of some weights switches on for a question; the usual operations where they have none."""
    gate = OperationGate(ranker.weights)
    return switched(gate.weights_of(*one.operable.gate_input(ranker.score(one.asked.features))), {})
