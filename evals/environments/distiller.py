"""A chat model that distils by rules, in place of a real one: it reads the prompt that a model would receive.

It reads only the text of the runs in the prompt and applies two rules: a refused argument and the form that was accepted
instead; and the action between a refusal and the same action accepted.
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

__all__ = ["RuleDistiller", "lessons"]

_RUNS = re.compile(r"<runs>\n(.*?)\n</runs>", re.DOTALL)
_HEAD = re.compile(r"^Task(?: \((?:done|failed)\))?: ")
_LINE = re.compile(r"^\s*(?:\d+\. )?\s*(?P<part>action|error): (?P<text>.*)$")


@dataclass(slots=True)
class _Action:
    text: str
    error: str = ""

    @property
    def verb(self) -> str:
        return self.text.split()[0]


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
        runs = _RUNS.search("\n".join(message.text for message in messages))
        reply = json.dumps({"items": lessons(runs[1]) if runs is not None else []})
        return ChatResult(generations=[ChatGeneration(message=AIMessage(reply))])


def lessons(runs: str) -> list[dict[str, str]]:
    """The items of a reply for the text of one or more runs, the most useful first."""
    by_content: dict[str, dict[str, str]] = {}
    for actions in _read(runs):
        for item in [*_remedies(actions), *_corrections(actions)]:
            by_content.setdefault(item["content"], item)
    return list(by_content.values())


def _corrections(actions: Sequence[_Action]) -> list[dict[str, str]]:
    """A refused action, and the next of the same tool with other arguments that was accepted or refused for another reason."""
    items: dict[tuple[str, ...], dict[str, str]] = {}
    for index, failed in enumerate(actions):
        later = [other for other in actions[index + 1 :] if other.verb == failed.verb and other.text != failed.text]
        better = next((other for other in later if not other.error), None) or next(
            (other for other in later if other.error != failed.error), None
        )
        if not failed.error or better is None:
            continue
        use, instead = _difference(better.text.split(), failed.text.split())
        if use and (failed.verb, *use) not in items:
            items[failed.verb, *use] = {
                "title": f"{failed.verb}: {' '.join(use)}",
                "description": f"When {failed.verb} is called; not for other actions.",
                "content": f"When {failed.verb} is called, use `{' '.join(use)}` instead of `{' '.join(instead)}`.",
                "facet": "tool",
            }
    return list(items.values())


def _remedies(actions: Sequence[_Action]) -> list[dict[str, str]]:
    """The action between the refusal of an action and the same action accepted, or refused for another reason."""
    items = []
    for index, failed in enumerate(actions):
        again = next((n for n in range(index + 1, len(actions)) if actions[n].text == failed.text), None)
        if not failed.error or again is None or actions[again].error == failed.error or again == index + 1:
            continue
        remedy = actions[again - 1].text
        items.append(
            {
                "title": f"{failed.verb}: {remedy} first",
                "description": f"When {failed.verb} is called; not otherwise.",
                "content": f"When {failed.verb} is called, use `{remedy}` first. It is refused otherwise: {failed.error}",
                "facet": "environment",
            }
        )
    return items


def _difference(better: Sequence[str], failed: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words in which two actions differ; all of them where their lengths differ."""
    if len(better) != len(failed):
        return tuple(better), tuple(failed)
    pairs = [(use, instead) for use, instead in zip(better, failed, strict=True) if use != instead]
    return tuple(use for use, _ in pairs), tuple(instead for _, instead in pairs)


def _read(text: str) -> list[list[_Action]]:
    """The actions of each run in the text of a prompt."""
    runs: list[list[_Action]] = []
    for line in text.splitlines():
        part = _LINE.match(line)
        if _HEAD.match(line):
            runs.append([])
        elif part is not None and runs:
            if part["part"] == "action":
                runs[-1].append(_Action(part["text"]))
            elif runs[-1]:
                runs[-1][-1].error = part["text"]
    return runs
