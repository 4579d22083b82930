"""The procedural manager: how something is done, step by step (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["PROCEDURAL", "ProceduralOperation", "ProceduralReply"]


class ProceduralOperation(ItemOperation):
    """An operation on a procedure."""

    kind: ClassVar[ItemKind] = "procedural"
    required: ClassVar[tuple[str, ...]] = ("summary", "steps")

    entry_type: str | None = Field(description="workflow, recipe, routine, guide or instruction.")
    summary: str | None = Field(description="What it is for and when it is used, in one sentence.")
    steps: list[str] | None = Field(description="What is done, in order, each with its amounts, names and commands.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as work, releases.")


class ProceduralReply(ModelReply):
    """The procedures that these steps tell."""

    operations: list[ProceduralOperation]


PROCEDURAL = ManagerForm(operation=ProceduralOperation, reply=ProceduralReply, fields=("summary", "steps"))
