"""Forgetting as a person means it: the records, the replies that say them again, and what is left that may say more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import NotFoundError
from ..memory_types import MemoryItem, Operation, Step
from ..stores.ledger import get_items, get_steps
from .meaning import what_is_meant
from .repeats import what_repeats

if TYPE_CHECKING:
    from ..user import UserMemory

__all__ = ["Forgotten", "forget_by_ids", "forget_by_words"]

_NOT_SURE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, and what was not.

    Attributes:
        operation: the one that ``undo`` reverses; None where nothing was forgotten.
        records: as they were: those that were meant first, then what went with them.
        shortened: messages of which sentences were forgotten, as they are read now.
        unsure: records that are still there and say it too.
    """

    operation: Operation | None = None
    records: tuple[Step | MemoryItem, ...] = ()
    shortened: tuple[Step, ...] = ()
    unsure: tuple[Step | MemoryItem, ...] = ()


@dataclass(slots=True)
class _Going:
    """What is to go: ids in order, and sentences of steps that stay."""

    steps: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    parts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)


def forget_by_ids(
    user: UserMemory, ids: Sequence[str], *, without: Collection[str] = (), actor: str = "user", reason: str = ""
) -> Forgotten:
    """Forget these records, all or none, and the replies that say them again: one operation.

    Args:
        ids: of steps and items.
        without: ids of steps that stay whatever they say, such as the one that asks for it.

    Raises:
        NotFoundError: for an id that there is not, or that is forgotten already.
    """
    records = [user.get(one) for one in dict.fromkeys(ids)]
    gone = [one.id for one in records if one.status in ("removed", "forgotten")]
    if gone:
        raise NotFoundError(f"{', '.join(gone)}: forgotten already; leave it out")
    going = _Going(
        [one.id for one in records if isinstance(one, Step)],
        [one.id for one in records if isinstance(one, MemoryItem)],
    )
    return _forget(user, going, [one.id for one in records], without, actor, reason)


def forget_by_words(
    user: UserMemory, what: str, *, without: Collection[str] = (), actor: str = "user", reason: str = ""
) -> Forgotten:
    """Forget what says just what is told in words, and the replies that say it again: one operation.

    Of a message with several sentences those go that say it.

    Raises:
        InvalidInputError: the words name nothing.
        NotFoundError: nothing stored says that.
    """
    meant = what_is_meant(user, what, without)
    going = _Going([*meant.steps], [*meant.items], {**meant.parts}, [*meant.unsure])
    if not (going.steps or going.items or going.parts or going.unsure):
        raise NotFoundError(f"what = {what!r}: nothing stored says that; search_memory may tell in which words it is")
    return _forget(user, going, [*meant.steps, *meant.items], without, actor, reason)


def _forget(
    user: UserMemory, going: _Going, order: Sequence[str], without: Collection[str], actor: str, reason: str
) -> Forgotten:
    if not (going.steps or going.items or going.parts):
        return Forgotten(unsure=_records(user, going.unsure))
    again = what_repeats(user, going.steps, going.items, going.parts, without)
    steps = list(dict.fromkeys([*going.steps, *again.steps]))
    parts = {one: words for one, words in {**again.parts, **going.parts}.items() if one not in steps}
    before = {one.id: one for one in _records(user, [*order, *steps])}
    operation = user.forget(steps, item_ids=going.items, parts=parts, actor=actor, reason=reason)
    removed = [one.target_id for one in operation.changes if one.target == "item"]
    before.update((one.id, one) for one in _records(user, [one for one in removed if one not in before]))
    left = dict.fromkeys([*going.unsure, *(one for one in again.unsure if one not in parts)])
    unsure = [one for one in left if one not in before]
    return Forgotten(
        operation=operation,
        records=tuple(before.values()),
        shortened=tuple(one for one in _records(user, list(parts)) if isinstance(one, Step)),
        unsure=_records(user, unsure[:_NOT_SURE]),
    )


def _records(user: UserMemory, ids: Sequence[str]) -> tuple[Step | MemoryItem, ...]:
    """Records in this order, those that are there."""
    with user.memory.ledger.read(user.name) as tx:
        found: Mapping[str, Step | MemoryItem] = {**get_items(tx, ids), **get_steps(tx, ids)}
    return tuple(found[one] for one in ids if one in found)
