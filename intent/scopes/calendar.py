"""Dates of a trip: its length, and which numbered day a weekday or a date stands for."""

from __future__ import annotations

from datetime import datetime

from ... import lazy_re as re
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
    "key_of",
    "learn_dates",
    "learn_weekdays",
    "read_dates",
    "restore_dates",
    "set_dates",
    "settle_days",
    "spread_year",
    "tell_day",
    "unclock",
    "vote_weekday",
]

_LENGTH = re.compile(
    r"\b(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[ -](?:full |whole )?days?\b|"
    r"(?<!第)(?P<c>[两三四五六七八九]|\d{1,2})天"
)
_NUMBER = {
    w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
_CN_NUMBER = dict(zip("两三四五六七八九", range(2, 10), strict=True))
_ALIGN = re.compile(
    r"^\s*(?:[(（,:–—-]|is|falls on|on|being|will be|=|是|,?\s*(?:that['’]?s|that is|which is|so|也就是|就是))\s*"
    r"(?:on\s+|a\s+|the\s+|,\s*)?$"
)
_SHORT_WEEKDAYS = [name[:3] for name in WEEKDAYS]
_BESIDE = re.compile(
    r"\b(?P<day>mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|rs|rsday|r|nesday|urday)?\b,? (?:the )?(?:\d|[a-z]{3,9} \d)"
)
_CN_BESIDE = re.compile(r"[ ]?(?:[（(，,]|是|就是)?[ ]?(?:周|星期|礼拜)(?P<day>[一二三四五六日天])")
_VOTES, _VOTES_OVER = 2, 2  # how often a weekday must be said on days, and how many times as often as others together
_UNTIL = re.compile(r"^\s*(?:to|until|till|through|-|–|—)\s*(?:the\s+)?$")
_ARRIVES = re.compile(
    r"\b(?:arriv\w+|land\w*|get(?:ting)? in|start\w*|from|fly(?:ing)? (?:out|in)|check(?:ing)? in|"
    r"begin\w*)\b[^.?!]{0,24}$"
)


def learn_dates(words: Words, cues: Cues, root: Scope, seen: int, at: datetime, *, clocked: bool = True) -> None:
    """Take in what a text says of a trip's length and dates.

    Args:
        clocked: whether ``at`` tells the year.
    """
    if not root.length and seen < 6 and (match := _LENGTH.search(words.lower)):
        if match["n"]:
            root.length = int(match["n"]) if match["n"].isdigit() else _NUMBER[match["n"]]
        else:
            root.length = int(match["c"]) if match["c"].isdigit() else _CN_NUMBER[match["c"]]
        root.length = min(root.length, 60)
    for before, goal in zip((None, *cues.goals), cues.goals, strict=False):
        if not goal.dated or not isinstance(goal.number, int):
            continue
        offset = None
        if before is not None and before.kind == "day" and isinstance(before.number, int) and before.number > 0:
            if _ALIGN.match(words.lower[before.end : goal.start]):
                offset = before.number - 1
        elif before is not None and before.dated and before.end + 8 > goal.start and root.day_one < 0:
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
            root.weekday_real = weekday_of(root.day_one, at) if clocked else -1
        elif (
            goal.kind == "date" and goal.number < 0 and root.day_one < 0 and not root.dom_one and -goal.number > offset
        ):
            root.dom_one = -goal.number - offset
        if goal.kind == "date" and root.weekday_one < 0 and (said := words.lower[goal.start : goal.start + 9]):
            weekday = next((n for n, name in enumerate(WEEKDAYS) if said.startswith(name)), -1)
            if weekday >= 0:  # "Day 1 (Friday the 13th)"
                root.weekday_one = (weekday - offset) % 7


def learn_weekdays(words: Words, cues: Cues, here: Scope | None, registry: Registry) -> None:
    """Take in a date that is told with its weekday ("Friday, October 10"): it tells the weekdays of all trips with dates.

    Args:
        here: the day in hand: "the next day, that's Friday" tells its weekday too.
    """
    for at, goal in enumerate(cues.goals):
        following = cues.goals[at + 1] if at + 1 < len(cues.goals) else None
        weekday = -1
        if following is not None and following.kind == "weekday" and isinstance(following.number, int):
            weekday = following.number if _ALIGN.match(words.lower[goal.end : following.start]) else -1
        if goal.kind == "day" and goal.step and weekday >= 0 and here is not None and here.root.kind == "trip":
            key = key_of(goal, here.root, here)
            if key is not None and isinstance(key[1], int) and here.root.weekday_one < 0:
                here.root.weekday_one = (weekday - key[1] + 1) % 7
        if goal.kind != "date" or not isinstance(goal.number, int):
            continue
        beside = _weekday_beside(words, goal)
        weekday = beside if beside >= 0 else weekday
        if weekday < 0:
            continue
        if goal.number > 0:
            registry.new_year = (weekday - goal.number + 1) % 7
        else:
            for root in registry.roots:
                if root.kind == "trip" and (found := aligned(goal, root)) is not None and isinstance(found[1], int):
                    if root.day_one > 0:
                        registry.new_year = (weekday - (root.day_one + found[1] - 1) + 1) % 7
                    elif root.weekday_one < 0:
                        root.weekday_one = (weekday - found[1] + 1) % 7
                    break
        spread_year(registry)


def spread_year(registry: Registry) -> None:
    """Give all trips with dates the weekdays that are known of one of them."""
    trips = [root for root in registry.roots if root.kind == "trip" and root.day_one > 0]
    for root in trips:
        if root.weekday_one >= 0 and registry.new_year < 0:
            registry.new_year = (root.weekday_one - root.day_one + 1) % 7
    if registry.new_year >= 0:
        for root in trips:
            if root.weekday_one < 0:
                root.weekday_real = (registry.new_year + root.day_one - 1) % 7


def _weekday_beside(words: Words, goal: Goal) -> int:
    """The weekday that a date is told with, before it or as its beginning; -1 where there is none."""
    if goal.chinese:
        match = _CN_BESIDE.match(words.text, goal.end)
        return min(6, "一二三四五六日天".index(match["day"])) if match else -1
    for match in _BESIDE.finditer(words.lower, max(0, goal.start - 14), goal.end):
        if match.end() > goal.start:  # not "Thursday 5" of "Thursday 5 to 7 March"
            return _SHORT_WEEKDAYS.index(match["day"])
    return -1


def unclock(registry: Registry) -> None:
    """Forget the weekdays that were read off the time at which something was said: that time tells nothing."""
    registry.clocked = False
    for root in registry.roots:
        if registry.new_year < 0:
            root.weekday_real = -1


def vote_weekday(cues: Cues, day: Scope, registry: Registry) -> None:
    """Take in that a weekday was spoken of on a day whose number is known: said again and again, it is that day's."""
    root = day.root
    if root.kind != "trip" or root.weekday_one >= 0 or day.key is None:
        return
    if day.key[0] == "weekday" and isinstance(day.key[1], int):  # "Saturday", and then its date
        dates = {aligned(goal, root) for goal in cues.goals if goal.kind == "date"}
        found = dates.pop() if len(dates) == 1 else None
        if found is not None and isinstance(found[1], int):
            root.weekday_one = (day.key[1] - found[1] + 1) % 7
            spread_year(registry)
        return
    if day.key[0] != "day":
        return
    told = {goal.number for goal in cues.goals if goal.kind == "weekday"}
    if len(told) != 1 or any(goal.kind in ("day", "date") or goal.many for goal in cues.goals):
        return
    weekday, number = told.pop(), day.key[1]
    if isinstance(weekday, int) and isinstance(number, int) and number > 0:
        first = (weekday - number + 1) % 7
        root.weekday_votes[first] = votes = root.weekday_votes.get(first, 0) + 1
        if votes >= _VOTES and votes > _VOTES_OVER * sum(n for at, n in root.weekday_votes.items() if at != first):
            root.weekday_one = first
            spread_year(registry)


def key_of(goal: Goal, root: Scope, here: Scope | None = None) -> Key | None:
    """The day of a trip that a weekday, a date or a number stands for; None where there is none such.

    Args:
        here: the day in hand, from which "the next day" counts.
    """
    if goal.dated:
        found = aligned(goal, root)
        if found is not None or not isinstance(goal.number, int):
            return found
        counted = _weekday_one(root) >= 0 if goal.kind == "weekday" else root.day_one > 0 or root.dom_one > 0
        return None if counted else (goal.kind, goal.number)
    if goal.kind != "day" or not isinstance(goal.number, int):
        return None
    days = [n for kind, n in root.children if kind == "day" and isinstance(n, int)]
    number = goal.number
    if goal.step:
        at: int | str = 1 if here is root else 0  # a trip itself stands for its first day until that is told by number
        if here is not None and here.parent is root and here.key and here.key[0] == "day":
            at = here.key[1]
        number = at + goal.step if isinstance(at, int) and at > 0 else 0
    elif number == -1:
        number = root.length
    elif number == -2:
        number = (root.length + 1) // 2
    return ("day", number) if 1 <= number <= (root.length or max(days, default=0) + 1) else None


def set_dates(root: Scope, stay: Stay, at: datetime, registry: Registry) -> None:
    """Give a trip the dates of a stay, as far as it has none, and settle the days that were known by them."""
    if not root.length:
        root.length = stay.length
    if stay.day_one > 0 and root.day_one <= 0:
        root.day_one = stay.day_one
        if registry.new_year >= 0:
            root.weekday_real = (registry.new_year + stay.day_one - 1) % 7
        elif registry.clocked:
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
