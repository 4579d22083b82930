"""Parts of months: "at the end of June", "mid May", "early next month", 五月底, 下个月初, 本月中旬.

The end of a month is its last day. Its beginning, middle and late days stay a month, of which first and last day are told.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.spans import Anchor, Form, Read, month_meant, month_span, one_day
from hexamem.intent.dates.words_chinese import YEARS, chinese_number, chinese_year, steps_away
from hexamem.intent.dates.words_english import MONTH, month_number

__all__ = ["PARTS_CHINESE", "PARTS_ENGLISH", "part_of_month"]

_PARTS = {"early": (1, 10), "mid": (11, 20), "late": (21, 31), "first half": (1, 15), "second half": (16, 31)}
_ENGLISH_PARTS = {
    **dict.fromkeys(("early", "beginning", "start"), "early"),
    **dict.fromkeys(("mid", "middle"), "mid"),
    **dict.fromkeys(("late", "later"), "late"),
    **dict.fromkeys(("first half", "1st half"), "first half"),
    **dict.fromkeys(("second half", "2nd half", "latter half"), "second half"),
}
_CHINESE_PARTS = {
    **dict.fromkeys(("初", "上旬"), "early"),
    **dict.fromkeys(("中", "中旬"), "mid"),
    "下旬": "late",
    "上半月": "first half",
    "下半月": "second half",
}
_PART_WORDS = re.compile(
    r"\b(?:(?P<english>early|mid|middle|late|later|beginning|start|(?:first|1st|second|2nd|latter)\shalf)\b)"
    r"|(?P<chinese>初|上旬|中旬|下旬|[上下]半月|中(?=$))",
    re.IGNORECASE,
)


def part_of_month(words: str) -> str:
    """The part of a month that words name, as it is put beside a month: ``mid `` of "in mid May", ``初`` of 五月初; or nothing."""
    found = _PART_WORDS.search(words)
    if found is None:
        return ""
    if found["chinese"]:
        return found["chinese"]
    if found["english"].lower() == "later":
        return ""
    part = _ENGLISH_PARTS[re.sub(r"\s+", " ", found["english"].lower())]
    return f"the {part} of " if part.endswith("half") else f"{part} "


def _within(start: date, end: date, part: str, *, told: bool) -> Read:
    """A part of the month from ``start`` to ``end``."""
    if part == "end":
        return one_day(end, told)
    first, last = _PARTS[part]
    return start.replace(day=first), start.replace(day=min(last, end.day)), "month", told


def _part(anchor: Anchor, month: int, year: int | None, part: str) -> Read:
    if year is not None:
        return _within(*month_span(year, month), part, told=True)
    first, last = (28, 31) if part == "end" else _PARTS[part]
    start, end = month_meant(anchor, month, first, last)
    return one_day(end, False) if part == "end" else (start, end, "month", False)


def _english_part(match: re.Match[str], anchor: Anchor) -> Read:
    named = next(match[group] for group in ("part", "edge") if match[group])
    named = re.sub(r"\s+", " ", named.lower())
    part = "end" if named == "end" else _ENGLISH_PARTS[named]
    if match["which"] or match["the"]:
        step = {"next": 1, "last": -1}.get((match["which"] or "").lower(), 0)
        moved = anchor.today + relativedelta(months=step)
        return _within(*month_span(moved.year, moved.month), part, told=True)
    return _part(anchor, month_number(match["month"]), int(match["year"]) if match["year"] else None, part)


def _later_in(match: re.Match[str], anchor: Anchor) -> Read:
    """ "Later in May", "later this month": what is left of it."""
    read = _english_part(match, anchor)
    if read is None or (read[0].year, read[0].month) != (anchor.today.year, anchor.today.month):
        return read
    return min(anchor.today + timedelta(days=1), read[1]), read[1], "month", read[3]


def _chinese_part(match: re.Match[str], anchor: Anchor) -> Read:
    part = "end" if match["part"] in ("底", "末") else _CHINESE_PARTS[match["part"]]
    if match["month"]:
        year = chinese_year(match["year"], anchor.today) if match["year"] else None
        return _part(anchor, int(chinese_number(match["month"])), year, part)
    moved = anchor.today + relativedelta(months=steps_away(match["which"] or "本"))
    return _within(*month_span(moved.year, moved.month), part, told=True)


_YEAR = r"(?:,?\s(?P<year>(?:19|20)\d\d)(?!\d)|(?!,?\s\d{4}\b))"  # a year that no reckoning covers makes no date
_EDGE = r"(?P<edge>end|beginning|start|middle|(?:first|1st|second|2nd|latter)\shalf)"
_OF = rf"(?:(?P<month>{MONTH}){_YEAR}|(?P<which>next|this|last)\smonth\b|(?P<the>the)\smonth\b(?!['’]))"
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ANY_MONTH = (*_NAMES, "month")
_HALF = r"(?P<part>early|mid|late)"
_MONTH_ZH = rf"(?:{YEARS} ?的?)?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?月份?"
PARTS_ENGLISH: tuple[Form, ...] = tuple(
    (needed, re.compile(form, re.IGNORECASE), reader)
    for needed, form, reader in (
        (
            (" of ",),
            rf"\b(?:(?:at|in|towards?|around)\s)?(?:the\s)?(?:very\s)?{_EDGE}(?P<part>)\sof\s{_OF}(?!\s?\d)",
            _english_part,
        ),
        (
            _ANY_MONTH,
            rf"\b(?:in\s)?{_HALF}(?P<edge>)(?:\s(?:on\s)?(?:in\s)?|-)(?P<the>(?!))?"
            rf"(?:(?P<month>{MONTH}){_YEAR}|(?P<which>next|this|last)\smonth\b)(?!\s?\d)",
            _english_part,
        ),
        (
            ("later ",),
            rf"\b(?P<part>later)(?P<edge>)(?P<the>(?!))?\s(?:on\s)?(?:in\s)?(?:(?P<month>{MONTH}){_YEAR}|(?P<which>this)\smonth\b)",
            _later_in,
        ),
    )
)
"""Tried before the forms of ``words_english``."""
PARTS_CHINESE: tuple[Form, ...] = tuple(
    (needed, re.compile(form), reader)
    for needed, form, reader in (
        (
            ("月",),
            rf"(?:{_MONTH_ZH}|(?P<which>上上个?|下下个?|上个?|下个?|这个?|本)月)的?(?P<part>底|末(?!尾)|初(?![一二三四五六七八九十恋])"
            r"|[上中下]旬|[上下]半月|中(?=$|[\s，。！？,.!?我你他她它去到来搬要会开有回]))",
            _chinese_part,
        ),
        (
            ("月初", "月中", "上旬", "中旬", "下旬", "半月"),
            r"(?<![一二三四五六七八九十\d正腊闰个上下这本每月])(?P<month>(?!))?(?P<year>(?!))?(?P<which>(?!))?月?"
            r"(?P<part>(?<=月)初(?![一二三四五六七八九十])|(?<=月)中(?=$|[\s，。！？,.!?我你他她去到来搬要会开])|[上中下]旬|(?<![\d一二三四五六七八九十个])[上下]半月)",
            _chinese_part,
        ),
    )
)
"""Tried before the forms of ``words_chinese``. For simplified text."""
