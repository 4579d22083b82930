"""Words that were stored twice: a conversation ingested again says nothing new.

Which step a copy is one of, :func:`~hexamem.stores.applying.first_said` tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .evidence import Heard

__all__ = ["as_first_said", "slot_as_first_said"]


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
