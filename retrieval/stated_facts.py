"""Facts that a question plainly asks for stand first, in whatever words.

"Where do I live?" shares no word with "home: Porto", and in a memory of a few messages what merely sounds like the
question stands above what answers it. What a question plainly asks for is read by rules and not learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..stores.ledger import Transaction
from .fusion import Candidate, best

__all__ = ["StatedFacts", "best_items", "put_first"]

StatedFacts: TypeAlias = Callable[[Transaction, str, Callable[[], Sequence[str]], bool], Sequence[str]]
"""Of a transaction, a question, what gives the ids of the best items found for it, best first, and whether the memory is
small: the ids of the items that state what the question asks for, first things first; none of most questions."""

_ABOVE = 1e-3  # by how much, as a share of the better score, one stands above the other


def put_first(candidates: dict[str, Candidate], ids: Sequence[str]) -> None:
    """Put records above all candidates, in their order; those that are none yet become candidates."""
    if not ids:
        return
    top = max((one.score for one in candidates.values()), default=0.0)
    step = _ABOVE * max(1.0, abs(top))
    for place, record_id in enumerate(reversed(ids), 1):
        candidate = candidates.setdefault(record_id, Candidate(record_id))
        higher = top + place * step
        candidate.reasons().append(("stated", None, None, higher - candidate.score))
        candidate.score = higher


def best_items(candidates: Mapping[str, Candidate], most: int) -> list[str]:
    """The ids of the best candidates that are items, best first."""
    items = {name: one for name, one in candidates.items() if not name.startswith("step_")}
    return [one.id for one in best(items, most)]
