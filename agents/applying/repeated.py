"""Words that were stored twice: a conversation ingested again says nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from ...memory_types import Step
from ...stores.ledger import Transaction
from ...stores.ledger.schema import steps as table
from .evidence import Heard

__all__ = ["as_first_said", "first_said", "slot_as_first_said"]


def first_said(tx: Transaction, steps: Iterable[Step]) -> dict[str, str]:
    """Step id → id of the first active step with the same words, said by the same at the same moment.

    What was learned of that one, and what has since become of it, holds of its copies too. Steps without an earlier
    copy are left out.
    """
    found: dict[str, str] = {}
    for step in steps:
        same = (
            select(table.c.id)
            .where(
                table.c.user_id == tx.user_id,
                table.c.occurred_at == step.occurred_at,
                table.c.status == "active",
                table.c.role == step.role,
                table.c.name.is_(None) if step.name is None else table.c.name == step.name,
                table.c.content == step.content,
                table.c.index_text.is_(None)
                if step.index_text == step.content
                else table.c.index_text == step.index_text,
            )
            .order_by(table.c.seq)
            .limit(1)
        )
        first = tx.first(same)
        if first is not None and first.id != step.id:
            found[step.id] = first.id
    return found


def as_first_said(heard: Heard, first: Mapping[str, str]) -> Heard:
    """Evidence that cites each copy as the step of which it is one."""
    if not any(source.step_id in first for source in heard.sources):
        return heard
    sources = (source.changed(step_id=first.get(source.step_id, source.step_id)) for source in heard.sources)
    return replace(heard, sources=tuple(dict.fromkeys(sources)))


def slot_as_first_said(values: dict[str, Any], first: Mapping[str, str]) -> dict[str, Any]:
    """Values whose slot, where it names a step ("event:<step id>:3"), names the step of which that is a copy."""
    metadata = values.get("metadata")
    slot = metadata.get("slot") if isinstance(metadata, Mapping) else None
    if not isinstance(slot, str) or not isinstance(metadata, Mapping):
        return values
    parts = [first.get(part, part) for part in slot.split(":")]
    return {**values, "metadata": {**metadata, "slot": ":".join(parts)}}
