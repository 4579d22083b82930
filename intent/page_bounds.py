"""Where pages end: at a new session, at a lasting turn to another goal, and at their size (GAM, section 3.1).

Each decision rests on the steps of the page so far and the one that follows, never on what comes later. So a thread is
cut the same whether its steps come one by one or all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

__all__ = ["BoundStep", "PageCut", "PageLimits", "cut_pages", "estimated_tokens"]

_LEAST_BEFORE_A_QUESTION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """How large pages become.

    Attributes:
        steps: at most.
        tokens: at most, as estimated; a longer step is a page of its own.
        gap: a longer pause between two steps of a thread begins a new session, and so does a step from before.
        scope_steps: a turn to another root scope ends a page once it has lasted for so many steps, if as many lie
            before it; shorter ones are asides and stay where they are.
    """

    steps: int = 24
    tokens: int = 1_200
    gap: timedelta = timedelta(hours=6)
    scope_steps: int = 4


class BoundStep(NamedTuple):
    """What cutting looks at in a step.

    Attributes:
        root: id of its widest scope, None where it has none.
        marker: what the host says of its session, None where it says nothing.
        asks: whether it ends in a question, which is better kept with its answer.
    """

    tokens: int
    occurred_at: datetime
    root: str | None = None
    marker: str | None = None
    asks: bool = False


class PageCut(NamedTuple):
    """Steps ``start`` to ``end`` (exclusive) of those given; all but the last cut are closed."""

    start: int
    end: int
    session: int
    closed: bool


def cut_pages(steps: Sequence[BoundStep], limits: PageLimits, session: int = 1) -> list[PageCut]:
    """The pages of consecutive steps of a thread, the first of which begins a page.

    Args:
        session: the number of the sitting that the first step is in.
    """
    cuts: list[PageCut] = []
    start = tokens = run = 0
    for at, step in enumerate(steps):
        if at:
            if begins_session(steps[at - 1], step, limits.gap):
                cuts.append(PageCut(start, at, session, True))
                session += 1
                start, tokens, run = at, 0, 0
            elif at - start >= limits.steps or (at > start and tokens + step.tokens > limits.tokens):
                last = steps[at - 1]
                fits = last.asks and last.tokens + step.tokens <= limits.tokens
                end = at - 1 if fits and at - start > _LEAST_BEFORE_A_QUESTION else at
                cuts.append(PageCut(start, end, session, True))
                start, run = end, min(run, at - end)
                tokens = sum(one.tokens for one in steps[end:at])
        tokens += step.tokens
        if step.root is None:
            run = 0
            continue
        run = run + 1 if at > start and run and steps[at - 1].root == step.root else 1
        turned = at - run + 1
        if (
            run == limits.scope_steps
            and turned - start >= limits.scope_steps
            and _root_of(steps[start:turned]) not in (None, step.root)
        ):
            cuts.append(PageCut(start, turned, session, True))
            start, tokens = turned, sum(one.tokens for one in steps[turned : at + 1])
    if start < len(steps):
        cuts.append(PageCut(start, len(steps), session, False))
    return cuts


def begins_session(before: BoundStep, step: BoundStep, gap: timedelta) -> bool:
    """Whether a step opens a new sitting: by the host's word where it gives one, else by the pause."""
    if before.marker is not None and step.marker is not None:
        return before.marker != step.marker
    return abs(step.occurred_at - before.occurred_at) > gap or before.marker != step.marker


def _root_of(steps: Sequence[BoundStep]) -> str | None:
    counted = Counter(step.root for step in steps if step.root is not None)
    return counted.most_common(1)[0][0] if counted else None


def estimated_tokens(text: str) -> int:
    """About how many tokens a text costs, without a tokenizer."""
    return len(text) // 4 + 1 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) // 3 + 1
