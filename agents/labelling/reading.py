"""One batch in the words of a prompt, and what of a model's reply to it may be kept.

What cannot be kept of a step keeps the labels it had, step by step and part by part: a batch is never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

from hexamem.agents.labelling.checks import (
    Wording,
    antecedents_of,
    gist_fits,
    one_line,
    resolved_fits,
    scripts_of,
    summary_fits,
)
from hexamem.agents.labelling.schemas import MOST_ENTITIES, MOST_EVENTS, BatchLabels, StepLabels
from hexamem.agents.labelling.scopes import ScopeBoard
from hexamem.agents.labelling.task import CUT, LabelTask, shown_earlier, shown_scopes, shown_steps
from hexamem.agents.page_texts import PageTexts, kept_notes, shown_pages
from hexamem.intent.contract import Embed, LabelBatch, LabeledStep
from hexamem.intent.label_names import label_types, type_synonyms
from hexamem.intent.vocabulary import Vocabulary
from hexamem.memory_types.labels import Label
from hexamem.memory_types.local_time import in_zone
from hexamem.prompts import Prompt

__all__ = ["AGENT", "SURE", "LabelReading", "event_inventory"]

AGENT = "intent_labeler"
SURE = 0.9
"""The confidence of what a model labelled: a person's word is 1."""
_CANDIDATES = 5  # event types near a step (STITCH uses 5)
_LEAST_COSINE = 0.3  # what is less like the step only misleads
_FINE_SHOWN = 12  # fine types shown below one coarse type
_ENTITIES_SHOWN = 120
_ACTS = frozenset(word.split()[0] for word in type_synonyms("event"))


class LabelReading:
    """One task: its prompt, the check of the reply, and what is kept of it.

    Args:
        user: whose steps these are.
        task: the steps with what was known before them.
        embed: makes the vectors of label names.
        prompt: the template.
    """

    def __init__(self, user: str, task: LabelTask, embed: Embed, prompt: Prompt) -> None:
        self.task, self.prompt = task, prompt
        self.board = ScopeBoard(user, task)
        self.events = Vocabulary(user, "event", embed, types=label_types("event"), synonyms=type_synonyms("event"))
        self.entities = Vocabulary(user, "entity", embed, types=label_types("entity"), synonyms=type_synonyms("entity"))
        for vocabulary in (self.events, self.entities):
            vocabulary.restore(task.labels)
        self.known = Wording(
            [one.step.text for one in task.window]
            + [one.resolved_text for one in task.window]
            + [one.step.speaker for one in task.window]
            + [in_zone(one.step.occurred_at, task.zone).strftime("%Y %m %d %-d %-m %B %A %H:%M") for one in task.window]
            + [name for label_id, name in self.board.names.items() if label_id in self.board.handles]
            + list(self.board.gists.values())
        )
        self.loose = deepcopy(self.known)
        self.loose.numbers.update(map(str, range(13)))  # "two nights" may become "2 nights"
        self.board.scripts = self.known.scripts

    # ------------------------------------------------------------------ asking

    def messages(self) -> list[tuple[str, str]]:
        """The prompt, as pairs of role and text."""
        return self.prompt.render(
            scopes=shown_scopes(self.board),
            event_types=event_inventory(self.events, self.task.used),
            entity_types=self.entity_inventory(),
            earlier=shown_earlier(self.task, self.board),
            pages=self.pages(),
            steps=shown_steps(self.task, self.board, self.candidates()),
        )

    def pages(self) -> str:
        """The pages of the batch, as the prompt shows them."""
        return shown_pages(self.task.pages, {one.step.id: number for number, one in enumerate(self.task.batch, 1)})

    def candidates(self) -> dict[str, list[str]]:
        """The event types nearest to each step: those it has, then by meaning. Fine ones only if in use."""
        found: dict[str, list[str]] = {}
        for one in self.task.batch:
            names: list[str] = []
            for event in one.events:
                label = self.events.get(event)
                if label is not None:
                    names += [label.name] if label.id in self.task.used else []
                    names.append(_top_name(self.events, label))
            near = self.events.nearest(one.step.vector, 4 * _CANDIDATES)
            names += [label.name for label, cosine in near if label.id in self.task.used and cosine >= _LEAST_COSINE]
            found[one.step.id] = list(dict.fromkeys(names))[:_CANDIDATES]
        return found

    def entity_inventory(self) -> str:
        own = [label.name for label in self.entities.live() if label.id in self.task.used]
        return ", ".join(list(dict.fromkeys([*own, *label_types("entity")]))[:_ENTITIES_SHOWN])

    # ------------------------------------------------------------------ checking

    def problems(self, reply: BatchLabels) -> list[str]:
        """What is worth a repair turn. No words of the reply are repeated: these lines are shown to people too."""
        count = len(self.task.chosen)
        numbers = [one.step for one in reply.steps]
        told = []
        if missing := [number for number in range(1, count + 1) if number not in numbers]:
            told.append(f"steps {', '.join(map(str, missing))} are missing; label steps 1 to {count}, each once")
        if doubled := sorted({number for number in numbers if 0 < number <= count and numbers.count(number) > 1}):
            told.append(f"steps {', '.join(map(str, doubled))} stand there more than once; give each once")
        if any(not 0 < number <= count for number in numbers):
            told.append(f"there are steps that were not asked for; the steps are 1 to {count}")
        for one in reply.steps[:count]:
            if why := self.board.refusal(one.scope, one.parent):
                told.append(f"step {one.step}: {why}")
            if not any(name.strip() for name in one.events):
                told.append(f"step {one.step} has no event type; give one to {MOST_EVENTS}")
        return told

    # ------------------------------------------------------------------ keeping

    def notes(self, reply: BatchLabels | None) -> dict[str, PageTexts]:
        """Page id → header and memo, where they say nothing that was not said."""
        return kept_notes(self.task.pages, reply.pages if reply is not None else (), self.loose, self.prompt.restore)

    def labelled(self, reply: BatchLabels | None, degraded: Sequence[str]) -> LabelBatch:
        """Every step of the batch, with what of the reply could be kept; the embedded labels for the rest."""
        given: dict[int, StepLabels] = {}
        for told_of in reply.steps if reply is not None else ():
            given.setdefault(told_of.step, told_of)
        lost: dict[str, list[int]] = {}
        steps: list[LabeledStep] = []
        for number, one in enumerate(self.task.batch, 1):
            own = given.get(number)
            if own is None:
                lost.setdefault("labels", []).append(number)
                steps.append(one)
            else:
                steps.append(self._step(one, own, steps, number, lost))
        gists = self._gists(reply)
        labels = {one.id: one for one in (*self.events.changed(), *self.entities.changed(), *self.board.made())}
        by_id = {one.id: one for one in self.task.labels} | labels
        for label_id, gist in gists.items():
            labels[label_id] = by_id[label_id].model_copy(update={"gist": gist})
        told = list(degraded)
        if any(lost.values()):
            parts = [f"the {what} of {len(steps)} step{'s' if len(steps) > 1 else ''}" for what, steps in lost.items()]
            told.append(
                f"{AGENT}: the classifiers' labels stay for {', '.join(parts)} in a batch of {len(self.task.chosen)}"
            )
        return LabelBatch(steps=tuple(steps), labels=tuple(labels.values()), degraded=tuple(told))

    def _step(
        self,
        one: LabeledStep,
        given: StepLabels,
        before: Sequence[LabeledStep],
        number: int,
        lost: dict[str, list[int]],
    ) -> LabeledStep:
        scope = self.board.scope_of(given.scope, given.parent)
        events = self._events(given.events, one)
        if scope is None and not events:
            lost.setdefault("labels", []).append(number)
            return one
        if scope is None:
            lost.setdefault("scope", []).append(number)
        if not events:
            lost.setdefault("event types", []).append(number)
        text, antecedents = one.resolved_text, one.antecedents
        resolved = self.prompt.restore(given.resolved or "").strip()
        if resolved and resolved != one.step.text and CUT.strip() not in resolved:
            if resolved_fits(one.step.text, resolved, self.known):
                text = resolved
                antecedents = antecedents_of(one, resolved, [*self._earlier(one), *before])
            else:
                lost.setdefault("resolved text", []).append(number)
        summary = one_line(self.prompt.restore(given.summary))
        if not summary_fits(one.step.text, summary, self.loose):
            lost.setdefault("summary", []).append(number)
            summary = one.summary
        return replace(
            one,
            scope=scope or one.scope,
            events=events or one.events,
            entities=self._entities(given.entities),
            resolved_text=text,
            summary=summary,
            antecedents=antecedents,
            confidence=SURE if scope and events else one.confidence,
            provisional=False,
            tier="model",
        )

    def _earlier(self, one: LabeledStep) -> list[LabeledStep]:
        """What the window shows before the batch, and between its steps up to this one."""
        place = next(place for place, other in enumerate(self.task.window) if other.step.id == one.step.id)
        return [other for other in self.task.window[:place] if other.step.id not in self.task.chosen]

    def _events(self, names: Sequence[str], one: LabeledStep) -> tuple[str, ...]:
        """The ids of event types; a new one comes below a coarse type, the step's own where its name says none."""
        found: dict[str, None] = {}
        for given in names[: 2 * MOST_EVENTS]:
            name = one_line(given)
            if not _is_type(name) or len(found) == MOST_EVENTS:
                continue
            new = self.events.find(name) is None and self.events.find(name.split()[0]) is None
            coarse = self.events.coarse(one.events[0]) if new and name.split()[0].casefold() not in _ACTS else None
            found.update(dict.fromkeys(self.events.propose([name], coarse)))
        return tuple(found)[:MOST_EVENTS]

    def _entities(self, names: Sequence[str]) -> tuple[str, ...]:
        wanted = [name for given in names[: 2 * MOST_ENTITIES] if _is_type(name := one_line(given))]
        return self.entities.propose(wanted)[:MOST_ENTITIES]

    def _gists(self, reply: BatchLabels | None) -> Mapping[str, str]:
        found = {}
        for one in reply.gists if reply is not None else ():
            label_id = self.board.known(one.scope)
            gist = one_line(self.prompt.restore(one.gist)).replace("|", "¦")
            if label_id is not None and gist_fits(gist, self.loose):
                found[label_id] = gist
        return found


def event_inventory(vocabulary: Vocabulary, used: frozenset[str]) -> str:
    """The coarse event types, one a line, each with the fine ones that are in use."""
    fine: dict[str, list[str]] = {name: [] for name in label_types("event")}
    for label in vocabulary.live():
        if label.id in used:
            top = _top_name(vocabulary, label)
            below = fine.setdefault(top, [])
            if label.name != top:
                below.append(label.name)
    return "\n".join(f"{name}{': ' + ', '.join(below[:_FINE_SHOWN]) if below else ''}" for name, below in fine.items())


def _top_name(vocabulary: Vocabulary, label: Label) -> str:
    top = vocabulary.get(vocabulary.coarse(label.id) or label.id)
    return label.name if top is None else top.name


def _is_type(name: str) -> bool:
    """Whether a name may stand for a type: a few English words, no number, no secret's reference."""
    if not name or len(name) > 60 or len(name.split()) > 5 or "{{" in name:
        return False
    return not any(one.isdigit() for one in name) and scripts_of(name) == {"LATIN"}
