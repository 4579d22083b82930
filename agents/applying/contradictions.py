"""Contradictions: where a new value of a slot belongs in the history of its values.

Facts arrive in any order: an old conversation may be read after a new one. So a value is placed by two times: the time
from which it is valid (``valid_from``, else the time of its source), and the time of its source. Of two values for the
same time the one with the later source wins; a value whose source is repeated later is valid again from then on. The
result does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hexamem.memory_types import MemoryItem, Source

__all__ = ["DatedItem", "Placement", "closed", "history", "place"]

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
    """What placing a value in its history comes to.

    Attributes:
        changes: items before (None for a new one) and after, in the order in which they are written.
        joined: the item that already states this value at this time, before the change: the new one is merged into it.
        begins: the earlier start of that item, if the new one moves it.
        ends: the end of that item, if the new one states one.
        supersedes: whether a value that was current is replaced.
    """

    changes: list[tuple[MemoryItem | None, MemoryItem]] = field(default_factory=list)
    joined: MemoryItem | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    supersedes: bool = False


def history(values: Sequence[DatedItem]) -> list[DatedItem]:
    """The values that were true at some time, in the order of their times."""
    true = [
        value
        for value in values
        if value.item.status == "active"
        or (value.item.status == "superseded" and value.item.valid_to and value.begins < value.item.valid_to)
    ]
    return sorted(true, key=lambda value: (value.begins, value.item.status == "active", value.item.created_at))


def place(
    values: Sequence[DatedItem],
    new: MemoryItem,
    stated_at: datetime,
    same: Mapping[str, bool],
    now: datetime,
    copy_id: str,
) -> Placement:
    """Place a value in the history of its slot.

    Args:
        values: the items of the slot, in any order and status.
        new: the item that states the value; ``valid_from`` and ``valid_to`` only where its source states them.
        stated_at: the time of its source.
        same: item id → whether it states the same value as the new one.
        now: the present: what is replaced is believed until now.
        copy_id: the id of a further item, used where a value was valid both before and after the new one.
    """
    line = history(values)
    start = new.valid_from or stated_at
    position = next((number for number, value in enumerate(line) if value.is_valid_at(start)), None)
    if position is None:
        return _beside(line, new, start, same, now)
    current = line[position]
    if same[current.item.id]:
        return Placement(
            joined=current.item,
            begins=new.valid_from if current.item.valid_from is None else None,
            ends=new.valid_to if current.item.valid_to is None or position == len(line) - 1 else None,
        )
    following = line[position + 1] if position + 1 < len(line) else None
    resumes = _resumes(current, new, stated_at, start)
    ends = min((time for time in (new.valid_to, current.item.valid_to, resumes) if time is not None), default=None)
    since = current.item.valid_from
    was_valid_before = since < start if since else min(current.times, default=stated_at) <= stated_at
    cut_at = start if was_valid_before else since
    if resumes is None and following and same[following.item.id] and following.item.valid_from == ends:
        # The next value is this one: it was valid earlier than known so far.
        cut = closed(current.item, cut_at, following.item.id, now)
        return Placement(changes=[(current.item, cut)], joined=following.item, begins=start)
    if resumes is None:
        active = current.item.status == "active"
        placed = (
            new.changed(valid_from=start, valid_to=ends)
            if active
            else _past(new, start, ends, current.item.superseded_by, now)
        )
        changes = [(current.item, closed(current.item, cut_at, new.id, now)), (None, placed)]
        return Placement(changes=changes, supersedes=active)
    made = Placement()
    earlier, later = _parted(current, stated_at)
    if was_valid_before:
        copy = current.item.changed(
            id=copy_id,
            sources=earlier or current.item.sources,
            valid_to=start,
            status="superseded",
            superseded_by=new.id,
            superseded_at=now,
            created_at=now,
            version=1,
        )
        made.changes.append((None, copy))
    after = current.item.changed(
        valid_from=resumes,
        sources=later if was_valid_before and later else current.item.sources,
        version=current.item.version + 1,
    )
    begins = start if was_valid_before or new.valid_from or since else None
    made.changes += [(current.item, after), (None, _past(new, begins, ends, current.item.id, now))]
    return made


def closed(item: MemoryItem, ends: datetime | None, by: str, now: datetime) -> MemoryItem:
    """An item that ends there, superseded; one that ends where it begins never was true."""
    if item.valid_to is not None and ends is not None:
        ends = min(ends, item.valid_to)
    times = {"superseded_at": max(now, item.created_at)} if item.status == "active" else {}
    return item.changed(status="superseded", superseded_by=by, valid_to=ends, version=item.version + 1, **times)


def _resumes(current: DatedItem, new: MemoryItem, stated_at: datetime, start: datetime) -> datetime | None:
    """When the current value is valid again: a later source repeats it, or the new value has ended by then."""
    again = [moment for moment in current.times if moment > max(stated_at, start)]
    if new.valid_to is not None and any(moment >= new.valid_to for moment in (*current.times, stated_at)):
        again.append(new.valid_to)
    first = min(again, default=None)
    return first if first is not None and (current.item.valid_to is None or first < current.item.valid_to) else None


def _parted(value: DatedItem, moment: datetime) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
    """The sources of an item up to a moment, and those after it."""
    pairs = list(zip(value.item.sources, value.times, strict=False))
    return tuple(source for source, at in pairs if at <= moment), tuple(source for source, at in pairs if at > moment)


def _past(new: MemoryItem, begins: datetime | None, ends: datetime | None, by: str | None, now: datetime) -> MemoryItem:
    """A value that is over when it is learned."""
    at = max(now, new.created_at)
    return new.changed(valid_from=begins, valid_to=ends, status="superseded", superseded_by=by, superseded_at=at)


def _beside(
    line: Sequence[DatedItem], new: MemoryItem, start: datetime, same: Mapping[str, bool], now: datetime
) -> Placement:
    """A value at a time at which none is known."""
    earlier = [value for value in line if value.begins <= start]
    later = [value.item for value in line if value.begins > start]
    if not later:
        ended = [value.item for value in earlier if value.item.status == "active"]
        closing: list[tuple[MemoryItem | None, MemoryItem]] = [
            (item, closed(item, item.valid_to, new.id, now)) for item in ended
        ]
        placed = new.changed(valid_from=start) if earlier else new
        return Placement(changes=[*closing, (None, placed)], supersedes=bool(ended))
    following = later[0]
    ends = min(new.valid_to, following.valid_from) if new.valid_to and following.valid_from else following.valid_from
    if same[following.id] and ends == following.valid_from:
        return Placement(joined=following, begins=start)
    begins = start if earlier else new.valid_from
    return Placement(changes=[(None, _past(new, begins, ends, following.id, now))])
