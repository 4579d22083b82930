"""One labelling task: the inputs of its prompt, the checks of the reply, and the labels from the reply.

A part of the reply that is not usable leaves the present label of the step, so that a batch is never lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hexamem.agents.labelling.checks import antecedents_of, fits, one_line, replaced, words_of
from hexamem.agents.labelling.schemas import MOST_ENTITIES, MOST_EVENTS, BatchLabels, StepLabels
from hexamem.agents.labelling.scopes import ScopeBoard
from hexamem.agents.labelling.task import LabelTask, shown_earlier, shown_scopes
from hexamem.agents.page_texts import checked_notes, shown_pages
from hexamem.intent.contract import Embed, LabelBatch, LabeledStep
from hexamem.intent.label_names import label_types
from hexamem.intent.vocabulary import TypeVocabulary
from hexamem.memory_types.local_time import in_zone
from hexamem.prompts import Prompt

__all__ = ["RULES", "SURE", "LabelReading"]

RULES = "label_rules"
SURE = 0.9
"""The confidence of a model's labels; that of a person's is 1."""
_LONGEST_GIST = 800  # characters
_MOST_MEANINGS = 12  # replacements in one step
_MOST_FINE = 12  # fine event types in the prompt below one coarse type
_MOST_ENTITY_TYPES = 120  # in the prompt
_ACTS = frozenset(name.split()[0].casefold() for name in label_types("event"))


class LabelReading:
    """One task: the inputs of its prompt, the check of the reply, and the labels from the reply.

    Args:
        user: the user whose steps these are.
        task: the steps with their context.
        embed: embeds the names of labels.
        prompt: the template.
        agent: the name of the agent, for ``degraded``.
        shown: further texts that the prompt shows.
    """

    def __init__(
        self,
        user: str,
        task: LabelTask,
        embed: Embed,
        prompt: Prompt,
        agent: str,
        *,
        shown: Iterable[str] = (),
    ) -> None:
        self.task, self.prompt, self.agent = task, prompt, agent
        self.board = ScopeBoard(user, task)
        self.events = TypeVocabulary(user, "event", task.labels, embed)
        self.entities = TypeVocabulary(user, "entity", task.labels, embed)
        texts = [*map(self.board.path, self.board.handles), *self.board.gists.values(), *shown]
        for labeled in task.window:
            at = in_zone(labeled.step.occurred_at, task.zone)
            texts += [labeled.step.text, labeled.resolved_text, labeled.step.speaker, f"{at:%Y %m %d %-d %B %A %H:%M}"]
        self.known = frozenset(word for text in texts for word in words_of(text))

    # ------------------------------------------------------------------ the prompt

    def inputs(self) -> dict[str, str]:
        """The inputs of a prompt without the steps, by name."""
        numbers = {labeled.step.id: number for number, labeled in enumerate(self.task.batch, 1)}
        entities = [label.name for label in self.entities.live() if label.id in self.task.used]
        return {
            "scopes": shown_scopes(self.board),
            "event_types": self._event_types(),
            "entity_types": ", ".join(list(dict.fromkeys([*entities, *label_types("entity")]))[:_MOST_ENTITY_TYPES]),
            "earlier": shown_earlier(self.task, self.board),
            "pages": shown_pages(self.task.pages, numbers),
        }

    def _event_types(self) -> str:
        """The coarse event types, one a line, each with its fine types in use."""
        fine: dict[str, list[str]] = {name: [] for name in label_types("event")}
        for label in self.events.live():
            if label.id in self.task.used:
                top = self.events.coarse(label.id) or label
                fine.setdefault(top.name, []).extend([label.name] if label.name != top.name else [])
        return "\n".join(f"{top}{': ' + ', '.join(own[:_MOST_FINE]) if own else ''}" for top, own in fine.items())

    # ------------------------------------------------------------------ checking

    def problems(self, reply: BatchLabels) -> list[str]:
        """The problems for a repair turn. They repeat no words of the reply, since people see them too."""
        count = len(self.task.chosen)
        replied = self._parsed(reply)
        numbers = Counter(labels.step for labels in replied)
        asked = range(1, count + 1)
        lines = [
            f"step {number} is there {numbers[number]} times; list each once"
            for number in asked
            if numbers[number] != 1
        ]
        if any(number not in asked for number in numbers):
            lines.append(f"there are steps that were not asked for; the steps are 1 to {count}")
        for labels in replied[:count]:
            if labels.scope is not None and (why := self.board.refusal(labels.scope)):
                lines.append(f"step {labels.step}: {why}")
            if not labels.events:
                lines.append(f"step {labels.step} has no event type; give one to {MOST_EVENTS}")
        return lines

    @staticmethod
    def _parsed(reply: BatchLabels) -> list[StepLabels]:
        return [labels for line in reply.steps if (labels := StepLabels.parse(line)) is not None]

    # ------------------------------------------------------------------ reading the reply

    def labelled(self, reply: BatchLabels | None, degraded: Sequence[str]) -> LabelBatch:
        """Every step of the batch with the usable parts of the reply, otherwise with its present labels."""
        replied: dict[int, StepLabels] = {}
        for step_labels in self._parsed(reply) if reply is not None else ():
            replied.setdefault(step_labels.step, step_labels)
        lost: Counter[str] = Counter()
        steps: list[LabeledStep] = []
        scope = self._scope_before()
        for number, labeled in enumerate(self.task.batch, 1):
            if (labels := replied.get(number)) is not None:
                scope = scope if labels.scope is None else self.board.scope_of(labels.scope)
                steps.append(self._step(labeled, scope, labels, steps, lost))
            else:
                scope = labeled.scope
                steps.append(labeled)
                lost["labels"] += 1
        by_id = {label.id: label for label in self.task.labels} | self.board.made
        labels_by_id = {**self.events.made, **self.entities.made, **self.board.made}
        for label_id, gist in self._gists(reply).items():
            labels_by_id[label_id] = by_id[label_id].model_copy(update={"gist": gist})
        if lost:
            parts = [f"the {what} of {count} step{'s' if count > 1 else ''}" for what, count in lost.items()]
            line = f"the classifiers' labels stay for {', '.join(parts)} in a batch of {len(steps)}"
            degraded = (*degraded, f"{self.agent}: {line}")
        notes = reply.pages if reply is not None else ()
        return LabelBatch(
            steps=tuple(steps),
            labels=tuple(labels_by_id.values()),
            pages=checked_notes(self.task.pages, notes, self.prompt.restore),
            degraded=tuple(degraded),
        )

    def _scope_before(self) -> str | None:
        """The scope of the step before the batch, where it is one that is listed."""
        first = next(place for place, labeled in enumerate(self.task.window) if labeled.step.id in self.task.chosen)
        scope = self.task.window[first - 1].scope if first else ""
        return scope if self.board.is_listed(scope) else None

    def _step(
        self,
        labeled: LabeledStep,
        scope: str | None,
        labels: StepLabels,
        before: Sequence[LabeledStep],
        lost: Counter[str],
    ) -> LabeledStep:
        events = self._events(labels.events, labeled)
        if scope is None and not events:
            lost["labels"] += 1
            return labeled
        lost.update(what for what, value in (("scope", scope), ("event types", events)) if not value)
        own, antecedents = labeled.step.text, labeled.antecedents
        meanings = ((self._line(words), self._line(meaning)) for words, meaning in labels.means[:_MOST_MEANINGS])
        text, refused = replaced(own, meanings, self.known)
        lost.update({"replaced words": 1} if refused else {})
        if text != own:
            place = self.task.window.index(labeled)
            context = [earlier for earlier in self.task.window[:place] if earlier.step.id not in self.task.chosen]
            antecedents = antecedents_of(labeled, text, [*context, *before])
        return replace(
            labeled,
            scope=scope or labeled.scope,
            events=events or labeled.events,
            entities=self._entities(labels.events) or labeled.entities,
            resolved_text=text if text != own else labeled.resolved_text,
            antecedents=antecedents,
            confidence=SURE if scope and events else labeled.confidence,
            provisional=False,
            tier="model",
        )

    def _line(self, text: str) -> str:
        return one_line(self.prompt.restore(text))

    def _events(self, names: Sequence[str], labeled: LabeledStep) -> tuple[str, ...]:
        """The ids of event types; a new one is placed below the coarse type in its name, otherwise below that of the step."""
        events: dict[str, None] = {}
        for name in map(one_line, names[: 2 * MOST_EVENTS]):
            if not _is_type(name) or len(events) == MOST_EVENTS:
                continue
            act = name.split()[0]
            new = self.events.find(name) is None and self.events.find(act) is None
            coarse = self.events.coarse(labeled.events[0]) if new and act.casefold() not in _ACTS else None
            events.update(dict.fromkeys(self.events.propose([name], coarse)))
        return tuple(events)[:MOST_EVENTS]

    def _entities(self, events: Sequence[str]) -> tuple[str, ...]:
        """The ids of the entity types that event types name: of "Ask hotel" that of "Hotel"."""
        things = [name.partition(" ")[2].capitalize() for name in map(one_line, events[:MOST_ENTITIES])]
        return self.entities.propose([*filter(_is_type, things)])[:MOST_ENTITIES]

    def _gists(self, reply: BatchLabels | None) -> Mapping[str, str]:
        gists = {}
        for scope_gist in reply.gists if reply is not None else ():
            label_id = self.board.known(scope_gist.scope)
            gist = one_line(self.prompt.restore(scope_gist.gist)).replace("|", "¦")
            if label_id is not None and fits(gist, _LONGEST_GIST):
                gists[label_id] = gist
        return gists


def _is_type(name: str) -> bool:
    """Whether a name is acceptable for a type: one to five words, no digit, no reference to a secret."""
    return fits(name, 60) and len(name.split()) <= 5 and "{{" not in name and not any(map(str.isdigit, name))
