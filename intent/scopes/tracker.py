"""Thematic scopes σ by rules: which goal each step serves, online, with re-entry of goals left earlier.

After STITCH (arXiv 2601.10702, section 3.1), where a model maintains the current scope over a sliding window; here
cues, vocabulary and embeddings do. A step that names its goal switches to it (``choice``); one that does not
stays, unless what it speaks of belongs to another scope that is known, or what is said has left the subject for good.
The latter is decided on blocks of steps as in TextTiling (Hearst 1997), with a margin in favour of staying: steps in
doubt are *provisional* until a few more have been seen, and the decision that settles them names them as revised.

Where things are: ``following`` tells the scope of steps that name none, ``keeping`` what each thread keeps; ``text``
reads words, ``numbers`` numbered goals, ``named`` named ones, ``anchor`` "day 2 of Dublin with my parents",
``itinerary`` stays with dates, ``cues`` what leads to them; ``days`` and ``calendar`` know days by weekday and date,
``weighing`` and ``returns`` tell which day is spoken of, by ``hints`` too of what was said before its turn;
``identity`` knows what scopes were introduced with, ``evidence`` weighs it, ``introduction`` opens scopes by it;
``switch`` and ``roots`` resolve numbered and named goals, ``likeness`` and ``profiles`` say what is like what;
``registry`` keeps the scopes; ``asides`` tells what serves no trip, ``told_trips`` which trips are told of and not
planned, ``sessions`` what is gone on with after a silence, ``naming`` finds names for topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...memory_types.labels import Label
from ..contract import LabeledStep, StepView
from .anchor import read_anchor
from .asides import dates_no_trip, is_aside
from .calendar import learn_weekdays, restore_dates, vote_weekday
from .choice import choose
from .cues import read_cues
from .days import calendar_day
from .decision import ScopeDecision, ScopeSettings
from .following import ScopeFollowing
from .hints import learn_hints
from .identity import read_features
from .introduction import introduce, name_topic, take_up
from .keeping import ANSWERING
from .registry import Scope
from .roots import Place
from .switch import learn, resolve
from .told_trips import hear_planning, speaks_of_other_stay
from .weighing import weigh_days, weighs_days

__all__ = ["ScopeDecision", "ScopeSettings", "ScopeTracker"]


class ScopeTracker(ScopeFollowing):
    """Follows the scopes of one user's steps.

    Args:
        user: whose steps these are.
        embed: the embedder, for what all texts have in common.
        settings: its settings.
    """

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
        user = step.role not in ANSWERING
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
        here = thread.current.root if thread.current is not None else None
        if user and here is not None:
            hear_planning(here, words, cues, registry)
        aside = user and is_aside(thread, words, cues, registry)
        if aside:
            cues = replace(cues, goals=())  # a weekday in it is no day of the trip
        elif user and cues.goals and registry.towns and dates_no_trip(thread, words, cues, registry):
            cues = replace(cues, goals=tuple(goal for goal in cues.goals if not goal.dated))
        if here is not None and here.told and not speaks_of_other_stay(words, cues, here):
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
        for root in self._registry.roots:
            root.told = root.kind == "trip" and not root.children  # who plans it, names days
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
        if step.role not in ANSWERING and (anchor := read_anchor(words, cues, self._registry.towns)) is not None:
            thread.anchors += bool(anchor.company)
        self._registry.identities.hear(read_features(words.text), scope.index, sure=False)
        self._enter(thread, self._registry.scopes[scope.id], step, words, self._telling(step.vector), provisional)
        self._hear_offer(thread, step, words, cues)
        if not provisional:
            thread.open = False
