"""Dates of a trip: its length, and which numbered day a weekday or a date stands for."""

from __future__ import annotations

import re
from datetime import datetime

from ..summaries import Gist
from .cues import Cues
from .itinerary import Stay, day_name, month_day, read_stays, weekday_of
from .numbers import WEEKDAYS, Goal, day_of_year, find_goals
from .registry import Key, Registry, Scope
from .text import Words, read_words

__all__ = [
    "aligned",
    "dates_text",
    "day_of",
    "learn_dates",
    "read_dates",
    "restore_dates",
    "set_dates",
    "settle_days",
    "tell_day",
]

_LENGTH = re.compile(
    r"\b(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[ -](?:full |whole )?days?\b|"
    r"(?<!第)(?P<c>[两三四五六七八九]|\d{1,2})天"
)
_NUMBER = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
_CN_NUMBER = dict(zip("两三四五六七八九", range(2, 10), strict=True))
_ALIGN = re.compile(r"^\s*(?:[(（,:–—-]|is|falls on|on|being|will be|=|是)\s*(?:on\s+|a\s+|the\s+|,\s*)?$")
_UNTIL = re.compile(r"^\s*(?:to|until|till|through|-|–|—)\s*(?:the\s+)?$")
_ARRIVES = re.compile(
    r"\b(?:arriv\w+|land\w*|get(?:ting)? in|start\w*|from|fly(?:ing)? (?:out|in)|check(?:ing)? in|"
    r"begin\w*)\b[^.?!]{0,24}$"
)


def learn_dates(words: Words, cues: Cues, root: Scope, seen: int, at: datetime) -> None:
    """Take in what a text says of a trip's length and dates."""
    if not root.length and seen < 6 and (match := _LENGTH.search(words.lower)):
        if match["n"]:
            root.length = int(match["n"]) if match["n"].isdigit() else _NUMBER[match["n"]]
        else:
            root.length = int(match["c"]) if match["c"].isdigit() else _CN_NUMBER[match["c"]]
        root.length = min(root.length, 60)
    for before, goal in zip((None, *cues.goals), cues.goals, strict=False):
        if goal.kind not in ("weekday", "date") or not isinstance(goal.number, int):
            continue
        offset = None
        if before is not None and before.kind == "day" and isinstance(before.number, int) and before.number > 0:
            if _ALIGN.match(words.lower[before.end : goal.start]):
                offset = before.number - 1
        elif (
            before is not None
            and before.kind in ("weekday", "date")
            and before.end + 8 > goal.start
            and root.day_one < 0
        ):
            continue
        elif seen < 8 and _ARRIVES.search(words.lower[max(0, goal.start - 40) : goal.start]):
            offset = 0
        if (
            before is not None
            and before.kind == goal.kind == "date"
            and isinstance(before.number, int)
            and before.number == root.day_one
            and _UNTIL.match(words.lower[before.end : goal.start])
            and not root.length
        ):
            month_end = goal.number if goal.number > 0 else before.number - 1  # "June 3 to the 6th" keeps the month
            root.length = max(0, min(60, month_end - before.number + 1))
        if offset is None:
            continue
        if goal.kind == "weekday" and root.weekday_one < 0:
            root.weekday_one = (goal.number - offset) % 7
        elif goal.kind == "date" and goal.number > 0 and root.day_one < 0:
            root.day_one = (goal.number - 1 - offset) % 365 + 1
            root.weekday_real = weekday_of(root.day_one, at)
        elif (
            goal.kind == "date" and goal.number < 0 and root.day_one < 0 and not root.dom_one and -goal.number > offset
        ):
            root.dom_one = -goal.number - offset
        if goal.kind == "date" and root.weekday_one < 0 and (said := words.lower[goal.start : goal.start + 9]):
            weekday = next((n for n, name in enumerate(WEEKDAYS) if said.startswith(name)), -1)
            if weekday >= 0:  # "Day 1 (Friday the 13th)"
                root.weekday_one = (weekday - offset) % 7


def set_dates(root: Scope, stay: Stay, at: datetime, registry: Registry) -> None:
    """Give a trip the dates of a stay, as far as it has none, and settle the days that were known by them."""
    if not root.length:
        root.length = stay.length
    if stay.day_one > 0 and root.day_one <= 0:
        root.day_one = stay.day_one
        root.weekday_real = weekday_of(stay.day_one, at)
    elif stay.day_one < 0 and root.day_one <= 0 and not root.dom_one:
        root.dom_one = -stay.day_one
    if stay.weekday_one >= 0 and root.weekday_one < 0 and (stay.day_one or root.day_one <= 0):
        root.weekday_one = stay.weekday_one
    root.dated = True
    settle_days(root, registry)
    _tell_dates(root, registry)


def dates_text(root: Scope) -> str:
    """A trip's dates in words that :func:`read_dates` understands; empty where none are known."""
    first = day_name(root.day_one, _weekday_one(root), 1)
    last = day_name(root.day_one, _weekday_one(root), root.length) if root.length > 1 else ""
    if root.day_one <= 0 and root.dom_one:
        first = f"{first} the {root.dom_one}th".strip()
        last = f"{last} the {(root.dom_one + root.length - 2) % 31 + 1}th".strip() if last or root.length > 1 else ""
    return f"from {first} to {last}" if first and last else f"from {first}" if first else ""


def read_dates(root: Scope, gist: str, at: datetime) -> bool:
    """Give a trip the dates that its label's gist tells; whether it tells any.

    Args:
        gist: as :func:`dates_text` began it.
        at: when the label was made.
    """
    words = read_words(Gist.parse(gist).purpose.partition(". ")[0])
    if not words.lower.startswith("from "):
        return False
    for stay in read_stays(words, find_goals(words))[:1]:
        root.length, root.day_one, root.weekday_one = stay.length, max(stay.day_one, -1) or -1, stay.weekday_one
        root.dom_one = -stay.day_one if stay.day_one < 0 else 0
        root.weekday_real = weekday_of(stay.day_one, at) if stay.day_one > 0 else -1
        root.dated = True
    return root.dated


def restore_dates(registry: Registry) -> None:
    """Give the trips of an earlier process the dates that their labels tell."""
    for root in registry.roots:
        if root.kind == "trip":
            label = registry.labels[root.id]
            read_dates(root, label.gist, label.created_at)
            root.dated = root.dated or any(kind in ("weekday", "date") for kind, _ in root.children)


def tell_day(day: Scope, text: str, registry: Registry) -> None:
    """Begin the gist of a new day with its weekday and date, by which it may be asked for."""
    label = registry.labels[day.id]
    root = day.root
    if label.gist or day.key is None or day.key[0] != "day" or not isinstance(day.key[1], int) or day.key[1] < 1:
        return
    called = day_name(root.day_one, _weekday_one(root), day.key[1])
    if called:
        said = " ".join(
            "".join(c for c in word if c.isprintable()) for word in text[:200].replace("|", "¦").split()[:30]
        )
        registry.set_label(label.model_copy(update={"gist": str(Gist(purpose=f"{called}. {said}"))}))


def _tell_dates(root: Scope, registry: Registry) -> None:
    label = registry.labels[root.id]
    if not label.gist and not label.pinned and (text := dates_text(root)):
        registry.set_label(label.model_copy(update={"gist": str(Gist(purpose=f"{text}."))}))


def _weekday_one(root: Scope) -> int:
    return root.weekday_one if root.weekday_one >= 0 else root.weekday_real


def settle_days(root: Scope, registry: Registry) -> None:
    """Number the days of a trip that were known by weekday or date, as soon as it is known which days they are."""
    for key in [key for key in root.children if key[0] in ("weekday", "date")]:
        kind, number = key
        if not isinstance(number, int):
            continue
        found = aligned(Goal(kind, number, 0, 0), root)
        if found is None:
            continue
        scope = root.children.pop(key)
        target = root.children.get(found)
        if target is not None and target is not scope:
            scope.key = None
            registry.absorb(scope, target)
            continue
        scope.key = found
        root.children[found] = scope
        registry.rename(scope, f"Day {found[1]}" if scope.own.isascii() else f"第{found[1]}天")


def day_of(at: datetime, root: Scope) -> int:
    """The number of the trip's day on which something is said; 0 where that is not known, or not on the way."""
    if root.day_one <= 0:
        return 0
    number = (day_of_year(at.month, min(at.day, 28 if at.month == 2 else at.day)) - root.day_one) % 365 + 1
    return number if number <= (root.length or 1) else 0


def aligned(goal: Goal, root: Scope) -> Key | None:
    """The numbered day that a weekday or date stands for in a trip; None while that is not known."""
    if not isinstance(goal.number, int):
        return None
    days = [n for kind, n in root.children if kind == "day" and isinstance(n, int)]
    longest = root.length or (7 if root.dated else max(days, default=1) + 2)
    if goal.kind == "weekday":
        first = _weekday_one(root)
        if first < 0:
            return None
        number = (goal.number - first) % 7 + 1
        return ("day", number) if number <= longest else None
    if goal.kind != "date":
        return None
    if root.day_one > 0:
        if goal.number > 0:
            number = (goal.number - root.day_one) % 365 + 1
            return ("day", number) if number <= longest else None
        for number in range(1, min(longest, 60) + 1):
            if month_day(root.day_one + number - 1)[1] == -goal.number:
                return ("day", number)
    elif root.dom_one > 0:
        dom = -goal.number if goal.number < 0 else month_day(goal.number)[1]
        number = dom - root.dom_one + 1 if dom >= root.dom_one else dom + 31 - root.dom_one
        return ("day", number) if number <= longest else None
    return None
