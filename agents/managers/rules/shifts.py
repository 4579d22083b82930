"""By how much, or to which hour, an event moves where no new day is told: "postponed by a week", "an hour later", "now at 8"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan, shift
from .moved_days import without_hour

__all__ = ["Shift", "retold", "shifted", "when_of"]

_EARLIEST = 6  # o'clock: an hour told without am or pm is not one of the night


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change of an event that has to be looked up: characters ``start`` to ``end`` of the text tell it.

    Attributes:
        at: where the words begin that change it: a day before them is that on which it was to be.
        what: the words that name the event; empty for "it".
        said: the clause, as the rules read it.
        count, unit: by how much it moves (minute, hour, day, week, month), earlier where ``count`` is negative.
        clock: the hour that it has now. sure: whether am or pm is told with it.
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
    clock: time | None = None
    sure: bool = True
    on: DateSpan | None = None
    of_person: bool = False
    any_day: bool = False


def shifted(change: Shift, when: DateSpan) -> DateSpan | None:
    """The day and hour of an event after a change; None where they stay as they are, or cannot be told."""
    try:
        if change.clock is not None:
            if when.day != when.last_day or when.precision != "day":
                return None
            clock = change.clock if change.sure else _nearest(change.clock, when.clock)
            return replace(when, clock=clock, told=True) if clock != when.clock else None
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


def _nearest(told: time, before: time | None) -> time:
    """Of the two hours that a clock may show, the one nearer to what it was: dinner at seven is at eight in the evening."""
    if before is None:
        return told
    hours = [time(hour, told.minute) for hour in (told.hour % 12, told.hour % 12 + 12) if hour >= _EARLIEST]
    return min(hours or [told], key=lambda one: abs(_minutes(one) - _minutes(before)))


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def retold(summary: str, before: DateSpan, after: DateSpan) -> str:
    """A summary that tells an event of one day and hour, with those to which it moves in their place."""
    if before.clock != after.clock:
        summary = without_hour(summary)
    summary = summary.replace(before.iso, after.iso).replace(before.iso_zh, after.iso_zh)
    if before.day == before.last_day:  # the days of a range stand as such
        summary = re.sub(rf"(?<!\d){before.day.isoformat()}(?!\d)", after.day.isoformat(), summary)
    told = after.iso if after.clock else after.day.isoformat()
    return summary if told in summary else f"{summary} ({after.shown})"


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
