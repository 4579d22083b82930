"""A cache in the ledger of the vectors of paid embedders, so that rebuilding an index does not call them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Row, insert, select

from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.schema import vectors

__all__ = ["embed_texts", "prune_vectors"]


def embed_texts(ledger: Ledger, user: str, embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vectors of the texts, float32 ``(n, dimension)``; those of a paid embedder are cached.

    The cache has float16 vectors by the text's hash and the embedder's fingerprint, not the text. The embedder is called
    outside of transactions.
    """
    if not embedder.paid or not texts:
        return embedder.embed_documents(texts)
    hashes = [_hash(text) for text in texts]
    known: dict[str, npt.NDArray[np.float32]] = {}
    with ledger.read(user) as tx:
        known.update(
            (row.text_hash, np.frombuffer(row.vector, "<f2").astype(np.float32))
            for row in _cached(tx, embedder, hashes)
        )
    missing = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if missing:
        fresh = dict(zip(missing, embedder.embed_documents(list(missing.values())), strict=True))
        with ledger.write(user) as tx:
            stored = {row.text_hash for row in _cached(tx, embedder, fresh)}  # by another thread meanwhile
            new = [
                {
                    "user_id": tx.user_id,
                    "text_hash": digest,
                    "fingerprint": embedder.fingerprint,
                    "vector": vector.astype("<f2").tobytes(),
                }
                for digest, vector in fresh.items()
                if digest not in stored
            ]
            if new:
                tx.connection.execute(insert(vectors), new)
        known.update(fresh)
    return np.stack([known[digest] for digest in hashes])


def _cached(tx: Transaction, embedder: Embedder, hashes: Iterable[str]) -> Iterator[Row[Any]]:
    for part in chunks(dict.fromkeys(hashes)):
        yield from tx.all(
            select(vectors.c.text_hash, vectors.c.vector).where(
                tx.own(vectors), vectors.c.fingerprint == embedder.fingerprint, vectors.c.text_hash.in_(part)
            )
        )


def prune_vectors(tx: Transaction, texts: Iterable[str]) -> None:
    """Delete the cached vectors of all other texts: after a redaction, since a hash may reveal the removed words."""
    rows = tx.all(select(vectors.c.text_hash).where(tx.own(vectors)).distinct())
    if rows:
        tx.delete(vectors, text_hash={row.text_hash for row in rows} - {_hash(text) for text in texts})


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
