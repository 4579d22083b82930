"""The event and entity types that every vocabulary begins with, and the words for each; kept in ``label_types.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

__all__ = ["label_types", "type_synonyms"]


@cache
def label_types(kind: Literal["event", "entity"]) -> Mapping[str, tuple[str, ...]]:
    """Name of each type → other words for it, in lower case."""
    stored = json.loads((Path(__file__).parent / "label_types.json").read_text(encoding="utf-8"))
    return {name: tuple(words) for name, words in stored["events" if kind == "event" else "entities"].items()}


@cache
def type_synonyms(kind: Literal["event", "entity"]) -> Mapping[str, str]:
    """Each word in lower case, a type's own name too → the name of the type; of two types the first has it."""
    names = {name.casefold(): name for name in label_types(kind)}
    return {word: name for name, words in reversed(list(label_types(kind).items())) for word in words} | names
