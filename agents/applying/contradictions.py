"""Contradictions: where a new value of a slot belongs in the history of its values.

Facts arrive in any order: an old conversation may be read after a new one. So a value is put where its time is, by two
times: since when it holds (``valid_from``, else when it was said), and when it was said. A later word wins over an
earlier one about the same time; a value that was said again later holds again from then on. What comes out does not
depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ... import lazy_re as re
from ...memory_types import MemoryItem, Source
from .likeness import telling_words

__all__ = ["Held", "Placement", "corrects", "history", "place", "replaces_figures"]

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_CORRECTS = re.compile(
    r"\bI (?:really |actually )?(?:meant|mean)\b|\bI mis(?:spoke|typed|remembered)\b|\bmy mistake\b|\bthat was wrong\b"
    r"|\bI (?:got|had) (?:it|that) wrong\b|\b(?:typo|correction|misspelt|misspelled)\b|\bI should have said\b"
    r"|说错|打错|写错|记错|口误|更正|纠正|我是说|我的意思是|我指的是",
    re.IGNORECASE,
)

_CHANGED = re.compile(
    r"\b(?:now|no longer|any ?more|changed|changes|moved|moves|instead|new|from now on|since|updated|postponed|rescheduled)\b"
    r"|n't .*\bany ?more\b|现在|改[成到为]|换[成到]|不再|推迟|提前|更新",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|^(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$"
)


@dataclass(frozen=True, slots=True)
class Held:
    """An item with the times at which its value was said: one for each of its sources, in their order."""

    item: MemoryItem
    said: tuple[datetime, ...]

    @property
    def begins(self) -> datetime:
        return self.item.valid_from or _BEGINNING

    def holds_at(self, moment: datetime) -> bool:
        return self.begins <= moment and (self.item.valid_to is None or moment < self.item.valid_to)


@dataclass(slots=True)
class Placement:
    """What putting a value into its history comes to.

    Attributes:
        changes: items before (None for a new one) and after, in the order in which they are written.
        joined: the item that states this value at this time already, before: the new one is to be merged into it.
        begins: since when that item holds, if the new one puts that back.
        ends: until when it holds, if the new one tells.
        supersedes: whether a value that was current gives way.
    """

    changes: list[tuple[MemoryItem | None, MemoryItem]] = field(default_factory=list)
    joined: MemoryItem | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    supersedes: bool = False


def corrects(quotes: Sequence[str]) -> bool:
    """Whether the words take back what was said ("I meant Tuesday"): that was never true, rather than true until now."""
    return any(_CORRECTS.search(quote) for quote in quotes)


def replaces_figures(known: str, new: str, quotes: Sequence[str]) -> bool:
    """Whether a text is another one with other numbers, dates or names in it, and its words say that it has changed.

    The last resort where no slot is known, and a cautious one: everything else in the texts must be equal.
    """
    if not any(_CHANGED.search(quote) for quote in quotes):
        return False
    one, two = telling_words(known), telling_words(new)
    shared, apart = one & two, one ^ two
    figures = all(_FIGURE.search(word) for word in apart)
    return len(shared) >= 2 and bool(one - two) and bool(two - one) and figures


def history(held: Sequence[Held]) -> list[Held]:
    """The values that were true at some time, in the order of their times."""
    real = [
        one
        for one in held
        if one.item.status == "active"
        or (one.item.status == "superseded" and one.item.valid_to is not None and one.begins < one.item.valid_to)
    ]
    return sorted(real, key=lambda one: (one.begins, one.item.status == "active", one.item.created_at))


def place(
    held: Sequence[Held], new: MemoryItem, said: datetime, same: Mapping[str, bool], now: datetime, copy_id: str
) -> Placement:
    """Put a value into the history of its slot.

    Args:
        held: the items of the slot, in any order and status.
        new: the item that states the value; ``valid_from`` and ``valid_to`` only where the text tells them.
        said: when it was said.
        same: item id → whether it states the same value as the new one.
        now: the present: what gives way is believed until now.
        copy_id: the id of a further item, used where a value held both before and after the new one.
    """
    line = history(held)
    start = new.valid_from or said
    at = next((place for place, one in enumerate(line) if one.holds_at(start)), None)
    if at is None:
        return _beside(line, new, start, same, now)
    host = line[at]
    if same[host.item.id]:
        ends = new.valid_to if host.item.valid_to is None or at == len(line) - 1 else None
        begins = new.valid_from if host.item.valid_from is None else None
        return Placement(joined=host.item, begins=begins, ends=ends)
    following = line[at + 1] if at + 1 < len(line) else None
    resumes = _resumes(host, new, said, start)
    ends = min((one for one in (new.valid_to, host.item.valid_to, resumes) if one is not None), default=None)
    before = host.item.valid_from < start if host.item.valid_from else min(host.said, default=said) <= said
    if resumes is None and following and same[following.item.id] and following.item.valid_from == ends:
        # The next value is this one, and it is now known to hold since earlier.
        cut = _closed(host.item, start if before else host.item.valid_from, following.item.id, now)
        return Placement(changes=[(host.item, cut)], joined=following.item, begins=start)
    made = Placement()
    if resumes is None:
        made.supersedes = host.item.status == "active"
        closed = _closed(host.item, start if before else host.item.valid_from, new.id, now)
        made.changes = [(host.item, closed), (None, _put(new, start, ends, host.item, now))]
        return made
    begins = start if before or new.valid_from or host.item.valid_from else None
    put = _past(new, begins, ends, host.item.id, now)
    left, right = _parted(host, said)
    if before:
        part = host.item.changed(
            id=copy_id,
            sources=left or host.item.sources,
            valid_to=start,
            status="superseded",
            superseded_by=new.id,
            superseded_at=now,
            created_at=now,
            version=1,
        )
        made.changes.append((None, part))
    after = host.item.changed(
        valid_from=resumes, sources=(right if before and right else host.item.sources), version=host.item.version + 1
    )
    made.changes += [(host.item, after), (None, put)]
    return made


def _resumes(host: Held, new: MemoryItem, said: datetime, start: datetime) -> datetime | None:
    """From when on the value that was there holds again: it was said later, or the new one is over by then."""
    again = [moment for moment in host.said if moment > max(said, start)]
    if new.valid_to is not None and any(moment >= new.valid_to for moment in (*host.said, said)):
        again.append(new.valid_to)
    first = min(again, default=None)
    return first if first is not None and (host.item.valid_to is None or first < host.item.valid_to) else None


def _parted(host: Held, said: datetime) -> tuple[tuple[Source, ...], tuple[Source, ...]]:
    """The sources of an item from up to a moment, and from after it."""
    pairs = list(zip(host.item.sources, host.said, strict=False))
    return tuple(one for one, moment in pairs if moment <= said), tuple(one for one, moment in pairs if moment > said)


def _closed(item: MemoryItem, ends: datetime | None, by: str, now: datetime) -> MemoryItem:
    """An item that ends there; one that ends where it begins never was true."""
    if item.valid_to is not None and ends is not None:
        ends = min(ends, item.valid_to)
    gone = {"superseded_at": max(now, item.created_at)} if item.status == "active" else {}
    return item.changed(status="superseded", superseded_by=by, valid_to=ends, version=item.version + 1, **gone)


def _put(new: MemoryItem, start: datetime, ends: datetime | None, host: MemoryItem, now: datetime) -> MemoryItem:
    """The new value in the place of the end of another."""
    if host.status == "active":
        return new.changed(valid_from=start, valid_to=ends)
    return _past(new, start, ends, host.superseded_by, now)


def _past(new: MemoryItem, begins: datetime | None, ends: datetime | None, by: str | None, now: datetime) -> MemoryItem:
    """A value that is over as it is learned."""
    at = max(now, new.created_at)
    return new.changed(valid_from=begins, valid_to=ends, status="superseded", superseded_by=by, superseded_at=at)


def _beside(
    line: Sequence[Held], new: MemoryItem, start: datetime, same: Mapping[str, bool], now: datetime
) -> Placement:
    """A value at a time at which none is known."""
    earlier = [one for one in line if one.begins <= start]
    later = [one for one in line if one.begins > start]
    if not later:
        made = Placement()
        for one in earlier:
            if one.item.status == "active":  # it has ended, and another is current now
                made.changes.append((one.item, _closed(one.item, one.item.valid_to, new.id, now)))
                made.supersedes = True
        placed = new.changed(valid_from=start) if earlier else new
        made.changes.append((None, placed))
        return made
    following = later[0].item
    ends = min(new.valid_to, following.valid_from) if new.valid_to and following.valid_from else following.valid_from
    if same[following.id] and ends == following.valid_from:
        return Placement(joined=following, begins=start)
    begins = start if earlier else new.valid_from
    return Placement(changes=[(None, _past(new, begins, ends, following.id, now))])
