"""English dates made of dates: "a week ago yesterday", "Friday next week", "12 June last year", "the day after Easter"."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from hexamem.intent.dates.composing import LEAVE, SIGN, Composed, Composition, with_year
from hexamem.intent.dates.holidays import ENGLISH_HOLIDAYS
from hexamem.intent.dates.numbers_english import COUNT, number
from hexamem.intent.dates.spans import Anchor, DateSpan, month_span, one_day, shift, week_start
from hexamem.intent.dates.words_english import FULL_WEEKDAY, MONTH, month_number, weekday_number

__all__ = ["COMPOSED_ENGLISH"]

_Dated = Callable[[str], DateSpan]
_WEEKDAY = re.compile(rf"(?:on\s)?{FULL_WEEKDAY}(?:\s(?:morning|afternoon|evening|night))?", re.IGNORECASE)
_AGO = re.compile(rf"(?P<count>{COUNT})\s(?P<unit>day|week|fortnight|month|year)s?\sago", re.IGNORECASE)
_THAT_DAY = re.compile(r"(?:on\s)?(?:the\s)?\d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE)
_NEAR = re.compile(r"today|tonight|yesterday|tomorrow", re.IGNORECASE)
_HOLIDAY = re.compile("|".join((*ENGLISH_HOLIDAYS, "easter")), re.IGNORECASE)
_LASTING = re.compile(
    r"(?:\bfor|\bevery|\blast|\bpast|\bnext|\bof|\bspend(?:ing)?|\bspent|\bthe first)\s$", re.IGNORECASE
)
_RATE = re.compile(
    r"(?:[€$£¥]\s?\d[\d.,]*|\d\s?\w+|\b(?:times|once|twice|hours|\w+ly|euros|dollars|pounds))\s$", re.IGNORECASE
)
_SINCE = re.compile(r"\b(?:been|since|was|were|for|married|together)\b|['’]s\s$", re.IGNORECASE)


def _is_weekday(span: DateSpan) -> bool:
    return _WEEKDAY.fullmatch(span.text) is not None


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 30) : match.start()]


def _moved(day: date, count: float, unit: str) -> date:
    return shift(day, 2 * count if unit == "fortnight" else count, "week" if unit == "fortnight" else unit)


def _from(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "Three days from Friday", "the week after Easter", "a year before 1 May 2020"."""
    span, unit, count = dated("date"), match["unit"].lower(), (match["count"] or "a").lower()
    if not match["count"] and match["many"]:
        return None
    if count == "a" and _RATE.search(_before(match)):  # "20 euros a month from today"
        return LEAVE
    if span.precision != "day" or _LASTING.search(_before(match)):
        return LEAVE if match["way"].lower() == "from" or span.precision != "day" else None
    sign = -1 if match["way"].lower() == "before" else 1
    if count == "the":
        if unit == "day":
            return one_day((span.last_day if sign > 0 else span.day) + timedelta(days=sign), span.told)
        if unit == "week":
            start = week_start(span.day) + timedelta(days=7 * sign)
            return start, start + timedelta(days=6), "week", span.told
        return None
    edge = span.last_day if sign > 0 else span.day
    if _yearly(span) and not span.told:  # its year is that in which the moved day is the one that is meant
        days = round(number(count) * {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}[unit]) * sign
        edge = _near(span, anchor, timedelta(days=days))
    return one_day(_moved(edge, sign * number(count), unit), span.told)


def _yearly(span: DateSpan) -> bool:
    return not span.told and not _is_weekday(span) and _THAT_DAY.fullmatch(span.text) is None


def _near(span: DateSpan, anchor: Anchor, moved: timedelta) -> date:
    """The day of the year whose moved day lies on the side that is wanted; Easter stays as it was read."""
    if re.search(r"easter|good friday|ash|palm", span.text, re.IGNORECASE):
        return span.day
    days: list[date] = []
    for step in (-1, 0, 1):
        try:
            days.append(span.day.replace(year=anchor.today.year + step))
        except ValueError:  # 29 February
            continue
    if anchor.prefer == "past":
        return max([day for day in days if day + moved <= anchor.today] or days[:1])
    if anchor.prefer == "future":
        return min([day for day in days if day + moved >= anchor.today] or days[-1:])
    return min(days, key=lambda day: abs((day + moved - anchor.today).days))


def _vague(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    return None


def _weekday_beside(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "The Friday after 20 June", "the Tuesday before Easter"."""
    span = dated("date")
    if span.precision != "day":
        return None
    if "weekday" in match.groupdict() and match["weekday"]:
        weekday = weekday_number(match["weekday"])
    elif _is_weekday(dated("named")):
        weekday = dated("named").day.weekday()
    else:
        return LEAVE
    if match["way"].lower() == "before":
        return one_day(span.day - timedelta(days=(span.day.weekday() - weekday - 1) % 7 + 1), span.told)
    return one_day(span.last_day + timedelta(days=(weekday - span.last_day.weekday() - 1) % 7 + 1), span.told)


def _later(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "Two weeks on Saturday", "a fortnight tomorrow"; not "two weeks today" of what has lasted so long."""
    span, unit = dated("date"), match["unit"].lower()
    near = _NEAR.fullmatch(span.text)
    if _RATE.search(_before(match)):
        return LEAVE
    if re.match(r"(?:last|past)\s", span.text, re.IGNORECASE):
        return None
    if unit == "year":
        return LEAVE
    wanted = _is_weekday(span) if match["on"] else near is not None and span.text.lower() != "yesterday"
    if not wanted or _LASTING.search(_before(match)) or _SINCE.search(_before(match)):
        return LEAVE
    day = span.day if span.day > anchor.today or near else span.day + timedelta(days=7)
    return one_day(_moved(day, number(match["count"]), unit))


def _week_after(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "Tomorrow week", "Friday fortnight", "yesterday week"; none of "last Tuesday week", which is read both ways."""
    span = dated("date")
    words = span.text.lower()
    if words in ("today", "tomorrow", "yesterday") or _is_weekday(span):
        days = 14 if match["unit"].lower() == "fortnight" else 7
        return one_day(span.day + timedelta(days=-days if words == "yesterday" else days))
    return None if re.match(r"(?:last|next|past|this|coming)\s", words) and span.precision == "day" else LEAVE


def _week_of(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    span = dated("date")
    if span.precision != "day":
        return LEAVE
    if (match["unit"] or "").lower() == "weekend":
        start = week_start(span.day) + timedelta(days=5)
        return (start, start + timedelta(days=1), "day", span.told) if span.day.weekday() >= 4 else None
    start = week_start(span.day)
    return start, start + timedelta(days=6), "week", span.told


def _month_of(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "June of last year", "May next year"."""
    year = dated("date")
    if year.precision != "year" or not year.told:
        return LEAVE
    return *month_span(year.day.year, month_number(match["month"])), "month", True


def _day_after_it(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "Not tomorrow but the day after"."""
    return one_day(dated("date").day + timedelta(days=1 if match["way"].lower() == "after" else -1))


def _range(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """ "From Monday to Wednesday", and none of "Monday to Friday", which may be every week."""
    first, last = dated("one"), dated("two")
    if not (_is_weekday(first) and _is_weekday(last)):
        return LEAVE
    days = (last.day.weekday() - first.day.weekday()) % 7
    if not match["from"] or days >= 4:
        return None
    return first.day, first.day + timedelta(days=days), "day", False


def _beside(match: re.Match[str], dated: _Dated, anchor: Anchor) -> Composed:
    """Two dates side by side that are one: the day of a week, the week or the month of a year, a day so long ago."""
    one, two, joint = dated("one"), dated("two"), match["joint"].lower()
    for week, day in ((two, one), (one, two)):
        if week.precision == "week" and _is_weekday(day) and "," not in joint:
            return one_day(week.day + timedelta(days=day.day.weekday()))
        open_year = not day.told or (day.precision == "day" and _HOLIDAY.fullmatch(day.text))
        if week.precision == "year" and week.told and open_year and _yearly(day):
            return with_year(day, week.day.year)
    ago = _AGO.fullmatch(one.text)
    if ago is not None:
        return _ago(ago, two, joint, anchor)
    if _is_weekday(one) and not joint.strip(" ,") and _THAT_DAY.fullmatch(two.text):
        return _weekday_and_day(one.day.weekday(), two.day.day, anchor)
    return LEAVE


def _ago(ago: re.Match[str], span: DateSpan, joint: str, anchor: Anchor) -> Composed:
    """ "A week ago yesterday", "two years ago today", "three years ago in May", "two weeks ago on Friday"."""
    count, unit = number(ago["count"]), ago["unit"].lower()
    if _NEAR.fullmatch(span.text):
        return one_day(_moved(span.day, -count, unit))
    if unit == "year" and (_yearly(span) or span.text.lower() == "this month"):
        return with_year(span, anchor.today.year - round(count))
    if _is_weekday(span):
        if unit != "week" or "on" not in (joint + span.text).lower().split():
            return None
        day = week_start(_moved(anchor.today, -count, unit)) + timedelta(days=span.day.weekday())
        return one_day(day)
    return LEAVE


def _weekday_and_day(weekday: int, number_of_day: int, anchor: Anchor) -> Composed:
    """ "Friday the 13th": in the nearest month on that side, of six, in which it is."""
    sides = {"past": (-1,), "future": (1,), "near": (1, -1)}[anchor.prefer]
    found: list[date] = []
    for side in sides:
        for step in range(200):
            day = anchor.today + timedelta(days=side * step)
            if day.day == number_of_day and day.weekday() == weekday:
                found.append(day)
                break
    return one_day(min(found, key=lambda day: abs((day - anchor.today).days)), False) if found else None


_FORMS: tuple[tuple[tuple[str, ...], str, Callable[[re.Match[str], _Dated, Anchor], Composed]], ...] = (
    (
        (),
        rf"(?P<one>{SIGN})(?P<joint>(?:,|,?\s(?:of|in|on|at|from))?\s(?:the\s)?)(?P<two>{SIGN})",
        _beside,
    ),
    (
        (" from ", " after ", " before "),
        r"\b(?:(?:a\s)?few|several|some|many|\d+|(?:a|some)\s(?:little|short)|(?:a\s)?couple(?:\sof)?)\s(?:\w+\s)?"
        rf"(?:days|weeks|months|years|nights|hours?|minutes?|time|while)\s(?:from|after|before)\s(?P<date>{SIGN})"
        rf"|\b(?:working|business|school)\sdays?\s(?:from|after|before)\s{SIGN}",
        _vague,
    ),
    (
        (" from ", " after ", " before "),
        rf"\b(?:(?P<count>{COUNT}|the)\s)?(?P<unit>day|week|fortnight|month|year)(?P<many>s?)\s(?P<way>from|after|before)\s(?P<date>{SIGN})",
        _from,
    ),
    (
        (" before ", " after ", " following "),
        rf"\bthe\s(?P<weekday>{FULL_WEEKDAY})\s(?P<way>before|after|following)\s(?P<date>{SIGN})",
        _weekday_beside,
    ),
    ((" before ", " after "), rf"(?P<named>{SIGN})\s(?P<way>before|after)\s(?P<date>{SIGN})", _weekday_beside),
    (
        ("week", "fortnight", "month", "year"),
        rf"\b(?P<count>{COUNT})\s(?P<unit>week|fortnight|month|year)s?\s(?P<on>on\s)?(?P<date>{SIGN})",
        _later,
    ),
    (
        ("week", "fortnight"),
        rf"(?P<date>{SIGN})\s(?P<unit>week|fortnight)\b(?!\s(?:one|two|three|\d))",
        _week_after,
    ),
    (("year",), rf"\b(?P<month>{MONTH})\s(?:of\s)?(?P<date>{SIGN})", _month_of),
    ((" but the day ",), rf"\bnot\s(?P<date>{SIGN}),?\sbut\sthe\sday\s(?P<way>after|before)\b", _day_after_it),
    (
        ("week", "w/c"),
        rf"\b(?:(?:the\s)?(?P<unit>week|weekend)\s(?:of|commencing|beginning|starting)|w/c)\s(?P<date>{SIGN})",
        _week_of,
    ),
    (
        (" to ", "until", "till", "through", "-", "–"),
        rf"(?P<from>\bfrom\s)?(?P<one>{SIGN})(?:\s(?:to|until|till|through)\s|\s?[-–]\s?)(?P<two>{SIGN})",
        _range,
    ),
)
COMPOSED_ENGLISH: tuple[Composition, ...] = tuple(
    (needed, re.compile(form, re.IGNORECASE), reader) for needed, form, reader in _FORMS
)
"""For :func:`~.composing.compose`, in the order in which they are tried."""
