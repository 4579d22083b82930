"""English dates in words: "last Saturday", "in two weeks", "20 to 24 June", "on the 14th"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.numbers_english import COUNT, number
from hexamem.intent.dates.spans import (
    Anchor,
    Form,
    Read,
    Reader,
    day_in_month,
    day_of_year,
    month_meant,
    month_span,
    no_date,
    one_day,
    shift,
    week_start,
    weekday_near,
)

__all__ = [
    "ENGLISH_FORMS",
    "FULL_WEEKDAY",
    "MONTH",
    "MONTHS",
    "MONTH_NAME",
    "WEEKDAY_NAME",
    "month_number",
    "weekday_number",
]

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b"
)
MONTH_NAME = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:r?s)?|fri|sat(?:ur)?|sun)(?:day)?\b"
WEEKDAY_NAME = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
FULL_WEEKDAY = rf"{WEEKDAY_NAME}\b"
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_TO = r"\s?(?:-|–|to|until|till|and|through)\s?(?:the\s)?"
_YEAR = r"(?:,?\s(?P<year>(?:19|20)\d\d)(?!\d)|(?!,?\s\d{4}\b))"  # a year that no reckoning covers makes no date
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def weekday_number(text: str) -> int:
    """Monday is 0; "tues" and "Tuesday" alike."""
    return _WEEKDAYS.index(text[:3].lower())


def month_number(text: str) -> int:
    """January is 1; "sept" and "September" alike."""
    return MONTHS.index(text[:3].lower()) + 1


def _digits(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _iso(match: re.Match[str], anchor: Anchor) -> Read:
    return one_day(date(int(match["y"]), int(match["m"]), int(match["d"])))


def _days_of(match: re.Match[str], anchor: Anchor, month: int, first: str, last: str | None) -> Read:
    year = match["year"]
    begin = date(int(year), month, _digits(first)) if year else day_of_year(anchor, month, _digits(first))
    end = begin.replace(day=_digits(last)) if last else begin
    return (begin, end, "day", bool(year)) if end >= begin else one_day(begin, bool(year))


def _day_month(match: re.Match[str], anchor: Anchor) -> Read:
    return _days_of(match, anchor, month_number(match["month"]), match["first"], match["last"])


def _month_to_month(match: re.Match[str], anchor: Anchor) -> Read:
    first, last = (match["first"], match["last"])
    begin = (
        date(int(match["year"]), month_number(match["month"]), _digits(first))
        if match["year"]
        else day_of_year(anchor, month_number(match["month"]), _digits(first))
    )
    end = date(begin.year, month_number(match["to_month"]), _digits(last))
    return begin, end if end >= begin else end + relativedelta(years=1), "day", bool(match["year"])


def _today(match: re.Match[str], anchor: Anchor) -> Read:
    return one_day(anchor.today)


def _shifted_day(match: re.Match[str], anchor: Anchor) -> Read:
    words = match[0].lower()
    days = 1 if "tomorrow" in words or "tmr" in words else -1
    if words.startswith(("the day after", "day after", "the day before", "day before")):
        days *= 2
    elif words.startswith("last night"):
        days = -1
    return one_day(anchor.today + timedelta(days=days))


def _ago(match: re.Match[str], anchor: Anchor) -> Read:
    return _shifted(match, anchor, -1)


def _ahead(match: re.Match[str], anchor: Anchor) -> Read:
    return _shifted(match, anchor, 1)


def _shifted(match: re.Match[str], anchor: Anchor, sign: int) -> Read:
    unit, count = match["unit"].lower(), number(match["count"])
    if unit == "fortnight":
        unit, count = "week", 2 * count
    if unit == "weekend":
        unit = "week"
    day = shift(anchor.today, sign * count, unit)
    if unit == "year" and count >= 1:
        return date(day.year, 1, 1), date(day.year, 12, 31), "year", True
    if unit == "month" and count >= 1:
        return *month_span(day.year, day.month), "month", True
    return one_day(day)


def _week_on(match: re.Match[str], anchor: Anchor) -> Read:
    future = Anchor(today=anchor.today, prefer="future")
    named = match["weekday"].lower()
    start = anchor.today + timedelta(days=named == "tomorrow") if named in ("today", "tomorrow") else None
    return one_day((start or weekday_near(future, weekday_number(named))) + timedelta(days=7))


def _pointed_weekday(match: re.Match[str], anchor: Anchor) -> Read:
    which, weekday, today = match["which"].lower(), weekday_number(match["weekday"]), anchor.today
    if which in ("last", "past"):
        return one_day(weekday_near(Anchor(today=today, prefer="past"), weekday))
    if which in ("next", "following"):
        # Of the calendar week to come: "next Friday" said on Monday is not that of this week.
        day = week_start(today) + timedelta(days=7 + weekday)
        return one_day(day)
    if which == "coming":
        return one_day(weekday_near(Anchor(today=today, prefer="future"), weekday))
    return one_day(week_start(today) + timedelta(days=weekday))


def _bare_weekday(match: re.Match[str], anchor: Anchor) -> Read:
    return one_day(weekday_near(anchor, weekday_number(match["weekday"])), False)


def _pointed_unit(match: re.Match[str], anchor: Anchor) -> Read:
    which, unit = match["which"].lower(), match["unit"].lower()
    step = {"last": -1, "past": -1, "next": 1, "coming": 1}.get(which, 0)
    today = anchor.today
    if unit == "week":
        start = week_start(today) + timedelta(days=7 * step)
        return start, start + timedelta(days=6), "week", True
    if unit == "weekend":
        start = week_start(today) + timedelta(days=7 * step + 5)
        if which == "last" and start + timedelta(days=8) <= today:
            start += timedelta(days=7)
        return start, start + timedelta(days=1), "day", True
    if unit == "month":
        moved = today + relativedelta(months=step)
        return *month_span(moved.year, moved.month), "month", True
    if unit == "year":
        return date(today.year + step, 1, 1), date(today.year + step, 12, 31), "year", True
    if unit == "night":
        return one_day(today - timedelta(days=1))
    start = date(today.year, _SEASONS[unit], 1)
    if unit == "winter" and step == 0:  # in spring "this winter" may be either one
        if today.month in (3, 4, 5):
            return None
        start += relativedelta(years=-1 if today.month < 3 else 0)
    while step < 0 and start + relativedelta(months=3) > today:
        start += relativedelta(years=-1)
    if step > 0 and start <= today:
        start += relativedelta(years=1)
    return start, start + relativedelta(months=3, days=-1), "season", True


def _ordinal(match: re.Match[str], anchor: Anchor) -> Read:
    day = _digits(match["day"])
    which = (match["which"] or "").lower()
    if which:
        month = anchor.today + relativedelta(months={"next": 1, "last": -1}.get(which, 0))
        return one_day(month.replace(day=1) + timedelta(days=day - 1))
    return one_day(day_in_month(anchor, day), False)


def _month_alone(match: re.Match[str], anchor: Anchor) -> Read:
    month, year, which = month_number(match["month"]), match["year"], (match["which"] or "").lower()
    if year:
        return *month_span(int(year), month), "month", True
    if not which:
        return *month_meant(anchor, month), "month", False
    if which == "this":
        return *month_span(anchor.today.year, month), "month", True
    step = day_of_year(Anchor(today=anchor.today, prefer="past" if which == "last" else "future"), month, 1)
    if (step.year, month) == (anchor.today.year, anchor.today.month):
        step += relativedelta(years=-1 if which == "last" else 1)
    return *month_span(step.year, month), "month", True


def _end_of(match: re.Match[str], anchor: Anchor) -> Read:
    if match["unit"].lower() == "year":
        return one_day(date(anchor.today.year, 12, 31))
    return one_day(month_span(anchor.today.year, anchor.today.month)[1])


def _year(match: re.Match[str], anchor: Anchor) -> Read:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31), "year", True


_PREFIX = rf"(?:(?:{_WEEKDAY},?\s)(?:the\s)?)?"
_RECURRING = ("every", "each ", "days", "weekends", "most ", "one day", "day one", "other day", "all day", "mornings")
_ANY_YEAR = ("19", "20")
_UNITS = ("day", "week", "fortnight", "month", "year")
_POINTERS = ("last ", "past ", "next ", "this ", "coming ", "following ")
_FORMS: tuple[tuple[tuple[str, ...], str, Reader], ...] = (
    (
        _RECURRING,
        rf"\b(?:every|each)\s(?:other\s|single\s|second\s)?(?:{FULL_WEEKDAY}s?|day|week|month|year"
        rf"|morning|evening|night"
        rf"|weekend|afternoon)(?:\s(?:and|or)\s{FULL_WEEKDAY})?|\b(?:on\s)?(?:mon|tues|wednes|thurs"
        rf"|fri|satur|sun)days\b"
        r"|\bon\sweekends|\bmost\s(?:day|week|morning|evening|night|weekend)s|\bthese\sdays"
        r"|\bone\sday\b|\bthe other day\b"
        r"|\bdays?\sone\b|\ball\sday\b",
        no_date,
    ),
    (
        _ANY_YEAR,
        r"(?<![^\W\u3400-\u4dbf\u4e00-\u9fff])(?P<y>(?:19|20)\d\d)[-/.](?P<m>1[0-2]|0?[1-9])[-/.](?P<d>3[01]|[12]\d|0?[1-9])(?!\d)",
        _iso,
    ),
    (
        MONTHS,
        rf"{_PREFIX}\b(?P<first>{_DAY})(?:\sof)?\s(?P<month>{MONTH}){_TO}(?P<last>{_DAY})(?:\sof)?\s"
        rf"(?P<to_month>{MONTH}){_YEAR}",
        _month_to_month,
    ),
    (
        MONTHS,
        rf"{_PREFIX}\b(?P<first>{_DAY})(?:{_TO}(?P<last>{_DAY}))?(?:\sof)?\s(?P<month>{MONTH}){_YEAR}",
        _day_month,
    ),
    (
        MONTHS,
        rf"{_PREFIX}\b(?P<month>{MONTH})\s(?:the\s)?(?P<first>{_DAY})\b(?:{_TO}(?P<last>{_DAY})\b"
        rf"(?!\s?[ap]\.?m|:))?{_YEAR}",
        _day_month,
    ),
    (
        ("yesterday", "tomorrow", "last night", "tmr"),
        r"\b(?:the\s)?day\s(?:after\s(?:tomorrow|tmrw?)|before\syesterday)\b|\b(?:tomorrow|tmrw?|yesterday)\b"
        r"(?:\s(?:morning|afternoon|evening|night))?|\blast\snight\b",
        _shifted_day,
    ),
    (("today", "tonight", "this "), r"\b(?:today|tonight|this\s(?:morning|afternoon|evening))\b", _today),
    (
        ("a week ",),
        rf"(?<!times\s)(?<!once\s)(?<!twice\s)(?<!euros\s)\ba\sweek\s(?:on|from)\s"
        rf"(?P<weekday>today|tomorrow|{FULL_WEEKDAY})",
        _week_on,
    ),
    (("day week",), rf"(?<!last\s)(?<!next\s)(?<!past\s)(?<!this\s)\b(?P<weekday>{FULL_WEEKDAY})\sweek\b", _week_on),
    ((" ago",), rf"\b(?P<count>{COUNT})\s(?P<unit>day|week|fortnight|month|year)s?\sago\b", _ago),
    (
        _UNITS,
        rf"\b(?:in|within the next)\s(?P<count>{COUNT})\s(?P<unit>day|week|fortnight|month|year)s?\b"
        r"(?:['’]s?\stime|\s(?:time|from\snow))?",
        _ahead,
    ),
    (
        ("from now", "from today"),
        rf"\b(?P<count>{COUNT})\s(?P<unit>day|week|fortnight|month|year)s?\sfrom\s(?:now|today)\b",
        _ahead,
    ),
    (
        _POINTERS,
        rf"\b(?P<which>last|past|next|this|coming|following)\s(?P<weekday>{_WEEKDAY})(?:\s(?:morning"
        rf"|afternoon|evening|night))?(?!\s(?:of|in)\s(?:{MONTH}|the\s(?:month|year)))",
        _pointed_weekday,
    ),
    (
        ("the ",),
        r"\b(?:on\s)?the\s(?P<day>(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th))\b"
        r"(?:\sof\s(?P<which>this|next|last)\smonth)?(?!\s(?:floor|century|birthday|anniversary|time"
        r"|street|grade|edition|of\s))",
        _ordinal,
    ),
    (("end of",), r"\b(?:(?:at|by|before)\s)?(?:the\s)?end\sof\s(?:the|this)\s(?P<unit>month|year)\b", _end_of),
    (
        _POINTERS,
        r"\b(?P<which>last|past|next|this|coming)\s(?P<unit>weekend|week|month|year|spring|summer"
        rf"|autumn|fall|winter)\b(?!(?<=[kdh])\s(?:of\s|in\s{MONTH}))",
        _pointed_unit,
    ),
    (
        MONTHS,
        rf"\b(?:(?:in|since|until|till|by|from|during|of|early|mid|late|for)[\s-]|(?P<which>last|next|this)\s)"
        rf"(?P<month>{MONTH}){_YEAR}",
        _month_alone,
    ),
    (
        MONTHS,
        r"\b(?P<month>january|february|march|april|june|july|august|september|october|november"
        r"|december)\s(?P<year>(?:19|20)\d\d)(?P<which>)",
        _month_alone,
    ),
    (
        ("day",),
        rf"(?<!\bthe\s)\b(?P<weekday>{FULL_WEEKDAY})"
        rf"(?!['’]?s)(?:\s(?:morning|afternoon|evening|night)\b)?",
        _bare_weekday,
    ),
    (
        _ANY_YEAR,
        r"\b(?:in|since|from|until|till|during|by)\s(?:(?:early|mid|late)[\s-])?(?P<year>(?:19|20)\d\d)(?![\d:.])",
        _year,
    ),
)
ENGLISH_FORMS: tuple[Form, ...] = tuple(
    (needed, re.compile(form, re.IGNORECASE), reader) for needed, form, reader in _FORMS
)
"""The forms in the order in which they are tried; what one has taken is taken."""
