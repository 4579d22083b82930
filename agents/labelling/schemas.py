"""What the model is asked to reply when it labels steps or reads a question, and what can be saved of a bad reply."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hexamem.models.schemas import ModelReply

__all__ = [
    "BatchLabels",
    "PageNote",
    "QueryLabels",
    "ScopeGist",
    "StepLabels",
    "WithPages",
    "salvaged_labels",
    "salvaged_notes",
]

MOST_EVENTS, MOST_ENTITIES = 3, 5


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


def salvaged_labels(data: object) -> BatchLabels | None:
    """The steps and gists of a reply that can be read, one by one; None where there is none."""
    if not isinstance(data, Mapping):
        return None
    steps = [one for given in _listed(data.get("steps")) if (one := _step(given)) is not None]
    gists = [
        ScopeGist(scope=one["scope"], gist=one["gist"])
        for one in _listed(data.get("gists"))
        if isinstance(one, Mapping) and isinstance(one.get("scope"), str) and isinstance(one.get("gist"), str)
    ]
    return BatchLabels(steps=steps, gists=gists, pages=salvaged_notes(data.get("pages"))) if steps else None


def salvaged_notes(value: object) -> list[PageNote]:
    """The notes of a reply that can be read, one by one."""
    found = []
    for given in _listed(value):
        if isinstance(given, Mapping) and isinstance(given.get("page"), str):
            header, memo = (given[name] if isinstance(given.get(name), str) else None for name in ("header", "memo"))
            found.append(PageNote(page=given["page"], header=header, memo=memo))
    return found


def _step(given: object) -> StepLabels | None:
    if not isinstance(given, Mapping):
        return None
    number = given.get("step")
    if isinstance(number, str) and number.strip().isdecimal() and len(number) < 6:
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool):
        return None

    def text(name: str) -> str:
        value = given.get(name)
        return value if isinstance(value, str) else ""

    return StepLabels(
        step=number,
        scope=text("scope"),
        parent=text("parent") or None,
        events=[one for one in _listed(given.get("events")) if isinstance(one, str)],
        entities=[one for one in _listed(given.get("entities")) if isinstance(one, str)],
        resolved=text("resolved") or None,
        summary=text("summary"),
    )


def _listed(value: object) -> list[object]:
    return value[:500] if isinstance(value, list) else []
