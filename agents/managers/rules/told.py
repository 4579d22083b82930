"""A fact about somebody or something other than the user, as the rules read it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A fact about somebody or something: ``name`` is what it is about, characters ``start`` to ``end`` say it."""

    name: str
    summary: str
    start: int
    end: int
    confidence: float = 0.75
