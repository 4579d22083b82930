"""What a sentence states, by linear classifiers over its vector: memory types, whether it says when, and an attribute.

Trained by ``scripts/train_reader.py`` on ``evals/corpus``, once for each embedder that ships.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexamem.models.sigmoid import sigmoid
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = ["SentenceClassifiers", "SentenceReading", "load_sentence_classifiers", "sentence_features"]

_FOLDER = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceReading:
    """What the classifiers say of one sentence, each a probability from 0 to 1.

    Attributes:
        types: of each memory type, that the sentence states something of it worth storing.
        dated: that it says when.
        past: that what it says of a day was before the message.
        of_user: that it is about the user, not about another person or thing.
        attribute: the likeliest attribute of its subject, such as ``home_city``, with ``attribute_probability``.
    """

    types: Mapping[str, float]
    dated: float
    past: float
    of_user: float
    attribute: str
    attribute_probability: float


@dataclass(frozen=True, slots=True)
class SentenceClassifiers:
    """Weights of all classifiers.

    Attributes:
        types: memory types, one for each row of ``type_weights`` ``(types + 3, d + 2)`` but the last three: "says when",
            "in the past", and "of the user".
        attributes: names of attributes, one for each row of ``attribute_weights``.
        bounds: of each memory type, the probability from which a sentence gives an item, ``(types,)``.
        embedder: fingerprint of the embedder whose vectors the weights are for.
    """

    types: tuple[str, ...]
    type_weights: NDArray[np.float32]
    type_bias: NDArray[np.float32]
    attributes: tuple[str, ...]
    attribute_weights: NDArray[np.float32]
    attribute_bias: NDArray[np.float32]
    bounds: NDArray[np.float32]
    embedder: str

    def read(self, sentence: str, vector: NDArray[np.float32]) -> SentenceReading:
        """Read a sentence.

        Args:
            vector: its embedding, ``(d,)``.
        """
        features = sentence_features(sentence, vector)
        scores = self.type_weights @ features + self.type_bias
        *types, dated, past, of_user = sigmoid(scores).tolist()
        logits = self.attribute_weights @ features + self.attribute_bias
        powers = np.exp(logits - logits.max())
        likeliest = int(powers.argmax())
        return SentenceReading(
            types=dict(zip(self.types, types, strict=True)),
            dated=dated,
            past=past,
            of_user=of_user,
            attribute=self.attributes[likeliest],
            attribute_probability=float(powers[likeliest] / powers.sum()),
        )


def sentence_features(sentence: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the classifiers see of a sentence, ``(d + 2,)``: its vector, whether it ends as a question, and its length.

    Training for retrieval moves questions towards their answers, so that the vector alone does not separate them.
    """
    asks = float(sentence.rstrip().endswith(("?", "？")))
    return np.concatenate([vector, np.array([asks, math.log1p(len(sentence)) / 5], np.float32)])


@cache
def load_sentence_classifiers(name: str) -> SentenceClassifiers:
    """The classifiers that ship for an embedder, ``bundled`` or ``static``.

    Raises:
        ModelFileError: they are missing, damaged, or for another embedder than the one that ships.
    """
    path = _FOLDER / f"sentences_{name}.npz"
    names = SentenceClassifiers.__slots__
    arrays: dict[str, Any] = dict(read_weights(path, names, embedder=name, fingerprint="embedder"))
    for field in ("types", "attributes"):
        arrays[field] = tuple(arrays[field].tolist())
    return SentenceClassifiers(**{**arrays, "embedder": str(arrays["embedder"])})
