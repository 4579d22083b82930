"""The heads that are trained together with the encoder: the second hop, and the name of what a sentence is about.

Each is one matrix or a few; ``scripts/train_encoder.py`` writes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from hexamem.errors import ModelFileError
from hexamem.models.encoder.runtime import EncodedText, Encoder, open_encoder
from hexamem.once import once

__all__ = ["Heads", "open_heads"]

FloatArray = NDArray[np.float32]
_CLEAR = 0.5
"""Share of the subject's tokens in the whole from which a name is clear."""


class Heads:
    """The heads of an encoder.

    Raises:
        ModelFileError: their file is missing or does not belong to the encoder.
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
            raise ModelFileError(f"{path} cannot be read ({error}): install hexamem again") from None
        self._encoder = encoder

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

    def subjects(self, sentences: Sequence[str]) -> list[str]:
        """The words of each sentence that name what it is about; empty where none do clearly."""
        encoded = self._encoder.encode(sentences)
        return [self._subject(sentence, one) for sentence, one in zip(sentences, encoded, strict=True)]

    def _subject(self, sentence: str, encoded: EncodedText) -> str:
        if not len(encoded.states):
            return ""
        scores = encoded.states.astype(np.float32) @ self._arrays["subject.weight"][0]
        powers = np.exp(scores - scores.max())
        shares = powers / powers.sum()
        best = int(shares.argmax())
        first = last = best
        while first > 0 and shares[first - 1] > shares[best] / 4:
            first -= 1
        while last + 1 < len(shares) and shares[last + 1] > shares[best] / 4:
            last += 1
        if float(shares[first : last + 1].sum()) < _CLEAR:
            return ""
        start, end = int(encoded.offsets[first, 0]), int(encoded.offsets[last, 1])
        while start > 0 and _one_word(sentence[start - 1 : start + 1]):  # a token may be a part of a word
            start -= 1
        while 0 < end < len(sentence) and _one_word(sentence[end - 1 : end + 1]):
            end += 1
        return sentence[start:end].strip()


def _one_word(pair: str) -> bool:
    """Whether two neighbouring characters belong to one word; ideographs are words of their own."""
    return all(character.isalnum() and east_asian_width(character) not in "WF" for character in pair)


@once
def open_heads() -> Heads:
    """The heads of the encoder that ships with the package, loaded once per process."""
    return Heads(open_encoder())
