"""The schemas of replies that label steps or a question, and the parts of an invalid reply that can be salvaged."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hexamem.models.schemas import ModelReply

__all__ = [
    "BatchLabels",
    "PageNote",
    "PageNotes",
    "QueryLabels",
    "ScopeGist",
    "StepLabels",
    "salvaged",
    "salvaged_labels",
]

MOST_EVENTS, MOST_ENTITIES = 3, 5
_MOST_ENTRIES = 500  # of a list that are read
M = TypeVar("M", bound=BaseModel)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class StepLabels(_Entry):
    """The labels of one numbered step."""

    step: int = Field(description="The number of the step.")
    scope: str = Field(description="The handle of a scope that is listed, or the short name of a new one.")
    parent: str | None = Field(description="Of a new scope: the handle or name of the wider one. Else null.")
    events: list[str] = Field(description="One to three event types, the main one first.")
    entities: list[str] = Field(description="Up to five entity types.")
    resolved: str | None = Field(description="The whole text with references put into words, where it differs.")
    summary: str = Field(description="One line: who does what about what, with names and values.")


class ScopeGist(_Entry):
    """What a scope is about by now."""

    scope: str = Field(description="The handle or new name, as in the steps.")
    gist: str = Field(description="At most 50 words.")


class PageNote(_Entry):
    """What is said of one page."""

    page: str = Field(description="The handle of the page.")
    header: str | None = Field(description="What a reader of this page alone would lack; null to leave it.")
    memo: str | None = Field(description="What the page adds; null where it adds nothing.")


PageNotes: TypeAlias = Annotated[list[PageNote], BeforeValidator(lambda notes: [] if notes is None else notes)]
"""A missing list of pages is not a problem for a repair turn."""


class BatchLabels(ModelReply):
    """The labels of a batch of steps, and the header and memo of each of its pages."""

    steps: list[StepLabels]
    gists: list[ScopeGist]
    pages: PageNotes = Field(default=[])


class QueryLabels(ModelReply):
    """The labels that a question asks for; a list stays empty where the question does not say."""

    scopes: list[str] = Field(description="Handles of the scopes that the question is about.")
    events: list[str] = Field(description="Event types that it asks about, from the list.")
    entities: list[str] = Field(description="Entity types that it asks about, from the list.")


def salvaged(data: object, form: type[M], **missing: object) -> list[M]:
    """The entries of a list in a reply that validate, one by one.

    Args:
        missing: defaults for fields that are missing or null.
    """
    entries = []
    for entry in data[:_MOST_ENTRIES] if isinstance(data, list) else ():
        if isinstance(entry, Mapping):
            fields = {name: value for name, value in entry.items() if value is not None}
            with suppress(ValidationError):
                entries.append(form.model_validate({**missing, **fields}))
    return entries


def salvaged_labels(data: object) -> BatchLabels:
    """The steps, gists and pages of a reply that validate."""
    lists = data if isinstance(data, Mapping) else {}
    empty: dict[str, object] = {
        "scope": "",
        "parent": None,
        "events": [],
        "entities": [],
        "resolved": None,
        "summary": "",
    }
    return BatchLabels(
        steps=salvaged(lists.get("steps"), StepLabels, **empty),
        gists=salvaged(lists.get("gists"), ScopeGist),
        pages=salvaged(lists.get("pages"), PageNote, header=None, memo=None),
    )
