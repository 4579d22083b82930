"""The scope of a step that names none: the one in hand, unless what is said has left its subject."""

from __future__ import annotations

import numpy as np

from ... import lazy_re as re
from ..contract import Vectors
from .asides import resumes_trip, tells_own
from .cues import Cues
from .keeping import ScopeKeeping
from .likeness import likeness, nearest, recall, typical
from .registry import Scope
from .sessions import ELSEWHERE, says_enough, tied_to, topic_sharing_most
from .switch import goal_name, goal_within
from .text import Words
from .thread import Thread, cohesion
from .told_trips import told_trip_named
from .weighing import weigh_days, weighs_days

__all__ = ["ScopeFollowing"]

_BACK = re.compile(
    r"^\W*(?:and |but |so )?(?:he|she|they|it)\b(?![’']?s? (?:time|rain|snow|is time|rains))|^[他她它]", re.I
)
_ANSWER = 12  # words up to which a text may be no more than the answer to a question


def refers_back(words: Words) -> bool:
    """Whether a text sets out with somebody or something just spoken of."""
    return _BACK.search(words.text) is not None


def _asked(thread: Thread) -> bool:
    """Whether a question to the person stands open."""
    return thread.standing.asked and not thread.standing.person


def _answers(thread: Thread, words: Words) -> bool:
    """Whether a person's short text answers the question that was just asked."""
    if thread.open and thread.seen > 3:
        return False  # after a silence
    return _asked(thread) and words.count <= _ANSWER and not words.text.rstrip().endswith(("?", "？"))


class ScopeFollowing(ScopeKeeping):
    """Tells which scope a step goes on with, and goes back to trips that asides had left."""

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

    def _turn_aside(self, thread: Thread, words: Words, vector: Vectors | None) -> tuple[Scope, float, bool]:
        """The topic of a text that leaves a trip without a word: the known one that it is like, else a new one."""
        self._settle(thread, None)
        known = None
        if thread.current is not None and thread.current.root.kind == "trip":
            thread.left = None if thread.current.root.told else thread.current
            known = tied_to(self._registry, words, vector, thread.current)
            topic, share = topic_sharing_most(self._registry, words)
            if known is None and share >= ELSEWHERE:
                known = topic
        if known is not None and known.root.kind == "topic":
            thread.local.clear()
            return known, 0.55, False
        found = nearest(self._registry, words.terms, vector, thread.current)
        thread.local.clear()
        if found is not None and found[0].kind == "topic" and found[1] >= self.settings.known:
            return found[0], 0.55, False
        return self._open_topic(words.text), 0.55, False

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
        if user and thread.rested and not thread.introduced and not thread.anchors and says_enough(words):
            if thread.alone:
                return *self._begin_again(thread, words, vector, current), False, ()
            if thread.answered and current.root.kind in ("topic", "trip"):
                tied = tied_to(self._registry, words, vector, current)
                if tied is not None and tied is not current and tied.root.kind == "topic":
                    self._settle(thread, None)
                    thread.local.clear()
                    return tied, 0.6, False, ()
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
        if user and (trip := told_trip_named(self._registry, words)) is not None:
            self._settle(thread, None)
            if trip is not current:
                thread.local.clear()
            return trip, 0.7, False, ()
        if user and thread.answered and not thread.rested and not thread.pending and refers_back(words):
            return current, 0.7, False, ()
        own = user and thread.answered and not cues.anaphoric and tells_own(words)
        if own and vector is not None and not thread.pending and not thread.open and not _asked(thread):
            apart = thread.said().isdisjoint(words.terms) and len(words.terms) > 2
            if apart and cohesion(thread, words.terms, vector) < self.settings.cohesion_talk:
                return *self._turn_aside(thread, words, vector), ()
        return self._drift(thread, current, words, vector, user, cues.shift or own)

    def _begin_again(self, thread: Thread, words: Words, vector: Vectors | None, current: Scope) -> tuple[Scope, float]:
        """What an entry after a silence is about: the scope that it is tied to, else a topic of its own."""
        self._settle(thread, None)
        thread.open = False
        scope = tied_to(self._registry, words, vector, current)
        if scope is None:
            scope = self._open_topic(words.text)
        elif scope.root.told:
            scope = scope.root
        if scope is not current:
            thread.local.clear()
        return scope, 0.6

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
