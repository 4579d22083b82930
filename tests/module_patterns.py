"""The text patterns that modules of the package compile when they are loaded, and texts made to let them backtrack."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import time
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

__all__ = ["attack", "check", "patterns", "slowdown"]

_parser: Any = re._parser  # type: ignore[attr-defined]  # the standard library's own, which has no public name
_LEFT_OUT = ("hexamem.evals", "hexamem.cli", "hexamem.__main__", "hexamem.testing")
_FOLDERS = (
    "hexamem",
    *(f"hexamem.{name}" for name in ("agents", "experience", "graphs", "intent", "memory_types", "models", "prompts")),
    *(f"hexamem.{name}" for name in ("retrieval", "stores", "tools")),
)
_BEGINNINGS = ("", "a", " ", "1", '"', "<", "password: ")
_NOTICED = 0.02  # seconds of CPU: what takes less for the shorter text is not compared
_MOST = 3.5  # times as long for a text twice as long: a little more than quadratic would be 4


def patterns() -> list[re.Pattern[str]]:
    """All of them. Those of the evaluation and of the command line are left out: no text of others is searched there."""
    for folder in _FOLDERS:
        package = importlib.import_module(folder)
        path = package.__path__[:1]  # of "hexamem" without its sibling folders
        for module in (pkgutil.iter_modules if folder == "hexamem" else pkgutil.walk_packages)(path, f"{folder}."):
            if not module.name.startswith(_LEFT_OUT):
                importlib.import_module(module.name)
    found: dict[str, re.Pattern[str]] = {}
    for name, module in sorted(sys.modules.items()):
        if name.startswith("hexamem.") and not name.startswith(_LEFT_OUT):
            for pattern in _within(list(vars(module).values()), name, []):
                found.setdefault(pattern.pattern, pattern)
    return list(found.values())


def _within(value: Any, module: str, seen: list[object]) -> Iterator[re.Pattern[str]]:
    """The patterns in a value of a module: in its containers, and in the attributes of its objects and classes."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, (Mapping, list, tuple, set, frozenset)):
        for part in [*value, *value.values()] if isinstance(value, Mapping) else value:
            if not isinstance(part, (str, bytes, int, float)):
                yield from _within(part, module, seen)
    elif getattr(value, "__module__", None) != module or any(value is other for other in seen):
        return
    elif hasattr(value, "__dict__"):
        seen.append(value)
        yield from _within(list(vars(value).values()), module, seen)


def attack(rng: Random, pattern: re.Pattern[str]) -> tuple[re.Pattern[str], str, str, str]:
    """The pattern, and a beginning, a unit to repeat and an end, made of what parts of the pattern match."""
    parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    unit = _matched(rng, parsed, 0)
    start = rng.randrange(len(unit)) if unit else 0
    unit = unit[start : start + rng.choice((1, 2, 3, 5, 20))] or "a"
    return pattern, rng.choice((*_BEGINNINGS, _matched(rng, parsed, 0)[:30])), unit, rng.choice(("", "!", "\0", "\n"))


def _matched(rng: Random, parsed: Any, depth: int) -> str:
    """A text that a parsed pattern matches, nearly: conditions on what is around it are left out."""
    out = ""
    for operation, argument in parsed:
        match str(operation):
            case "LITERAL":
                out += chr(argument)
            case "NOT_LITERAL" | "ANY":
                out += rng.choice("a1 -")
            case "IN":
                out += _member(rng, argument)
            case "BRANCH":
                out += _matched(rng, rng.choice(argument[1]), depth + 1)
            case "SUBPATTERN":
                out += _matched(rng, argument[-1], depth + 1)
            case "ATOMIC_GROUP":
                out += _matched(rng, argument, depth + 1)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = argument
                for _ in range(min(int(most), int(least) + rng.randrange(3), 20)):
                    out += _matched(rng, inner, depth + 1)
            case "ASSERT" if depth < 3:
                out += _matched(rng, argument[1], depth + 1) if rng.random() < 0.3 else ""
        if len(out) > 200:
            break
    return out


def _member(rng: Random, members: Any) -> str:
    if str(members[0][0]) == "NEGATE":
        return rng.choice("a1 -.é")
    operation, argument = rng.choice(members)
    match str(operation):
        case "LITERAL":
            return chr(argument)
        case "RANGE":
            return chr(rng.randint(*argument))
    return {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "w"}.get(str(argument), "-")


def slowdown(attacked: tuple[re.Pattern[str], str, str, str], size: int = 4_000) -> float:
    """How many times as long a text of twice the size takes; 0 if the shorter one takes hardly any time."""
    pattern, beginning, unit, end = attacked
    times = []
    for length in (size, 2 * size):
        text = (beginning + unit * (length // len(unit)))[:length] + end
        began = time.thread_time()
        for _ in pattern.finditer(text):
            pass
        times.append(time.thread_time() - began)
        if times[0] < _NOTICED:
            return 0.0
    return times[1] / times[0]


def check(attacked: tuple[re.Pattern[str], str, str, str]) -> None:
    """Assert that time grows less than with the square of the length; measured again, since a machine may be busy."""
    assert any(slowdown(attacked) < _MOST for _ in range(3)), (
        f"{attacked[0].pattern!r} takes {slowdown(attacked):.1f} times"
    )
