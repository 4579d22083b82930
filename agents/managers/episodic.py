"""The episodic manager: what happened or will happen, with its date (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["EPISODIC", "EpisodicOperation", "EpisodicReply"]


class EpisodicOperation(ItemOperation):
    """An operation on an event."""

    kind: ClassVar[ItemKind] = "episodic"
    required: ClassVar[tuple[str, ...]] = ("occurred_at", "summary")

    occurred_at: str | None = Field(description="Its date, as 2025-03-01 or 2025-03-01T15:30, in the user's time.")
    actor: str | None = Field(description="Who did it: user, assistant, or a name.")
    event_type: str | None = Field(description="One or two words, such as appointment, trip, purchase.")
    summary: str | None = Field(description="One sentence: who, what, where, with the date as 2025-03-01.")
    details: str | None = Field(description="What else was said of it that matters later; null where nothing.")


class EpisodicReply(ModelReply):
    """The events that these steps tell of."""

    operations: list[EpisodicOperation]


EPISODIC = ManagerForm(operation=EpisodicOperation, reply=EpisodicReply, fields=("occurred_at", "summary", "details"))
