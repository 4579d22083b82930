"""Fuses the rankings of several signals into one score for each candidate, with the share of each signal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hexamem.retrieval.strategies import Strategy

__all__ = ["Candidate", "Ranking", "Reason", "add_ranking", "best", "fuse", "spread"]

Ranking = Sequence[tuple[str, float]]
"""(id, value) best first."""
Reason = tuple[str, float | None, int | None, float]
"""(signal, value, rank, share), which becomes a ``Signal`` of a hit."""


@dataclass(slots=True)
class Candidate:
    """A candidate with the shares of signals in its score."""

    id: str
    score: float = 0.0
    why: list[Reason] = field(default_factory=list)


def fuse(
    rankings: Mapping[str, Ranking], strategy: Strategy, trust: Mapping[str, float] | None = None
) -> dict[str, Candidate]:
    """Fuse the union of all rankings: a record of a single ranking is a candidate too.

    Args:
        trust: signal → factor from 0 to 1 on its weight for this query; 1 where it is missing.
    """
    candidates: dict[str, Candidate] = {}
    for name in strategy.signals:
        if rankings.get(name):
            add_ranking(candidates, name, rankings[name], strategy, (trust or {}).get(name, 1.0))
    return candidates


def add_ranking(
    candidates: dict[str, Candidate], name: str, ranking: Ranking, strategy: Strategy, trust: float = 1.0
) -> None:
    """Fuse one more ranking into candidates, with the weight of the signal in the strategy."""
    shares = _shares(ranking, strategy.signals[name] * trust, strategy)
    for rank, ((record_id, value), share) in enumerate(zip(ranking, shares, strict=True), 1):
        candidate = candidates.get(record_id)
        if candidate is None:
            candidates[record_id] = Candidate(record_id, share, [(name, value, rank, share)])
        else:
            candidate.score += share
            candidate.why.append((name, value, rank, share))


def _shares(ranking: Ranking, weight: float, strategy: Strategy) -> list[float]:
    if len(strategy.signals) > 1:
        return [weight / (strategy.rrf_k + rank) for rank in range(1, len(ranking) + 1)]
    values = [value for _, value in ranking]
    if not strategy.neighbours or not values:
        return values
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def best(candidates: Mapping[str, Candidate], count: int) -> list[Candidate]:
    """The candidates with the highest scores, best first; equal scores in order of id."""
    ordered = sorted([(-candidate.score, candidate.id) for candidate in candidates.values()])
    return [candidates[record_id] for _, record_id in ordered[:count]]


def spread(
    candidates: dict[str, Candidate],
    origins: Sequence[Candidate],
    beside: Mapping[str, Sequence[tuple[str, int]]],
    strategy: Strategy,
) -> dict[str, Candidate]:
    """Add to each neighbour the greatest share that an origin passes on; a neighbour becomes a candidate.

    It is the greatest share, not the sum, so that a match remains ahead of its neighbours.

    Args:
        origins: the candidates that pass on shares of their scores.
        beside: id → (id, distance in turns) of the steps around it in its thread.
    """
    received: dict[str, float] = {}
    for origin in origins:
        for other, distance in beside.get(origin.id, ()):
            passed_on = strategy.neighbours[distance - 1] * origin.score
            received[other] = max(received.get(other, 0.0), passed_on)
    for record_id, share in received.items():
        candidate = candidates.setdefault(record_id, Candidate(record_id))
        candidate.score += share
        candidate.why.append(("neighbours", None, None, share))
    return candidates
