"""The registry of memory types: which kinds of items a memory holds, each a class of its own, and what proposes them.

The six types of MIRIX (arXiv 2507.07957, section 2) ship as :data:`DEFAULT_TYPES`. A further type is one more value::

    class DecisionItem(MemoryItem):
        kind: Literal["decision"] = "decision"
        searched_fields = ("title", "why")
        title: str = Field(description="What was decided, in a few words.")
        why: str = Field(default="", description="The reason that was named.")

    decision = MemoryType(name="decision", item=DecisionItem, prompt="decision_manager.md")
    Memory.open(home, types=(*DEFAULT_TYPES, decision))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.memory_types.items import (
    CoreItem,
    EpisodicItem,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    UnregisteredItem,
    VaultItem,
)

__all__ = ["DEFAULT_TYPES", "MemoryType", "TypeRegistry"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_RESERVED = frozenset({"step", "page", "all"})


@dataclass(frozen=True, kw_only=True)
class MemoryType:
    """One type of memory.

    Attributes:
        name: of the type, and the ``kind`` of its items: lower-case letters, digits and _.
        item: a subclass of :class:`MemoryItem` whose field ``kind`` has ``name`` as its default. ``searched_fields`` names
            the fields that are indexed and shown. The descriptions of its fields are shown to the model.
        prompt: the prompt of its manager: a Markdown file of one's own, of which the model reads the text (what it states
            beside the rules that all managers share), or the name of a shipped prompt. With None no model proposes items of
            this type; they are added by hand, or by a manager given to ``Memory.open(managers=…)``.

    Raises:
        ConfigError: the name, the class or the file does not do.
    """

    name: str
    item: type[MemoryItem]
    prompt: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED:
            raise ConfigError(
                f"MemoryType.name = {self.name!r}: use lower-case letters, digits and _, and none of {_RESERVED}"
            )
        if not (isinstance(self.item, type) and issubclass(self.item, MemoryItem)):
            raise ConfigError(
                f"MemoryType.item = {self.item!r} of {self.name!r}: give a subclass of hexamem.MemoryItem"
            )
        if self.item.model_fields["kind"].default != self.name:
            raise ConfigError(
                f"{self.item.__name__}.kind has the default {self.item.model_fields['kind'].default!r}: give it "
                f"kind: Literal[{self.name!r}] = {self.name!r}"
            )
        if not set(self.item.searched_fields) <= set(self.item.model_fields):
            raise ConfigError(
                f"{self.item.__name__}.searched_fields = {self.item.searched_fields!r}: name fields of it"
            )
        if self.prompt is not None and self.prompt.endswith(".md") and not Path(self.prompt).is_file():
            raise ConfigError(f"MemoryType.prompt = {self.prompt!r} of {self.name!r}: there is no such file")

    @property
    def own_fields(self) -> tuple[str, ...]:
        """The fields that this type adds to those of every item, in order."""
        return tuple(name for name in self.item.model_fields if name not in MemoryItem.model_fields)


DEFAULT_TYPES: tuple[MemoryType, ...] = tuple(
    MemoryType(name=item.model_fields["kind"].default, item=item, prompt=f"{item.model_fields['kind'].default}_manager")
    for item in (CoreItem, EpisodicItem, SemanticItem, ProceduralItem, ResourceItem, VaultItem)
)
"""The six types that ship."""


class TypeRegistry(Mapping[str, MemoryType]):
    """The types of one memory, by name and in order.

    Raises:
        ConfigError: two have the same name; one of the six that ship is missing.
    """

    def __init__(self, types: Sequence[MemoryType] = DEFAULT_TYPES) -> None:
        if odd := [given for given in types if not isinstance(given, MemoryType)]:
            raise ConfigError(f"types = {odd[0]!r} is no memory type: give (*hexamem.DEFAULT_TYPES, MemoryType(…))")
        self._types = {given.name: given for given in types}
        if len(self._types) < len(types):
            names = [given.name for given in types]
            double = next(name for name in names if names.count(name) > 1)
            raise ConfigError(f"types = two of the name {double!r}: give each type a name of its own")
        if missing := [shipped.name for shipped in DEFAULT_TYPES if shipped.name not in self._types]:
            raise ConfigError(f"types = without {', '.join(missing)}: give (*hexamem.DEFAULT_TYPES, …)")

    def __getitem__(self, name: str) -> MemoryType:
        return self._types[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def parse(self, values: Mapping[str, Any] | MemoryItem) -> MemoryItem:
        """The item that ``values`` describe, of the class its ``kind`` names.

        Raises:
            InvalidInputError: for a missing or unknown kind, or fields that do not fit it.
        """
        if isinstance(values, MemoryItem):
            known = self._types.get(values.kind)
            if known is None or not isinstance(values, known.item):
                raise InvalidInputError(
                    f"{type(values).__name__} is none of the types of this memory ({', '.join(self)}): open it with "
                    "types=(*hexamem.DEFAULT_TYPES, …)"
                )
            return values
        if not isinstance(values, Mapping):
            raise InvalidInputError(f"an item is a MemoryItem or a mapping with a kind, not {type(values).__name__}")
        kind = values.get("kind")
        if not isinstance(kind, str) or kind not in self._types:
            raise InvalidInputError(f"kind = {kind!r} is no memory kind; use one of {', '.join(self)}")
        return self._types[kind].item.parse(values)

    def restore(self, values: Mapping[str, Any]) -> MemoryItem:
        """As :meth:`parse`, for what was stored: an :class:`UnregisteredItem` for a type that is not registered."""
        known = self._types.get(str(values["kind"]))
        return (UnregisteredItem if known is None else known.item).parse(values)
