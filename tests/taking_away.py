"""The ways in which a user removes words, and a walk through memory for tests of what must go with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from hexamem import UserMemory

__all__ = ["STRATEGIES", "WORD", "asked_everywhere", "erases", "forgets", "held", "redacts"]

WORD = "zanzibaria"
"""Stands in the step that is removed; no rule and no other text of the tests knows it."""
STRATEGIES = ("rrf_neighbours", "label_density", "learned")


def forgets(user: UserMemory, step_id: str) -> None:
    user.forget([step_id])


def redacts(user: UserMemory, step_id: str) -> None:
    user.redact(WORD)


def erases(user: UserMemory, step_id: str) -> None:
    user.erase()


def asked_everywhere(user: UserMemory, message: str) -> str:
    """Store a message among others and ask for it in every way; the id of its step."""
    others = ["We went to the museum in Lisbon.", "My cousin repairs pianos.", "The recipe needs two eggs."]
    step_id = user.remember([message, *others], thread_id="chat").step_ids[0]
    user.search_pages("museum in Lisbon")
    for strategy in STRATEGIES:
        assert step_id in [hit.id for hit in user.recall(message, strategy=strategy).hits]
    return step_id


def held(root: object, word: str) -> list[str]:
    """The texts with this word, in whatever case, that are held anywhere under an object."""
    texts: list[str] = []
    seen: set[int] = set()
    waiting: list[Any] = [root]
    alive: list[Any] = []  # else the id of what is made on the way may be used again
    while waiting:
        value = waiting.pop()
        if isinstance(value, type) or id(value) in seen:
            continue
        seen.add(id(value))
        alive.append(value)
        if isinstance(value, str):
            if word.casefold() in value.casefold():
                texts.append(value)
            continue
        waiting.extend(_parts_of(value))
    return texts


def _parts_of(value: Any) -> Iterator[Any]:
    """What an object of ours, or a container, holds."""
    if isinstance(value, Mapping):
        yield from list(value.keys())
        yield from list(value.values())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from list(value)
    elif type(value).__module__.startswith("hexamem"):
        yield from list(getattr(value, "__dict__", {}).values())
        for kind in type(value).__mro__:
            slots = getattr(kind, "__slots__", ())
            yield from (getattr(value, name, None) for name in ((slots,) if isinstance(slots, str) else slots))
        if is_dataclass(value):
            yield from (getattr(value, field.name, None) for field in fields(value))
