"""The search for what is to be forgotten: words list candidates, ``UserMemory.forget`` takes their ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from hexamem.memory_types import MemoryItem, Operation, Step
from hexamem.stores.ledger import get_items, get_steps

if TYPE_CHECKING:
    from hexamem.memory_types import Where
    from hexamem.user import UserMemory

__all__ = ["find_to_forget", "forgotten_records"]


def find_to_forget(
    user: UserMemory,
    query: str,
    most: int = 20,
    *,
    where: Where | Mapping[str, object] | None = None,
    without: Collection[str] = (),
) -> tuple[Step | MemoryItem, ...]:
    """The records that a query finds, best first, and the steps behind the items among them. Nothing is forgotten.

    Args:
        query: words for what is to be forgotten.
        most: records that the search gives; the steps behind items come on top.
        where: conditions on time or thread, as in ``recall``.
        without: ids that are left out, such as the message that asks to forget.
    """
    hits = user.recall(query, most, where=where).hits
    ids = dict.fromkeys(each for hit in hits for each in (hit.id, *(source.step_id for source in hit.sources)))
    return _records(user, [one for one in ids if one not in without], forgotten=False)


def forgotten_records(user: UserMemory, operation: Operation) -> tuple[Step | MemoryItem, ...]:
    """The records that an operation of ``UserMemory.forget`` took: those that were named, then what rested on them."""
    return _records(user, [change.target_id for change in operation.changes], forgotten=True)


def _records(user: UserMemory, ids: Sequence[str], *, forgotten: bool) -> tuple[Step | MemoryItem, ...]:
    """Records in this order; unknown ids are left out."""
    with user.memory.ledger.read(user.name) as tx:
        known: Mapping[str, Step | MemoryItem] = {**get_items(tx, ids), **get_steps(tx, ids, forgotten=forgotten)}
    return tuple(known[one] for one in ids if one in known)
