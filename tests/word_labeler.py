"""A labeller whose labels can be read off the text, so that tests of labelling do not depend on the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hexamem.intent.contract import RECENT, LabelBatch, LabeledStep, StepView
from hexamem.memory_types.labels import Label, LabelKind

__all__ = ["WordLabeler"]

_TAGGED = re.compile(r"(scope|event|entity):(\S+)")
_EVENTS = {"plan": "planning", "book": "planning", "ask": "asking"}


class WordLabeler:
    """Takes labels that stand in the text: ``scope:Trip/Day_2 event:plan entity:Mia``.

    Without a scope a step goes into its thread's latest one, or one named after the thread; without an event into
    "say". Fine events lie under coarse ones ("plan" under "planning"). "it" is resolved to the thread's last entity.
    "later:X" gives the step before in the thread the scope X as well. "fail" makes it raise.

    Attributes:
        given: the steps of each call. restored: the labels and steps that it was restored with.
    """

    def __init__(self, user: str) -> None:
        self.user = user
        self.given: list[tuple[StepView, ...]] = []
        self.restored: tuple[list[Label], dict[str, list[LabeledStep]]] | None = None
        self.labels: dict[str, Label] = {}
        self.scope: dict[str, str] = {}
        self.entity: dict[str, str] = {}
        self.before: dict[str, LabeledStep] = {}
        self._changed: dict[str, Label] = {}

    def restore(self, labels: Sequence[Label], recent: Mapping[str, Sequence[LabeledStep]]) -> None:
        assert all(len(steps) <= RECENT for steps in recent.values())
        self.restored = (list(labels), {scope: list(steps) for scope, steps in recent.items()})
        self.labels = {one.id: one for one in labels}
        for step in sorted(
            (s for steps in recent.values() for s in steps), key=lambda s: (s.step.thread_id, s.step.turn)
        ):
            self._remember(step)

    def label(self, steps: Sequence[StepView]) -> LabelBatch:
        self.given.append(tuple(steps))
        self._changed = {}
        revised: dict[str, LabeledStep] = {}
        made = {}
        for step in steps:
            if "fail" in step.text:
                raise RuntimeError("told to fail")
            for word in re.findall(r"later:(\S+)", step.text):
                last = self.before[step.thread_id]
                again = _with_scope(last, self._named("scope", word))
                (made if last.step.id in made else revised)[last.step.id] = again
            made[step.id] = self._one(step)
            self._remember(made[step.id])
        labels = tuple(self._changed.values())
        return LabelBatch(steps=tuple(made.values()), labels=labels, revised=tuple(revised.values()))

    def _one(self, step: StepView) -> LabeledStep:
        found: dict[str, list[str]] = {"scope": [], "event": [], "entity": []}
        for kind, word in _TAGGED.findall(step.text):
            found[kind].append(self._named(kind, word))
        scope = found["scope"][0] if found["scope"] else self.scope.get(step.thread_id)
        if scope is None:
            scope = self._named("scope", step.thread_id)
        label = self.labels[scope]
        gist = f"{label.gist} {step.text}".strip()[-80:]
        self.labels[scope] = self._changed[scope] = label.model_copy(update={"gist": gist})
        last = self.entity.get(step.thread_id)
        resolved = re.sub(r"\bit\b", self.labels[last].name, step.text) if last else step.text
        return LabeledStep(
            step=step,
            scope=scope,
            events=tuple(found["event"]) or (self._named("event", "say"),),
            entities=tuple(found["entity"]),
            resolved_text=resolved,
            summary=resolved[:40],
            antecedents=(self.before[step.thread_id].step.id,) if resolved != step.text else (),
            confidence=0.5,
        )

    def _remember(self, one: LabeledStep) -> None:
        thread = one.step.thread_id
        self.scope[thread], self.before[thread] = one.scope, one
        if one.entities:
            self.entity[thread] = one.entities[-1]

    def _named(self, kind: LabelKind | str, word: str) -> str:
        parent = None
        if kind == "event" and word in _EVENTS:
            parent = self._named("event", _EVENTS[word])
        *above, name = word.replace("_", " ").split("/") if kind == "scope" else [word]
        for one in above:
            parent = self._find(kind, one, parent)
        return self._find(kind, name, parent)

    def _find(self, kind: str, name: str, parent: str | None) -> str:
        for one in self.labels.values():
            if (one.kind, one.name, one.parent_id) == (kind, name, parent):
                return one.id
        made = Label(user=self.user, kind=kind, name=name, parent_id=parent)
        self.labels[made.id] = self._changed[made.id] = made
        return made.id


def _with_scope(one: LabeledStep, scope: str) -> LabeledStep:
    values = {name: getattr(one, name) for name in LabeledStep.__dataclass_fields__}
    return LabeledStep(**{**values, "scope": scope})
