"""Slots: an attribute of a subject that has one value at a time, and the history of its values.

``home_city`` is an attribute of the user, ``mark.employer`` one of Mark: the subject precedes the last dot. A manager
names the slot of an item in ``metadata["slot"]``. An item without a slot never replaces another.

Facts arrive in any order: an old conversation may be imported after a new one. So a value is placed by two times: the
start of its validity (``valid_from``, otherwise the time of its source), and the time of its source. Of two values for
the same time the one with the later source wins; a value whose source is repeated later is valid again from then on.
The result does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hexamem.agents.applying.duplicates import same_statement
from hexamem.memory_types import MemoryItem, Source, new_id, utc_now

__all__ = ["DatedItem", "Placement", "closed", "overlaps", "place"]

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DatedItem:
    """An item with the times of its sources, in their order."""

    item: MemoryItem
    times: tuple[datetime, ...]

    @property
    def begins(self) -> datetime:
        return self.item.valid_from or _BEGINNING

    def is_valid_at(self, moment: datetime) -> bool:
        return self.begins <= moment and (self.item.valid_to is None or moment < self.item.valid_to)


@dataclass(slots=True)
class Placement:
    """The changes by which a value is inserted into the history of its slot.

    Attributes:
        changes: items before (None for a new one) and after, in the order in which they are written.
        joined: the item, before the change, that states this value for this time; the new item is merged into it.
        begins: the new start of that item, where the new item has an earlier one.
        ends: the new end of that item, where the new item states one.
        supersedes: whether the current value is replaced.
    """

    changes: list[tuple[MemoryItem | None, MemoryItem]] = field(default_factory=list)
    joined: MemoryItem | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    supersedes: bool = False


def _history(values: Sequence[DatedItem]) -> list[DatedItem]:
    """The values that were valid at some time, in the order of their times."""
    valid = [
        value
        for value in values
        if value.item.status == "active"
        or (value.item.status == "superseded" and value.item.valid_to and value.begins < value.item.valid_to)
    ]
    return sorted(valid, key=lambda value: (value.begins, value.item.status == "active", value.item.created_at))


def overlaps(value: MemoryItem, others: Sequence[MemoryItem]) -> bool:
    """Whether a value is valid at a time at which another value of its slot is."""
    begins = value.valid_from or _BEGINNING
    return any(
        (value.valid_to is None or other.begins < value.valid_to)
        and (other.item.valid_to is None or begins < other.item.valid_to)
        for other in _history([DatedItem(item, ()) for item in others])
    )


def place(values: Sequence[DatedItem], new: MemoryItem, stated_at: datetime) -> Placement:
    """Insert a value into the history of its slot.

    Args:
        values: the items of the slot, in any order and status.
        new: the item that states the value; ``valid_from`` and ``valid_to`` only where its source states them.
        stated_at: the time of its source.
    """
    history = _history(values)
    start = new.valid_from or stated_at
    position = next((number for number, value in enumerate(history) if value.is_valid_at(start)), None)
    if position is None:
        return _place_in_gap(history, new, start)
    current = history[position]
    if same_statement(current.item, new):
        return Placement(
            joined=current.item,
            begins=new.valid_from if current.item.valid_from is None else None,
            ends=new.valid_to if current.item.valid_to is None or position == len(history) - 1 else None,
        )
    resumes = _resumes(current, new, stated_at, start)
    ends = min((time for time in (new.valid_to, current.item.valid_to, resumes) if time is not None), default=None)
    since = current.item.valid_from
    was_valid_before = since < start if since else min(current.times, default=stated_at) <= stated_at
    if resumes is not None:
        return _place_within(current, new, stated_at, start, ends, resumes, was_valid_before)
    cut_at = start if was_valid_before else since
    following = history[position + 1].item if position + 1 < len(history) else None
    if following and same_statement(following, new) and following.valid_from == ends:
        # The next value is the same: it starts earlier than was known.
        return Placement(
            changes=[(current.item, closed(current.item, cut_at, following.id))], joined=following, begins=start
        )
    active = current.item.status == "active"
    placed = (
        new.changed(valid_from=start, valid_to=ends) if active else _past(new, start, ends, current.item.superseded_by)
    )
    changes = [(current.item, closed(current.item, cut_at, new.id)), (None, placed)]
    return Placement(changes=changes, supersedes=active)


def closed(item: MemoryItem, ends: datetime | None, by: str) -> MemoryItem:
    """An item superseded by another; one that ends at its start was never valid."""
    if item.valid_to is not None and ends is not None:
        ends = min(ends, item.valid_to)
    times = {"superseded_at": max(utc_now(), item.created_at)} if item.status == "active" else {}
    return item.changed(status="superseded", superseded_by=by, valid_to=ends, version=item.version + 1, **times)


def _resumes(current: DatedItem, new: MemoryItem, stated_at: datetime, start: datetime) -> datetime | None:
    """When the current value is valid again, because a later source repeats it or the new value has ended."""
    again = [moment for moment in current.times if moment > max(stated_at, start)]
    if new.valid_to is not None and any(moment >= new.valid_to for moment in (*current.times, stated_at)):
        again.append(new.valid_to)
    first = min(again, default=None)
    return first if first is not None and (current.item.valid_to is None or first < current.item.valid_to) else None


def _place_within(
    current: DatedItem,
    new: MemoryItem,
    stated_at: datetime,
    start: datetime,
    ends: datetime | None,
    resumes: datetime,
    was_valid_before: bool,
) -> Placement:
    """Insert a value within the time of another one, which is valid again after it, and perhaps before it."""
    item, changes = current.item, list[tuple[MemoryItem | None, MemoryItem]]()
    dated_sources = list(zip(item.sources, current.times, strict=False))
    later: tuple[Source, ...] = ()
    if was_valid_before:
        later = tuple(source for source, at in dated_sources if at > stated_at)
        earlier = tuple(source for source, at in dated_sources if at <= stated_at)
        now = utc_now()
        copy = item.changed(
            id=new_id("item"),
            sources=earlier or item.sources,
            valid_to=start,
            status="superseded",
            superseded_by=new.id,
            superseded_at=now,
            created_at=now,
            version=1,
        )
        changes.append((None, copy))
    after = item.changed(valid_from=resumes, sources=later or item.sources, version=item.version + 1)
    begins = start if was_valid_before or new.valid_from or item.valid_from else None
    return Placement(changes=[*changes, (item, after), (None, _past(new, begins, ends, item.id))])


def _past(value: MemoryItem, begins: datetime | None, ends: datetime | None, by: str | None) -> MemoryItem:
    """A value that has already ended when it is stored."""
    at = max(utc_now(), value.created_at)
    return value.changed(valid_from=begins, valid_to=ends, status="superseded", superseded_by=by, superseded_at=at)


def _place_in_gap(history: Sequence[DatedItem], new: MemoryItem, start: datetime) -> Placement:
    """Insert a value at a time for which none is known."""
    earlier = [value.item for value in history if value.begins <= start]
    following = next((value.item for value in history if value.begins > start), None)
    if following is None:
        ended = [item for item in earlier if item.status == "active"]
        placed = new.changed(valid_from=start) if earlier else new
        closing: list[tuple[MemoryItem | None, MemoryItem]] = [
            (item, closed(item, item.valid_to, new.id)) for item in ended
        ]
        return Placement(changes=[*closing, (None, placed)], supersedes=bool(ended))
    ends = min(new.valid_to, following.valid_from) if new.valid_to and following.valid_from else following.valid_from
    if same_statement(following, new) and ends == following.valid_from:
        return Placement(joined=following, begins=start)
    return Placement(changes=[(None, _past(new, start if earlier else new.valid_from, ends, following.id))])
