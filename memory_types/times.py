"""Parses timestamps in the usual forms into exact moments.

A timestamp is parsed or refused, never guessed: a missing part is not filled from today's date, an ambiguous order of day
and month is an error, and so is an unknown abbreviation of a zone.
"""

from __future__ import annotations

import numbers
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dateutil import parser as dateutil_parser

from hexamem.errors import InvalidInputError

__all__ = ["ACCEPTED_FORMS", "Moment", "from_micros", "parse_time", "read_zone", "shown", "to_micros"]

ACCEPTED_FORMS = (
    "ISO 8601 such as 2023-05-08T13:56:00+02:00, 2023-05-08 13:56 or 2023-05-08; "
    "epoch seconds, milliseconds or microseconds such as 1683554160; "
    "'1:56 pm on 8 May, 2023'; 'May 8, 2023 1:56 PM'; '2023/05/20 (Sat) 02:21'; "
    "'Tue, 15 Nov 1994 08:12:31 GMT'"
)
"""The list of forms in the error of an unreadable time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST = 100  # characters; longer texts are refused before any pattern runs


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """An exact point in time, and the UTC offset in which it was written.

    Attributes:
        utc: aware, in UTC, with microseconds.
        offset_minutes: minutes east of UTC of the original, -1439 to 1439. Seconds of an offset (local mean time
            before standard zones) are dropped; ``utc`` is exact.

    Raises:
        InvalidInputError: when ``utc`` is naive or in another zone, or the offset is a day or more.
    """

    utc: datetime
    offset_minutes: int = 0

    def __post_init__(self) -> None:
        if self.utc.utcoffset() != timedelta(0):
            raise InvalidInputError(f"Moment.utc = {self.utc.isoformat()} is not in UTC; build it with parse_time()")
        if not -1440 < self.offset_minutes < 1440:
            raise InvalidInputError(f"Moment.offset_minutes = {self.offset_minutes} is not between -1439 and 1439")


def parse_time(value: datetime | date | int | float | str, *, timezone: str = "UTC") -> Moment:
    """Read a timestamp.

    Accepted:

    - ``datetime``, and ``date`` (its midnight).
    - Epoch numbers, by magnitude: below 1e11 seconds (to the year 5138), below 1e14 milliseconds, below
      1e17 microseconds; the same as text from nine digits on. A text of 8 or 14 digits is a compact date
      (``20230508``, ``20230508135600``); a *number* that reads as one is refused, since it could be either.
    - ISO 8601, extended or basic, ``T`` or a space, with ``Z``, an offset or neither; a date alone is its midnight.
      Digits beyond microseconds are cut off.
    - Written out, as dateutil reads it, where no part is missing and the order of day and month is clear:
      ``2023/5/20 (Sat) 02:21``, ``1:56 pm on 8 May, 2023``, ``Mon May 8 13:56:00 2023``, RFC 2822. Text in brackets is
      left out.

    A naive time is read in ``timezone``. One that a change of clocks repeats is its first occurrence, and one that it
    skips is read at the offset before the change (``fold=0``, as in PEP 495). A weekday beside a full date is not
    checked against it.

    Args:
        value: the timestamp.
        timezone: name of an IANA zone, such as ``Europe/Dublin``.

    Returns:
        The moment, with the offset that the text or the zone gave it.

    Raises:
        InvalidInputError: the text is unreadable, ambiguous (``05/08/2023``) or incomplete (``Saturday``, ``5 pm``,
            ``May 2023``), the moment lies outside the years 1 to 9999 in UTC, or the zone is unknown.
    """
    zone = read_zone(timezone)
    try:
        return _moment(_read(value), zone)
    except OverflowError:
        raise InvalidInputError(f"time {shown(value)} lies outside the years 1 to 9999 in UTC") from None
    except ValueError as error:
        if isinstance(error, InvalidInputError):
            raise
        # What a reader says of a text of the right form with an impossible part: "month must be in 1..12".
        raise _unreadable(value, str(error)) from None


def read_zone(name: str) -> tzinfo:
    """The zone of an IANA name.

    Raises:
        InvalidInputError: the name is unknown here.
    """
    if name == "UTC":  # holds on machines without a zone database
        return UTC
    try:
        return ZoneInfo(name)
    # A folder of the database, or a path out of it, raises OSError or ValueError; one of many levels RecursionError;
    # another type TypeError.
    except (ZoneInfoNotFoundError, ValueError, OSError, RecursionError, TypeError, AttributeError):
        raise InvalidInputError(
            f"timezone {shown(name)} is unknown; give an IANA name such as 'Europe/Dublin' or 'UTC'"
        ) from None


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC, exactly; negative before.

    Raises:
        InvalidInputError: ``moment`` is naive.
    """
    if moment.utcoffset() is None:
        raise InvalidInputError(f"time {moment.isoformat()} has no timezone; read it with parse_time() first")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970-01-01 UTC; the inverse of :func:`to_micros`.

    Raises:
        InvalidInputError: the moment lies outside the years 1 to 9999.
    """
    try:
        return _EPOCH + micros * _MICROSECOND
    except OverflowError:
        raise InvalidInputError(f"{shown(micros)} microseconds lie outside the years 1 to 9999") from None


def shown(value: object, longest: int = 80) -> str:
    """The value as an error message shows it: its repr, cut to ``longest`` characters."""
    if isinstance(value, int) and value.bit_length() > 1000:  # the repr of a huge integer is refused by Python
        return f"an integer of {value.bit_length()} bits"
    text = repr(value[: longest + 1]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _unreadable(value: object, why: str) -> InvalidInputError:
    return InvalidInputError(f"time {shown(value)} cannot be read: {why}; accepted are {ACCEPTED_FORMS}")


def _read(value: object) -> datetime:
    if type(value) is int or type(value) is float:  # the test for any other number takes ten times longer
        return _read_number(value)
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        return _read_text(value)
    if not isinstance(value, bool) and isinstance(value, numbers.Real):  # numpy's numbers are such, too
        return _read_number(value)
    raise _unreadable(value, f"it is of type {type(value).__name__}")


def _moment(value: datetime, zone: tzinfo) -> Moment:
    if value.utcoffset() is None:
        value = value.replace(tzinfo=zone, fold=0)
    offset = value.utcoffset()
    assert offset is not None
    utc = value.astimezone(UTC)
    # A plain datetime, whatever subclass came in.
    utc = datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, tzinfo=UTC)
    return Moment(utc=utc, offset_minutes=int(offset.total_seconds() / 60))


# Numbers


def _read_number(value: numbers.Real | float) -> datetime:
    # An integer stays exact; float() raises OverflowError for those that are far out of every range.
    number = Decimal(repr(float(value)))
    if (type(value) is int or isinstance(value, numbers.Integral)) and abs(number) < 10**17:
        number = Decimal(int(value))
    if not number.is_finite():
        raise _unreadable(value, "it is not a finite number")
    digits = f"{number:f}".removesuffix(".0")
    if len(digits) in (8, 14) and digits.isdigit() and _compact(digits):
        raise _unreadable(value, "the number may be a date or a count of seconds; give a date as text")
    return _from_epoch(number, value)


def _from_epoch(number: Decimal, value: object) -> datetime:
    size = abs(number)
    for limit, scale in ((10**11, 1_000_000), (10**14, 1_000), (10**17, 1)):
        if size < limit:
            return _EPOCH + round(number * scale) * _MICROSECOND
    raise _unreadable(value, "it is too large for epoch microseconds")


def _compact(digits: str) -> datetime | None:
    """``YYYYMMDD`` or ``YYYYMMDDHHMMSS``, or None where the digits are no such date."""
    try:
        return datetime.fromisoformat(digits if len(digits) == 8 else f"{digits[:8]}T{digits[8:]}")
    except ValueError:
        return None


# Text

_EPOCH_TEXT = re.compile(r"[+-]?(?:[0-9]{9,}|[0-9]{9,13}\.[0-9]+)")
_ISO_START = re.compile(r"[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2})", re.IGNORECASE)
_LEFT_OUT = re.compile(r"\([^()]*\)|\b(?:UTC|GMT) ?(?=[+-][0-9])")  # of "UTC+3" dateutil would turn the sign round
_DEFAULTS = (datetime(2000, 1, 1), datetime(2011, 12, 30))  # no part is equal but the hour
_YEAR_FIRST = ((False, True),)  # whether the day, and whether the year comes first
_ANY_ORDER = ((False, False), (True, False), (False, True))
_BEGINS_WITH_YEAR = re.compile(r"[0-9]{4}\b")
_RFC_ZONES = {"UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
              "PST": -8, "PDT": -7}  # fmt: skip


def _read_text(value: str) -> datetime:
    if len(value) > _LONGEST:
        raise _unreadable(value, f"it has {len(value):,} characters")
    text = " ".join(value.split())
    if not text:
        raise _unreadable(value, "it is empty")
    if text.isascii() and text.isdigit() and len(text) in (8, 14):
        if moment := _compact(text):
            return moment
        raise _unreadable(value, f"{len(text)} digits are read as a compact date, and this is none")
    if _EPOCH_TEXT.fullmatch(text):
        return _from_epoch(Decimal(text), value)
    if _ISO_START.match(text):
        with suppress(ValueError):
            return datetime.fromisoformat(text[:-1] + "Z" if text.endswith("z") else text)
    return _written_out(value, _LEFT_OUT.sub(" ", text))


def _written_out(value: str, text: str) -> datetime:
    """A time in words, as dateutil reads it, if it reads the same whatever the missing parts and the order of numbers are."""
    orders = _YEAR_FIRST if _BEGINS_WITH_YEAR.match(text) else _ANY_ORDER
    try:
        read: set[datetime] = {
            dateutil_parser.parse(text, default=default, tzinfos=_zone_of, dayfirst=day, yearfirst=year)
            for default in _DEFAULTS
            for day, year in orders
        }
    except (dateutil_parser.ParserError, AttributeError, InvalidOperation, TypeError):
        raise _unreadable(value, "it is in no known form") from None  # the error of dateutil repeats the whole text
    if len(read) > 1:
        raise _unreadable(value, "the day, the month or the year is missing, or they cannot be told apart")
    return read.pop()


def _zone_of(name: str | None, seconds: int | None) -> tzinfo | None:
    if seconds is not None:
        return timezone(timedelta(seconds=seconds))
    if name is None:
        return None
    if name not in _RFC_ZONES:
        raise dateutil_parser.ParserError("the zone %s is unknown", name)
    return timezone(timedelta(hours=_RFC_ZONES[name]))
