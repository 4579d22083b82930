"""Days that were said wrongly: "the talk isn't on the 4th, it's on 11 December", "on the 12th, not the 10th".

Such words say nothing to keep of the wrong day: they put right what was said of it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from itertools import pairwise
from typing import Any

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from ....memory_types import EpisodicItem
from .english_grammar import verb_s
from .sentences import Sentence

__all__ = ["Denial", "denials", "denied_after", "goes_on", "may_be_day", "may_be_of", "redated"]

_TO_DAY = r"(?:(?:on|for|at|in|by)\s)?(?:the\s)?$"
_DENIES = re.compile(
    rf"(?:(?P<be>\b(?:is|are|was|were)|(?<=\w)['’](?:s|re))(?:n['’]?t|\snot)"
    r"|\b(?P<will>wo(?=n)|will(?=\s))(?:n['’]?t|\snot)\sbe"
    r"|\b(?P<do>do|does)(?:n['’]?t|\snot)\s(?P<verb>start|begin|open|leave|arrive|happen|take\splace))\s"
    rf"(?:(?:actually|really)\s)?(?P<part>(?:scheduled|planned|booked|due|set|held|taking\splace|happening)\s)?{_TO_DAY}",
    re.IGNORECASE,
)
_DENIES_DOING = re.compile(
    rf"(?:(?P<be>\b(?:is|are|was|were|am)|(?<=\w)['’](?:s|re|m))(?:n['’]?t|\snot)\s(?P<part>[a-z]+ing\s)"
    rf"|\b(?P<do>do|does)(?:n['’]t|\snot)\s(?P<verb>[a-z]+)\s){_TO_DAY}",
    re.IGNORECASE,
)
"""So too "I'm not working on Friday" is said; it denies a day only where another is told for the same."""
_DENIES_MORE = re.compile(
    r"(?P<be>\b(?:is|are|was|were|am)|(?<=\w)['’](?:s|re|m))(?:n['’]?t|\snot)\s"
    rf"(?P<part>[a-z]+ing\s(?:(?!(?:on|until|till|before|but)\b)[\w’'-]+\s){{1,6}}){_TO_DAY}",
    re.IGNORECASE,
)
"""And "we're not having dinner with Sam on Friday", where it says of itself that this was otherwise before."""
_DENIES_ZH = re.compile(r"(?P<zh>(?:并)?不是(?P<at>在)?|不在|不定在|没有?定在)\s?$")
_POSITIVE_ZH = {"不在": "在", "不定在": "定在", "没定在": "定在", "没有定在": "定在"}
_NO_MORE = re.compile(r"\b(?:after\sall|any\s?more|any\slonger)\b|又不|不再|不.{1,12}了", re.IGNORECASE)
_GOES_ON = re.compile(
    r"(?:\W|\b(?:no|but|rather|instead|actually|it|that|this|they|he|she|is|are|was|were|will|be|s|re|ll|now|in fact|on|for|at|in|by"
    r"|the|starts?|begins?|opens?|leaves?|arrives?|happens?|takes? place)\b|而是|应该是|它是|是|在|定在|而|应该)*",
    re.IGNORECASE,
)
"""All that stands between the wrong day and the right one."""
_NOT = re.compile(rf"[^.;。；]{{0,24}}?(?:,?\s(?:and\s)?not\s{_TO_DAY}|[，,]?\s?(?:而)?不是(?:在)?\s?$)", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"(?:on\s)?(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE
)
_OF_MONTH = re.compile(r"(?:on\s)?the\s(?:\d{1,2}(?:st|nd|rd|th)|\w+)|\d{1,2}[号號日]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Words by which something is not on a day.

    Attributes:
        wrong: the day.
        start: where the words begin that say what is not on it.
        subject: of what it is denied. said: the same as a statement, up to the day.
        sure: whether it denies the day even if no other one follows.
        ends: whether it says of itself that this was otherwise before: "we're not flying on Friday after all".
    """

    wrong: DateSpan
    start: int
    subject: str
    said: str
    sure: bool = True
    ends: bool = False


def denials(sentence: Sentence, spans: Sequence[DateSpan]) -> list[Denial]:
    """The days of a sentence of which it says that something is not on them."""
    found = []
    for span in spans:
        clause = next((one for one in sentence.clauses if one.start <= span.start < one.end + 1), None)
        if clause is None:
            continue
        head = sentence.text[clause.start - sentence.start : span.start - sentence.start]
        ends = _NO_MORE.search(sentence.text) is not None
        match = (sure := _DENIES.search(head) or _DENIES_ZH.search(head)) or _DENIES_DOING.search(head)
        if match is None and ends:
            match = _DENIES_MORE.search(head)
        if match is not None:
            subject = sentence.raw[clause.start - sentence.start :][: match.start()].strip()
            said = _positive(subject, match)
            found.append(
                Denial(wrong=span, start=clause.start, subject=subject, said=said, sure=sure is not None, ends=ends)
            )
    return found


def _positive(subject: str, match: re.Match[str]) -> str:
    named = match.groupdict()
    if zh := named.get("zh"):
        return subject + _POSITIVE_ZH.get(zh, "是在" if named.get("at") else "是")
    be = named.get("be") or ""
    part = named.get("part") or ""
    if named.get("verb"):
        verb = " ".join((named["verb"] or "").lower().split())
        first, _, rest = verb.partition(" ")
        said = " ".join([verb_s(first).lower() if (named["do"] or "").lower() == "does" else first, *rest.split()])
    else:
        said = "will be" if named.get("will") else be.lower()
    space = "" if said[:1] in "'’" else " "
    return f"{subject}{space}{said} {part}".rstrip()


def goes_on(between: str, denial: Denial) -> bool:
    """Whether nothing but "it's on" and the like, or what was denied once more, stands between a denied day and the next one."""
    if len(between) > 60:
        return False
    rest = re.sub(rf"\b(?:{'|'.join(map(re.escape, denial.said.split()))})\b", " ", between, flags=re.IGNORECASE)
    return _GOES_ON.fullmatch(rest) is not None


def denied_after(sentence: Sentence, spans: Sequence[DateSpan]) -> tuple[DateSpan, DateSpan] | None:
    """The right day of a sentence and the wrong one that follows it: "on the 12th, not the 10th"."""
    for right, wrong in pairwise(spans):
        if _NOT.fullmatch(sentence.text[right.end - sentence.start : wrong.start - sentence.start]):
            return right, wrong
    return None


def may_be_of(denied: DateSpan, known: DateSpan) -> bool:
    """Whether a day that is denied is the one that was told: a bare weekday or "the 4th" may be that of any week or month."""
    return may_be_day(denied, known.day)


def may_be_day(denied: DateSpan, known: date) -> bool:
    """As :func:`may_be_of`, of a day by itself."""
    if denied.day == known:
        return True
    words = denied.text.strip()
    if _WEEKDAY.fullmatch(words):
        return denied.day.weekday() == known.weekday()
    if _OF_MONTH.fullmatch(words):
        return denied.day.day == known.day
    return not denied.told and (denied.day.month, denied.day.day) == (known.month, known.day)


def redated(item: EpisodicItem, wrong: DateSpan, right: DateSpan, zone: tzinfo) -> dict[str, Any]:
    """The fields of an event that was told of the wrong day, with the right one; its time of day unless another is told."""
    moment = item.occurred_at.astimezone(zone)
    moved = moment.replace(year=right.day.year, month=right.day.month, day=right.day.day)
    if right.clock is not None:
        moved = right.moment(zone)
    old, new = wrong.day.isoformat(), right.day.isoformat()
    return {"occurred_at": moved, "summary": item.summary.replace(old, new), "details": item.details.replace(old, new)}
