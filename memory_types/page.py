"""The page: consecutive steps, with a header for context and a memo (GAM, arXiv 2511.18423, section 3.1)."""

from __future__ import annotations

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record, UtcTime, new_id, utc_now
from hexamem.memory_types.labels import Tier
from hexamem.memory_types.step import Step

__all__ = ["LightMemory", "Memo", "Page", "PageWithSteps"]


class Page(Record):
    """A lossless view on consecutive steps of one thread.

    The pages of a thread together contain all its steps. The steps of a closed page never change; an open one, the last of
    its thread, grows.

    Attributes:
        header: the context that a reader of the page alone needs; indexed with the text of the steps.
        memo: a summary of the page; indexed likewise.
        scope: the thematic scope of most of its steps, as a path such as ``Trip / Day 2``.
        session: the number of the session in its thread, from 1.
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
    """A page with its steps, in order, and its text."""

    steps: tuple[Step, ...] = ()
    text: str = ""


class Memo(Record):
    """One entry of the light memory: the memo of a page, or a memo of the memos of several.

    Attributes:
        handle: short name in the text, ``M1``, ``M2``, … in order of time.
        level: 0 for the memo of one page, otherwise how often memos were folded.
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

    ``text`` has one line for each memo, the oldest first; ``tokens`` are its tokens. Each closed page is covered by exactly
    one memo.
    """

    memos: tuple[Memo, ...] = ()
    text: str = ""
    tokens: int = 0
    pages: int = Field(default=0, description="the number of closed pages")

    def pages_of(self, handle: str) -> tuple[str, ...]:
        """The ids of the pages of a memo by its handle; empty for an unknown one."""
        return next((memo.page_ids for memo in self.memos if memo.handle == handle), ())
