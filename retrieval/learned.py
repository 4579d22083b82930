"""The learned ranking: candidates from every signal and beside them, measured at once, scored by trained weights."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import bindparam, select

from ..intent.query import QueryFilter
from ..memory_types import MemoryItem
from ..memory_types.times import read_zone
from ..stores.embedders import Embedder
from ..stores.embedders.base import FloatArray
from ..stores.item_set import ItemFacts, ItemSet, read_facts
from ..stores.kept_vocabularies import KeptVocabularies
from ..stores.kept_working_sets import KeptWorkingSets
from ..stores.label_set import LabelSet
from ..stores.ledger import Ledger, get_items
from ..stores.ledger.schema import items as item_table
from ..stores.ledger.steps import chunks
from ..stores.vectors import VectorStore
from ..stores.working_set import WorkingSet
from .fusion import Candidate, Ranking
from .label_density import QueryIntent
from .late import item_text
from .permit import Permit, Request
from .ranker import SIGNALS, Ranker, standardised
from .run import Run
from .signals.cues import operations_of
from .signals.features import Features, compute_features
from .signals.labels import QuestionLabels
from .signals.pool import make_pool
from .signals.question import Asked, read_question
from .strategies import Strategy

__all__ = ["LearnedSearch", "Measured", "Ranked"]

_SCANNED = 25_000
"""Up to so many steps all are compared with the question, exactly; beyond, the vector index gives the nearest."""
_NEAR = 0.7
_NEAREST = 40  # of each ranking
_INSIDE = 50  # steps of the scopes that are meant
_TOLD = 8
"""Signals that ``why`` names; what the rest adds is told as one, ``others``."""
_LABELLED = 32
"""Of so many users the labels of steps are kept in memory."""
_SPARE, _LEAST = 3, 40
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
        intent: QueryIntent | None = None,
        vocabularies: KeptVocabularies | None = None,
    ) -> None:
        self._ledger, self._vectors, self._embedder = ledger, vectors, embedder
        self._dense_steps, self._dense_items, self._bm25 = dense_steps, dense_items, bm25
        self._kept = KeptWorkingSets(vectors, embedder)
        self._intent, self._vocabularies = intent, vocabularies or KeptVocabularies()
        self._labels: OrderedDict[str, LabelSet] = OrderedDict()
        self._guard = threading.Lock()

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user."""
        self._kept.drop(user)
        with self._guard:
            self._labels.pop(user, None)

    def read(self, user: str, request: Request) -> tuple[Asked, WorkingSet, ItemSet | None, QueryFilter] | None:
        """Read the question, before any transaction in which it is answered; None for a user without a record."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return None
            (steps, items), zone = self._kept.of(tx), read_zone(tx.timezone)
        asked = read_question(request.query, steps, self._embedder, zone, request.as_of)
        labels = QueryFilter() if self._intent is None else self._intent(user, request.query, asked.vector)
        return asked, steps, items, labels

    def measure(
        self,
        run: Run,
        asked: Asked,
        steps: WorkingSet,
        items: ItemSet | None,
        labels: QueryFilter,
        strategy: Strategy,
    ) -> Measured:
        """The candidates of a recall and their features."""
        with self._kept.using(run.tx.user):
            carried = self._question_labels(run, steps, labels)
            return self._measured(run, asked, steps, items, carried, max(strategy.pool, run.request.k))

    def _question_labels(self, run: Run, steps: WorkingSet, asked: QueryFilter) -> QuestionLabels | None:
        """The labels asked for, with those that the steps carry; None where nothing is labelled."""
        if self._intent is None:
            return None
        user = run.tx.user
        with self._guard:
            labels = self._labels.get(user)
            if labels is None or labels.steps is not steps:
                labels = self._labels[user] = LabelSet(steps)
            self._labels.move_to_end(user)
            while len(self._labels) > _LABELLED:
                self._labels.popitem(last=False)
            labels.refresh(run.tx, run.tx.change)
        if not labels.scope_ids:
            return None
        if asked.note:
            run.notes["labels"] = asked.note
        return QuestionLabels.read(asked, labels, self._vocabularies.whole(run.tx))

    def _measured(
        self,
        run: Run,
        asked: Asked,
        steps: WorkingSet,
        items: ItemSet | None,
        labels: QuestionLabels | None,
        pool: int,
    ) -> Measured:
        rankings = {"dense": self._dense(run, asked, steps, items, labels, pool), "bm25": self._bm25(run, pool)}
        told: dict[str, dict[str, tuple[float, int]]] = {}
        for name, ranking in rankings.items():
            for rank, (record_id, value) in enumerate(ranking, 1):
                told.setdefault(record_id, {})[name] = (value, rank)
        found = [one for one in told if one in steps.row_of]
        near = [one for one in found if any(rank <= _NEAREST for _, rank in told[one].values())]
        step_ids = [*found, *self._beside(run.permit, found, near, steps)] if run.permit.wants_steps else []
        facts = self._facts(run, [one for one in told if not one.startswith("step_")], steps, items)
        return Measured(asked, compute_features(asked, make_pool(step_ids, facts, steps), steps, labels), told)

    def rank(self, run: Run, measured: Measured, ranker: Ranker) -> Ranked:
        """Score the candidates; the best are told with the share of each signal."""
        features = measured.features
        x = standardised(features.values, ranker.weights.deviation) if len(features.pool) else None
        scores = ranker.score(features, x)
        ids = features.pool.ids
        best = np.argsort(-scores, kind="stable")[: max(_LEAST, _SPARE * run.request.k)]
        candidates: dict[str, Candidate] = {}
        late = features.column("late") if len(ids) else np.empty(0, np.float32)
        shares = ranker.shares(features, best, x) if len(best) else np.empty((0, len(SIGNALS)))
        order = np.argsort(-np.abs(shares), axis=1, kind="stable")
        for index, own, ordered in zip(best.tolist(), shares.tolist(), order.tolist(), strict=True):
            told = measured.told.get(ids[index], {}) | {"late": (float(late[index]), None)}
            why = [(SIGNALS[one], *told.get(SIGNALS[one], (None, None)), own[one]) for one in ordered[:_TOLD]]
            why.append(("others", None, None, sum([own[one] for one in ordered[_TOLD:]])))
            # The sum of the shares is the score, in more digits.
            candidates[ids[index]] = Candidate(ids[index], sum([one[3] for one in why]), why)
        return Ranked(candidates, operations_of(features.cues), ranker.answerable(features, scores))

    def _dense(
        self,
        run: Run,
        asked: Asked,
        steps: WorkingSet,
        items: ItemSet | None,
        labels: QuestionLabels | None,
        pool: int,
    ) -> list[tuple[str, float]]:
        ranking: list[tuple[str, float]] = []
        if run.permit.wants_steps:
            if run.permit.narrows_steps or len(steps) > _SCANNED:
                ranking += self._dense_steps(run, asked.vector, pool)
            elif len(steps):
                ranking += self._scanned(asked, steps, labels, pool)
        if items is not None and not run.permit.believed:
            if run.permit.items is None or run.permit.items:
                ranking += items.nearest(asked.vector, pool, run.permit.items)
        else:
            ranking += self._dense_items(run, asked.vector, pool)
        ranking.sort(key=lambda hit: (-hit[1], hit[0]))
        return ranking

    def _scanned(
        self, asked: Asked, steps: WorkingSet, labels: QuestionLabels | None, pool: int
    ) -> list[tuple[str, float]]:
        """The steps nearest to the question, those that are together with the steps beside them, and the nearest of
        the scopes that the question means."""
        if asked.bare is asked.vector:
            whole = bare = steps.similarities(asked.vector)
        else:
            whole, bare = steps.similarities(np.stack([asked.vector, asked.bare]))
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
        inside = np.empty(0, np.int64) if labels is None else labels.rows_asked()
        if len(inside) > _INSIDE:
            inside = inside[np.argpartition(-together[inside], _INSIDE)[:_INSIDE]]
        chosen.update(dict.fromkeys(inside[np.argsort(-together[inside], kind="stable")].tolist()))
        return [(steps.ids[row], float(whole[row])) for row in chosen]

    def _beside(self, permit: Permit, found: Sequence[str], near: Sequence[str], steps: WorkingSet) -> list[str]:
        """The permitted steps beside those found: one turn away, and two of those that are among the nearest."""
        rows = np.array([steps.row_of[one] for one in found], np.int64)
        nearest = np.array([steps.row_of[one] for one in near], np.int64)
        marked = np.zeros(len(steps), bool)
        for ahead in (steps.before, steps.after):
            once = ahead[rows]
            marked[once[once >= 0]] = True
            once = ahead[nearest]
            twice = ahead[once[once >= 0]]
            marked[twice[twice >= 0]] = True
        marked[rows] = False
        others = [steps.ids[row] for row in np.flatnonzero(marked).tolist()]
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
