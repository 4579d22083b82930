"""Contextual intent and the snippet it makes of a step (STITCH, arXiv 2601.10702, section 3)."""

from __future__ import annotations

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record
from hexamem.memory_types.step import Step

__all__ = ["ContextualIntent", "Snippet"]


class ContextualIntent(Record):
    """``ι_t = (σ_t, ε_t, κ_t)``: one thematic scope, one or more event types, zero or more key entity types.

    All are label ids, not names, so that a renamed label needs no change here.
    """

    scope: FilledText
    events: tuple[str, ...] = Field(min_length=1)
    entities: tuple[str, ...] = ()

    @property
    def label_ids(self) -> tuple[str, ...]:
        """Every label once, scope first."""
        return tuple(dict.fromkeys((self.scope, *self.events, *self.entities)))


class Snippet(Record):
    """``m_t = (s_t, ι_t, c_t)``: the step, its intent, the coreference-resolved text and the canonical summary."""

    step: Step
    intent: ContextualIntent
    resolved_text: str
    summary: str
