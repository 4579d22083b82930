"""The schema of replies that label steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hexamem.models.schemas import ModelReply

__all__ = [
    "BatchLabels",
    "PageNote",
    "PageNotes",
    "ScopeGist",
    "StepLabels",
]

MOST_EVENTS, MOST_ENTITIES = 3, 5
_LONGEST_LINE, _LONGEST_NUMBER = 2_000, 4


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True, slots=True)
class StepLabels:
    """The labels of one numbered step.

    Attributes:
        scope: a handle, a new name, or a path; None for the scope of the step before.
        events: event types, the main one first.
        means: words of the step and what they mean.
    """

    step: int
    scope: str | None
    events: tuple[str, ...]
    means: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, line: str) -> Self | None:
        """Read a line ``number | scope | acts | words = meaning; …``; the last two parts may be missing.

        As an object with named fields, the labels of a step take four times as many tokens.
        """
        number, *parts = (part.strip() for part in line[:_LONGEST_LINE].split("|"))
        if not (number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER):
            return None
        scope, acts, meanings = (*parts, "", "", "")[:3]
        pairs = (pair.partition("=") for pair in meanings.split(";"))
        return cls(
            step=int(number),
            scope=scope or None,
            events=tuple(act.strip() for act in acts.split(",") if act.strip()),
            means=tuple((words.strip(), meaning.strip()) for words, equals, meaning in pairs if equals),
        )


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

    steps: list[str]
    gists: list[ScopeGist]
    pages: PageNotes = Field(default=[])
