"""The resource manager: documents and texts that are to be found again whole (MIRIX, arXiv 2507.07957, section 3.1)."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.contract import HeardStep
from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = ["RESOURCE", "ResourceOperation", "ResourceReply"]


class ResourceOperation(ItemOperation):
    """An operation on a document, whose text a program copies out of the step."""

    kind: ClassVar[ItemKind] = "resource"
    required: ClassVar[tuple[str, ...]] = ("title",)

    title: str | None = Field(description="What one would look for to find it.")
    summary: str | None = Field(description="What is in it, in one or two sentences.")
    resource_type: str | None = Field(description="text, email, code, table, image, transcript or file.")
    first_words: str | None = Field(description="The first 4 to 8 words of the document in the step, copied exactly.")
    last_words: str | None = Field(description="Its last 4 to 8 words in the step, copied exactly.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as work, contracts.")

    def item_values(self, heard: HeardStep) -> dict[str, Any]:
        """The fields, and as content the words of the step from the first to the last; the whole step where unclear."""
        values = super().item_values(heard)
        first, last = values.pop("first_words", ""), values.pop("last_words", "")
        if self.operation in ("add", "supersede") or (first and last):
            values["content"] = _between(_text(heard), first, last)
        return values


class ResourceReply(ModelReply):
    """The documents that these steps hold."""

    operations: list[ResourceOperation]


RESOURCE = ManagerForm(operation=ResourceOperation, reply=ResourceReply, fields=("title", "summary"))


def _text(heard: HeardStep) -> str:
    return heard.step.content if heard.step.content.strip() else heard.step.index_text


def _between(text: str, first: str, last: str) -> str:
    begin, end = find_quote(first, text) if first else None, None
    if begin is not None and last:
        found = find_quote(last, text[begin[0] :])
        end = begin[0] + found[1] if found is not None else None
        if end is not None and text.startswith(last.strip()[-1], end):  # a full stop is no part of a quote
            end += 1
    return text[begin[0] : end] if begin is not None and end is not None and end > begin[0] else text
