"""Reads runs and advice as text, by rules, in place of a model: what a run teaches, and which actions advice prefers.

It understands the wording of advice ("When …, use `…`", "… instead of `…`", "… first") and the lines of runs, and knows
nothing of the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage

__all__ = ["Hint", "RuleDistiller", "lessons", "preference", "read_hints"]

_RUNS = re.compile(r"<runs>\n(.*?)\n</runs>", re.DOTALL)
_HEAD = re.compile(r"^(?:Task|Earlier run)(?: \((?P<label>done|failed)[^)]*\))?: ")
_LINE = re.compile(r"^\s*(?:\d+\. )?\s*(?P<part>action|error): (?P<text>.*)$")
_RULE = re.compile(
    r"[Ww]hen (?P<when>[^\n]+?),[^\n`]*?\b(?:use|uses|used|do|try)\b `(?P<use>[^`]+)`"
    r"(?:(?P<first> first)| instead of `(?P<bad>[^`]+)`)?"
)
_WORD = re.compile(r"[a-z_][a-z_-]*")
_STOP_WORDS = frozenset(
    ["a", "an", "the", "is", "are", "to", "of", "in", "with", "and", "or", "it", "this", "task", "called"]
)


@dataclass(slots=True)
class _Action:
    text: str
    error: str = ""

    @property
    def tool(self) -> str:
        return self.text.split(" ")[0]


def _runs(text: str) -> list[tuple[str, list[_Action]]]:
    """The runs in a text: how each ended ("done", "failed" or "") and its actions."""
    runs: list[tuple[str, list[_Action]]] = []
    for line in text.splitlines():
        head, part = _HEAD.match(line.strip()), _LINE.match(line)
        if head is not None:
            runs.append((head["label"] or "", []))
        elif runs and line.startswith("Did: "):
            runs[-1][1].extend(map(_Action, line.removeprefix("Did: ").split("; ")))
        elif runs and part is not None and part["part"] == "action":
            runs[-1][1].append(_Action(part["text"]))
        elif runs and part is not None and runs[-1][1]:
            runs[-1][1][-1].error = part["text"]
    return runs


# -- what runs teach


class RuleDistiller(SimpleChatModel):
    """Answers the distiller's prompts by rules; every other prompt gets a reply that fits no schema."""

    @property
    def _llm_type(self) -> str:
        return "rule-distiller"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        runs = _RUNS.search("\n".join(message.text for message in messages))
        return json.dumps({"items": lessons(runs[1]) if runs is not None else []})


def lessons(runs: str) -> list[dict[str, str]]:
    """The items of a distiller's reply for the text of one or more runs, the most useful first.

    Two rules: the action between a refusal and the same action accepted, or refused for another reason; and a refused
    action with the next of the same tool with other arguments that was accepted, or refused for another reason.
    """
    by_content: dict[str, dict[str, str]] = {}
    for _, actions in _runs(runs):
        for item in [*_remedies(actions), *_corrections(actions)]:
            by_content.setdefault(item["content"], item)
    return list(by_content.values())


def _item(tool: str, title: str, use: str, reason: str, facet: str) -> dict[str, str]:
    return {
        "title": f"{tool}: {title}",
        "description": f"When {tool} is called; not for other actions.",
        "content": f"When {tool} is called, use `{use}` {reason}",
        "facet": facet,
    }


def _remedies(actions: Sequence[_Action]) -> list[dict[str, str]]:
    items = []
    for index, failed in enumerate(actions):
        again = next((n for n in range(index + 1, len(actions)) if actions[n].text == failed.text), None)
        if not failed.error or again is None or actions[again].error == failed.error or again == index + 1:
            continue
        remedy, reason = actions[again - 1].text, f"first. It is refused otherwise: {failed.error}"
        items.append(_item(failed.tool, f"{remedy} first", remedy, reason, "environment"))
    return items


def _corrections(actions: Sequence[_Action]) -> list[dict[str, str]]:
    items: dict[tuple[str, ...], dict[str, str]] = {}
    for index, failed in enumerate(actions):
        later = [other for other in actions[index + 1 :] if other.tool == failed.tool and other.text != failed.text]
        better = next((other for other in later if not other.error), None) or next(
            (other for other in later if other.error != failed.error), None
        )
        if not failed.error or better is None:
            continue
        use, instead = better.text.split(), failed.text.split()
        if len(use) == len(instead):  # only what differs
            pairs = [pair for pair in zip(use, instead, strict=True) if pair[0] != pair[1]]
            use, instead = [new for new, _ in pairs], [old for _, old in pairs]
        reason = f"instead of `{' '.join(instead)}`."
        items.setdefault((failed.tool, *use), _item(failed.tool, " ".join(use), " ".join(use), reason, "tool"))
    return list(items.values())


# -- which actions advice prefers


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One preference.

    Attributes:
        when: words that the situation has to contain; empty: always.
        use, bad: words of actions to prefer and to avoid.
        first: whether the action comes before all others, once.
        whole: whether ``use`` and ``bad`` are whole actions of an earlier run, which weigh half.
        following: words of the action that followed in that run; the hint counts only for tasks that share one.
    """

    when: frozenset[str] = frozenset()
    use: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    first: bool = False
    whole: bool = False
    following: frozenset[str] = frozenset()


def read_hints(text: str) -> list[Hint]:
    """The preferences that a text of advice contains: its rules, and the actions of its runs that were successful."""
    hints = [
        Hint(
            when=_words(rule["when"]),
            use=tuple(rule["use"].split()),
            bad=tuple((rule["bad"] or "").split()),
            first=bool(rule["first"]),
        )
        for rule in _RULE.finditer(text)
    ]
    for label, actions in _runs(text):
        for index, action in enumerate(actions if label == "done" else ()):
            words = tuple(action.text.split())
            following = actions[index + 1].tool if index + 1 < len(actions) else ""
            failed = Hint(bad=words, whole=True)
            hints.append(failed if action.error else Hint(use=words, whole=True, following=_words(following)))
    return hints


def preference(action: str, task: str, last: str, hints: Sequence[Hint], done: Sequence[str]) -> float:
    """How much the hints speak for an action in this situation; negative: against it.

    Args:
        last: the last reply of the environment.
        done: the actions so far.
    """
    task_words = _words(task)
    situation = task_words | _words(last) | _words(action.split(" ", maxsplit=1)[0])
    total = 0.0
    for hint in hints:
        if not hint.when <= situation or (hint.following and not hint.following & task_words):
            continue
        use = _matches(hint.use, action, hint)
        if hint.first:
            total += 4.0 * (use and action not in done)
        else:
            total += (0.5 if hint.whole else 1.0) * (use - (not use and _matches(hint.bad, action, hint)))
    return total


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _STOP_WORDS


def _matches(words: Sequence[str], action: str, hint: Hint) -> bool:
    """Whether an action contains the words of a hint; a whole action has to agree with all of them, in order.

    Values of arguments agree when they have the same form, unless the hint is about the value itself.
    """
    if not words:
        return False
    by_form = hint.whole or [*map(_form, hint.use)] != [*map(_form, hint.bad)]

    def same(word: str, other: str) -> bool:
        return word == other or (by_form and "=" in word and "=" in other and _form(word) == _form(other))

    parts = action.split()
    if hint.whole:
        return len(words) == len(parts) and all(map(same, words, parts))
    return all(any(same(word, part) for part in parts) for word in words)


def _form(argument: str) -> str:
    """The form of a value: that of ``due=24.12.2026`` and ``due=03.11.2026`` is the same, of ``due=2026-12-24`` another."""
    name, equals, value = argument.partition("=")
    if not equals:
        return argument
    value = re.sub(r"[A-Z][a-z]+", "W", value)
    value = re.sub(r"[a-z]{3,}", "w", value)
    return f"{name}={re.sub(r'[0-9]+', '9', value)}"
