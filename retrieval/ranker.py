"""The learned score of candidates, the shares of signals in it, and the probability that memory contains the answer.

``score = x · (w + gate(q)) + v · relu(W x + U q + b)`` where ``x`` are the features, standardised within their
pool, and ``q`` the cues of the question. The gate adjusts the weight of each feature to the question; the hidden units
combine features. Scores are comparable only within one recall.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from hexamem.models.sigmoid import sigmoid
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF, Features
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.products import products

__all__ = [
    "ANSWER_SIGNS",
    "FEWEST",
    "FUSION",
    "SIGNALS",
    "USUAL",
    "Ranker",
    "answer_logit",
    "answer_signs",
    "large_share",
    "standardised",
]

_LOW, _HIGH = -6.0, 8.0  # bounds of standardised features
_PRIOR = 20  # candidates that the deviation of the training data counts for
FEWEST = 4
"""The least steps of a memory for which the probability of an answer is estimated."""
FUSION: FloatArray = np.array(
    [
        {"fused": 0.5, "fused_beside": 0.5, "fused_rank": 0.15, "fused_beside_rank": 0.15}.get(name, 0.0)
        for name in FEATURES
    ],
    np.float32,
)
"""The linear weights of a ranking by the fused signals, from which training starts."""
USUAL = frozenset({"temporal_ordering", "semantic_reranking"})
"""The operations that change the scores of a single search, which are on without a trained gate."""
_KNOWN = CUES.index("known")
SIGNALS: tuple[str, ...] = tuple(dict.fromkeys(SIGNAL_OF.values()))
"""The signals of the features."""
_SIGNAL_COLUMN = np.array([SIGNALS.index(SIGNAL_OF[name]) for name in FEATURES])
_MEMBERSHIP = np.eye(len(SIGNALS), dtype=np.float32)[_SIGNAL_COLUMN]
_UNTIMED: FloatArray = np.array([SIGNAL_OF[name] != "time" for name in FEATURES], np.float32)
_FROM_BEST = (
    "late",
    "late_of_5",
    "overlap",
    "overlap_of_5",
    "dense_bare",
    "dense_of_3",
    "bm25",
    "late_least",
    "rarest",
)
ANSWER_SIGNS: tuple[str, ...] = (
    "lead", "lead_of_ten", "above_middle", *(f"{name}_of_first" for name in _FROM_BEST),
    *(f"{name}_of_three" for name in _FROM_BEST), "named_of_first", "named_of_three", "known",
)  # fmt: skip
"""The names of the inputs of the probability of an answer, see :func:`answer_signs`."""


def standardised(values: FloatArray, usual: FloatArray) -> FloatArray:
    """Features standardised within their pool, ``(n, f)``.

    So memories with longer turns, or in another language, are ranked on the same scale. Since the deviation of a few
    candidates is unreliable, the usual deviation counts as that of :data:`_PRIOR` more.

    Args:
        usual: the deviation of each feature within a pool of the training data, ``(f,)``.
    """
    centred = values - values.mean(axis=0)
    squares = np.einsum("ij,ij->j", centred, centred) + _PRIOR * usual**2
    centred /= np.sqrt(squares / (len(values) + _PRIOR)) + 1e-3
    return np.asarray(np.clip(centred, _LOW, _HIGH, out=centred), np.float32)


def answer_signs(features: Features, scores: FloatArray) -> FloatArray:
    """The inputs of the probability of an answer, ``(len(ANSWER_SIGNS),)``."""
    order = np.argsort(-scores, kind="stable")
    best = scores[order]
    signs = [best[0] - best[min(1, len(best) - 1)], best[0] - best[min(9, len(best) - 1)], best[0] - np.median(best)]
    for count in (1, 3):
        signs += [float(features.column(name)[order[:count]].max()) for name in _FROM_BEST]
    signs += [float(features.column("spoken_by_named")[order[:count]].max()) for count in (1, 3)]
    return np.array([*signs, features.cues[_KNOWN]], np.float32)


def answer_logit(regression: FloatArray, signs: FloatArray) -> float:
    """The log-odds of an answer by a regression of :func:`~.learning.learn_answerable`."""
    mean, deviation, slope = regression[:-1].reshape(3, -1)
    return float(np.clip((signs - mean) / deviation, -5, 5) @ slope + regression[-1])


def large_share(candidates: npt.NDArray[np.float64] | np.float64, blend: FloatArray) -> npt.NDArray[np.float64]:
    """The weight of the regression of large memories: 0.5 at ``exp(blend[0])`` candidates, with the steepness ``blend[1]``."""
    return np.asarray(sigmoid(blend[1] * (np.log(np.maximum(candidates, 1)) - blend[0])), np.float64)


class Ranker:
    """Scores pools by trained weights."""

    def __init__(self, weights: RankingWeights) -> None:
        self.weights = weights

    def score(self, features: Features, x: FloatArray | None = None, on: Collection[str] = USUAL) -> FloatArray:
        """The score of each candidate, ``(n,)``; 0 for a candidate at the mean of all features.

        Args:
            x: the :func:`standardised` features; None to compute them.
            on: the operations; without ``temporal_ordering`` the time features are left out, without
                ``semantic_reranking`` the hidden units.
        """
        if not len(features.pool):
            return np.empty(0, np.float32)
        x = self._inputs(features, x, on)
        linear, lit = self._by_question(features.cues)
        scores = products(x, linear[:, None])[:, 0]
        if "semantic_reranking" in on:
            hidden = np.maximum(products(x, self.weights.hidden) + lit, 0.0) - np.maximum(lit, 0.0)
            scores = scores + hidden @ self.weights.hidden_out
        return np.asarray(scores, np.float32)

    def shares(
        self,
        features: Features,
        chosen: Sequence[int] | npt.NDArray[np.integer],
        x: FloatArray | None = None,
        on: Collection[str] = USUAL,
    ) -> npt.NDArray[np.float64]:
        """The shares of :data:`SIGNALS` in the scores of some candidates, ``(len(chosen), len(SIGNALS))``.

        The shares of a candidate add up to its :meth:`score` with the same arguments. The linear part is a sum already.
        Of the hidden units, each feature has its integrated gradient from the mean candidate to this one (Sundararajan,
        Taly and Yan, ICML 2017): the part of the path on which a unit is active is known, so that the integral is exact.
        """
        linear, lit = self._by_question(features.cues)
        x = self._inputs(features, x, on)[np.asarray(chosen, np.int64)]
        if "semantic_reranking" not in on:
            return np.asarray(products((x * linear).astype(np.float64), _MEMBERSHIP), np.float64)
        reached = products(x, self.weights.hidden)
        start, end = np.broadcast_to(lit, reached.shape), reached + lit
        span = np.where(np.abs(reached) < 1e-9, 1.0, reached)
        part = np.where(
            (start > 0) & (end > 0),
            1.0,
            np.where((start <= 0) & (end <= 0), 0.0, np.maximum(start, end) / np.abs(span)),
        )
        by_feature = x * (linear + products(part * self.weights.hidden_out, self.weights.hidden.T))
        return np.asarray(products(by_feature.astype(np.float64), _MEMBERSHIP), np.float64)

    def answerable(
        self, features: Features, scores: FloatArray, size: int | None = None, signs: FloatArray | None = None
    ) -> float | None:
        """The probability that memory contains the answer; None where the weights are not trained for it, and for a memory
        of fewer than :data:`FEWEST` steps.

        Small memories have a regression of their own, which is blended with that of large ones by the number of
        candidates.

        Args:
            size: the number of steps in memory; None for many.
            signs: the :func:`answer_signs`; None to compute them.
        """
        regression = self.weights.answerable
        if not len(regression):
            return None
        if not len(scores):
            return 0.0
        if size is not None and size < FEWEST:
            return None
        signs = answer_signs(features, scores) if signs is None else signs
        value = answer_logit(regression, signs)
        if len(self.weights.answerable_small):
            share = float(large_share(np.float64(features.pool.steps), self.weights.answerable_size))
            value = share * value + (1 - share) * answer_logit(self.weights.answerable_small, signs)
        return float(sigmoid(value))

    def _inputs(self, features: Features, x: FloatArray | None, on: Collection[str]) -> FloatArray:
        """The standardised features without those of operations that are off, ``(n, f)``."""
        x = standardised(features.values, self.weights.deviation) if x is None else x
        return x if "temporal_ordering" in on else np.asarray(x * _UNTIMED)

    def _by_question(self, cues: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The linear weights for a question, and the offsets of the hidden units."""
        weights = self.weights
        gate = np.tanh(cues @ weights.gate_in + weights.gate_bias) @ weights.gate_out
        return weights.linear + gate, cues @ weights.hidden_cues + weights.hidden_bias
