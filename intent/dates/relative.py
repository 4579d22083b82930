"""Dates in words → days in the user's calendar: "last Saturday", "two weeks from tomorrow", "20 to 24 June", 上周六, 月底.

Everything counts from when it was said, in the user's timezone: "yesterday" at 01:20 in Shanghai is another day than in
UTC. Recurrences ("on Fridays", 每周三) are no dates. Nothing is guessed from digits alone ("03/04").

Libraries were tried. dateparser 1.2 reads no 上周六 or 下个月三号, no "Friday next week" or "the first Monday of May", takes
"may" for a month, and gives "tomorrow at 7" the hour of the anchor. parsedatetime 2.6 reads no Chinese and guesses: "the
first Monday of May" is its first day, "three days before Christmas" is three days ago. So the words are read here for two
languages, and dateutil does the months and Easter. What may be read in two ways is no date.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, tzinfo

from hexamem.intent.dates.composed_chinese import COMPOSED_CHINESE
from hexamem.intent.dates.composed_english import COMPOSED_ENGLISH
from hexamem.intent.dates.composing import compose
from hexamem.intent.dates.further_chinese import FURTHER_CHINESE
from hexamem.intent.dates.further_english import FURTHER_ENGLISH
from hexamem.intent.dates.hours import Hour
from hexamem.intent.dates.hours_chinese import chinese_hour
from hexamem.intent.dates.hours_english import english_hour
from hexamem.intent.dates.month_parts import PARTS_CHINESE, PARTS_ENGLISH
from hexamem.intent.dates.spans import Anchor, DateSpan, Form, Prefer
from hexamem.intent.dates.words_chinese import CHINESE_FORMS, simplified
from hexamem.intent.dates.words_english import ENGLISH_FORMS

__all__ = ["DateSpan", "Prefer", "find_dates", "resolve_date"]

_LONGEST = 20_000  # characters that are read
_MOST = 64  # dates of one text
_AROUND = 45  # characters before or after a date in which its time of day may stand
_BESIDE = 60  # characters before a date that tell of which half of the day its hour is
_JOINT = re.compile(r"[,，;；]|\s(?:and|but|then)\s", re.IGNORECASE)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_BREAK = re.compile(r"[.!?;\n。！？；]")
# Python's patterns take these for s, i and k where case does not count; readers look words up by the letters themselves.
_PLAIN_LETTERS = str.maketrans("ſıİK", "siIK")


def find_dates(text: str, said_at: datetime, zone: tzinfo, *, prefer: Prefer = "near") -> tuple[DateSpan, ...]:
    """All dates in a text, in order, none overlapping.

    Args:
        text: English, Chinese or both; of a longer one the first 20,000 characters.
        said_at: when it was said, aware.
        zone: the user's timezone.
        prefer: how an open date is read ("Monday", "1 March", "the 14th"): of a report, a plan, or the nearest. Alone,
            a weekday is the next one unless the text is a report.

    Returns:
        The dates with their time of day where one stands beside them. Impossible ones (31 June) are left out.
    """
    text = text[:_LONGEST]
    anchor = Anchor(today=_day_in(said_at, zone), prefer=prefer)
    found: list[DateSpan] = []
    taken: list[tuple[int, int]] = []
    plain = text if text.isascii() else text.translate(_PLAIN_LETTERS)
    _read(text, plain, FURTHER_ENGLISH + PARTS_ENGLISH + ENGLISH_FORMS, anchor, found, taken)
    han = _HAN.search(text) is not None
    if han:
        plain = simplified(plain)
        _read(text, plain, FURTHER_CHINESE + PARTS_CHINESE + CHINESE_FORMS, anchor, found, taken)
    found.sort(key=lambda span: span.start)
    found = compose(text, plain, found, anchor, COMPOSED_ENGLISH)
    if han:
        found = compose(text, plain, found, anchor, COMPOSED_CHINESE)
    return tuple(_with_clock(plain, span, found) for span in found[:_MOST])


def resolve_date(text: str, said_at: datetime, zone: tzinfo, *, prefer: Prefer = "near") -> DateSpan | None:
    """The first date in a text, or None; arguments as for :func:`find_dates`."""
    found = find_dates(text, said_at, zone, prefer=prefer)
    return found[0] if found else None


def _day_in(moment: datetime, zone: tzinfo) -> date:
    try:
        return moment.astimezone(zone).date()
    except OverflowError:  # on the first and the last day that there are
        return moment.date()


def _read(
    text: str,
    plain: str,
    forms: tuple[Form, ...],
    anchor: Anchor,
    found: list[DateSpan],
    taken: list[tuple[int, int]],
) -> None:
    lowered = plain.lower()
    for needed, form, reader in forms:
        if not any(word in lowered for word in needed):
            continue
        for count, match in enumerate(form.finditer(plain)):
            if count > _MOST:
                break
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            try:
                read = reader(match, anchor)
            except (ValueError, OverflowError):  # a day that does not exist
                continue
            taken.append(match.span())
            if read is None:
                continue
            first, last, precision, told = read
            found.append(
                DateSpan(
                    start=match.start(), end=match.end(), text=text[match.start() : match.end()], day=first,
                    last_day=last, precision=precision, told=told,
                )
            )  # fmt: skip


def _with_clock(plain: str, span: DateSpan, spans: list[DateSpan]) -> DateSpan:
    """The span with its time of day, looked for after it, then before it, up to the next date or sentence."""
    if span.precision != "day" or span.day != span.last_day:
        return span
    after_end = min([other.start for other in spans if other.start >= span.end] + [span.end + _AROUND])
    after = _of_sentence(plain[span.end : after_end])[0]
    before_start = max([other.end for other in spans if other.end <= span.start] + [span.start - _AROUND, 0])
    before = _of_sentence(plain[before_start : span.start])[-1]
    inside = span.text[-2:] if span.text.endswith(("早", "晚")) else ""
    lead = _of_sentence(plain[max(0, span.start - _BESIDE) : span.start])[-1]
    joint = _JOINT.search(before) if before_start > span.start - len(lead) else None
    lead = before[joint.end() :] if joint else lead  # what is told of another date tells nothing of this one
    for part, beside in ((inside + after, ""), (before, after)):
        hour = _hour(part, f"{lead}{plain[span.start : span.end]} {beside}")
        if hour:
            return replace(span, clock=hour.clock, hour=None if hour.sure else hour)
    return span


def _of_sentence(text: str) -> list[str]:
    """The text cut where sentences end, not within numbers."""
    return _BREAK.split(re.sub(r"(?<=\d)[.](?=\d)", ":", text))


def _hour(part: str, around: str) -> Hour | None:
    """The first time of day in a part of a text, in the language in which it is told."""
    english = english_hour(part, around)
    if not _HAN.search(part + around) or (english is not None and english.sure):
        return english
    return chinese_hour(part, around) or english
