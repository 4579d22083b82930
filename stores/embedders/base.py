"""The interface of embedders: unit vectors for documents and queries, and the share of a text that is known.

An embedder maps a text to a float32 vector of length 1, so that a dot product is a cosine. The stores rely on three
guarantees: the same text always has the same vector, no vector is zero or NaN (Chroma's cosine space cannot rank a zero
vector), and `fingerprint` changes whenever vectors would.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hexamem.stores.embedders.token_bags import TokenBag

__all__ = ["Coverage", "Embedder", "FloatArray", "TokenModel", "normalize_rows", "readable", "unknown_direction"]

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The number of a text's tokens that have a learned vector.

    Attributes:
        known: tokens with a learned vector.
        total: all tokens, the known ones included.
        unknown: the distinct tokens without one, in reading order, at most `Embedder.UNKNOWN_LIMIT`; for the `why` of a
            hit.
    """

    known: int
    total: int
    unknown: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """`known / total` in [0, 1]; 0 for a text without tokens."""
        return self.known / self.total if self.total else 0.0


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

    UNKNOWN_LIMIT = 8
    """Maximum number of unknown tokens in `coverage`."""

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

    def late_interaction(self, question: str, texts: Sequence[str]) -> FloatArray | None:
        """How well each text answers the question when compared token by token, see `late_interaction.py`.

        Args:
            question: any text.
            texts: the texts to compare; a token that many of them contain weighs less, so pass all at once.

        Returns:
            float32 of shape `(len(texts),)`, higher is better, comparable within this call only; None if `token_model` is
            None.
        """
        return None if self.token_model is None else self.compare_bags(question, self.token_bags(texts))

    def hop(self, question: FloatArray, evidence: FloatArray) -> FloatArray | None:
        """Query vectors for the second hop of a search, from a question and pieces of evidence.

        Args:
            question: ``(dimension,)``.
            evidence: ``(n, dimension)``.

        Returns:
            ``(n, dimension)``, rows of length 1; None if the embedder was not trained for it.
        """
        return None

    def token_bags(self, texts: Sequence[str]) -> list[TokenBag]:
        """The tokens of each text for late interaction; of a long text only those of its beginning.

        Raises:
            NotImplementedError: `token_model` is None.
        """
        raise NotImplementedError(f"the embedder {self.name!r} has no vectors of single tokens")

    def compare_bags(self, question: str, bags: Sequence[TokenBag]) -> FloatArray:
        """As `late_interaction`, with texts as their `token_bags`.

        Raises:
            NotImplementedError: `token_model` is None.
        """
        raise NotImplementedError(f"the embedder {self.name!r} has no vectors of single tokens")

    def forget(self) -> None:
        """Clear all caches of texts; called when words of a user were removed."""
        return

    def coverage(self, text: str) -> Coverage:
        """Count the known tokens of a text; by default every word counts as known."""
        words = len(text.split())
        return Coverage(known=words, total=words)

    def known_share(self, text: str) -> float:
        """Share in [0, 1] of the tokens with a learned vector; hashed and unknown tokens have none."""
        return self.coverage(text).share


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
