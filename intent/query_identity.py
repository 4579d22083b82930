"""Which scope a question means by what the scope is called by: its town and day, its project and part, its own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..memory_types.labels import Label
from .scopes.anchor import company_of, read_anchor
from .scopes.calendar import aligned, read_dates
from .scopes.cues import Cues, read_cues
from .scopes.identity import Identities, read_features
from .scopes.itinerary import month_day
from .scopes.numbers import WEEKDAYS, Goal, find_goals, parse_goal_name
from .scopes.registry import SEPARATOR, Scope
from .scopes.text import Words, read_words
from .summaries import Gist

__all__ = ["company_speaks", "identified", "means"]

_NUMBERED, _OTHER_NUMBER, _OTHER_COMPANY = 1.6, 2.5, 2.5
_ENOUGH = 0.9  # a word or two that some scope has as well are chance
_CLEAR = 0.12


def identified(text: str, labels: Sequence[Label]) -> dict[str, float]:
    """The scope that a question names by what it was introduced with.

    Args:
        text: the question.
        labels: the user's scope labels; aliases are passed over.

    Returns:
        Scope id → weight: the one that stands out with 1, others nearly as likely with less; empty where none stands out.
    """
    live = {label.id: label for label in labels if label.kind == "scope" and not label.alias_of}
    words = read_words(text)
    cues = read_cues(words)
    index: dict[int, Label] = {}
    identities = Identities()
    for number, label in enumerate(live.values()):
        purpose = Gist.parse(label.gist).purpose if label.parent_id in live or "–" in label.name else ""
        if not purpose and label.parent_id not in live:
            continue  # a root: its scopes below are meant, or it is found by its name
        index[number] = label
        identities.introduce(number, read_features(f"{purpose} . \nthe {label.name.replace(SEPARATOR, ' . the ')}"))
    if not index:
        return {}
    scores, _ = identities.scores(read_features("the " + text))
    if not scores:
        return {}
    _number(scores, index, live, words, cues)
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    best, second = ranked[0][1], ranked[1][1] if len(ranked) > 1 else 0.0
    if best < _ENOUGH or best - second < _CLEAR:
        return {}
    found = {index[ranked[0][0]].id: 1.0}
    for number, score in ranked[1:3]:
        if score > best - 2 * _CLEAR:
            found[index[number].id] = 0.6
    return found


def means(goal: Goal, key: tuple[str, int | str], label: Label, trip: Label | None) -> bool | None:
    """Whether a weekday or date means a day of a trip, by the dates in their gists; None where these do not tell.

    Args:
        goal: the weekday or date that is asked for.
        key: kind and number of the day; ``label`` its label, and ``trip`` that of its trip.
    """
    if key[0] == goal.kind:
        return key[1] == goal.number
    if key[0] != "day":
        return None
    root = Scope("", 0, "", "trip")
    if trip is not None and read_dates(root, trip.gist, trip.created_at) and (found := aligned(goal, root)) is not None:
        return found == key
    said = [
        one for one in find_goals(read_words(Gist.parse(label.gist).purpose[:40].partition(". ")[0])) if not one.start
    ]
    for one in said:
        if one.kind == goal.kind:
            return one.number == goal.number or month_day(int(one.number))[1] == -int(goal.number)
        if one.kind == "date" and goal.kind == "weekday" and isinstance(goal.number, int):
            return Gist.parse(label.gist).purpose.lower().startswith(WEEKDAYS[goal.number])
    return None


def company_speaks(
    words: Words, cues: Cues, scope_ids: Sequence[str], parents: Sequence[str | None], labels: Mapping[str, Label]
) -> list[tuple[int, float]]:
    """What the company of a trip that the question names says against the days of trips with another company.

    Args:
        words, cues: the question, read.
        scope_ids: the scopes; parents: for each the id of the label above it, if it has one.
        labels: scope labels by id.

    Returns:
        (place in ``scope_ids``, what is to be added to its score), of those that are concerned.
    """
    anchor = read_anchor(words, cues)
    if anchor is None or not anchor.company:
        return []
    other: dict[str, bool] = {}
    for parent in {one for one in parents if one is not None and one in labels}:
        company = company_of(labels[parent].name)
        other[parent] = bool(company) and company.isdisjoint(anchor.company)
    return [
        (at, -_OTHER_COMPANY)
        for at, parent in enumerate(parents[: len(scope_ids)])
        if parent is not None and other.get(parent)
    ]


def _number(
    scores: dict[int, float], index: Mapping[int, Label], live: Mapping[str, Label], words: Words, cues: Cues
) -> None:
    """Let the day and the company that a question names speak for and against scopes."""
    anchor = read_anchor(words, cues)
    goals = [goal for goal in cues.goals if not goal.many and not goal.step]
    for number, label in index.items():
        if number not in scores:
            continue
        own = label.name.rpartition(SEPARATOR)[2]
        key = parse_goal_name(own)
        for goal in goals:
            if goal.kind in ("weekday", "date"):
                told = key is not None and means(goal, key, label, live.get(label.parent_id or ""))
                scores[number] += 0.0 if told is None or key is None else _NUMBERED if told else -_OTHER_NUMBER
            elif key is not None and key[0] == goal.kind:
                scores[number] += _NUMBERED if key[1] == goal.number else -_OTHER_NUMBER
        parent = live.get(label.parent_id) if label.parent_id else None
        if anchor is not None and anchor.company and parent is not None:
            company = company_of(parent.name)
            if company and company.isdisjoint(anchor.company):
                scores[number] -= _OTHER_COMPANY
