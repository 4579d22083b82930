"""Times in a zone and back, at the ends of the calendar as well: year 1 and year 9999 have no day before and after them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

__all__ = ["in_utc", "in_zone"]


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
