"""Packing hits into a text for a prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from ..memory_types import Hit
from ..models.tokens import count_each

__all__ = ["hit_lines", "in_order", "pack"]


def pack(hits: Sequence[Hit], token_budget: int | None) -> tuple[str, int]:
    """The hits as lines with local time and speaker, in order of time, and the count of their tokens.

    The best hits get the room first; a hit that does not fit whole is left out and smaller ones after it may still
    go in. Order of time is for reading only: the choice is by score.
    """
    lines, costs = hit_lines(hits)
    chosen: list[int] = []
    used = 0
    for index, cost in enumerate(costs):
        if token_budget is None or used + cost <= token_budget:
            chosen.append(index)
            used += cost
    return "\n".join([lines[index] for index in in_order(hits, chosen)]), used


def hit_lines(hits: Sequence[Hit]) -> tuple[list[str], list[int]]:
    """Each hit as a line, and what it costs in tokens, with one for the end of the line."""
    lines = [_line(hit) for hit in hits]
    return lines, [count + 1 for count in count_each(lines)]


def in_order(hits: Sequence[Hit], chosen: Sequence[int]) -> list[int]:
    """The places of chosen hits in order of time, undated ones first."""
    return sorted(chosen, key=lambda index: (hits[index].occurred_at is not None, hits[index].occurred_at, index))


def _line(hit: Hit) -> str:
    when = f"[{hit.occurred_at:%Y-%m-%d %H:%M}] " if hit.occurred_at else ""
    who = f"{hit.speaker}: " if hit.speaker else f"({hit.kind}) "
    note = " (no longer believed)" if hit.superseded else ""
    return f"{when}{who}{hit.text}{note}"
