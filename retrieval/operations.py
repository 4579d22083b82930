"""The five operations of a learned recall, each of which a recall can do with or without.

- ``temporal_ordering``: how the day of a candidate meets the dates of the question counts. It never sorts before the
  cut: ordered by time alone, what answers is lost.
- ``latest_filtering``: what was superseded, and what a newer candidate says anew, loses by it.
- ``multi_step``: the parts of the question that a model names are searched as well, then the question once more with
  the text of the best step (a second hop); the rankings are mixed as probabilities.
- ``threshold_filtering``: without hits where the calibrated probability of an answer is too low.
- ``semantic_reranking``: the second part of the scorer, and among the best, at least three times as many as are
  shown, one is chosen after the other: what repeats a chosen one loses, what covers more of the question gains.

An operation that is off is not computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.ranker import USUAL, Ranker
from hexamem.retrieval.signals.content import products
from hexamem.retrieval.signals.cues import OPERATIONS
from hexamem.retrieval.signals.features import Features
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.working_set import WorkingSet

__all__ = [
    "ABSTAIN", "COSTS", "FREE", "NAMES", "POWERS", "Ordered", "Search", "configurations", "explored", "number_of", "order",
    "order_by_configuration", "ranking_operations",
]  # fmt: skip

NAMES: tuple[str, ...] = tuple(OPERATIONS)
POWERS = 1 << np.arange(len(NAMES))
"""What each operation counts in the number of a configuration."""
COSTS: Mapping[str, float] = {
    "temporal_ordering": 0.0,
    "latest_filtering": 0.02,
    "multi_step": 1.0,
    "threshold_filtering": 0.0,
    "semantic_reranking": 0.05,
}
"""What an operation takes, as a share of the recall without it: a multi-step one searches about once more."""
FREE = frozenset(name for name, cost in COSTS.items() if cost < 0.1)
"""Operations that cost next to nothing: what is learned from feedback may switch these alone."""
ABSTAIN = 0.5
"""Below this probability of an answer a recall that filters by threshold gives no hits, where no other is told."""
_SPARE, _LEAST = 3, 40
_PARTS, _HEAT = 0.15, 2.0
"""What the parts of a question count together, and how flat the scores of a search become as probabilities."""
_ALIKE, _OLDER = 0.3, 1.0
"""From which cosine on two say the same; what the older loses by it."""
_OUTDATED = 1.5
_REPEATED = 0.5
_NEAR = 1.0  # a newer candidate takes an older one's place only where it fits nearly as well


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a recall: its candidates with their features, and which are told by what is no longer believed."""

    features: Features
    outdated: frozenset[str] = frozenset()


@dataclass(slots=True)
class Ordered:
    """The best candidates, best first.

    Attributes:
        places: of each, (which search, which candidate of it).
        moved: id → operation → what it added to the score.
    """

    ids: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    moved: dict[str, dict[str, float]] = field(default_factory=dict)


def configurations() -> tuple[frozenset[str], ...]:
    """All 32 sets of operations: number ``c`` holds operation ``i`` where bit ``i`` of ``c`` is set."""
    return tuple(
        frozenset(name for bit, name in enumerate(NAMES) if number >> bit & 1) for number in range(1 << len(NAMES))
    )


def number_of(on: Collection[str]) -> int:
    """The number of a configuration."""
    return sum(1 << bit for bit, name in enumerate(NAMES) if name in on)


def explored(
    on: frozenset[str], forced: Mapping[str, bool], share: float, draw: Callable[[], float]
) -> tuple[frozenset[str], float]:
    """What runs, and with which probability it was chosen: mostly ``on``, now and then any set of the free operations.

    Args:
        forced: operations that are not tried.
        share: how often any set is drawn, from 0 to 1.
        draw: gives numbers from 0 to 1.
    """
    free = [name for name in NAMES if name in FREE and name not in forced]
    if not share or not free:
        return on, 1.0
    each = share / (1 << len(free))
    chosen = on
    if draw() < share:
        chosen = (on - frozenset(free)) | frozenset(name for name in free if draw() < 0.5)
    return chosen, each + (1 - share if chosen == on else 0.0)


def order(
    ranker: Ranker,
    searches: Sequence[Search],
    steps: WorkingSet,
    on: frozenset[str],
    k: int,
    scores: FloatArray | None = None,
) -> Ordered:
    """Rank what the searches found, with some operations on.

    Args:
        searches: that of the question first; the others count with ``multi_step`` alone.
        scores: of the first search with these operations, where they are known.
        k: how many hits are wanted; more than that are ranked.
    """
    searches = searches if "multi_step" in on else searches[:1]
    first = searches[0].features
    known = ranker.score(first, on=on) if scores is None else scores
    size = max(_LEAST, _SPARE * k)
    best = np.argsort(-known, kind="stable")[:size].tolist()
    values = {first.pool.ids[one]: float(known[one]) for one in best}
    places = {first.pool.ids[one]: (0, one) for one in best}
    moved: dict[str, dict[str, float]] = {}
    if len(searches) > 1:
        values, places, moved = _mixed(ranker, searches, known, on, size)
    ids = sorted(values, key=lambda one: (-values[one], places[one]))[:size]
    ordered = Ordered(ids, [values[one] for one in ids], [places[one] for one in ids], moved)
    if len(ids) > 1 and on & {"latest_filtering", "semantic_reranking"}:
        vectors = _vectors(ordered, searches, steps)
        alike = products(vectors, vectors.T)
        if "latest_filtering" in on:
            by = _latest(ordered, searches, steps, alike)
            alike = alike[np.ix_(by, by)]
        if "semantic_reranking" in on:
            _diverse(ordered, alike, 2 * k)
    return ordered


def ranking_operations(on: frozenset[str], searches: Sequence[Search]) -> frozenset[str]:
    """The operations that may change the order: without the threshold, and without several steps where there is one search."""
    return on - {"threshold_filtering"} - (frozenset() if len(searches) > 1 else {"multi_step"})


def order_by_configuration(
    ranker: Ranker, searches: Sequence[Search], steps: WorkingSet, k: int
) -> dict[frozenset[str], list[str]]:
    """The ids of the best, best first, under each set of operations that :func:`ranking_operations` leaves."""
    known: dict[frozenset[str], FloatArray] = {}
    found: dict[frozenset[str], list[str]] = {}
    for on in dict.fromkeys(ranking_operations(one, searches) for one in configurations()):
        seen = on & USUAL
        if seen not in known:
            known[seen] = ranker.score(searches[0].features, on=seen)
        found[on] = order(ranker, searches, steps, on, k, known[seen]).ids
    return found


def _mixed(
    ranker: Ranker, searches: Sequence[Search], known: FloatArray, on: frozenset[str], size: int
) -> tuple[dict[str, float], dict[str, tuple[int, int]], dict[str, dict[str, float]]]:
    """The candidates of all searches by the mean of their probabilities of being evidence, told as scores of the first."""
    shares: dict[str, float] = {}
    places: dict[str, tuple[int, int]] = {}
    alone: dict[str, float] = {}
    level = 0.0
    for number, search in enumerate(searches):
        values = known if not number else ranker.score(search.features, on=on)
        if not len(values):
            continue
        weight = (1 - _PARTS) if not number else _PARTS / (len(searches) - 1)
        heated = values.astype(np.float64) / _HEAT
        total = float(np.logaddexp.reduce(heated))
        level = total if not number else level
        for one in np.argsort(-values, kind="stable")[: 2 * size].tolist():
            name = search.features.pool.ids[one]
            shares[name] = shares.get(name, 0.0) + weight * math.exp(heated[one] - total)
            if name not in places:
                places[name], alone[name] = (number, one), float(values[one])
    values_of = {name: _HEAT * (math.log(max(share, 1e-12)) + level) for name, share in shares.items()}
    moved = {name: {"multi_step": value - alone[name]} for name, value in values_of.items()}
    return values_of, places, moved


def _vectors(ordered: Ordered, searches: Sequence[Search], steps: WorkingSet) -> FloatArray:
    """The vectors of the best, ``(n, dimension)``."""
    made = np.zeros((len(ordered.ids), steps.dimension), np.float32)
    rows, at = [], []
    for place, (number, one) in enumerate(ordered.places):
        pool = searches[number].features.pool
        if one < pool.steps:
            rows.append(int(pool.rows[one]))
            at.append(place)
        else:
            made[place] = pool.items[one - pool.steps].vector
    if rows:
        made[at] = steps.vectors(np.array(rows, np.int64))
    return made


def _latest(ordered: Ordered, searches: Sequence[Search], steps: WorkingSet, likeness: FloatArray) -> list[int]:
    """Demote what was superseded and what a newer candidate says anew; both are told by ``moved``. Gives the new order,
    by places in the old one."""
    scores = np.array(ordered.scores)
    rows = np.array([searches[number].features.pool.rows[one] for number, one in ordered.places], np.int64)
    seconds = np.where(rows >= 0, steps.seconds[np.maximum(rows, 0)], -1) if len(steps) else rows
    dated = seconds >= 0
    newer = (seconds[None, :] > seconds[:, None]) & dated[:, None] & dated[None, :]
    near = scores[None, :] > scores[:, None] - _NEAR
    alike = np.maximum(0.0, likeness - _ALIKE)
    change = -_OLDER * np.where(newer & near, alike, 0.0).max(axis=1)
    outdated = frozenset().union(*(one.outdated for one in searches))
    change -= _OUTDATED * np.array([one in outdated for one in ordered.ids])
    by: list[int] = np.argsort(-(scores + change), kind="stable").tolist()
    _move(ordered, "latest_filtering", scores + change, by)
    return by


def _diverse(ordered: Ordered, likeness: FloatArray, count: int) -> None:
    """Choose ``count`` one after the other by score less likeness to what was chosen, and the others by what is left
    (maximal marginal relevance; Carbonell and Goldstein, SIGIR 1998)."""
    scores = np.array(ordered.scores)
    repeats = -_REPEATED * np.maximum(likeness, 0.0)
    left = scores.copy()
    lost = np.zeros(len(scores))
    final = np.empty(len(scores))
    chosen: list[int] = []
    for _ in range(min(count, len(scores))):
        one = int(left.argmax())
        chosen.append(one)
        final[one] = left[one]
        np.minimum(lost, repeats[one], out=lost)
        np.add(scores, lost, out=left)
        left[chosen] = -np.inf
    rest = np.flatnonzero(left > -np.inf)
    final[rest] = left[rest]
    rest = rest[np.argsort(-left[rest], kind="stable")]
    _move(ordered, "semantic_reranking", final, [*chosen, *rest.tolist()])


def _move(ordered: Ordered, name: str, scores: npt.NDArray[np.float64], by: Sequence[int]) -> None:
    for one, before, after in zip(ordered.ids, ordered.scores, scores.tolist(), strict=True):
        if after != before:
            ordered.moved.setdefault(one, {})[name] = after - before
    ordered.ids = [ordered.ids[one] for one in by]
    ordered.places = [ordered.places[one] for one in by]
    ordered.scores = [float(scores[one]) for one in by]
