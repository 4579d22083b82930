"""Memos of memos in the ledger: each summarizes several closed pages, or several digests of the level below."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from hexamem.memory_types.labels import Tier
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.schema import digests

__all__ = ["DigestRow", "add_digests", "drop_digests", "get_digests", "read_digests", "set_digest_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRow:
    """A memo of memos: at ``level`` 1 of pages, at each higher one of digests of the level below."""

    id: str
    seq: int
    level: int
    covers: tuple[str, ...]
    text: str
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    tier: Tier = "embedded"


def _digest(row: Row[Any]) -> DigestRow:
    return DigestRow(**{**row._mapping, "covers": tuple(row.covers)})


_DIGEST = [column for column in digests.c if column.name != "user_id"]


def read_digests(tx: Transaction) -> list[DigestRow]:
    """All memos of memos, lower levels first, each level in order."""
    statement = select(*_DIGEST).where(digests.c.user_id == tx.user_id).order_by(digests.c.level, digests.c.seq)
    return [_digest(row) for row in tx.all(statement)]


def get_digests(tx: Transaction, digest_ids: Collection[str]) -> dict[str, DigestRow]:
    """Memos of memos by id; unknown ids are left out."""
    own = digests.c.user_id == tx.user_id
    rows = [row for part in chunks(digest_ids) for row in tx.all(select(*_DIGEST).where(own, digests.c.id.in_(part)))]
    return {row.id: _digest(row) for row in rows}


def add_digests(tx: Transaction, new: Sequence[DigestRow]) -> None:
    """Insert memos of memos."""
    if new:
        rows = [{column.name: getattr(digest, column.name) for column in _DIGEST} for digest in new]
        tx.connection.execute(
            insert(digests), [{"user_id": tx.user_id, **row, "covers": list(row["covers"])} for row in rows]
        )


def set_digest_text(tx: Transaction, digest_id: str, text: str, tier: Tier) -> bool:
    """Replace the text of a memo of memos; whether it still exists."""
    own = (digests.c.user_id == tx.user_id) & (digests.c.id == digest_id)
    return tx.connection.execute(update(digests).where(own).values(text=text, tier=tier)).rowcount > 0


def drop_digests(tx: Transaction, below: Collection[str]) -> None:
    """Delete the memos of memos that cover any of these pages, or a deleted digest."""
    deleted = set(below)
    for digest in read_digests(tx):  # lower levels come first
        if not deleted.isdisjoint(digest.covers):
            deleted.add(digest.id)
    for part in chunks(deleted):
        tx.connection.execute(delete(digests).where(digests.c.user_id == tx.user_id, digests.c.id.in_(part)))
