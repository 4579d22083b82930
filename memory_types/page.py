"""The page: consecutive steps with the context a reader would lack (GAM, arXiv 2511.18423, section 3.1)."""

from __future__ import annotations

from pydantic import Field

from .base import FilledText, Record, UtcTime, new_id, utc_now

__all__ = ["Page"]


class Page(Record):
    """A lossless view on consecutive steps of one thread.

    ``header`` says what came before, ``memo`` what the page adds; both are indexed beside the steps' text.
    ``step_ids`` are in order; joined over all pages of a thread they give back its steps.
    """

    id: str = Field(default_factory=lambda: new_id("page"))
    user: FilledText
    thread_id: FilledText
    step_ids: tuple[str, ...] = Field(min_length=1)
    header: str = ""
    memo: str = ""
    scope: str | None = None
    started_at: UtcTime
    ended_at: UtcTime
    created_at: UtcTime = Field(default_factory=utc_now)
    closed: bool = False
