"""The learned score of a candidate, what each signal adds to it, and how likely memory holds the answer.

``score = x · (w + gate(q)) + v · relu(W x + U q + b)`` where ``x`` are the features, each as it stands in
its pool, and ``q`` the cues of the question. The gate changes the weight of every feature by what the question wants,
the small second part sees how features go together. Scores of one recall can be compared, those of two cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from hexamem.models.sigmoid import sigmoid
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.content import products
from hexamem.retrieval.signals.cues import CUES
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF, Features
from hexamem.stores.embedders.base import FloatArray

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

_LOW, _HIGH = -6.0, 8.0
_USUAL = 20
FEWEST = 4
"""Of fewer steps nothing is told of whether they hold an answer."""
FUSION: FloatArray = np.array(
    [
        {"fused": 0.5, "fused_beside": 0.5, "fused_rank": 0.15, "fused_beside_rank": 0.15}.get(name, 0.0)
        for name in FEATURES
    ],
    np.float32,
)
"""Linear weights of a ranking by the fused signals alone: from where training starts."""
USUAL = frozenset({"temporal_ordering", "semantic_reranking"})
"""The operations that change the scores of a single search: what is on where no gate was trained."""
_KNOWN = CUES.index("known")
SIGNALS: tuple[str, ...] = tuple(dict.fromkeys(SIGNAL_OF.values()))
"""What features belong to."""
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
"""By what it is told whether memory holds the answer."""


def standardised(values: FloatArray, usual: FloatArray) -> FloatArray:
    """Features against their own pool, ``(n, f)``: how a candidate stands among the others.

    A memory of longer turns, or in another language, is ranked by the same measure. Few candidates tell little of how
    far they usually lie apart, so the usual deviation counts as that of :data:`_USUAL` more.

    Args:
        usual: the deviation of each feature within a pool of the training data, ``(f,)``.
    """
    centred = values - values.mean(axis=0)
    squares = np.einsum("ij,ij->j", centred, centred) + _USUAL * usual**2
    centred /= np.sqrt(squares / (len(values) + _USUAL)) + 1e-3
    return np.asarray(np.clip(centred, _LOW, _HIGH, out=centred), np.float32)


def answer_signs(features: Features, scores: FloatArray) -> FloatArray:
    """What tells of a recall whether memory holds the answer, ``(len(ANSWER_SIGNS),)``."""
    order = np.argsort(-scores, kind="stable")
    best = scores[order]
    signs = [best[0] - best[min(1, len(best) - 1)], best[0] - best[min(9, len(best) - 1)], best[0] - np.median(best)]
    for count in (1, 3):
        signs += [float(features.column(name)[order[:count]].max()) for name in _FROM_BEST]
    signs += [float(features.column("spoken_by_named")[order[:count]].max()) for count in (1, 3)]
    return np.array([*signs, features.cues[_KNOWN]], np.float32)


def answer_logit(taught: FloatArray, signs: FloatArray) -> float:
    """The log-odds of an answer by the regression that :func:`~.learning.learn_answerable` gives."""
    mean, deviation, slope = taught[:-1].reshape(3, -1)
    return float(np.clip((signs - mean) / deviation, -5, 5) @ slope + taught[-1])


def large_share(candidates: npt.NDArray[np.float64] | np.float64, blend: FloatArray) -> npt.NDArray[np.float64]:
    """How far the regression of large memories counts: half at ``exp(blend[0])`` candidates, the quicker the greater ``blend[1]``."""
    return np.asarray(sigmoid(blend[1] * (np.log(np.maximum(candidates, 1)) - blend[0])), np.float64)


class Ranker:
    """Scores pools by trained weights."""

    def __init__(self, weights: RankingWeights) -> None:
        self.weights = weights

    def score(self, features: Features, x: FloatArray | None = None, on: Collection[str] = USUAL) -> FloatArray:
        """The score of each candidate, ``(n,)``; 0 for one that is in nothing unlike the others.

        Args:
            x: the features :func:`standardised`, where they are known already.
            on: operations; without ``temporal_ordering`` the days of candidates do not count, without
                ``semantic_reranking`` the second part of the score is left out.
        """
        if not len(features.pool):
            return np.empty(0, np.float32)
        x = self._seen(features, x, on)
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
        """What each of :data:`SIGNALS` adds to the scores of some candidates, ``(len(chosen), len(SIGNALS))``.

        A candidate's shares add up to its score by :meth:`score`, whose arguments are the same.

        The first part is a sum already. Of the second, each feature gets its integrated gradient from the mean
        candidate to this one (Sundararajan, Taly and Yan, ICML 2017): along the way a hidden unit is lit for a known
        part, so the integral is exact and complete.
        """
        linear, lit = self._by_question(features.cues)
        x = self._seen(features, x, on)[np.asarray(chosen, np.int64)]
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
        """The probability that memory holds the answer; None where the weights were not trained for it, and for a
        memory of fewer than :data:`FEWEST` steps.

        What stands out among hundreds of candidates says nothing among ten, so small memories have a regression of
        their own; with more candidates the logit goes over to that of large ones.

        Args:
            size: how many steps the memory holds; None for many.
            signs: the :func:`answer_signs`, where they are known.
        """
        taught = self.weights.answerable
        if not len(taught):
            return None
        if not len(scores):
            return 0.0
        if size is not None and size < FEWEST:
            return None
        signs = answer_signs(features, scores) if signs is None else signs
        value = answer_logit(taught, signs)
        if len(self.weights.answerable_small):
            share = float(large_share(np.float64(features.pool.steps), self.weights.answerable_size))
            value = share * value + (1 - share) * answer_logit(self.weights.answerable_small, signs)
        return float(sigmoid(value))

    def _seen(self, features: Features, x: FloatArray | None, on: Collection[str]) -> FloatArray:
        """The features as they are scored, ``(n, f)``."""
        x = standardised(features.values, self.weights.deviation) if x is None else x
        return x if "temporal_ordering" in on else np.asarray(x * _UNTIMED)

    def _by_question(self, cues: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The linear weights for a question, and where it sets the hidden units."""
        one = self.weights
        gate = np.tanh(cues @ one.gate_in + one.gate_bias) @ one.gate_out
        return one.linear + gate, cues @ one.hidden_cues + one.hidden_bias
