"""Forgetting: hiding steps and items from every read, in one operation that ``undo`` reverses."""

from __future__ import annotations

from collections.abc import Collection

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, MemoryItem, Operation, Step, Where
from hexamem.stores.ledger import (
    Transaction,
    get_items,
    get_steps,
    item_change,
    items_citing,
    record_operation,
    select_step_ids,
)

__all__ = ["forget_records"]


def forget_records(
    tx: Transaction,
    ids: Collection[str],
    where: Where | None = None,
    *,
    actor: str = "user",
    reason: str = "",
) -> Operation:
    """Hide records from every read; see ``UserMemory.forget`` for the contract.

    Returns:
        The operation. Its changes are in the order of ``ids``; items without any other source come last.
    """
    if not ids and where is None:
        raise InvalidInputError("forget what? pass ids, a thread_id or where (erase() erases the whole user)")
    if where is not None:
        if ids or where.empty:
            raise InvalidInputError(
                "forget either ids or the steps that match where, which needs at least one condition"
            )
        ids = sorted(select_step_ids(tx, where))
        if not ids:
            raise NotFoundError(f"user {tx.user!r} has no steps that match {where!r}")
    items = {item_id: item for item_id, item in get_items(tx, ids).items() if item.status != "removed"}
    steps = get_steps(tx, ids)
    if missing := [record_id for record_id in dict.fromkeys(ids) if record_id not in items and record_id not in steps]:
        raise NotFoundError(
            f"no such step or item, or it was forgotten already: {', '.join(map(repr, missing))}; leave it out"
        )
    records: list[Step | MemoryItem] = [items.get(record_id) or steps[record_id] for record_id in dict.fromkeys(ids)]
    records += [item for item in _without_other_source(tx, steps.keys()) if item.id not in items]
    return record_operation(tx, "forget", list(map(_change, records)), actor=actor, reason=reason)


def _change(record: Step | MemoryItem) -> Change:
    if isinstance(record, Step):
        return Change(target="step", target_id=record.id, before={"status": "active"}, after={"status": "forgotten"})
    return item_change(record, record.changed(status="removed"))


def _without_other_source(tx: Transaction, step_ids: Collection[str]) -> list[MemoryItem]:
    """The items that cite nothing but these steps and steps forgotten before."""
    citing = get_items(tx, items_citing(tx, step_ids))
    cited = {source.step_id for item in citing.values() for source in item.sources}
    remaining = get_steps(tx, cited - set(step_ids)).keys()
    return [
        item
        for item in citing.values()
        if item.status in ("active", "superseded") and remaining.isdisjoint(source.step_id for source in item.sources)
    ]
