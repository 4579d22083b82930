"""To which day an event is moved, and whether a change names the event that it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from .... import lazy_re as re
from ....intent.dates.hours_english import NO_HOUSE
from ....intent.dates.numbers_english import COUNT, number
from ....intent.dates.spans import DateSpan
from ....intent.dates.words_chinese import WEEK
from ....intent.dates.words_english import WEEKDAY_NAME

__all__ = ["NOW_ON", "NO_SUBJECT", "SAME_HOUR", "days_moved", "is_now_on", "of_that_week", "without_hour"]

NO_SUBJECT = re.compile(
    # No text can be read in two ways: "is" is not "i" and "s".
    r"^(?:\W|(?:its?|that|this|she|he|they|i|we|s|ve|has|have|had|been|just|now|actually|sorry|oh|is|was|got|so|and|but)\b)*"
    r"(?:moved|pushed|put|rescheduled|shifted|brought|delayed|changed)\b"
    r"|^(?:\W|no|sorry|actually|oh|so|and|but|well|wait|correction)*(?:it|that)(?:['’]s|\s(?:is|will be|takes place|starts|happens))"
    r"\s(?:now\s(?:on|at)\b|[^,;]{0,60}?\bnow\W*$)"
    r"|^(?:\W|刚才?|又|他们?|她|对方|医院|医生|客户|老师|导师|hr|boss|email|打?来?电话|通知|还?说|我们?|可以|能|被|要|现在|已经|会|时间)*(?:推迟?|改|延|挪|提前|换|顺延|调|reschedule|move|postpone|push)",
    re.IGNORECASE,
)
"""A change that names no event of its own: it is about the one last told."""
_BARE_WEEKDAY = re.compile(rf"(?:on\s)?{WEEKDAY_NAME}|{WEEK}[一二三四五六日天]", re.IGNORECASE)
_BARE_DAY = re.compile(r"(?:on\s)?(?:the\s)?\d{1,2}(?:st|nd|rd|th)|\d{1,2}[号號日]", re.IGNORECASE)
_BY = re.compile(rf"\bby\s(?P<count>{COUNT})\s(?P<unit>day|week)s?\b", re.IGNORECASE)
_IS_NOW = re.compile(
    r"(?:['’]s|['’]re|\b(?:is|are|will be|takes? place|starts?|begins?|happens?|opens?|comes?|coming|arrives?|leaves?|flies|fly|flying"
    r"|leaving|arriving|meets?|meeting|play|plays|playing))\b\s?(?:now\s(?:on|at)\b|[^,;]{0,60}\bnow\W*$)",
    re.IGNORECASE,
)
_HOUR = (
    r"(?:(?:(?:a\s)?quarter|half|five|ten|twenty|twenty-five)\s(?:past|to)\s\w+|\d{1,2}(?:[:.]\d\d)?(?:\s?(?:am|pm|a\.m\.|p\.m\.|o['’]clock|h))?"
    r"|noon|midnight|midday|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?:\s(?:thirty|fifteen|forty-five|o['’]clock))?)"
    r"(?:\s(?:am|pm|sharp|o['’]clock|in\sthe\s(?:morning|afternoon|evening)|at\snight))*"
)
_AT_HOUR = re.compile(
    rf"[,\s]+(?:at|from|around|about)\s(?:about\s|around\s|exactly\s)?{_HOUR}{NO_HOUSE}(?=[\s,.;!?)]|$)|\s\d{{1,2}}(?:[:.]\d\d)?\s?[ap]m\b|\s\(\d{{4}}-\d\d-\d\d\s\d\d:\d\d\)"
    r"|(?:早上|上午|中午|下午|晚上|傍晚|清晨)?(?:(?<![\d-])\s?\d{1,2}|[一二两三四五六七八九十]{1,3})点(?:半|一刻|三刻|[一二三四五六七八九十\d]{1,3}分?)?"
    r"|（\d{4}-\d\d-\d\d\s\d\d:\d\d）",
    re.IGNORECASE,
)
NOW_ON = re.compile(r"\bnow\s(?=on\s\d{4}-)|(?P<day>\b\d{4}-\d\d-\d\d)\snow\b", re.IGNORECASE)
"""The "now" of a new day, which the day itself outlasts."""
SAME_HOUR = re.compile(
    r"\b(?:same|usual)\s(?:time|hour)|\bstill at\b|\b(?:time|hour)\shas(?:n['’]t|\snot)\schanged"
    r"|\b(?:time|hour)s?\s(?:(?:is|are|stays?|remains?)\s)*(?:unchanged|the same|not changed|as before|as planned)"
    r"|(?:时间|钟点|time)\s?(?:都|还是|也)?\s?(?:不变|没变|一样|照旧|没改)|(?:同一?|相同的?)时间",
    re.IGNORECASE,
)
"""That only the day of an event is new, and its hour is what it was."""


def is_now_on(said: str, at: int) -> bool:
    """Whether a clause tells that something is on a new day, which ``at`` begins: "it is on Wednesday now"."""
    return any(found.start() < at <= found.end() for found in _IS_NOW.finditer(said))


def without_hour(summary: str) -> str:
    """A summary without the hour that it tells: that of the day before a move need not be the new one."""
    return _AT_HOUR.sub("", summary)


def days_moved(said: str) -> int:
    """By how many days words say that something moves, either way: "by a week"; 0 where they do not."""
    match = _BY.search(said)
    if match is None:
        return 0
    days = number(match["count"]) * (7 if match["unit"].lower() == "week" else 1)
    return int(days) if days == int(days) else 0


def of_that_week(when: DateSpan, earlier: DateSpan, today: date, *, slip: bool = False) -> DateSpan:
    """A day to which an event is moved: a bare weekday is that of the event's own week, or of the next if that is past.

    Where it only puts a slip right, it stands for the word said before: after "on Monday", "I meant Sunday" is the next
    Sunday, or the last one of what has happened.
    """
    if _BARE_DAY.fullmatch(when.text.strip()) and when.day == when.last_day:
        near = [day for day in _of_months_beside(earlier.day, when.day.day) if day >= today]
        day = min(near, key=lambda one: abs((one - earlier.day).days), default=when.day)
        return replace(when, day=day, last_day=day)
    if not when.told and abs((when.day - earlier.day).days) > 180 and (when.day.month, when.day.day) != (2, 29):
        day = when.day.replace(year=earlier.day.year)  # "sorry, 31 July": that of the same year
        return replace(when, day=day, last_day=max(day, day + (when.last_day - when.day)))
    if not _BARE_WEEKDAY.fullmatch(when.text.strip()) or when.day != when.last_day:
        return when
    if slip and _BARE_WEEKDAY.fullmatch(earlier.text.strip()) and abs((earlier.day - today).days) <= 7:
        ahead = (when.day.weekday() - today.weekday()) % 7
        day = today + timedelta(days=(ahead or 7) if earlier.day >= today else ahead - 7)
        return replace(when, day=day, last_day=day)
    day = earlier.day + timedelta(days=when.day.weekday() - earlier.day.weekday())
    day += timedelta(days=7) if day < today else timedelta()
    return replace(when, day=day, last_day=day)


def _of_months_beside(day: date, number: int) -> list[date]:
    """The day of that number in the month of a day, in the one before and in the one after."""
    firsts = [(day.replace(day=1) + timedelta(days=31 * step)).replace(day=1) for step in (0, 1)]
    firsts.append((day.replace(day=1) - timedelta(days=1)).replace(day=1))
    found = [one + timedelta(days=number - 1) for one in firsts]
    return [one for one, first in zip(found, firsts, strict=True) if one.month == first.month]
