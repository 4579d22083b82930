"""Reads advice for the scripted agent: statements and earlier runs in a text become preferences among actions.

It understands the wording of advice ("When …, use `…`", "… instead of `…`", "… first") and the lines of earlier runs, and
knows nothing of the environment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Hint", "preference", "read_hints"]

_RULE = re.compile(
    r"[Ww]hen (?P<when>[^\n]+?),[^\n`]*?\b(?:use|uses|used|do|try)\b `(?P<use>[^`]+)`"
    r"(?:(?P<first> first)| instead of `(?P<bad>[^`]+)`)?"
)
_HEAD = re.compile(r"^(?:Task|Earlier run) \((?P<label>done|failed)[^)]*\): ")
_LINE = re.compile(r"^\s*(?:\d+\. )?(?P<part>action|observation|error): (?P<text>.*)$")
_WORD = re.compile(r"[a-z_][a-z_-]*")
_STOP_WORDS = frozenset(
    ["a", "an", "the", "is", "are", "to", "of", "in", "with", "and", "or", "it", "this", "task", "called"]
)


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
    """The preferences that a text of advice contains."""
    rules = [
        Hint(
            when=_words(rule["when"]),
            use=tuple(rule["use"].split()),
            bad=tuple((rule["bad"] or "").split()),
            first=bool(rule["first"]),
        )
        for rule in _RULE.finditer(text)
    ]
    return [*rules, *(hint for actions in _runs(text) for hint in _hints_of_run(actions))]


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


def _runs(text: str) -> list[list[tuple[str, bool]]]:
    """The actions of each successful run in a text, with whether each failed."""
    runs: list[list[tuple[str, bool]]] = []
    done = False
    for line in text.splitlines():
        head, part = _HEAD.match(line.strip()), _LINE.match(line)
        if head is not None:
            done = head["label"] == "done"
            runs.append([])
        elif not done:
            continue
        elif line.startswith("Did: "):
            runs[-1] += [(action, False) for action in line.removeprefix("Did: ").split("; ")]
        elif part is not None and part["part"] == "action":
            runs[-1].append((part["text"], False))
        elif part is not None and part["part"] == "error" and runs[-1]:
            runs[-1][-1] = (runs[-1][-1][0], True)
    return runs


def _hints_of_run(actions: Sequence[tuple[str, bool]]) -> list[Hint]:
    hints = []
    for index, (action, failed) in enumerate(actions):
        words = tuple(action.split())
        following = actions[index + 1][0].split(" ")[0] if index + 1 < len(actions) else ""
        hints.append(
            Hint(bad=words, whole=True) if failed else Hint(use=words, whole=True, following=_words(following))
        )
    return hints


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
