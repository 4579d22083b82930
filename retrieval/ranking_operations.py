"""The five optional operations of a learned recall.

- ``temporal_ordering``: the score includes how the day of a candidate relates to the dates of the question. Candidates are
  not sorted by time before the cut, which would lose answers.
- ``latest_filtering``: superseded candidates, and those that a newer one restates, are demoted.
- ``multi_step``: searches also for the question with the text of the best step (a second hop); the rankings are mixed as
  probabilities.
- ``threshold_filtering``: no hits where the calibrated probability of an answer is too low.
- ``semantic_reranking``: adds the hidden units of the scorer, and chooses hits one by one among the best, at least three
  times as many as are wanted; a candidate that repeats a chosen one is demoted.

An operation that is off is not computed. The gate (AdaptMR) sets the weight of each for the question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.models.sigmoid import sigmoid
from hexamem.retrieval.ranker import USUAL, Ranker
from hexamem.retrieval.signals.cues import OPERATIONS, operations_of
from hexamem.retrieval.signals.features import Features
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.products import products
from hexamem.stores.working_set import WorkingSet

__all__ = ["ABSTAIN", "NAMES", "Ordered", "Search", "gate_weights", "order"]

NAMES: tuple[str, ...] = tuple(OPERATIONS)
ABSTAIN = 0.5
"""The default of the least probability of an answer, below which ``threshold_filtering`` returns no hits."""
_USUAL_LOGIT = 1.5  # of the gate
_SPARE, _LEAST = 3, 40  # candidates that are ordered: a multiple of k, and at least so many
_PARTS, _HEAT = 0.15, 2.0  # weight of the further searches together; temperature of scores as probabilities
_ALIKE, _OLDER = 0.3, 1.0  # the least cosine of a restatement; the loss of the older one for a unit of cosine above it
_OUTDATED, _REPEATED = 1.5, 0.5  # the loss of a superseded candidate, and of one that repeats a chosen one
_NEAR = 1.0  # a newer candidate demotes an older one only if its score is at most this much lower


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a recall: the features of its candidates, and the ids of outdated ones."""

    features: Features
    outdated: frozenset[str] = frozenset()


@dataclass(slots=True)
class Ordered:
    """The best candidates, best first.

    Attributes:
        places: (number of the search, index of the candidate in it) of each.
        moved: id → operation → its change of the score.
    """

    ids: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    moved: dict[str, dict[str, float]] = field(default_factory=dict)


def gate_weights(cues: FloatArray) -> dict[str, float]:
    """The weight of each operation for one question, from 0 to 1: the usual operations are above one half, the others below,
    each the higher the likelier the question is of its kind.

    A gate that decides by question was trained and measured: it switched on the usual operations for every question.

    Args:
        cues: see :func:`~.signals.cues.cues_of`.
    """
    probabilities = operations_of(cues)
    logits = [(_USUAL_LOGIT if name in USUAL else -_USUAL_LOGIT) + probabilities[name] - 0.5 for name in NAMES]
    return dict(zip(NAMES, sigmoid(np.array(logits, np.float32)).tolist(), strict=True))


def order(
    ranker: Ranker,
    searches: Sequence[Search],
    steps: WorkingSet,
    on: frozenset[str],
    k: int,
    scores: FloatArray | None = None,
) -> Ordered:
    """Rank the candidates of all searches with some operations.

    Args:
        searches: that of the question first; the others are used only with ``multi_step``.
        on: the operations.
        k: the number of hits; more candidates than that are ranked.
        scores: the scores of the first search with these operations; None to compute them.
    """
    searches = searches if "multi_step" in on else searches[:1]
    first = searches[0].features
    known = ranker.score(first, on=on) if scores is None else scores
    size = max(_LEAST, _SPARE * k)
    best = np.argsort(-known, kind="stable")[:size].tolist()
    values = {first.pool.ids[index]: float(known[index]) for index in best}
    places = {first.pool.ids[index]: (0, index) for index in best}
    moved: dict[str, dict[str, float]] = {}
    if len(searches) > 1:
        values, places, moved = _mixed(ranker, searches, known, on, size)
    ids = sorted(values, key=lambda name: (-values[name], places[name]))[:size]
    ordered = Ordered(ids, [values[name] for name in ids], [places[name] for name in ids], moved)
    if len(ids) > 1 and on & {"latest_filtering", "semantic_reranking"}:
        vectors = _vectors(ordered, searches, steps)
        alike = products(vectors, vectors.T)
        if "latest_filtering" in on:
            by = _latest(ordered, searches, steps, alike)
            alike = alike[np.ix_(by, by)]
        if "semantic_reranking" in on:
            _diverse(ordered, alike, 2 * k)
    return ordered


def _mixed(
    ranker: Ranker, searches: Sequence[Search], known: FloatArray, on: frozenset[str], size: int
) -> tuple[dict[str, float], dict[str, tuple[int, int]], dict[str, dict[str, float]]]:
    """The candidates of all searches by their mean probability of being evidence, on the scale of the first search.

    Returns:
        id → score, id → (number of the search, index in it), and the changes by ``multi_step``.
    """
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
        for index in np.argsort(-values, kind="stable")[: 2 * size].tolist():
            name = search.features.pool.ids[index]
            shares[name] = shares.get(name, 0.0) + weight * math.exp(heated[index] - total)
            if name not in places:
                places[name], alone[name] = (number, index), float(values[index])
    values_of = {name: _HEAT * (math.log(max(share, 1e-12)) + level) for name, share in shares.items()}
    moved = {name: {"multi_step": value - alone[name]} for name, value in values_of.items()}
    return values_of, places, moved


def _vectors(ordered: Ordered, searches: Sequence[Search], steps: WorkingSet) -> FloatArray:
    """The vectors of the best, ``(n, dimension)``."""
    vectors = np.zeros((len(ordered.ids), steps.dimension), np.float32)
    rows, ranks = [], []
    for rank, (number, index) in enumerate(ordered.places):
        pool = searches[number].features.pool
        if index < pool.steps:
            rows.append(int(pool.rows[index]))
            ranks.append(rank)
        else:
            vectors[rank] = pool.items[index - pool.steps].vector
    if rows:
        vectors[ranks] = steps.vectors(np.array(rows, np.int64))
    return vectors


def _latest(ordered: Ordered, searches: Sequence[Search], steps: WorkingSet, likeness: FloatArray) -> list[int]:
    """Demote superseded candidates and those that a newer one restates; returns the new order as indices of the old one."""
    scores = np.array(ordered.scores)
    rows = np.array([searches[number].features.pool.rows[index] for number, index in ordered.places], np.int64)
    seconds = np.where(rows >= 0, steps.seconds[np.maximum(rows, 0)], -1) if len(steps) else rows
    dated = seconds >= 0
    newer = (seconds[None, :] > seconds[:, None]) & dated[:, None] & dated[None, :]
    near = scores[None, :] > scores[:, None] - _NEAR
    alike = np.maximum(0.0, likeness - _ALIKE)
    change = -_OLDER * np.where(newer & near, alike, 0.0).max(axis=1)
    outdated = frozenset().union(*(search.outdated for search in searches))
    change -= _OUTDATED * np.array([name in outdated for name in ordered.ids])
    by: list[int] = np.argsort(-(scores + change), kind="stable").tolist()
    _move(ordered, "latest_filtering", scores + change, by)
    return by


def _diverse(ordered: Ordered, likeness: FloatArray, count: int) -> None:
    """Choose ``count`` candidates one by one, each by its score less its likeness to those chosen before; the others follow
    by the same value (maximal marginal relevance; Carbonell and Goldstein, SIGIR 1998)."""
    scores = np.array(ordered.scores)
    repeats = -_REPEATED * np.maximum(likeness, 0.0)
    left = scores.copy()
    lost = np.zeros(len(scores))
    final = np.empty(len(scores))
    chosen: list[int] = []
    for _ in range(min(count, len(scores))):
        index = int(left.argmax())
        chosen.append(index)
        final[index] = left[index]
        np.minimum(lost, repeats[index], out=lost)
        np.add(scores, lost, out=left)
        left[chosen] = -np.inf
    rest = np.flatnonzero(left > -np.inf)
    final[rest] = left[rest]
    rest = rest[np.argsort(-left[rest], kind="stable")]
    _move(ordered, "semantic_reranking", final, [*chosen, *rest.tolist()])


def _move(ordered: Ordered, name: str, scores: npt.NDArray[np.float64], by: Sequence[int]) -> None:
    """Set new scores and a new order, as indices of the old one, and record the changes of the scores."""
    for record_id, before, after in zip(ordered.ids, ordered.scores, scores.tolist(), strict=True):
        if after != before:
            ordered.moved.setdefault(record_id, {})[name] = after - before
    ordered.ids = [ordered.ids[index] for index in by]
    ordered.places = [ordered.places[index] for index in by]
    ordered.scores = [float(scores[index]) for index in by]
