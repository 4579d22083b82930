"""The gate (AdaptMR): chooses the operations for a question, by one logistic regression for each operation.

Its inputs are the cues of the question and the shape of the first search's scores: the lead of the best, the number of
candidates, the number of parts of the question. Its weights are in the file of the ranking's weights. Without them the
usual operations are on for every question. A user's feedback adds an offset to each logit (:mod:`.feedback_learning`).
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
from hexamem.retrieval.ranker import USUAL, answer_signs
from hexamem.retrieval.ranking_operations import COSTS, NAMES, POWERS, number_of
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
_USUAL_LOGIT = 1.5  # the logit of an operation that is on without a trained gate
_FIRM = 2.0  # the logit of an operation that is on for every question
_FOLDS = 4


def score_shape(features: Features, scores: FloatArray, parts: int = 0, signs: FloatArray | None = None) -> FloatArray:
    """The shape of a search's scores, float32 ``(len(SHAPE),)``; zeros without candidates.

    Args:
        scores: the scores of its candidates, ``(n,)``.
        parts: the number of parts of the question by a model.
        signs: the :func:`~.ranker.answer_signs`; None to compute them.
    """
    if not len(scores):
        return np.zeros(len(SHAPE), np.float32)
    lead = (answer_signs(features, scores) if signs is None else signs)[:3]
    peak = 1.0 / np.exp((scores - scores.max()) / _HEAT).sum()
    best = np.argsort(-scores, kind="stable")[:3]
    tops = [features.column(name)[best].max() for name in _BEST]
    return np.array([*lead, peak, *tops, np.log1p(len(scores)), parts], np.float32)


def switched(gate: Mapping[str, float], forced: Mapping[str, bool]) -> frozenset[str]:
    """The operations that are on: those forced on, and those with a weight of at least 0.5 that are not forced off."""
    return frozenset(name for name in NAMES if forced.get(name, gate.get(name, 0.0) >= 0.5))


class OperationGate:
    """The gate in ranking weights; where it is not trained, the usual operations are on.

    Args:
        offsets: operation → the offset of its logit, learned from the feedback of one user.
    """

    def __init__(self, weights: RankingWeights, offsets: Mapping[str, float] | None = None) -> None:
        self._operations = weights.operations
        self.trained = bool(self._operations.size)
        self._offsets = np.array([(offsets or {}).get(name, 0.0) for name in NAMES], np.float32)

    def weights_of(self, cues: FloatArray, shape: FloatArray) -> dict[str, float]:
        """The weight of each operation for one question, from 0 to 1.

        Args:
            cues: see :func:`~.signals.cues.cues_of`.
            shape: see :func:`score_shape`.
        """
        logits = self.logits_of(cues, shape)
        return dict(zip(NAMES, sigmoid(logits).tolist(), strict=True))

    def logits_of(self, cues: FloatArray, shape: FloatArray) -> FloatArray:
        """The logits of the operations, ``(5,)``.

        Without a trained gate the usual operations are on and the others off; the kind of the question changes the logits
        only so far that the offsets of a user can switch an operation.
        """
        if self.trained:
            logits = np.concatenate([cues, shape, [1.0]]) @ self._operations
        else:
            probabilities = operations_of(cues)
            logits = np.array(
                [(_USUAL_LOGIT if name in USUAL else -_USUAL_LOGIT) + probabilities[name] - 0.5 for name in NAMES]
            )
        return np.asarray(logits, np.float32) + self._offsets


@dataclass(frozen=True, kw_only=True, slots=True)
class GateSettings:
    """How the gate is trained.

    Attributes:
        cost: the cost, in reward, of the time of one more recall.
        operations: the cost, in reward, of each operation that is on.
        penalty: the penalty on squared slopes.
    """

    cost: float = 0.005
    operations: float = 0.0005
    penalty: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GateExample:
    """One question of the training data.

    Attributes:
        cues: its cues, ``(c,)``.
        shape: the shape of scores, ``(s,)``.
        rewards: the reward of each configuration, ``(32,)``.
        group: its conversation.
    """

    cues: FloatArray
    shape: FloatArray
    rewards: FloatArray
    group: str = ""


def gains_of_operations(rewards: FloatArray, on: npt.NDArray[np.int64]) -> FloatArray:
    """The change of the reward by each operation while the others are unchanged, ``(n, 5)``.

    Args:
        rewards: the rewards of the configurations, ``(n, 32)``.
        on: the number of the present configuration of each question, ``(n,)``.
    """
    row, on = np.arange(len(rewards))[:, None], on[:, None]
    return np.asarray(rewards[row, on | POWERS] - rewards[row, on & ~POWERS], np.float32)


def learn_gate(examples: Sequence[GateExample], settings: GateSettings) -> FloatArray:
    """Train a gate: ``RankingWeights.operations``.

    For each operation a logistic regression predicts whether it increases the reward of a question, with the usual
    operations on; questions are weighted by the gain or loss. It is used only if on held-out conversations it gains more
    than twice its standard error over one choice for all questions. Otherwise the operation is on or off for all
    questions: as usual, unless the opposite has such a gain.

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
        held_out = folds == fold
        slopes = _regression(inputs[~held_out], gains[~held_out], penalty)
        if slopes is not None:
            chosen[held_out] = inputs[held_out] @ slopes[:-1] + slopes[-1] >= 0
    if not _surely_gains(gains * (chosen.astype(np.float32) - on), groups):
        return constant
    slopes = _regression(inputs, gains, penalty)
    return constant if slopes is None else slopes


def _regression(inputs: npt.NDArray[np.float64], gains: FloatArray, penalty: float) -> npt.NDArray[np.float64] | None:
    """Slopes and intercept that predict whether the gain is above 0; None where it is for all or none."""
    pays, weights = gains > 0, np.abs(gains)
    if not pays.any() or not (gains < 0).any():
        return None
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
    weights = (weights / weights.mean()).astype(np.float64)
    fitted = logistic_regression((inputs - mean) / deviation, pays, penalty=penalty, weights=weights)
    slopes = fitted[:-1] / deviation
    return np.append(slopes, fitted[-1] - slopes @ mean)


def _surely_gains(gains: FloatArray, groups: npt.NDArray[np.int64]) -> bool:
    """Whether the mean gain over at least two conversations is more than twice its standard error."""
    count = np.bincount(groups)
    if len(count) < 2:
        return False
    means = np.bincount(groups, gains) / count
    return bool(means.mean() > 2 * means.std(ddof=1) / math.sqrt(len(means)))
