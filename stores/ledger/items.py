"""Memory items in the ledger: written by operations only, read as of now, of a valid time, or of a belief time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, bindparam, delete, exists, func, insert, or_, select, update

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.memory_types import MemoryItem, Source, TypeRegistry, Where
from hexamem.memory_types.item_keys import slot_of, statement_key
from hexamem.stores.ledger.ledger import IN_LIMIT, Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import changes, items, operations, sources, steps
from hexamem.stores.ledger.steps import has_metadata, select_step_ids, step_conditions

__all__ = [
    "STATED_AT",
    "believed_now",
    "changed_items",
    "count_items",
    "event_time",
    "get_items",
    "has_own_time",
    "item_from",
    "item_row",
    "items_citing",
    "items_with_key",
    "read_items",
    "select_item_ids",
    "valid_at",
    "write_items",
    "write_keys",
]

STATED_AT = "said_at"
"""The metadata key of when an item was stated, if that was not when it was learned: an ISO time with its offset."""


_WRITTEN = [column.name for column in items.columns if not column.primary_key]
_COLUMNS = [name for name in _WRITTEN if name not in ("change", "event_at", "statement_key", "slot")]
_REPLACE = Prepared(
    update(items)
    .where(items.c.user_id == bindparam("own_user"), items.c.id == bindparam("own_id"))
    .values({name: bindparam(name) for name in _WRITTEN})
)
_ADD = Prepared(insert(items))
_DELETE_SOURCES = Prepared(
    delete(sources).where(sources.c.user_id == bindparam("own_user"), sources.c.item_id == bindparam("own_id"))
)
_ADD_SOURCE = Prepared(insert(sources))


def write_items(tx: Transaction, new: Sequence[MemoryItem], *, status: str | None = None) -> None:
    """Insert or replace items with their sources. ``status`` overrides the record's (for an undone addition)."""
    first = tx.next_change(max(1, len(new)))
    for offset, item in enumerate(new):
        values = item_row(item) | {"change": first + offset} | ({"status": status} if status else {})
        if tx.run(_REPLACE, own_user=tx.user_id, own_id=item.id, **values) == 0:
            tx.run(_ADD, user_id=tx.user_id, id=item.id, **values)
        tx.run(_DELETE_SOURCES, own_user=tx.user_id, own_id=item.id)
        rows = [
            {"user_id": tx.user_id, "item_id": item.id, "position": position, **source.model_dump()}
            for position, source in enumerate(item.sources)
        ]
        tx.run_many(_ADD_SOURCE, rows)


def item_row(item: MemoryItem) -> dict[str, Any]:
    """The columns of an item, less its keys and change number."""
    values = {name: getattr(item, name) for name in _COLUMNS}
    keys = {"statement_key": statement_key(item), "slot": slot_of(item.metadata)}
    return {**values, **keys, "labels": list(item.labels), "event_at": event_time(item)}


def items_with_key(tx: Transaction, kind: str, *, statement: str | None = None, slot: str | None = None) -> list[str]:
    """The ids of the active and superseded items of a kind with a statement's key or in a slot."""
    wanted = items.c.statement_key == statement if slot is None else items.c.slot == slot
    conditions = (tx.own(items), items.c.kind == kind, wanted)
    return [
        row.id for row in tx.all(select(items.c.id).where(*conditions, items.c.status.in_(("active", "superseded"))))
    ]


def write_keys(tx: Transaction, item_ids: Collection[str]) -> None:
    """Compute the keys of items anew, whose texts were rewritten."""
    for item in get_items(tx, item_ids, undone=True).values():
        keys = {"statement_key": statement_key(item), "slot": slot_of(item.metadata)}
        tx.update(items, item.id, **keys)


def has_own_time(item: MemoryItem) -> bool:
    """Whether an item has a time of its own: when it happened, became valid, or was stated."""
    return event_time(item) != item.created_at


def event_time(item: MemoryItem) -> datetime:
    """The time that filters compare: when it happened, else became valid, else was stated, else was learned."""
    return _happened_at(item) or item.valid_from or _stated_at(item) or item.created_at


def _happened_at(item: MemoryItem) -> datetime | None:
    value = getattr(item, "occurred_at", None)
    return value if isinstance(value, datetime) else None  # an item of an unregistered type has what was stored


def _stated_at(item: MemoryItem) -> datetime | None:
    value = item.metadata.get(STATED_AT)
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:  # users can edit metadata
        return None
    return time if time is not None and time.tzinfo is not None else None


_SOURCES = Prepared(
    select(sources).where(of_user(sources), among(sources.c.item_id)).order_by(sources.c.item_id, sources.c.position)
)
_BY_ID = select(items).where(of_user(items), among(items.c.id))
_ANY, _NOT_UNDONE = Prepared(_BY_ID), Prepared(_BY_ID.where(items.c.status != "undone"))


def item_from(row: Mapping[Any, Any], cited: Sequence[Source], user: str, types: TypeRegistry) -> MemoryItem:
    """The record of a row.

    Raises:
        InvalidInputError: if the row is damaged.
    """
    values = {name: row[name] for name in _FIELDS}
    status = "removed" if row["status"] == "undone" else row["status"]
    return types.restore({**values, "user": user, "sources": cited, "status": status, **row["payload"]})


_FIELDS = (
    *("id", "kind", "labels", "valid_from", "valid_to", "created_at", "superseded_at", "superseded_by", "version"),
    "metadata",
)


def _records(tx: Transaction, rows: Sequence[Row[Any]]) -> list[MemoryItem]:
    cited: dict[str, list[Source]] = {}
    for row in tx.all_of(_SOURCES, [row.id for row in rows]):
        source = Source(step_id=row.step_id, quote=row.quote, start=row.start, end=row.end)
        cited.setdefault(row.item_id, []).append(source)
    try:
        return [item_from(row._mapping, cited.get(row.id, ()), tx.user, tx.types) for row in rows]
    except (InvalidInputError, TypeError) as error:
        raise CorruptFileError(
            f"an item of user {tx.user!r} in the ledger is damaged ({type(error).__name__}); restore it from a backup"
        ) from None


def get_items(tx: Transaction, item_ids: Collection[str], *, undone: bool = False) -> dict[str, MemoryItem]:
    """Items by id in whatever status; unknown ids are left out, and so are additions that were undone."""
    rows = list(tx.all_of(_ANY if undone else _NOT_UNDONE, item_ids))
    return {item.id: item for item in _records(tx, rows)}


def believed_now(tx: Transaction, item: MemoryItem) -> MemoryItem | None:
    """The item if it is active, else the last of those that superseded it; None where that is not active either."""
    seen: set[str] = set()
    while item.status in ("superseded", "merged") and item.superseded_by and item.id not in seen:
        seen.add(item.id)
        successor = get_items(tx, [item.superseded_by]).get(item.superseded_by)
        if successor is None:
            return None
        item = successor
    return item if item.status == "active" else None


def read_items(
    tx: Transaction,
    *,
    kinds: Collection[str] | None = None,
    where: Where | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    superseded: bool = False,
) -> list[MemoryItem]:
    """Items in order of creation.

    Without times: the active items, with ``superseded`` also the superseded ones. ``as_of``: those valid at that time
    by present belief; a superseded item with an end of validity counts until then. ``known_at``: those believed at that
    time, in their state of then. Both: those that were then believed to be valid at ``as_of``.
    """
    if known_at is None:
        ids = select_item_ids(tx, kinds=kinds, where=where, as_of=as_of, superseded=superseded)
        return sorted(get_items(tx, ids).values(), key=_in_order)
    believed = [
        item
        for item in _states_at(tx, known_at)
        if (kinds is None or item.kind in kinds) and _meets_status_conditions(item, as_of, superseded)
    ]
    if where is None or where.empty:
        return believed
    step_ids = _matching_steps(tx, where, {source.step_id for item in believed for source in item.sources})
    return [item for item in believed if _matches(item, where, step_ids)]


def _status_conditions(as_of: datetime | None, superseded: bool) -> list[ColumnElement[bool]]:
    if as_of is None:
        return [items.c.status.in_(["active", "superseded"] if superseded else ["active"])]
    return [
        or_(items.c.status == "active", and_(items.c.status == "superseded", items.c.valid_to.is_not(None))),
        or_(
            items.c.valid_from <= as_of,
            # An event is valid from when it happened.
            and_(items.c.valid_from.is_(None), or_(items.c.kind != "episodic", items.c.event_at <= as_of)),
        ),
        or_(items.c.valid_to.is_(None), items.c.valid_to > as_of),
    ]


def _meets_status_conditions(item: MemoryItem, as_of: datetime | None, superseded: bool) -> bool:
    """:func:`_status_conditions` for an item that is read already."""
    if as_of is None:
        return item.status == "active" or (superseded and item.status == "superseded")
    ended = item.status == "superseded" and item.valid_to is not None
    return (item.status == "active" or ended) and valid_at(item, as_of)


def valid_at(item: MemoryItem, moment: datetime) -> bool:
    """Whether the item was valid at a time: ``valid_from`` ≤ ``moment`` < ``valid_to``; None is open-ended."""
    begins = item.valid_from or _happened_at(item)
    begun = begins is None or begins <= moment
    return begun and (item.valid_to is None or moment < item.valid_to)


def _states_at(tx: Transaction, moment: datetime) -> list[MemoryItem]:
    """The items, in whatever status, as they were after the operations up to that time."""
    statement = (
        select(changes.c.target_id, changes.c.before, changes.c.after, operations.c.kind, operations.c.created_at)
        .join(operations, and_(operations.c.user_id == changes.c.user_id, operations.c.id == changes.c.operation_id))
        .where(tx.own(changes), changes.c.target == "item")
        .order_by(operations.c.seq, changes.c.position)
    )
    states: dict[str, MemoryItem | None] = {}
    for row in tx.all(statement):
        after = tx.types.restore(row.after) if row.after is not None else None
        # An undo or a redo restores an old record with its old times: it is believed from the undo on.
        if (row.created_at if row.kind == "undo" else _took_effect(row.before, after, row.created_at)) <= moment:
            states[row.target_id] = after
    existing = [item for item in states.values() if item is not None]
    return sorted(existing, key=_in_order)


def _in_order(item: MemoryItem) -> tuple[datetime, str]:
    return item.created_at, item.id


def _took_effect(before: dict[str, Any] | None, after: MemoryItem | None, recorded: datetime) -> datetime:
    """When a change began to be believed: an addition at ``created_at``, a supersession at ``superseded_at``."""
    if after is not None and before is None:
        return min(after.created_at, recorded)
    if after is not None and after.superseded_at is not None and (before or {}).get("superseded_at") is None:
        return min(after.superseded_at, recorded)
    return recorded


def _matching_steps(tx: Transaction, where: Where, among: Collection[str]) -> set[str] | None:
    """The steps ``among`` these that match the conditions of a filter on steps, which an item meets by its sources.

    None where the filter has no such condition.
    """
    if not _filters_steps(where):
        return None
    return select_step_ids(tx, _of_steps(where), among=among, forgotten=True)


def _of_steps(where: Where) -> Where:
    """The conditions of a filter that an item meets by its sources."""
    return Where(thread_id=where.thread_id, agent_id=where.agent_id, speaker=where.speaker)


def _filters_steps(where: Where) -> bool:
    return where.thread_id is not None or where.agent_id is not None or where.speaker is not None


def _matches(item: MemoryItem, where: Where, step_ids: set[str] | None) -> bool:
    time = event_time(item)
    return (
        (step_ids is None or any(source.step_id in step_ids for source in item.sources))
        and (where.since is None or time >= where.since)
        and (where.until is None or time <= where.until)
        and set(where.labels) <= set(item.labels)
        and has_metadata(item.metadata, where.metadata)
    )


def select_item_ids(
    tx: Transaction,
    *,
    kinds: Collection[str] | None = None,
    where: Where | None = None,
    as_of: datetime | None = None,
    superseded: bool = True,
    among: Collection[str] | None = None,
) -> set[str]:
    """The ids of the items that a search may return, of all or ``among`` some: exact, from the ledger alone.

    A condition on thread, agent or speaker is met by an item that cites such a step.
    """
    conditions = _status_conditions(as_of, superseded)
    if kinds is not None:
        conditions.append(items.c.kind.in_(list(kinds)))
    if among is not None:
        if len(among) > IN_LIMIT:
            among_some = partial(select_item_ids, tx, kinds=kinds, where=where, as_of=as_of, superseded=superseded)
            return set().union(*(among_some(among=part) for part in chunks(among)))
        conditions.append(items.c.id.in_(list(among)))
    where = where or Where()
    columns = [items.c.id]
    if where.since is not None:
        conditions.append(items.c.event_at >= where.since)
    if where.until is not None:
        conditions.append(items.c.event_at <= where.until)
    columns += [items.c.labels] if where.labels else []
    columns += [items.c.metadata] if where.metadata else []
    if _filters_steps(where):
        cited = and_(tx.own(sources), sources.c.item_id == items.c.id, sources.c.step_id == steps.c.id)
        conditions.append(exists().where(cited, *step_conditions(tx, _of_steps(where))))
    rows = tx.all(select(*columns).where(tx.own(items), *conditions))
    # By position: ``metadata`` is reserved as an attribute of SQLAlchemy's rows.
    position = {column.name: number for number, column in enumerate(columns)}
    return {
        row.id
        for row in rows
        if set(where.labels) <= set(row[position["labels"]] if where.labels else ())
        and (not where.metadata or has_metadata(row[position["metadata"]], where.metadata))
    }


_CHANGED = Prepared(
    select(items)
    .where(of_user(items), items.c.change > bindparam("since"))
    .order_by(items.c.change)
    .limit(bindparam("most"))
)
_COUNTS = Prepared(
    select(items.c.kind, func.count().label("number"))
    .where(of_user(items), items.c.status == "active")
    .group_by(items.c.kind)
)


def changed_items(tx: Transaction, since: int, limit: int) -> list[tuple[int, MemoryItem]]:
    """Items whose change number is above ``since``, lowest first, with that number: what an index must read."""
    rows = tx.all(_CHANGED, user=tx.user_id, since=since, most=limit)
    return [(row.change, item) for row, item in zip(rows, _records(tx, rows), strict=True)]


def items_citing(tx: Transaction, step_ids: Collection[str]) -> set[str]:
    """The ids of items that cite any of these steps."""
    item_ids: set[str] = set()
    for part in chunks(step_ids):
        statement = select(sources.c.item_id).where(tx.own(sources), sources.c.step_id.in_(part))
        item_ids.update(row.item_id for row in tx.all(statement))
    return item_ids


def count_items(tx: Transaction) -> dict[str, int]:
    """How many active items there are of each kind."""
    return {row.kind: int(row.number) for row in tx.all(_COUNTS, user=tx.user_id)}
