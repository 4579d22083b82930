"""Writing many operations on items at once: :func:`record_operation` with a few statements for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, insert, select, update

from hexamem.memory_types import MemoryItem, Operation, OperationKind, new_id
from hexamem.stores.ledger.history import item_change
from hexamem.stores.ledger.items import item_row
from hexamem.stores.ledger.ledger import Transaction, chunks, insert_rows
from hexamem.stores.ledger.schema import changes, items, operations, sources

__all__ = ["plan_operation", "record_operations"]

ItemChanges = Sequence[tuple[MemoryItem | None, MemoryItem]]
"""Each item before (None for a new one) and after."""
_OPERATION = ("id", "seq", "kind", "actor", "reason", "undoes", "created_at")
_CHANGE = ("target", "target_id", "before", "after")


def plan_operation(
    tx: Transaction,
    kind: OperationKind,
    changed: ItemChanges,
    *,
    actor: str,
    reason: str,
    operation_id: str | None = None,
) -> tuple[Operation, list[MemoryItem]]:
    """An operation on items to be written later, when it gets its ``seq``.

    Args:
        operation_id: its id; a new one when None.

    Returns:
        The operation, and the items after it.
    """
    changes_of_items = tuple(item_change(before, after) for before, after in changed)
    operation = Operation(
        id=operation_id or new_id("op"),
        user=tx.user,
        seq=0,
        kind=kind,
        actor=actor,
        reason=reason,
        changes=changes_of_items,
    )
    return operation, [after for _, after in changed]


def record_operations(tx: Transaction, planned: Sequence[tuple[Operation, Sequence[MemoryItem]]]) -> None:
    """Write operations and the items after them, in order, all in this transaction.

    Args:
        planned: results of :func:`plan_operation`; each builds on those before it.
    """
    if not planned:
        return
    number = tx.next_change(sum(len(after) + 1 for _, after in planned))
    states: dict[str, tuple[int, MemoryItem]] = {}
    numbered: list[Operation] = []
    for operation, after in planned:
        for item in after:
            states[item.id] = (number, item)
            number += 1
        numbered.append(operation.changed(seq=number))
        number += 1
    _write_items(tx, states)
    rows = [(tx.user_id, *(getattr(operation, name) for name in _OPERATION)) for operation in numbered]
    insert_rows(tx.connection, operations, ("user_id", *_OPERATION), rows)
    parts = [
        (tx.user_id, operation.id, position, *(getattr(change, name) for name in _CHANGE))
        for operation in numbered
        for position, change in enumerate(operation.changes)
    ]
    insert_rows(tx.connection, changes, ("user_id", "operation_id", "position", *_CHANGE), parts)


def _write_items(tx: Transaction, states: dict[str, tuple[int, MemoryItem]]) -> None:
    """Insert or replace items, each with its change number, and their sources."""
    existing: set[str] = set()
    for part in chunks(states):
        existing.update(
            row.id for row in tx.all(select(items.c.id).where(items.c.user_id == tx.user_id, items.c.id.in_(part)))
        )
        tx.connection.execute(delete(sources).where(sources.c.user_id == tx.user_id, sources.c.item_id.in_(part)))
    rows = {item_id: {**item_row(item), "change": change} for item_id, (change, item) in states.items()}
    names = tuple(next(iter(rows.values())))
    new = [
        (tx.user_id, item_id, *(row[name] for name in names))
        for item_id, row in rows.items()
        if item_id not in existing
    ]
    insert_rows(tx.connection, items, ("user_id", "id", *names), new)
    changed = [
        {**row, "own_user": tx.user_id, "own_id": item_id} for item_id, row in rows.items() if item_id in existing
    ]
    if changed:
        own = (items.c.user_id == bindparam("own_user")) & (items.c.id == bindparam("own_id"))
        tx.connection.execute(update(items).where(own).values({name: bindparam(name) for name in names}), changed)
    cited = [
        {"user_id": tx.user_id, "item_id": item_id, "position": position, **source.model_dump()}
        for item_id, (_, item) in states.items()
        for position, source in enumerate(item.sources)
    ]
    if cited:
        tx.connection.execute(insert(sources), cited)
