"""Words that were stored twice: a conversation ingested again says nothing new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...memory_types import Step, Where
from ...stores.ledger import Transaction, get_steps, select_step_ids
from .evidence import Heard

__all__ = ["as_first_said", "first_said", "slot_as_first_said"]


def first_said(tx: Transaction, steps: Iterable[Step]) -> dict[str, str]:
    """Step id → id of the first active step with the same words, said by the same at the same moment.

    What was learned of that one, and what has since become of it, holds of its copies too. Steps without an earlier
    copy are left out.
    """
    found: dict[str, str] = {}
    at: dict[object, list[Step]] = {}
    for step in steps:
        if step.occurred_at not in at:
            ids = select_step_ids(tx, Where(since=step.occurred_at, until=step.occurred_at))
            at[step.occurred_at] = sorted(get_steps(tx, ids).values(), key=lambda one: one.seq) if len(ids) > 1 else []
        first = next((one for one in at[step.occurred_at] if _words(one) == _words(step)), step)
        if first.id != step.id:
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


def _words(step: Step) -> tuple[object, ...]:
    return step.role, step.name, step.content, step.index_text
