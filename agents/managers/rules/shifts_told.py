"""Changes without a new day as events of a sentence; where another day is told, that is what it moves to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from .event_changes import Event
from .sentences import Reading, Sentence
from .shifts import Shift
from .shifts_chinese import chinese_shifts
from .shifts_english import english_shifts
from .words import content_words

__all__ = ["moves", "shifts_told"]

_MAY = re.compile(
    r"\b(?:postpone|delay|defer|push|put|mov|shift|slip|brought|bring|pull|held|set|later|earlier|sooner|now|instead|rather than"
    r"|same (?:day|date|evening|morning|afternoon|night)|chang|reschedul|switch)",
    re.IGNORECASE,
)
_MAY_ZH = re.compile(r"推|延|提前|提早|晚|早|挪|改|换|调")
_TO_DAY = re.compile(r"(?:\b(?:to|until|till|on|now)\s(?:the\s|next\s)?|[到至成为在])$", re.IGNORECASE)
_IS_THEN = re.compile(
    r"(?:to|until|till|on|so|now|it|that|which|meaning|i\.e|new|then)\b|改|到|也就是|就是|新", re.IGNORECASE
)


def moves(reading: Reading) -> bool:
    """Whether a text holds any of the words with which such changes are told."""
    return (reading.has_latin and _MAY.search(reading.raw) is not None) or (
        reading.has_han and _MAY_ZH.search(reading.raw) is not None
    )


def shifts_told(reading: Reading, sentence: Sentence, spans: Sequence[DateSpan]) -> tuple[list[Event], list[DateSpan]]:
    """The changes of a sentence that tell no new day, and the dates in their clauses, which are no days of other events.

    Args:
        spans: the dates of the sentence; one that tells when an event was to be is that of the change (``on``).
    """
    changes = [
        *(english_shifts(sentence) if reading.has_latin else ()),
        *(chinese_shifts(sentence) if reading.has_han else ()),
    ]
    found: list[Event] = []
    taken: list[DateSpan] = []
    for change in changes:
        beside = [span for span in spans if change.start <= span.start < change.end]
        if change.hour is not None and beside:
            continue  # day and hour are told: such an event is read as any other that moves
        if any(_is_new(sentence, span, change) for span in spans):
            continue
        own = [span for span in beside if span.start < change.at or change.any_day]
        taken += beside
        found.append(
            Event(
                start=change.start,
                end=change.end,
                summary=change.said,
                when=None,
                event_type="event",
                topics=content_words(change.what),
                change="shift",
                said=change.said,
                shift=replace(change, on=next(iter(own), None)),
            )
        )
    return found, taken


def _is_new(sentence: Sentence, span: DateSpan, change: Shift) -> bool:
    """Whether a day of the sentence is that to which the event moves."""
    if span.start < change.start:
        return False
    if span.start >= change.end:
        clause = next((one for one in sentence.clauses if one.start <= span.start < one.end + 1), None)
        return clause is not None and _IS_THEN.match(clause.text) is not None
    led = _TO_DAY.search(sentence.text[: span.start - sentence.start]) or span.text[:3].lower() == "on "
    return span.start >= change.at and not change.any_day and bool(led)
