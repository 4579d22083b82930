"""Ranks the candidates of research: fuses the rankings of the lanes for each need into one by reciprocal rank.

Steps pass a share of their score on to the steps beside them. The order for the question itself is then fused with that of a
plain recall, if that ranking is trained.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hexamem.memory_types import MemoryItem
from hexamem.stores.ledger import Transaction, neighbours
from hexamem.stores.ledger.steps import PlainStep, plain_steps

__all__ = ["RECALL", "Need", "Ranked", "RankedNeed", "ReadItems", "Reason", "rank_evidence"]

RECALL = "recall"
"""The name of a plain recall among the rankings of a need. It is no lane and only changes the order."""
_LANES: Mapping[str, float] = {"vector": 0.7, "keyword": 1.0, "time": 0.7, "intent": 0.5, "page": 0.5}
"""The weights of the lanes; 0.5 for any other."""
_RANK_K = 10
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""
_RECALLED = 0.85
"""The weight of the order of a plain recall; that of the order by the lanes is the rest."""
_PASSED = (0.6, 0.45)
"""The shares of its score that a step passes on to the steps 1 and 2 turns away."""
_SPREAD_FROM, _MOST = 40, 100  # the best candidates that pass on scores, and those that are ranked

ReadItems = Callable[[Transaction, Collection[str]], Mapping[str, MemoryItem]]
"""(transaction, ids of items) → the items that may be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One need of a question, with the rankings for it.

    Attributes:
        rankings: lane → record ids, best first.
        wide: whether neighbours of matches are candidates too.
    """

    rankings: Mapping[str, Sequence[str]]
    wide: bool = True


class Reason(NamedTuple):
    """One source of a candidate: a lane or a recall, and the rank there from 1."""

    name: str
    rank: int


@dataclass(slots=True)
class Ranked:
    """A candidate: the id of its record, its score, the lanes (or the recall) that returned it, and the ranks there."""

    id: str
    score: float
    lanes: tuple[str, ...] = ()
    why: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedNeed:
    """The candidates of one need, best first."""

    need: Need
    ranked: list[Ranked]


def rank_evidence(
    tx: Transaction, needs: Sequence[Need], *, exclude: Collection[str] = (), read_items: ReadItems
) -> tuple[list[RankedNeed], dict[str, PlainStep], Mapping[str, MemoryItem]]:
    """Rank the candidates of every need in one read of the ledger.

    Args:
        exclude: ids that are left out of the result, since they were read before; they still pass on scores.
        read_items: reads the items that may be read.

    Returns:
        The needs in order, and the steps and items that may be read by id.
    """
    ids = dict.fromkeys(name for need in needs for ranking in need.rankings.values() for name in ranking)
    items = read_items(tx, [name for name in ids if not name.startswith("step_")])
    steps = plain_steps(tx, [name for name in ids if name.startswith("step_")])
    ranked = []
    for need in needs:
        why: dict[str, list[Reason]] = {}
        scores: dict[str, float] = {}
        known = {
            lane: [name for name in ranking if name in steps or name in items]
            for lane, ranking in need.rankings.items()
        }
        for lane, ranking in known.items():
            for rank, name in enumerate(ranking, 1):
                why.setdefault(name, []).append(Reason(lane, rank))
            if lane != RECALL:
                _add_by_rank(scores, ranking, _LANES.get(lane, 0.5))
        if need.wide:
            _spread(tx, scores, steps)
        best = _best(scores, _MOST)
        if RECALL in known:
            by_lanes, scores = best, {}
            _add_by_rank(scores, by_lanes, 1 - _RECALLED)
            _add_by_rank(scores, known[RECALL], _RECALLED)
            best = _best(scores)
        candidates = []
        for name in best:
            if name not in exclude:
                reasons = tuple(why.get(name, ()))
                lanes = tuple(reason.name for reason in reasons) or ("beside",)
                candidates.append(Ranked(name, scores[name], lanes, reasons))
        ranked.append(RankedNeed(need, candidates))
    return ranked, steps, items


def _best(scores: Mapping[str, float], most: int | None = None) -> list[str]:
    """The ids, best first, equal ones by id; at most ``most``."""
    return [record_id for _, record_id in sorted([(-score, name) for name, score in scores.items()])[:most]]


def _add_by_rank(scores: dict[str, float], ranking: Sequence[str], weight: float) -> None:
    for rank, name in enumerate(ranking, 1):
        scores[name] = scores.get(name, 0.0) + weight / (_RANK_K + rank)


def _spread(tx: Transaction, scores: dict[str, float], steps: dict[str, PlainStep]) -> None:
    """Add to each step the greatest share that a neighbour passes on."""
    best = [name for name in _best(scores, _SPREAD_FROM) if name in steps]
    beside = neighbours(tx, best, len(_PASSED))
    steps.update(plain_steps(tx, [name for others in beside.values() for name, _ in others if name not in steps]))
    received: dict[str, float] = {}
    for origin in best:
        for other, distance in beside.get(origin, ()):
            if other in steps:
                received[other] = max(received.get(other, 0.0), _PASSED[distance - 1] * scores[origin])
    for name, share in received.items():
        scores[name] = scores.get(name, 0.0) + share
