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
    "Replacement",
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


class Replacement(_Entry):
    """Words of a step that refer to something, and what they refer to."""

    words: str
    meaning: str


class StepLabels(_Entry):
    """The labels of one numbered step; a null scope is that of the step before."""

    step: int
    scope: str | None
    events: list[str]
    entities: list[str]
    means: list[Replacement]


class ScopeGist(_Entry):
    """What a scope is about by now."""

    scope: str
    gist: str


class PageNote(_Entry):
    """The header and memo of one page; null leaves them."""

    page: str
    header: str | None
    memo: str | None


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


def _readable(entry: object) -> object:
    """The entry of a step with those of its replacements that can be read."""
    if not isinstance(entry, Mapping):
        return entry
    return {**entry, "means": salvaged(entry.get("means"), Replacement)}


def salvaged_labels(data: object) -> BatchLabels:
    """The steps, gists and pages of a reply that validate."""
    lists = data if isinstance(data, Mapping) else {}
    steps = lists.get("steps")
    if isinstance(steps, list):
        steps = [_readable(entry) for entry in steps[:_MOST_ENTRIES]]
    return BatchLabels(
        steps=salvaged(steps, StepLabels, scope=None, events=[], entities=[], means=[]),
        gists=salvaged(lists.get("gists"), ScopeGist),
        pages=salvaged(lists.get("pages"), PageNote, header=None, memo=None),
    )
