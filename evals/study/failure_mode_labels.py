"""Questions labelled by hand with their failure modes: agreement, and the classifier measured and trained on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexamem.errors import CorruptFileError
from hexamem.evals.records import read_json
from hexamem.retrieval.failure_modes import (
    FAILURE_MODES,
    FailureModeWeights,
    failure_mode_cues,
    failure_mode_probabilities,
    failure_modes_by_rules,
    learn_failure_modes,
)
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "MODE_OF_TYPE",
    "LabelledQuestion",
    "cohen_kappa",
    "cross_validated",
    "labelled_questions",
    "read_labels",
    "train_failure_mode_weights",
]

MODE_OF_TYPE: Mapping[str, str] = {
    "temporal": "temporal",
    "knowledge-update": "version_conflict",
    "multi-hop": "aggregation",
    "unanswerable": "existence",
    "2": "temporal",
    "1": "aggregation",
    "5": "existence",
}
"""The one mode that an author's type, or LoCoMo's category, comes nearest to."""
_FOLDS = 5
_WHO = ("first", "second", "other")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the modes that each of two passes by one hand saw and those of an ``other``, who saw neither pass, and the
    type that its author gave it."""

    conversation: str
    question: str
    type: str
    first: frozenset[str]
    second: frozenset[str]
    other: frozenset[str]


@cache
def labelled_questions() -> tuple[LabelledQuestion, ...]:
    """Those of ``evals/corpus/failure_modes``."""
    place = resources.files("hexamem.evals").joinpath("corpus", "failure_modes", "labels.json")
    with resources.as_file(place) as file:
        return read_labels(Path(file))


def read_labels(path: Path) -> tuple[LabelledQuestion, ...]:
    """Labelled questions of a file in the form of ``evals/corpus/failure_modes/labels.json``.

    Raises:
        CorruptFileError: a label is no mode.
    """
    rows = read_json(path)
    for number, row in enumerate(rows, 1):
        if strange := ({mode for who in _WHO for mode in row[who]} - set(FAILURE_MODES)):
            raise CorruptFileError(
                f"{path}, question {number}: {min(strange)!r} is no mode; use {', '.join(FAILURE_MODES)}"
            )
    return tuple(
        LabelledQuestion(row["conversation"], row["question"], row["type"], *(frozenset(row[who]) for who in _WHO))
        for row in rows
    )


def cohen_kappa(a: Sequence[bool] | npt.NDArray[np.bool_], b: Sequence[bool] | npt.NDArray[np.bool_]) -> float | None:
    """Cohen's kappa of two yes-or-no labellings (Educational and Psychological Measurement, 1960).

    None where chance alone explains everything: both say yes to all, or no to all.
    """
    one, other = np.asarray(a, bool), np.asarray(b, bool)
    agreed = float((one == other).mean())
    chance = float(one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()))
    return None if chance > 1 - 1e-12 else (agreed - chance) / (1 - chance)


def seen_by(questions: Sequence[LabelledQuestion], who: str) -> npt.NDArray[np.bool_]:
    """``(n, 4)``: the modes by ``first``, ``second``, ``other``, or the ``type`` of the author."""
    if who == "type":
        return np.array([[MODE_OF_TYPE.get(one.type) == mode for mode in FAILURE_MODES] for one in questions])
    return np.array([[mode in getattr(one, who) for mode in FAILURE_MODES] for one in questions])


def train_failure_mode_weights(embedder: Embedder) -> FailureModeWeights:
    """Weights trained on all labelled questions; what ships is made by this from the bundled embedder."""
    questions = labelled_questions()
    return _learned(questions, _vectors(questions, embedder), embedder.fingerprint)


def cross_validated(embedder: Embedder) -> dict[str, npt.NDArray[np.bool_]]:
    """The modes of each labelled question, ``(n, 4)``: by ``rules``, and by weights that have not seen its conversation,
    trained on ``cues`` alone and with the ``vector`` of the question."""
    questions = labelled_questions()
    vectors = _vectors(questions, embedder)
    names = sorted({one.conversation for one in questions})
    fold = np.array([names.index(one.conversation) % _FOLDS for one in questions])
    shape = (len(questions), len(FAILURE_MODES))
    found = {"cues": np.zeros(shape, bool), "vector": np.zeros(shape, bool)}
    for name, width in (("cues", 0), ("vector", vectors.shape[1])):
        for part in range(_FOLDS):
            held = np.flatnonzero(fold == part)
            rest = np.flatnonzero(fold != part)
            weights = _learned([questions[i] for i in rest], vectors[rest][:, :width], embedder.fingerprint)
            texts = [questions[i].question for i in held]
            found[name][held] = failure_mode_probabilities(texts, vectors[held][:, :width], weights) >= 0.5
    rules = [failure_modes_by_rules(one.question) for one in questions]
    return {"rules": np.array([[mode in one for mode in FAILURE_MODES] for one in rules]), **found}


def _vectors(questions: Sequence[LabelledQuestion], embedder: Embedder) -> FloatArray:
    return np.stack([embedder.embed_query(one.question) for one in questions])


def _learned(questions: Sequence[LabelledQuestion], vectors: FloatArray, fingerprint: str) -> FailureModeWeights:
    cues = np.stack([failure_mode_cues(one.question) for one in questions])
    labels = (seen_by(questions, "first").astype(float) + seen_by(questions, "second").astype(float)) / 2
    return learn_failure_modes(cues, vectors, labels, fingerprint=fingerprint)
