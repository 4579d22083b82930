"""Named goals in play: which trip, project, debate or workstream a step turns to, opening it where it is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import lazy_re as re
from .anchor import company_after
from .cues import SWITCH, Cues, judge_goals
from .named import NamedGoal, find_named
from .numbers import Goal
from .registry import ROOTS, Registry, Scope, ScopeKind
from .text import Words

__all__ = ["Place", "named_switch"]

_ROOT_NOUNS: dict[str, ScopeKind] = {"trip": "trip", "itinerary": "trip", "debate": "debate", "project": "project"}
_ANOTHER = re.compile(r"\b(?:another|next|other|second|new|separate|different|also|as well|third|then)\b|另外|还有")
_WHOLE_TRIP = re.compile(r"\b(?:trip|holiday|vacation|itinerary|getaway|honeymoon|city break|journey)s?\b")
_DAY_TRIP = re.compile(r"(?<![\w-])(?<!\d )day[ -]?trip|\bexcursion|\bhalf[ -]day|\bguided\b")


@dataclass(slots=True)
class Place:
    """Where a thread stands: its scope, its root, how many steps it has seen, what was offered to it last, what was before.

    ``weighed``: where no day is named outright, all days of trips are weighed.
    """

    current: Scope | None
    root: Scope | None
    seen: int
    offer: Goal | None = None
    history: Sequence[Scope] = ()
    weighed: bool = False


def _score(words: Words, start: int, end: int) -> float:
    goal = Goal("named", 0, start, end, chinese=bool(words.text[start : start + 1] > "\u2e80"))
    judge_goals(words, [goal])
    return goal.score


def _known_named(words: Words, registry: Registry) -> list[tuple[Scope, float, int]]:
    """Scopes whose names a text calls: scope, score, place."""
    hits: dict[int, tuple[Scope, float, int]] = {}
    called = words.tokens & registry.by_token.keys()
    for token in sorted(called, key=lambda token: (words.lower.find(token), token)):
        for scope in registry.by_token[token][:8]:
            if scope.index in hits or (len(scope.tokens) > 1 and not _calls(scope, words)):
                continue
            at = words.lower.find(token)
            if at >= 0:
                hits[scope.index] = (scope, _score(words, at, at + len(token)), at)
    if words.has_cjk:
        for name, scope in registry.cjk_names[:200]:
            at = words.text.find(name)
            if at >= 0:
                hits[scope.index] = (scope, _score(words, at, at + len(name)), at)
    for noun in sorted(words.tokens & _ROOT_NOUNS.keys()):
        roots = [scope for scope in registry.roots if scope.kind == _ROOT_NOUNS[noun]]
        if len(roots) == 1 and roots[0].index not in hits:
            at = words.lower.find(noun)
            hits[roots[0].index] = (roots[0], _score(words, at, at + len(noun)), at)
    for match in re.finditer(r"\b[a-z][a-z0-9]{1,9}-\d{1,6}\b", words.lower[:600]) if "-" in words.lower else ():
        for scope in registry.by_token.get(match[0], ())[:4]:
            hits[scope.index] = (scope, _score(words, match.start(), match.end()), match.start())
    return list(hits.values())


def _calls(scope: Scope, words: Words) -> bool:
    need = 2 if len(scope.tokens) > 2 else len(scope.tokens)
    return sum(token in words.tokens for token in scope.tokens) >= need


def _matching(named: NamedGoal, registry: Registry) -> Scope | None:
    for token in named.tokens:
        for scope in registry.by_token.get(token, ()):
            mine, theirs = set(scope.tokens), set(named.tokens)
            if (scope.kind in ROOTS) == (named.kind in ROOTS) and (mine <= theirs or theirs <= mine):
                return scope
    for name, scope in registry.cjk_names:
        if name in named.tokens:
            return scope
    return None


def _open_named(named: NamedGoal, registry: Registry, place: Place) -> Scope:
    parent = None
    if named.kind in ("work", "ticket") and place.root is not None and place.root.kind in ("project", "plan"):
        parent = place.root
    if named.kind in ROOTS and place.root is not None and place.root.auto and place.root.kind in (named.kind, "plan"):
        registry.rename(place.root, named.name, tokens=named.tokens)
        place.root.length = place.root.length or named.length
        return place.root
    scope = registry.open(named.kind, named.name, parent=parent, tokens=named.tokens)
    scope.length = named.length
    return scope


def named_switch(words: Words, cues: Cues, registry: Registry, place: Place, user: bool) -> tuple[Scope | None, float]:
    """The named scope that a text turns to, with its score; None to stay."""
    best: Scope | None = None
    score = -9.0
    first_at = 10**6
    for scope, value, at in _known_named(words, registry):
        if value > score + 0.01 or (abs(value - score) <= 0.01 and at < first_at):
            best, score, first_at = scope, value, at
    if not user:
        return (best, score - 1.0) if best is not None and place.current is not None else (None, -9.0)
    fresh: list[tuple[NamedGoal, Scope | None]] = [
        (named, _matching(named, registry)) for named in find_named(words) if named.opens
    ]
    blank = place.root is None and (place.seen < 4 or place.current is None or place.current.kind == "topic")
    opened: list[Scope] = []
    for named, known in fresh:
        if known is not None:
            known.length = known.length or named.length
            continue
        goal = named.as_goal()
        goal.chinese = named.name[:1] > "\u2e80"
        judge_goals(words, [goal])
        if named.kind in ROOTS:
            context = words.lower[max(0, named.lead - 60) : named.end + 40]
            auto = place.root is not None and place.root.auto and place.root.kind == named.kind
            whole = named.length >= 2 or _WHOLE_TRIP.search(context) is not None or named.kind != "trip"
            another = _ANOTHER.search(words.lower) is not None and whole and named.length >= 2
            other = place.root is None or place.root.kind != named.kind
            numbered = named.kind != "trip" and other and any(g.score >= SWITCH for g in cues.goals)
            allowed = blank or auto or another or numbered or (goal.score >= SWITCH and whole)
            if (
                not allowed
                or _DAY_TRIP.search(context)
                or (not blank and any(g.plain and g.number not in (0, 1) for g in cues.goals))
            ):
                continue
        elif not (goal.score >= SWITCH or (blank and goal.score > 0)):
            continue
        scope = _open_named(named, registry, place)
        opened.append(scope)
        value = max(goal.score, SWITCH + 0.1)
        tail = words.lower[named.end : named.end + 12]
        if len(opened) > 1 and tail.startswith(" first"):
            value += 3
        if (named.kind in ROOTS and len(opened) == 1 and score < SWITCH + 3) or value > score + 0.01:
            best, score = scope, value
    starts = sorted(at for at in (words.lower.find(root.tokens[0]) for root in opened if root.tokens) if at >= 0)
    for root in opened:
        at = words.lower.find(root.tokens[0]) if root.kind == "trip" and root.tokens else -1
        if at >= 0:
            root.company |= company_after(words.text, at, min([s for s in starts if s > at], default=at + 90))
    if len(opened) > 1:  # several at once: the one that is said to come first, else the first
        for scope in opened:
            for token in scope.tokens:
                if re.search(
                    rf"\b{re.escape(token)} first\b|\b(?:start|begin)\w* with (?:the )?{re.escape(token)}", words.lower
                ):
                    return scope, 9.0
        return opened[0], max(score, SWITCH)
    return best, score
