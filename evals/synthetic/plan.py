"""The symbolic plan of a trajectory: scopes, who does what in which of them, in which order. No sentences yet.

Every scope gets a script: episodes made of exchanges (one or two turns that belong together). The scripts are then
interleaved: a few scopes are open at a time, left in the middle of things, entered again soon or much later.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from hexamem.evals.synthetic.family import Family
from hexamem.evals.synthetic.script import Beat, Fact, Scope, Script, make_script, two_speakers

__all__ = ["SCOPES", "TURNS", "Marker", "Plan", "PlannedTurn", "Size", "make_plan"]

Size = Literal["S", "M", "L"]
SCOPES: Mapping[Size, int] = {"S": 4, "M": 24, "L": 68}
"""Scopes of a trajectory; each has about 20 turns."""
TURNS: Mapping[Size, tuple[int, int]] = {"S": (60, 100), "M": (400, 560), "L": (1200, 1520)}
"""The fewest and the most turns of a trajectory."""
_LEAST_REVISIONS = 6  # of values and choices of a trajectory: as many as questions ask about them
Marker = Literal["open", "explicit", "entity", "resume", "none"]
"""How a turn shows its scope: opens it, names it, names something that occurs only there, points back, or not at all."""

_OPEN_AT_ONCE = 5
_LEAVE_AFTER_EPISODE = 0.55
_LEAVE_WITHIN_EPISODE = 0.15
_SMALL_TALK = 0.05
_LEAVE_FOR_LATER = 0.3
_HERE = 0.35
_START = datetime(2025, 3, 3, 8, 40)


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """A beat at its place, before it has words.

    Attributes:
        antecedent: index of the turn that it points at, where it points instead of naming.
        near: whether the turn before is of the same group.
        here: it names the scope of its antecedent by "there", "that day".
    """

    index: int
    scope: int
    beat: Beat
    action: str
    object: str
    antecedent: int | None
    marker: Marker
    near: bool
    here: bool
    time: datetime


@dataclass(frozen=True, slots=True)
class Plan:
    """A trajectory without words: scopes, turns in order, and the facts that questions are made of."""

    family: Family
    size: Size
    scopes: tuple[Scope, ...]
    turns: tuple[PlannedTurn, ...]
    facts: tuple[Fact, ...]


def make_plan(family: Family, size: Size, seed: int) -> Plan:
    """Plan one trajectory; the same arguments make the same plan on every machine."""
    low, high = TURNS[size]
    for attempt in itertools.count():
        rng = random.Random(f"plan/{family.name}/{family.language}/{size}/{seed}/{attempt}")
        scopes = _scopes(family, SCOPES[size], rng)
        scripts = [make_script(family, scope, rng) for scope in scopes]
        plan = _Interleaver(family, size, scripts, rng).run()
        revised = sum(len(fact.chosen) > 1 or (fact.kind == "value" and len(fact.values) > 1) for fact in plan.facts)
        if low <= len(plan.turns) <= high and revised >= _LEAST_REVISIONS:
            return plan
    raise AssertionError("unreachable")


def _scopes(family: Family, count: int, rng: random.Random) -> list[Scope]:
    pairs = [(group, variant) for group in family.groups for variant in family.variants]
    rng.shuffle(pairs)
    handles = [family.handle_format.format(a, b) for a in family.handles[0] for b in family.handles[1]]
    rng.shuffle(handles)
    scopes: list[Scope] = []
    outer = 0
    while len(scopes) < count:
        group, variant = pairs[outer]
        outer += 1
        left = count - len(scopes)
        members = left if left <= 3 else rng.choice((2, 3)) if left > 4 else 2
        for inner, leaf in enumerate(rng.sample(family.leaves, members), start=1):
            number = inner if family.numbered else family.leaves.index(leaf) + 1
            slots = {
                "group": group,
                "variant": variant,
                "leaf": leaf,
                "n": str(inner),
                "nth": family.counts[inner - 1],
                "handle": handles[len(scopes)],
            }
            partition = (f"{family.levels[0]}-{outer}", f"{family.levels[1]}-{number}")
            scopes.append(Scope(len(scopes), partition, slots))
    return scopes


class _Interleaver:
    """Plays the scripts against each other. ``run`` may be called once."""

    def __init__(self, family: Family, size: Size, scripts: Sequence[Script], rng: random.Random) -> None:
        self.family, self.size, self.scripts, self.rng = family, size, scripts, rng
        self.turns: list[PlannedTurn] = []
        self.index_of: dict[tuple[int, str], int] = {}
        self.left = [[[list(exchange) for exchange in e] for e in script.episodes] for script in scripts]
        self.last_turn: dict[int, int] = {}
        self.time = _START

    def run(self) -> Plan:
        rng = self.rng
        waiting = list(range(len(self.scripts)))
        active: list[int] = []
        later: list[int] = []
        offered: set[int] = set()
        current: int | None = None
        before: int | None = None
        while waiting or active or later:
            while len(active) < _OPEN_AT_ONCE and (waiting or later):
                if later and (not waiting or rng.random() < 0.25):
                    active.append(later.pop(rng.randrange(len(later))))
                else:
                    active.append(waiting.pop(0))
            others = [number for number in active if number != current] or active
            scope = before if before in others and rng.random() < 0.35 else rng.choice(others)
            assert scope is not None
            self._wait()
            self._visit(scope, current, before)
            if current != scope:
                before, current = current, scope
            if not self.left[scope]:
                active.remove(scope)
            elif len(self.left[scope]) == 1 and scope not in offered:
                offered.add(scope)
                if rng.random() < _LEAVE_FOR_LATER:
                    active.remove(scope)
                    later.append(scope)
        facts = [
            replace(fact, turns={role: self.index_of[script.scope.index, key] for role, key in keys.items()})
            for script in self.scripts
            for fact, keys in script.facts
        ]
        scopes = tuple(script.scope for script in self.scripts)
        return Plan(self.family, self.size, scopes, tuple(self.turns), tuple(facts))

    def _wait(self) -> None:
        draw = self.rng.random()
        if draw < 0.08:
            self.time = (self.time + timedelta(days=1)).replace(hour=8, minute=self.rng.randrange(60))
        elif draw < 0.3:
            self.time += timedelta(minutes=self.rng.randrange(20, 240))

    def _visit(self, scope: int, current: int | None, before: int | None) -> None:
        rng = self.rng
        entering = scope != current
        while self.left[scope]:
            episode = self.left[scope][0]
            within = len(episode) < len(self.scripts[scope].episodes[-len(self.left[scope])])
            marker = self._marker(scope, before, within, episode[0][0]) if entering else "none"
            near = current is not None and self._group(current) == self._group(scope)
            for beat in episode.pop(0):
                self._add(scope, beat, marker, near)
                marker = "none"
            entering = False
            if rng.random() < _SMALL_TALK:
                first, second = two_speakers(self.family, rng)
                self._add(scope, Beat("chat", "chat", None, first), "none", near)
                self._add(scope, Beat("chat", "chat_reply", None, second, leads=False), "none", near)
            if not episode:
                self.left[scope].pop(0)
            if rng.random() < (_LEAVE_WITHIN_EPISODE if episode else _LEAVE_AFTER_EPISODE):
                return

    def _group(self, scope: int) -> str:
        return self.scripts[scope].scope.partition[0]

    def _marker(self, scope: int, before: int | None, within: bool, beat: Beat) -> Marker:
        if beat.stage == "open":
            return "open"
        short = scope == before and len(self.turns) - self.last_turn[scope] <= 5
        draw = self.rng.random()
        if short and draw < 0.4:
            return "resume"
        if within:  # it may point at something, which must be findable
            return "explicit"
        return "explicit" if draw < 0.62 else "entity"

    def _add(self, scope: int, beat: Beat, marker: Marker, near: bool) -> None:
        self.time += timedelta(seconds=self.rng.randrange(15, 200))
        index = len(self.turns)
        points_at = self.index_of[scope, beat.antecedent] if beat.antecedent else None
        here = marker == "none" and beat.stage in ("ask", "set", "note") and self.rng.random() < _HERE
        if (here or marker == "resume") and points_at is None:
            points_at = self.last_turn[scope]
        topic = beat.topic
        small_talk = beat.stage in ("chat", "chat_reply")
        self.turns.append(
            PlannedTurn(
                index=index,
                scope=scope,
                beat=beat,
                action=self.family.action(topic.name if topic else None, beat.stage),
                object=topic.name if topic else "small talk" if small_talk else self.family.levels[1],
                antecedent=points_at,
                marker=marker,
                near=near,
                here=here,
                time=self.time,
            )
        )
        if not small_talk:
            self.index_of[scope, beat.key] = index
            self.last_turn[scope] = index
