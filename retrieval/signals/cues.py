"""What a question wants, as inputs of the ranking and its gate: the kind of question by a classifier, and counts.

The classifier reads the question's vector. Its kinds are those of the questions of ``evals/corpus/open``, and each of the
five operations (AdaptMR) answers to one of them. Trained by ``scripts/train_questions.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = [
    "CUES",
    "KINDS",
    "LABEL_CUES",
    "OPERATIONS",
    "SHAPE",
    "QuestionKinds",
    "cues_of",
    "load_question_kinds",
    "operations_of",
]

KINDS = ("single-hop", "multi-hop", "temporal", "inference", "knowledge-update", "unanswerable")
"""What a question asks for: one fact, a set of facts, a time, a conclusion, what holds now, or what memory does not hold."""
LABEL_CUES = ("scope_clear", "scope_wide", "asks_event", "asks_entity")
"""What its labels show: how clear it is which scope is meant, whether all parts of one are, and what kinds it names."""
CUES: tuple[str, ...] = (*KINDS, "words", "speakers", "two_speakers", "dated", "known", *LABEL_CUES)
"""The names of what :func:`cues_of` gives, in order."""
SHAPE: tuple[str, ...] = (
    "lead", "lead_of_ten", "above_middle", "peak", "dense_bare", "late", "overlap", "candidates", "parts",
)  # fmt: skip
"""What the gate of the operations sees of the first search beside the cues (:func:`~..gates.score_shape`)."""
OPERATIONS: Mapping[str, str] = {
    "temporal_ordering": "temporal",
    "latest_filtering": "knowledge-update",
    "multi_step": "multi-hop",
    "threshold_filtering": "unanswerable",
    "semantic_reranking": "inference",
}
"""Operation → the kind of question that calls for it."""
_FOLDER = Path(__file__).parents[1] / "weights"


class QuestionKinds:
    """A linear classifier of questions.

    Args:
        weights, bias: ``(kinds, d)`` and ``(kinds,)``.
    """

    def __init__(self, weights: FloatArray, bias: FloatArray) -> None:
        self.weights, self.bias = weights, bias

    def shares(self, vector: FloatArray) -> list[float]:
        """The probability of each of :data:`KINDS` for a question's vector, ``(d,)``."""
        scores = self.weights @ vector + self.bias
        powers = np.exp(scores - scores.max())
        shares: list[float] = (powers / powers.sum()).tolist()
        return shares


@cache
def load_question_kinds(embedder: str) -> QuestionKinds | None:
    """The classifier for the vectors of an embedder; None for one that does not ship.

    Raises:
        ModelFileError: it is missing or damaged.
    """
    if embedder not in ("bundled", "static"):
        return None
    path = _FOLDER / f"questions_{embedder}.npz"
    return QuestionKinds(**read_weights(path, ("weights", "bias"), embedder=embedder, fingerprint=None))


def cues_of(vector: FloatArray, embedder: str, *, words: int, speakers: int, dated: bool, known: float) -> FloatArray:
    """The cues of a question, float32 ``(len(CUES),)``, each from 0 to about 1; those of labels are 0.

    Args:
        vector: of the question.
        embedder: the name of what made it. Of one that does not ship the kind of the question is not known: all are 0.
        words: how many words of content it has.
        speakers: how many of those who speak in memory it names.
        dated: whether it names a date.
        known: share of its tokens that the embedder has learned.
    """
    kinds = load_question_kinds(embedder)
    shares = [0.0] * len(KINDS) if kinds is None else kinds.shares(vector)
    counts = [min(2.0, words / 8.0), float(speakers > 0), float(speakers > 1), float(dated), known]
    return np.array([*shares, *counts, *(0.0 for _ in LABEL_CUES)], np.float32)


def operations_of(cues: Sequence[float] | FloatArray) -> dict[str, float]:
    """How much a question calls for each operation, from 0 to 1: the probability of its kind."""
    return {name: float(cues[CUES.index(kind)]) for name, kind in OPERATIONS.items()}
