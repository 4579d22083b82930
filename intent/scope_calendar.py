"""Dates of a trip: its length, and which numbered day a weekday or a date stands for."""

from __future__ import annotations

import re

from .scope_cues import Cues
from .scope_numbers import Goal, day_of_year
from .scope_registry import Key, Scope
from .scope_text import Words

__all__ = ["aligned", "learn_dates"]

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


def learn_dates(words: Words, cues: Cues, root: Scope, seen: int) -> None:
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


def aligned(goal: Goal, root: Scope) -> Key | None:
    """The numbered day that a weekday or date stands for in a trip; None while that is not known."""
    if not isinstance(goal.number, int):
        return None
    longest = (
        root.length or max([n for kind, n in root.children if kind == "day" and isinstance(n, int)], default=1) + 2
    )
    if goal.kind == "weekday" and root.weekday_one >= 0:
        number = (goal.number - root.weekday_one) % 7 + 1
        return ("day", number) if number <= longest else None
    if goal.kind == "date" and root.day_one >= 0:
        if goal.number > 0:
            number = (goal.number - root.day_one) % 365 + 1
            return ("day", number) if number <= longest else None
        for number in range(1, min(longest, 60) + 1):
            day = (root.day_one - 1 + number - 1) % 365 + 1
            month = max(m for m in range(1, 13) if day_of_year(m, 1) <= day)
            if day - day_of_year(month, 1) + 1 == -goal.number:
                return ("day", number)
    return None
