"""Many operations on items written at once: what :func:`record_operation` does for one, with a few statements for all."""

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
"""Items before (None for a new one) and after."""
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
    """An operation on items that is to be written later; its ``seq`` is given then.

    Args:
        operation_id: its id; a new one when None.

    Returns:
        The operation, and the items as it leaves them.
    """
    made = tuple(item_change(before, after) for before, after in changed)
    operation = Operation(
        id=operation_id or new_id("op"), user=tx.user, seq=0, kind=kind, actor=actor, reason=reason, changes=made
    )
    return operation, [after for _, after in changed]


def record_operations(tx: Transaction, planned: Sequence[tuple[Operation, Sequence[MemoryItem]]]) -> None:
    """Write operations and the items that they leave, in their order, all in this transaction.

    Args:
        planned: as :func:`plan_operation` gave them; each builds on those before it.
    """
    if not planned:
        return
    number = tx.next_change(sum(len(left) + 1 for _, left in planned))
    states: dict[str, tuple[int, MemoryItem]] = {}
    done: list[Operation] = []
    for operation, left in planned:
        for item in left:
            states[item.id] = (number, item)
            number += 1
        done.append(operation.changed(seq=number))
        number += 1
    _write_items(tx, states)
    rows = [(tx.user_id, *(getattr(one, name) for name in _OPERATION)) for one in done]
    insert_rows(tx.connection, operations, ("user_id", *_OPERATION), rows)
    parts = [
        (tx.user_id, one.id, position, *(getattr(change, name) for name in _CHANGE))
        for one in done
        for position, change in enumerate(one.changes)
    ]
    insert_rows(tx.connection, changes, ("user_id", "operation_id", "position", *_CHANGE), parts)


def _write_items(tx: Transaction, states: dict[str, tuple[int, MemoryItem]]) -> None:
    """Insert or replace items, each with its change number, and their sources."""
    there: set[str] = set()
    for part in chunks(states):
        there.update(
            row.id for row in tx.all(select(items.c.id).where(items.c.user_id == tx.user_id, items.c.id.in_(part)))
        )
        tx.connection.execute(delete(sources).where(sources.c.user_id == tx.user_id, sources.c.item_id.in_(part)))
    rows = {item_id: {**item_row(item), "change": change} for item_id, (change, item) in states.items()}
    names = tuple(next(iter(rows.values())))
    new = [
        (tx.user_id, item_id, *(row[name] for name in names)) for item_id, row in rows.items() if item_id not in there
    ]
    insert_rows(tx.connection, items, ("user_id", "id", *names), new)
    changed = [{**row, "own_user": tx.user_id, "own_id": item_id} for item_id, row in rows.items() if item_id in there]
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
