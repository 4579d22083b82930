"""English dates that are counted within a month, and words that look like dates and name none.

"The first Monday of May", "the second of June", "Monday after next", "two Fridays ago", "the summer before last"; and on
the other side "in a week or two", "Black Friday", "over the last month", "more than a year ago": a guess would be wrong.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from hexamem.intent.dates.holidays import ENGLISH_HOLIDAYS, holiday_near, holiday_of
from hexamem.intent.dates.numbers_english import COUNT, ORDINAL, number, ordinal
from hexamem.intent.dates.spans import (
    Anchor,
    Form,
    Read,
    Reader,
    chosen_day,
    day_of_year,
    month_span,
    no_date,
    one_day,
    week_start,
    weekday_near,
)
from hexamem.intent.dates.words_english import FULL_WEEKDAY, MONTH, month_number, weekday_number
from hexamem.intent.references.cues import FUNCTION_WORDS, VERBS, words

__all__ = ["FURTHER_ENGLISH"]

_YEAR = r"(?:,?\s(?P<year>(?:19|20)\d\d)(?!\d)|(?!,?\s\d{4}\b))"  # a year that no reckoning covers makes no date
_OF = rf"(?:(?P<month>{MONTH}){_YEAR}|(?P<which>next|this|last)\smonth)"
_UNIT = r"(?:day|week|fortnight|weekend|month|year|night|hour|minute)"
_NTH = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9}
_NO_DAY = r"(?:black|cyber|shrove|maundy|holy|spy|whit|fat|super|giving|bank\sholiday|(?:any|one|some)\s(?:given\s)?)"
_NOT_CHRISTMAS = (
    r"(?!\s(?:trees?|presents?|gifts?|cards?|part(?:y|ies)|markets?|shopping|lists?|carols?|jumpers?|holidays?|break|cakes?"
    r"|puddings?|lights|decorations|music|songs?|films?|movies?|bonus|season|time|concert|play)\b)"
)


_DAY_BEFORE = re.compile(
    r"\b(?:at|on|by|until|till|since|around|over|this|next|last|come|every|from|to)\s\Z", re.IGNORECASE
)
_NOUN_NEXT = re.compile(r"\s(?P<word>[a-z][\w'’-]*)")  # a capital begins a name
_NO_NOUN = (
    VERBS
    | FUNCTION_WORDS
    | words(
        "day days eve morning evening night afternoon falls lands lasts feels approaches passes nears draws ends itself alone"
        " abroad indoors upstairs early late approaching coming following preceding"
    )
)


def _is_of_season(match: re.Match[str]) -> bool:
    """Whether a holiday tells the kind of a thing, and no day: "our Christmas window", "a Halloween costume".

    One that is a day by its name ("Boxing Day walk") is that day.
    """
    if re.search(r"\b(?:day|eve|sunday|monday|friday|wednesday)\Z", match["holiday"], re.IGNORECASE) and not re.match(
        "valentine", match["holiday"], re.IGNORECASE
    ):
        return False
    following = _NOUN_NEXT.match(match.string, match.end())
    if following is None or match["year"] or _DAY_BEFORE.search(match.string, 0, match.start("holiday")):
        return False
    word = following["word"].lower().replace("’", "'")
    return word not in _NO_NOUN and not word.endswith(("ly", "n't")) and "'" not in word


def _holiday(match: re.Match[str], anchor: Anchor) -> Read:
    if _is_of_season(match):
        return None
    name = match["holiday"].lower().replace("’", "'")
    name = "easter sunday" if name == "easter" else name
    if match["year"]:
        return one_day(holiday_of(name, int(match["year"])))
    which = (match["which"] or "").lower()
    return one_day(holiday_near(name, anchor, which), bool(which))


def _in_month(match: re.Match[str], anchor: Anchor) -> list[tuple[date, date]]:
    """First and last days of the months that may be meant, the likeliest first."""
    if match["which"]:
        moved = anchor.today + relativedelta(months={"next": 1, "this": 0, "last": -1}[match["which"].lower()])
        return [month_span(moved.year, moved.month)]
    month = month_number(match["month"])
    if match["year"]:
        return [month_span(int(match["year"]), month)]
    years = [anchor.today.year + step for step in (0, 1, -1)]
    near = day_of_year(anchor, month, 15).year
    return [month_span(year, month) for year in sorted(years, key=lambda year: year != near)]


def _nth(first: date, last: date, weekday: int, nth: int) -> date:
    if nth < 0:
        return last - timedelta(days=(last.weekday() - weekday) % 7)
    found = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))
    if found > last:
        raise ValueError(f"the month has no such day {nth}")
    return found


def _nth_weekday(match: re.Match[str], anchor: Anchor) -> Read:
    weekday, nth = weekday_number(match["weekday"]), _NTH[match["nth"].lower()]
    return chosen_day(match, anchor, [_nth(first, last, weekday, nth) for first, last in _in_month(match, anchor)])


def _edge_day(match: re.Match[str], anchor: Anchor) -> Read:
    months = _in_month(match, anchor)
    return chosen_day(match, anchor, [last if match["edge"].lower() == "last" else first for first, last in months])


def _day_in_words(match: re.Match[str], anchor: Anchor) -> Read:
    day = ordinal(match["day"])
    return chosen_day(match, anchor, [first.replace(day=day) for first, _ in _in_month(match, anchor)])


def _end_of(match: re.Match[str], anchor: Anchor) -> Read:
    step = {"next": 1, "last": -1}.get(match["which"].lower(), 0)
    if match["unit"].lower() == "year":
        return one_day(date(anchor.today.year + step, 12, 31))
    moved = anchor.today + relativedelta(months=step)
    return one_day(month_span(moved.year, moved.month)[1])


def _beyond(match: re.Match[str], anchor: Anchor) -> Read:
    """ "The week after next", "the Friday before last"; none where it depends on what "next" means."""
    today, named = anchor.today, match["unit"].lower()
    step = 2 if match["way"].lower().startswith("after") else -2
    if named.endswith("day") and named != "day":
        weekday = weekday_number(named)
        if step < 0:
            return one_day(weekday_near(Anchor(today=today, prefer="past"), weekday) - timedelta(days=7))
        return one_day(week_start(today) + timedelta(days=14 + weekday)) if weekday <= today.weekday() else None
    if named == "night":
        return one_day(today - timedelta(days=2)) if step < 0 else None
    if named == "weekend":
        if step > 0 or today.weekday() >= 5:
            return None
        start = week_start(today) - timedelta(days=9)
        return start, start + timedelta(days=1), "day", True
    if named == "week":
        start = week_start(today) + timedelta(days=7 * step)
        return start, start + timedelta(days=6), "week", True
    if named == "month":
        moved = today + relativedelta(months=step)
        return *month_span(moved.year, moved.month), "month", True
    if named == "year":
        return date(today.year + step, 1, 1), date(today.year + step, 12, 31), "year", True
    start = date(today.year, _SEASONS[named], 1)
    while start + relativedelta(months=3) > today:
        start += relativedelta(years=-1)
    start += relativedelta(years=-1)
    return (start, start + relativedelta(months=3, days=-1), "season", True) if step < 0 else None


def _weekdays_away(match: re.Match[str], anchor: Anchor) -> Read:
    past = match["way"].lower() == "ago"
    near = weekday_near(
        Anchor(today=anchor.today, prefer="past" if past else "future"), weekday_number(match["weekday"])
    )
    weeks = round(number(match["count"])) - 1
    return one_day(near + timedelta(days=-7 * weeks if past else 7 * weeks))


def _nights_ago(match: re.Match[str], anchor: Anchor) -> Read:
    return one_day(anchor.today - timedelta(days=round(number(match["count"]))))


def _after_the_day(match: re.Match[str], anchor: Anchor) -> Read:
    last = match["way"].lower() == "last"
    side = Anchor(today=anchor.today, prefer="past" if last else "future")
    return one_day(weekday_near(side, weekday_number(match["weekday"])))


def _season_of(match: re.Match[str], anchor: Anchor) -> Read:
    start = date(int(match["year"]), _SEASONS[match["season"].lower()], 1)
    return start, start + relativedelta(months=3, days=-1), "season", True


_FORMS: tuple[tuple[tuple[str, ...], str, Reader], ...] = (
    (
        (" or ", " to ", "-"),
        rf"\b(?:(?:in|within|about|for)\s)?(?:{COUNT}\s{_UNIT}s?\s(?:or|to)\s(?:so|{COUNT})\b(?:\s{_UNIT}s?\b)?"
        rf"|{COUNT}\s(?:or|to)\s{COUNT}\s{_UNIT}s?\b"
        rf"|\d+\s?[-–]\s?\d+\s{_UNIT}s?\b)(?:\s(?:ago|earlier|later|time|from\snow))?",
        no_date,
    ),
    (
        (" ago", "from now", " before", " after", " from "),
        rf"\b(?:more\sthan|over|less\sthan|fewer\sthan|under|nearly|almost|at\sleast|up\sto|{COUNT}\s{_UNIT}s?\sand)\s{COUNT}"
        rf"(?:\sand\sa\shalf)?\s{_UNIT}s?\s(?:ago|from\snow)|\b{COUNT}\sand\sa\shalf\s{_UNIT}s?\s(?:ago|from\snow)",
        no_date,
    ),
    (
        ("week", "month", "year", "day", "decade"),
        rf"\b(?:in|within|over|during|for|throughout|of)\sthe\s(?:last|past|next|coming)\s(?:week|month|year|fortnight)\b"
        rf"|\b(?:last|past|next|coming|first)\s(?:few|several|couple\sof|{COUNT})\s{_UNIT}s?\b",
        no_date,
    ),
    (
        ("day",),
        rf"\b{_NO_DAY}\s?{FULL_WEEKDAY}|\b(?:every|each)\s(?:{'|'.join(_NTH)})\s{FULL_WEEKDAY}"
        rf"|\b(?:{'|'.join(_NTH)})\s{FULL_WEEKDAY}s?\s(?:of|in)\s(?:the|every|each|a)\s(?:month|quarter|year)\b",
        no_date,
    ),
    (
        ("easter", "christmas"),
        r"\b(?:easter|christmas)\s(?:eggs?|bunny|weekend|holidays?|break|term|week)\b",
        no_date,
    ),
    (
        ("christmas", "easter", "boxing", "new year", "valentine", "halloween", "good friday", "ash wed", "palm sun"),
        rf"\b(?:(?P<which>last|next|this)\s)?(?P<holiday>(?:{'|'.join(ENGLISH_HOLIDAYS)})|easter)\b".replace(
            "'", "['’]"
        )
        + rf"{_NOT_CHRISTMAS}(?:,?\s(?P<year>(?:19|20)\d\d))?",
        _holiday,
    ),
    (
        ("first ", "1st", "second ", "2nd", "third ", "3rd", "fourth ", "4th", "last "),
        rf"\b(?:the\s)?(?P<nth>{'|'.join(_NTH)})\s(?P<weekday>{FULL_WEEKDAY})\s(?:of|in)\s{_OF}",
        _nth_weekday,
    ),
    (("day of", "day in"), rf"\b(?:the\s)?(?:very\s)?(?P<edge>first|last)\sday\s(?:of|in)\s{_OF}", _edge_day),
    ((" of ",), rf"\b(?:on\s)?(?:the\s)?(?P<day>{ORDINAL})\sof\s{_OF}", _day_in_words),
    (("end of",), r"\b(?:(?:at|by|before)\s)?(?:the\s)?end\sof\s(?P<which>next|last)\s(?P<unit>month|year)\b", _end_of),
    (
        ("after next", "before last"),
        rf"\b(?:the\s)?(?P<unit>{FULL_WEEKDAY}|weekend|week|month|year|night|spring|summer|autumn|fall)"
        r"\s(?P<way>after\snext|before\slast)\b(?!\s(?:week|month|year|mon|tue|wed|thu|fri|sat|sun))",
        _beyond,
    ),
    (
        ("days ago", "days from now"),
        rf"\b(?P<count>{COUNT})\s(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\s(?P<way>ago|from\snow)\b",
        _weekdays_away,
    ),
    (
        ("s ago", "t ago", "g ago", "n ago"),
        rf"\b(?P<count>{COUNT})\s(?:night|morning|afternoon|evening)s?\sago\b",
        _nights_ago,
    ),
    (
        ("day last", "day next"),
        rf"(?<!\bthe\s)\b(?P<weekday>{FULL_WEEKDAY})\s(?P<way>last|next)\b(?=\s*(?:[,.;!?)]|$|(?:at|we|I|he|she|they|the)\b))",
        _after_the_day,
    ),
    (
        tuple(_SEASONS),
        r"\b(?:in\s)?(?:the\s)?(?P<season>spring|summer|autumn|fall)\s(?:of\s)?(?P<year>(?:19|20)\d\d)\b",
        _season_of,
    ),
)
FURTHER_ENGLISH: tuple[Form, ...] = tuple(
    (needed, re.compile(form, re.IGNORECASE), reader) for needed, form, reader in _FORMS
)
"""Tried before those of ``words_english``."""
