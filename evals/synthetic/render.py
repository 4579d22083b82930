"""Turns a plan into words.

A template is a sentence with slots ``{name}`` and alternatives ``[one|another]`` (an empty alternative is allowed).
Templates of a group are drawn without replacement until all were used. ``{at}`` is where a turn may say which scope
it means; it is empty where the turn does not.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from hexamem.evals.synthetic.family import Split, templates
from hexamem.evals.synthetic.plan import Plan, PlannedTurn
from hexamem.evals.synthetic.questions import PlannedQuestion
from hexamem.evals.synthetic.script import Beat, Option

__all__ = ["Renderer"]

_ALTERNATIVES = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_SENTENCE = re.compile(r"(?:\A|(?<=[.?!] )|(?<=\n))[a-z]")
_AT_SHARE = 0.55
_ADDED_SENTENCE = 0.25


class Renderer:
    """Writes the turns and questions of one plan in the sentences of a split; the same seed makes the same words."""

    def __init__(self, plan: Plan, split: Split, seed: int) -> None:
        self._plan = plan
        self._lines = templates(plan.family.name, plan.family.language, split)
        self._rng = random.Random(f"words/{plan.family.name}/{plan.family.language}/{plan.size}/{split}/{seed}")
        self._bags: dict[str, list[str]] = {}
        self._scope_forms = self._distinct("scope", lambda index: plan.scopes[index].slots)
        self._group_forms = self._distinct("group", lambda index: plan.scopes[index].slots, by_group=True)

    def turn(self, turn: PlannedTurn) -> str:
        """The words of a turn."""
        beat = turn.beat
        slots = {**self._plan.scopes[turn.scope].slots, **beat.slots}
        if beat.topic:
            slots["word"] = beat.topic.word
        if beat.options:
            slots["options"] = self._options(beat.options)
            slots["count"] = self._plan.family.words[str(len(beat.options))]
        if slots.get("ref") == "that":
            slots["ref"] = self._draw("ref.that")
        if turn.marker == "open":
            slots["scope"] = self._fill(self._draw("scope.opening"), slots)
        template = self._draw(self._group_of(beat))
        frame = ""
        at = ""
        if turn.marker in ("explicit", "entity"):
            slots["scope"] = self._scope_words(turn)
            if "{at}" in template and self._rng.random() < _AT_SHARE:
                at = self._fill(self._draw(f"at.{turn.marker}"), slots)
            else:
                frame = self._draw(f"frame.{turn.marker}")
        elif turn.marker == "resume":
            frame = self._draw("frame.resume")
        elif turn.here:
            at = self._draw("at.here")
        text = self._fill(template, {**slots, "at": at})
        if frame:
            text = self._fill(frame, {**slots, "text": self._tidy(text)})
        if not beat.leads and beat.stage in ("propose", "recommend", "detail") and self._rng.random() < _ADDED_SENTENCE:
            for _ in range(self._rng.choice((1, 1, 2, 3))):
                text += self._plan.family.words.get("space", " ") + self._fill(self._draw("added"), slots)
        return self._tidy(text)

    def question(self, question: PlannedQuestion) -> str:
        """The words of a question, which name its scope as nothing else in the trajectory is named."""
        slots = dict(question.slots)
        forms = self._group_forms if question.group else self._scope_forms
        slots["scope"] = self._rng.choice(forms[question.scope])
        return self._tidy(self._fill(self._draw(f"question.{question.form}"), slots))

    def _scope_words(self, turn: PlannedTurn) -> str:
        slots = self._plan.scopes[turn.scope].slots
        if turn.marker == "entity":
            return slots["handle"]
        if turn.near and self._rng.random() < 0.7:
            return self._fill(self._draw("scope.near"), slots)
        return self._rng.choice(self._scope_forms[turn.scope][:-1])  # the last is by handle: that is "entity"

    def _distinct(
        self, group: str, slots_of: Callable[[int], Mapping[str, str]], by_group: bool = False
    ) -> dict[int, list[str]]:
        """Each scope's names that no other scope (or group) of the trajectory shares; the handle's is the last."""
        scopes = self._plan.scopes
        phrases: dict[int, list[str]] = {scope.index: [] for scope in scopes}
        for form in self._lines[f"{group}.full"]:
            names = {scope.index: self._fill(form, slots_of(scope.index)) for scope in scopes}
            owners: dict[str, set[object]] = {}
            for scope in scopes:
                owners.setdefault(names[scope.index].casefold(), set()).add(
                    scope.partition[0] if by_group else scope.index
                )
            for index, name in names.items():
                if len(owners[name.casefold()]) == 1:
                    phrases[index].append(name)
        if not by_group:
            for scope in scopes:
                phrases[scope.index].append(self._fill(self._draw("scope.by_handle"), scope.slots))
        return phrases

    def _group_of(self, beat: Beat) -> str:
        key = f"{beat.topic.name}.{beat.stage}" if beat.topic else beat.stage
        return key if key in self._lines else beat.stage

    def _options(self, options: Sequence[Option]) -> str:
        words = self._plan.family.words
        line = self._draw("option")
        shown = [
            self._fill(line, {"name": option.name, "first": option.attributes[0], "second": option.attributes[1]})
            for option in options
        ]
        style = self._rng.random()
        if style < 0.35:
            return "\n" + "\n".join(f"{number}. {text}" for number, text in enumerate(shown, start=1)) + "\n"
        if style < 0.5:
            return "\n" + "\n".join(f"- {text}" for text in shown) + "\n"
        return words["comma"].join(shown[:-1]) + words["and"] + shown[-1]

    def _draw(self, group: str) -> str:
        bag = self._bags.get(group)
        if not bag:
            bag = list(self._lines[group])
            self._rng.shuffle(bag)
            self._bags[group] = bag
        return bag.pop()

    def _fill(self, template: str, slots: Mapping[str, str]) -> str:
        # Alternatives first, so that a bracket inside a value stays.
        while match := _ALTERNATIVES.search(template):
            chosen = self._rng.choice(match.group(1).split("|"))
            template = template[: match.start()] + chosen + template[match.end() :]
        return template.format_map(dict(slots))

    @staticmethod
    def _tidy(text: str) -> str:
        text = re.sub(r"[ \t]{2,}", " ", text)
        text = re.sub(r" +([,.;?!\n])", r"\1", text)
        text = re.sub(r"\n[.,;。，；]", "\n", text)  # a sentence that ended in a list
        text = re.sub(r"\n +", "\n", text).strip()
        return _SENTENCE.sub(lambda match: match[0].upper(), text)
