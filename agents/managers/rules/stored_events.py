"""Which stored event a change is of, and the event as it is from then on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

from ....memory_types import EpisodicItem, MemoryItem
from ....memory_types.local_time import in_zone
from .finding import Finding
from .moved_days import days_moved
from .named_events import Told, the_one_meant
from .other_events import is_another
from .shifts import Shift, retold, shifted, when_of
from .words import content_words

__all__ = ["changed_event", "event_after", "was_on_apart"]


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
    metadata = {**item.metadata, "value": when.iso}
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


def changed_event(finding: Finding, items: Sequence[MemoryItem], zone: tzinfo) -> MemoryItem | None:
    """The stored event that a finding calls off, puts right or moves to a day; None where several may be meant.

    It shares the most words with what is said; of several, the one that goes by all words of it, or that lies as many
    days from the new day as are told. What is over is changed only where nothing else can be meant.
    """
    said = finding.evidence[-1].quote
    items = [item for item in items if finding.corrects or not is_another(said, item.text.split("\n")[0])]
    scored = [(len(finding.topics & content_words(item.text)), item) for item in items]
    best = max((score for score, _ in scored), default=0)
    alike = [item for score, item in scored if best and score == best]
    days = days_moved(said) if finding.reason == "moved" and finding.when else 0
    apart = [item for item in alike if days and finding.when and was_on_apart(item, finding.when.day, zone) == days]
    alike = apart or alike
    return alike[0] if alike else None


def was_on_apart(item: MemoryItem, day: date, zone: tzinfo) -> int | None:
    """How many days lie between an event and a day; None for what is no event."""
    return abs((day - in_zone(item.occurred_at, zone).date()).days) if isinstance(item, EpisodicItem) else None
