"""The interface of embedders: unit vectors for documents and queries, and the share of a text that is known.

An embedder maps a text to a float32 vector of length 1, so that a dot product is a cosine. The stores rely on three
guarantees: the same text always has the same vector, no vector is zero or NaN (Chroma's cosine space cannot rank a zero
vector), and `fingerprint` changes whenever vectors would.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "FloatArray", "TokenModel", "normalize_rows", "readable", "unknown_direction"]

FloatArray = NDArray[np.float32]


class TokenModel(Protocol):
    """Vectors of single tokens: word pieces have numbers, tokens of other scripts have names."""

    @property
    def pieces(self) -> int:
        """Number of word pieces; their ids are below it."""

    @property
    def width(self) -> int:
        """The length of a token's vector."""

    def tokenize(self, texts: Sequence[str]) -> Sequence[tuple[Sequence[int], Sequence[str]]]:
        """The known word pieces and the tokens of other scripts of each text, in reading order."""

    def token_rows(self, numbers: NDArray[np.integer], others: Sequence[str]) -> FloatArray:
        """The vectors of word pieces, then of other tokens, float32 ``(len(numbers) + len(others), dimension)``.

        They are not normalized: the length of a row is its weight.
        """


class Embedder(ABC):
    """Maps texts to unit vectors.

    Implementations are thread-safe, accept any `str` (empty, NUL bytes, lone surrogates, megabytes) and propagate the
    errors of a remote service unchanged.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The spec that opens this embedder again, if there is one, such as `bundled` or `openai:<model>`."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The length of every vector."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Hexadecimal digest of everything the vectors depend on; vectors of two fingerprints are not comparable."""

    @property
    def paid(self) -> bool:
        """Whether a vector costs money, so that the ledger caches it."""
        return True

    @property
    def slow(self) -> bool:
        """Whether a vector takes milliseconds, so that vectors are read from the index rather than computed again."""
        return self.paid

    @property
    def token_model(self) -> TokenModel | None:
        """The vectors of single tokens; None if the embedder has none, like most remote ones."""
        return None

    @abstractmethod
    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts to store.

        Returns:
            float32 array of shape `(len(texts), dimension)`, rows of length 1, in the order of `texts`. An
            empty text, or one without known tokens, has `unknown_direction(dimension)`.
        """

    @abstractmethod
    def embed_query(self, text: str) -> FloatArray:
        """Embed a question: float32 of shape `(dimension,)` and length 1, comparable with document vectors."""

    def hop(self, question: FloatArray, evidence: FloatArray) -> FloatArray | None:
        """Query vectors for the second hop of a search, from a question and pieces of evidence.

        Args:
            question: ``(dimension,)``.
            evidence: ``(n, dimension)``.

        Returns:
            ``(n, dimension)``, rows of length 1; None if the embedder was not trained for it.
        """
        return None

    def forget(self) -> None:
        """Clear all caches of texts; called when words of a user were removed."""
        return

    def known_share(self, text: str) -> float:
        """Share in [0, 1] of the tokens with a learned vector, by default of the words; 0 for a text without any."""
        return 1.0 if text.split() else 0.0


def unknown_direction(dimension: int) -> FloatArray:
    """The unit vector of all texts without known tokens, nearly orthogonal to the rest.

    Zero vectors would break cosine distance. With one fixed direction, unknown texts are near each other and far from
    everything else.
    """
    bits = np.unpackbits(np.frombuffer(hashlib.shake_256(b"hexamem:unknown").digest(dimension // 8 + 1), np.uint8))
    return (bits[:dimension].astype(np.float32) * 2 - 1) / np.float32(np.sqrt(dimension))


def normalize_rows(vectors: NDArray[np.floating]) -> FloatArray:
    """Scale the rows of an `(n, d)` array to length 1; zero and NaN rows become the unknown direction."""
    rows = np.array(vectors, dtype=np.float32, ndmin=2)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    dead = ~(np.isfinite(lengths) & (lengths > 1e-12))
    lengths[dead] = 1.0
    rows /= lengths[:, None]
    if dead.any():
        rows[dead] = unknown_direction(rows.shape[1])
    return rows


def readable(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, with lone surrogates replaced by `?`: they have no UTF-8 form."""
    head = text[:limit]
    try:
        head.encode("utf-8")
    except UnicodeEncodeError:
        return head.encode("utf-8", "replace").decode("utf-8")
    return head
