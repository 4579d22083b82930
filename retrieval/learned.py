"""The learned ranking: candidates from every signal and beside them, measured at once, scored by trained weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import bindparam, select

from ..memory_types import MemoryItem
from ..memory_types.times import read_zone
from ..stores.embedders import Embedder
from ..stores.embedders.base import FloatArray
from ..stores.item_set import ItemFacts, ItemSet, read_facts
from ..stores.kept_working_sets import KeptWorkingSets
from ..stores.ledger import Ledger, get_items
from ..stores.ledger.schema import items as item_table
from ..stores.ledger.steps import chunks
from ..stores.vectors import VectorStore
from ..stores.working_set import WorkingSet
from .fusion import Candidate, Ranking
from .late import item_text
from .permit import Permit, Request
from .ranker import Ranker
from .run import Run
from .signals.cues import operations_of
from .signals.features import Features, compute_features
from .signals.pool import make_pool
from .signals.question import Asked, read_question
from .strategies import Strategy

__all__ = ["LearnedSearch", "Measured", "Ranked"]

_SCANNED = 25_000
"""Up to so many steps all are compared with the question, exactly; beyond, the vector index gives the nearest."""
_NEAR = 0.7
_TOLD = 8
"""Signals that ``why`` names; what the rest adds is told as one, ``others``."""
_SPARE, _LEAST = 3, 60
"""Candidates kept, times k: some may have left the ledger, and what is no longer believed is demoted."""

_TEXTS = select(item_table.c.id, item_table.c.text).where(
    item_table.c.user_id == bindparam("user"), item_table.c.id.in_(bindparam("ids", expanding=True))
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with its candidates' features, and what the signals said of each: id → signal → (value, rank)."""

    asked: Asked
    features: Features
    told: dict[str, dict[str, tuple[float, int]]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates with their scores and reasons, and what is told of the recall as a whole."""

    candidates: dict[str, Candidate]
    gate: dict[str, float]
    answerable: float | None


class LearnedSearch:
    """Finds, measures and scores candidates. Safe to use from several threads.

    Args:
        dense_steps, dense_items, bm25: the retrievers, which meet a request's filters.
        beside: keeps those of some steps that a request's filters permit.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorStore,
        embedder: Embedder,
        *,
        dense_steps: Callable[[Run, FloatArray, int], Ranking],
        dense_items: Callable[[Run, FloatArray, int], Ranking],
        bm25: Callable[[Run, int], Ranking],
    ) -> None:
        self._ledger, self._vectors, self._embedder = ledger, vectors, embedder
        self._dense_steps, self._dense_items, self._bm25 = dense_steps, dense_items, bm25
        self._kept = KeptWorkingSets(vectors, embedder)

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user."""
        self._kept.drop(user)

    def read(self, user: str, request: Request) -> tuple[Asked, WorkingSet, ItemSet | None] | None:
        """Read the question, before any transaction in which it is answered; None for a user without a record."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return None
            (steps, items), zone = self._kept.of(tx), read_zone(tx.timezone)
        return read_question(request.query, steps, self._embedder, zone, request.as_of), steps, items

    def measure(self, run: Run, asked: Asked, steps: WorkingSet, items: ItemSet | None, strategy: Strategy) -> Measured:
        """The candidates of a recall and their features."""
        with self._kept.using(run.tx.user):
            return self._measured(run, asked, steps, items, max(strategy.pool, run.request.k))

    def _measured(self, run: Run, asked: Asked, steps: WorkingSet, items: ItemSet | None, pool: int) -> Measured:
        rankings = {"dense": self._dense(run, asked, steps, items, pool), "bm25": self._bm25(run, pool)}
        told: dict[str, dict[str, tuple[float, int]]] = {}
        for name, ranking in rankings.items():
            for rank, (record_id, value) in enumerate(ranking, 1):
                told.setdefault(record_id, {})[name] = (value, rank)
        found = [one for one in told if one in steps.row_of]
        step_ids = [*found, *self._beside(run.permit, found, steps)] if run.permit.wants_steps else []
        facts = self._facts(run, [one for one in told if not one.startswith("step_")], steps, items)
        return Measured(asked, compute_features(asked, make_pool(step_ids, facts, steps), steps), told)

    def rank(self, run: Run, measured: Measured, ranker: Ranker) -> Ranked:
        """Score the candidates; the best are told with the share of each signal."""
        features = measured.features
        scores = ranker.score(features)
        ids = features.pool.ids
        best = np.argsort(-scores, kind="stable")[: max(_LEAST, _SPARE * run.request.k)]
        candidates: dict[str, Candidate] = {}
        late = features.column("late") if len(ids) else np.empty(0, np.float32)
        for index, shares in zip(best.tolist(), ranker.shares(features, best) if len(best) else (), strict=True):
            told = measured.told.get(ids[index], {}) | {"late": (float(late[index]), None)}
            ordered = sorted(shares.items(), key=lambda one: -abs(one[1]))
            why = [(name, *told.get(name, (None, None)), share) for name, share in ordered[:_TOLD]]
            why.append(("others", None, None, sum(share for _, share in ordered[_TOLD:])))
            # The sum of the shares is the score, in more digits.
            candidates[ids[index]] = Candidate(ids[index], sum(share for *_, share in why), why)
        return Ranked(candidates, operations_of(features.cues), ranker.answerable(features, scores))

    def _dense(
        self, run: Run, asked: Asked, steps: WorkingSet, items: ItemSet | None, pool: int
    ) -> list[tuple[str, float]]:
        ranking: list[tuple[str, float]] = []
        if run.permit.wants_steps:
            if run.permit.narrows_steps or len(steps) > _SCANNED:
                ranking += self._dense_steps(run, asked.vector, pool)
            elif len(steps):
                ranking += self._scanned(asked, steps, pool)
        if items is not None and not run.permit.believed:
            if run.permit.items is None or run.permit.items:
                ranking += items.nearest(asked.vector, pool, run.permit.items)
        else:
            ranking += self._dense_items(run, asked.vector, pool)
        ranking.sort(key=lambda hit: (-hit[1], hit[0]))
        return ranking

    def _scanned(self, asked: Asked, steps: WorkingSet, pool: int) -> list[tuple[str, float]]:
        """The steps nearest to the question, and those that are together with the steps beside them."""
        whole = steps.similarities(asked.vector)
        bare = whole if asked.bare is asked.vector else steps.similarities(asked.bare)
        together = bare.copy()
        squared = np.full(len(bare), 1.0, np.float32)
        for beside, lag in ((steps.before, steps.before), (steps.after, np.arange(len(bare)))):
            there = np.flatnonzero(beside >= 0)
            together[there] += _NEAR * bare[beside[there]]
            squared[there] += _NEAR**2 + 2 * _NEAR * steps.lags[lag[there], 0]
        together /= np.sqrt(np.maximum(squared, 1e-3))
        chosen: dict[int, None] = {}
        for values in (whole, together):
            count = min(pool, len(values))
            best = np.argpartition(-values, count - 1)[:count]
            chosen.update(dict.fromkeys(best[np.argsort(-values[best], kind="stable")].tolist()))
        return [(steps.ids[row], float(whole[row])) for row in chosen]

    def _beside(self, permit: Permit, found: Sequence[str], steps: WorkingSet) -> list[str]:
        """The permitted steps up to two turns beside those found."""
        known = set(found)
        rows = np.array([steps.row_of[one] for one in found], np.int64)
        new: dict[str, None] = {}
        for ahead in (steps.before, steps.after):
            here = rows
            for _ in range(2):
                here = ahead[here[here >= 0]].astype(np.int64)
                new.update(dict.fromkeys(steps.ids[row] for row in here[here >= 0]))
        others = [one for one in new if one not in known]
        if not permit.narrows_steps:
            return others
        met = permit.steps_among(others)
        return [one for one in others if one in met]

    def _facts(self, run: Run, ids: Sequence[str], steps: WorkingSet, items: ItemSet | None) -> list[ItemFacts]:
        """What is compared of items; read from the stores where it is not in memory."""
        if items is not None and not run.permit.believed:
            return [one for one in map(items.facts, ids) if one is not None]
        if not ids:
            return []
        believed = run.permit.believed
        long = [one for one in ids if one not in believed and run.passage(one) is not None]
        records: dict[str, MemoryItem] = {
            **get_items(run.tx, long),
            **{one: believed[one] for one in ids if one in believed},
        }
        texts = {one: item_text(run, record) for one, record in records.items()}
        for part in chunks([one for one in ids if one not in texts]):
            texts.update({row.id: row.text for row in run.tx.all(_TEXTS, user=run.tx.user_id, ids=part)})
        stored = {one: run.passage(one) or one for one in texts if one not in run.former}
        indexed = self._vectors.vectors(run.key, "items", list(stored.values()))
        vectors = {one: indexed[name] for one, name in stored.items() if name in indexed}
        if run.former_vectors is not None:
            vectors.update(zip(run.former, run.former_vectors, strict=True))
        return read_facts(run.tx, texts, vectors, steps, self._embedder)
