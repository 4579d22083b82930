"""The labeler without a chat model: scopes by the tracker, event and entity types by classifiers (STITCH, section 3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import chain, count

import numpy as np

from hexamem.intent.contract import RECENT, Embed, LabelBatch, LabeledStep, StepView
from hexamem.intent.label_classifiers import event_features, load_classifiers
from hexamem.intent.label_names import label_id, refusal
from hexamem.intent.query import QueryFilter, clear_scopes
from hexamem.intent.scope_text import first_key
from hexamem.intent.scope_tracker import Decision, ScopeTracker, load_scope_weights
from hexamem.memory_types.labels import Label, LabelKind
from hexamem.models.sentences import split_sentences

__all__ = ["EmbeddedLabeler"]

_ANSWERS = ("assistant", "tool")
_NAME_WORDS, _NAME_CHARACTERS, _HAN_CHARACTERS = 8, 56, 14
_GIST_CHARACTERS = 240
_NAMED_FROM = 5  # the first steps of a scope, from which its name is chosen; until then its first step names it
_NAMED_CHARACTERS = 600  # of each of these steps


class EmbeddedLabeler:
    """Labels the steps of one user with classifiers over the encoder's vectors.

    It does not resolve references: only a model does.

    Args:
        user: the user whose steps are labelled.
        embed: embeds questions, like the steps.
        weights: the name of the embedder whose weights are used.
    """

    def __init__(self, user: str, embed: Embed, weights: str = "bundled") -> None:
        self.user, self._embed = user, embed
        self._weights = load_scope_weights(weights)
        self._classifiers = load_classifiers(weights)
        self._tracker = ScopeTracker(self._weights)
        self._labels: dict[str, Label] = {}
        self._names: set[str] = set()  # of top-level scopes, folded
        self._unnamed: dict[str, list[StepView]] = {}  # scope → its steps, until it is named by several
        self._changed: dict[str, None] = {}
        self._opened: dict[str, str] = {}  # step id → the scope that it opened
        self._waiting: dict[str, LabeledStep] = {}  # provisional steps, by id
        self._previous: dict[str, deque[LabeledStep]] = {}  # the last settled steps of each thread

    # ------------------------------------------------------------------ labelling

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        """Label steps that follow those labelled before, in order; several threads may be mixed."""
        new = {step.id for step in steps}
        labelled: dict[str, LabeledStep] = {}
        revised: list[LabeledStep] = []
        latest: dict[str, LabeledStep] = {}  # thread → the step before, provisional ones too
        for decision in self._tracker.follow(steps, self._open_scope):
            step = decision.step
            settled = self._previous.get(step.thread_id)
            before = latest.get(step.thread_id) or (settled[-1] if settled else None)
            labeled = self._labelled(decision, before)
            latest[step.thread_id] = labeled
            known = self._waiting.get(step.id)
            if decision.settled:
                self._waiting.pop(step.id, None)
                self._settle(labeled)
            else:
                self._waiting[step.id] = labeled
            if step.id in new:
                labelled[step.id] = labeled
            elif labeled != known:
                revised.append(labeled)
        labels = tuple(self._labels[label] for label in self._changed)
        self._changed.clear()
        return LabelBatch(steps=tuple(labelled[step.id] for step in steps), labels=labels, revised=tuple(revised))

    def _labelled(self, decision: Decision, before: LabeledStep | None) -> LabeledStep:
        step = decision.step
        if before is not None and step.role in _ANSWERS:
            events, confidence = before.events, 1.0
        else:
            features = event_features(step, before.step if before else None, turned=decision.turned)
            name, confidence = self._classifiers.event_of(features)
            events = (self._type("event", name),)
        return LabeledStep(
            step=step,
            scope=self._resolved(decision.scope_id),
            events=events,
            entities=tuple(self._type("entity", name) for name in self._classifiers.entities_of(step.vector)),
            resolved_text=step.text,
            summary="",
            confidence=min(decision.confidence, confidence),
            provisional=not decision.settled,
        )

    def _settle(self, labeled: LabeledStep) -> None:
        step, scope = labeled.step, labeled.scope
        self._previous.setdefault(step.thread_id, deque(maxlen=1)).append(labeled)
        if scope in self._unnamed:
            self._name(step, scope)
        opened = self._opened.pop(step.id, None)
        if opened is not None and opened != scope:  # the provisional scope has no steps: it becomes an alias
            self._put(self._labels[opened].model_copy(update={"alias_of": scope}))

    def _name(self, step: StepView, scope: str) -> None:
        """Name a scope by the sentence nearest to its first steps, if it still has the name from its first step."""
        label = self._labels[scope]
        steps = self._unnamed.setdefault(scope, [])
        steps.append(step)
        if len(steps) < _NAMED_FROM:
            return
        del self._unnamed[scope]
        opened_by_key = first_key(label.name) is not None
        if opened_by_key or not label.name.startswith(scope_name(label.gist) or "Scope"):
            return
        users = [step for step in steps if step.role not in _ANSWERS] or steps
        sentences = [step.text[a:b] for step in users for a, b in split_sentences(step.text[:_NAMED_CHARACTERS])]
        if not sentences:
            return
        likeness = np.asarray(self._embed(sentences), np.float32) @ np.sum([step.vector for step in steps], axis=0)
        sentence = sentences[int(likeness.argmax())]
        name = scope_name(sentence)
        if name != scope_name(label.gist) and refusal(name, _NAME_CHARACTERS) is None:
            self._put(label.model_copy(update={"name": self._free(name), "gist": opening_sentence(sentence)}))

    def _free(self, name: str) -> str:
        """The name, with a number if another scope has the same."""
        numbered = (f"{name} ({number})" for number in count(2))
        return next(
            free
            for free in chain([name], numbered)
            # A renamed scope still has the id of its first name.
            if free.casefold() not in self._names and label_id(self.user, "scope", free) not in self._labels
        )

    def _type(self, kind: LabelKind, name: str) -> str:
        own = label_id(self.user, kind, name)
        if own not in self._labels:
            self._put(Label(id=own, user=self.user, kind=kind, name=name))
        return self._resolved(own)

    def _open_scope(self, step: StepView) -> str:
        own = self._opened.get(step.id)
        if own is None:
            name = scope_name(step.text)
            if refusal(name, _NAME_CHARACTERS) is not None:
                name = "Scope"
            free = self._free(name)
            own = self._opened[step.id] = label_id(self.user, "scope", free)
            self._unnamed[own] = []
            self._put(Label(id=own, user=self.user, kind="scope", name=free, gist=opening_sentence(step.text)))
        return own

    def _put(self, label: Label) -> None:
        self._labels[label.id] = label
        self._changed[label.id] = None
        if label.kind == "scope":
            self._names.add(label.name.casefold())

    def _resolved(self, label: str) -> str:
        """The id of a label, aliases resolved."""
        seen: set[str] = set()
        while label not in seen and label in self._labels:
            seen.add(label)
            label = self._labels[label].alias_of or label
        return label

    # ------------------------------------------------------------------ questions

    def query(self, text: str) -> QueryFilter:
        """The scopes and entity types of a question.

        Event types are left to the votes of the nearest steps, since the event type of any question is to ask.
        """
        vector = np.asarray(self._embed([text]), np.float32)[0]
        scale = self._weights.question_scale
        evidence: dict[str, float] = {}
        for scope, likeness in self._tracker.similar(vector, text).items():
            own = self._resolved(scope)
            evidence[own] = max(evidence.get(own, -np.inf), scale * likeness)
        scopes = clear_scopes(evidence)
        entities = {
            self._resolved(own): chance
            for name, chance in self._classifiers.entities_of(vector).items()
            if (own := label_id(self.user, "entity", name)) in self._labels
        }
        names = [self._labels[scope].name for scope in scopes]
        notes = [f"names {', '.join(names)}"] if names else []
        notes += [f"{len(entities)} entity types"] if entities else []
        return QueryFilter(scopes=scopes, entities=entities, evidence=evidence, note="; ".join(notes))

    # ------------------------------------------------------------------ restoring

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        """Restore the state of an earlier process.

        Args:
            labels: all labels of the user, including aliases.
            recent: scope id → its latest labelled steps, oldest first, at most :data:`RECENT` each.
        """
        self._labels = {label.id: label for label in labels}
        self._names = {label.name.casefold() for label in labels if label.kind == "scope" and not label.parent_id}
        for store in (self._unnamed, self._changed, self._opened, self._waiting, self._previous):
            store.clear()
        steps = sorted(
            (labeled for steps in recent.values() for labeled in steps[-RECENT:]),
            key=lambda labeled: (labeled.step.occurred_at, labeled.step.thread_id, labeled.step.turn),
        )
        last = {labeled.step.thread_id: labeled.step.id for labeled in steps}
        self._unnamed = {
            scope: []
            for scope, latest in recent.items()
            # Without a gist, the step that named it was forgotten.
            if scope in self._labels and (len(latest) < _NAMED_FROM or not self._labels[scope].gist)
        }
        decisions: list[Decision] = []
        for labeled in steps:
            step, scope = labeled.step, labeled.scope
            # Only the last step of a thread can be provisional, and not if a model or a person labelled it.
            waits = labeled.provisional and labeled.tier == "embedded" and last[step.thread_id] == step.id
            decisions.append(Decision(step, self._resolved(scope), labeled.confidence, not waits, False))
            if waits:
                self._waiting[step.id] = labeled
                if len(recent[scope]) == 1:
                    self._opened[step.id] = scope
            else:
                self._settle(labeled)
        self._tracker.restore(decisions)


def scope_name(text: str) -> str:
    """A short name for the scope that a text opens: its first explicit key, otherwise its first words."""
    key = first_key(text)
    if key is not None:
        return key[:1].upper() + key[1:]
    words = opening_sentence(text).split()[:_NAME_WORDS]
    name = " ".join(words)
    most = _HAN_CHARACTERS if any("\u3400" <= character <= "\u9fff" for character in name) else _NAME_CHARACTERS - 8
    return name[:most].strip(" .,;:!?…。，；：！？-–—*#>|\"'“”")


def opening_sentence(text: str) -> str:
    """The first sentence of a text on one line, cut where it is long."""
    sample = text[: 4 * _GIST_CHARACTERS]
    first = slice(*next(split_sentences(sample), (0, 0)))
    sentence = " ".join(sample[first].split())
    return sentence if len(sentence) <= _GIST_CHARACTERS else sentence[: _GIST_CHARACTERS - 1].rstrip() + "…"
