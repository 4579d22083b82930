"""Which stored event a change is of, and the event as it is from then on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from ....memory_types import EpisodicItem, MemoryItem
from ....memory_types.local_time import in_zone
from .changed_things import only_one_named
from .finding import Finding
from .moved_days import days_moved
from .moved_events import after_move
from .named_events import Told, is_on, the_one_meant
from .other_events import is_another
from .shifts import Shift, retold, shifted, when_of
from .words import content_words

__all__ = ["changed_event", "event_after", "moved_values"]


def event_after(
    change: Shift, items: Iterable[MemoryItem], said_at: datetime, zone: tzinfo
) -> tuple[EpisodicItem, dict[str, Any]] | None:
    """The one stored event that is moved by a change without a new day, and its values from then on; None where none is."""
    events = [item for item in items if isinstance(item, EpisodicItem) and item.event_type != "cancellation"]
    told = [
        Told(key=at, text=item.summary, event_type=item.event_type, when=when_of(item.occurred_at, item.summary, zone))
        for at, item in enumerate(events)
    ]
    meant, _ = the_one_meant(change, told, in_zone(said_at, zone).date())
    if meant is None or meant.when is None or not isinstance(meant.key, int):
        return None
    when, item = shifted(change, meant.when), events[meant.key]
    if when is None:
        return None
    metadata = {**item.metadata, "value": when.stated}
    values: dict[str, Any] = {
        "occurred_at": when.moment(zone),
        "actor": item.actor,
        "event_type": item.event_type,
        "summary": retold(item.summary, meant.when, when),
        "details": item.details,
        "metadata": {name: metadata[name] for name in ("slot", "value", "said_by") if name in metadata},
    }
    if "slot" in metadata:
        values["valid_from"] = said_at
    return item, values


def changed_event(finding: Finding, items: Sequence[MemoryItem], said_at: datetime, zone: tzinfo) -> MemoryItem | None:
    """The stored event that a finding calls off, puts right or moves to a day; None where several may be meant.

    It shares the most words with what is said; of several, the one that goes by all words of it, or that lies as many
    days from the new day as are told. What is over is changed only where nothing else can be meant.
    """
    said = finding.evidence[-1].quote
    items = [item for item in items if finding.corrects or not is_another(said, item.text.split("\n")[0])]
    if finding.on is not None:
        on, events = finding.on, [item for item in items if isinstance(item, EpisodicItem)]
        items = [item for item in events if is_on(on, when_of(item.occurred_at, item.summary, zone))]
    scored = [(len(finding.topics & content_words(item.text)), item) for item in items]
    if not finding.corrects:
        ahead = [pair for pair in scored if pair[0] and _is_ahead(pair[1], said_at)]
        scored = ahead or scored
    best = max((score for score, _ in scored), default=0)
    alike = [item for score, item in scored if best and score == best]
    days = days_moved(said) if finding.reason == "moved" and finding.when else 0
    apart = [item for item in alike if days and finding.when and _apart(item, finding.when.day, zone) == days]
    alike = apart or alike
    if len(alike) <= 1 or finding.corrects:
        return alike[0] if alike else None
    events = [item for item in alike if isinstance(item, EpisodicItem)]
    return only_one_named(said, [(item, item.summary, item.event_type) for item in events])


def _is_ahead(item: MemoryItem, said_at: datetime) -> bool:
    if not isinstance(item, EpisodicItem) or item.event_type == "cancellation":
        return False
    return item.occurred_at >= said_at - timedelta(days=1)


def moved_values(finding: Finding, item: MemoryItem, zone: tzinfo) -> dict[str, Any]:
    """The values of a stored event that moves to the day of a finding: all that was known of it is kept."""
    if finding.reason != "moved" or finding.when is None or finding.when.precision != "day":
        return {}
    if not isinstance(item, EpisodicItem) or item.event_type == "cancellation":
        return {}
    was = when_of(item.occurred_at, item.summary, zone)
    if was.day.isoformat() not in item.summary:
        return {}
    said = str(finding.values["summary"])
    clause = finding.evidence[-1].quote
    summary, details, when = after_move(item.summary, was, said, finding.when, slip=False, clause=clause)
    return {
        "occurred_at": when.moment(zone),
        "summary": summary,
        "details": "\n".join(part for part in (item.details, details) if part),
        "event_type": item.event_type,
    }


def _apart(item: MemoryItem, day: date, zone: tzinfo) -> int | None:
    """How many days lie between an event and a day; None for what is no event."""
    return abs((day - in_zone(item.occurred_at, zone).date()).days) if isinstance(item, EpisodicItem) else None
