"""The contextual intent of a question: which scopes, event types and entity types it names (STITCH, section 3.3, F_q).

A part stays empty where the question does not say enough: an empty filter costs nothing, a wrong one hides the answer.
Where a question names no label, those of the nearest snippets may vote (:func:`vote`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["QueryFilter", "clear_scopes", "vote"]

_CLEAR, _FEW, _SURE = 0.3, 4, 0.6  # odds against the likeliest, how many such scopes, and their share of all


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFilter:
    """``F_q = (σ_q, ε_q, κ_q)``: label id → weight in (0, 1]; empty parts where the question names none.

    Attributes:
        evidence: scope id → log-likelihood of the question, up to a constant, of every scope that has steps: how much
            it speaks for each, also where it names none. Empty where nothing is known of that.
        wide: whether it asks about all parts of something, so that its parts count alike; for labelers that can say.
        note: in a few words why, for people.
    """

    scopes: Mapping[str, float] = field(default_factory=dict)
    events: Mapping[str, float] = field(default_factory=dict)
    entities: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    wide: bool = False
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.scopes or self.events or self.entities)


def clear_scopes(evidence: Mapping[str, float]) -> dict[str, float]:
    """The scopes that share all but a little of the probability, if they are few: id → odds against the likeliest."""
    top = max(evidence.values(), default=0.0)
    odds = {scope_id: math.exp(value - top) for scope_id, value in evidence.items()}
    clear = sorted(((one, value) for one, value in odds.items() if value >= _CLEAR), key=lambda one: (-one[1], one[0]))
    if not clear or len(clear) > _FEW or sum(value for _, value in clear) < _SURE * sum(odds.values()):
        return {}
    return {one: round(value, 3) for one, value in clear}


def vote(nearest: Iterable[tuple[Sequence[str], float]], *, least: float = 0.25, most: int = 5) -> dict[str, float]:
    """Labels by the votes of the nearest snippets (STITCH's deferred label refinement: labels match softly).

    Args:
        nearest: for each snippet its labels of one kind and its similarity to the question; those below 0 are ignored.
        least: a label needs this share of all votes.
        most: at most so many labels.

    Returns:
        Label id → weight, the greatest 1; empty where no label has enough votes.
    """
    votes: defaultdict[str, float] = defaultdict(float)
    total = 0.0
    for labels, similarity in nearest:
        weight = max(0.0, similarity) ** 2 if math.isfinite(similarity) else 0.0
        total += weight
        for label in dict.fromkeys(labels):
            votes[label] += weight
    ranked = sorted(votes.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    if not ranked or total <= 0 or ranked[0][1] <= 0:
        return {}
    return {label: votes_ / ranked[0][1] for label, votes_ in ranked if votes_ >= least * total}
