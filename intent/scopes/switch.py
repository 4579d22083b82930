"""Explicit switches: which scope the words of a step name as their goal, opening it where it is new."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ... import lazy_re as re
from .calendar import aligned, learn_dates, settle_days, spread_year
from .cues import SWITCH, Cues
from .introduction import topic_name
from .itinerary import month_day
from .numbers import MONTHS, WEEKDAYS, Goal, may_open
from .registry import ROOTS, Key, Registry, Scope, ScopeKind, topic_tokens
from .roots import Place, named_switch
from .text import Words, read_words

__all__ = ["PLANNING", "Switch", "goal_name", "goal_within", "learn", "numbered", "resolve"]

_PLANS: dict[str, tuple[ScopeKind, str]] = {
    "day": ("trip", "Trip"), "contention": ("debate", "Debate"), "phase": ("project", "Project"),
    "sprint": ("project", "Project"), "task": ("project", "Project"), "milestone": ("project", "Project"),
    "workstream": ("project", "Project"), "deliverable": ("project", "Project"), "wave": ("project", "Project"),
}  # fmt: skip
_FITS = {"trip": ("trip", "plan"), "debate": ("debate", "plan"), "project": ("project", "plan", "work")}
PLANNING = re.compile(
    r"\b(?:plan|planning|itinerary|trip|travel|visit|schedule|arrange|organi[sz]e|days? in|arrive|land(?:ing)?|"
    r"flight|rollout|project|agenda|"
    r"hotel|programme|program|syllabus|debate|loop|getaway|honeymoon|"
    r"road ?trip|city break|(?:sketch|map) out)\b|安排|行程|旅|玩|计划|攻略|规划|项目"
)
_WHOLE = re.compile(r" (?:of|in) (?:the|our|my) (?P<what>[a-z][a-z-]{3,20})\b(?! (?:of|and|or)\b)")
_NO_WHOLES = frozenset(
    (
        "trip",
        "week",
        "month",
        "year",
        "morning",
        "evening",
        "holiday",
        "vacation",
        "itinerary",
        "stay",
        "visit",
        "journey",
        "plan",
        "project",
    )
)
_ACTS = frozenset(
    ("correction", "question", "reminder", "update", "request", "reply", "answer", "mistake", "favour", "favor")
)
"""Heads of what a text calls itself ("Small correction: …"), not what it is about."""
_OF = re.compile(r"^[,]?\s+(?:of|in|at|for|on|from)\s+(?:the\s+|our\s+|my\s+)?(?P<what>[^.,;:?!\n]{2,40})")


@dataclass(slots=True)
class Switch:
    """The scope that a step names, and how surely (0 to 1); whether the step introduces it if it is new."""

    scope: Scope
    confidence: float
    introduces: bool = False


def _key(goal: Goal, parent: Scope, current: Scope | None) -> Key | None:
    """The key under ``parent`` that a goal means; None if it cannot be told."""
    if goal.dated:
        if parent.kind != "trip":
            return None
        key = aligned(goal, parent)
        if key is None and goal.kind == "weekday" and goal.score >= 2.8 and ("day", 1) not in parent.children:
            return ("weekday", goal.number)
        return key
    numbers = [n for kind, n in parent.children if kind == goal.kind and isinstance(n, int) and n > 0]
    if goal.step:
        here = current
        if here is None or here.key is None or here.key[0] != goal.kind or here.parent is not parent:
            here = parent.last_leaf
        if here is None or here.key is None or here.key[0] != goal.kind or not isinstance(here.key[1], int):
            return None
        at = here.key[1]
        return (goal.kind, at + goal.step) if at > 0 and at + goal.step > 0 else None
    if goal.number == -1:
        if parent.length > 1 and goal.kind == "day":
            return (goal.kind, parent.length)
        if (goal.kind, -1) in parent.children or parent.kind == "trip" or not numbers:
            return (goal.kind, -1) if goal.kind == "day" else None
        return (goal.kind, max(numbers))
    if goal.number == -2:
        return ("day", (parent.length + 1) // 2 if parent.length else 2)
    return (goal.kind, goal.number)


def ordinal_end(number: int) -> str:
    """The end of an ordinal in English: "st", "nd", "rd" or "th"."""
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def goal_name(key: Key, chinese: bool) -> str:
    """What a scope of this key is called under its parent."""
    kind, number = key
    if kind == "weekday" and isinstance(number, int):
        return f"周{'一二三四五六日'[number]}" if chinese else WEEKDAYS[number].capitalize()
    if kind == "date" and isinstance(number, int):
        if number < 0:
            return f"{-number}号" if chinese else f"The {-number}{ordinal_end(-number)}"
        month, day = month_day(number)
        return f"{month}月{day}日" if chinese else f"{day} {MONTHS[month - 1].capitalize()}"
    if number == -1:
        return "最后一天" if chinese else f"Last {kind}"
    if isinstance(number, str) and " " in number:
        side, _, n = number.partition(" ")
        return f"{side.capitalize()} {kind} {n}"
    if chinese and kind in ("day", "phase", "chapter", "week") and isinstance(number, int):
        return f"第{number}{ {'day': '天', 'phase': '阶段', 'chapter': '章', 'week': '周'}[kind] }"
    return f"{kind.capitalize()} {number}"


def _parent_for(goal: Goal, words: Words, registry: Registry, place: Place, named: Scope | None) -> Scope | None:
    """The scope that a goal is numbered within; None where a plan must be opened for it."""
    if match := _OF.match(words.lower[goal.end : goal.end + 60]):
        tokens = set(match["what"].split())
        for token in sorted(tokens & registry.by_token.keys()):
            for scope in registry.by_token[token]:
                if scope.kind != "goal" and (
                    len(scope.tokens) == 1 or len(tokens & set(scope.tokens)) == len(scope.tokens)
                ):
                    return scope
    inner = goal.kind in ("step", "phase", "stage", "milestone", "part", "task")
    if named is not None and named.kind != "goal" and (named.kind in ROOTS or inner):
        return named
    current, root = place.current, place.root
    if root is not None and any(kind == goal.kind for kind, _ in root.children):
        return root
    for scope in reversed(place.history):
        before = scope.root
        if any(kind == goal.kind for kind, _ in before.children):
            return before
    if current is not None:
        owner = current.parent if current.kind == "goal" else current
        if owner is not None and owner.kind == "work" and inner:
            return owner
    wanted = _PLANS.get(goal.kind)
    if root is not None and wanted is not None and root.kind not in _FITS[wanted[0]]:
        return None
    return root


def _open_goal(key: Key, goal: Goal, parent: Scope, registry: Registry) -> Scope:
    chinese = goal.chinese and not any(sibling.own.isascii() for sibling in parent.children.values())
    return registry.open("goal", goal_name(key, chinese), parent=parent, key=key)


def resolve(words: Words, cues: Cues, registry: Registry, place: Place, *, user: bool) -> Switch | None:
    """The scope that a step names as its goal, opened if it is new; None if it names none.

    Args:
        words: the step's words.
        cues: its cues.
        registry: the user's scopes; may gain some.
        place: where the step's thread stands.
        user: whether it is a person's step; an answer needs stronger words.
    """
    named, named_score = named_switch(words, cues, registry, place, user)
    threshold = SWITCH if user else SWITCH + 1.0
    best: Goal | None = None
    kinds = {goal.kind for goal in cues.goals if goal.score > 0}
    for goal in cues.goals:
        if goal.dated and len(kinds - {"weekday", "date"}) > 0:
            continue
        if not user and (goal.sentence > 0 or goal.question):
            continue
        if best is None or goal.score > best.score + 0.01:
            best = goal
    distinct = {
        (goal.kind, goal.number)
        for goal in cues.goals
        if goal.score > 0 and not goal.step and (best is None or goal.dated == best.dated)
    }
    if best is not None and len(distinct) > 2 and best.score < threshold + 1.5:
        best = None  # an overview of several
    if best is None and place.offer is not None and cues.yes and user and not cues.goals:
        best, threshold = place.offer, -9.0
    root_turn = named if named is not None and named_score >= 1.2 else None
    if root_turn is None and named is not None and best is not None and named_score > -2:
        root_turn = named  # "the first day in Rome": the name says which first day
    turns = root_turn is not None and (place.root is not root_turn or place.current is root_turn)
    if best is not None and best.score > -1.0 and user and turns and root_turn is not None and root_turn.kind in ROOTS:
        threshold = -1.0  # "In Rome I have a meeting the first day": the name is the turn, the number says where
    if best is not None and best.score >= threshold:
        found = _goal_scope(best, words, registry, place, root_turn)
        if found is not None:
            return Switch(found, min(1.0, 0.6 + 0.1 * abs(best.score)))
    if named is not None and named_score >= (SWITCH - 0.2 if named.root is not place.root else SWITCH) and user:
        if place.current is not None and place.current.within(named):
            return None
        if named.kind in ROOTS and named.last_leaf is not None:
            if place.weighed and named.kind == "trip" and sum(day.steps > 0 for day in named.children.values()) > 1:
                return None
            return Switch(named.last_leaf, 0.6)
        return Switch(named, min(1.0, 0.55 + 0.1 * named_score))
    if (
        user
        and cues.target
        and not place.weighed
        and (turned := _target_scope(words, cues, registry, place)) is not None
    ):
        return Switch(turned, 0.65)
    return None


def _target_scope(words: Words, cues: Cues, registry: Registry, place: Place) -> Scope | None:
    """The scope that "back to X", "switching to X", "on the X side" or "X:" means; opened where X is new and may be."""
    current = place.current
    what = read_words(cues.target)
    if not what.terms:
        return None
    fixed = current is not None and (current.kind == "goal" or current.root.kind == "trip")
    if current is not None and (cues.target_form == "back" or not fixed):
        scores = registry.profiles.overlap(what.terms)
        own = scores.get(current.index, 0.0)
        best, best_score = None, 0.0
        for index, score in scores.items():
            scope = registry.by_index[index]
            if scope is current or scope.index != index or not scope.steps:
                continue
            value = score if scope.root is current.root else score - 0.15
            if value > best_score:
                best, best_score = scope, value
        if best is not None and best_score >= 0.45 * sum(what.terms.values()) and best_score - own >= 0.25:
            return best
        if own > best_score and own > 0.3:
            return current
    if fixed or cues.target_form == "back" or what.count > 5:
        return None
    if cues.target.lower().split()[-1] in _ACTS:
        name, stands_in = topic_name(
            words.text[words.lower.find(cues.target.lower()) + len(cues.target) :].lstrip(" :")
        )
        return registry.open("topic", name, tokens=() if stands_in else topic_tokens(name), auto=stands_in)
    name = " ".join(cues.target.split()[:4]).strip(" '\"")
    parent = place.root if place.root is not None and place.root.kind == "project" else None
    tokens = tuple(word for word in what.tokens if word in what.terms or word.removesuffix("s") in what.terms)[:3]
    return registry.open("topic", name[:1].upper() + name[1:], parent=parent, tokens=tokens)


def _whole(words: Words, goal: Goal) -> str | None:
    """What a goal is said to be a part of: "week 5 of the *course*"; None for what names no plan of its own."""
    match = _WHOLE.match(words.lower, goal.end)
    return None if match is None or match["what"] in _NO_WHOLES else match["what"]


def _may_join(goal: Goal, parent: Scope) -> bool:
    """Whether a goal of a kind that a plan has not had so far may be the first of it."""
    dated = goal.dated
    if goal.plain or (parent.kind == "trip" and (dated or goal.kind == "day")):
        return True
    return may_open(goal) and not dated


def _goal_scope(best: Goal, words: Words, registry: Registry, place: Place, named: Scope | None) -> Scope | None:
    """The scope of a goal that was set, opened where it is new and there is ground for it."""
    parent = _parent_for(best, words, registry, place, named)
    family = parent is not None and any(kind == best.kind for kind, _ in parent.children)
    dated = best.dated
    spelt = words.lower[best.end - 1 : best.end].isalpha() and not isinstance(best.number, str)  # "step one"
    loose = spelt and not PLANNING.search(words.lower) and best.kind not in ("day", "weekday", "date")
    if not family and best.plain and not loose and (whole := _whole(words, best)) is not None:
        parent = registry.open("plan", whole.capitalize(), tokens=(whole,))
    elif parent is None:
        if best.step or best.number in (0, -1, -2) or dated:
            return None
        planned = PLANNING.search(words.lower) is not None
        if not may_open(best) or not (planned or (best.plain and (best.score >= 3 or not spelt or best.number == 1))):
            return None
        if loose:
            return None
        kind, name = _PLANS.get(best.kind, ("plan", "Plan"))
        parent = registry.open(kind, name, auto=True)
    elif not family and (loose or not _may_join(best, parent)):
        return None
    key = _key(best, parent, place.current)
    if key is None:
        return None
    if (found := parent.children.get(key)) is not None:
        return found
    if isinstance(key[1], int) and key[1] > 400:
        return None
    return _open_goal(key, best, parent, registry)


def numbered(goal: Goal, words: Words, parent: Scope, registry: Registry, current: Scope | None) -> Scope | None:
    """The scope of a numbered goal under the parent that the text names for it, opened where it is new."""
    key = _key(goal, parent, current)
    if key is None or (isinstance(key[1], int) and key[1] > 400):
        return None
    return parent.children.get(key) or _open_goal(key, goal, parent, registry)


def goal_within(words: Words, cues: Cues, registry: Registry, scope: Scope) -> Scope | None:
    """The enumerated goal that a text names under the root of a scope that it was found to belong to."""
    goals = [goal for goal in cues.goals if goal.score > -1.0 and not goal.dated]
    if len(goals) != 1 or goals[0].many:
        return None
    return _goal_scope(goals[0], words, registry, Place(scope, scope.root, 0), None)


def learn(words: Words, cues: Cues, root: Scope, seen: int, registry: Registry, at: datetime) -> None:
    """Take in a text's word on the length and dates of a trip, and settle what stood open until then."""
    if root.kind != "trip":
        return
    learn_dates(words, cues, root, seen, at, clocked=registry.clocked)
    if cues.goals and len(registry.roots) > 1:
        spread_year(registry)
    if any(kind in ("weekday", "date") for kind, _ in root.children):
        settle_days(root, registry)
    last = root.children.get(("day", -1))
    if last is not None and root.length > 1:
        target = root.children.get(("day", root.length))
        del root.children["day", -1]
        if target is None:
            last.key = ("day", root.length)
            root.children[last.key] = last
            registry.rename(last, goal_name(last.key, last.own[:1] > "\u2e80"))
        else:
            registry.absorb(last, target)
