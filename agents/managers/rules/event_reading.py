"""One dated event as it is read: its words with the day in full, its type, and what it is about."""

from __future__ import annotations

from datetime import datetime, tzinfo

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan, Prefer
from .event_changes import Event
from .event_summaries import in_days
from .event_words import (
    FUTURE,
    I_WAS_BORN,
    IT_STARTS,
    LEAD,
    PAST,
    RECURS,
    REMIND,
    SELF,
    SOMEBODY,
    TODAY,
    TRIVIAL,
    TYPE_RULES,
)
from .its_owner import ITS, its_owner
from .moved_days import NOW_ON
from .sentences import Clause, Reading, Sentence
from .words import NAME, content_words

__all__ = ["event_of"]


def _is_none(
    reading: Reading, sentence: Sentence, clause: Clause, when: DateSpan, *, personal: bool, request: bool
) -> bool:
    """Whether a date that changes nothing is no event: of what recurs, of the moment, or of nobody's life."""
    if RECURS.search(sentence.text):
        return True
    if TRIVIAL.search(clause.text) and not re.search(r"\b(?:birthday|wedding|appointment|meeting)\b", clause.text):
        return True
    if when.precision in ("month", "week") and not (
        personal and (PAST.search(clause.text) or FUTURE.search(clause.text) or reading.has_han)
    ):
        return True
    if re.match(r"(?:since|until|till|during)\b", when.text, re.IGNORECASE) or re.search(
        r"\b(?:since|until|till)\s(?:about\s)?$", reading.raw[: when.start][-12:], re.IGNORECASE
    ):
        return True
    if TODAY.match(when.text) and not (
        re.search(
            r"\b(?:I|we|I've|we've)\b.{0,30}?(?:ed\b|got|went|bought|met|saw|ran|finished|had|took|made"
            r"|left|lost|won|am\b|'m\b|'ll|have)",
            clause.text,
            re.IGNORECASE,
        )
        or (reading.has_han and re.search(r"我|要|了", clause.text) and len(clause.text) > 6)
        or request
    ):
        return True
    if I_WAS_BORN.search(clause.text) and not re.search(r"\d{4}", when.text):
        return True  # of which year is not said
    return re.search(r"今年|去年|现在|年", when.text) is not None and when.precision != "day"


def event_of(
    reading: Reading,
    sentence: Sentence,
    clause: Clause,
    when: DateSpan,
    start: int,
    end: int,
    *,
    before: str,
    request: bool,
    change: str,
    said_at: datetime,
    zone: tzinfo,
    prefer: Prefer,
    lead: str = "",
) -> Event | None:
    """An event of one day as it is kept: its summary with days in full, its type and what it is about.

    Args:
        clause: that tells the day ``when``. start, end: of the words that tell the event.
        before: what was said before, of which a bare date tells the day. request: whether it asks for a reminder or a booking.
        change: as of :class:`~.event_changes.Event`. prefer: how open dates are read.
        lead: who does what, where that was said in words before.

    Returns:
        None where the words tell no event.
    """
    text = lead + reading.raw[start:end]
    bare = lead + reading.raw[start : when.start] + " " + reading.raw[when.end : end]
    topics = content_words(bare)
    personal = bool(SELF.search(text)) or bool(SOMEBODY.search(text)) or request
    if when.precision in ("year", "season"):
        return None
    if not change and (
        (not topics and not before) or _is_none(reading, sentence, clause, when, personal=personal, request=request)
    ):
        return None
    summary, owner = text, ""
    if not change and start == sentence.start and IT_STARTS.match(LEAD.sub("", text)):
        earlier = next(
            (
                s
                for s in reversed(reading.sentences)
                if s.end <= sentence.start and sentence.start - s.end < 4 and (s.holds or s.asked)
            ),
            None,
        )
        if earlier is not None and earlier.asked:
            # "What shall I bake for the party? It's on Sunday": what is on Sunday stands in the question.
            summary, topics, personal = f"{text} — {earlier.raw.strip()}", topics | content_words(earlier.raw), True
        elif earlier is not None:
            # "It comes on Thursday": what comes was said in the sentence before.
            start, text = earlier.start, reading.raw[earlier.start : end]
            summary, topics, personal = text, topics | content_words(earlier.raw), True
        elif len(topics) < 2:
            return None
    elif ITS.match(LEAD.sub("", text)) and start == sentence.start:
        owner = its_owner(sentence, reading.sentences)
        if not owner and not change:
            return None  # of what, is not said
    if not topics or (
        not personal
        and len(topics) <= 6
        and start == sentence.start
        and not change
        and not re.search(rf"\b{NAME}\s\w+s\b|是|在|开|交|发", text)
    ):
        # A bare date, or a fragment: what it is about was said before.
        hint = " ".join(before.split())[:260]
        if hint and not change:
            summary = f"{text} — {hint}"
            topics = topics | content_words(hint)
    summary = in_days(summary, text, when, len(lead) + when.start - start, said_at, zone, prefer)
    if change == "moved":
        summary = NOW_ON.sub(lambda now: now["day"] or "", summary)
    summary = LEAD.sub("", " ".join(summary.split())).strip(" ,;:，。—-")
    if owner:
        summary, topics = ITS.sub(owner, summary), topics | content_words(owner)
    asked_for = REMIND.match(summary)
    if asked_for and len(summary) - asked_for.end() > 3:
        summary = summary[asked_for.end() :]
    if when.clock:
        summary += f" ({when.iso})" if when.day == when.last_day else ""
    summary = summary[:1].upper() + summary[1:]
    # What is "moved to" a day is no move.
    types = (name for name, rule in TYPE_RULES if rule.search(text) and not (change and name == "move"))
    kind = next(types, "reminder" if asked_for else "event")
    return Event(
        start=start,
        end=end,
        summary=summary[:400],
        when=when,
        event_type=kind,
        topics=topics,
        change=change,
        said=clause.text,
    )
