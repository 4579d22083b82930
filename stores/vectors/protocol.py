"""The protocol of a vector store, which Chroma implements here and another database can implement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["LIST_KEYS", "METADATA_KEYS", "PARTS", "FloatArray", "Metadata", "Part", "VectorStore"]

FloatArray = npt.NDArray[np.float32]
Part = Literal["steps", "pages", "items"]
PARTS: tuple[Part, ...] = get_args(Part)
LIST_KEYS = ("events", "entities", "labels")
METADATA_KEYS = ("type", "time", "thread", "role", "speaker", "scope", *LIST_KEYS)
"""Metadata that Hexamem writes with a vector: lists of strings under :data:`LIST_KEYS`, ``time`` in seconds, else strings."""
Metadata = Mapping[str, str | int | Sequence[str]]


@runtime_checkable
class VectorStore(Protocol):
    """Vectors with metadata, separated by owner and part. Give one to ``Memory.open(vector_store=…)``.

    An **owner** is one user of one home: an opaque string of letters, digits and dots. Only it separates users, so
    it belongs into every key, filter or collection name. A **part** is ``"steps"``, ``"pages"`` or
    ``"items"``. All of it is derived from the ledger: losing it costs the time to rebuild it, never data.

    Calls on one owner and part are serialized; calls on different ones come from several threads. Arguments are checked
    before the call. :func:`hexamem.testing.check_vector_store` tests an implementation.

    Methods may raise :class:`~hexamem.errors.CorruptFileError` when the part of an owner must be rebuilt: Hexamem then
    deletes it and writes it again. Every other exception is propagated to the caller.
    """

    def upsert(
        self,
        owner: str,
        part: Part,
        ids: Sequence[str],
        vectors: FloatArray,
        metadatas: Sequence[Metadata],
        *,
        fingerprint: str,
    ) -> None:
        """Add records or replace them as a whole; searches find them when this returns.

        Args:
            ids: n distinct ids.
            vectors: ``(n, d)``, finite; their lengths do not matter.
            metadatas: n mappings with some of :data:`METADATA_KEYS`; no ``None``, no empty list.
            fingerprint: of the embedder that made the vectors; the same for all of an owner's part.
        """
        ...

    def delete(self, owner: str, part: Part, ids: Sequence[str] | None) -> None:
        """Delete records; ``None`` deletes the whole part with its fingerprint, also where it is damaged.

        Unknown ids are ignored.
        """
        ...

    def query(
        self,
        owner: str,
        part: Part,
        vector: FloatArray,
        k: int,
        *,
        any_of: Mapping[str, Collection[str]] | None = None,
    ) -> list[tuple[str, float]]:
        """The nearest records as (id, cosine similarity in [-1, 1]), best first: at most ``k``; approximate is fine.

        Args:
            vector: ``(d,)``, finite.
            any_of: values by metadata key. Only records that have, under at least one of these keys, one of its values: as
                the value itself, or in the list. ``None`` for all records.
        """
        ...

    def get(self, owner: str, part: Part, ids: Sequence[str] | None) -> dict[str, FloatArray]:
        """The vectors ``(d,)`` of those ids that exist; of all records where ``ids`` is ``None``."""
        ...

    def ids(self, owner: str, part: Part) -> set[str]:
        """The ids of all records."""
        ...

    def count(self, owner: str, part: Part) -> int:
        """The number of records; 0 if nothing was stored."""
        ...

    def drop_user(self, owner: str) -> None:
        """Erase all parts of the owner, from the disk too, as far as the database allows."""
        ...

    def fingerprint(self, owner: str, part: Part) -> str | None:
        """The fingerprint that the part was written with; ``None`` if nothing was stored."""
        ...

    def close(self) -> None:
        """Release files and connections. Called once, when the memory closes."""
        ...
