"""The small heads over the encoder's vectors: memory types, dates, subject and attribute of a sentence; supersession.

Each is one matrix, trained together with the encoder by ``scripts/train_encoder.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hexamem.errors import CorruptFileError
from hexamem.models.encoder.runtime import EncodedText, Encoder, open_encoder

__all__ = ["Heads", "SentenceReading", "open_heads"]

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceReading:
    """What the heads say of one sentence, each a probability from 0 to 1.

    Attributes:
        types: of each memory type, that the sentence states something of it worth storing.
        dated: that it says when.
        attribute: the likeliest attribute of its subject, such as ``home_city``, with ``attribute_probability``.
        subject: characters of the text, from and to, that name what it is about; None where nothing does.
    """

    types: Mapping[str, float]
    dated: float
    attribute: str
    attribute_probability: float
    subject: tuple[int, int] | None


class Heads:
    """The heads of an encoder.

    Raises:
        CorruptFileError: their file is missing or does not belong to the encoder.
    """

    def __init__(self, encoder: Encoder) -> None:
        from safetensors.numpy import load

        path = encoder.folder / "heads.safetensors"
        try:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != encoder.metadata["heads_sha256"]:
                raise ValueError("its digest is another than that in metadata.json")
            self._arrays: dict[str, FloatArray] = load(data)
        except Exception as error:  # noqa: BLE001 - safetensors raises types of its own
            raise CorruptFileError(f"{path} cannot be read ({error}): install hexamem again") from None
        self._encoder = encoder
        self._types: list[str] = encoder.metadata["types"]
        self._attributes: list[str] = encoder.metadata["attributes"]

    def probabilities(self, vector: FloatArray) -> list[float]:
        """Of each memory type, then of a date, that the sentence states it.

        Args:
            vector: its span in the message beside its own vector, ``(2d,)``.
        """
        values: list[float] = _sigmoid(self._linear("types", vector)).tolist()
        return values

    def read(self, encoded: EncodedText, start: int, end: int, alone: FloatArray) -> SentenceReading:
        """Read the sentence from ``start`` to ``end`` of an encoded text.

        Args:
            alone: the vector of the sentence by itself.
        """
        vector = np.concatenate([encoded.span(start, end), alone])
        *types, dated = self.probabilities(vector)
        attributes = _softmax(self._linear("attribute", vector))
        likeliest = int(attributes.argmax())
        return SentenceReading(
            types=dict(zip(self._types, types, strict=True)),
            dated=dated,
            attribute=self._attributes[likeliest],
            attribute_probability=float(attributes[likeliest]),
            subject=self._subject(encoded, start, end),
        )

    def supersedes(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """The probability of each pair (earlier, later) that the later statement replaces the earlier one, ``(n,)``."""
        if not pairs:
            return np.zeros(0, np.float32)
        return _sigmoid(self._linear("supersedes", self._encoder.vectors(pairs)))[:, 0]

    def hop(self, question: FloatArray, evidence: FloatArray) -> FloatArray:
        """Vectors of what to look for next, ``(n, d)``, length 1.

        Args:
            question: the question's vector, ``(d,)``.
            evidence: vectors of what is at hand, ``(n, d)``.
        """
        moved = (
            self._arrays["hop.question"] @ question
            + evidence @ self._arrays["hop.evidence"].T
            + (evidence * question) @ self._arrays["hop.both"].T
        )
        lengths = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        return np.asarray(moved / lengths, np.float32)

    def _linear(self, name: str, vectors: FloatArray) -> FloatArray:
        return np.asarray(vectors @ self._arrays[f"{name}.weight"].T + self._arrays[f"{name}.bias"], np.float32)

    def _subject(self, encoded: EncodedText, start: int, end: int) -> tuple[int, int] | None:
        inside = np.flatnonzero((encoded.offsets[:, 0] < end) & (encoded.offsets[:, 1] > start))
        if not len(inside):
            return None
        shares = _softmax(self._linear("subject", encoded.states[inside].astype(np.float32))[:, 0])
        best = int(shares.argmax())
        first = last = best
        while first > 0 and shares[first - 1] > shares[best] / 4:
            first -= 1
        while last + 1 < len(inside) and shares[last + 1] > shares[best] / 4:
            last += 1
        if float(shares[first : last + 1].sum()) < 0.5:
            return None
        return int(encoded.offsets[inside[first], 0]), int(encoded.offsets[inside[last], 1])


@cache
def open_heads() -> Heads:
    """The heads of the encoder that ships with the package, loaded once per process."""
    return Heads(open_encoder())


def _sigmoid(values: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-values)), np.float32)


def _softmax(values: FloatArray) -> FloatArray:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum(), np.float32)
