"""Dates in words → days in the user's calendar: "last Saturday", "20 to 24 June", 上周六.

The words are read by recognizers-text-date-time (Microsoft, MIT). What is here is about its answers, which are typed and
carry a TIMEX expression ("XXXX-WXX-5", "2024-SU", "P2W"): which of several days is meant, and how exact it is. Durations,
recurrences, times of day without a day and "now" are types that are no date.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import localcontext
from functools import partial
from typing import Any, Literal, get_args

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from hexamem.once import once

__all__ = ["DateSpan", "Precision", "Prefer", "find_dates"]
Prefer = Literal["past", "future", "near"]
"""Which of several days is meant where the words leave it open: that of a report, of a plan, or the nearest one."""
Precision = Literal["day", "week", "month", "season", "year"]
_Days = tuple[date, date]  # the first and the last
_LONGEST = 600  # characters that are read
_MOST, _MOST_READ = 12, 60  # of a kind in a text, as some of its lists double with each; texts read for one text
_BESIDE = 4  # characters between two dates of which one tells in which year, month or week the other lies
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_UNITS: dict[str, Precision] = {"D": "day", "W": "week", "M": "month", "Y": "year"}
_EXACT: dict[str, Precision] = _UNITS | {"0000": "year", "0000-00": "month", "0000-W00": "week"}
_SMALLER = {"Y": ("M", 12), "M": ("D", 30), "W": ("D", 7)}
_SEASONS = {"SP": 3, "SU": 6, "FA": 9, "WI": 12}  # their first months, as meteorologists count
_EASTER = {"goodfriday": -2, "easterday": 0, "eastermonday": 1}  # holidays of which the library tells no day
# What the library raises at words that it finds but cannot read, such as "in 99999 years"; of our own code alone what
# date arithmetic raises beyond the years 1 to 9999.
_LIBRARY_ERRORS = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
_BEYOND = (OverflowError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSpan:
    """A date in words, resolved: characters ``start`` to ``end`` of the text.

    Attributes:
        day, last_day: first and last day, in the user's calendar; equal for one day.
        clock: time of day where one is named, in the user's timezone; None where its half of the day is open.
        precision: how exact the words are; ``week`` and coarser span several days by themselves.
        explicit: whether a year or a shift ("yesterday", "in two weeks") fixed the date, so that no guess was made.
    """

    start: int = 0
    end: int = 0
    text: str = ""
    day: date
    last_day: date
    clock: time | None = None
    precision: Precision = "day"
    explicit: bool = False


def find_dates(text: str, reference_time: datetime, zone: tzinfo, *, prefer: Prefer = "near") -> tuple[DateSpan, ...]:
    """All dates in a text, in order, none overlapping.

    Args:
        text: a sentence in English, Chinese or both; of a longer text the first 600 characters.
        reference_time: when the text was written, aware.
        zone: the user's timezone.
        prefer: how an open date is read ("Monday", "1 March", "the 14th"): of a report, a plan, or the nearest. A weekday
            or a day of the month alone is the next one unless the text is a report. A day without a year but with its
            weekday ("Monday, 1 September") lies in the year in which it is that weekday, whatever is preferred.

    Returns:
        The dates; of one kind in a language (days, periods, days with a time) at most 12 are returned. None for what is
        impossible (31 June), of the lunar calendar, or figures without a year ("03/04").
    """
    reference = reference_time.replace(tzinfo=None)
    with suppress(OverflowError):  # on the first and the last day that there are
        reference = reference_time.astimezone(zone).replace(tzinfo=None)
    plain = text[:_LONGEST].replace("İ", "I")  # the only letter that is two when it is small
    plain = re.sub(r"[\W\d_]{41,}", lambda run: " " * len(run[0]), plain)  # on long runs the library takes seconds
    plain = re.sub(r"(\w{60})\w", r"\1 ", plain)
    han = _HAN.search(plain) is not None
    dates: list[DateSpan] = []
    for culture in ["zh-cn"] * han + ["en-us"] * (not han or re.search("[A-Za-z]", plain) is not None):
        for span in _recognizer(culture).read(plain, reference, prefer) if any(map(str.isalnum, plain)) else ():
            if not any(other.start < span.end and span.start < other.end for other in dates):
                dates.append(replace(span, text=text[span.start : span.end]))
    return tuple(sorted(dates, key=lambda span: span.start))


class _Recognizer:
    """The library's extractors and parsers of one language, made when first needed (0.4 s). Safe to share between threads."""

    def __init__(self, culture: str) -> None:
        import emoji

        if not hasattr(emoji, "UNICODE_EMOJI"):  # which recognizers-text 1.0.2a2 imports; emoji 2 calls it EMOJI_DATA
            emoji.UNICODE_EMOJI = emoji.EMOJI_DATA  # type: ignore[attr-defined]
        with localcontext():  # importing recognizers-number lowers the precision of the thread's decimals
            from recognizers_date_time import DateTimeRecognizer
            from recognizers_text import QueryProcessor

        model = DateTimeRecognizer(culture).get_datetime_model(culture)
        self._extract, self._parts, self._parsers = model.extractor.extract, model.extractor.config, model.parser.config
        self._plain, english = QueryProcessor.preprocess, self._parts.date_extractor.config.utility_configuration
        self._ago = english.ago_regex if english else self._parsers.before_regex
        for name, days in _EASTER.items():
            day = partial(lambda days, year: datetime.combine(easter(year), time()) + timedelta(days), days)
            self._parsers.holiday_parser.config.holiday_func_dictionary[name] = day
        self._memo, self._numbers = threading.local(), threading.local()
        parts, seen = [model], set[int]()
        while parts:  # every extractor reads a text once: the library asks it a dozen times
            part = parts.pop()
            package, name = type(part).__module__.partition(".")[0], type(part).__name__
            if id(part) not in seen and package in ("recognizers_date_time", "recognizers_number"):
                seen.add(id(part))
                if name.endswith("Extractor") and package == "recognizers_number":
                    patterns = hash(
                        tuple(one.re for one in part.regexes)
                    )  # the library makes several that are the same
                    part.extract = partial(self._numbers_in, part.extract, f"{name} {patterns}")
                elif name.endswith("Extractor"):
                    part.extract = partial(self._once, part.extract, name)
                parts += getattr(part, "__dict__", {}).values()

    def _once(self, extract: Any, name: str, text: str, reference: datetime | None = None) -> list[Any]:
        known, key = self._memo.__dict__, f"{name} {reference} {text}"
        if key not in known:
            known[key] = extract(text, reference)[:_MOST] if len(known) < _MOST_READ else []
        return [copy(one) for one in known[key]]

    def _numbers_in(self, extract: Any, name: str, text: str) -> list[Any]:
        known, key = self._numbers.__dict__, f"{name} {text}"
        if key not in known:
            known[key] = extract(text)
        return [copy(one) for one in known[key]]

    def read(self, text: str, reference: datetime, prefer: Prefer) -> list[DateSpan]:
        """The dates in a text; ends of a range, and a date and the one in which it lies, are one."""
        text, spans = self._plain(text), list[tuple[Any, DateSpan]]()
        try:
            with suppress(_UnreadableDateError):
                for extracted in _ask(self._extract, text, reference):
                    if extracted.type.startswith("date") and (span := self._span(extracted, text, reference, prefer)):
                        joined = self._joined(*spans[-1], extracted, span, text) if spans else None
                        spans[len(spans) - bool(joined) :] = [(extracted, joined or span)]
        finally:
            for memo in (self._memo, self._numbers):
                memo.__dict__.clear()  # they repeat what users wrote
        return [span for _, span in spans]

    def _joined(self, extracted: Any, first: DateSpan, other: Any, second: DateSpan, text: str) -> DateSpan | None:
        between, till = text[first.end : second.start].strip(), self._parts.date_period_extractor.config.till_regex
        if till.fullmatch(between):  # "June to August"
            range_ = first.precision == second.precision and first.last_day < second.day and not first.clock
            return replace(first, last_day=second.last_day, end=second.end) if range_ else None
        wide, narrow, inner = (first, second, other) if first.explicit else (second, first, extracted)
        exact = get_args(Precision).index
        if (
            len(between) > _BESIDE
            or not wide.explicit
            or narrow.explicit
            or exact(wide.precision) <= exact(narrow.precision)
        ):
            return None
        if wide.day == date.min:
            return None
        span = self._span(inner, text, datetime.combine(wide.day - timedelta(days=1), time()), "future")
        inside = span is not None and span.last_day <= wide.last_day
        return replace(span, start=first.start, end=second.end, explicit=True) if span and inside else None

    def _span(self, extracted: Any, text: str, reference: datetime, prefer: Prefer) -> DateSpan | None:
        start, end = extracted.start, extracted.start + extracted.length
        reference = reference if "time" in extracted.type else datetime.combine(reference, time())
        cut = re.compile(r"\w\w", re.ASCII)  # part of a longer word or number
        if cut.fullmatch(text[max(0, start - 1) : start + 1]) or cut.fullmatch(text[end - 1 : end + 1]):
            return None
        with suppress(_UnreadableDateError, *_BEYOND):
            span = self._shifted(extracted, reference) or self._resolved(extracted, reference, prefer)
            while span and start and text[start - 1] == text[start] and _HAN.match(text[start]):  # 上上周 is 上周 twice
                start -= 1
                span = self._resolved(extracted, datetime.combine(span.day, time()), prefer)
            if span and (span.explicit or any(map(str.isalpha, text[start:end]))):  # figures need a year
                return replace(span, start=start, end=end)
        return None

    def _shifted(self, extracted: Any, reference: datetime) -> DateSpan | None:
        """Of a count of units from today ("two weeks ago", 三年后), the day, week, month or year that is so far away."""
        durations = (
            _ask(self._parts.duration_extractor.extract, extracted.text, reference)
            if "time" not in extracted.type
            else []
        )
        length = ""
        if len(durations) == 1:
            length = _ask(self._parsers.duration_parser.parse, durations[0], reference).timex_str or ""
        match = re.fullmatch(r"P(\d+(?:\.\d+)?)([DWMY])", length)
        rest = extracted.text.replace(durations[0].text, " ", 1).strip() if match else ""
        if match is None or not rest or _ask(self._parts.date_extractor.extract, rest, reference):
            return None
        value = self._value(extracted, reference)  # "in three weeks" is one week, "the last three weeks" are three
        if extracted.type == "daterange":
            if value is None:
                raise _UnreadableDateError
            if value.timex[-4:-2] != "P1":
                return None
            if isinstance(value.future_value, datetime) or not _has_days(value.future_value):
                raise _UnreadableDateError
            if value.future_value[0] < reference:
                return None
        count, letter = float(match[1]) * (-1 if self._ago.search(rest) else 1), match[2]
        while count % 1 and letter in _SMALLER:  # half a year is six months
            count, letter = count * _SMALLER[letter][1], _SMALLER[letter][0]
        first, last = _whole(_after(reference.date(), round(count), _UNITS[letter]), _UNITS[letter])
        return DateSpan(day=first, last_day=last, precision=_UNITS[letter], explicit=True)

    def _resolved(self, extracted: Any, reference: datetime, prefer: Prefer) -> DateSpan | None:
        """The date that the library's answer means; of those on the two sides of ``reference`` the one that is meant."""
        value = self._value(extracted, reference)
        if value is None or value.is_lunar or re.search(r"^$|_REF$|--", value.timex):  # "now", or not resolved
            return None
        timex: str = value.timex
        if season := re.fullmatch(r"(\d{4})-(SP|SU|FA|WI)", timex):
            first = date(int(season[1]), _SEASONS[season[2]], 1)
            last = _after(first, 3, "month") - timedelta(days=1)
            return DateSpan(day=first, last_day=last, precision="season", explicit=True)
        if not (_has_days(value.past_value) and _has_days(value.future_value)):
            return None
        past, future = (_days(extracted.type, timex, side) for side in (value.past_value, value.future_value))
        if past[0].year < 100:  # year 1 is the library's sign for a day that does not exist
            return None
        sides = (
            self._on_weekday(extracted.text, past, future) if re.match(r"\(?XXXX-\d\d-\d\d", timex) else (past, future)
        )
        first, last = _meant(*sides, reference.date(), timex, prefer)
        shape = timex[-2:-1] if timex.startswith("(") else re.sub(r"[\dX]", "0", timex)
        exact = _EXACT.get(shape, "day") if extracted.type == "daterange" else "day"
        clock = value.past_value[0] if isinstance(value.past_value, (list, tuple)) else value.past_value
        told_hour = value.comment != "ampm" and re.match(r"[^,]*T\d\d", timex)
        clock = time(clock.hour, clock.minute) if told_hour else None
        return DateSpan(
            day=first, last_day=max(first, last), clock=clock, precision=exact, explicit="XXXX" not in timex
        )

    def _on_weekday(self, text: str, past: _Days, future: _Days) -> tuple[_Days, _Days]:
        """Where a day without a year has a weekday, and only one of the two years fits, that one twice."""
        known = self._parsers.date_parser.config.day_of_week
        named = {number % 7 for word, number in known.items() if re.search(rf"(?<![a-z]){word}(?![a-z])", text.lower())}
        fitting = [days for days in (past, future) if days[0].isoweekday() % 7 in named]
        return (fitting[0], fitting[0]) if len(fitting) == 1 else (past, future)

    def _value(self, extracted: Any, reference: datetime) -> Any:
        """The library's answer; None where it has none."""
        extracted = copy(extracted)
        if extracted.meta_data and extracted.meta_data.has_mod:  # "since", "before", "by"
            for pattern in (self._parsers.before_regex, self._parsers.after_regex, self._parsers.since_regex):
                extracted.text = (
                    pattern.sub("", extracted.text, count=1).strip()
                    if pattern.match(extracted.text)
                    else extracted.text
                )
        value = None
        name = extracted.type.replace("datetime", "date_time").replace("range", "_period")
        if (parser := getattr(self._parsers, f"{name}_parser", None)) is not None:
            with suppress(_UnreadableDateError):
                value = _ask(parser.parse, extracted, reference).value
        if not value and extracted.type == "date":
            value = _ask(self._parsers.holiday_parser.parse, extracted, reference).value
        return value if value and isinstance(value.timex, str) else None


@once
def _recognizer(culture: str) -> _Recognizer:
    return _Recognizer(culture)


class _UnreadableDateError(Exception):
    """The library finds words but cannot read them."""


def _ask(call: Any, *given: Any) -> Any:
    """What a call of the library returns.

    Raises:
        _UnreadableDateError: it returned nothing, or failed.
    """
    try:
        answer = call(*given)
    except _LIBRARY_ERRORS as error:
        raise _UnreadableDateError from error
    if answer is None:
        raise _UnreadableDateError
    return answer


def _has_days(value: Any) -> bool:
    """Whether one side of an answer is a moment, or the two of a range."""
    values = value if isinstance(value, (list, tuple)) else [value, value]
    return len(values) == 2 and all(isinstance(moment, datetime) for moment in values)


def _days(kind: str, timex: str, value: Any) -> _Days:
    """First and last day of one of the library's answers, whose ranges of dates end with the day after."""
    first, last = [one.date() for one in ([value, value] if isinstance(value, datetime) else value)]
    if re.fullmatch(r"\(\d{4}-01-01,\d{4}-01-01,P\d+Y\)", timex):
        return first, _whole(last, "year")[1]
    inclusive = kind != "daterange" or (timex.startswith("(") and timex.endswith("D)"))
    return first, last if inclusive else last - timedelta(days=1)


def _meant(past: _Days, future: _Days, today: date, timex: str, prefer: Prefer) -> _Days:
    """Of the last and the next day that words may mean, the one that they do mean."""
    if prefer == "past" or past == future:
        return future if future[0] <= today else past
    if timex.startswith("XXXX-W") and future[0] == today:  # "on Tuesday", written on a Tuesday
        return today + timedelta(days=7), today + timedelta(days=7)
    if prefer == "future" or re.match(r"\(?XXXX-[WX]", timex):
        return future
    return min(past, future, key=lambda side: abs((side[0] - today).days))


def _whole(day: date, exact: Precision) -> _Days:
    """The day, or the week, month or year in which it lies."""
    starts = {"week": day - timedelta(days=day.weekday()), "month": day.replace(day=1), "year": date(day.year, 1, 1)}
    return (first := starts.get(exact, day)), _after(first, 1, exact) - timedelta(days=1)


def _after(day: date, count: int, unit: str) -> date:
    shift: dict[str, Any] = {f"{unit}s": count}
    moved: date = day + relativedelta(**shift)
    return moved
