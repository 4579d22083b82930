"""Memory items: typed records, each pointing at its sources. The six types of MIRIX (arXiv 2507.07957, section 2) ship.

:class:`MemoryItem` has the fields of every type; a subclass adds its own, and names those that are searched.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field, field_validator, model_validator

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = [
    "CoreItem",
    "EpisodicItem",
    "ItemKind",
    "MemoryItem",
    "ProceduralItem",
    "ResourceItem",
    "SemanticItem",
    "Sensitivity",
    "Source",
    "UnregisteredItem",
    "VaultItem",
]

ItemKind: TypeAlias = str
"""The name of a memory type; see :class:`~hexamem.memory_types.registry.TypeRegistry`."""
Sensitivity = Literal["low", "medium", "high"]
_ID = re.compile(r"(?!step_)[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")


class Source(Record):
    """The source of an item or a hit: a step, and a quote with its span in the content of the step."""

    step_id: FilledText
    quote: str = ""
    start: int | None = Field(default=None, ge=0, lt=2**31, description="character offset in the step's content")
    end: int | None = Field(
        default=None, ge=0, lt=2**31, description="character offset after the last quoted character"
    )

    @model_validator(mode="after")
    def _span_in_order(self) -> Source:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end of a quote go together; give both or neither")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise ValueError(f"the quote ends at {self.end}, before it starts at {self.start}")
        return self


class MemoryItem(Record):
    """The base of all memory types.

    Valid time (``valid_from`` ≤ t < ``valid_to``) is when the item is true, belief time (``created_at`` ≤ t <
    ``superseded_at``) when memory contained it. An open end is None.

    Attributes:
        searched_fields: the fields of a type that make up its text, in order.
        kind: the name of the type.
        superseded_by: the id of its successor.
        version: counts its changes, from 1.
    """

    searched_fields: ClassVar[tuple[str, ...]] = ()

    id: str = Field(default_factory=lambda: new_id("item"))
    user: str = ""
    kind: ItemKind
    labels: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    valid_from: UtcTime | None = None
    valid_to: UtcTime | None = None
    created_at: UtcTime = Field(default_factory=utc_now)
    superseded_at: UtcTime | None = None
    superseded_by: str | None = None
    status: Literal["active", "superseded", "merged", "removed"] = "active"
    version: int = Field(default=1, ge=1)
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("id")
    @classmethod
    def _id_of_an_item(cls, value: str) -> str:
        if not _ID.fullmatch(value):
            raise ValueError(
                f"id {value[:64]!r} is not valid for an item: use 1 to 64 letters, digits and _ . : -, beginning with a letter "
                "or digit and not with step_, or leave it out"
            )
        return value

    @field_validator("metadata")
    @classmethod
    def _metadata_are_json(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not value:
            return value
        try:
            # In the form in which it is read back: tuples as lists, keys as strings.
            copied: dict[str, Any] = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"not JSON ({error}); use strings, finite numbers, lists and mappings") from None
        return copied

    @field_validator("labels")
    @classmethod
    def _labels_named(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not label.strip() for label in value):
            raise ValueError(f"labels {value!r} contain a blank one; leave it out")
        return tuple(dict.fromkeys(value))

    @model_validator(mode="after")
    def _intervals_in_order(self) -> MemoryItem:
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError(f"valid_to {self.valid_to} lies before valid_from {self.valid_from}")
        if self.superseded_at and self.superseded_at < self.created_at:
            raise ValueError(f"superseded_at {self.superseded_at} lies before created_at {self.created_at}")
        return self

    @property
    def text(self) -> str:
        """The text that is searched and shown: the searched fields, joined by line breaks."""
        values = (getattr(self, name) for name in self.searched_fields)
        lines = [("\n".join(value) if isinstance(value, tuple) else str(value)) for value in values if value]
        return "\n".join(lines)

    @property
    def payload(self) -> dict[str, Any]:
        """The fields of the type itself, as JSON values."""
        own = set(type(self).model_fields) - set(MemoryItem.model_fields)
        return self.model_dump(mode="json", include=own)


class CoreItem(MemoryItem):
    """A fact about the user, or how the assistant should behave: a labelled block within a limit of characters."""

    searched_fields: ClassVar[tuple[str, ...]] = ("label", "value")

    kind: Literal["core"] = "core"
    label: FilledText
    value: str
    limit: int = Field(default=2_000, ge=1, description="characters")

    @model_validator(mode="after")
    def _within_limit(self) -> CoreItem:
        if len(self.value) > self.limit:
            raise ValueError(
                f"value has {len(self.value):,} characters, over the block's limit of {self.limit:,}; "
                "shorten it, raise the limit, or store the rest as a semantic item"
            )
        return self


class EpisodicItem(MemoryItem):
    """An event with its time."""

    searched_fields: ClassVar[tuple[str, ...]] = ("summary", "details", "actor", "event_type")

    kind: Literal["episodic"] = "episodic"
    occurred_at: UtcTime
    actor: FilledText = "user"
    event_type: FilledText = "event"
    summary: FilledText
    details: str = ""
    tree_path: tuple[str, ...] = ()


class SemanticItem(MemoryItem):
    """A fact or concept that holds beyond one event."""

    searched_fields: ClassVar[tuple[str, ...]] = ("name", "summary", "details")

    kind: Literal["semantic"] = "semantic"
    name: FilledText
    summary: FilledText
    details: str = ""
    source: str = ""
    tree_path: tuple[str, ...] = ()


class ProceduralItem(MemoryItem):
    """A procedure: a workflow, guide or script as ordered steps."""

    searched_fields: ClassVar[tuple[str, ...]] = ("summary", "steps")

    kind: Literal["procedural"] = "procedural"
    entry_type: FilledText = "workflow"
    summary: FilledText
    steps: tuple[str, ...] = Field(min_length=1)
    tree_path: tuple[str, ...] = ()


class ResourceItem(MemoryItem):
    """A document, file, pasted text, image description or transcript, stored completely."""

    searched_fields: ClassVar[tuple[str, ...]] = ("title", "summary", "content")

    kind: Literal["resource"] = "resource"
    title: FilledText
    summary: str = ""
    resource_type: FilledText = "text"
    content: str
    tree_path: tuple[str, ...] = ()


class VaultItem(MemoryItem):
    """A secret or a contact: only the caption is searchable; the value is encrypted under ``secret_id``.

    The plaintext is never a field of a record: pass it to ``UserMemory.add(item, secret=…)``, and read it with
    ``UserMemory.reveal(id, reason=…)``.
    """

    searched_fields: ClassVar[tuple[str, ...]] = ("caption", "entry_type", "source")
    shows_values: ClassVar[bool] = False

    kind: Literal["vault"] = "vault"
    entry_type: FilledText = "secret"
    caption: FilledText
    source: str = ""
    sensitivity: Sensitivity = "high"
    secret_id: str | None = None


class UnregisteredItem(MemoryItem):
    """A stored item of a type that is not registered in this memory: it can be read, listed, exported and removed."""

    model_config = ConfigDict(extra="allow")

    @property
    def text(self) -> str:
        """All texts among its own fields, joined by line breaks."""
        return "\n".join(value for value in (self.model_extra or {}).values() if isinstance(value, str) and value)

    @property
    def payload(self) -> dict[str, Any]:
        """Its own fields, as they were stored."""
        return dict(self.model_extra or {})
