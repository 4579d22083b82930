"""Finds the records to forget by a query; ``UserMemory.forget`` then takes their ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from hexamem.memory_types import MemoryItem, Step
from hexamem.retrieval.packing import with_attached
from hexamem.stores.ledger import get_items, get_steps

if TYPE_CHECKING:
    from hexamem.memory_types import Where
    from hexamem.user import UserMemory


def find_to_forget(
    user: UserMemory,
    query: str,
    most: int = 20,
    *,
    where: Where | Mapping[str, object] | None = None,
    without: Collection[str] = (),
) -> tuple[Step | MemoryItem, ...]:
    """The records that match a query, best first, each item followed by its source steps. Nothing is forgotten."""
    hits = with_attached(user.recall(query, most, where=where).hits)
    names = dict.fromkeys(name for hit in hits for name in (hit.id, *(source.step_id for source in hit.sources)))
    ids = [name for name in names if name not in without]
    with user.read() as tx:
        known: Mapping[str, Step | MemoryItem] = {**get_items(tx, ids), **get_steps(tx, ids)}
    return tuple(known[record_id] for record_id in ids if record_id in known)
