"""What a family of trajectories is made of, read from the data files in ``templates/``.

``<family>.<language>.json`` holds names, topics and the event type of each stage; ``<family>.<language>.<split>.json``
holds the sentences. Names are shared by both splits, sentences by none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from hexamem.errors import InvalidInputError

__all__ = [
    "FAMILIES",
    "LANGUAGES",
    "SPLITS",
    "Detail",
    "Family",
    "FamilyName",
    "Split",
    "Topic",
    "Values",
    "family",
    "templates",
]

FamilyName = Literal["travel", "project", "debate"]
Split = Literal["dev", "test"]
FAMILIES: tuple[FamilyName, ...] = get_args(FamilyName)
SPLITS: tuple[Split, ...] = get_args(Split)
LANGUAGES: Mapping[str, tuple[str, ...]] = {"travel": ("en", "zh"), "project": ("en",), "debate": ("en",)}


@dataclass(frozen=True, slots=True)
class Values:
    """A quantity: a grid ``low, low + step, … ≤ high`` written by ``format`` (``"€{}"``), or the ``names`` themselves."""

    word: str
    type: str
    low: int = 0
    high: int = 0
    step: int = 1
    scale: int = 1
    format: str = "{}"
    names: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        """Every value as it is written, at least two."""
        if self.names:
            return self.names
        numbers = range(self.low, self.high + 1, self.step)
        return tuple(self.format.format(n if self.scale == 1 else n / self.scale) for n in numbers)


@dataclass(frozen=True, slots=True)
class Detail:
    """Something one may ask about an option, and what the answer may be."""

    word: str
    type: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that is talked about in a scope: a choice among options, a quantity, or items that gather over time."""

    name: str
    kind: Literal["choice", "value", "notes"]
    word: str
    type: str
    names: tuple[str, ...] = ()
    attributes: tuple[Values, ...] = ()
    details: tuple[Detail, ...] = ()
    values: Values | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """Names, topics and event types of one family in one language.

    Attributes:
        levels: what partition ids are made of, outer first (``("trip", "day")``).
        groups: names of the outer level; ``variants`` tell apart groups of one name.
        leaves: names of the inner level, each once in a group.
        numbered: the inner level is counted in order (day 1, day 2).
        handles: two lists whose pairs name something that occurs in one scope alone; ``handle_format`` writes it.
        speakers: two who talk, or a team.
        actions: event type by ``topic.stage`` or ``stage``.
    """

    name: FamilyName
    language: str
    levels: tuple[str, str]
    groups: tuple[str, ...]
    leaves: tuple[str, ...]
    numbered: bool
    handles: tuple[tuple[str, ...], tuple[str, ...]]
    handle_format: str
    handle_type: str
    speakers: tuple[str, ...]
    actions: Mapping[str, str]
    topics: tuple[Topic, ...]
    variants: tuple[str, ...] = ("",)
    led_by_second: frozenset[str] = frozenset()
    ordinals: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)

    def action(self, topic: str | None, stage: str) -> str:
        """The event type of a stage."""
        return self.actions.get(f"{topic}.{stage}") or self.actions[stage]


@cache
def family(name: FamilyName, language: str = "en") -> Family:
    """The family's names and topics. Raises as :func:`templates`."""
    data = _read(name, language, "")
    topics = [{"name": topic, **values} for topic, values in data.pop("topics").items()]
    return TypeAdapter(Family).validate_python({**data, "name": name, "language": language, "topics": topics})


@cache
def templates(name: FamilyName, language: str, split: Split) -> Mapping[str, tuple[str, ...]]:
    """The sentences of one split by group (``hotel.ask``, ``decide``, ``question.attribute``, …).

    Raises:
        InvalidInputError: there is no such family, language or split.
    """
    if split not in SPLITS:
        raise InvalidInputError(f"split {split!r} is unknown; use {' or '.join(SPLITS)}")
    return {group: tuple(lines) for group, lines in _read(name, language, f".{split}").items()}


def _read(name: str, language: str, part: str) -> dict[str, Any]:
    if name not in FAMILIES:
        raise InvalidInputError(f"family {name!r} is unknown; use {', '.join(FAMILIES)}")
    if language not in LANGUAGES[name]:
        raise InvalidInputError(f"language {language!r}: {name} is there in {', '.join(LANGUAGES[name])}")
    file = resources.files(__package__).joinpath("templates", f"{name}.{language}{part}.json")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data
