"""As little of an item as recalls need: what it says and whether it is believed, read without making its record."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select

from hexamem.memory_types import Source
from hexamem.memory_types.items import ItemKind
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items, sources

__all__ = ["ItemState", "ShownItem", "item_states", "item_texts", "items_before", "items_since", "shown_items"]

_GIVEN = (
    items.c.user_id == bindparam("user"),
    items.c.id.in_(bindparam("ids", expanding=True)),
    items.c.status != "undone",
)
_TEXTS = Prepared(select(items.c.id, items.c.text).where(*_GIVEN))
_STATES = Prepared(select(items.c.id, items.c.status, items.c.superseded_by).where(*_GIVEN))
_SHOWN = Prepared(
    select(
        items.c.id, items.c.kind, items.c.text, items.c.event_at, items.c.created_at, items.c.status, items.c.valid_to
    ).where(*_GIVEN, items.c.kind != "resource")
)
_SOURCES = Prepared(
    select(sources.c.item_id, sources.c.step_id, sources.c.quote, sources.c.start, sources.c.end)
    .where(sources.c.user_id == bindparam("user"), sources.c.item_id.in_(bindparam("ids", expanding=True)))
    .order_by(sources.c.item_id, sources.c.position)
)
_SINCE = Prepared(
    select(items.c.id)
    .where(items.c.user_id == bindparam("user"), items.c.change > bindparam("since"))
    .limit(bindparam("most"))
)


class ItemState(NamedTuple):
    """Whether an item is believed, and what took its place where it is not."""

    status: str
    superseded_by: str | None


class ShownItem(NamedTuple):
    """What a hit shows of an item; ``event_at`` as :func:`~hexamem.stores.ledger.items.event_time` tells it.

    ``own_time`` is whether that is a time of its own, and not when it was learned.
    """

    id: str
    kind: ItemKind
    text: str
    event_at: datetime
    own_time: bool
    status: str
    sources: tuple[Source, ...]
    valid_to: datetime | None = None


def item_texts(tx: Transaction, item_ids: Collection[str]) -> dict[str, str]:
    """What items say, in whatever status; unknown and undone ones are left out."""
    return {row.id: row.text for part in chunks(item_ids) for row in tx.all(_TEXTS, user=tx.user_id, ids=part)}


def item_states(tx: Transaction, item_ids: Collection[str]) -> dict[str, ItemState]:
    """Whether items are believed; unknown and undone ones are left out."""
    return {
        row.id: ItemState(row.status, row.superseded_by)
        for part in chunks(item_ids)
        for row in tx.all(_STATES, user=tx.user_id, ids=part)
    }


def shown_items(tx: Transaction, item_ids: Collection[str]) -> dict[str, ShownItem]:
    """What is shown of items, but for documents, of which a passage is; unknown and undone ones are left out."""
    cited: dict[str, list[Source]] = {}
    found: dict[str, ShownItem] = {}
    for part in chunks(item_ids):
        for row in tx.all(_SOURCES, user=tx.user_id, ids=part):
            # Values come from our own table, so they are not validated again.
            source = Source.of_fields(step_id=row.step_id, quote=row.quote, start=row.start, end=row.end)
            cited.setdefault(row.item_id, []).append(source)
        for row in tx.all(_SHOWN, user=tx.user_id, ids=part):
            cites = tuple(cited.get(row.id, ()))
            own_time = row.event_at != row.created_at
            found[row.id] = ShownItem(
                row.id, row.kind, row.text, row.event_at, own_time, row.status, cites, row.valid_to
            )
    return found


_BEFORE = Prepared(
    select(items.c.id, items.c.change)
    .where(items.c.user_id == bindparam("user"), items.c.change < bindparam("before"), items.c.status != "undone")
    .order_by(items.c.change.desc())
    .limit(bindparam("most"))
)


def items_before(tx: Transaction, before: int | None, most: int) -> list[tuple[str, int]]:
    """The items that were changed last before a change number, or of all, the latest first: id and change number."""
    before = tx.change + 1 if before is None else before
    return [(row.id, row.change) for row in tx.all(_BEFORE, user=tx.user_id, before=before, most=most)]


def items_since(tx: Transaction, since: int, most: int) -> set[str] | None:
    """The ids of items whose change number is above ``since``; None where there are ``most`` or more."""
    found = {row.id for row in tx.all(_SINCE, user=tx.user_id, since=since, most=most)}
    return None if len(found) >= most else found
