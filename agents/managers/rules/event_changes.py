"""Events, and the words that change them: called off, or told of another day than was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from .... import lazy_re as re
from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan
from .denied_days import Denial
from .event_words import LEAD, OFF, TYPE_RULES
from .sentences import Reading, Sentence
from .shifts import Shift
from .tense import tense
from .words import content_words

__all__ = ["Event", "called_off", "not_so", "put_right", "thing_called_off"]

_NO_TOPICS = frozenset({"afraid", "cancelled", "naturally", "unfortunately", "sadly", "again", "取消", "消了"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as read: characters ``start`` to ``end`` of the text tell it.

    Attributes:
        summary: with the date as ISO day in place of words like "yesterday".
        topics: folded words that tell what it is about.
        said: the clause that tells it.
        change: ``""``, ``slip`` (the date said before was wrong), ``moved``, ``shift`` (moved by ``shift``) or ``off``.
        on: the day on which it was to be, where the words of a change tell it: "the dinner on Saturday is off".
        denied: the day on which it is said not to be. sure: whether what denies it is no event by itself.
    """

    start: int
    end: int
    summary: str
    when: DateSpan | None
    event_type: str
    topics: frozenset[str]
    change: str = ""
    confidence: float = 0.75
    actor: str = "user"
    said: str = ""
    denied: DateSpan | None = None
    sure: bool = True
    shift: Shift | None = None
    on: DateSpan | None = None


def called_off(sentence: Sentence, said_at: datetime, zone: tzinfo) -> Event:
    """What a sentence calls off, by its clause that says so; days are told in full."""
    clause = next((c for c in sentence.clauses if OFF.search(c.text)), sentence.clauses[0])
    text = clause.raw
    off = OFF.search(clause.text)
    days = find_dates(clause.raw, said_at, zone, prefer="future")
    # "Today they cancelled the dinner" tells when they did so.
    ahead = [
        one
        for one in days
        if off and one.end <= off.start() and (one.start or clause.raw[one.end : one.end + 2] in ("'s", "’s"))
    ]
    for span in reversed(days):
        text = text[: span.start] + span.shown + text[span.end :]
    text = LEAD.sub("", text).strip()
    return Event(
        start=clause.start,
        end=clause.end,
        summary=text,
        when=None,
        event_type="cancellation",
        topics=content_words(OFF.sub(" ", clause.text)) - _NO_TOPICS,
        change="off",
        confidence=0.75,
        said=clause.text,
        on=ahead[0] if ahead else None,
    )


def not_so(sentence: Sentence, denial: Denial) -> Event:
    """What is not on the day that was told, where no other day is: "the dentist isn't on Tuesday after all"."""
    clause = next(one for one in sentence.clauses if one.start == denial.start)
    text, wrong = clause.raw, denial.wrong
    at = wrong.start - clause.start
    if text[at : at + len(wrong.text)] == wrong.text:
        lead = wrong.text[:3] if wrong.text[:3].lower() == "on " else ""
        text = f"{text[:at]}{lead}{wrong.iso.split(' ')[0]}{text[at + len(wrong.text) :]}"
    text = LEAD.sub("", text).strip()
    return Event(
        start=clause.start,
        end=clause.end,
        summary=text[:1].upper() + text[1:400],
        when=None,
        event_type="cancellation",
        topics=content_words(denial.said if denial.said.isascii() else denial.subject) - _NO_TOPICS,
        change="off",
        denied=wrong,
        sure=denial.sure,
    )


_CANCELLED = re.compile(
    r"\b(?:cancel(?:l?ed)|had to cancel|called off|scrapped)\s(?:the|our|my|that)\s(?P<what>(?:[\w'&-]+\s){0,4}?[\w'&-]+)"
    r"(?=\W|$|\s(?:because|for|on|in|at|since|and|so|again|after|yesterday|today|last|this)\b)"
    r"|^(?:\W|(?:and|so|but|sadly|unfortunately)\b)*(?:the|our"
    r"|my)\s(?P<off>(?:[\w'&-]+\s){0,4}?[\w'&-]+)\s(?:(?:is|was|has been|got|have been|are|were)\s"
    r"(?:cancel(?:l?ed)|called off|scrapped)|is off|are off|fell through)"
    r"|取消了?(?P<zh>[\u4e00-\u9fff]{2,10}?)(?:的?(?:预订|预定|订单))?(?:了|$)"
    r"|(?P<zhoff>[\u4e00-\u9fff]{2,10}?)(?:已经?|被)?(?:取消|泡汤|黄)了",
    re.IGNORECASE,
)


def thing_called_off(clause: str) -> str:
    """What a clause says has been called off: ``Zadar apartment``, ``罗马的酒店``; empty where it names nothing."""
    found = _CANCELLED.search(clause)
    return next((words for words in found.groups() if words), "") if found else ""


def put_right(
    reading: Reading,
    sentence: Sentence,
    denial: Denial,
    right: DateSpan,
    said_at: datetime,
    zone: tzinfo,
    change: str,
) -> Event | None:
    """What is on another day than the one that is denied, told as if it had been said so at once."""
    clause = next((one for one in sentence.clauses if one.start <= right.start < one.end + 1), None)
    if clause is None or not clause.holds:
        return None
    dated = find_dates(
        reading.raw, said_at, zone, prefer=tense(clause.text, reading.has_han, right.start - clause.start)
    )
    when = next((each for each in dated if each.start == right.start), right)
    lead = "on " if when.text.isascii() and when.precision == "day" and denial.said.isascii() else ""
    summary = f"{LEAD.sub('', denial.said)} {lead}{when.iso.split(' ')[0]}" if lead else f"{denial.said}{when.shown}"
    summary += reading.raw[when.end : clause.end].rstrip(" ,;.，。；")
    if when.clock and lead:
        summary += f" ({when.iso})"
    return Event(
        start=denial.start,
        end=clause.end,
        summary=summary[:1].upper() + summary[1:400],
        when=when,
        event_type=next((name for name, rule in TYPE_RULES if rule.search(denial.subject)), "event"),
        topics=content_words(denial.said if denial.said.isascii() else denial.subject) - _NO_TOPICS,
        change=change,
        said=clause.text,
        denied=denial.wrong,
    )
