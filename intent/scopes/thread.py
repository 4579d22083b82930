"""What is known of a thread while its steps come in: where it stands, what was said just now, what is in doubt."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from ..contract import Vectors
from .numbers import Goal
from .registry import Scope
from .return_forms import AMOUNT, ASKS, CLOCK, CONFIRMS

__all__ = ["Pending", "Standing", "Thread", "cohesion", "read_standing"]

_LOCAL = 6  # steps of a thread that a block is held against
_RECAP = 4  # times of day that a plan that is read out tells


@dataclass(slots=True)
class Pending:
    step_id: str
    terms: dict[str, float]
    vector: Vectors | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the last step of a thread leaves open: it asked, offered things to choose from, confirmed one, or read out
    what is planned; a person's or not."""

    asked: bool = False
    offered: bool = False
    confirmed: bool = False
    person: bool = False
    recap: bool = False


@dataclass(slots=True)
class Thread:
    current: Scope | None = None
    history: deque[Scope] = field(default_factory=deque)
    local: deque[tuple[frozenset[str], Vectors | None]] = field(default_factory=lambda: deque(maxlen=_LOCAL))
    pending: list[Pending] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)
    offer: Goal | None = None
    last_at: datetime | None = None
    seen: int = 0
    open: bool = True  # the subject is open: at the beginning, and after a silence
    introduced: bool = False  # scopes are introduced here by what they are called, and called by it afterwards
    anchors: int = 0  # steps that named their day with its town and company
    standing: Standing = Standing()
    doubt: dict[int, float] | None = None  # scores of days by index for the last step, while its answer may decide
    answered: bool = False  # somebody answers here, rather than people talking among themselves
    named: Scope | None = None  # the scope that the step in hand names outright
    visit: int = 0  # steps since the current scope was entered, or named again
    left: Scope | None = None  # the trip, or day of one, that an aside turned away from
    told: bool = True  # whether the current scope was entered because a step named it
    rested: bool = False  # a silence came before the step in hand
    voices: set[str] = field(default_factory=set)  # the first two who spoke here

    @property
    def alone(self) -> bool:
        """Whether one person writes here and nobody answers, as in a diary."""
        return not self.answered and len(self.voices) < 2

    def said(self) -> set[str]:
        """The words of the last few steps."""
        return set().union(*(words for words, _ in self.local))


def cohesion(thread: Thread, terms: Mapping[str, float], block: Vectors) -> float:
    """How well a block follows on the steps before it: cosine plus the share of its words that were said there."""
    vectors = [vector for _, vector in thread.local if vector is not None]
    if not vectors:
        return 1.0
    before = np.sum(vectors, axis=0)
    length = float(np.sqrt(before @ before))
    words = thread.said()
    said = sum(term in words for term in terms)
    return float(before @ block) / max(length, 1e-6) + said / max(1, len(terms))


def read_standing(text: str, *, person: bool) -> Standing:
    """What a step leaves open for the next speaker, by its first and last words.

    Args:
        person: whether a person said it, rather than an assistant.
    """
    head, tail = text[:300].lower(), text[-120:]
    confirmed = CONFIRMS.search(head) is not None
    asked = "?" in text or "？" in text if person else ASKS.search(tail) is not None
    offered = not confirmed and len(AMOUNT.findall(text[:1500])) >= 2
    recap = not person and len(CLOCK.findall(text[:2_000])) >= _RECAP
    return Standing(asked, offered, confirmed, person, recap)
