"""The gate: how much a question wants each of the five operations, from 0 to 1, by a small network.

It sees the question's vector through a learned projection, its cues, and the shape of the scores that the first search
gave: how far the best stands out, how many candidates there are, into how many parts the question falls. Some five
thousand numbers, which lie in the file of the ranking's weights and are refused with them for another embedder.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hexamem.retrieval.ranker import USUAL, answer_signs
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.cues import OPERATIONS, operations_of
from hexamem.retrieval.signals.features import Features
from hexamem.stores.embedders.base import FloatArray

__all__ = ["SHAPE", "OperationGate", "gate_forward", "score_shape", "switched"]

_BEST = ("dense_bare", "late", "overlap")
SHAPE: tuple[str, ...] = ("lead", "lead_of_ten", "above_middle", "peak", *_BEST, "candidates", "parts")
"""What the gate sees of the first search."""
_HEAT = 2.0
_USUAL_LOGIT = 1.5
"""Of an operation that is on by default."""


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


def gate_forward(
    weights: Mapping[str, FloatArray], vector: FloatArray, cues: FloatArray, shape: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What goes into the hidden units (the projected vector, the cues and the shape on its usual scale), what they give, and
    the logits of the operations; of one question or of several, a row each."""
    mean, deviation = weights["operations_shape"]
    scaled = np.clip((shape - mean) / deviation, -4, 4)
    seen = np.concatenate([np.tanh(vector @ weights["operations_embed"]), cues, scaled], axis=-1).astype(np.float32)
    reached = np.tanh(seen @ weights["operations_in"] + weights["operations_bias"])
    return seen, reached, np.asarray(reached @ weights["operations_out"] + weights["operations_out_bias"], np.float32)


def switched(gate: Mapping[str, float], forced: Mapping[str, bool]) -> frozenset[str]:
    """The operations that are on: those forced on, and those with a weight of at least one half that are not forced off."""
    return frozenset(name for name in OPERATIONS if forced.get(name, gate.get(name, 0.0) >= 0.5))


class OperationGate:
    """The gate of some weights; where they were trained without one, the operations that usually pay are on.

    Args:
        offsets: operation → what is added to its logit: what was learned of one user.
    """

    def __init__(self, weights: RankingWeights, offsets: Mapping[str, float] | None = None) -> None:
        self._weights = {name: one for name, one in weights.tensors().items() if name.startswith("operations_")}
        self.trained = bool(self._weights["operations_embed"].size)
        self._offsets = np.array([(offsets or {}).get(name, 0.0) for name in OPERATIONS], np.float32)

    def weights_of(self, vector: FloatArray, cues: FloatArray, shape: FloatArray) -> dict[str, float]:
        """The weight of each operation for one question, from 0 to 1.

        Args:
            vector: of the question, ``(dimension,)``.
            cues: as :func:`~.signals.cues.cues_of` gives them.
            shape: as :func:`score_shape` gives it.
        """
        logits = self.logits_of(vector, cues, shape)
        return dict(zip(OPERATIONS, (1 / (1 + np.exp(-np.clip(logits, -30, 30)))).tolist(), strict=True))

    def logits_of(self, vector: FloatArray, cues: FloatArray, shape: FloatArray) -> FloatArray:
        """The logits of the operations, ``(5,)``.

        Without a trained gate: those that usually pay are on, the others off, a little more or less by what the kind of the
        question calls for, which by itself changes nothing. Feedback of a user can.
        """
        if self.trained:
            return gate_forward(self._weights, vector, cues, shape)[2] + self._offsets
        called = operations_of(cues)
        usual = [(_USUAL_LOGIT if name in USUAL else -_USUAL_LOGIT) + called[name] - 0.5 for name in OPERATIONS]
        return np.array(usual, np.float32) + self._offsets
