"""How much a question's words speak for each scope: what its steps say, what it was opened with, its number.

A question seldom repeats a scope's name. It says words that were said in that scope and in few others, which
:class:`ScopeEvidence` weighs as a naive Bayes classifier does: one class a scope, trained on the scope's latest steps
(Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, chapter 13), each word weighted by its
rarity among scopes. What a scope was introduced with tells more than what is said in passing, and a day or part
that the question counts speaks for the scopes of that number and against all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log

import numpy as np
import numpy.typing as npt

from ..memory_types.labels import Label
from .contract import LabeledStep
from .query_identity import company_speaks, means
from .scopes.cues import read_cues
from .scopes.identity import read_features
from .scopes.numbers import Goal, parse_goal_name
from .scopes.registry import SEPARATOR
from .scopes.text import read_words
from .summaries import Gist

__all__ = ["ScopeEvidence"]

_SAID, _INTRODUCED, _NUMBER = 0.2, 1.2, 1.2
"""Weights of the three in the log-likelihood: near those of a conditional logit on made-up conversations of several
kinds; the number has more, since what a question counts it means, however few conversations number their parts."""

_SMOOTHING = 2.0  # steps of the average scope that are added to each
_COUNTED, _OTHERWISE = 1.6, -2.5  # a number that is the scope's own, and one that is not
_LAST = -1
_RANGE = 40  # a word that more scopes were introduced with than these tells nothing
_CACHED_STEPS = 20_000


class ScopeEvidence:
    """An index of one user's scopes, brought up to date before each question; not safe for threads.

    It keeps the words of the steps it was shown last, a few hundred bytes a step.
    """

    def __init__(self) -> None:
        self._labels: dict[str, Label] = {}
        self._marks: dict[str, tuple[int, str, str]] = {}
        self._place: dict[str, int] = {}
        self._ids: list[str] = []
        self._said: dict[str, dict[int, int]] = {}
        self._of: list[dict[str, int]] = []
        self._sizes: list[int] = []
        self._introduced: dict[str, dict[int, float]] = {}
        self._opening: list[dict[str, float]] = []
        self._keys: list[tuple[str, int | str] | None] = []
        self._parents: list[str | None] = []
        self._last: dict[tuple[str | None, str], int] = {}
        self._read: dict[str, tuple[str, tuple[str, ...]]] = {}

    # ------------------------------------------------------------------ bringing it up to date

    def refresh(self, labels: Mapping[str, Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Take in what changed since the last call; costs next to nothing where nothing did.

        Args:
            labels: the user's scope labels by id; aliases are passed over.
            recent: scope id → its latest labelled steps, oldest first.
        """
        for scope_id, label in labels.items():
            if self._labels.get(scope_id) is not label:
                self._labels[scope_id] = label
                self._introduce(label)
        for scope_id in self._labels.keys() - labels.keys():
            self._introduce(self._labels.pop(scope_id), gone=True)
        for scope_id in self._marks.keys() | recent.keys():
            steps = recent.get(scope_id) or ()
            mark = (len(steps), steps[0].step.id, steps[-1].step.id) if steps else (0, "", "")
            if self._marks.get(scope_id) != mark:
                self._marks[scope_id] = mark
                self._count(self._at(scope_id), steps)
        if len(self._read) > _CACHED_STEPS:
            self._read.clear()

    def _at(self, scope_id: str) -> int:
        place = self._place.get(scope_id)
        if place is None:
            place = self._place[scope_id] = len(self._ids)
            self._ids.append(scope_id)
            self._of.append({})
            self._sizes.append(0)
            self._opening.append({})
            self._keys.append(None)
            self._parents.append(None)
        return place

    def _introduce(self, label: Label, *, gone: bool = False) -> None:
        at = self._at(label.id)
        for feature in self._opening[at]:
            del self._introduced[feature][at]
            if not self._introduced[feature]:
                del self._introduced[feature]
        if gone or label.alias_of:
            self._opening[at], self._keys[at] = {}, None
            return
        own = label.name.rpartition(SEPARATOR)[2] or label.name
        purpose = Gist.parse(label.gist).purpose
        self._opening[at] = read_features(f"{purpose} . \nthe {label.name.replace(SEPARATOR, ' . the ')}")
        for feature, weight in self._opening[at].items():
            self._introduced.setdefault(feature, {})[at] = weight
        self._keys[at] = key = parse_goal_name(own)
        self._parents[at] = label.parent_id
        if key is not None and isinstance(key[1], int):
            group = (label.parent_id, key[0])
            self._last[group] = max(self._last.get(group, 0), key[1])

    def _count(self, at: int, steps: Iterable[LabeledStep]) -> None:
        for feature in self._of[at]:
            del self._said[feature][at]
            if not self._said[feature]:
                del self._said[feature]
        counts: dict[str, int] = {}
        self._sizes[at] = 0
        for labeled in steps:
            self._sizes[at] += 1
            for feature in self._features(labeled):
                counts[feature] = counts.get(feature, 0) + 1
        self._of[at] = counts
        for feature, count in counts.items():
            self._said.setdefault(feature, {})[at] = count

    def _features(self, labeled: LabeledStep) -> tuple[str, ...]:
        known = self._read.get(labeled.step.id)
        if known is None or known[0] is not labeled.resolved_text:
            known = (labeled.resolved_text, tuple(read_features(labeled.resolved_text)))
            self._read[labeled.step.id] = known
        return known[1]

    # ------------------------------------------------------------------ asking

    def scores(self, text: str) -> dict[str, float]:
        """For each scope that has steps the log-likelihood of a question, up to a constant; empty without scopes.

        Args:
            text: the question.
        """
        held = [at for at, size in enumerate(self._sizes) if size]
        if not held:
            return {}
        features = read_features("the " + text)
        sizes = np.asarray(self._sizes, np.float64)
        found = _SAID * self._by_steps(features, sizes, len(held))
        found += _INTRODUCED * self._by_introduction(features)
        found += _NUMBER * self._by_number(text)
        return {self._ids[at]: float(found[at]) for at in held}

    def _by_steps(
        self, features: Iterable[str], sizes: npt.NDArray[np.float64], scopes: int
    ) -> npt.NDArray[np.float64]:
        total = float(sizes.sum())
        found = np.zeros(len(sizes))
        scale = 1.0 / log(scopes + 1)
        weights = 0.0
        for feature in features:
            posting = self._said.get(feature)
            if not posting:
                continue
            rarity = log((scopes + 1) / len(posting)) * scale
            expected = _SMOOTHING * sum(posting.values()) / total
            weights += rarity
            for at, count in posting.items():
                found[at] += rarity * log(1.0 + count / expected)
        return found + weights * np.log(_SMOOTHING / (sizes + _SMOOTHING))

    def _by_introduction(self, features: Mapping[str, float]) -> npt.NDArray[np.float64]:
        found = np.zeros(len(self._ids))
        scopes = len(self._labels)
        if not scopes:
            return found
        scale = 1.0 / log(scopes + 1)
        for feature, weight in features.items():
            posting = self._introduced.get(feature)
            if not posting or len(posting) > _RANGE:
                continue
            said = self._said.get(feature, {})
            # A name that is said everywhere stood in some introduction by chance.
            inside = (1.0 + sum(said.get(at, 0) for at in posting)) / (1.0 + sum(said.values()))
            rarity = log((scopes + 1) / len(posting)) * scale * min(1.0, inside)
            for at, own in posting.items():
                found[at] += rarity * min(own, weight)
        return found

    def _by_number(self, text: str) -> npt.NDArray[np.float64]:
        found = np.zeros(len(self._ids))
        words = read_words(text)
        cues = read_cues(words)
        goals = [goal for goal in cues.goals if not goal.many and not goal.step]
        for at, key in enumerate(self._keys) if goals else ():
            if key is not None:
                found[at] = sum(self._numbered(goal, key, at) for goal in goals)
        for at, speaks in company_speaks(words, cues, self._ids, self._parents, self._labels):
            found[at] += speaks
        return found

    def _numbered(self, goal: Goal, key: tuple[str, int | str], at: int) -> float:
        if goal.kind in ("weekday", "date"):
            trip = self._labels.get(self._parents[at] or "")
            told = means(goal, key, self._labels[self._ids[at]], trip)
            return 0.0 if told is None else _COUNTED if told else _OTHERWISE
        if key[0] != goal.kind:
            return 0.0
        wanted = goal.number
        if wanted == _LAST and key[1] != _LAST:
            wanted = self._last.get((self._parents[at], key[0]), _LAST)
        return _COUNTED if key[1] == wanted else _OTHERWISE
