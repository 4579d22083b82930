"""Since when a fact holds: "I live in Leeds since May", "Tobias leads the team since 1 July"."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from .... import lazy_re as re
from ....intent.dates.numbers_english import COUNT, number
from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan
from ...contract import HeardStep
from .english_grammar import Fact
from .event_words import MOVED
from .finding import day_start
from .sentences import Reading, Sentence
from .so_far import SoFar
from .tense import tense
from .told import Told

__all__ = ["fact_since", "in_years", "of_what_follows", "told_since"]

_FROM_A_DAY = re.compile(
    r"\b(?:since|as of|starting|effective|from \d|was|were|has|moved|changed|switched|migrated|took over|joined"
    r"|became|started|yesterday)\b|起|开始|从|换|改|搬|涨"
)
_NEW_LIFE = re.compile(
    r"\b(?:first day|new job|new role|moved|move|started|starting|new place)\b|入职|新工作|搬家|上班第一天",
    re.IGNORECASE,
)
_AGE_OR_TRIP = re.compile(
    r"岁|出差|旅游|旅行|度假|\b(?:years old|turned|turning|business|trip|holiday|vacation|conference|visiting"
    r"|visit|going|flying|travell?ing)\b",
    re.IGNORECASE,
)
_MOVED_TO = re.compile(r"(?:\b(?:to|till|until)\s(?:the\s)?|[到成为]\s?)\Z", re.IGNORECASE)
_FAR = timedelta(days=200)


_YEARS_AGO = re.compile(
    rf"\b(?P<about>(?:about|around|almost|nearly|over|more than|roughly|exactly)\s)?(?P<number>{COUNT})\syears?\sago\b",
    re.IGNORECASE,
)
_A_YEAR = re.compile(
    r"\b(?P<which>this|next|last)\s(?P<part>year|spring|summer|autumn|fall|winter)\b|(?P<which_zh>[今明去])年|(?P<ago_zh>\d{1,2})年前",
    re.IGNORECASE,
)
_NEXT = {"this": 0, "next": 1, "last": -1, "今": 0, "明": 1, "去": -1}


def in_years(text: str, said_at: datetime, zone: tzinfo) -> str:
    """What is told with a year counted from the day on which it was said, with that year: "two years ago" → "in 2024"."""
    year = said_at.astimezone(zone).year

    def ago(match: re.Match[str]) -> str:
        count = number(match["number"])
        if count != int(count):
            return match[0]
        about = match["about"] or "couple" in match["number"]
        return f"{'around' if about else 'in'} {year - int(count)}"

    def named(match: re.Match[str]) -> str:
        if match["ago_zh"]:
            return f"{year - int(match['ago_zh'])}年"
        if match["which_zh"]:
            return f"{year + _NEXT[match['which_zh']]}年"
        part = match["part"].casefold()
        return f"in {'' if part == 'year' else f'the {part} of '}{year + _NEXT[match['which'].casefold()]}"

    return _A_YEAR.sub(named, _YEARS_AGO.sub(ago, text))


def told_since(told: Told, heard: HeardStep, reading: Reading, zone: tzinfo) -> datetime | None:
    """The day from which something holds of others: "Tobias leads the team since 1 July", "moved to TiDB yesterday"."""
    if not _FROM_A_DAY.search(told.summary):
        return None
    spans = find_dates(told.summary, heard.step.occurred_at, zone, prefer=tense(told.summary, reading.has_han))
    days = [span for span in spans if span.precision == "day" and span.day == span.last_day]
    if days and MOVED.search(told.summary) and _MOVED_TO.search(told.summary[: days[-1].start]):
        return None  # the day to which something was moved
    return day_start(days[0].day, zone) if len(days) == 1 else None


def fact_since(fact: Fact, reading: Reading, heard: HeardStep, so_far: SoFar) -> DateSpan | None:
    """The day since which a fact holds: a date in its clause, else the only one of its sentence, else that of an event it names."""
    if not (fact.starts or "since" in fact.clause.text or "since" in fact.clause.raw):
        return None
    said, zone = heard.step.occurred_at, so_far.zone
    sentence = reading.sentences[fact.clause.sentence] if fact.clause.sentence < len(reading.sentences) else None
    for text in (fact.clause.raw, sentence.raw if sentence else ""):
        spans = find_dates(text, said, zone, prefer=tense(text, reading.has_han))
        spans = tuple(span for span in spans if span.precision in ("day", "month", "week", "year"))
        if fact.ends:
            at = max(text.find(fact.stated.rsplit(" at ", 1)[-1]), 0)
            spans = tuple(one for one in spans if not of_what_follows(one, text, at, has_han=reading.has_han))
            if len(spans) == 1 and _TAKES_EFFECT.search(text[: spans[0].start]):
                spans = tuple(one for one in find_dates(text, said, zone, prefer="near") if one.start == spans[0].start)
        if fact.slot == "home_city" and sentence and text == sentence.raw:
            spans = tuple(span for span in spans if not _of_something_else(span, fact, sentence))
        if len(spans) == 1 or (spans and text == fact.clause.raw):
            if spans[0].day > said.astimezone(zone).date() + _FAR and not re.search(r"\d{4}", spans[0].text):
                spans = find_dates(text, said, zone, prefer="past") or spans  # "from 1 September", said in that month
            return spans[0]
    before = fact.clause.sentence - 1
    if fact.starts and 0 <= before < len(reading.sentences) and _NEW_LIFE.search(reading.sentences[before].text):
        text = reading.sentences[before].raw
        spans = find_dates(text, said, zone, prefer=tense(text, reading.has_han))
        if len(spans) == 1 and spans[0].precision == "day":
            return spans[0]
    named = re.search(r"\bsince (?:the|our|my) (?P<what>\w+)", sentence.text if sentence else "")
    if named:
        for event in reversed(so_far.events):
            if event.when and named["what"].lower() in event.topics:
                return event.when
    return None


_JOINT = re.compile(r"[,;，；]\s*|\s(?:and|but|so|then)\s", re.IGNORECASE)
_OWN_LEAD = re.compile(
    r"(?:\s|,|(?:and|but|so|as|of|on|in|at|by|from|since|effective|starting|the|with|until|till|just|only|my|last day(?:\sis|\swas)?)\b)*",
    re.IGNORECASE,
)


_TAKES_EFFECT = re.compile(
    r"\b(?:last day(?:\sis|\swill be)|effective|as of|as from)\s(?:on\s)?(?:the\s)?\Z", re.IGNORECASE
)
"""Before a day on which what was told as past holds only then: "I quit my job and my last day is 30 April"."""


def of_what_follows(span: DateSpan, text: str, at: int, *, has_han: bool) -> bool:
    """Whether a date is that of something else than what is over: "I quit my job and start at a school next month".

    What is told as past beside it is taken to be of one time with it: "I quit my job and moved to Bonn in May".

    Args:
        span: found in ``text``. at: where the words stand that tell what is over.
    """
    if span.start >= at:
        joints = list(_JOINT.finditer(text, at, span.start))
        if not joints or _OWN_LEAD.fullmatch(text, joints[0].end(), span.start):
            return False
        return tense(text[joints[0].end() :], has_han) != "past"
    joint = _JOINT.search(text, span.end, at)
    if joint is None or not text[span.end : joint.start()].strip():
        return False
    return tense(text[: joint.start()], has_han) != "past"


def _of_something_else(span: DateSpan, fact: Fact, sentence: Sentence) -> bool:
    """Whether a day of another clause tells the user's age, or when a trip is: "我今年三十二岁，住在上海"."""
    at = sentence.start + span.start
    clause = next((one for one in sentence.clauses if one.start <= at < one.end), None)
    return clause is not None and clause.start != fact.clause.start and _AGE_OR_TRIP.search(clause.text) is not None
