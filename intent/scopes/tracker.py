"""Thematic scopes σ by rules: which goal each step serves, online, with re-entry of goals left earlier.

After STITCH (arXiv 2601.10702, section 3.1), where a model maintains the current scope over a sliding window; here
cues, vocabulary and embeddings do. A step that names its goal switches to it (``choice``); one that does not
stays, unless what it speaks of belongs to another scope that is known, or what is said has left the subject for good.
The latter is decided on blocks of steps as in TextTiling (Hearst 1997), with a margin in favour of staying: steps in
doubt are *provisional* until a few more have been seen, and the decision that settles them names them as revised.

Where things are: ``text`` reads words, ``numbers`` numbered goals, ``named`` named ones, ``anchor`` "day 2 of Dublin
with my parents", ``itinerary`` stays with dates, ``cues`` what leads to them; ``days`` and ``calendar`` know days by
weekday and date, ``weighing`` and ``returns`` tell which day is spoken of, by ``hints`` too of what was said before
its turn; ``identity`` knows what scopes were introduced with, ``evidence`` weighs it, ``introduction`` opens scopes
by it; ``switch`` and ``roots`` resolve numbered and named goals, ``likeness`` and ``profiles`` say what is like what;
``registry`` keeps the scopes; ``asides`` tells what serves no trip, ``naming`` finds names for topics.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from ...memory_types.labels import Label
from ..contract import Embed, LabeledStep, StepView, Vectors
from .anchor import read_anchor
from .asides import is_aside, resumes_trip, serves_trips, tells_own
from .calendar import learn_weekdays, restore_dates, unclock, vote_weekday
from .choice import choose
from .cues import Cues, offered, read_cues
from .days import calendar_day
from .decision import ScopeDecision, ScopeSettings
from .hints import learn_hints
from .identity import read_features
from .introduction import introduce, name_topic, take_up, topic_name
from .likeness import NEUTRAL, likeness, nearest, recall, typical
from .registry import Registry, Scope, topic_tokens
from .returns import read_standing
from .roots import Place
from .switch import goal_name, goal_within, learn, resolve
from .text import Words, read_words
from .thread import Pending, Thread, cohesion
from .weighing import weigh_days, weighs_days

__all__ = ["ScopeDecision", "ScopeSettings", "ScopeTracker"]

_ANSWER = 12  # words up to which a text may be no more than the answer to a question
_GREETING = 5  # telling words of an exchange up to which it is a greeting
_ANSWERING = frozenset(("assistant", "ai", "tool", "function", "system", "developer"))


def _asked(thread: Thread) -> bool:
    """Whether a question to the person stands open."""
    return thread.standing.asked and not thread.standing.person


def _answers(thread: Thread, words: Words) -> bool:
    """Whether a person's short text answers the question that was just asked."""
    if thread.open and thread.seen > 3:
        return False  # after a silence
    return _asked(thread) and words.count <= _ANSWER and not words.text.rstrip().endswith(("?", "？"))


class ScopeTracker:
    """Follows the scopes of one user's steps.

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

    @property
    def labels(self) -> tuple[Label, ...]:
        """All scope labels, aliases included."""
        return tuple(self._registry.labels.values())

    def canonical(self, scope_id: str) -> str:
        """The scope that counts for ``scope_id``: itself, or the one that took it in."""
        return self._registry.canonical(scope_id)

    def update(self, labels: Sequence[Label]) -> None:
        """Take in labels that a person or a model changed: renamed, pinned, put elsewhere, merged by an alias."""
        self._registry.load(labels)
        for thread in self._threads.values():
            if thread.current is not None:
                thread.current = self._registry.scopes.get(self.canonical(thread.current.id), thread.current)

    def assign(self, step: StepView) -> ScopeDecision:
        """Give the next step of its thread its scope.

        Args:
            step: follows, in its thread, all steps given before.

        Returns:
            The decision; exactly one scope, which exists.
        """
        thread = self._thread(step.thread_id)
        words = self._read(step)
        cues = read_cues(words)
        user = step.role not in _ANSWERING
        vector = self._telling(step.vector)
        self._listen(thread, step.occurred_at)

        if user:
            self._resume_trip(thread, words, cues)
        before = len(self._registry.labels)
        place = Place(
            thread.current, thread.current.root if thread.current else None, thread.seen, thread.offer, thread.history
        )
        place.weighed = weighs_days(thread)
        if place.root is not None and place.root.kind not in ("trip", "project", "debate", "plan"):
            place.root = None if place.root.kind != "work" else place.root
        signs = read_features(words.text)
        for name in self._speaker_words & signs.keys():
            del signs[name]
        registry = self._registry
        aside = user and self._is_aside(thread, words, cues)
        if aside:
            cues = replace(cues, goals=())  # a weekday in it is no day of the trip
        elif user and cues.goals and registry.towns and self._off_trips(thread, words, cues):
            cues = replace(cues, goals=tuple(goal for goal in cues.goals if not goal.dated))
        if cues.goals:
            learn_weekdays(words, cues, thread.current, registry)
        if aside:
            switch = None
        elif user:
            switch = choose(thread, words, cues, signs, place, registry, self._speaker_words, step.occurred_at)
        else:
            switch = calendar_day(thread, words, cues, place, registry, step.occurred_at, user=False)
            if switch is None:
                switch = resolve(words, cues, registry, place, user=False)
        provisional = False
        revised: tuple[str, ...] = ()
        on_trip = place.root is not None and place.root.kind == "trip"
        doubt, thread.doubt = thread.doubt, None
        thread.named = switch.scope if switch is not None else None
        if switch is not None:
            scope, confidence = switch.scope, switch.confidence
            told = switch.introduces or not cues.goals  # by its company, or by consent to what was offered
            if user and place.weighed and not told and scope.kind == "goal" and scope.root.kind == "trip":
                weighed = weigh_days(thread, words, cues, vector, registry, None, scope, user=True)
                if weighed is not None:
                    if weighed.scope is not scope and scope.id in list(registry.labels)[before:]:
                        registry.forget(scope, weighed.scope)
                    scope, confidence, thread.doubt = weighed.scope, weighed.confidence, weighed.doubt
                provisional = thread.doubt is not None
            self._settle(thread, None)  # what was in doubt came before the switch
            if scope is not thread.current:
                thread.local.clear()
            revised = self._opening(thread, scope)
        elif aside:
            scope, confidence, provisional = self._turn_aside(thread, words, vector)
        elif (
            cues.back and not place.weighed and (user or not on_trip) and (earlier := self._earlier(thread)) is not None
        ):
            scope, confidence = earlier, 0.7
            self._settle(thread, None)
            thread.local.clear()
        else:
            scope, confidence, provisional, revised = self._follow(thread, words, cues, vector, user, doubt)
        created = None
        if len(self._registry.labels) > before and scope.id in list(self._registry.labels)[before:]:
            created = self._registry.labels[scope.id]
        learn(words, cues, scope.root, thread.seen, self._registry, step.occurred_at)
        scope = self._registry.scopes[scope.id]
        learn_hints(words, cues, scope, thread.seen, registry)
        if cues.goals and not provisional:
            vote_weekday(cues, scope, registry)
        if not scope.steps and user and (scope.kind != "topic" or not thread.seen):
            whole = scope.kind != "goal" or (switch is not None and switch.introduces)
            introduce(scope, words, signs, registry, whole=whole)
        registry.identities.hear(signs, scope.index, sure=switch is not None and confidence >= 0.72)
        self._enter(thread, scope, step, words, vector, provisional)
        self._hear_offer(thread, step, words, cues)
        if scope.kind == "topic" and scope.auto and scope.steps in (5, 12, 25):
            name_topic(scope, words, self._registry)
        changed = self._registry.changes()
        if created is not None:
            created = self._registry.labels[scope.id]
        return ScopeDecision(
            step_id=step.id,
            scope_id=scope.id,
            created=created,
            changed=changed,
            confidence=confidence,
            provisional=provisional,
            revised=revised,
        )

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Take up where an earlier process stopped.

        Args:
            labels: all labels of the user; those of other kinds are passed over.
            recent: scope id → its latest labelled steps, oldest first.
        """
        self._registry.load(labels)
        known: dict[str, tuple[LabeledStep, Scope]] = {}
        for scope_id, steps in recent.items():
            scope = self._registry.scopes.get(self.canonical(scope_id))
            if scope is not None:
                known.update({kept.step.id: (kept, scope) for kept in steps[-self.settings.recent :]})
        for scope in self._registry:
            take_up(scope, self._registry)
        restore_dates(self._registry)
        for kept, scope in sorted(known.values(), key=lambda pair: (pair[0].step.occurred_at, pair[0].step.turn)):
            self._replay(kept.step, scope, kept.provisional)
        for scope in self._registry:
            scope.steps = max(scope.steps, self._registry.profiles.size(scope.index))
        self._registry.changes()

    def _replay(self, step: StepView, scope: Scope, provisional: bool) -> None:
        """Take in a step whose scope is known."""
        thread = self._thread(step.thread_id)
        words = self._read(step)
        cues = read_cues(words)
        self._listen(thread, step.occurred_at)
        if scope is not thread.current or not provisional:
            self._settle(thread, None)
        if scope is not thread.current:
            thread.local.clear()
        if cues.goals:
            learn_weekdays(words, cues, thread.current, self._registry)
        learn(words, cues, scope.root, thread.seen, self._registry, step.occurred_at)
        learn_hints(words, cues, self._registry.scopes[scope.id], thread.seen, self._registry)
        if step.role not in _ANSWERING and (anchor := read_anchor(words, cues, self._registry.towns)) is not None:
            thread.anchors += bool(anchor.company)
        self._registry.identities.hear(read_features(words.text), scope.index, sure=False)
        self._enter(thread, self._registry.scopes[scope.id], step, words, self._telling(step.vector), provisional)
        self._hear_offer(thread, step, words, cues)
        if not provisional:
            thread.open = False

    def _thread(self, thread_id: str) -> Thread:
        thread = self._threads.get(thread_id)
        if thread is None:
            thread = self._threads[thread_id] = Thread(history=deque(maxlen=self.settings.window))
        return thread

    def _hear_offer(self, thread: Thread, step: StepView, words: Words, cues: Cues) -> None:
        thread.offer = None
        thread.standing = read_standing(words.text, person=step.role not in _ANSWERING)
        if step.role in _ANSWERING and (goal := offered(words, cues.goals, step.text)) is not None:
            thread.offer = replace(goal, start=10**9, end=10**9, score=3.0)

    # ------------------------------------------------------------------ asides

    def _is_aside(self, thread: Thread, words: Words, cues: Cues) -> bool:
        current = thread.current
        if current is None or current.root.kind != "trip" or thread.introduced or thread.anchors or not thread.answered:
            return False
        return is_aside(thread, words, cues, current, self._registry)

    def _resume_trip(self, thread: Thread, words: Words, cues: Cues) -> None:
        """Go back to the trip that an aside left, where a text goes on with it; it then sets its day as usual."""
        current, left = thread.current, thread.left
        if left is None or current is None:
            return
        if current.root.kind != "topic":
            thread.left = None
        elif resumes_trip(thread, words, cues, self._registry):
            self._settle(thread, None)
            thread.history.append(current)
            thread.current, thread.left, thread.visit = self._registry.scopes[left.id], None, 0
            thread.local.clear()

    def _off_trips(self, thread: Thread, words: Words, cues: Cues) -> bool:
        """Whether the weekdays of a text are said where no trip is the subject, and not of one."""
        current = thread.current
        if current is None or current.root.kind != "topic" or thread.introduced:
            return False
        return any(goal.dated for goal in cues.goals) and not serves_trips(words, self._registry)

    def _turn_aside(self, thread: Thread, words: Words, vector: Vectors | None) -> tuple[Scope, float, bool]:
        """The topic of a text that leaves a trip without a word: the known one that it is like, else a new one."""
        self._settle(thread, None)
        if thread.current is not None and thread.current.root.kind == "trip":
            thread.left = thread.current
        found = nearest(self._registry, words.terms, vector, thread.current)
        thread.local.clear()
        if found is not None and found[0].kind == "topic" and found[1] >= self.settings.known:
            return found[0], 0.55, False
        return self._open_topic(words.text), 0.55, False

    # ------------------------------------------------------------------ following

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
        if thread.last_at is not None and (at - thread.last_at).total_seconds() > self.settings.gap_hours * 3600:
            self._settle(thread, None)
            thread.open = True
            thread.offer = None
        elif thread.seen == 1 and thread.last_at is not None and abs((at - thread.last_at).total_seconds()) < 1.0:
            unclock(self._registry)  # nobody answers and is answered within a second: these times were made up
        thread.last_at = at

    def _earlier(self, thread: Thread) -> Scope | None:
        kept = (self._registry.scopes[scope.id] for scope in reversed(thread.history))
        return next((scope for scope in kept if scope is not thread.current), None)

    def _among_days(
        self,
        thread: Thread,
        words: Words,
        cues: Cues,
        vector: Vectors | None,
        user: bool,
        doubt: dict[int, float] | None,
    ) -> tuple[Scope, float, bool, tuple[str, ...]]:
        """The day that a text without a named goal speaks of; an answer decides together with what it answers."""
        current = thread.current
        assert current is not None
        begins = user and current.kind == "trip" and current.length > 1 and not current.children and current.steps > 1
        if begins and not tells_own(words):
            day = self._registry.open("goal", goal_name(("day", 1), words.has_cjk), parent=current, key=("day", 1))
            return day, 0.6, False, self._opening(thread, day)  # planning goes on: it began with the first day
        weighed = weigh_days(thread, words, cues, vector, self._registry, doubt, user=user)
        if weighed is None:
            return current, 0.9, False, ()
        if not user:
            moved = weighed.scope if weighed.scope is not current else None
            return weighed.scope, weighed.confidence, False, self._settle(thread, moved)
        self._settle(thread, None)
        if weighed.scope is not current:
            thread.local.clear()
        thread.doubt = weighed.doubt
        return weighed.scope, weighed.confidence, weighed.doubt is not None, ()

    def _follow(
        self,
        thread: Thread,
        words: Words,
        cues: Cues,
        vector: Vectors | None,
        user: bool,
        doubt: dict[int, float] | None,
    ) -> tuple[Scope, float, bool, tuple[str, ...]]:
        """The scope of a step that names none: (scope, confidence, provisional, revised)."""
        current = thread.current
        if current is None:
            known = nearest(self._registry, words.terms, vector, None)
            if known is not None and known[1] > self.settings.known + 0.1 and words.count >= 6:
                return known[0], 0.5, False, ()
            return self._open_topic(words.text), 0.5, True, ()
        if thread.anchors > 2 or (thread.introduced and (current.steps < 8 or len(thread.history) > 1)):
            return current, 0.8, False, ()
        if weighs_days(thread):
            return self._among_days(thread, words, cues, vector, user, doubt)
        fixed = current.kind == "goal" or bool(current.children)
        dated = fixed and current.root.dated
        mentions = any(goal.score < 0 for goal in cues.goals)  # of another goal, by way of comparison
        if (
            user
            and not dated
            and (fixed or cues.resume)
            and not mentions
            and (recalled := recall(self._registry, self.settings, thread, current, words, cues, vector)) is not None
        ):
            self._settle(thread, None)
            scope, confidence = recalled
            thread.local.clear()
            if scope.root is not current.root:
                scope = goal_within(words, cues, self._registry, scope) or scope
            return scope, confidence, False, ()
        if (fixed and not thread.open) or dated:
            return current, 0.9 if not user or cues.anaphoric else 0.75, False, ()
        own = user and thread.answered and not cues.anaphoric and tells_own(words)
        if own and vector is not None and not thread.pending and not thread.open and not _asked(thread):
            apart = thread.said().isdisjoint(words.terms) and len(words.terms) > 2
            if apart and cohesion(thread, words.terms, vector) < self.settings.cohesion_talk:
                return *self._turn_aside(thread, words, vector), ()
        return self._drift(thread, current, words, vector, user, cues.shift or own)

    def _drift(
        self, thread: Thread, current: Scope, words: Words, vector: Vectors | None, user: bool, shift: bool
    ) -> tuple[Scope, float, bool, tuple[str, ...]]:
        """Whether what is said has left the current topic, for a known one or a new one.

        The block of steps in doubt is held against the few before it (cosine plus the share of words in common). A
        question and its answer make a block; where people talk among themselves it takes more.
        """
        settings, pending = self.settings, thread.pending
        if not user and not pending:
            return current, 0.9, False, ()  # an answer stays with its question
        if vector is None or (words.count < 4 and not words.has_cjk):  # says too little either way
            return current, 0.6, bool(pending), ()
        if user and not pending and not shift and _answers(thread, words):
            return current, 0.7, False, ()
        block, terms = vector, words.terms
        if pending:
            block = vector + np.sum([item.vector for item in pending if item.vector is not None], axis=0)
            block = block / max(1e-6, float(np.sqrt(block @ block)))
            terms = dict(terms)
            for item in pending:
                terms.update(item.terms)
        follows = cohesion(thread, terms, block)
        size = len(pending) + 1
        answered = not user
        eager = shift or thread.open
        needed = 2 if answered else max(1, settings.novel_steps - (1 if shift else 0))
        bound = (settings.cohesion if answered or thread.answered else settings.cohesion_talk) + (0.1 if eager else 0.0)
        found = nearest(self._registry, terms, block, current)
        stay = likeness(self._registry, current, terms, block)
        if found is not None and (found[1] >= settings.known or thread.open) and found[0].kind != "plan":
            other, like = found
            margin = settings.margin + (0.15 if size == 1 else 0.0) - (0.05 if eager else 0.0)
            clear = thread.answered or not thread.open or like - typical(self._registry, block, other) >= settings.lead
            if like - stay >= margin and like >= settings.known and follows < bound + 0.1 and clear:
                return other, min(0.85, 0.5 + like - stay), False, self._settle(thread, other)
        if follows >= bound and not thread.open:
            self._settle(thread, None)
            return current, min(0.95, 0.4 + follows), False, ()
        if size < needed:
            return current, 0.5, True, ()
        was_open, thread.open = thread.open, False
        held = (
            stay - typical(self._registry, block, current) >= settings.lead
            if was_open and not thread.answered
            else True
        )
        if (follows >= bound or stay >= settings.known) and held:
            self._settle(thread, None)
            return current, 0.6, False, ()
        topic = self._open_topic(pending[0].text if pending else words.text)
        return topic, 0.55, False, self._settle(thread, topic)

    # ------------------------------------------------------------------ keeping

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
        elif scope is thread.named and step.role not in _ANSWERING:
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
        thread.answered = thread.answered or step.role in _ANSWERING
        if provisional and scope.steps > 1:
            thread.pending.append(Pending(step.id, words.terms, vector, words.text[:400]))
        else:
            thread.local.append((frozenset(words.terms), vector))
            self._registry.profiles.add(scope.index, words.terms, vector)
