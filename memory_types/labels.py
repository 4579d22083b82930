"""Labels: the names of thematic scopes, event types and key entity types, with aliases, parents and pins."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = ["Label", "LabelKind", "Tier"]

LabelKind = Literal["scope", "event", "entity"]
Tier = Literal["embedded", "model", "user"]
"""Who set a label: the embedded classifiers, a model, or a person (whose labels neither of the others changes)."""


class Label(Record):
    """One label of one user. Steps carry its id, so that renaming it touches no step.

    Attributes:
        name: unique among the user's labels of its kind.
        parent_id: the wider label: the trip of a day, the coarse type of a fine event type.
        alias_of: the label that took this one in; what carries this id counts as carrying that one.
        pinned: set by a person: merges and renamings by rules or a model leave it alone.
        gist: of a scope, what it is about so far; empty for other kinds.
    """

    id: str = Field(default_factory=lambda: new_id("label"))
    user: FilledText
    kind: LabelKind
    name: FilledText
    parent_id: str | None = None
    alias_of: str | None = None
    pinned: bool = False
    gist: str = ""
    created_at: UtcTime = Field(default_factory=utc_now)
