"""Where pages end: at a new session, and at their size (GAM, section 3.1).

Each decision rests on the steps of the page so far and the one that follows, never on what comes later. So a thread is
cut the same whether its steps come one by one or all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

__all__ = ["BoundStep", "PageCut", "PageLimits", "cut_pages", "estimated_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """How large pages become.

    Attributes:
        steps: at most.
        tokens: at most, as estimated; a longer step is a page of its own.
        gap: a longer pause between two steps of a thread begins a new session, and so does a step from before.
    """

    steps: int = 24
    tokens: int = 1_200
    gap: timedelta = timedelta(hours=6)


class BoundStep(NamedTuple):
    """A step, as pages are cut.

    Attributes:
        marker: the name of its session by the host; None where there is none.
    """

    tokens: int
    occurred_at: datetime
    marker: str | None = None


class PageCut(NamedTuple):
    """Steps ``start`` to ``end`` (exclusive) of those given; all but the last cut are closed."""

    start: int
    end: int
    session: int
    closed: bool


def cut_pages(steps: Sequence[BoundStep], limits: PageLimits, session: int = 1) -> list[PageCut]:
    """The pages of consecutive steps of a thread, the first of which begins a page.

    Args:
        session: the number of the session of the first step.
    """
    cuts: list[PageCut] = []
    start = tokens = 0
    for at, step in enumerate(steps):
        new_session = at > 0 and begins_session(steps[at - 1], step, limits.gap)
        full = at - start >= limits.steps or tokens + step.tokens > limits.tokens
        if at > start and (new_session or full):
            cuts.append(PageCut(start, at, session, True))
            start, tokens = at, 0
        session += new_session
        tokens += step.tokens
    if steps:
        cuts.append(PageCut(start, len(steps), session, False))
    return cuts


def begins_session(before: BoundStep, step: BoundStep, gap: timedelta) -> bool:
    """Whether a step begins a new session: by the markers of the host where there are any, otherwise by the pause."""
    if before.marker is not None and step.marker is not None:
        return before.marker != step.marker
    return abs(step.occurred_at - before.occurred_at) > gap or before.marker != step.marker


def estimated_tokens(text: str) -> int:
    """About how many tokens a text costs, without a tokenizer."""
    return len(text) // 4 + 1 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) // 3 + 1
