"""Stays with their dates as a text tells them: "Mexico City from Thursday 5 to Saturday 7 March", "10月1日到4日去厦门"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from ... import lazy_re as re
from .named import place_name
from .numbers import MONTHS, WEEKDAYS, Goal, day_of_year, month_of
from .places_chinese import chinese_place
from .text import STOP, Words, same_length_lower

__all__ = ["COMES", "LEAVES", "Stay", "day_name", "month_day", "read_stays", "weekday_of"]

_WD = "mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun"
_MON = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_STEM = {name[:3]: n for n, name in enumerate(WEEKDAYS)}
_MONTH = {name[:3]: n for n, name in enumerate(MONTHS, 1)}


def _moment(x: str) -> str:
    return (
        rf"(?:(?P<w{x}>(?:{_WD})(?:day)?)\b[ ,]*)?(?:the )?(?:(?P<n{x}>{_MON})[a-z]{{0,6}}\.? )?(?:the )?"
        rf"(?:(?P<d{x}>\d{{1,2}})(?P<s{x}>st|nd|rd|th)?\b(?!\d*(?:[:%.]\d|%| ?[ap]m)))?"
        rf"(?:(?: of)? ?\b(?P<m{x}>{_MON})(?:[a-z]{{1,6}})?\b)?"
    )


_RANGE = re.compile(
    rf"\b(?=(?:{_WD})|the \d|\d|(?:{_MON}))"
    + _moment("a")
    + r"(?: (?:to|until|till|til|through|and|thru) (?:on )?| ?[-–—] ?)"
    + _moment("b")
)
_LISTED = re.compile(
    r"\b(?P<first>\d{1,2})(?:st|nd|rd|th)(?:, ?(?:the )?\d{1,2}(?:st|nd|rd|th))*(?:,? ?(?:and|&) (?:the )?|, ?(?:the )?)"
    r"(?P<last>\d{1,2})(?:st|nd|rd|th)\b"
)
LEAVES = re.compile(
    r"\b(?:leav(?:e|ing)|fly(?:ing)? (?:out|home|back)|flight (?:out|home|back)|go(?:ing)? (?:home|back)|depart(?:ing)?|"
    r"return(?:ing)?|head(?:ing)? (?:home|back|out)|check(?:ing)? out)\b[^.?!]{0,24}$"
)
COMES = re.compile(
    r"\b(?:arriv\w+|land(?:ing)?|get(?:ting)? (?:in|there)|fly(?:ing)? in|check(?:ing)? in|from|starting|start|begin\w*|"
    r"(?:going|go|off|travel(?:l?ing)?|head(?:ing)?|fly(?:ing)?|driv(?:e|ing)) to)\b"
    r"[^.?!]{0,24}$"
)
_CN_RANGE = re.compile(
    r"(?:(?P<m>\d{1,2})月)?(?P<d>\d{1,2})[日号]?(?:[（(]?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])[)）]?)?"
    r"(?:出发|抵达|到达)?[，,]?(?:到|至|和|、|-|—|–|~|～)(?:(?P<m2>\d{1,2})月)?(?P<d2>\d{1,2})[日号]"
    r"|(?:周|星期|礼拜)(?P<v>[一二三四五六日天])(?:到|至|-|—|–|~|～)(?:下?(?:周|星期|礼拜))(?P<v2>[一二三四五六日天])"
)
_PLACE = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]{2,}(?:[ ](?:(?:de|del|da|do|la|le|di|el)[ ])?[A-ZÀ-ÖØ-Þ][\w'’-]{2,}){0,2}")
_LOWER_PLACE = re.compile(
    r"\b(?:planning|trip to|going to|go to|visit(?:ing)?|off to|heading (?:off )?to|days in|nights in|weekend in|week in|"
    r"holiday in|time in|travel(?:l?ing)? to|fly(?:ing)? to|itinerary for|plan for|trip in|plan)\s+(?P<p>[a-z]{3,}(?: city)?)"
)
_LOWER_CALLED = re.compile(r"\b(?P<p>[a-z]{4,}) (?:road ?trip|trip|getaway|city break|holiday)\b")
_NO_PLACE_TEXT = """
trip holiday vacation weekend itinerary travel visit stay something honeymoon birthday anniversary break getaway days ahead
parents kids family friends city town road business field school short long weekend next last
summer winter spring autumn travels arriving leaving landing staying flying departing returning arrival departure starting
"""
_NO_PLACE = frozenset(_NO_PLACE_TEXT.split()) | frozenset(MONTHS) | frozenset(WEEKDAYS)
_CALLED = re.compile(r"\b(?P<p>[A-ZÀ-Þ][\w'’-]{2,}) (?:(?:long )?weekend|trip|holiday|city break|getaway|break)\b")
_LONGEST = 31
_LISTED_MOST = 8  # days of a stay that are listed one by one
_BESIDE = re.compile(r"^[\s,:(–—-]*(?:from|on|for|between)?\s*$")
_GOES_TO = re.compile(r"\b(?:in|to|for|visit|visiting|planning|of|at|booked|doing)$")


@dataclass(slots=True)
class Stay:
    """A stay with its dates, as far as they are told.

    Attributes:
        place: the town as it is written; empty where none is said.
        start: where in the text its dates stand, up to ``end``.
        day_one: day of the year (of 365) of its first day, ``-day of the month`` where no month is said, or 0.
        weekday_one: weekday of its first day, Monday 0; -1 if it is not said.
        length: its days, both ends counted; 0 if it is not said.
    """

    place: str
    start: int
    day_one: int = 0
    weekday_one: int = -1
    length: int = 0
    end: int = 0


def month_day(day: int) -> tuple[int, int]:
    """Month and day of the month of a day of a year of 365 days, counted from 1."""
    day = (day - 1) % 365 + 1
    month = month_of(day)
    return month, day - day_of_year(month, 1) + 1


def _real(day: int, at: datetime) -> date:
    month, dom = month_day(day)
    found = date(at.year, month, dom)
    return found if (found - at.date()).days > -120 else date(at.year + 1, month, dom)


def weekday_of(day: int, at: datetime) -> int:
    """The weekday (Monday 0) of the next such day of the year, as seen from ``at``, or of one just past."""
    return _real(day, at).weekday()


def day_name(day_one: int, weekday_one: int, number: int) -> str:
    """What a trip's numbered day is called by weekday and date ("Saturday 15 November"); empty where neither is known."""
    parts = []
    if weekday_one >= 0:
        parts.append(WEEKDAYS[(weekday_one + number - 1) % 7].capitalize())
    if day_one > 0:
        month, dom = month_day(day_one + number - 1)
        parts.append(f"{dom} {MONTHS[month - 1].capitalize()}")
    return " ".join(parts)


def _span(first: int, last: int) -> int:
    return (last - first) % 365 + 1


def _ranges(words: Words) -> list[Stay]:
    found: list[Stay] = []
    lower, at = words.lower, 0
    while (match := _RANGE.search(lower, at)) is not None and len(found) < 8:
        at = match.start() + 1
        month_a, month_b = match["na"] or match["ma"], match["nb"] or match["mb"]
        weekdays = [_STEM[match[name][:3]] if match[name] else -1 for name in ("wa", "wb")]
        stay = Stay("", match.start(), weekday_one=weekdays[0])
        if match["da"] and match["db"]:
            day, last = int(match["da"]), int(match["db"])
            said = month_a or month_b or (match["sa"] and match["sb"]) or min(weekdays) >= 0
            if not said or not 1 <= day <= 31 or not 1 <= last <= 31:
                continue
            month = _MONTH[(month_a or month_b)] if month_a or month_b else 0
            if month:
                end = _MONTH[(month_b or month_a)]
                stay.day_one = day_of_year(month, day)
                stay.length = _span(stay.day_one, day_of_year(end, last))
            else:
                stay.day_one, stay.length = -day, last - day + 1 if last >= day else last + 31 - day
        elif min(weekdays) >= 0 and not match["da"] and not match["db"]:
            stay.length = (weekdays[1] - weekdays[0]) % 7 + 1
        else:
            continue
        if 1 < stay.length <= _LONGEST:
            stay.end = at = match.end()
            found.append(stay)
    for match in _LISTED.finditer(lower):  # "(4th, 5th, 6th)", "on the 7th and 8th"
        first, last = int(match["first"]), int(match["last"])
        told = any(stay.start < match.end() and match.start() < stay.end for stay in found)
        if not told and 1 <= first < last <= 31 and last - first < _LISTED_MOST:
            found.append(Stay("", match.start(), -first, length=last - first + 1, end=match.end()))
    found.sort(key=lambda stay: stay.start)
    if words.has_cjk:
        for match in _CN_RANGE.finditer(words.text):
            if match["d"]:
                day, last = int(match["d"]), int(match["d2"])
                if not (1 <= day <= 31 and 1 <= last <= 31) or (match["m"] and not 1 <= int(match["m"]) <= 12):
                    continue
                stay = Stay("", match.start())
                if match["m"]:
                    end = int(match["m2"] or match["m"])
                    stay.day_one = day_of_year(int(match["m"]), day)
                    stay.length = _span(stay.day_one, day_of_year(min(12, max(1, end)), last))
                else:
                    stay.day_one, stay.length = -day, last - day + 1 if last >= day else last + 31 - day
                if match["w"]:
                    stay.weekday_one = min(6, "一二三四五六日天".index(match["w"]))
            else:
                first, second = ("一二三四五六日天".index(match[name]) for name in ("v", "v2"))
                stay = Stay("", match.start(), weekday_one=min(6, first))
                stay.length = (min(6, second) - min(6, first)) % 7 + 1
            if 1 < stay.length <= _LONGEST:
                stay.end = match.end()
                found.append(stay)
    return found


def _arrival(words: Words, goals: Sequence[Goal]) -> list[Stay]:
    """A stay told by when it begins, and perhaps when it ends ("we arrive thursday nov 13 …, fly out sunday the 16th")."""
    stay: Stay | None = None
    for goal in goals:
        if not goal.dated or not isinstance(goal.number, int):
            continue
        before = words.lower[max(0, goal.start - 44) : goal.start]
        weekday = -1
        said = words.lower[goal.start : goal.end]
        if goal.kind == "weekday":
            weekday = goal.number
        elif said[:3] in _STEM:
            weekday = _STEM[said[:3]]
        number = goal.number if goal.kind == "date" else 0
        if goal.chinese:
            after = words.text[goal.end : goal.end + 8]
            comes = re.match(r"[^，。；]{0,5}?(?:到|抵达|出发|落地|入住|飞)", after) is not None
            leaves = re.match(r"[^，。；]{0,5}?(?:走|离开|回|返)", after) is not None
        else:
            comes, leaves = COMES.search(before) is not None, LEAVES.search(before) is not None
        if stay is None:
            if comes and not leaves:
                stay = Stay("", goal.start, number, weekday)
        elif leaves and not stay.length:
            if number > 0 and stay.day_one > 0:
                stay.length = _span(stay.day_one, number)
            elif number < 0 and stay.day_one:
                first = month_day(stay.day_one)[1] if stay.day_one > 0 else -stay.day_one
                stay.length = -number - first + 1 if -number >= first else -number + 31 - first
            elif weekday >= 0 and stay.weekday_one >= 0:
                stay.length = (weekday - stay.weekday_one) % 7 + 1
            if stay.length > _LONGEST:
                stay.length = 0
    return [stay] if stay is not None else []


def read_stays(words: Words, goals: Sequence[Goal]) -> list[Stay]:
    """The stays that a text tells with their dates, each with its town where the text says it.

    Args:
        goals: the enumerated goals in the text.
    """
    stays = _ranges(words) or _arrival(words, goals)
    begin = 0
    for stay in stays:
        clause = words.text[begin : stay.start]
        begin = stay.start
        if words.has_cjk and (
            place := chinese_place(clause) or chinese_place(words.text[stay.start : stay.start + 24])
        ):
            stay.place = place
            continue
        for match in _PLACE.finditer(clause):
            town = place_name(match[0])
            lower = same_length_lower(town)
            if town and lower not in STOP and lower.split(" ")[0] not in _NO_PLACE:
                at = match.start() + match[0].index(town)
                lead = clause[:at].rstrip()
                beside = _BESIDE.match(clause[at + len(town) :]) is not None
                if len(stays) > 1 or beside or _GOES_TO.search(lead.lower()):
                    stay.place = town
    if len(stays) == 1 and not stays[0].place:
        rest = words.text[stays[0].start :]
        called = (_CALLED.finditer(words.text), _LOWER_PLACE.finditer(words.lower), _LOWER_CALLED.finditer(words.lower))
        for match in (match for found in called for match in found):
            name = same_length_lower(match["p"])
            if name not in STOP and name not in _NO_PLACE:
                stays[0].place = words.text[match.start("p") : match.end("p")].title()
                break
        else:
            after = re.search(r"\b(?:in|to|visit|visiting) (?P<p>[A-ZÀ-Þ][\w'’-]{2,}(?: [A-ZÀ-Þ][\w'’-]+)?)", rest)
            if after is not None and same_length_lower(after["p"]).split(" ")[0] not in _NO_PLACE:
                stays[0].place = place_name(after["p"])
    return stays
