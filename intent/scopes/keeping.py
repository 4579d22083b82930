"""What scope tracking keeps of each thread, and how a step enters its scope; what was in doubt is settled here."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import datetime

import numpy as np

from ..contract import Embed, StepView, Vectors
from .calendar import unclock
from .cues import Cues, offered
from .decision import ScopeSettings
from .introduction import topic_name
from .likeness import NEUTRAL
from .registry import Registry, Scope, topic_tokens
from .text import Words, read_words
from .thread import Pending, Thread, read_standing

__all__ = ["ANSWERING", "ScopeKeeping"]

ANSWERING = frozenset(("assistant", "ai", "tool", "function", "system", "developer"))
"""The roles of those who answer a person."""
_GREETING = 5  # telling words of an exchange up to which it is a greeting


class ScopeKeeping:
    """The scopes and threads of one user, and the changes that steps make to them.

    Args:
        user: whose steps these are.
        embed: the embedder, for what all texts have in common.
        settings: its settings.
    """

    def __init__(self, user: str, embed: Embed, settings: ScopeSettings | None = None) -> None:
        self.settings = settings or ScopeSettings()
        self._registry = Registry(user, self.settings.recent)
        self._threads: dict[str, Thread] = {}
        self._speakers: set[str] = set()
        self._speaker_words: set[str] = set()
        rows = np.asarray(embed(["", *NEUTRAL]), np.float32)
        self._nothing: Vectors = rows[0]
        self._neutral: Vectors = rows[1:].mean(axis=0)

    def _thread(self, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None:
            thread = self._threads[thread_id] = Thread(history=deque(maxlen=self.settings.window))
        return thread

    def _read(self, step: StepView) -> Words:
        """The step's words; the names of those who speak are no topic."""
        words = read_words(step.text)
        if step.speaker not in self._speakers and len(self._speakers) < 1000:
            self._speakers.add(step.speaker)
            self._speaker_words.update(read_words(step.speaker[:80]).terms)
        for name in self._speaker_words & words.terms.keys():
            del words.terms[name]
        return words

    def _telling(self, vector: Vectors) -> Vectors | None:
        """The vector without what all texts have in common, of length 1; None where nothing is known of the text."""
        if vector.shape != self._neutral.shape or float(vector @ self._nothing) > 0.98:
            return None
        rest = vector - self._neutral
        length = float(np.sqrt(rest @ rest))
        if not 1e-6 < length < 1e6 or not float(vector @ vector) > 1e-6:
            return None
        return np.asarray(rest / np.float32(length), np.float32)

    def _listen(self, thread: Thread, at: datetime) -> None:
        past = None if thread.last_at is None else (at - thread.last_at).total_seconds()
        thread.rested = past is not None and past > self.settings.gap_hours * 3600
        if thread.rested:
            self._settle(thread, None)
            thread.open = True
            thread.offer = thread.left = None
        elif thread.seen == 1 and past is not None and abs(past) < 1.0:
            unclock(self._registry)  # nobody answers and is answered within a second: these times were made up
        thread.last_at = at

    def _earlier(self, thread: Thread) -> Scope | None:
        kept = (self._registry.scopes[scope.id] for scope in reversed(thread.history))
        return next((scope for scope in kept if scope is not thread.current), None)

    def _hear_offer(self, thread: Thread, step: StepView, words: Words, cues: Cues) -> None:
        thread.offer = None
        thread.standing = read_standing(words.text, person=step.role not in ANSWERING)
        if step.role in ANSWERING and (goal := offered(words, cues.goals, step.text)) is not None:
            thread.offer = replace(goal, start=10**9, end=10**9, score=3.0)

    def _settle(self, thread: Thread, scope: Scope | None) -> tuple[str, ...]:
        """End the doubt about a thread's last steps: they stay (None), or go to ``scope``, whose topic they began."""
        pending, thread.pending = thread.pending, []
        target = thread.current if scope is None else scope
        if target is None:
            return ()
        if target is not thread.current:
            thread.local.clear()  # what was said before was about something else
        for item in pending:
            thread.local.append((frozenset(item.terms), item.vector))
            self._registry.profiles.add(target.index, item.terms, item.vector)
        if target is thread.current:
            return ()
        if thread.current is not None:
            target.steps += len(pending)
            thread.current.steps -= len(pending)
        return (*(item.step_id for item in pending), *self._opening(thread, target))

    def _opening(self, thread: Thread, scope: Scope | None) -> tuple[str, ...]:
        """The steps that open a plan ("Four days in Lisbon!") belong to the goal that it begins with."""
        opening, current = thread.opening, thread.current
        if not opening or scope is None or current is None or scope is current:
            return ()
        thread.opening = []
        if current.kind == "topic":  # a greeting before the first goal
            little = len(self._registry.profiles.counts(current.index)) <= _GREETING
            if scope.kind != "topic" and thread.seen <= 2 and current.steps == thread.seen and little:
                self._registry.absorb(current, scope)
            return ()
        fits = scope.parent is current and len(current.children) == 1 and scope.key is not None and scope.key[1] == 1
        if not fits or current.steps > len(opening):
            return ()
        self._registry.profiles.merge(current.index, scope.index)
        current.steps -= len(opening)
        scope.steps += len(opening)
        return tuple(opening)

    def _open_topic(self, text: str) -> Scope:
        name, stands_in = topic_name(text)
        tokens = () if stands_in else topic_tokens(name)
        return self._registry.open("topic", name, tokens=tokens, auto=stands_in)

    def _enter(
        self, thread: Thread, scope: Scope, step: StepView, words: Words, vector: Vectors | None, provisional: bool
    ) -> None:
        if scope is not thread.current:
            if thread.current is not None:
                thread.history.append(thread.current)
            thread.current, thread.visit, thread.told = scope, 0, scope is thread.named
            thread.introduced = thread.introduced or scope.introduced
            if scope.kind == "goal" or not provisional:
                thread.open = False
        elif scope is thread.named and step.role not in ANSWERING:
            thread.visit, thread.told = 0, True
        thread.visit += 1
        parent = scope.parent
        while parent is not None:
            parent.last_leaf = scope
            parent = parent.parent
        if (scope.steps == 0 and scope.kind != "goal") or (
            thread.opening and len(thread.opening) < self.settings.overview_steps
        ):
            thread.opening.append(step.id)
        elif thread.opening and scope.kind == "topic":
            thread.opening = []
        scope.steps += 1
        thread.seen += 1
        self._registry.assisted = self._registry.assisted or step.role in ANSWERING
        if step.role in ANSWERING and thread.seen == 2:  # one introduction to an assistant is no habit
            thread.introduced = scope.introduced = False
        thread.answered = thread.answered or step.role in ANSWERING
        if len(thread.voices) < 2:
            thread.voices.add(step.speaker)
        if provisional and scope.steps > 1:
            thread.pending.append(Pending(step.id, words.terms, vector, words.text[:400]))
        else:
            thread.local.append((frozenset(words.terms), vector))
            self._registry.profiles.add(scope.index, words.terms, vector)
