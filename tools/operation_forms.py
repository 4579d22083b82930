"""The schemas of the inputs and outputs of memory operations."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "FindToForgetInput",
    "FindToForgetOutput",
    "ForgetInput",
    "ForgetOutput",
    "FoundRecord",
    "ListInput",
    "ListOutput",
    "Quote",
    "ReadInput",
    "ReadOutput",
    "RememberInput",
    "ResearchToolInput",
    "ResearchToolOutput",
    "SearchInput",
    "SearchOutput",
    "SecretInput",
    "SecretOutput",
    "SecretRef",
    "SeenRecord",
    "StoredOutput",
    "UndoInput",
    "UndoOutput",
    "UpdateCoreInput",
]

Kind = Literal["core", "episodic", "semantic", "procedural", "resource", "vault"]


class _Input(BaseModel):
    """Ignores further fields, since tool nodes add values of the run to the arguments of a model."""

    model_config = ConfigDict(extra="ignore")


class _Values(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FoundRecord(_Values):
    """A step or item that was found."""

    id: str
    kind: str
    text: str
    when: str | None = None
    speaker: str | None = None
    in_memory_block: bool | None = Field(
        default=None,
        description="True where the memory block shows it whole; here it is cut, without its time and speaker.",
    )
    no_longer_believed: bool | None = Field(default=None, description="True where something newer took its place.")


class SeenRecord(_Values):
    """A step that was found and stands in the conversation already: its id, how it begins, and when it was said."""

    id: str
    begins: str
    when: str | None = None


class SearchInput(_Input):
    query: str = Field(min_length=1, description="What is looked for, in any words or language.")
    k: int = Field(default=8, ge=1, le=50, description="How many results.")
    kinds: list[Literal["step", "core", "episodic", "semantic", "procedural", "resource", "vault"]] = Field(
        default_factory=list, description="Only these kinds; all when empty. 'step' is what was said, word for word."
    )
    since: str | None = Field(default=None, description="Not before this ISO date or time.")
    until: str | None = Field(default=None, description="Not after this ISO date or time.")


class SearchOutput(_Values):
    results: list[FoundRecord]
    in_this_conversation: list[SeenRecord] | None = Field(
        default=None, description="Steps that were found too, and stand in the conversation word for word."
    )


class ResearchToolInput(_Input):
    question: str = Field(min_length=1, description="A question that needs several facts put together.")
    max_rounds: int = Field(default=3, ge=1, le=5, description="Rounds of searching at most.")


class Quote(_Values):
    quote: str
    when: str | None = None
    speaker: str | None = None
    step_ids: list[str]


class ResearchToolOutput(_Values):
    answer: str
    reason: str | None = Field(default=None, description="What the answer rests on, or what it lacks.")
    answerable: bool
    evidence: list[Quote]


class RememberInput(_Input):
    kind: Literal["semantic", "episodic", "procedural", "resource"] = Field(
        default="semantic",
        description="semantic: a lasting fact; episodic: an event; procedural: how something is done; resource: a text.",
    )
    title: str = Field(min_length=1, description="What it is about, in a few words.")
    text: str = Field(min_length=1, description="What is to be remembered; for procedural one step a line.")
    when: str | None = Field(default=None, description="For an event: its ISO date or time.")


class StoredOutput(_Values):
    id: str = Field(description="Of the item.")
    stored: Literal["new", "changed", "known already"]


class UpdateCoreInput(_Input):
    label: str = Field(min_length=1, description="Of a block that you see, or a new one, such as 'persona'.")
    value: str = Field(description="The whole new text of the block.")


class FindToForgetInput(_Input):
    query: str = Field(min_length=1, max_length=2_000, description="What is to be forgotten, in any words.")
    k: int = Field(default=20, ge=1, le=50, description="How many records at most.")
    since: str | None = Field(default=None, description="Not before this ISO date or time.")
    until: str | None = Field(default=None, description="Not after this ISO date or time.")


class FindToForgetOutput(_Values):
    records: list[FoundRecord] = Field(description="Candidates, best first. None of them is forgotten yet.")


class ForgetInput(_Input):
    ids: list[str] = Field(min_length=1, max_length=50, description="Ids from find_to_forget, a search or a list.")
    reason: str = Field(default="", description="Why, for the history.")


class ForgetOutput(_Values):
    forgotten: list[str] = Field(
        description="Ids of what was forgotten, with the items that were learned from it alone."
    )
    undo_with: list[str] = Field(description="The operation that a person can undo.")


class ListInput(_Input):
    kind: Kind | None = Field(default=None, description="Only this kind.")
    limit: int = Field(default=20, ge=1, le=100)
    offset: int = Field(default=0, ge=0)


class ListOutput(_Values):
    items: list[FoundRecord]
    total: int


class ReadInput(_Input):
    id: str = Field(min_length=1, description="Of an item or step.")
    offset: int = Field(default=0, ge=0, description="Characters to skip.")
    length: int = Field(default=4_000, ge=1, le=20_000, description="Characters to read.")


class ReadOutput(_Values):
    id: str
    kind: str
    title: str
    text: str
    total_chars: int
    next_offset: int | None = None


class SecretInput(_Input):
    what: str = Field(min_length=1, description="What the secret is for, such as 'password of the mail account'.")


class SecretRef(_Values):
    reference: str = Field(
        description="Write exactly this into the argument of a tool; it gets the value in its place."
    )
    caption: str
    sensitivity: str


class SecretOutput(_Values):
    secrets: list[SecretRef]


class UndoInput(_Input):
    operation_id: str = Field(min_length=1)
    cascade: bool = Field(default=False, description="First undo later operations that build on it.")


class UndoOutput(_Values):
    undone: list[str]
