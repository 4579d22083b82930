"""Event types and key entity types of a step, by linear classifiers over encoder vectors.

Trained by ``scripts/train_labels.py`` on the corpus's trajectories; at run time two matrix products.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hexamem.intent.contract import StepView, Vectors
from hexamem.models.sigmoid import sigmoid
from hexamem.once import once
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = ["CONTEXT", "LabelClassifiers", "event_features", "load_classifiers"]

CONTEXT = ("question", "length", "turned", "first", "tool")
"""What the event classifier sees of a step beside its vector and that of the step before."""


@dataclass(frozen=True, slots=True)
class LabelClassifiers:
    """Weights of both classifiers.

    Attributes:
        events: names of the event types, one for each column of ``event_weights``.
        entities: likewise.
        thresholds: probability from which a step carries an entity type, ``(n,)``.
        encoder: fingerprint of the encoder whose vectors the weights are for.
    """

    events: tuple[str, ...]
    event_weights: Vectors
    event_bias: Vectors
    entities: tuple[str, ...]
    entity_weights: Vectors
    entity_bias: Vectors
    thresholds: Vectors
    encoder: str = ""

    def event_of(self, features: Vectors) -> tuple[str, float]:
        """The likeliest event type and its probability."""
        scores = features @ self.event_weights + self.event_bias
        powers = np.exp(scores - scores.max())
        best = int(powers.argmax())
        return self.events[best], float(powers[best] / powers.sum())

    def entities_of(self, vector: Vectors, most: int = 4) -> dict[str, float]:
        """Entity types above their thresholds with their probabilities, likeliest first."""
        chances = sigmoid(vector @ self.entity_weights + self.entity_bias)
        order = [
            int(place) for place in np.argsort(-chances / self.thresholds) if chances[place] >= self.thresholds[place]
        ]
        return {self.entities[place]: float(chances[place]) for place in order[:most]}


def event_features(step: StepView, before: StepView | None, *, turned: bool) -> Vectors:
    """What the event classifier sees of a step.

    Args:
        before: the step before it in its thread.
        turned: whether the step opens or returns to another scope than that step's.
    """
    context = [
        step.text.rstrip().endswith(("?", "？")),
        math.log1p(len(step.words)) / 5,
        turned,
        before is None,
        step.role == "tool",
    ]
    earlier = np.zeros_like(step.vector) if before is None else before.vector
    return np.concatenate([step.vector, earlier, np.array(context, np.float32)])


@once
def load_classifiers(name: str) -> LabelClassifiers:
    """The classifiers that ship for the vectors of an embedder, ``bundled`` or ``static``.

    Raises:
        ModelFileError: they are missing, damaged, or for another embedder than the one that ships.
    """
    path = Path(__file__).parent / "weights" / f"labels_{name}.npz"
    stored = read_weights(path, LabelClassifiers.__slots__, embedder=name, fingerprint="encoder")
    return LabelClassifiers(
        events=tuple(stored["events"].tolist()),
        event_weights=stored["event_weights"],
        event_bias=stored["event_bias"],
        entities=tuple(stored["entities"].tolist()),
        entity_weights=stored["entity_weights"],
        entity_bias=stored["entity_bias"],
        thresholds=stored["thresholds"],
        encoder=str(stored["encoder"]),
    )
