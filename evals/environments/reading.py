"""Reading advice the way a model would: statements and earlier runs in a text become preferences among actions.

The reader knows the English of advice and nothing of the environments: "When …, use `…`", "… instead of `…`", "… first",
and the lines of earlier runs. Words of the task that an advice was learned from stand for words of the task at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Hint", "action_form", "preference", "read_hints", "words_of"]

_RULE = re.compile(
    r"[Ww]hen (?P<when>[^\n]+?),[^\n`]*?\b(?:use|uses|used|do|try)\b `(?P<use>[^`]+)`"
    r"(?:(?P<first> first)| instead of `(?P<bad>[^`]+)`)?"
)
_HEAD = re.compile(r"^(?:Task|Earlier run) \((?P<ended>done|failed)[^)]*\): (?P<task>.*)$")
_LINE = re.compile(r"^\s*(?:\d+\. )?(?P<what>action|observation|error): (?P<text>.*)$")
_WORD = re.compile(r"[a-z_][a-z_-]*")
_IDLE_WORDS = (
    "a an the is are be to of in on for with and or not it this that task says say wants want called call needed asked "
    "comes came come back run runs did its do under one some when about"
)
_IDLE = frozenset(_IDLE_WORDS.split())
_SLOT = "<word>"
_FRUITLESS = re.compile(r"\b(?:0|no) (?:results|matches)\b|\bnothing\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One preference.

    Attributes:
        when: words that the situation has to hold; none: always.
        use, bad: words of actions to take and not to take, generalised by :func:`action_form`.
        first: whether it goes before everything else, once.
        weight: how much it counts.
        whole: whether ``use`` and ``bad`` are whole actions.
        about: words of an earlier task that the action served; it counts by the share of them in the task at hand.
    """

    when: frozenset[str] = frozenset()
    use: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    first: bool = False
    weight: float = 1.0
    whole: bool = False
    about: frozenset[str] = frozenset()


def words_of(text: str) -> frozenset[str]:
    """The words of a text that tell something; numbers do not count."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _IDLE)


def action_form(action: str, task: str) -> tuple[str, ...]:
    """An action word by word; what it took from the task is ``<word>``, but for the first word and values."""
    known = set(re.findall(r"[\w.]+", task.casefold()))
    first, *rest = action.split() or [""]
    return (first, *(_SLOT if "=" not in one and one.casefold() in known else one for one in rest))


def read_hints(text: str) -> list[Hint]:
    """The preferences that stand in an advice."""
    found = [
        Hint(
            when=words_of(told["when"]),
            use=tuple(told["use"].split()),
            bad=tuple((told["bad"] or "").split()),
            first=bool(told["first"]),
        )
        for told in _RULE.finditer(text)
    ]
    return [*found, *_runs(text.splitlines())]


def _runs(lines: Iterable[str]) -> list[Hint]:
    """What earlier runs did, and what failed in them, as weaker preferences."""
    found: list[Hint] = []
    task, actions = "", list[tuple[str, str]]()

    def flush() -> None:
        for at, (action, came) in enumerate(actions):
            form = action_form(action, task)
            leads_on = at + 1 == len(actions) or actions[at + 1][0].split()[:1] != action.split()[:1]
            failed = came == "error" or (not leads_on and bool(_FRUITLESS.search(came)))
            following = actions[at + 1][0] if leads_on and at + 1 < len(actions) else ""
            if failed:
                found.append(Hint(bad=form, weight=0.5, whole=True))
            else:
                about = words_of(following) & words_of(task)
                found.append(Hint(use=form, weight=0.5 if leads_on else 0.1, whole=True, about=about))
        actions.clear()

    for line in [*lines, "Task (failed): the end"]:
        head, told = _HEAD.match(line.strip()), _LINE.match(line)
        if head is not None:
            flush()
            task = head["task"] if head["ended"] == "done" else ""
        elif task and line.startswith("Did: "):
            actions.extend((one, "") for one in line[5:].split("; "))
        elif task and told is not None and told["what"] == "action":
            actions.append((told["text"], ""))
        elif task and told is not None and actions:
            actions[-1] = (actions[-1][0], "error" if told["what"] == "error" else told["text"])
    return found


def preference(action: str, task: str, last: str, hints: Sequence[Hint], done: Sequence[str]) -> float:
    """How much the hints speak for an action in this situation, from 0; below 0 they speak against it.

    Args:
        last: what came back last.
        done: the actions that were taken.
    """
    situation = words_of(f"{task} {last}") | words_of(" ".join(part for part in action.split(" ")[:1]))
    asked = words_of(task)
    total = 0.0
    for hint in hints:
        share = len(hint.about & asked) / len(hint.about) if hint.about else 1.0
        if not hint.when <= situation or not share:
            continue
        use = share * _held(hint.use, action, task, hint)
        if hint.first:
            total += 4.0 * hint.weight * (use > 0 and action not in done)
            continue
        total += hint.weight * use
        if hint.bad:
            total -= hint.weight * (_held(hint.bad, action, task, hint) if not use else 0.0)
    return total


def _held(words: Sequence[str], action: str, task: str, hint: Hint) -> float:
    """Whether an action holds the words of an advice (all of them, one behind the other for whole actions)."""
    if not words:
        return 0.0
    form = action_form(action, task)
    literal = action.split()
    by_shape = hint.whole or _shapes(hint.use) != _shapes(hint.bad)

    def same(told: str, at: int) -> bool:
        if "=" in told and "=" in literal[at]:
            return told == literal[at] or (by_shape and _shape(told) == _shape(literal[at]))
        return told in (literal[at], form[at])

    if hint.whole or _SLOT in words:
        return float(len(words) == len(literal) and all(same(one, at) for at, one in enumerate(words)))
    return float(all(any(same(one, at) for at in range(len(literal))) for one in words))


def _shapes(words: Sequence[str]) -> list[str]:
    return [_shape(one) for one in words]


def _shape(argument: str) -> str:
    """How a value is written: ``due=24.12.2026`` and ``due=03.11.2026`` have one shape, ``due=2026-12-24`` another."""
    name, equals, value = argument.partition("=")
    if not equals:
        return argument
    value = re.sub(r"[A-Z][a-z]+", "W", value)
    value = re.sub(r"[a-z]{3,}", "w", value)
    return f"{name}={re.sub(r'[0-9]+', '9', value)}"
