"""The schemas of the operations that the six managers propose (MIRIX, arXiv 2507.07957, section 3.1).

A subclass of :class:`ItemOperation` specifies one manager; everything else is shared by all six.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Optional

from pydantic import BaseModel, ConfigDict, Field, create_model

from hexamem.agents.applying.evidence import find_quote
from hexamem.memory_types import ItemKind, MemoryType, Step
from hexamem.stores.secrets import find_references, named_ids

__all__ = [
    "FORMS",
    "CoreOperation",
    "EpisodicOperation",
    "ItemOperation",
    "ProceduralOperation",
    "ResourceOperation",
    "SemanticOperation",
    "VaultOperation",
    "form_of",
]

_SHORTEST_SECRET, _LONGEST_SECRET = 3, 4_000


class ItemOperation(BaseModel):
    """One operation on an item; each kind adds its own fields, null where they do not change.

    Attributes:
        kind: the memory type of the items.
        task: the description of the reply in its schema.
        required: the fields without which an item cannot be added.
        shown: the fields of known items that the prompt lists, in order.
        prompt: the file with its prompt; None for a shipped one.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: ClassVar[ItemKind]
    task: ClassVar[str]
    required: ClassVar[tuple[str, ...]]
    shown: ClassVar[tuple[str, ...]]
    prompt: ClassVar[str | None] = None

    step: int = Field(description="The number of the step that says it.")
    quote: str = Field(description="The words of that step that say it, copied exactly, at most 25.")
    operation: Literal["add", "update", "supersede", "merge", "remove"]
    target: str | None = Field(description="The handle of the known item that it changes; null for add.")
    merged: list[str] = Field(description="For merge, the handles of the items that target takes in; else empty.")
    ends: list[str] = Field(default=[], description="Handles of further known items that are over by it; else empty.")

    @classmethod
    def agent(cls) -> str:
        """The name of the manager among the agents."""
        return f"{cls.kind}_manager"

    @classmethod
    def own_fields(cls) -> tuple[str, ...]:
        """The fields that this kind adds, in order."""
        return tuple(name for name in cls.model_fields if name not in ItemOperation.model_fields)

    def item_values(self, step: Step) -> dict[str, Any]:
        """The fields of the item that this sets: by default the kind's own fields that have a value."""
        return {name: value for name in self.own_fields() if (value := getattr(self, name)) not in (None, "", [])}

    def problems(self, step: Step) -> list[str]:
        """The problems by the rules of this kind; they repeat none of its words."""
        return []

    def secret_in(self, step: Step) -> str | None:
        """The secret that it names, if that is in the content of its step."""
        return None

    def reference_in(self, step: Step) -> str | None:
        """The reference that it names in place of a secret, as it is in the content of its step."""
        return None


class CoreOperation(ItemOperation):
    """An operation on a labelled block of what the user is."""

    kind: ClassVar[ItemKind] = "core"
    task: ClassVar[str] = "What the core memory is to keep of these steps."
    required: ClassVar[tuple[str, ...]] = ("label", "value")
    shown: ClassVar[tuple[str, ...]] = ("label", "value")

    label: str | None = Field(description="What it tells of the user, such as name, home_city or likes.")
    value: str | None = Field(description="One short sentence with the name, place or thing itself.")
    slot: str | None = Field(
        default=None,
        description="Where only one value can be true at a time: the attribute, such as home_city; else null.",
    )
    valid_from: str | None = Field(description="Since when it is so, as 2025-03-01; null where it is not stated.")
    valid_to: str | None = Field(description="Until when it was so; null where it goes on.")


class EpisodicOperation(ItemOperation):
    """An operation on an event."""

    kind: ClassVar[ItemKind] = "episodic"
    task: ClassVar[str] = "The events that these steps tell of."
    required: ClassVar[tuple[str, ...]] = ("occurred_at", "summary")
    shown: ClassVar[tuple[str, ...]] = ("occurred_at", "summary", "details")

    occurred_at: str | None = Field(description="Its date, as 2025-03-01 or 2025-03-01T15:30, in the user's time.")
    actor: str | None = Field(description="Who did it: user, assistant, or a name.")
    event_type: str | None = Field(description="One or two words, such as appointment, trip, purchase.")
    summary: str | None = Field(description="One sentence: who, what, where, with the date as 2025-03-01.")
    details: str | None = Field(description="What else was stated of it that matters later; null where nothing.")


class SemanticOperation(ItemOperation):
    """An operation on a fact."""

    kind: ClassVar[ItemKind] = "semantic"
    task: ClassVar[str] = "The facts that these steps tell."
    required: ClassVar[tuple[str, ...]] = ("name", "summary")
    shown: ClassVar[tuple[str, ...]] = ("name", "summary", "details")

    name: str | None = Field(description="Whom or what the fact is about: a name, or a few words.")
    summary: str | None = Field(description="The fact in one sentence that can be read alone.")
    details: str | None = Field(description="What else belongs to it; null where nothing.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as people, family.")
    slot: str | None = Field(
        default=None,
        description="Where only one value can be true at a time: whose attribute, such as mark.employer; else null.",
    )
    valid_from: str | None = Field(description="Since when it is so, as 2025-03-01; null where it is not stated.")
    valid_to: str | None = Field(description="Until when it was so; null where it goes on.")


class ProceduralOperation(ItemOperation):
    """An operation on a procedure."""

    kind: ClassVar[ItemKind] = "procedural"
    task: ClassVar[str] = "The procedures that these steps tell."
    required: ClassVar[tuple[str, ...]] = ("summary", "steps")
    shown: ClassVar[tuple[str, ...]] = ("summary", "steps")

    entry_type: str | None = Field(description="workflow, recipe, routine, guide or instruction.")
    summary: str | None = Field(description="What it is for and when it is used, in one sentence.")
    steps: list[str] | None = Field(description="What is done, in order, each with its amounts, names and commands.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as work, releases.")


class ResourceOperation(ItemOperation):
    """An operation on a document, whose text a program copies out of the step."""

    kind: ClassVar[ItemKind] = "resource"
    task: ClassVar[str] = "The documents that these steps hold."
    required: ClassVar[tuple[str, ...]] = ("title",)
    shown: ClassVar[tuple[str, ...]] = ("title", "summary")

    title: str | None = Field(description="What one would look for to find it.")
    summary: str | None = Field(description="What is in it, in one or two sentences.")
    resource_type: str | None = Field(description="text, email, code, table, image, transcript or file.")
    first_words: str | None = Field(description="The first 4 to 8 words of the document in the step, copied exactly.")
    last_words: str | None = Field(description="Its last 4 to 8 words in the step, copied exactly.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as work, contracts.")

    def item_values(self, step: Step) -> dict[str, Any]:
        """The fields, and as content the text of the step from the first to the last words, or all of it where these are not in it."""
        values = super().item_values(step)
        first, last = values.pop("first_words", ""), values.pop("last_words", "")
        if self.operation in ("add", "supersede") or (first and last):
            text = step.content if step.content.strip() else step.index_text
            values["content"] = _between(text, first, last)
        return values


def _between(text: str, first: str, last: str) -> str:
    begin, end = find_quote(first, text) if first else None, None
    if begin is not None and last:
        ending = find_quote(last, text[begin[0] :])
        end = begin[0] + ending[1] if ending is not None else None
        if end is not None and text.startswith(last.strip()[-1], end):  # find_quote leaves out a full stop
            end += 1
    return text[begin[0] : end] if begin is not None and end is not None and end > begin[0] else text


class VaultOperation(ItemOperation):
    """An operation on a secret or contact."""

    kind: ClassVar[ItemKind] = "vault"
    task: ClassVar[str] = "The secrets and contacts that these steps still hold in clear."
    required: ClassVar[tuple[str, ...]] = ("entry_type", "caption")
    shown: ClassVar[tuple[str, ...]] = ("entry_type", "caption")

    entry_type: str | None = Field(description="password, key, code, card, id_number, phone, email, address or other.")
    caption: str | None = Field(description="What it opens or whose it is, without the secret itself.")
    sensitivity: Literal["low", "medium", "high"] | None = Field(
        description="high for what opens something, identity papers and accounts, medium for street addresses and "
        "policy and membership numbers, low for contacts."
    )
    secret: str | None = Field(
        description="The secret characters, or its {{vault:…}} reference, alone, copied exactly."
    )
    valid_from: str | None = Field(default=None, description="Since when it is the secret, as 2025-03-01; else null.")
    slot: str | None = Field(
        default=None,
        description="Where only one value can be current at a time: what it opens, such as garage.code; else null.",
    )

    def item_values(self, step: Step) -> dict[str, Any]:
        """The fields without the secret."""
        values = super().item_values(step)
        values.pop("secret", None)
        return values

    def problems(self, step: Step) -> list[str]:
        """A secret, or its reference, must be in its step, and a secret not in the caption."""
        secret = (self.secret or "").strip()
        if not secret:
            if self.operation in ("add", "supersede"):
                return ["it names no secret; copy the secret, or its {{vault:…}} reference"]
            return []
        if self.reference_in(step) is not None:
            return []
        if not _SHORTEST_SECRET <= len(secret) <= _LONGEST_SECRET or self.secret_in(step) is None:
            return [f"its secret does not stand in step {self.step}; copy it exactly, with nothing around it"]
        if any(secret.casefold() in (text or "").casefold() for text in (self.caption, self.entry_type)):
            return ["its caption holds the secret; say there what it is for"]
        return []

    def secret_in(self, step: Step) -> str | None:
        """The secret, if it is in the content of its step."""
        secret = (self.secret or "").strip()
        return secret if secret and secret in step.content and self.reference_in(step) is None else None

    def reference_in(self, step: Step) -> str | None:
        """The reference, if the content of its step has it."""
        named = named_ids(self.secret or "")
        found = (reference for reference in find_references(step.content) if reference.id in named)
        texts = [step.content[reference.start : reference.end] for reference in found]
        return texts[0] if texts and len(named) == 1 else None


@cache
def form_of(memory_type: MemoryType) -> type[ItemOperation]:
    """The schema of the operations on a memory type that does not ship: its own fields, each null where it does not change."""
    item = memory_type.item
    fields: dict[str, Any] = {
        name: (
            Optional[field.annotation],  # noqa: UP045 - the annotation is a value here
            Field(default=None, description=field.description or name.replace("_", " ")),
        )
        for name in memory_type.own_fields
        if name != "kind" and (field := item.model_fields[name])
    }
    form = create_model(f"{item.__name__}Operation", __base__=ItemOperation, **fields)
    form.kind, form.prompt = memory_type.name, memory_type.prompt
    form.task = f"What the {memory_type.name} memory is to keep of these steps."
    form.required = tuple(name for name in fields if item.model_fields[name].is_required())
    form.shown = item.searched_fields
    return form


_ALL = (CoreOperation, EpisodicOperation, SemanticOperation, ProceduralOperation, ResourceOperation, VaultOperation)
FORMS: Mapping[ItemKind, type[ItemOperation]] = MappingProxyType({form.kind: form for form in _ALL})
"""Kind → the schema of its manager's operations, for the types that ship."""
