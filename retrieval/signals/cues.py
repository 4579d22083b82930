"""The cues of a question, inputs of the ranking and its gate: the probabilities of its kinds, and counts.

A classifier of the question's vector, trained by ``scripts/train_questions.py``, has the kinds of the questions in
``evals/corpus/open``. Each of the five operations (AdaptMR) belongs to one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hexamem.once import once
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = [
    "CUES",
    "KINDS",
    "LABEL_CUES",
    "OPERATIONS",
    "QuestionKinds",
    "cues_of",
    "load_question_kinds",
    "operations_of",
]

KINDS = ("single-hop", "multi-hop", "temporal", "inference", "knowledge-update", "unanswerable")
"""The kinds: one fact, a set of facts, a time, a conclusion, the current value, something that is not in memory."""
LABEL_CUES = ("scope_clear", "scope_wide", "asks_event", "asks_entity")
"""Cues of its labels: how clearly it favours a scope, whether it includes the parts of one, and the kinds it names."""
CUES: tuple[str, ...] = (*KINDS, "words", "speakers", "two_speakers", "dated", "known", *LABEL_CUES)
"""The names of the cues of :func:`cues_of`, in order."""
OPERATIONS: Mapping[str, str] = {
    "temporal_ordering": "temporal",
    "latest_filtering": "knowledge-update",
    "multi_step": "multi-hop",
    "threshold_filtering": "unanswerable",
    "semantic_reranking": "inference",
}
"""Operation → its kind of question."""
_FOLDER = Path(__file__).parents[1] / "weights"


class QuestionKinds:
    """A linear classifier of questions.

    Args:
        weights: ``(kinds, d)``.
        bias: ``(kinds,)``.
    """

    def __init__(self, weights: FloatArray, bias: FloatArray) -> None:
        self.weights, self.bias = weights, bias

    def shares(self, vector: FloatArray) -> list[float]:
        """The probability of each of :data:`KINDS` for a question's vector, ``(d,)``."""
        scores = self.weights @ vector + self.bias
        powers = np.exp(scores - scores.max())
        shares: list[float] = (powers / powers.sum()).tolist()
        return shares


@once
def load_question_kinds(embedder: str) -> QuestionKinds | None:
    """The classifier that ships for an embedder; None for other embedders.

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
        vector: the vector of the question.
        embedder: the name of the embedder. For one that does not ship, the kinds are all 0.
        words: the number of its stems.
        speakers: the number of speakers that it names.
        dated: whether it contains a date.
        known: the share of its tokens that the embedder knows.
    """
    kinds = load_question_kinds(embedder)
    shares = [0.0] * len(KINDS) if kinds is None else kinds.shares(vector)
    counts = [min(2.0, words / 8.0), float(speakers > 0), float(speakers > 1), float(dated), known]
    return np.array([*shares, *counts, *(0.0 for _ in LABEL_CUES)], np.float32)


def operations_of(cues: Sequence[float] | FloatArray) -> dict[str, float]:
    """Operation → the probability of its kind of question."""
    return {name: float(cues[CUES.index(kind)]) for name, kind in OPERATIONS.items()}
