"""The labeller by rules: scopes, coreference, entities, events, summaries and gists put together (STITCH, section 3)."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..memory_types.labels import Label
from ..memory_types.step import Step
from .contract import Embed, LabelBatch, LabeledStep, StepView
from .entities import EntityDecision, EntityLabeler, entity_seeds, entity_synonyms
from .events.cues import coarse_synonyms
from .events.labeler import EventLabeler, EventSettings, event_seeds
from .query import QueryFilter, query_filter
from .query_evidence import ScopeEvidence
from .references.partings import turning_point
from .references.resolver import Resolution, Resolver, joined
from .scopes.decision import ScopeDecision, ScopeSettings
from .scopes.tracker import ScopeTracker
from .settings import IntentSettings
from .summaries import canonical_summary, updated_gist
from .vocabulary import Vocabulary, VocabularySettings, label_id

__all__ = ["RuleLabeler", "views"]

_NO_EVENT = "Step"


def views(steps: Sequence[Step], embed: Embed) -> tuple[StepView, ...]:
    """What labelling may see of stored steps; one call of the embedder for all of them."""
    if not steps:
        return ()
    vectors = np.asarray(embed([step.index_text for step in steps]), np.float32)
    return tuple(
        StepView(
            id=step.id,
            thread_id=step.thread_id,
            turn=step.turn,
            role=step.role,
            speaker=step.speaker,
            text=step.index_text,
            occurred_at=step.occurred_at,
            vector=vector,
        )
        for step, vector in zip(steps, vectors, strict=True)
    )


class _Parting(NamedTuple):
    """Where a step turns to another scope: the scope that it leaves, and the place in its resolved text."""

    left: str
    turn: int


class RuleLabeler:
    """Labels the steps of one user without a model; keeps a bounded number of recent steps, whatever is labelled.

    Args:
        user: whose steps these are.
        embed: the embedder, for the names of labels.
        settings: which parts work, and how.
    """

    def __init__(self, user: str, embed: Embed, settings: IntentSettings | None = None) -> None:
        self.user = user
        self.settings = settings or IntentSettings()
        config = self.settings
        self._tracker = ScopeTracker(user, embed, ScopeSettings(window=config.window, recent=config.recent))
        vocabulary = VocabularySettings(merge_every=config.merge_every)
        self.events = EventLabeler(
            Vocabulary(user, "event", embed, seeds=event_seeds(), synonyms=coarse_synonyms(), settings=vocabulary),
            EventSettings(seed_after=config.seed_after),
        )
        self.entities = EntityLabeler(
            Vocabulary(user, "entity", embed, seeds=entity_seeds(), synonyms=entity_synonyms(), settings=vocabulary)
        )
        self._resolver = Resolver(
            steps=config.reference_steps, limit=config.analysed_characters, cached=config.cached_steps
        )
        self._scopes: dict[str, Label] = {}
        self._gists: dict[str, str] = {}  # those that changed in this batch
        self._steps: OrderedDict[str, LabeledStep] = OrderedDict()
        self._recent: OrderedDict[str, deque[LabeledStep]] = OrderedDict()
        self._previous: OrderedDict[str, deque[StepView]] = OrderedDict()
        self._open: set[str] = set()
        self._since_close = 0
        self._untold: dict[str, list[str]] = {}  # thread → steps that no gist tells of yet, since they may be moved
        self._evidence = ScopeEvidence()
        self._asked = False  # whether questions are asked: then labelling brings the evidence up, so that they need not
        self._stale = True

    # ------------------------------------------------------------------ labelling

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        """Label steps that follow those labelled before, in order; several threads may be mixed.

        Never raises for what a text holds. Each step gets one scope, at least one event type, and its resolved text.
        """
        self._stale = True
        given: dict[str, None] = {}
        moved: dict[str, None] = {}
        touched: dict[str, None] = {}
        for step in steps:
            decision = self._assign(step)
            for label in decision.changed:
                known = self._scopes.get(label.id)
                self._scopes[label.id] = (
                    label if known is None else label.model_copy(update={"gist": known.gist or label.gist})
                )
                touched[label.id] = None
                if label.alias_of:
                    self._join(label.id, label.alias_of)
            for step_id in decision.revised:
                if self._move(step_id, decision.scope_id):
                    moved[step_id] = None
            labeled, parted = self._labeled(step, decision)
            given[step.id] = None
            self._keep(labeled)
            touched.update(dict.fromkeys(self._tell_when_sure(labeled, parted)))
            for step_id, events in self.events.refinements().items() if self.settings.events else ():
                if self._put(step_id, events=events):
                    moved[step_id] = None
            self._since_close += 1
            if self._since_close >= self.settings.window:
                for step_id in self._close():
                    moved[step_id] = None
                for thread in list(self._untold):
                    touched.update(dict.fromkeys(self._tell_waiting(thread)))
        for scope_id, gist in self._gists.items():
            self._scopes[scope_id] = self._scopes[scope_id].model_copy(update={"gist": gist})
        self._gists.clear()
        out = tuple(self._steps[step_id] for step_id in given)
        revised = tuple(self._steps[step_id] for step_id in moved if step_id not in given and step_id in self._steps)
        labels = [self._scopes[scope_id] for scope_id in touched]
        labels += [*self.events.vocabulary.changed(), *self.entities.vocabulary.changed()]
        self._forget()
        if self._asked:
            self._refresh()
        return LabelBatch(steps=out, labels=tuple(labels), revised=revised)

    def query(self, text: str, vector: np.typing.NDArray[np.float32] | None = None) -> QueryFilter:
        """The contextual intent of a question ``F_q``: the scopes, events and entities that it names; see ``query.py``."""
        self._asked = True
        if self._stale:
            self._refresh()
        evidence = self._evidence.scores(text[:2000])
        scopes = tuple(self._scopes.values())
        return query_filter(text, scopes, self.events, self.entities, vector, evidence=evidence)

    def _refresh(self) -> None:
        self._evidence.refresh(self._scopes, self._recent)
        self._stale = False

    def _assign(self, step: StepView) -> ScopeDecision:
        if self.settings.scopes:
            return self._tracker.assign(step)
        name = f"Thread {step.thread_id}"
        scope_id = label_id(self.user, "scope", name)
        if scope_id in self._scopes:
            return ScopeDecision(step_id=step.id, scope_id=scope_id)
        label = Label(id=scope_id, user=self.user, kind="scope", name=name)
        return ScopeDecision(step_id=step.id, scope_id=scope_id, created=label, changed=(label,))

    def _labeled(self, step: StepView, decision: ScopeDecision) -> tuple[LabeledStep, _Parting | None]:
        scope = decision.scope_id
        earlier = self._recent.get(scope, ())
        resolution, parted = Resolution(text=step.text), None
        if self.settings.coreference:
            resolution, parted = self._resolve(step, scope, earlier)
        # What was appended repeats another's question or name: the act is that of the step's own words.
        appended = any(span.start == len(step.text) for span in resolution.spans)
        read = step if appended or not resolution.spans else replace(step, text=resolution.text)
        entity = self.entities.label(read) if self.settings.entities else EntityDecision()
        confidence = decision.confidence
        if self.settings.events:
            previous = tuple(self._previous.get(step.thread_id, ()))
            event = self.events.label(read, previous, entity)
            events, act = event.ids, self._name(event.coarse)
            confidence = min(confidence, event.confidence)
        else:
            events, act = (self.events.vocabulary.add(_NO_EVENT).id,), ""
        entities = entity.ids
        if appended and self.settings.entities:
            asked = [self._steps[step_id].entities for step_id in resolution.antecedents if step_id in self._steps]
            entities = tuple(dict.fromkeys([*entities, *(one for ids in asked for one in ids)]))[:6]
        summary = ""
        if self.settings.summaries:
            analysis = self._resolver.analysis(step.id, resolution.text)
            summary = canonical_summary(step.speaker, act, resolution.text, analysis)
        labeled = LabeledStep(
            step=step,
            scope=scope,
            events=events,
            entities=entities,
            resolved_text=resolution.text,
            summary=summary,
            antecedents=resolution.antecedents,
            confidence=max(0.0, min(1.0, confidence)),
            provisional=decision.provisional,
        )
        return labeled, parted

    def _resolve(
        self, step: StepView, scope: str, earlier: Iterable[LabeledStep]
    ) -> tuple[Resolution, _Parting | None]:
        """The references of a step, in the scope it enters; those before its turn to that scope, in the scope it leaves."""
        latest = self.settings.reference_steps
        there = list(earlier)[-latest:]
        before = self._previous.get(step.thread_id)
        last = self._steps.get(before[-1].id) if before else None
        turn = turning_point(step.text) if last is not None and last.scope != scope else 0
        if last is None or not turn:
            return self._resolver.resolve(step, there), None
        left = list(self._recent.get(last.scope, ()))[-latest:]
        head = self._resolver.resolve(replace(step, text=step.text[:turn]), left)
        tail = self._resolver.resolve(replace(step, text=step.text[turn:]), there)
        whole = joined(step.text, turn, head, tail)
        return whole, _Parting(last.scope, len(whole.text) - len(tail.text))

    def _name(self, event: str) -> str:
        label = self.events.vocabulary.get(event)
        return label.name if label is not None else ""

    # ------------------------------------------------------------------ gists

    def _tell_when_sure(self, labeled: LabeledStep, parted: _Parting | None) -> list[str]:
        """As :meth:`_tell`, but a step that may still be moved waits for the next one of its thread to settle it."""
        thread = labeled.step.thread_id
        if labeled.provisional and parted is None and len(self._recent.get(labeled.scope, ())) > 1:
            self._untold.setdefault(thread, []).append(labeled.step.id)
            return []
        return [*self._tell_waiting(thread), *self._tell(labeled, parted)]

    def _tell_waiting(self, thread: str) -> list[str]:
        """Tell the steps of a thread that waited and were not moved: a move told them already."""
        waiting = self._untold.pop(thread, [])
        return [scope for one in waiting if one in self._steps for scope in self._tell(self._steps[one])]

    def _tell(self, labeled: LabeledStep, parted: _Parting | None = None) -> list[str]:
        """Bring the gist of the step's scope up to it, and that of a scope that it leaves; returns the scopes whose gist changed."""
        if not self.settings.summaries:
            return []
        if parted is None:
            return self._told(labeled, labeled.scope, labeled.resolved_text, labeled.summary)
        head, tail = labeled.resolved_text[: parted.turn], labeled.resolved_text[parted.turn :]
        act = self._act(labeled)
        changed: list[str] = []
        for scope, text in ((parted.left, head), (labeled.scope, tail)):
            summary = canonical_summary(labeled.step.speaker, act, text, self._resolver.analysis(labeled.step.id, text))
            changed += self._told(labeled, scope, text, summary)
        return changed

    def _act(self, labeled: LabeledStep) -> str:
        coarse = self.events.vocabulary.coarse(labeled.events[0]) if self.settings.events else None
        return self._name(coarse) if coarse else ""

    def _told(self, labeled: LabeledStep, scope: str, text: str, summary: str) -> list[str]:
        label = self._scopes.get(scope)
        if label is None:
            return []
        known = self._gists.get(label.id, label.gist)
        gist = updated_gist(
            known,
            speaker=labeled.step.speaker,
            role=labeled.step.role,
            act=self._act(labeled),
            summary=summary,
            text=text,
            analysis=self._resolver.analysis(labeled.step.id, text),
        )
        if gist == known:
            return []
        self._gists[label.id] = gist
        return [label.id]

    # ------------------------------------------------------------------ keeping

    def _keep(self, labeled: LabeledStep) -> None:
        step = labeled.step
        self._steps[step.id] = labeled
        recent = self._recent.get(labeled.scope)
        if recent is None:
            recent = self._recent[labeled.scope] = deque(maxlen=self.settings.recent)
        recent.append(labeled)
        self._recent.move_to_end(labeled.scope)
        previous = self._previous.get(step.thread_id)
        if previous is None:
            previous = self._previous[step.thread_id] = deque(maxlen=2)
        previous.append(step)
        self._previous.move_to_end(step.thread_id)
        if labeled.provisional:
            self._open.add(step.id)

    def _put(self, step_id: str, *, events: tuple[str, ...] | None = None, scope: str | None = None) -> bool:
        old = self._steps.get(step_id)
        if old is None:
            return False
        new = replace(
            old,
            events=old.events if events is None else events,
            scope=old.scope if scope is None else scope,
            provisional=old.provisional and scope is None,
        )
        self._steps[step_id] = new
        recent = self._recent.get(old.scope)
        if scope is None and recent is not None:
            self._recent[old.scope] = deque(
                (new if one.step.id == step_id else one for one in recent), maxlen=recent.maxlen
            )
        return True

    def _move(self, step_id: str, scope: str) -> bool:
        """Put an earlier step under another scope: it takes its place there, and tells the gist."""
        old = self._steps.get(step_id)
        if old is None or old.scope == scope:
            return False
        self._put(step_id, scope=scope)
        self._open.discard(step_id)
        left = self._recent.get(old.scope)
        if left is not None:
            self._recent[old.scope] = deque((one for one in left if one.step.id != step_id), maxlen=left.maxlen)
        recent = self._recent.get(scope)
        if recent is None:
            recent = self._recent[scope] = deque(maxlen=self.settings.recent)
        if self.settings.coreference:  # what it refers to is there, not in the scope that it was taken from
            self._steps[step_id] = self._reread(self._steps[step_id], list(recent)[-self.settings.reference_steps :])
        recent.append(self._steps[step_id])
        for waiting in self._untold.values():
            if step_id in waiting:
                waiting.remove(step_id)
        self._tell(self._steps[step_id])
        return True

    def _reread(self, labeled: LabeledStep, earlier: Sequence[LabeledStep]) -> LabeledStep:
        """A step with its references resolved from other steps than before."""
        resolution = self._resolver.resolve(labeled.step, earlier)
        if resolution.text == labeled.resolved_text:
            return labeled
        summary = ""
        if self.settings.summaries:
            analysis = self._resolver.analysis(labeled.step.id, resolution.text)
            summary = canonical_summary(labeled.step.speaker, self._act(labeled), resolution.text, analysis)
        return replace(labeled, resolved_text=resolution.text, antecedents=resolution.antecedents, summary=summary)

    def _join(self, source: str, target: str) -> None:
        """The steps of a scope that became an alias are those of the other one; what carries its id counts as that."""
        moved = self._recent.pop(source, None)
        if moved:
            both = [*moved, *self._recent.get(target, ())]
            both.sort(key=lambda one: (one.step.occurred_at, one.step.thread_id, one.step.turn))
            self._recent[target] = deque(both, maxlen=self.settings.recent)

    def _close(self) -> list[str]:
        """End a window: what was provisional stands."""
        self._since_close = 0
        closed = []
        for step_id in sorted(self._open):
            old = self._steps.get(step_id)
            if old is not None:
                self._steps[step_id] = replace(old, provisional=False)
                closed.append(step_id)
        self._open.clear()
        return closed

    def _forget(self) -> None:
        """Drop what is oldest, so that memory stays bounded."""
        while len(self._steps) > self.settings.cached_steps:
            step_id, _ = self._steps.popitem(last=False)
            self._open.discard(step_id)
        while len(self._recent) > self.settings.cached_steps:
            self._recent.popitem(last=False)
        while len(self._previous) > self.settings.cached_steps:
            self._previous.popitem(last=False)

    # ------------------------------------------------------------------ taking up

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Take up where an earlier process stopped.

        Args:
            labels: all labels of the user, aliases too.
            recent: scope id → its latest labelled steps, oldest first, at most ``RECENT`` each.

        Raises:
            InvalidInputError: where a label belongs to another user.
        """
        self._stale = True
        self.events.vocabulary.restore(labels)
        self.entities.vocabulary.restore(labels)
        if self.settings.scopes:
            self._tracker.restore(labels, recent)
        self._scopes = {label.id: label for label in labels if label.kind == "scope"}
        for store in (self._gists, self._steps, self._recent, self._previous):
            store.clear()
        self._open.clear()
        self._untold.clear()
        order = sorted(
            (one for ones in recent.values() for one in ones),
            key=lambda one: (one.step.occurred_at, one.step.thread_id, one.step.turn),
        )
        for one in order:
            self._keep(one)
        self._forget()

    def update(self, labels: Sequence[Label]) -> None:
        """Take in labels that a person or a model changed since: renamed, pinned, merged by an alias, put elsewhere."""
        self._stale = True
        if self.settings.scopes:
            self._tracker.update([label for label in labels if label.kind == "scope"])
        self._scopes.update((label.id, label) for label in labels if label.kind == "scope")
        for kind in (self.events, self.entities):
            changed = {label.id: label for label in labels if label.kind == kind.vocabulary.kind}
            if changed:
                kept = {label.id: label for label in kind.vocabulary.records()}
                kind.vocabulary.restore({**kept, **changed}.values())
