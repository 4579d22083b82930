"""What the model is asked to reply when it labels steps or reads a question, and what can be saved of a bad reply."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hexamem.models.schemas import ModelReply

__all__ = [
    "BatchLabels",
    "PageNote",
    "QueryLabels",
    "ScopeGist",
    "StepLabels",
    "WithPages",
    "salvaged",
    "salvaged_labels",
    "salvaged_notes",
]

MOST_EVENTS, MOST_ENTITIES = 3, 5
_MOST_READ = 500  # entries of a list
M = TypeVar("M", bound=BaseModel)


class StepLabels(BaseModel):
    """The labels of one numbered step."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    step: int = Field(description="The number of the step.")
    scope: str = Field(description="The handle of a scope that is listed, or the short name of a new one.")
    parent: str | None = Field(description="Of a new scope: the handle or name of the wider one. Else null.")
    events: list[str] = Field(description="One to three event types, the main one first.")
    entities: list[str] = Field(description="Up to five entity types.")
    resolved: str | None = Field(description="The whole text with references put into words, where it differs.")
    summary: str = Field(description="One line: who does what about what, with names and values.")


class ScopeGist(BaseModel):
    """What a scope is about by now."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    scope: str = Field(description="The handle or new name, as in the steps.")
    gist: str = Field(description="At most 50 words.")


class PageNote(BaseModel):
    """What is said of one page."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    page: str = Field(description="The handle of the page.")
    header: str | None = Field(description="What a reader of this page alone would lack; null to leave it.")
    memo: str | None = Field(description="What the page adds; null where it adds nothing.")


class WithPages(ModelReply):
    """A reply that speaks of pages too; one that forgets them is not asked again for it."""

    @model_validator(mode="before")
    @classmethod
    def _may_lack_pages(cls, data: object) -> object:
        return {**data, "pages": []} if isinstance(data, Mapping) and data.get("pages") is None else data


class BatchLabels(WithPages):
    """The labels of a batch of steps, and the header and memo of each of its pages."""

    steps: list[StepLabels]
    gists: list[ScopeGist]
    pages: list[PageNote]


class QueryLabels(ModelReply):
    """The labels that a question asks for; a list stays empty where the question does not say."""

    scopes: list[str] = Field(description="Handles of the scopes that the question is about.")
    events: list[str] = Field(description="Event types that it asks about, from the list.")
    entities: list[str] = Field(description="Entity types that it asks about, from the list.")


def salvaged(data: object, form: type[M], **missing: object) -> list[M]:
    """The entries of a list in a reply that can be read, one by one.

    Args:
        missing: what stands for a field that is left out or null.
    """
    found = []
    for one in data[:_MOST_READ] if isinstance(data, list) else ():
        if isinstance(one, Mapping):
            given = {name: value for name, value in one.items() if value is not None}
            with suppress(ValidationError):
                found.append(form.model_validate({**missing, **given}))
    return found


def salvaged_labels(data: object) -> BatchLabels | None:
    """The steps, gists and pages of a reply that can be read; None where there is no step."""
    if not isinstance(data, Mapping):
        return None
    blank: dict[str, object] = {
        "scope": "",
        "parent": None,
        "events": [],
        "entities": [],
        "resolved": None,
        "summary": "",
    }
    steps = salvaged(data.get("steps"), StepLabels, **blank)
    gists = salvaged(data.get("gists"), ScopeGist)
    return BatchLabels(steps=steps, gists=gists, pages=salvaged_notes(data.get("pages"))) if steps else None


def salvaged_notes(data: object) -> list[PageNote]:
    """The notes of a reply that can be read."""
    return salvaged(data, PageNote, header=None, memo=None)
