"""Forgetting by id, and the search for what is to be forgotten: words list candidates, ids forget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexamem.errors import NotFoundError
from hexamem.memory_types import MemoryItem, Operation, Step
from hexamem.stores.ledger import get_items, get_steps

if TYPE_CHECKING:
    from hexamem.memory_types import Where
    from hexamem.user import UserMemory

__all__ = ["Forgotten", "find_to_forget", "forget_records"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten.

    Attributes:
        operation: the one that ``undo`` reverses.
        records: as they were: those that were named first, then the items that went with their steps.
    """

    operation: Operation
    records: tuple[Step | MemoryItem, ...]


def forget_records(user: UserMemory, ids: Sequence[str], *, actor: str = "user", reason: str = "") -> Forgotten:
    """Forget steps and items by their ids, all or none, in one operation.

    Raises:
        NotFoundError: for an id that does not exist, or that is forgotten already.
    """
    records = {one: user.get(one) for one in dict.fromkeys(ids)}
    gone = [one for one, record in records.items() if record.status in ("removed", "forgotten")]
    if gone:
        raise NotFoundError(f"{', '.join(gone)}: forgotten already; leave it out")
    steps = [one for one, record in records.items() if isinstance(record, Step)]
    items = [one for one in records if one not in steps]
    operation = user.forget(steps, item_ids=items, actor=actor, reason=reason)
    removed = [one.target_id for one in operation.changes if one.target == "item" and one.target_id not in records]
    return Forgotten(operation=operation, records=(*records.values(), *_records(user, removed)))


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
    return _records(user, [one for one in ids if one not in without])


def _records(user: UserMemory, ids: Sequence[str]) -> tuple[Step | MemoryItem, ...]:
    """Records in this order; what does not exist, or is forgotten, is left out."""
    with user.memory.ledger.read(user.name) as tx:
        known: Mapping[str, Step | MemoryItem] = {**get_items(tx, ids), **get_steps(tx, ids)}
    return tuple(known[one] for one in ids if one in known)
