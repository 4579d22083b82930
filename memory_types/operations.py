"""Operations: each change of memory with its before and after, so that it can be shown and undone."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = ["Change", "LabelOperation", "Operation", "OperationKind", "TargetKind"]

ItemOperation = Literal["add", "update", "supersede", "merge", "remove", "noop", "forget", "redact", "undo"]
LabelOperation = Literal["relabel", "rename", "merge", "split", "move", "pin"]
"""Changes of labels: ``relabel`` is a revision by rules or a model, the others are made by a person."""
OperationKind = ItemOperation | LabelOperation
TargetKind = Literal["item", "step", "label", "intent"]
"""What changed; the ids of a ``text`` (what a step says) and an ``intent`` are those of their step."""


class Change(Record):
    """One record as it was before an operation and as it is after; None where it did not exist."""

    target: TargetKind
    target_id: FilledText
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class Operation(Record):
    """A change of memory: what was done, by whom, why, and to which records.

    ``undoes`` names the operation that an ``undo`` reversed; ``undone_by`` the undo that reversed this one.
    ``redact`` stores neither before nor after.
    """

    id: str = Field(default_factory=lambda: new_id("op"))
    user: FilledText
    seq: int = Field(ge=0)
    kind: OperationKind
    actor: str = "user"
    reason: str = ""
    changes: tuple[Change, ...] = ()
    undoes: str | None = None
    undone_by: str | None = None
    created_at: UtcTime = Field(default_factory=utc_now)
