"""The semantic manager: facts about people, things and concepts (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["SEMANTIC", "SemanticOperation", "SemanticReply"]


class SemanticOperation(ItemOperation):
    """An operation on a fact."""

    kind: ClassVar[ItemKind] = "semantic"
    required: ClassVar[tuple[str, ...]] = ("name", "summary")

    name: str | None = Field(description="Whom or what the fact is about: a name, or a few words.")
    summary: str | None = Field(description="The fact in one sentence that can be read alone.")
    details: str | None = Field(description="What else belongs to it; null where nothing.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as people, family.")
    slot: str | None = Field(
        default=None,
        description="Where only one value can be true at a time: whose attribute, such as mark.employer; else null.",
    )
    valid_from: str | None = Field(description="Since when it is so, as 2025-03-01; null where it is not said.")
    valid_to: str | None = Field(description="Until when it was so; null where it goes on.")


class SemanticReply(ModelReply):
    """The facts that these steps tell."""

    operations: list[SemanticOperation]


SEMANTIC = ManagerForm(operation=SemanticOperation, reply=SemanticReply, fields=("name", "summary", "details"))
