"""Parses timestamps in the usual forms into exact moments.

A timestamp is parsed or refused, never guessed: a missing part is not filled from today's date, an ambiguous order of day
and month is an error, and so is an unknown abbreviation of a zone.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dateutil import parser as dateutil_parser

from hexamem.errors import InvalidInputError

__all__ = ["ACCEPTED_FORMS", "Moment", "from_micros", "parse_time", "read_zone", "shown", "to_micros"]

ACCEPTED_FORMS = (
    "ISO 8601 such as 2023-05-08T13:56:00+02:00, 2023-05-08 13:56 or 2023-05-08; "
    "epoch seconds, milliseconds or microseconds such as 1683554160; "
    "'1:56 pm on 8 May, 2023'; 'May 8, 2023 1:56 PM'; '2023/05/20 (Sat) 02:21'; "
    "'Tue, 15 Nov 1994 08:12:31 GMT'; '2023年5月8日 下午1点56分'"
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
    - Epoch numbers, told apart by magnitude: below 1e11 seconds (to the year 5138), below 1e14 milliseconds, below
      1e17 microseconds; the same as text from nine digits on. A text of 8 or 14 digits is a compact date
      (``20230508``, ``20230508135600``); a *number* that reads as one is refused, since it could be either.
    - ISO 8601, extended or basic, ``T`` or a space, with ``Z``, an offset or neither; a date alone is its midnight.
      Digits beyond microseconds are cut off.
    - Year first with slashes, dots or dashes, zero-padded or not, and a weekday in brackets: ``2023/5/20 (Sat) 02:21``.
    - English with the month's name, in any usual order, on a 12 or 24 hour clock: ``1:56 pm on 8 May, 2023``,
      ``May 8, 2023 1:56 PM``, ``Mon May 8 13:56:00 2023``, each with an optional ``Z``, ``UTC``, ``GMT`` or offset.
    - RFC 2822, with the zone abbreviations that it defines.
    - Chinese: ``2023年5月8日``, ``2023年5月8日 下午1点56分``, ``2023年5月8日 13:56``.

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
    # A folder of the database, or a path out of it, raises OSError or ValueError; another type TypeError.
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError, AttributeError):
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
    # An integer is kept exact; float() raises OverflowError for those that are far out of every range.
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

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_CLOCK = (
    r"(?:(?:0?[1-9]|1[0-2])(?::[0-9]{2}){0,2} ?[ap]\.?m\.?"  # 12 hours
    r"|[0-9]{1,2}(?::[0-9]{2}){1,2}(?:\.[0-9]+)?)"  # 24 hours
)
_ZONE = r"(?: ?(?P<zone>Z|UTC|GMT|(?:UTC|GMT)?[+-][0-9]{1,2}(?::?[0-9]{2})?))?"
_YEAR = "(?P<year>[0-9]{4})"
_DATE = rf"(?:{_DAY}[ -](?:of )?{_MONTH}|{_MONTH} {_DAY}),?[ -]{_YEAR}"

# English dates with the month's name and a year of four digits. The pattern decides what is read, dateutil reads it:
# alone it would fill missing parts from a default, ignore unknown zones and guess at numbers.
_ENGLISH = tuple(
    re.compile(f"(?P<wall>{form}){_ZONE}", re.IGNORECASE)
    for form in (
        rf"(?:{_WEEKDAY},? )?{_DATE}(?:,? (?:at )?{_CLOCK})?",
        rf"{_CLOCK},? (?:on )?(?:{_WEEKDAY},? )?{_DATE}",
        rf"(?:{_WEEKDAY},? )?{_MONTH} {_DAY} {_CLOCK} {_YEAR}",
    )
)
_RFC_2822 = re.compile(
    rf"(?:{_WEEKDAY}, ?)?[0-9]{{1,2}} {_MONTH} [1-9][0-9]{{3}} [0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}})? "
    r"(?P<zone>[+-][0-9]{4}|UT|UTC|GMT|Z|[ECMP][SD]T)(?: \([A-Za-z ]*\))?",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(
    r"(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<month>[0-9]{1,2})(?P=sep)(?P<day>[0-9]{1,2})"
    rf"(?: ?\((?:{_WEEKDAY}|(?:周|週|星期)[一二三四五六日天])\))?"
    rf"(?:[T ] ?(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}})(?::(?P<second>[0-9]{{2}}))?)?{_ZONE}",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<year>[0-9]{4}) ?年 ?(?P<month>[0-9]{1,2}) ?月 ?(?P<day>[0-9]{1,2}) ?[日号號]"
    r"(?: ?[(（]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天][)）]?)?"
    r"(?: ?(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上)? ?(?P<hour>[0-9]{1,2}) ?"
    r"(?:[:：](?P<minute>[0-9]{2})(?:[:：](?P<second>[0-9]{2}))?"
    r"|[点點时時](?: ?(?:(?P<minute_word>[0-9]{1,2}) ?分?(?: ?(?P<second_word>[0-9]{1,2}) ?秒)?|(?P<half>半)|整))?))?"
)
_EPOCH_TEXT = re.compile(r"[+-]?(?:[0-9]{9,}|[0-9]{9,13}\.[0-9]+)")
_ISO_START = re.compile(r"[0-9]{4}-?(?:[0-9]{2}-?[0-9]{2}|W[0-9]{2})", re.IGNORECASE)


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
    if match := _RFC_2822.fullmatch(text):
        return _rfc_2822(text, match)
    readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], datetime]], ...] = (
        (_YEAR_FIRST, _year_first),
        (_CHINESE, _chinese),
        *((pattern, _english) for pattern in _ENGLISH),
    )
    for pattern, reader in readers:
        if match := pattern.fullmatch(text):
            return reader(match)
    if _ISO_START.match(text):
        return datetime.fromisoformat(text[:-1] + "Z" if text.endswith("z") else text)
    if re.fullmatch(r"[0-9]{1,2}([-/.])[0-9]{1,2}\1[0-9]{2,4}(?:[ ,T].*)?", text):
        raise _unreadable(value, "day, month and year cannot be told apart; write the year first")
    raise _unreadable(value, "it is in no known form, or the day, the month or the year is missing")


def _english(match: re.Match[str]) -> datetime:
    # The default only supplies midnight, since the pattern requires year, month and day.
    read: datetime = dateutil_parser.parse(match["wall"].replace("-", " "), default=datetime(2000, 1, 1), ignoretz=True)
    if read.year != int(match["year"]):  # dateutil takes the year 0099 for 1999
        read = read.replace(year=int(match["year"]))
    return read.replace(tzinfo=_fixed_zone(match["zone"]))


def _rfc_2822(text: str, match: re.Match[str]) -> datetime:
    read = parsedate_to_datetime(text)
    # "-0000" is UTC with an unknown local zone, for which the library returns a naive time.
    return read.replace(tzinfo=UTC) if match["zone"] == "-0000" else read


def _year_first(match: re.Match[str]) -> datetime:
    part = {name: int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")}
    return datetime(**part, tzinfo=_fixed_zone(match["zone"]))


def _chinese(match: re.Match[str]) -> datetime:
    hour = int(match["hour"] or 0)
    if part := match["part"]:
        allowed, to_24_hours = _PARTS_OF_DAY[part]
        if hour not in allowed:
            raise ValueError(f"{part}{hour}点 is ambiguous; write it on the 24 hour clock")
        hour = to_24_hours(hour)
    minute = 30 if match["half"] else int(match["minute"] or match["minute_word"] or 0)
    second = int(match["second"] or match["second_word"] or 0)
    return datetime(int(match["year"]), int(match["month"]), int(match["day"]), hour, minute, second)


def _morning(hour: int) -> int:
    return hour % 12


def _afternoon(hour: int) -> int:
    return hour + 12 if hour < 12 else hour


def _noon(hour: int) -> int:
    return hour + 12 if hour < 11 else hour


# The hours that each part of the day may have, on either clock, and their conversion to the 24 hour clock. 上午12:05 is five past
# midnight, as Chinese locales format it; 晚上12点 could be either day's midnight and is refused.
_PARTS_OF_DAY: dict[str, tuple[frozenset[int], Callable[[int], int]]] = {
    **dict.fromkeys(("凌晨", "清晨", "早上", "早晨", "上午"), (frozenset(range(13)), _morning)),
    "中午": (frozenset({11, 12, 13, 14, 1, 2}), _noon),
    "下午": (frozenset(range(1, 24)), _afternoon),
    "傍晚": (frozenset({4, 5, 6, 7, 8, 16, 17, 18, 19, 20}), _afternoon),
    "晚上": (frozenset({5, 6, 7, 8, 9, 10, 11, 17, 18, 19, 20, 21, 22, 23}), _afternoon),
}


def _fixed_zone(text: str | None) -> tzinfo | None:
    """``Z``, ``UTC``, ``+2``, ``-0530``, ``UTC+02:00``: a plus is east, as in ISO 8601 (dateutil flips ``UTC+3``)."""
    if text is None:
        return None
    offset = text.upper().removeprefix("UTC").removeprefix("GMT")
    if offset in ("", "Z"):
        return UTC
    digits = offset[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    if hours > 23 or minutes > 59:
        raise ValueError(f"the offset {offset} is a day or more, or has more than 59 minutes")
    east = timedelta(hours=hours, minutes=minutes)
    return timezone(-east if offset[0] == "-" else east)
