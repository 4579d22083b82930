"""Which scope the words of a person name: one order in which the kinds of evidence are heard."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import datetime

from ... import lazy_re as re
from .anchor import Anchor, company_after, find_trip, find_trip_by_company, likened, open_trip, read_anchor
from .cues import SWITCH, Cues
from .days import calendar_day
from .evidence import weigh
from .identity import Features
from .introduction import open_introduced
from .itinerary import read_stays
from .named import find_named
from .registry import Registry, Scope
from .roots import Place
from .switch import Switch, numbered, resolve
from .text import Words, same_length_lower
from .thread import Thread

__all__ = ["choose"]

_NAMED_DAYS = 2  # after so many days named with town and company, days are named with every change
_TALK = 3  # topics after which a talk hardly turns into one whose goals are introduced
_OPEN_FIRST, _OPEN_EARLY, _OPEN_LATE = -1.0, 0.5, 6.0
"""Log-odds from which a text opens a scope while none was introduced: at the very first, after few topics, after many."""
_SEVERAL = re.compile(
    r"\b(?:two|three|four|2|3|4|both|several|couple of) (?:[\w-]+ ){0,2}(?:trips|holidays|getaways|breaks|journeys|vacations)\b"
)
_AGAINST_RETURN = 0.8  # "where were we" outweighs a word or two in common with another scope


def choose(
    thread: Thread,
    words: Words,
    cues: Cues,
    features: Features,
    place: Place,
    registry: Registry,
    speakers: AbstractSet[str],
    at: datetime,
) -> Switch | None:
    """The scope that a person's words name or introduce; None where they name none.

    A numbered day with its town comes first; then numbered and otherwise named goals; then what scopes were introduced
    with, and whether the text introduces one. Where scopes are introduced, what was not is not guessed from headers.

    Args:
        thread: where it is said; counts days that were named with their company.
        features: of the text.
        registry: the user's scopes; may gain some.
        speakers: words of the names of those who speak.
        at: when it is said.
    """
    current = thread.current
    opening = current is None and len(read_stays(words, cues.goals)) > 1 if cues.goals else False
    if opening and (day := calendar_day(thread, words, cues, place, registry, at, user=True)) is not None:
        return day  # several stays with their dates: take them all in before a day of one is looked for
    if (day := _named_day(thread, words, cues, registry)) is not None:
        return day
    if not opening and (day := calendar_day(thread, words, cues, place, registry, at, user=True)) is not None:
        return day
    _count_numbered(words, cues, current)
    in_plan = current is not None and current.root.kind in ("trip", "plan")
    counted = any(in_plan or not goal.dated for goal in cues.goals)
    started = thread.introduced
    named = [] if started or counted else [goal for goal in find_named(words) if goal.opens]
    if counted or place.weighed or (named and not any(goal.kind == "project" for goal in named)):
        return resolve(words, cues, registry, place, user=True)
    evidence = weigh(words, features, cues, registry, current, thread.history)
    own = thread.answered or (thread.alone and (thread.seen > 1 or registry.assisted))
    if started:
        bar = 0.0
    elif current is None and not own:
        bar = _OPEN_FIRST
    else:
        bar = _OPEN_EARLY if len(thread.history) < _TALK else _OPEN_LATE
    formal = evidence.spoken if own else evidence.formal
    if evidence.opening > bar and (formal or (started and not own)) and not in_plan:
        opened = open_introduced(words, registry, speakers)
        return Switch(opened, min(0.95, 0.6 + 0.1 * max(0.0, evidence.opening)), introduces=True)
    if evidence.best is not None and evidence.gain >= evidence.need + (_AGAINST_RETURN if cues.back else 0.0):
        return Switch(evidence.best, min(0.95, 0.5 + 0.15 * evidence.gain))
    if (started and current is not None and not in_plan) or thread.anchors > _NAMED_DAYS:
        return None
    return resolve(words, cues, registry, place, user=True)


def _named_day(thread: Thread, words: Words, cues: Cues, registry: Registry) -> Switch | None:
    """The numbered day that a text names with its town or company, or alone where days are named with every change."""
    current = thread.current
    if (anchor := read_anchor(words, cues, registry.towns)) is not None:
        trip = find_trip(anchor, registry, current)
        if trip is None and (anchor.company or current is None):
            trip = _open_named_trips(words, anchor, registry) or open_trip(anchor, registry)
        if trip is not None and (day := numbered(anchor.goal, words, trip, registry, current)) is not None:
            if not trip.company:
                trip.company.update(anchor.company)
            thread.anchors += bool(anchor.company)
            return Switch(day, 0.9, introduces=bool(anchor.company))
    days = [goal for goal in cues.goals if goal.kind == "day" and not goal.many]
    set_days = [goal for goal in days if goal.score > 0]
    trip = find_trip_by_company(words, registry) if set_days else None
    if trip is not None and (current is None or current.root is not trip):
        day = numbered(set_days[-1], words, trip, registry, current)
        if day is not None:
            return Switch(day, 0.75)
    if thread.anchors <= _NAMED_DAYS or current is None or current.root.kind != "trip":
        return None
    bare: Scope | None = None
    if len(days) == 1 and not likened(words, days[0]):
        bare = numbered(days[0], words, current.root, registry, current)
    return Switch(bare, 0.75) if bare is not None else None


def _open_named_trips(words: Words, anchor: Anchor, registry: Registry) -> Scope | None:
    """Open the trips that a text names as such ("to New York for three days. Day 1: Central Park?"); returns the anchor's."""
    named = [goal for goal in find_named(words) if goal.kind == "trip" and goal.opens]
    tokens = set(same_length_lower(anchor.place).split(" "))
    meant = [goal for goal in named if len(named) == 1 or tokens & set(goal.tokens)]
    several = len(named) == 1 or _SEVERAL.search(words.lower) or all(goal.length > 1 for goal in named)
    if anchor.company or len(meant) != 1 or not several:
        return None
    found: Scope | None = None
    for goal in named:
        trip = registry.open("trip", goal.name, tokens=goal.tokens)
        trip.length = goal.length
        if len(named) > 1:
            later = min((other.lead for other in named if other.start > goal.start), default=anchor.goal.start)
            trip.company |= company_after(words.text, goal.start, later)
        found = trip if goal is meant[0] else found
    return found


def _count_numbered(words: Words, cues: Cues, current: Scope | None) -> None:
    """Take note that a trip's days are called by number."""
    if current is not None and current.root.kind == "trip":
        called = (goal for goal in cues.goals if goal.kind == "day" and goal.score >= SWITCH and not goal.step)
        current.root.numbered += any(goal.plain or words.text[goal.start] == "第" for goal in called)
