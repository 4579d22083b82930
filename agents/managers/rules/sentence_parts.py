"""A sentence of a step and its clauses, as the rules read them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MASK", "Clause", "Sentence"]

MASK = "\ue000"
"""Stands in a text for each character that no rule may read: of a quote, of code, of what is denied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Part of a sentence: characters ``start`` to ``end`` of the step's text.

    Attributes:
        text: as rules read it, masked and simplified. raw: as it was said.
        holds: whether it tells something as a fact: neither asked nor supposed nor doubted.
        sentence: number of its sentence.
    """

    start: int
    end: int
    text: str
    raw: str
    holds: bool
    sentence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence and its clauses; ``asked`` and ``supposed`` say what it is instead of a report.

    Attributes:
        of_others: which characters of it are what others say or think of the user.
    """

    start: int
    end: int
    text: str
    raw: str
    asked: bool
    supposed: bool
    clauses: tuple[Clause, ...]
    of_others: tuple[tuple[int, int], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it reports something."""
        return not self.asked and not self.supposed
