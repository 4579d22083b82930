"""What each of the six managers states of its items (MIRIX, arXiv 2507.07957, section 3.1): the form of its operations."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from pydantic import Field, create_model

from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.contract import HeardStep
from hexamem.agents.managers.shared import ItemOperation, ManagerForm
from hexamem.memory_types import ItemKind
from hexamem.models.schemas import ModelReply

__all__ = [
    "FORMS",
    "CoreOperation",
    "EpisodicOperation",
    "ProceduralOperation",
    "ResourceOperation",
    "SemanticOperation",
    "VaultOperation",
]

_SHORTEST_SECRET, _LONGEST_SECRET = 3, 4_000
_REFERENCE = "{{vault:"


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


class EpisodicOperation(ItemOperation):
    """An operation on an event."""

    kind: ClassVar[ItemKind] = "episodic"
    required: ClassVar[tuple[str, ...]] = ("occurred_at", "summary")

    occurred_at: str | None = Field(description="Its date, as 2025-03-01 or 2025-03-01T15:30, in the user's time.")
    actor: str | None = Field(description="Who did it: user, assistant, or a name.")
    event_type: str | None = Field(description="One or two words, such as appointment, trip, purchase.")
    summary: str | None = Field(description="One sentence: who, what, where, with the date as 2025-03-01.")
    details: str | None = Field(description="What else was said of it that matters later; null where nothing.")


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


class ProceduralOperation(ItemOperation):
    """An operation on a procedure."""

    kind: ClassVar[ItemKind] = "procedural"
    required: ClassVar[tuple[str, ...]] = ("summary", "steps")

    entry_type: str | None = Field(description="workflow, recipe, routine, guide or instruction.")
    summary: str | None = Field(description="What it is for and when it is used, in one sentence.")
    steps: list[str] | None = Field(description="What is done, in order, each with its amounts, names and commands.")
    tree_path: list[str] | None = Field(description="Where it belongs, wide to narrow, such as work, releases.")


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
            text = heard.step.content if heard.step.content.strip() else heard.step.index_text
            values["content"] = _between(text, first, last)
        return values


def _between(text: str, first: str, last: str) -> str:
    begin, end = find_quote(first, text) if first else None, None
    if begin is not None and last:
        found = find_quote(last, text[begin[0] :])
        end = begin[0] + found[1] if found is not None else None
        if end is not None and text.startswith(last.strip()[-1], end):  # a full stop is no part of a quote
            end += 1
    return text[begin[0] : end] if begin is not None and end is not None and end > begin[0] else text


class VaultOperation(ItemOperation):
    """An operation on a secret or contact."""

    kind: ClassVar[ItemKind] = "vault"
    required: ClassVar[tuple[str, ...]] = ("entry_type", "caption")

    entry_type: str | None = Field(description="password, key, code, card, id_number, phone, email, address or other.")
    caption: str | None = Field(description="What it opens or whose it is, without the secret itself.")
    sensitivity: Literal["low", "medium", "high"] | None = Field(
        description="high for what opens something, identity papers and accounts, medium for street addresses and "
        "policy and membership numbers, low for contacts."
    )
    secret: str | None = Field(description="The secret characters alone, copied exactly; null for a reference.")

    def item_values(self, heard: HeardStep) -> dict[str, Any]:
        """The fields without the secret."""
        values = super().item_values(heard)
        values.pop("secret", None)
        return values

    def problems(self, heard: HeardStep) -> list[str]:
        """A secret must stand in its step, and nowhere in the caption."""
        secret = (self.secret or "").strip()
        if not secret:
            if self.operation in ("add", "supersede"):
                return ["it names no secret; what is a {{vault:…}} reference is kept already, so leave it out"]
            return []
        if not _SHORTEST_SECRET <= len(secret) <= _LONGEST_SECRET or self.secret_in(heard) is None:
            return [f"its secret does not stand in step {self.step}; copy it exactly, with nothing around it"]
        if any(secret.casefold() in (text or "").casefold() for text in (self.caption, self.entry_type)):
            return ["its caption holds the secret; say there what it is for"]
        return []

    def is_moot(self) -> bool:
        """What is named by its reference lies in the vault already."""
        return _REFERENCE in (self.secret or "")

    def secret_in(self, heard: HeardStep) -> str | None:
        """The secret, where it stands in the content of its step."""
        secret = (self.secret or "").strip()
        return secret if secret and secret in heard.step.content else None


def _form(operation: type[ItemOperation], holds: str, *fields: str) -> ManagerForm:
    reply = create_model(
        f"{operation.kind.capitalize()}Reply",
        __base__=ModelReply,
        __doc__=holds,
        operations=(list[operation], ...),  # type: ignore[valid-type]
    )
    return ManagerForm(operation=operation, reply=reply, fields=fields)


_ALL = (
    _form(CoreOperation, "What the core memory is to keep of these steps.", "label", "value"),
    _form(EpisodicOperation, "The events that these steps tell of.", "occurred_at", "summary", "details"),
    _form(SemanticOperation, "The facts that these steps tell.", "name", "summary", "details"),
    _form(ProceduralOperation, "The procedures that these steps tell.", "summary", "steps"),
    _form(ResourceOperation, "The documents that these steps hold.", "title", "summary"),
    _form(VaultOperation, "The secrets and contacts that these steps still hold in clear.", "entry_type", "caption"),
)
FORMS: Mapping[ItemKind, ManagerForm] = MappingProxyType({form.kind: form for form in _ALL})
"""The forms of the six managers by kind."""
