"""A chat model that distils by rules, in place of a real one: it reads the prompt that a model would be sent.

All that it sees is the text of the runs in the prompt. It knows three things that a model would know as well: an action
that failed and its like that did not; what was done between a refusal and the same action accepted; and, after several
looks in vain, where the thing was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from hexamem.evals.environments.reading import action_form, words_of

__all__ = ["RuleDistiller", "lessons"]

_RUNS = re.compile(r"<runs>\n(.*?)\n</runs>", re.DOTALL)
_HEAD = re.compile(r"^Task(?: \((?P<ended>done|failed)\))?: (?P<task>.*)$")
_LINE = re.compile(r"^\s*(?:\d+\. )?\s*(?P<what>thought|action|observation|error): (?P<text>.*)$")
_VAIN = re.compile(r"\b(?:0|no) (?:results|matches)\b|\bnothing (?:of use|here|happens)\b|\bis closed\b", re.I)
_LOOKS = 2  # so many looks in vain, and where the thing was is worth telling


@dataclass(slots=True)
class _Turn:
    action: str
    observation: str = ""
    error: str = ""

    @property
    def vain(self) -> bool:
        return bool(self.error or _VAIN.search(self.observation))


class RuleDistiller(BaseChatModel):
    """Answers the distiller's prompts by rules; every other prompt gets a reply that fits no schema."""

    @property
    def _llm_type(self) -> str:
        return "rule-distiller"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = "\n".join(one.text for one in messages)
        found = _RUNS.search(text)
        items = lessons(found[1]) if found is not None else []
        reply = json.dumps({"items": items})
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])


def lessons(runs: str) -> list[dict[str, str]]:
    """What the text of one or more runs teaches: the items of a reply, the most useful first."""
    found: dict[str, dict[str, str]] = {}
    for task, turns in _read(runs):
        for one in [*_remedies(turns), *_found(task, turns), *_corrections(task, turns)]:
            found.setdefault(one["content"], one)
    return list(found.values())


def _corrections(task: str, turns: Sequence[_Turn]) -> list[dict[str, str]]:
    """An action in vain, and the next one of its sort that was not; where there is none, one that failed otherwise."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for at, bad in enumerate(turns):
        good = _better(bad, turns[at + 1 :]) if bad.vain else None
        if good is None:
            continue
        verb = bad.action.split()[0]
        use, instead = _difference(action_form(good.action, task), action_form(bad.action, task))
        if not use or (verb, *use) in found:
            continue
        words = words_of(" ".join(one.partition("=")[2] for one in instead)) & words_of(task)
        plain = all(_plain(one) for one in (*use, *instead))
        when = f"the task says {' '.join(sorted(words))}" if words and plain else f"{verb} is called"
        found[verb, *use] = {
            "title": f"{verb}: {' '.join(use)}",
            "description": f"When {when}; not for other actions.",
            "content": f"When {when}, use `{' '.join(use)}` instead of `{' '.join(instead)}`.",
            "facet": "tool",
        }
    return list(found.values())


def _better(bad: _Turn, later: Sequence[_Turn]) -> _Turn | None:
    """What was done in place of an action in vain."""
    verb, size = bad.action.split()[0], len(bad.action.split())
    like = [one for one in later if one.action.split()[0] == verb and one.action != bad.action]
    if not bad.error:  # a look elsewhere teaches nothing about looking; another way of asking does
        like = [one for one in like if len(one.action.split()) != size]
    good = next((one for one in like if not one.vain), None)
    if good is None and bad.error:
        good = next((one for one in like if one.error != bad.error), None)
    return good


def _remedies(turns: Sequence[_Turn]) -> list[dict[str, str]]:
    """What was done between the refusal of an action and the same action accepted, or refused for another reason."""
    found = []
    for at, bad in enumerate(turns):
        again = next((n for n in range(at + 1, len(turns)) if turns[n].action == bad.action), None)
        if not bad.error or again is None or turns[again].error == bad.error or again == at + 1:
            continue
        remedy, verb = turns[again - 1].action, bad.action.split()[0]
        found.append(
            {
                "title": f"{verb}: {remedy} first",
                "description": f"When {verb} is called; not otherwise.",
                "content": f"When {verb} is called, use `{remedy}` first. It is refused otherwise: {bad.error}",
                "facet": "environment",
            }
        )
    return found


def _found(task: str, turns: Sequence[_Turn]) -> list[dict[str, str]]:
    """Where the thing was, after looks in vain."""
    for at in range(1, len(turns)):
        looks = [one for one in turns[:at] if one.action.split()[0] == turns[0].action.split()[0]]
        shared = words_of(turns[at].action) & words_of(task)
        fresh = turns[at].action.split()[0] not in {one.action.split()[0] for one in turns[:at]}
        opened = turns[at].observation and not turns[at].vain
        if not (fresh and opened and shared and sum(one.vain for one in looks) >= _LOOKS) or "=" in turns[at].action:
            continue
        place = looks[-1].action
        if looks[-1].vain and "closed" not in looks[-1].observation:
            continue
        what = " ".join(sorted(shared))
        return [
            {
                "title": f"Where the {what} is",
                "description": f"When the task says {what}; not for other things.",
                "content": f"When the task says {what}, use `{place}` before other places are looked at.",
                "facet": "environment",
            }
        ]
    return []


def _difference(good: Sequence[str], bad: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words in which two actions differ; all of them where one is longer."""
    if len(good) != len(bad):
        return tuple(good), tuple(bad)
    pairs = [(one, other) for one, other in zip(good, bad, strict=True) if one != other]
    return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)


def _plain(argument: str) -> bool:
    return argument.partition("=")[2].isalpha() and argument.partition("=")[2].islower()


def _read(text: str) -> list[tuple[str, list[_Turn]]]:
    """The runs in the text of a prompt."""
    found: list[tuple[str, list[_Turn]]] = []
    for line in text.splitlines():
        head, told = _HEAD.match(line), _LINE.match(line)
        if head is not None:
            found.append((head["task"], []))
        elif told is not None and found:
            turns = found[-1][1]
            if told["what"] == "action":
                turns.append(_Turn(told["text"]))
            elif turns and told["what"] in ("observation", "error"):
                setattr(turns[-1], told["what"], told["text"])
    return found
