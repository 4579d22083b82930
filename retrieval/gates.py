"""The gate: how much a question wants each of the five operations, from 0 to 1, by a small network.

It sees the question's vector through a learned projection, its cues, and the shape of the scores that the first search
gave: how far the best stands out, how many candidates there are, into how many parts the question falls. Some five
thousand numbers, which lie in the file of the ranking's weights and are refused with them for another embedder.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hexamem.retrieval.ranker import answer_signs
from hexamem.retrieval.ranking_weights import RankingWeights
from hexamem.retrieval.signals.cues import OPERATIONS, operations_of
from hexamem.retrieval.signals.features import Features
from hexamem.stores.embedders.base import FloatArray

__all__ = ["SHAPE", "OperationGate", "gate_inputs", "score_shape"]

_SIGNS = 3
SHAPE: tuple[str, ...] = (
    "lead",
    "lead_of_ten",
    "above_middle",
    "peak",
    "dense",
    "late",
    "overlap",
    "candidates",
    "parts",
)
"""What the gate sees of the first search."""
_HEAT = 2.0


def score_shape(features: Features, scores: FloatArray, parts: int, signs: FloatArray | None = None) -> FloatArray:
    """The shape of a search's scores, float32 ``(len(SHAPE),)``; zeros for one that found nothing.

    Args:
        scores: of its candidates, ``(n,)``.
        parts: into how many parts the question falls.
        signs: the :func:`~.ranker.answer_signs`, where they are known.
    """
    if not len(scores):
        return np.zeros(len(SHAPE), np.float32)
    lead = (answer_signs(features, scores) if signs is None else signs)[:_SIGNS]
    heated = scores / _HEAT - (scores / _HEAT).max()
    best = np.argsort(-scores, kind="stable")[:3]
    return np.array(
        [
            *lead,
            float(1.0 / np.exp(heated).sum()),
            *(float(features.column(name)[best].max()) for name in ("dense_bare", "late", "overlap")),
            float(np.log1p(len(scores))),
            float(parts),
        ],
        np.float32,
    )


def gate_inputs(
    weights: Mapping[str, FloatArray], vector: FloatArray, cues: FloatArray, shape: FloatArray
) -> FloatArray:
    """What goes into the hidden units: the projected vector, the cues and the shape on its usual scale.

    Works on one question or on several, a row each.
    """
    mean, deviation = weights["operations_shape"]
    scaled = np.clip((shape - mean) / deviation, -4, 4)
    return np.concatenate([np.tanh(vector @ weights["operations_embed"]), cues, scaled], axis=-1).astype(np.float32)


class OperationGate:
    """The gate of some weights; by the rules of :mod:`.signals.cues` where they were trained without one.

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
        if not self.trained:
            return operations_of(cues)
        logits = self.logits_of(vector, cues, shape)
        return dict(zip(OPERATIONS, (1 / (1 + np.exp(-np.clip(logits, -30, 30)))).tolist(), strict=True))

    def logits_of(self, vector: FloatArray, cues: FloatArray, shape: FloatArray) -> FloatArray:
        """The logits of these weights, ``(5,)``, of a gate that was trained."""
        one = self._weights
        reached = np.tanh(gate_inputs(one, vector, cues, shape) @ one["operations_in"] + one["operations_bias"])
        return np.asarray(reached @ one["operations_out"] + one["operations_out_bias"] + self._offsets, np.float32)
