"""Times in a zone and back, at the ends of the calendar as well: year 1 and year 9999 have no day before and after them."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo

__all__ = ["day_alone", "in_utc", "in_zone", "iso_in", "offset_minutes"]


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """The moment in a zone; unchanged where that zone's clock would leave the calendar."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment


def in_utc(moment: datetime) -> datetime:
    """An aware moment in UTC; the first or the last that there is where it lies beyond."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return (datetime.min if moment.year == 1 else datetime.max).replace(tzinfo=UTC)


def offset_minutes(moment: datetime, zone: tzinfo) -> int:
    """The zone's offset at the moment in minutes east of UTC; seconds of an old offset are cut off."""
    return int((in_zone(moment, zone).utcoffset() or timedelta()).total_seconds() / 60)


def day_alone(local: datetime, kind: str) -> bool:
    """Whether only the day of a record's time is known: of an item's at midnight of the user's clock."""
    return kind not in ("step", "page") and local.time() == time()


def iso_in(moment: datetime, zone: tzinfo, kind: str) -> str:
    """A record's time by a zone's clock, in ISO form to the minute, with the offset; the date where only that is known."""
    local = in_zone(moment, zone)
    return local.date().isoformat() if day_alone(local, kind) else local.isoformat(timespec="minutes")
