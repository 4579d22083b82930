"""Times in a zone and back, at the ends of the calendar as well: year 1 and year 9999 have no day before and after them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

__all__ = ["in_utc", "in_zone", "offset_minutes"]


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """The moment in a zone; as it stands where that zone's clock would leave the calendar."""
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
    """Minutes east of UTC at which a clock in the zone stands at the moment; seconds of an old offset are cut off."""
    return int((in_zone(moment, zone).utcoffset() or timedelta()).total_seconds() / 60)
