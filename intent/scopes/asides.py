"""A word on another day of a trip that names no day: "also, what time did the shrine hike start?".

Under one trip the same kinds of things are asked for each day, so only what one day alone has speaks for it: a place, a
dish, a sight that was talked about there, is called by "the" or by its name, and was not heard just now.
"""

from __future__ import annotations

import re

from .cues import Cues
from .numbers import KIND_WORDS
from .registry import Registry, Scope
from .text import NAME, Words, stem
from .thread import Thread

__all__ = ["aside"]

_EACH_DAY_TEXT = """
breakfast lunch luncheon dinner supper brunch meal coffee tea table room hotel hostel flight train taxi bus tram metro
ticket price cost euro dollar pound yen yuan peso book booking booked reserve reservation restaurant cafe bar museum
tour child kid husband wife person people walk walking queue station airport luggage bag suitcase weather rain budget
garden seat seats hour half quarter minute nine eight seven six five four eleven twelve open closed closing opening
fee guest guide visit sight street city town centre center view option near nearby food eat drink vegetarian vegan
allergy allergic shellfish mother father mum dad parent son daughter friend sister brother early later change changed
swap swapped move moved cancel cancelled add added keep ask asked bring hold gluten dairy nut meat spot manage
recommend special magical quiet worth walkable expensive cheap happy tired evening night morning afternoon stop line
house home door name card cash photo
"""
_EACH_DAY = frozenset(stem(word) for word in _EACH_DAY_TEXT.split()) | KIND_WORDS
_DEFINITE = re.compile(r"\b(?:the|that|our|those)\s+(?P<what>(?:[\w'’-]+\s+){0,2}[\w'’-]+)")
_CN_DEFINITE = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,4})那(?:天|边|晚|里|顿|家)|那(?:家|个|座|条|艘|顿|间|趟)(?P<that>[\u4e00-\u9fff]{2,4})"
)
_CALLED_DAY = re.compile(
    r"\b(?:the|our|that) (?!same |whole |other |next |first |last |full |entire |rainy )"
    r"[a-z][\w'’-]+ (?:day|morning|evening|night)\b(?! trip)|"
    r"[\u4e00-\u9fff]那(?:天|晚)"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TURNS = re.compile(
    r"^\W*(?:(?:ok|okay|and|oh|um+|uh+|hmm*|so|sorry|right|hey)\W+)*(?:also|wait|uh+|question|one (?:more|other|last|small|further)|"
    r"another|actually|quick|before i forget|by the way|btw|do we (?:still )?(?:need|have)|did (?:the|we|you)|"
    r"does (?:the|our)|will (?:the|our)|i have had|i(?:'ve| have) (?:just )?(?:had|heard|read|seen))\b|^\W*(?:对了|还有|另外|问一下|再问)"
)
_ELSEWHERE, _DEFINED, _OFTEN, _HERE = 1.0, 0.4, 0.3, 0.9
"""What a word of another day alone says for it, more where it is definite or was said often; of the day in hand, against it."""
_SIGNS = 0.45  # two Chinese signs are half a word, or none
_NEED, _NEED_TURNING = 1.9, 1.35
_SHARE = 0.65  # of all days' steps with a word, those of one day, for it to be that day's own
_LEAST = 3  # steps that a day must have


def aside(thread: Thread, words: Words, cues: Cues, current: Scope, registry: Registry) -> tuple[Scope, float] | None:
    """The other day, of the trips that are planned, that a person's text speaks of without naming it.

    Args:
        current: the day in hand.

    Returns:
        The day and how surely it is meant (0 to 1); None where no day is clearly meant.
    """
    trips = [root for root in registry.roots if root.kind == "trip"]
    days = [day for trip in trips for day in trip.children.values() if day.steps >= _LEAST or day is current]
    turning = any(form.search(words.lower[:80]) for form in (_TURNS, _CALLED_DAY)) or cues.resume
    likened = cues.repeats and not turning
    if likened or any(goal.score < 0 for goal in cues.goals) or len(days) < 2 or words.count > 60:
        return None
    profiles = registry.profiles
    said = thread.said()
    definite = {stem(word) for match in _DEFINITE.finditer(words.lower) for word in _WORD.findall(match["what"])}
    if words.has_cjk:
        for match in _CN_DEFINITE.finditer(words.text[:200]):
            what = match["what"] or match["that"]
            definite.update(what[at : at + 2] for at in range(len(what) - 1))
    towns = {stem(token) for trip in trips for token in trip.tokens}
    scores: dict[int, float] = {}
    against = 0.0
    for term, weight in words.terms.items():
        if term in _EACH_DAY or term in towns or term[0].isdigit():
            continue
        counts = {day.index: n for day in days if (n := profiles.counts(day.index).get(term, 0))}
        if not counts:
            continue
        if current.index in counts:
            against += _HERE * counts[current.index] / sum(counts.values())
            continue
        if term in said:
            continue
        index = max(counts, key=lambda one: (counts[one], -one))
        share = counts[index] / sum(counts.values())
        if share < _SHARE:
            continue
        own = registry.by_index[index].root is current.root
        sign = term[0] > "\u2e80"
        gain = _SIGNS if sign else _ELSEWHERE
        gain += (3 * _DEFINED if sign else _DEFINED) if term in definite or weight >= NAME else 0.0
        gain += _OFTEN * (counts[index] > 1) - (0.0 if own else 0.3)
        scores[index] = scores.get(index, 0.0) + gain * share
    if not scores:
        return None
    best, *others = sorted(scores, key=lambda one: (-scores[one], one))
    gain = scores[best] - against - (0.7 * scores[others[0]] if others else 0.0)
    if gain < (_NEED_TURNING if turning else _NEED):
        return None
    return registry.by_index[best], min(0.8, 0.4 + 0.15 * gain)
