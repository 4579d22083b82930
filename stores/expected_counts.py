"""How many records an index must have, by the ledger: steps, items, and the passages of long documents."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sqlalchemy import BigInteger, Table, bindparam, func, select

from hexamem.stores.chunking import SHORT, chunk_spans
from hexamem.stores.ledger import Transaction, get_items
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items, steps

__all__ = ["count_mismatch", "count_passages", "expected_count", "holds_documents"]

_DOCUMENT = Prepared(
    select(items.c.id)
    .where(items.c.user_id == bindparam("user"), items.c.kind == "resource", func.length(items.c.text) > SHORT)
    .limit(1)
)
_DOCUMENTS = Prepared(
    select(items.c.id).where(
        items.c.user_id == bindparam("user"),
        items.c.kind == "resource",
        items.c.status.in_(["active", "superseded"]),
        items.c.change <= bindparam("upto"),
        func.length(items.c.text) > SHORT,
    )
)


def _counting(table: Table, statuses: Sequence[str]) -> tuple[Prepared, Prepared]:
    """Statements that count the records up to a change number, and those that changed after it."""
    own = select(func.count()).where(table.c.user_id == bindparam("user"))
    reached = bindparam("upto", type_=BigInteger)
    return (
        Prepared(own.where(table.c.change <= reached, table.c.status.in_(statuses))),
        Prepared(own.where(table.c.change > reached)),
    )


_COUNTED = {"steps": _counting(steps, ["active"]), "items": _counting(items, ["active", "superseded"])}


def expected_count(tx: Transaction, stream: str, done: int) -> tuple[int, int]:
    """The least and the greatest number of records in an index that is written up to change number ``done``.

    The difference are the records that changed since: a process that was killed may have written some of them.
    """
    low, since = (tx.first(statement, user=tx.user_id, upto=done) for statement in _COUNTED[stream])
    least = int(low[0]) if low else 0
    most = least + (int(since[0]) if since else 0)
    if stream == "steps":
        return least, most
    passages = count_passages(tx, upto=done)
    # Of a document that changed since, an index may have any number of passages, also of its former content.
    return least + passages, most + passages if most == least or not _resources_since(tx, done) else sys.maxsize


def count_passages(tx: Transaction, upto: int | None = None) -> int:
    """The number of passages of the user's long documents in an index written up to change ``upto``; None: to the last."""
    ids = [row.id for row in tx.all(_DOCUMENTS, user=tx.user_id, upto=sys.maxsize if upto is None else upto)]
    # One document in memory at a time.
    return sum(len(chunk_spans(item)) for item_id in ids for item in get_items(tx, [item_id]).values())


def holds_documents(tx: Transaction) -> bool:
    """Whether the user has a document that is indexed by passages."""
    return tx.first(_DOCUMENT, user=tx.user_id) is not None


def _resources_since(tx: Transaction, done: int) -> bool:
    own = (items.c.user_id == tx.user_id) & (items.c.kind == "resource") & (items.c.change > done)
    return tx.first(select(items.c.id).where(own).limit(1)) is not None


def count_mismatch(count: int, least: int, most: int) -> str | None:
    """What is wrong with the number of records of an index; None if it is in the expected range."""
    if least <= count <= most:
        return None
    return f"it holds {count:,} of {least:,} records" if least == most else f"it holds {count:,} records of {most:,}"
