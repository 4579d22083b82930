"""The days that a text may speak of, among all trips that were spoken of and those that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .calendar import key_of
from .cues import Cues
from .hints import hinted
from .numbers import MONTHS, Goal
from .places import OTHER_TRIP, country_words
from .registry import Key, Registry, Scope
from .return_forms import UNTOLD, WHOLE_DAY
from .text import Words

__all__ = ["FEATURES", "Candidate", "candidates", "is_read", "trip_named"]

FEATURES: Final = (
    "name", "plain", "definite", "anchored", "common", "signs", "own_name", "own_plain", "own_signs", "cosine",
    "recent", "same_trip", "trip_named", "trip_words", "date_led", "date", "date_mentioned", "stepped", "ruled",
    "ruled_near", "hinted", "called", "called_hint", "meal_missing", "back", "new", "new_trip", "whole_day", "untold",
    "arrives", "leaves", "lodging", "here", "here_asked", "here_offered", "here_confirmed", "here_short",
    "here_question", "here_turning", "here_one_more", "here_goes_to", "here_resume", "here_and", "here_anaphoric",
    "here_young", "here_repeats", "here_shares", "here_answers", "here_this", "here_tied", "here_said",
    "here_entered", "here_told", "here_yes", "here_recap", "left_untold", "beside",
)  # fmt: skip
"""Of a candidate day: what the text shares with it by kind of word, and what of that no other day has (``own``); how lately
it was left, which dates and trips the text names, whether rules say that it is named (``ruled``), whether what the text says
or calls the day by ("the castle day") was said of it before its turn (``hinted``), whether it is a day not spoken of so far
(``new``); of the day in hand
(``here``) whether the last answer asked, offered or confirmed something, the text's form, how lately it was entered
(``here_entered``), whether it was entered by name (``here_told``), and whether the text answers a question with yes or no; of
the day left last, whether it was left without a word (``left_untold``); which places the text only asks for something near
(``beside``)."""

_FIRST_SENTENCES = 240  # characters of an answer in which a date is its own
_MOST_DAYS = 40  # days that are weighed against each other


@dataclass(slots=True)
class Candidate:
    """A day that a text may speak of, and its features in the order of :data:`FEATURES`.

    Attributes:
        index: of its scope; negative for a day that has none so far.
    """

    index: int
    scope: Scope | None
    root: Scope
    key: Key | None
    values: list[float]


def candidates(
    registry: Registry, current: Scope, words: Words, cues: Cues, ruled: Scope | None = None, *, user: bool
) -> list[Candidate]:
    """The days of all trips that were spoken of, the one in hand first, then those that the text names and nobody spoke of.

    Args:
        ruled: the day that rules say the text names, if any.
    """
    trips = [root for root in registry.roots if root.kind == "trip"]
    days, unbegun = [current], []
    for root in trips:
        if ("day", 1) not in root.children and root.steps and root is not current:
            days.append(root)  # its first day, as long as that is not told by number
        elif user and not root.steps and not root.children and root is not current.root:
            unbegun.append(root)
        days += [day for day in root.children.values() if day is not current and day.steps]
    if len(days) > _MOST_DAYS:  # those of the trip in hand, then those opened last
        days[1:] = sorted(days[1:], key=lambda day: (day.root is not current.root, -day.index))[: _MOST_DAYS - 1]
    found = [Candidate(day.index, day, day.root, day.key, [0.0] * len(FEATURES)) for day in days]
    for root in unbegun:
        found.append(Candidate(-len(found), None, root, ("day", 1), [0.0] * len(FEATURES)))
    known = {(one.root.index, one.key) for one in found}
    trips.sort(key=lambda root: root is not current.root)
    for goal in cues.goals:
        if goal.many or not is_read(goal, user):
            continue
        for root in trips:
            key = key_of(goal, root, current)
            if key is None or (key[0] != "day" and root is not current.root):
                continue
            if (root.index, key) not in known:
                known.add((root.index, key))
                found.append(Candidate(-len(found), root.children.get(key), root, key, [0.0] * len(FEATURES)))
    for root in trips:
        for key in hinted(root, words.terms) if root.hints else ():
            if (root.index, key) not in known and user:
                known.add((root.index, key))
                found.append(Candidate(-len(found), root.children.get(key), root, key, [0.0] * len(FEATURES)))
    if ruled is not None and all(one.scope is not ruled for one in found):
        found.append(Candidate(ruled.index, ruled, ruled.root, ruled.key, [0.0] * len(FEATURES)))
    if (
        user
        and (WHOLE_DAY.search(words.lower) or UNTOLD.search(words.lower))
        and (root := trip_named(words, registry, current.root) or current.root)
    ):
        told = {key for index, key in known if index == root.index}
        left = next((("day", n) for n in range(1, root.length + 1) if ("day", n) not in told), None)
        if left is not None:  # "the free day in Denmark": the one that nothing was said of
            found.append(Candidate(-len(found), root.children.get(left), root, left, [0.0] * len(FEATURES)))
    return found


def is_read(goal: Goal, user: bool) -> bool:
    """Whether a goal that a text names counts: in an answer only the first sentences speak of their own day."""
    return user or goal.start <= _FIRST_SENTENCES


def trip_named(words: Words, registry: Registry, here: Scope) -> Scope | None:
    """The one trip whose town, country or month a text names, or "the other trip" than the one in hand."""
    found = []
    for root in registry.roots:
        if root.kind == "trip":
            town = bool(root.tokens) and all(token in words.tokens for token in root.tokens)
            country = not root.company.isdisjoint(words.terms) or not words.tokens.isdisjoint(
                country_words(root.tokens)
            )
            if (
                town
                or country
                or (words.has_cjk and any(name in words.text for name in root.tokens if name > "\u2e80"))
            ):
                found.append(root)
    trips = [root for root in registry.roots if root.kind == "trip"]
    if not found and len(trips) > 1:
        found = [root for root in trips if root.month and MONTHS[root.month - 1] in words.tokens]
        if len(trips) == 2 and OTHER_TRIP.search(words.lower[:300]):
            found = [root for root in trips if root is not here]
    return found[0] if len(found) == 1 and len(registry.roots) > 1 else None
