"""Ranking strategies as data: named presets, one line each (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..errors import InvalidInputError

__all__ = ["STRATEGIES", "Strategy", "strategy_named"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Strategy:
    """How candidates become one ranking.

    Attributes:
        signals: the retrievers that are asked; with more than one, their rankings are fused by reciprocal rank:
            ``Σ weight / (rrf_k + rank)`` (Cormack, Clarke and Büttcher, SIGIR 2009); one alone keeps its own score.
            The dense one weighs less where the embedder does not know all of the query's words: by the known share.
        rrf_k: the constant of that fusion; the paper's 60 suits runs of a thousand documents, a conversation's short
            lists want the top to count more.
        neighbours: how much of their score steps pass on to the steps before and after them in the thread, by
            distance: the first number for the next step, the second for the one after; empty for none. In a
            conversation the answer often stands beside the words that the question shares. A signal alone is then
            scaled to 0..1 over its pool, so that what is passed on is comparable.
        spread_from: how many of the best candidates pass their score on.
        pool: how many candidates each signal gives.
        superseded: factor on the score of what is no longer believed.
    """

    name: str
    signals: Mapping[str, float]
    rrf_k: int = 10
    neighbours: tuple[float, ...] = ()
    spread_from: int = 30
    pool: int = 100
    superseded: float = 0.5


_PLAIN = (
    Strategy(name="rrf", signals={"dense": 0.7, "bm25": 1.0}),
    Strategy(name="dense", signals={"dense": 1.0}),
    Strategy(name="bm25", signals={"bm25": 1.0}),
)
_NEIGHBOURS = (0.6, 0.3)

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for plain in _PLAIN
    for strategy in (plain, replace(plain, name=f"{plain.name}_neighbours", neighbours=_NEIGHBOURS))
}
"""Every strategy by name: ``rrf``, ``dense`` and ``bm25``, each also with neighbouring steps."""


def strategy_named(name: str) -> Strategy:
    """The preset of that name.

    Raises:
        InvalidInputError: for an unknown name, with the names there are.
    """
    if name not in STRATEGIES:
        raise InvalidInputError(f"strategy = {name!r} is unknown; use one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
