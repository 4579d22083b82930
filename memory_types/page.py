"""The page: consecutive steps with the context a reader would lack (GAM, arXiv 2511.18423, section 3.1)."""

from __future__ import annotations

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.step import Step

__all__ = ["LightMemory", "Memo", "Page", "PageWithSteps"]


class Page(Record):
    """A lossless view on consecutive steps of one thread.

    ``header`` says what a reader of this page alone would lack, ``memo`` what the page adds; both are indexed beside
    the steps' text. ``step_ids`` are in order; joined over all pages of a thread they give back its steps. The steps of
    a closed page never change; an open one, the last of its thread, grows.

    Attributes:
        scope: the thematic scope of most of its steps, as a path such as ``Trip / Day 2``.
        session: counts the sittings of its thread from 1.
        tokens: an estimate of what its text costs.
        tier: who wrote header and memo.
    """

    id: str = Field(default_factory=lambda: new_id("page"))
    user: FilledText
    thread_id: FilledText
    step_ids: tuple[str, ...] = Field(min_length=1)
    header: str = ""
    memo: str = ""
    scope: str | None = None
    session: int = Field(default=1, ge=1)
    tokens: int = Field(default=0, ge=0)
    tier: Tier = "embedded"
    started_at: UtcTime
    ended_at: UtcTime
    created_at: UtcTime = Field(default_factory=utc_now)
    closed: bool = False


class PageWithSteps(Page):
    """A page to be read: with its steps in order, and as one text."""

    steps: tuple[Step, ...] = ()
    text: str = ""


class Memo(Record):
    """One entry of the light memory: the memo of a page, or a memo of the memos of several.

    Attributes:
        handle: short name in the text, ``M1``, ``M2``, … in order of time.
        level: 0 for the memo of one page, else how often memos were folded.
        page_ids: the pages that it stands for, in order.
    """

    handle: str
    level: int = 0
    text: str
    page_ids: tuple[str, ...]
    thread_id: str | None = None
    scope: str | None = None
    started_at: UtcTime
    ended_at: UtcTime
    tier: Tier = "embedded"


class LightMemory(Record):
    """The memos of all closed pages within a token budget (GAM's memory, which the planner reads).

    ``text`` has one line a memo, oldest first; ``tokens`` counts it. Every closed page stands behind exactly one memo.
    """

    memos: tuple[Memo, ...] = ()
    text: str = ""
    tokens: int = 0
    pages: int = Field(default=0, description="how many closed pages there are")

    def pages_of(self, handle: str) -> tuple[str, ...]:
        """The ids of the pages behind a memo's handle; none for one that there is not."""
        return next((memo.page_ids for memo in self.memos if memo.handle == handle), ())
