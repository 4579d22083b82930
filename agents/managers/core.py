"""The core manager: who the user is, and what lasts (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["CORE", "CoreOperation", "CoreReply"]


class CoreOperation(ItemOperation):
    """An operation on a labelled block of what the user is."""

    kind: ClassVar[ItemKind] = "core"
    required: ClassVar[tuple[str, ...]] = ("label", "value")
    users_word: ClassVar[bool] = True

    label: str | None = Field(description="What it tells of the user, such as name, home_city or likes.")
    value: str | None = Field(description="One short sentence with the name, place or thing itself.")
    slot: str | None = Field(
        default=None,
        description="Where only one value can be true at a time: the attribute, such as home_city; else null.",
    )
    valid_from: str | None = Field(description="Since when it is so, as 2025-03-01; null where it is not said.")
    valid_to: str | None = Field(description="Until when it was so; null where it goes on.")


class CoreReply(ModelReply):
    """What the core memory is to keep of these steps."""

    operations: list[CoreOperation]


CORE = ManagerForm(operation=CoreOperation, reply=CoreReply, fields=("label", "value"))
