"""What a date in words becomes: a span of text with its first and last day, and the calendar arithmetic for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Literal

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.hours import Hour

__all__ = [
    "Anchor",
    "DateSpan",
    "Form",
    "Meant",
    "Precision",
    "Prefer",
    "Read",
    "Reader",
    "chosen_day",
    "day_in_month",
    "day_of_year",
    "month_meant",
    "month_span",
    "no_date",
    "one_day",
    "shift",
    "week_start",
    "weekday_near",
]

Prefer = Literal["past", "future", "near"]
"""Which of several days is meant where the words leave it open: that of a report, of a plan, or the nearest one."""
Precision = Literal["day", "week", "month", "season", "year"]
_ALMOST_OVER = 7  # days
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A date in words, resolved: characters ``start`` to ``end`` of the text.

    Attributes:
        day, last_day: first and last day, in the user's calendar; equal for one day.
        clock: time of day where one was told, in the user's timezone.
        hour: a time of day of which the words by themselves do not tell the half of the day: ``clock`` is what they make
            likely, or None.
        precision: how exact the words are; ``week`` and coarser span several days by themselves.
        told: whether a year or a shift ("yesterday", "in two weeks") fixed the date, so that no guess was made.
    """

    start: int
    end: int
    text: str
    day: date
    last_day: date
    clock: time | None = None
    hour: Hour | None = None
    precision: Precision = "day"
    told: bool = False

    @property
    def iso(self) -> str:
        """``2025-03-04``, ``2025-03-04 15:30``, ``2025-06-20 to 2025-06-24``, ``2025-03`` or ``2025``."""
        if self.precision == "year":
            return f"{self.day:%Y}" if self.day.year >= 1000 else f"{self.day.year:04d}"
        if self.precision == "month":
            return self.day.isoformat()[:7]
        if self.last_day != self.day:
            return f"{self.day.isoformat()} to {self.last_day.isoformat()}"
        return self.day.isoformat() + (f" {self.clock:%H:%M}" if self.clock else "")

    @property
    def stated(self) -> str:
        """``iso``, with the words of an hour of which the half of the day is not known: ``2025-03-04 at 7``."""
        return f"{self.iso} {self.hour.words}" if self.hour is not None and self.clock is None else self.iso

    @property
    def iso_zh(self) -> str:
        """The same for a text in Chinese: ``2025-06-20至2025-06-24``, ``2025年``; else like ``iso``."""
        return f"{self.iso}年" if self.precision == "year" else self.iso.replace(" to ", "至")

    @property
    def shown(self) -> str:
        """``iso`` or ``iso_zh``, by the script of the words that it stands for or beside."""
        return self.iso_zh if _HAN.search(self.text) else self.iso

    @property
    def aside(self) -> str:
        """What is put behind its words to tell the day: `` (2025-03-04)``, in Chinese ``（2025-03-04）``."""
        return f"（{self.iso_zh}）" if _HAN.search(self.text) else f" ({self.iso})"

    @property
    def beginning(self) -> str:
        """Since when, of what began then: ``2025-03-04``, ``about 2025-06-20`` of several days, ``2025-03`` or ``2025``."""
        return f"about {self.day.isoformat()}" if " to " in self.iso else self.iso

    @property
    def beginning_zh(self) -> str:
        """The same in Chinese: ``2025-06-20前后`` of several days, ``2025年``; else like ``beginning``."""
        return f"{self.day.isoformat()}前后" if " to " in self.iso else self.iso_zh

    def moment(self, zone: tzinfo) -> datetime:
        """When it begins: its time of day, else midnight, in ``zone``; a repeated hour is its first occurrence."""
        return datetime.combine(self.day, self.clock or time(), tzinfo=zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The day in the user's calendar on which something was said, and which way open dates are read."""

    today: date
    prefer: Prefer


Meant = tuple[date, date, Precision, bool]
"""First day, last day, precision, and whether it is told in full."""
Read = Meant | None
"""What words mean; None for what is a recurrence or no date."""
Reader = Callable[[re.Match[str], Anchor], Read]
Form = tuple[tuple[str, ...], re.Pattern[str], Reader]
"""Words of which one stands (in lower case) in every text that the pattern finds, the pattern, and its reader."""


def shift(day: date, count: float, unit: str) -> date:
    """``day`` moved by a count of ``day``, ``week``, ``month`` or ``year``; half a month is 15 days, half a year 6 months.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.
    """
    if unit == "day":
        return day + timedelta(days=round(count))
    if unit == "week":
        return day + timedelta(days=round(7 * count))
    months = count if unit == "month" else 12 * count
    whole = int(months)
    moved: date = day + relativedelta(months=whole)
    return moved + timedelta(days=round(30 * (months - whole)))


def no_date(match: re.Match[str], anchor: Anchor) -> Read:
    """Reads what recurs, or is no date, so that no other form reads part of it as one."""
    return None


def one_day(day: date, told: bool = True) -> Meant:
    """A single day, told in full or not."""
    return day, day, "day", told


def chosen_day(match: re.Match[str], anchor: Anchor, days: list[date]) -> Read:
    """Of one day in each month that may be meant, the one on the side that is wanted.

    Args:
        match: with the groups ``which`` and ``year``, either of which tells the day in full.
    """
    told = bool(match["which"] or match["year"])
    if anchor.prefer == "past":
        return one_day(max([day for day in days if day <= anchor.today] or days[:1]), told)
    if anchor.prefer == "future":
        return one_day(min([day for day in days if day >= anchor.today] or days[:1]), told)
    return one_day(min(days, key=lambda day: abs((day - anchor.today).days)), told)


def week_start(day: date) -> date:
    """The Monday of its week."""
    return day - timedelta(days=day.weekday())


def weekday_near(anchor: Anchor, weekday: int) -> date:
    """The weekday that is meant by its name alone: the last one of a report, else the next one, never today."""
    ahead = (weekday - anchor.today.weekday()) % 7 or 7
    return anchor.today + timedelta(days=ahead - 7 if anchor.prefer == "past" and ahead != 7 else _back(anchor, ahead))


def _back(anchor: Anchor, ahead: int) -> int:
    return -7 if anchor.prefer == "past" else ahead


def day_of_year(anchor: Anchor, month: int, day: int) -> date:
    """The month and day of the year that is meant: the last one of a report, the next one of a plan, or the nearest.

    Raises:
        ValueError: there is no such day in the years around.
    """
    found: list[date] = []
    for year in range(anchor.today.year - 1, anchor.today.year + 2):
        try:
            found.append(date(year, month, day))
        except ValueError:  # 29 February
            continue
    if anchor.prefer == "past":
        found = [each for each in found if each <= anchor.today] or found
        return max(found)
    if anchor.prefer == "future":
        found = [each for each in found if each >= anchor.today] or found
        return min(found)
    return min(found, key=lambda each: abs((each - anchor.today).days))


def day_in_month(anchor: Anchor, day: int) -> date:
    """The day of the month that is meant by its number alone.

    Raises:
        ValueError: no month has such a day.
    """
    if not 1 <= day <= 31:
        raise ValueError(f"no month has a day {day}")
    step = -1 if anchor.prefer == "past" else 1
    month = anchor.today.replace(day=1)
    for _ in range(3):
        try:
            found = month.replace(day=day)
        except ValueError:
            found = None
        if found is not None and ((found <= anchor.today) if step < 0 else (found >= anchor.today)):
            return found
        month = month + relativedelta(months=step)
    raise ValueError(f"no month around has a day {day}")


def month_meant(anchor: Anchor, month: int, first: int = 1, last: int = 31) -> tuple[date, date]:
    """The days ``first`` to ``last`` of a month that is named alone, in the year that is meant; ``last`` is cut to the month.

    Named within itself it is that of this year, unless what is meant of it lies on the other side. A whole month that
    is almost over is no longer what one plans for by its name.
    """
    found = [month_span(anchor.today.year + step, month) for step in (-1, 0, 1)]
    found = [(start.replace(day=first), start.replace(day=min(last, end.day))) for start, end in found]
    if anchor.prefer == "past":
        return max(each for each in found if each[0] <= anchor.today)
    if anchor.prefer == "future":
        spare = timedelta(days=_ALMOST_OVER if (first, last) == (1, 31) else 0)
        return min(each for each in found if each[1] - spare >= anchor.today)
    if anchor.today.month == month:
        return found[1]
    year = day_of_year(anchor, month, 1).year
    return next(each for each in found if each[0].year == year)


def month_span(year: int, month: int) -> tuple[date, date]:
    """First and last day of a month."""
    first = date(year, month, 1)
    return first, first + relativedelta(months=1, days=-1)
