"""The fields of items that recalls need, such as text and status, read without parsing their records."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select

from hexamem.memory_types import Source
from hexamem.memory_types.coarse_dates import PRECISION, Precision, precision_of
from hexamem.memory_types.items import ItemKind
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import items, sources

__all__ = ["ItemState", "ShownItem", "item_states", "item_texts", "shown_items"]

_NOT_UNDONE = (
    of_user(items),
    among(items.c.id),
    items.c.status != "undone",
)
_TEXTS = Prepared(select(items.c.id, items.c.text).where(*_NOT_UNDONE))
_STATES = Prepared(select(items.c.id, items.c.status, items.c.superseded_by).where(*_NOT_UNDONE))
_SHOWN = Prepared(
    select(
        items.c.id,
        items.c.kind,
        items.c.text,
        items.c.event_at,
        items.c.created_at,
        items.c.status,
        items.c.valid_to,
        items.c.metadata,
    ).where(*_NOT_UNDONE, items.c.kind != "resource")
)
_SOURCES = Prepared(
    select(sources.c.item_id, sources.c.step_id, sources.c.quote, sources.c.start, sources.c.end)
    .where(of_user(sources), among(sources.c.item_id))
    .order_by(sources.c.item_id, sources.c.position)
)


class ItemState(NamedTuple):
    """The status of an item, and the id of the item that superseded it."""

    status: str
    superseded_by: str | None


class ShownItem(NamedTuple):
    """The fields of an item that a hit shows; ``event_at`` is its :func:`~hexamem.stores.ledger.items.event_time`.

    ``own_time`` is whether that is a time of its own, not when it was learned.
    """

    id: str
    kind: ItemKind
    text: str
    event_at: datetime
    own_time: bool
    status: str
    sources: tuple[Source, ...]
    valid_to: datetime | None = None
    precision: Precision | None = None


def item_texts(tx: Transaction, item_ids: Collection[str]) -> dict[str, str]:
    """The texts of items in whatever status; unknown and undone ones are left out."""
    return {row.id: row.text for row in tx.all_of(_TEXTS, item_ids)}


def item_states(tx: Transaction, item_ids: Collection[str]) -> dict[str, ItemState]:
    """The states of items; unknown and undone ones are left out."""
    return {row.id: ItemState(row.status, row.superseded_by) for row in tx.all_of(_STATES, item_ids)}


def shown_items(tx: Transaction, item_ids: Collection[str]) -> dict[str, ShownItem]:
    """The shown fields of items; documents, of which passages are shown, unknown and undone items are left out."""
    cited: dict[str, list[Source]] = {}
    for row in tx.all_of(_SOURCES, item_ids):
        # Values come from our own table, so they are not validated again.
        source = Source.of_fields(step_id=row.step_id, quote=row.quote, start=row.start, end=row.end)
        cited.setdefault(row.item_id, []).append(source)
    return {
        row.id: ShownItem(
            row.id,
            row.kind,
            row.text,
            row.event_at,
            row.event_at != row.created_at,
            row.status,
            tuple(cited.get(row.id, ())),
            row.valid_to,
            precision_of(row.metadata.get(PRECISION)),
        )
        for row in tx.all_of(_SHOWN, item_ids)
    }
