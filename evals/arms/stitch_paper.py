"""STITCH as its paper describes it (arXiv 2601.10702, section 3): a model call for each cue of each step.

Four calls a step: the thematic scope with its running gist, the event types, the entity types, and coreference with the
canonical summary. Vocabularies are flat and induced from what is said; labels that mean the same are merged every 50
steps. It is the expensive form against which the batched one (``agents/labelling/refining.py``) and the embedded
labeler are compared; its prompts are our own words. A call that brings nothing leaves the simplest label and says so.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pydantic import Field

from hexamem.agents.labelling.checks import Wording, one_line, resolved_fits, summary_fits
from hexamem.agents.labelling.task import abridged
from hexamem.intent.contract import Embed, LabelBatch, LabeledStep, StepView
from hexamem.intent.label_names import refusal
from hexamem.intent.vocabulary import LONGEST_NAME, SAME_NAME, Vocabulary
from hexamem.memory_types.labels import Label
from hexamem.models import Budget, CallInput, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.stores.embedders import open_embedder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method, RetryPolicy

__all__ = [
    "CoreferenceReply",
    "EntityReply",
    "EventReply",
    "ScopeReply",
    "StitchPaperLabeler",
    "merge_near",
    "stitch_paper",
]

_AGENT = "stitch_paper"
_WINDOW = 6  # steps before that are shown
_KEPT_THREADS, _KEPT_SCOPES = 64, 200
_SCOPES_SHOWN, _TYPES_SHOWN, _NEAREST = 20, 40, 5
_TEXT, _EARLIER = 4_000, 400
_MERGE_EVERY = 50  # steps between two looks for labels that mean the same
_MERGE_SIMILARITY, _RARE_SIMILARITY, _RARE_USES = 0.85, 0.75, 2
_UNKNOWN_EVENT, _UNKNOWN_SCOPE = "Say something", "Conversation"
T = TypeVar("T", bound=ModelReply)


class ScopeReply(ModelReply):
    """The goal that a step serves."""

    scope: str = Field(description="The handle of a goal that is listed, or the name of a new one.")
    gist: str = Field(description="What that goal is about by now.")


class EventReply(ModelReply):
    """What a step does."""

    events: list[str] = Field(description="One to three event types, the main one first.")


class EntityReply(ModelReply):
    """The kinds of thing that a step is about."""

    entities: list[str] = Field(description="None to five entity types.")


class CoreferenceReply(ModelReply):
    """A step that can be understood by itself."""

    resolved: str = Field(description="The whole text with references replaced by what they mean.")
    summary: str = Field(description="The step in one line.")


def stitch_paper(
    model: BaseChatModel,
    *,
    method: Method = "json_schema",
    usage: UsageMeter | None = None,
    budget: Budget | None = None,
    retries: RetryPolicy | None = None,
) -> Callable[[str], StitchPaperLabeler]:
    """What ``Memory.open(labeler=…)`` takes to label as the paper does.

    Args:
        model: the chat model of all four calls.
        method: how the replies' form is asked for.
        usage: is told of every request.
        budget: what may be spent on all users together.
        retries: what to do about failures of requests.
    """
    embed = open_embedder("bundled").embed_documents
    return lambda user: StitchPaperLabeler(
        user, model, embed, method=method, usage=usage, budget=budget, retries=retries
    )


class StitchPaperLabeler:
    """Labels the steps of one user with four model calls each; a ``Labeler``.

    Args:
        user: whose steps these are.
        model: the chat model.
        embed: makes the vectors of label names.
        method: how the replies' form is asked for.
        usage: is told of every request, under ``label``.
        budget: what may be spent; a call that it refuses is not made.
        retries: what to do about failures of requests.
    """

    def __init__(
        self,
        user: str,
        model: BaseChatModel,
        embed: Embed,
        *,
        method: Method = "json_schema",
        usage: UsageMeter | None = None,
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self.user = user
        self.events = Vocabulary(user, "event", embed)
        self.entities = Vocabulary(user, "entity", embed)
        self._uses: Counter[str] = Counter()
        self._steps = 0
        self._usage, self._budget = usage, budget

        def call(schema: type[T]) -> StructuredCall[T]:
            return StructuredCall(model, schema, agent=_AGENT, method=method, retries=retries)

        self._scope_call, self._event_call = call(ScopeReply), call(EventReply)
        self._entity_call, self._reference_call = call(EntityReply), call(CoreferenceReply)
        self._scopes: dict[str, Label] = {}
        self._recency: OrderedDict[str, None] = OrderedDict()
        self._before: OrderedDict[str, deque[LabeledStep]] = OrderedDict()
        self._touched: dict[str, None] = {}
        self._degraded: dict[str, None] = {}

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        """Label steps that follow those labelled before, in order. Never raises for what a text or a reply holds."""
        labelled = [self._label(step) for step in steps]
        labels = [self._scopes[label_id] for label_id in self._touched]
        labels += [*self.events.changed(), *self.entities.changed()]
        self._touched.clear()
        degraded, self._degraded = tuple(self._degraded), {}
        return LabelBatch(steps=tuple(labelled), labels=tuple(labels), degraded=degraded)

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Take up where an earlier process stopped; see ``Labeler.restore``."""
        self.events.restore(labels)
        self.entities.restore(labels)
        self._scopes = {one.id: one for one in labels if one.kind == "scope" and one.alias_of is None}
        self._recency.clear()
        self._before.clear()
        steps = [one for ones in recent.values() for one in ones]
        for one in sorted(steps, key=lambda one: (one.step.occurred_at, one.step.thread_id, one.step.turn)):
            self._keep(one)

    # ------------------------------------------------------------------ the four cues

    def _label(self, step: StepView) -> LabeledStep:
        before = self._before.get(step.thread_id, deque())
        earlier = "\n".join(f"{one.step.speaker}: {abridged(one.resolved_text, _EARLIER)}" for one in before) or "none"
        shown = f"{step.speaker}:\n{step.text[:_TEXT]}"
        scope = self._scope(step, earlier, shown)
        goal = f"{scope.name}: {scope.gist}" if scope.gist else scope.name
        events = self._event_types(step, goal, earlier, shown)
        entities = self._entity_types(shown)
        acts = ", ".join(label.name for one in events if (label := self.events.get(one)) is not None)
        text, summary = self._resolved(step, list(before), goal, acts, earlier, shown)
        self._uses.update((*events, *entities))
        self._steps += 1
        if self._steps % _MERGE_EVERY == 0:
            merge_near(self.events, self._uses)
            merge_near(self.entities, self._uses)
        labelled = LabeledStep(
            step=step,
            scope=scope.id,
            events=events,
            entities=entities,
            resolved_text=text,
            summary=summary,
            tier="model",
        )
        self._keep(labelled)
        return labelled

    def _scope(self, step: StepView, earlier: str, shown: str) -> Label:
        order = [one for one in self._recency if one in self._scopes][-_SCOPES_SHOWN:]
        handles = {f"S{number}": label_id for number, label_id in enumerate(order, 1)}
        lines = [
            f"{handle} {self._scopes[one].name}: {abridged(self._scopes[one].gist, 400)}"
            for handle, one in handles.items()
        ]
        reply = self._ask(
            self._scope_call, "stitch_scope", scopes="\n".join(lines) or "none yet", earlier=earlier, step=shown
        )
        if reply is None:
            before = self._before.get(step.thread_id)
            return self._scopes[before[-1].scope] if before else self._named_scope(_UNKNOWN_SCOPE)
        name = one_line(reply.scope)
        known = handles.get(name.split(" ")[0].rstrip(":")) if name else None
        scope = self._scopes[known] if known is not None else self._named_scope(name)
        gist = one_line(reply.gist)[:800].replace("|", "¦")
        if gist and gist != scope.gist:
            scope = self._scopes[scope.id] = scope.model_copy(update={"gist": gist})
            self._touched[scope.id] = None
        return scope

    def _named_scope(self, name: str) -> Label:
        name = name if refusal(name, 60) is None and " / " not in name else _UNKNOWN_SCOPE
        for one in self._scopes.values():
            if one.name.casefold() == name.casefold():
                return one
        made = Label(user=self.user, kind="scope", name=name)
        self._scopes[made.id] = made
        self._touched[made.id] = None
        return made

    def _event_types(self, step: StepView, goal: str, earlier: str, shown: str) -> tuple[str, ...]:
        near = [label.name for label, _ in self.events.nearest(step.vector, _NEAREST)]
        names = list(dict.fromkeys([*near, *(one.name for one in self.events.live())]))[:_TYPES_SHOWN]
        told = ", ".join(names) or "none yet"
        reply = self._ask(self._event_call, "stitch_event", event_types=told, scope=goal, earlier=earlier, step=shown)
        found = self._named(self.events, reply.events[:3]) if reply is not None else ()
        return found or (self.events.add(_UNKNOWN_EVENT).id,)

    def _entity_types(self, shown: str) -> tuple[str, ...]:
        names = ", ".join(one.name for one in self.entities.live()[:_TYPES_SHOWN]) or "none yet"
        reply = self._ask(self._entity_call, "stitch_entity", entity_types=names, step=shown)
        return self._named(self.entities, reply.entities[:5]) if reply is not None else ()

    def _resolved(
        self, step: StepView, before: Sequence[LabeledStep], goal: str, acts: str, earlier: str, shown: str
    ) -> tuple[str, str]:
        reply = self._ask(
            self._reference_call, "stitch_coreference", scope=goal, events=acts, earlier=earlier, step=shown
        )
        if reply is None:
            return step.text, abridged(f"{step.speaker}: {step.text}", 200)
        prompt = load_prompt("stitch_coreference")
        known = Wording([step.text, step.speaker, goal, *(one.resolved_text for one in before)])
        resolved, summary = prompt.restore(reply.resolved).strip(), one_line(prompt.restore(reply.summary))
        fits = len(step.text) <= _TEXT and resolved_fits(step.text, resolved, known)
        good = summary_fits(step.text, summary, known)
        return (
            resolved if fits else step.text,
            summary if good else abridged(f"{step.speaker}: {step.text}", 200),
        )

    def _named(self, vocabulary: Vocabulary, names: Sequence[str]) -> tuple[str, ...]:
        """Labels by name in a flat vocabulary: those there are, near-synonyms, or new ones."""
        found: dict[str, None] = {}
        for given in names:
            name = one_line(given)
            if refusal(name, LONGEST_NAME) is not None:
                continue
            known = vocabulary.find(name)
            if known is None:
                near = vocabulary.nearest(vocabulary.vectors([name])[0], 1)
                same = bool(near) and near[0][1] >= SAME_NAME
                known = near[0][0] if same else vocabulary.add(name)
            found[known.id] = None
        return tuple(found)

    # ------------------------------------------------------------------ inside

    def _ask(self, call: StructuredCall[T], prompt: str, **inputs: str) -> T | None:
        messages = load_prompt(prompt).render(**inputs)
        result = call.invoke(CallInput(messages=messages, budget=self._budget, usage=self._usage, operation="label"))
        self._degraded.update(dict.fromkeys(result.degraded))
        return result.value

    def _keep(self, one: LabeledStep) -> None:
        self._recency[one.scope] = None
        self._recency.move_to_end(one.scope)
        before = self._before.setdefault(one.step.thread_id, deque(maxlen=_WINDOW))
        before.append(one)
        self._before.move_to_end(one.step.thread_id)
        while len(self._before) > _KEPT_THREADS:
            self._before.popitem(last=False)
        while len(self._recency) > _KEPT_SCOPES:
            self._recency.popitem(last=False)


def merge_near(vocabulary: Vocabulary, uses: Mapping[str, int]) -> None:
    """Make one of labels whose names mean the same, the more used of the two; rare ones go sooner."""
    labels = sorted(vocabulary.live(), key=lambda one: -uses.get(one.id, 0))
    vectors = vocabulary.vectors([one.name for one in labels]) if labels else np.zeros((0, 1), np.float32)
    scores = vectors @ vectors.T
    gone: set[int] = set()
    for lose in range(1, len(labels)):
        kept = [place for place in range(lose) if place not in gone]
        keep = max(kept, key=lambda place: float(scores[lose, place]))
        needed = _RARE_SIMILARITY if uses.get(labels[lose].id, 0) <= _RARE_USES else _MERGE_SIMILARITY
        if scores[lose, keep] >= needed and not labels[lose].pinned:
            vocabulary.merge(labels[lose].id, labels[keep].id)
            gone.add(lose)
