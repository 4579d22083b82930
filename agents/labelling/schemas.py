"""What the model is asked to reply when it labels steps or reads a question, and what can be saved of a bad reply."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from ...models.schemas import ModelReply

__all__ = ["BatchLabels", "QueryLabels", "ScopeGist", "StepLabels", "salvaged_labels"]

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


class BatchLabels(ModelReply):
    """The labels of a batch of steps."""

    steps: list[StepLabels]
    gists: list[ScopeGist]


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
    return BatchLabels(steps=steps, gists=gists) if steps else None


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
