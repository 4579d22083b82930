"""The gate (AdaptMR): which of the five operations a question gets, by one logistic regression an operation.

It sees the cues of the question and the shape of the first search's scores: how far the best stands out, how many
candidates there are, into how many parts the question falls. Its numbers lie in the file of the ranking's weights.
Without them the operations that usually pay are on for every question. What a user's feedback teaches is an offset of
each logit (:mod:`.feedback_learning`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexamem.errors import InvalidInputError
from hexamem.models.sigmoid import sigmoid
from hexamem.retrieval.logistic import logistic_regression
from hexamem.retrieval.operations import COSTS, NAMES, POWERS, number_of
from hexamem.retrieval.ranker import USUAL, answer_signs
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.cues import SHAPE, operations_of
from hexamem.retrieval.signals.features import Features
from hexamem.stores.embedders.base import FloatArray

__all__ = [
    "GateExample",
    "GateSettings",
    "OperationGate",
    "gains_of_operations",
    "learn_gate",
    "score_shape",
    "switched",
]

_BEST = ("dense_bare", "late", "overlap")
_HEAT = 2.0
_USUAL_LOGIT = 1.5  # of an operation that is on by default
_FIRM = 2.0  # logit of an operation that is on for every question
_FOLDS = 4


def score_shape(features: Features, scores: FloatArray, parts: int = 0, signs: FloatArray | None = None) -> FloatArray:
    """The shape of a search's scores, float32 ``(len(SHAPE),)``; zeros for one that found nothing.

    Args:
        scores: of its candidates, ``(n,)``.
        parts: into how many parts a model divides the question.
        signs: the :func:`~.ranker.answer_signs`, where they are known.
    """
    if not len(scores):
        return np.zeros(len(SHAPE), np.float32)
    lead = (answer_signs(features, scores) if signs is None else signs)[:3]
    peak = 1.0 / np.exp((scores - scores.max()) / _HEAT).sum()
    best = np.argsort(-scores, kind="stable")[:3]
    tops = [features.column(name)[best].max() for name in _BEST]
    return np.array([*lead, peak, *tops, np.log1p(len(scores)), parts], np.float32)


def switched(gate: Mapping[str, float], forced: Mapping[str, bool]) -> frozenset[str]:
    """The operations that are on: those forced on, and those with a weight of at least one half that are not forced off."""
    return frozenset(name for name in NAMES if forced.get(name, gate.get(name, 0.0) >= 0.5))


class OperationGate:
    """The gate of some weights; where they were trained without one, the operations that usually pay are on.

    Args:
        offsets: operation → what is added to its logit: what was learned of one user.
    """

    def __init__(self, weights: RankingWeights, offsets: Mapping[str, float] | None = None) -> None:
        self._operations = weights.operations
        self.trained = bool(self._operations.size)
        self._offsets = np.array([(offsets or {}).get(name, 0.0) for name in NAMES], np.float32)

    def weights_of(self, cues: FloatArray, shape: FloatArray) -> dict[str, float]:
        """The weight of each operation for one question, from 0 to 1.

        Args:
            cues: as :func:`~.signals.cues.cues_of` gives them.
            shape: as :func:`score_shape` gives it.
        """
        logits = self.logits_of(cues, shape)
        return dict(zip(NAMES, sigmoid(logits).tolist(), strict=True))

    def logits_of(self, cues: FloatArray, shape: FloatArray) -> FloatArray:
        """The logits of the operations, ``(5,)``.

        Without a trained gate: those that usually pay are on, the others off, a little more or less by what the kind of the
        question calls for, which by itself changes nothing. Feedback of a user can.
        """
        if self.trained:
            logits = np.concatenate([cues, shape, [1.0]]) @ self._operations
        else:
            called = operations_of(cues)
            logits = np.array(
                [(_USUAL_LOGIT if name in USUAL else -_USUAL_LOGIT) + called[name] - 0.5 for name in NAMES]
            )
        return np.asarray(logits, np.float32) + self._offsets


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """How the gate is trained.

    Attributes:
        cost: what the whole recall over again is worth in reward. operations: what an operation that is on is.
        penalty: of squared slopes.
    """

    cost: float = 0.005
    operations: float = 0.0005
    penalty: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GateExample:
    """One question: its cues ``(c,)``, shape of scores ``(s,)`` and the reward of each configuration ``(32,)``.

    ``group`` names its conversation.
    """

    cues: FloatArray
    shape: FloatArray
    rewards: FloatArray
    group: str = ""


def gains_of_operations(rewards: FloatArray, on: npt.NDArray[np.int64]) -> FloatArray:
    """What each operation adds to the reward while the others stay as they are, ``(n, 5)``.

    Args:
        rewards: of the configurations, ``(n, 32)``.
        on: the number of the configuration that is on for each question, ``(n,)``.
    """
    row, on = np.arange(len(rewards))[:, None], on[:, None]
    return np.asarray(rewards[row, on | POWERS] - rewards[row, on & ~POWERS], np.float32)


def learn_gate(examples: Sequence[GateExample], settings: GateSettings) -> FloatArray:
    """Train a gate: ``RankingWeights.operations``.

    For each operation: does it pay for the question, the usual operations being on? A logistic regression answers, in
    which a question counts by how much is gained or lost. It is taken only where it is sure: where on conversations
    left out it gains at least twice its standard error over one choice for all questions. Else the operation is the
    same for all: on or off as usual, unless the opposite gains as surely.

    Raises:
        InvalidInputError: there are no examples.
    """
    if not examples:
        raise InvalidInputError("no questions to train the gate on")
    inputs = np.stack([np.concatenate([example.cues, example.shape]) for example in examples]).astype(np.float64)
    usual = np.full(len(examples), number_of(USUAL))
    gains = gains_of_operations(np.stack([example.rewards for example in examples]), usual)
    gains -= np.array([settings.cost * COSTS[name] + settings.operations for name in NAMES], np.float32)
    groups = np.unique([example.group for example in examples], return_inverse=True)[1]
    columns = [
        _column(inputs, gains[:, number], groups, name in USUAL, settings.penalty) for number, name in enumerate(NAMES)
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _column(
    inputs: npt.NDArray[np.float64], gains: FloatArray, groups: npt.NDArray[np.int64], usual: bool, penalty: float
) -> npt.NDArray[np.float64]:
    """The slopes and, last, the intercept of one operation."""
    on = usual != _surely_gains(gains if not usual else -gains, groups)
    constant = np.append(np.zeros(inputs.shape[1]), _FIRM if on else -_FIRM)
    folds = groups % _FOLDS
    chosen = np.full(len(gains), on)
    for fold in np.unique(folds):
        held = folds == fold
        slopes = _regression(inputs[~held], gains[~held], penalty)
        if slopes is not None:
            chosen[held] = inputs[held] @ slopes[:-1] + slopes[-1] >= 0
    if not _surely_gains(gains * (chosen.astype(np.float32) - on), groups):
        return constant
    slopes = _regression(inputs, gains, penalty)
    return constant if slopes is None else slopes


def _regression(inputs: npt.NDArray[np.float64], gains: FloatArray, penalty: float) -> npt.NDArray[np.float64] | None:
    """Slopes and intercept that tell where the gain is above 0; None where it is everywhere or nowhere."""
    pays, weights = gains > 0, np.abs(gains)
    if not pays.any() or not (gains < 0).any():
        return None
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    weights = (weights / weights.mean()).astype(np.float64)
    found = logistic_regression((inputs - mean) / deviation, pays, penalty=penalty, weights=weights)
    slopes = found[:-1] / deviation
    return np.append(slopes, found[-1] - slopes @ mean)


def _surely_gains(gains: FloatArray, groups: npt.NDArray[np.int64]) -> bool:
    """Whether the mean gain over conversations is more than twice its standard error; one conversation tells nothing."""
    count = np.bincount(groups)
    if len(count) < 2:
        return False
    means = np.bincount(groups, gains) / count
    return bool(means.mean() > 2 * means.std(ddof=1) / math.sqrt(len(means)))
