"""The contextual intent of a question: which scopes, event types and entity types it names (STITCH, section 3.3, F_q).

A part stays empty where the question does not say enough: an empty filter costs nothing, a wrong one hides the answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["QueryFilter", "clear_scopes"]

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
