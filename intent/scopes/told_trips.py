"""Trips that are told of rather than planned: "I'm flying to Oslo on 8 December, back on the 11th".

Who plans a trip speaks of its days one by one, and each is a goal. Who mentions one says when they are away; the next
thing they say may be of their work or their children, and a date within these days is no goal of the trip. Such a trip is
a subject like any other, until its days are asked for or planned.
"""

from __future__ import annotations

from ... import lazy_re as re
from .asides import trip_signs
from .cues import Cues
from .itinerary import read_stays
from .registry import Registry, Scope
from .text import Words, same_length_lower

__all__ = ["hear_planning", "plans_days", "speaks_of_other_stay", "told_trip_named"]

_PLANS = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|itinerar(?:y|ies)|help|let'?s|let us|arrang\w+|organi[sz]\w+|sort|sketch\w*|map out|"
    r"work (?:it )?(?:through|out)|figure out|set up|fill in|suggest\w*|recommend\w*|propos\w+|start(?:ing)? with|begin(?:ning)?|"
    r"tackle|ideas?|what (?:to|should|can|could|shall)|where (?:to|should|can|could|shall)|(?:i|we)(?:['’]d| would) like|"
    r"(?:i|we) (?:want|need)|sightsee\w*|sights|first)\b|"
    r"安排|规划|计划|攻略|帮|推荐|行程|排一下|想|先|打算|弄"
)


def plans_days(words: Words, cues: Cues, *, opening: bool) -> bool:
    """Whether a text plans a trip's days, or asks for something on the way.

    Args:
        opening: whether it is the first that is heard of the trip: any question then asks for a plan.
    """
    if any(not goal.dated and goal.kind == "day" for goal in cues.goals):
        return True
    if opening and ("?" in words.text or "？" in words.text):
        return True
    return _PLANS.search(words.lower) is not None


def hear_planning(trip: Scope, words: Words, cues: Cues, registry: Registry) -> None:
    """Take in that the days of a trip which was only told of are planned from now on."""
    if trip.told and plans_days(words, cues, opening=False) and trip_signs(words, registry) > 1:
        trip.told = False


def speaks_of_other_stay(words: Words, cues: Cues, trip: Scope) -> bool:
    """Whether the dates of a text are those of a stay elsewhere than on a trip."""
    if not any(goal.dated for goal in cues.goals):
        return False
    places = [same_length_lower(stay.place) for stay in read_stays(words, cues.goals) if stay.place]
    return any(set(place.split(" ")).isdisjoint(trip.tokens) for place in places)


def told_trip_named(registry: Registry, words: Words) -> Scope | None:
    """The one trip that was only told of whose town a text names."""
    found = [
        trip
        for trip in registry.roots
        if trip.told and any(name in (words.text if name[:1] > "\u2e80" else words.tokens) for name in trip.tokens)
    ]
    return found[0] if len(found) == 1 else None
