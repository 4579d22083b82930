"""By how much, or to which hour, an event moves where no new day is told: "postponed by a week", "an hour later", "now at 8"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from .... import lazy_re as re
from ....intent.dates.hours import Hour, nearest_hour
from ....intent.dates.spans import DateSpan, shift
from .moved_days import without_hour

__all__ = ["Shift", "retold", "shifted", "when_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change of an event that has to be looked up: characters ``start`` to ``end`` of the text tell it.

    Attributes:
        at: where the words begin that change it: a day before them is that on which it was to be.
        what: the words that name the event; empty for "it".
        said: the clause, as the rules read it.
        count, unit: by how much it moves (minute, hour, day, week, month), earlier where ``count`` is negative.
        hour: that it has now.
        on: the day on which the event was to be, where the clause tells it: "Friday's dinner is now at 8".
        of_person: whether a name alone could be a person's: "Ana is an hour later".
        any_day: whether a day behind the words is its own too: "an hour later on Friday".
    """

    start: int
    end: int
    at: int
    what: str
    said: str
    count: float = 0
    unit: str = ""
    hour: Hour | None = None
    on: DateSpan | None = None
    of_person: bool = False
    any_day: bool = False


def shifted(change: Shift, when: DateSpan) -> DateSpan | None:
    """The day and hour of an event after a change; None where they stay as they are, or cannot be told."""
    try:
        if change.hour is not None:
            if when.day != when.last_day or when.precision != "day":
                return None
            clock = change.hour.clock
            if when.clock is not None and not change.hour.sure:
                clock = nearest_hour(change.hour.face, when.clock)
            same = clock == when.clock and (clock is not None or change.hour == when.hour)
            return None if same else replace(when, clock=clock, hour=change.hour, told=True)
        if change.unit in ("minute", "hour"):
            if when.clock is None or when.day != when.last_day:
                return None
            minutes = change.count * (60 if change.unit == "hour" else 1)
            moment = datetime.combine(when.day, when.clock) + timedelta(minutes=minutes)
            return replace(when, day=moment.date(), last_day=moment.date(), clock=moment.time(), told=True)
        if when.precision not in ("day", "week"):
            return None
        first, last = (shift(day, change.count, change.unit) for day in (when.day, when.last_day))
    except (OverflowError, ValueError):
        return None
    return replace(when, day=first, last_day=last, told=True) if first != when.day else None


def retold(summary: str, before: DateSpan, after: DateSpan) -> str:
    """A summary that tells an event of one day and hour, with those to which it moves in their place."""
    open_hour = after.hour.words if after.hour is not None and after.clock is None else ""
    if before.clock != after.clock or open_hour:
        summary = without_hour(summary)
    for old, new in {before.iso: after.iso, before.iso_zh: after.iso_zh}.items():
        summary = summary.replace(old, new)
    if before.day == before.last_day:  # the days of a range stand as such
        summary = re.sub(rf"(?<!\d){before.day.isoformat()}(?!\d)", after.day.isoformat(), summary)
    day = after.day.isoformat()
    told = after.iso if after.clock else day
    summary = summary if told in summary else f"{summary} ({after.shown})"
    return summary.replace(day, f"{day} {open_hour}", 1) if open_hour else summary


def when_of(occurred_at: datetime, summary: str, zone: tzinfo) -> DateSpan:
    """The day of a stored event, with the last one and the hour where its summary tells them."""
    moment = occurred_at.astimezone(zone)
    day = last = moment.date()
    ranged = re.search(rf"{day.isoformat()}(?:\sto\s|至)(\d{{4}}-\d\d-\d\d)", summary)
    if ranged:
        try:
            last = max(day, date.fromisoformat(ranged[1]))
        except ValueError:
            last = day
    clock = moment.time().replace(second=0, microsecond=0, fold=0)
    told = day == last and (clock != time() or f"{day.isoformat()} 00:00" in summary)
    return DateSpan(start=0, end=0, text="", day=day, last_day=last, clock=clock if told else None, told=True)
