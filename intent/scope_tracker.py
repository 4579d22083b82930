"""Tracks the thematic scopes of a conversation: each step is in the current scope, another open scope, or a new one.

A small network scores every open scope and a new one by a row of features, and the best is chosen. Whether "and the other
one?" changes the scope is often clear only from the answer, so that the scope of a step is provisional until the
:data:`AHEAD` steps after it are known. The weights are trained by ``scripts/train_scopes.py``.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexamem.intent.contract import StepView, Vectors
from hexamem.intent.scope_text import explicit_keys, words_of
from hexamem.once import once
from hexamem.stores.embedders.trained_weights import read_weights

__all__ = [
    "AHEAD",
    "COLUMNS",
    "Candidates",
    "Decision",
    "Scope",
    "ScopeTracker",
    "ScopeWeights",
    "load_scope_weights",
]

AHEAD = 1
"""Later steps of the same thread that must be known before the scope of a step is settled."""

FEATURES = (
    "new", "current", "previous",
    "centroid", "nearest", "nearest_three", "opening", "with_previous_step", "centered", "centered_nearest",
    "words", "rarest_word", "key", "key_elsewhere", "opened_by_key", "since_active", "size",
    "centroid_lead", "nearest_lead", "centered_lead", "words_lead",
    "assistant", "tool", "same_speaker", "first_speaker", "length", "gap", "to_previous_step", "scopes",
    "has_key", "has_new_key", "run", "position", "first_of_thread",
)  # fmt: skip
"""The features of a step and a candidate."""
_OF_FOLLOWING = (
    "centroid", "nearest", "nearest_three", "opening", "centered", "centered_nearest", "words", "rarest_word", "key",
    "opened_by_key", "key_elsewhere", "centroid_lead", "nearest_lead", "centered_lead", "words_lead", "has_key",
    "has_new_key", "to_previous_step", "assistant", "tool", "same_speaker", "first_speaker", "length",
)  # fmt: skip
"""The features of each following step; two more columns are its cosine with the step, and whether it is known."""
_PLACE = {name: place for place, name in enumerate(FEATURES)}
_FOLLOWING = [_PLACE[name] for name in _OF_FOLLOWING]
COLUMNS = len(FEATURES) + AHEAD * (len(_FOLLOWING) + 2)
"""Columns of :attr:`Candidates.rows`."""
_RECENT = 12
_MOST_SCOPES = 60


@dataclass(frozen=True, slots=True)
class Scope:
    """The statistics of an open scope.

    Attributes:
        total: the sum of the vectors of its steps.
        opening: the vector of its first step.
        count: the number of its steps.
        recent: the vectors of its latest steps.
        keys: explicit key → its occurrences in the steps.
        opened_by: the explicit keys of its first step.
        words: word → the number of steps that contain it.
        active: the number of its latest step, counted over all steps of the user.
    """

    id: str
    total: Vectors
    opening: Vectors
    count: int = 0
    recent: tuple[Vectors, ...] = ()
    keys: Counter[str] = field(default_factory=Counter)
    opened_by: frozenset[str] = frozenset()
    words: Counter[str] = field(default_factory=Counter)
    active: int = 0


@dataclass(frozen=True, slots=True)
class _Thread:
    current: str
    previous: str
    speaker: str
    first_speaker: str
    vector: Vectors
    at: datetime
    run: int = 1
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Candidates:
    """The open scopes, and a row of features for each; the last row is that of a new scope.

    Attributes:
        rows: ``(len(ids) + 1, COLUMNS)``.
    """

    ids: tuple[str, ...]
    rows: Vectors


@dataclass(frozen=True, slots=True)
class Decision:
    """The scope of a step.

    Attributes:
        confidence: 0 to 1.
        settled: False while following steps may change it.
        turned: whether it differs from the scope of the step before in the thread.
    """

    step: StepView
    scope_id: str
    confidence: float
    settled: bool
    turned: bool


@dataclass(frozen=True, slots=True)
class ScopeWeights:
    """A network with one hidden layer over standardized features.

    Attributes:
        question_scale: factor from :meth:`ScopeTracker.similar` to a log-likelihood.
        encoder: the fingerprint of the encoder for which the weights are trained.
    """

    mean: Vectors
    scale: Vectors
    hidden: Vectors
    hidden_bias: Vectors
    output: Vectors
    question_scale: float = 10.0
    encoder: str = ""

    def scores(self, rows: Vectors) -> Vectors:
        """One score for each row."""
        hidden = np.tanh((rows - self.mean) / self.scale @ self.hidden + self.hidden_bias)
        return np.asarray(hidden @ self.output, np.float32)


@once
def load_scope_weights(name: str) -> ScopeWeights:
    """The weights that ship for the vectors of an embedder, ``bundled`` or ``static``.

    Raises:
        ModelFileError: they are missing, damaged, or for another embedder than the one that ships.
    """
    path = Path(__file__).parent / "weights" / f"scopes_{name}.npz"
    stored: dict[str, Any] = dict(read_weights(path, ScopeWeights.__slots__, embedder=name, fingerprint="encoder"))
    scalars = {"question_scale": float(stored["question_scale"]), "encoder": str(stored["encoder"])}
    return ScopeWeights(**{**stored, **scalars})


class ScopeTracker:
    """Tracks the scopes of one user's threads.

    Args:
        weights: by default those that ship for the bundled encoder.
    """

    def __init__(self, weights: ScopeWeights | None = None) -> None:
        self._weights = weights
        self._start()

    def _start(self) -> None:
        self.scopes: dict[str, Scope] = {}
        self._threads: dict[str, _Thread] = {}
        self._waiting: dict[str, deque[StepView]] = {}
        self._word_steps: Counter[str] = Counter()
        self._total: Vectors | None = None
        self._steps = 0

    # ------------------------------------------------------------------ deciding

    def follow(self, steps: Sequence[StepView], open_scope: Callable[[StepView], str]) -> list[Decision]:
        """Decide on steps in the order in which they were stored; several threads may be mixed.

        Args:
            open_scope: step → the id of the new scope that it opens, always the same for one step.

        Returns:
            A decision for each step, and for each provisional step of earlier calls: first those that are now settled,
            in order, then those that are still provisional.
        """
        settled: list[Decision] = []
        for step in steps:
            waiting = self._waiting.setdefault(step.thread_id, deque())
            waiting.append(step)
            if len(waiting) > AHEAD:
                settled.append(self._decided(waiting.popleft(), tuple(waiting), open_scope))
                self.place(settled[-1].step, settled[-1].scope_id)
        provisional: list[Decision] = []
        for thread_id in dict.fromkeys(step.thread_id for step in steps):
            left = tuple(self._waiting[thread_id])
            for place, step in enumerate(left):
                provisional.append(replace(self._decided(step, left[place + 1 :], open_scope), settled=False))
        return [*settled, *provisional]

    def _decided(
        self, step: StepView, following: Sequence[StepView], open_scope: Callable[[StepView], str]
    ) -> Decision:
        scope_id, confidence = self.decide(step, following)
        scope_id = scope_id or open_scope(step)
        thread = self._threads.get(step.thread_id)
        turned = thread is not None and thread.current != scope_id
        return Decision(step, scope_id, confidence, True, turned)

    def decide(self, step: StepView, following: Sequence[StepView] = ()) -> tuple[str | None, float]:
        """The scope of a step, None for a new one, and the confidence from 0 to 1."""
        candidates = self.candidates(step, following)
        if not candidates.ids:
            return None, 1.0
        keyed, scope_id = self._by_key(step)
        if keyed:
            return scope_id, 1.0
        scores = (self._weights or load_scope_weights("bundled")).scores(candidates.rows)
        best = int(np.argmax(scores))
        odds = np.exp(scores - scores[best])
        return (candidates.ids[best] if best < len(candidates.ids) else None), float(1 / odds.sum())

    def _by_key(self, step: StepView) -> tuple[bool, str | None]:
        """Whether the only explicit key of a user's step decides its scope, and that scope: the one that the key opened, or
        a new one (None) if the key is new and another key opened the current scope."""
        keys = step.keys
        thread = self._threads.get(step.thread_id)
        if len(keys) != 1 or thread is None or step.role != "user":
            return False, None
        for scope in self.scopes.values():
            if keys[0] in scope.opened_by:
                return True, scope.id
        current = self.scopes.get(thread.current)
        new = not any(scope.keys[keys[0]] for scope in self.scopes.values())
        return bool(new and current is not None and current.opened_by), None

    def candidates(self, step: StepView, following: Sequence[StepView] = ()) -> Candidates:
        """The open scopes, latest first, with the features of the step for each of them and for a new scope.

        Args:
            following: the known steps after it in its thread, at most :data:`AHEAD`.
        """
        scopes = sorted(self.scopes.values(), key=lambda scope: -scope.active)[:_MOST_SCOPES]
        stacked = _stacked(scopes, self._mean(step.vector))
        parts = [self._rows(step, scopes, stacked)]
        for place in range(AHEAD):
            part = np.zeros((len(scopes) + 1, len(_FOLLOWING) + 2), np.float32)
            if place < len(following):
                part[:, :-2] = self._rows(following[place], scopes, stacked)[:, _FOLLOWING]
                part[:, -2] = following[place].vector @ step.vector
                part[:, -1] = 1.0
            parts.append(part)
        return Candidates(tuple(scope.id for scope in scopes), np.concatenate(parts, axis=1))

    def _mean(self, vector: Vectors) -> Vectors:
        """The mean vector of all steps; zeros like ``vector`` before the first."""
        if self._total is None:
            return np.zeros_like(vector)
        return np.asarray(self._total / max(self._steps, 1), np.float32)

    def _rows(self, step: StepView, scopes: Sequence[Scope], stacked: _Stacked | None) -> Vectors:
        thread = self._threads.get(step.thread_id)
        rows = np.zeros((len(scopes) + 1, len(FEATURES)), np.float32)
        vector = step.vector
        words, keys = step.words, step.keys
        before = thread.vector if thread is not None else np.zeros_like(vector)
        rarity = {word: math.log((self._steps + 1) / (self._word_steps[word] + 0.5)) for word in words}
        mentions = {key: sum(scope.keys[key] for scope in scopes) for key in keys}
        if stacked is not None:
            centered = _unit(vector - stacked.mean)
            for name, column in _likeness(stacked, vector, centered, _unit(vector + before)).items():
                rows[:-1, _PLACE[name]] = column
            shared = [words & scope.words.keys() for scope in scopes]
            current, previous = (thread.current, thread.previous) if thread is not None else ("", "")
            columns: dict[str, list[float]] = {
                "current": [scope.id == current for scope in scopes],
                "previous": [scope.id == previous and previous != current for scope in scopes],
                "words": [
                    self._word_score(len(words), some, scope) for some, scope in zip(shared, scopes, strict=True)
                ],
                "rarest_word": [max([rarity[word] for word in some], default=0.0) for some in shared],
                "since_active": [math.log1p(self._steps - scope.active) for scope in scopes],
                "size": [math.log1p(scope.count) for scope in scopes],
            }
            if keys:
                columns |= {
                    "key": [
                        max([scope.keys[key] / mentions[key] for key in keys if mentions[key]], default=0.0)
                        for scope in scopes
                    ],
                    "key_elsewhere": [bool(scope.opened_by) and scope.opened_by.isdisjoint(keys) for scope in scopes],
                    "opened_by_key": [not scope.opened_by.isdisjoint(keys) for scope in scopes],
                }
            for name, values in columns.items():
                rows[:-1, _PLACE[name]] = values
        rows[-1, _PLACE["new"]] = 1.0
        for name in ("centroid", "nearest", "centered", "words"):
            rows[:, _PLACE[f"{name}_lead"]] = _leads(rows[:, _PLACE[name]])
        context = {
            "assistant": step.role == "assistant",
            "tool": step.role == "tool",
            "length": math.log1p(len(words)),
            "scopes": math.log1p(len(scopes)),
            "has_key": bool(keys),
            "has_new_key": any(not mentions[key] for key in keys),
            "first_of_thread": thread is None,
        }
        if thread is not None:
            hours = abs((step.occurred_at - thread.at).total_seconds()) / 3600
            context |= {
                "same_speaker": step.speaker == thread.speaker,
                "first_speaker": step.speaker == thread.first_speaker,
                "gap": math.log1p(hours),
                "to_previous_step": float(before @ vector),
                "run": math.log1p(thread.run),
                "position": math.log1p(thread.steps),
            }
        for name, value in context.items():
            rows[:, _PLACE[name]] = value
        return rows

    def _word_score(self, words: int, shared: Iterable[str], scope: Scope) -> float:
        """Mean log-likelihood ratio of words in the scope against all steps.

        Args:
            words: the number of distinct words of the text.
            shared: those that occur in the scope.
        """
        if not words:
            return 0.0
        score = words * math.log(4 / (scope.count + 4))
        for word in shared:
            everywhere = (self._word_steps[word] + 0.5) / (self._steps + 1)
            score += math.log1p(scope.words[word] / (4 * everywhere))
        return score / math.sqrt(words)

    # ------------------------------------------------------------------ state

    def place(self, step: StepView, scope_id: str) -> None:
        """Add a step to a scope, which is opened if it is unknown."""
        keys, words = step.keys, step.words
        scope, thread = self.scopes.get(scope_id), self._threads.get(step.thread_id)
        self._steps += 1
        if scope is None:
            scope = Scope(scope_id, np.zeros_like(step.vector), step.vector, opened_by=frozenset(keys))
        # The counters are changed in place, since copies would be large.
        scope.keys.update(keys)
        scope.words.update(words)
        self.scopes[scope_id] = Scope(
            id=scope_id,
            total=scope.total + step.vector,
            opening=scope.opening,
            count=scope.count + 1,
            recent=(*scope.recent, step.vector)[-_RECENT:],
            keys=scope.keys,
            opened_by=scope.opened_by,
            words=scope.words,
            active=self._steps,
        )
        self._word_steps.update(words)
        self._total = self._total + step.vector if self._total is not None else step.vector
        same = thread is not None and thread.current == scope_id
        self._threads[step.thread_id] = _Thread(
            current=scope_id,
            previous="" if thread is None else thread.previous if same else thread.current,
            speaker=step.speaker,
            first_speaker=step.speaker if thread is None else thread.first_speaker,
            vector=step.vector,
            at=step.occurred_at,
            run=thread.run + 1 if thread is not None and same else 1,
            steps=1 if thread is None else thread.steps + 1,
        )

    def similar(self, vector: Vectors, text: str) -> dict[str, float]:
        """Scope id → its similarity to a text, by words and the cosine with the centroid, both centred by the mean of all steps."""
        if not self._steps or self._total is None:
            return {}
        mean = self._total / self._steps
        words, centered = words_of(text), _unit(vector - mean)
        return {
            scope.id: float(_unit(scope.total / scope.count - mean) @ centered)
            + 0.1 * self._word_score(len(words), words & scope.words.keys(), scope)
            + 0.5 * bool(scope.opened_by.intersection(explicit_keys(text)))
            for scope in self.scopes.values()
        }

    def restore(self, decisions: Iterable[Decision]) -> None:
        """Reset the state to earlier decisions, in order; provisional steps at the end of a thread wait again."""
        self._start()
        for decision in decisions:
            waiting = self._waiting.setdefault(decision.step.thread_id, deque())
            if decision.settled and not waiting:
                self.place(decision.step, decision.scope_id)
            else:
                waiting.append(decision.step)


def _unit(vector: npt.NDArray[np.floating[Any]]) -> Vectors:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), np.float32)


class _Stacked(NamedTuple):
    """The vectors of all open scopes as matrices, a row for each scope.

    Attributes:
        mean: the mean vector of all steps.
        centroids: length 1.
        centered: the same without the mean, length 1.
        openings: the vectors of the first steps.
        recent: the vectors of the latest steps of all scopes, ``(n, d)``.
        recent_centered: the same without the mean, length 1.
        places: where each row of ``recent`` belongs, ``(scopes, most)``.
    """

    mean: Vectors
    centroids: Vectors
    centered: Vectors
    openings: Vectors
    recent: Vectors
    recent_centered: Vectors
    places: npt.NDArray[np.bool_]


def _stacked(scopes: Sequence[Scope], mean: Vectors) -> _Stacked | None:
    if not scopes:
        return None
    totals = np.stack([scope.total for scope in scopes])
    counts = np.array([scope.count for scope in scopes], np.float32)
    recent = np.stack([row for scope in scopes for row in scope.recent])
    return _Stacked(
        mean=mean,
        centroids=_units(totals),
        centered=_units(totals / counts[:, None] - mean),
        openings=np.stack([scope.opening for scope in scopes]),
        recent=recent,
        recent_centered=_units(recent - mean),
        places=np.arange(_RECENT) < np.array([len(scope.recent) for scope in scopes])[:, None],
    )


def _likeness(stacked: _Stacked, vector: Vectors, centered: Vectors, pair: Vectors) -> dict[str, Vectors]:
    """The features that compare vectors, each ``(len(scopes),)``.

    Args:
        vector: of the step.
        centered: the same without the mean of all steps, length 1.
        pair: the direction of the step and the one before it.
    """
    cosines, apart = (np.full(stacked.places.shape, -np.inf, np.float32) for _ in range(2))
    cosines[stacked.places] = stacked.recent @ vector
    apart[stacked.places] = stacked.recent_centered @ centered
    nearest = -np.sort(-cosines, axis=1)[:, :3]
    return {
        "centroid": stacked.centroids @ vector,
        "with_previous_step": stacked.centroids @ pair,
        "centered": stacked.centered @ centered,
        "nearest": nearest[:, 0],
        "nearest_three": np.where(np.isfinite(nearest), nearest, 0).sum(axis=1) / np.isfinite(nearest).sum(axis=1),
        "opening": stacked.openings @ vector,
        "centered_nearest": apart.max(axis=1),
    }


def _units(rows: npt.NDArray[np.floating[Any]]) -> Vectors:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def _leads(values: Sequence[float] | Vectors) -> Vectors:
    """Each value minus the greatest of the others; the last, of a new scope, minus the greatest of all."""
    values = np.asarray(values, np.float32)
    known = values[:-1]
    leads = np.zeros_like(values)
    if len(known) == 0:
        return leads
    order = np.sort(known)
    second = order[-2] if len(known) > 1 else 0.0
    leads[:-1] = known - np.where(known == order[-1], second, order[-1])
    leads[-1] = -order[-1]
    return leads
