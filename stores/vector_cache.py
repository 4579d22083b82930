"""Vectors kept in the ledger for embedders that cost money or time, so that a rebuilt index calls none of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import delete, insert, select

from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.schema import vectors

__all__ = ["embed_texts", "keep_vectors"]


def embed_texts(ledger: Ledger, user: str, embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vectors of the texts, (n, dimension) float32: from the cache where the embedder is a paid one.

    The cache holds float16 by the text's hash and the embedder's fingerprint, never the text. The embedder is
    called outside any transaction.
    """
    if not embedder.paid or not texts:
        return embedder.embed_documents(texts)
    hashes = [_hash(text) for text in texts]
    known: dict[str, npt.NDArray[np.float32]] = {}
    with ledger.read(user) as tx:
        for part in chunks(dict.fromkeys(hashes)):
            rows = tx.all(
                select(vectors.c.text_hash, vectors.c.vector).where(
                    vectors.c.user_id == tx.user_id,
                    vectors.c.fingerprint == embedder.fingerprint,
                    vectors.c.text_hash.in_(part),
                )
            )
            known.update({row.text_hash: np.frombuffer(row.vector, "<f2").astype(np.float32) for row in rows})
    missing = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if missing:
        made = embedder.embed_documents(list(missing.values()))
        fresh = dict(zip(missing, made, strict=True))
        with ledger.write(user) as tx:
            held = {
                row.text_hash
                for part in chunks(fresh)
                for row in tx.all(
                    select(vectors.c.text_hash).where(
                        vectors.c.user_id == tx.user_id,
                        vectors.c.fingerprint == embedder.fingerprint,
                        vectors.c.text_hash.in_(part),
                    )
                )
            }
            new = [
                {
                    "user_id": tx.user_id,
                    "text_hash": digest,
                    "fingerprint": embedder.fingerprint,
                    "vector": vector.astype("<f2").tobytes(),
                }
                for digest, vector in fresh.items()
                if digest not in held
            ]
            if new:
                tx.connection.execute(insert(vectors), new)
        known.update(fresh)
    return np.stack([known[digest] for digest in hashes])


def keep_vectors(tx: Transaction, texts: Iterable[str]) -> None:
    """Drop what the cache holds of other texts than these: after a redaction, whose words a hash may betray."""
    rows = tx.all(select(vectors.c.text_hash).where(vectors.c.user_id == tx.user_id).distinct())
    if rows:
        gone = {row.text_hash for row in rows} - {_hash(text) for text in texts}
        for part in chunks(gone):
            tx.connection.execute(delete(vectors).where(vectors.c.user_id == tx.user_id, vectors.c.text_hash.in_(part)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
