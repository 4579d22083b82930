"""Dated events: what happened or will happen, with its day in the user's calendar; moved and called off ones too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan, Prefer
from .denied_days import Denial, denials, denied_after, goes_on
from .event_changes import Event, called_off, not_so, put_right
from .event_reading import event_of
from .event_words import (
    ANY_SUCH_DAY,
    ASKED_IF,
    ASKS_WHEN,
    CHANGED_ZH,
    DATE_WORDS,
    LOOK_UP,
    MOST,
    MOVED,
    MOVED_AWAY,
    MOVED_IT,
    NOT_MOVED,
    NOT_OFF,
    OFF,
    PAST,
    PERSON_MOVED,
    PLAN_CHANGED,
    RECURS,
    REQUEST,
    SELF,
    SLIP,
    SLIP_START,
    STILL_ON,
    THAT_IS,
    WEEK_NEXT,
)
from .events_apart import Piece, pieces_of
from .moved_days import is_now_on
from .requests import asks_of_assistant
from .sentences import MASK, Clause, Reading, Sentence
from .shifts_told import moves, shifts_told
from .tense import done_on, tense

__all__ = ["find_events"]


def find_events(reading: Reading, said_at: datetime, zone: tzinfo, *, before: str = "", asked: str = "") -> list[Event]:
    """The dated events of a step, and the changes of earlier ones.

    Args:
        reading: the speaker's own words.
        said_at, zone: when it was said, and the user's timezone.
        before: what the user said last before it.
        asked: the question that it answers: a bare date is about that, and about what the user had said.
    """
    hint = f"{before} — {asked}".strip(" —") if ASKS_WHEN.search(asked) else ""
    dated = find_dates(reading.raw, said_at, zone) if _may_date(reading) else ()
    calls_off = bool(OFF.search(reading.raw))
    may_shift = moves(reading)
    if not dated and not calls_off and not may_shift:
        return []
    found: list[Event] = []
    denial: Denial | None = None
    slipped = replanned = False
    for sentence in reading.sentences:
        request = bool(REQUEST.search(sentence.text))
        inside = [
            span
            for span in dated
            if sentence.start <= span.start < sentence.end
            and sentence.text[span.start - sentence.start] != MASK  # in a quote: nobody's plan
            and not (span.text.lower().endswith("day") and WEEK_NEXT.match(reading.raw, span.end))
            and not ANY_SUCH_DAY.search(sentence.text[: span.start - sentence.start])
        ]
        slipped = (
            slipped
            or bool(SLIP.search(sentence.text))
            or (bool(SLIP_START.search(sentence.text)) and len(sentence.text) < (60 if inside else 14))
        )
        replanned = replanned or bool(PLAN_CHANGED.search(sentence.text))
        if sentence.supposed or (sentence.asked and not request) or LOOK_UP.search(sentence.text):
            continue
        off = calls_off and bool(OFF.search(NOT_OFF.sub(" ", sentence.text))) and not STILL_ON.search(sentence.text)
        if off and not (inside and not _off_clause_dated(sentence, inside)):
            found.append(called_off(sentence, said_at, zone))
            if len(inside) == 0:
                continue
        elif off:
            found.append(called_off(sentence, said_at, zone))
        if may_shift:
            told, beside = shifts_told(reading, sentence, inside)
            found += told
            inside = [span for span in inside if span not in beside]
        if inside:
            change = "moved" if replanned else "slip" if slipped else ""
            denied = denials(sentence, inside)
            righted: list[DateSpan] = []
            denial = denied[-1] if denied else denial
            wrong = [one.wrong for one in denied if one.sure]
            right = next(
                (one for one in inside if denial and one.start > denial.wrong.start and one not in wrong), None
            )
            if denial and right and goes_on(reading.raw[denial.wrong.end : right.start], denial):
                event = put_right(reading, sentence, denial, right, said_at, zone, change)
                found += [event] if event else []
                wrong += [denial.wrong, right]
                righted = [denial.wrong]
                denial = None
            elif not denied or not denied[-1].sure:
                denial = None
            ended = [
                one
                for one in denied
                if (one.sure or one.ends) and one.wrong not in righted and dated[-1].start <= one.wrong.start
            ]
            wrong += [one.wrong for one in ended]
            found += [not_so(sentence, one) for one in ended]
            inside = [span for span in inside if span not in wrong]
            after = denied_after(sentence, inside)
            told = _of_sentence(
                reading, sentence, inside, said_at, zone, before=hint, request=request, off=off, change=change
            )
            found += [
                replace(one, denied=after[1]) if after and one.when and one.when.start == after[0].start else one
                for one in told
            ]
            if not denied:
                slipped = replanned = False
        if len(found) >= MOST:
            break
    return found[:MOST]


def _may_date(reading: Reading) -> bool:
    """Whether a text holds any word or digit with which dates are told."""
    return reading.has_han or bool(DATE_WORDS.search(reading.raw.lower()))


def _off_clause_dated(sentence: Sentence, spans: Sequence[DateSpan]) -> bool:
    clause = next((c for c in sentence.clauses if OFF.search(c.text)), None)
    return clause is not None and any(clause.start <= span.start < clause.end for span in spans)


def _of_sentence(
    reading: Reading,
    sentence: Sentence,
    spans: Sequence[DateSpan],
    said_at: datetime,
    zone: tzinfo,
    *,
    before: str,
    request: bool,
    off: bool,
    change: str,
) -> list[Event]:
    owners: dict[int, list[DateSpan]] = {}
    for span in spans:
        for number, clause in enumerate(sentence.clauses):
            if clause.start <= span.start < clause.end + 1:
                owners.setdefault(number, []).append(span)
                break
    events: list[Event] = []
    for number, inside in owners.items():
        clause = sentence.clauses[number]
        if not clause.holds and not request:
            continue
        if re.match(r"(?:not|rather than|instead of)\b", clause.text, re.IGNORECASE):
            continue
        if (off and OFF.search(clause.text)) or asks_of_assistant(clause.text):
            continue
        raw = reading.raw[clause.start : clause.end]
        span = _day_meant(reading, clause, inside)
        moved = MOVED.search(clause.text)
        if moved and (
            ASKED_IF.search(raw[: span.start - clause.start]) or NOT_MOVED.search(clause.text[: moved.start()])
        ):
            continue  # who asks whether something is moved does not say so
        now = is_now_on(clause.text, span.start - clause.start) and not RECURS.search(sentence.text)
        if (moved or now) and not _moves_away(clause, raw[: span.start - clause.start]):
            change = "moved"
        if not change and (pieces := pieces_of(clause, reading.raw, inside)):
            events += _apart(reading, sentence, number, pieces, set(owners), said_at, zone, request=request)
            continue
        at = span.start - clause.start if raw.startswith(clause.text[:40]) else None
        prefer: Prefer = "future" if change == "moved" else tense(_around(sentence, number), reading.has_han, at)
        resolved = find_dates(raw, said_at, zone, prefer=prefer)
        exact = next((each for each in resolved if each.start + clause.start == span.start), None)
        if exact is None:
            continue
        start, end = _kept(sentence) if len(owners) == 1 else _clause_span(sentence, number, set(owners))
        wider = find_dates(reading.raw[start:end], said_at, zone)
        exact = _with_hour(replace(exact, start=span.start, end=span.end, text=span.text), wider, start)
        event = event_of(
            reading,
            sentence,
            clause,
            exact,
            start,
            end,
            before=before,
            request=request,
            change=change,
            said_at=said_at,
            zone=zone,
            prefer=prefer,
        )
        if event is not None:
            was = inside[0] if change == "moved" and len(inside) > 1 and inside[0].start > clause.start else None
            events.append(replace(event, on=was if was is not span else None))
    return events


def _day_meant(reading: Reading, clause: Clause, inside: Sequence[DateSpan]) -> DateSpan:
    """Of the dates of a clause that on which its event is: the last one where it moves, else the first."""
    if len(inside) == 1 or CHANGED_ZH.search(reading.raw[: inside[-1].start]) or MOVED.search(clause.text):
        return inside[-1]
    done = done_on(reading.raw[clause.start : clause.end])
    # What was booked is for another day than that on which it was booked.
    return inside[1] if done and inside[0].start - clause.start in done else inside[0]


def _moves_away(clause: Clause, before: str) -> bool:
    """Whether somebody moves, and not an event; ``before`` are the words of the clause up to its day."""
    of_person = PERSON_MOVED.search(clause.text) is not None and MOVED_IT.search(before) is None
    return of_person or MOVED_AWAY.search(before) is not None


def _apart(
    reading: Reading,
    sentence: Sentence,
    number: int,
    pieces: Sequence[Piece],
    dated: set[int],
    said_at: datetime,
    zone: tzinfo,
    *,
    request: bool,
) -> list[Event]:
    """The events of a clause that tells several, each with its day."""
    clause = sentence.clauses[number]
    raw = reading.raw[clause.start : clause.end]
    events: list[Event] = []
    for piece in pieces:
        own = f"{piece.lead}{reading.raw[piece.start : piece.end]}"
        prefer = tense(own, reading.has_han, len(piece.lead) + piece.when.start - piece.start)
        resolved = find_dates(raw, said_at, zone, prefer=prefer)
        exact = next((each for each in resolved if each.start + clause.start == piece.when.start), None)
        if exact is None:
            continue
        inside = find_dates(reading.raw[piece.start : piece.end], said_at, zone)
        exact = replace(exact, start=piece.when.start, end=piece.when.end, clock=None, hour=None)
        end = _clause_span(sentence, number, dated)[1] if piece is pieces[-1] else piece.end
        event = event_of(
            reading,
            sentence,
            clause,
            _with_hour(exact, inside, piece.start),
            piece.start,
            end,
            before="",
            request=request,
            change="",
            said_at=said_at,
            zone=zone,
            prefer=prefer,
            lead=piece.lead,
        )
        if event is not None:
            events.append(event)
    return events


def _with_hour(when: DateSpan, spans: Sequence[DateSpan], offset: int) -> DateSpan:
    """A day with the hour that is told with it in a wider part of the text, where one is; ``spans`` begin at ``offset``."""
    same = next((each for each in spans if each.start + offset == when.start), None)
    if same is None or (same.clock is None and (same.hour is None or when.clock is not None)):
        return when
    return replace(when, clock=same.clock, hour=same.hour)


def _around(sentence: Sentence, number: int) -> str:
    clause = sentence.clauses[number]
    if number and THAT_IS.match(clause.text):
        return sentence.clauses[number - 1].text
    if PAST.search(clause.text) or SELF.search(clause.text) or number + 1 >= len(sentence.clauses):
        return clause.text
    return clause.text + " " + sentence.clauses[number + 1].text


def _kept(sentence: Sentence) -> tuple[int, int]:
    """The sentence from its first to its last clause that holds, cut where it runs on."""
    clauses = sentence.clauses
    end = clauses[-1].end
    if end - clauses[0].start > 260:
        end = max(c.end for c in clauses if c.end - clauses[0].start <= 260 or c is clauses[0])
    return clauses[0].start, end


def _clause_span(sentence: Sentence, number: int, dated: set[int]) -> tuple[int, int]:
    """A clause with those after it up to the next dated one; with the one before where it has no subject of its own."""
    clauses = sentence.clauses
    first = last = number
    if number and number - 1 not in dated and not SELF.search(clauses[number].text):
        first = number - 1
    while last + 1 < len(clauses) and last + 1 not in dated and clauses[last + 1].end - clauses[first].start < 160:
        last += 1
    return clauses[first].start, clauses[last].end
