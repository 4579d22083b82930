"""Linear classifiers over the vector of a sentence: memory types, mentions of time, the user as subject, an attribute.

Trained by ``scripts/train_reader.py`` on ``evals/corpus``, once for each embedder that ships.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexamem.models.sigmoid import sigmoid
from hexamem.once import once
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = ["SentenceClassifiers", "SentenceReading", "load_sentence_classifiers", "sentence_features"]

_FOLDER = Path(__file__).parent / "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceReading:
    """The results of the classifiers for one sentence; numbers are probabilities from 0 to 1.

    Attributes:
        types: memory type → that the sentence is worth an item of it.
        dated: that it mentions a date or time.
        past: that this is before the message.
        of_user: that it is about the user, not about another person or thing.
        attribute: the likeliest attribute of its subject, such as ``home_city``.
        attribute_probability: that this attribute is right.
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
        types: the memory types of the rows of ``type_weights`` ``(types + 3, d + 2)``; the last three rows are ``dated``,
            ``past`` and ``of_user``.
        attributes: the attributes of the rows of ``attribute_weights``.
        bounds: the least probability of each memory type at which a sentence becomes an item, ``(types,)``.
        embedder: the fingerprint of the embedder for which the weights are trained.
    """

    types: tuple[str, ...]
    type_weights: NDArray[np.float32]
    type_bias: NDArray[np.float32]
    attributes: tuple[str, ...]
    attribute_weights: NDArray[np.float32]
    attribute_bias: NDArray[np.float32]
    bounds: NDArray[np.float32]
    embedder: str

    def read(self, sentences: Sequence[str], vectors: NDArray[np.float32]) -> list[SentenceReading]:
        """Classify sentences.

        Args:
            vectors: their embeddings, ``(n, d)``.
        """
        if not sentences:
            return []
        features = np.stack([sentence_features(*pair) for pair in zip(sentences, vectors, strict=True)])
        chances = sigmoid(features @ self.type_weights.T + self.type_bias).tolist()
        logits = features @ self.attribute_weights.T + self.attribute_bias
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        likeliest, shares = powers.argmax(axis=1).tolist(), (powers.max(axis=1) / powers.sum(axis=1)).tolist()
        return [
            SentenceReading(
                types=dict(zip(self.types, types, strict=True)),
                dated=dated,
                past=past,
                of_user=of_user,
                attribute=self.attributes[attribute],
                attribute_probability=share,
            )
            for (*types, dated, past, of_user), attribute, share in zip(chances, likeliest, shares, strict=True)
        ]


def sentence_features(sentence: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The features of a sentence, ``(d + 2,)``: its vector, whether it ends with a question mark, and its length.

    Training for retrieval moves questions towards their answers, so that the vector alone does not separate them.
    """
    asks = float(sentence.rstrip().endswith(("?", "？")))
    return np.concatenate([vector, np.array([asks, math.log1p(len(sentence)) / 5], np.float32)])


@once
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
