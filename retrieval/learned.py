"""Candidates of the learned ranking: from every signal and beside them, measured at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

import numpy as np
from sqlalchemy import bindparam, select

from hexamem.intent.query import QueryFilter
from hexamem.memory_types import MemoryItem
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.label_density import QueryIntent
from hexamem.retrieval.late import item_text
from hexamem.retrieval.measured import Measured, Told
from hexamem.retrieval.permit import Permit, Request
from hexamem.retrieval.run import Run
from hexamem.retrieval.signals.features import compute_features
from hexamem.retrieval.signals.labels import QuestionLabels
from hexamem.retrieval.signals.pool import make_pool
from hexamem.retrieval.signals.question import Asked, read_question
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.item_set import ItemFacts, ItemSet, read_facts
from hexamem.stores.kept_vocabularies import KeptVocabularies
from hexamem.stores.kept_working_sets import KeptWorkingSets
from hexamem.stores.ledger import Ledger, get_items
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items as item_table
from hexamem.stores.ledger.steps import chunks
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["LearnedSearch", "Measured", "QuestionRead"]

QuestionRead: TypeAlias = tuple[Asked, WorkingSet, ItemSet | None, QueryFilter]
"""A question as read, the steps and items it was read against, and the labels that it names."""

_SCANNED = 25_000
"""Up to so many steps all are compared with the question, exactly; beyond, the vector index gives the nearest."""
_NEAR = 0.7
_NEAREST = 40  # of each ranking
_HOPS = 3  # of the nearest steps, from which a second hop is made
_LEAST_FOR_HOPS = 20  # steps
_SETTLED = 256  # items at a time: a few milliseconds, for which a recall may have to wait
_INSIDE = 50  # steps of the scopes that are meant

_TEXTS = Prepared(
    select(item_table.c.id, item_table.c.text).where(
        item_table.c.user_id == bindparam("user"), item_table.c.id.in_(bindparam("ids", expanding=True))
    )
)


class LearnedSearch:
    """Finds and measures candidates. Safe to use from several threads.

    Args:
        dense_steps, dense_items, bm25: the retrievers, which meet a request's filters.
        folder: where working sets are kept from one process to the next; None for nowhere.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        embedder: Embedder,
        *,
        dense_steps: Callable[[Run, FloatArray, int], Ranking],
        dense_items: Callable[[Run, FloatArray, int], Ranking],
        bm25: Callable[[Run, int], Ranking],
        intent: QueryIntent | None = None,
        vocabularies: KeptVocabularies | None = None,
        folder: Path | None = None,
    ) -> None:
        self._ledger, self._vectors, self._embedder = ledger, vectors, embedder
        self._dense_steps, self._dense_items, self._bm25 = dense_steps, dense_items, bm25
        self._kept = KeptWorkingSets(vectors, embedder, folder, labelled=intent is not None)
        self._intent, self._vocabularies = intent, vocabularies or KeptVocabularies()

    def drop(self, user: str) -> None:
        """Forget what is kept of a user that the ledger may not hold any more, in memory and on disk."""
        self._kept.drop(user, self._ledger)

    def refresh(self, user: str) -> None:
        """Take in what a user of whom recalls were made wrote since, so that the next recall need not."""
        if not self._kept.holds(user):
            return
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return
            steps, items = self._kept.of(tx)
            with self._kept.using(user):
                steps.settle(_NEAR)
                if items is not None:
                    items.settle(_SETTLED)
                if self._intent is not None:
                    labels = self._kept.labels(tx, steps)
                    if labels.scope_ids:
                        labels.scopes(self._vocabularies.whole(tx))
        self._kept.save(self._ledger, user)

    def read(self, user: str, request: Request) -> QuestionRead | None:
        """Read the question, before any transaction in which it is answered; None for a user without a record."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                self._kept.drop(user)  # erased by another home of a shared ledger, perhaps
                return None
            (steps, items), zone = self._kept.of(tx), read_zone(tx.timezone)
        self._kept.save(self._ledger, user)
        asked = read_question(request.query, steps, self._embedder, zone, request.as_of)
        labels = QueryFilter() if self._intent is None else self._intent(user, request.query)
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
        labels = self._kept.labels(run.tx, steps)
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
        found = dict.fromkeys(one for ranking in rankings.values() for one, _ in ranking)
        rows = {one: row for one in found if (row := steps.row_of.get(one)) is not None}
        near = [rows[one] for ranking in rankings.values() for one, _ in ranking[:_NEAREST] if one in rows]
        step_ids = [*rows, *self._beside(run.permit, [*rows.values()], near, steps)] if run.permit.wants_steps else []
        facts = self._facts(run, [one for one in found if not one.startswith("step_")], steps, items)
        features = compute_features(asked, make_pool(step_ids, facts, steps), steps, labels)
        return Measured(asked, features, Told(rankings))

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
                new = [row for one in run.unindexed if (row := steps.row_of.get(one)) is not None]
                if new:
                    held = {one for one, _ in ranking}
                    cosines = steps.products(np.array(new), asked.vector[None])[:, 0].tolist()
                    ranking += [
                        (steps.ids[row], cosine)
                        for row, cosine in zip(new, cosines, strict=True)
                        if steps.ids[row] not in held
                    ]
            elif len(steps):
                ranking += self._scanned(asked, steps, labels, pool)
        if items is not None and not run.permit.believed:
            if run.permit.items is None or run.permit.items:
                ranking += items.nearest(asked.vector, pool, run.permit.items)
        else:
            ranking += self._dense_items(run, asked.vector, pool)
        ranking.sort(key=itemgetter(0))
        ranking.sort(key=itemgetter(1), reverse=True)  # equals stay in the order of their ids
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
        together = steps.with_neighbours(bare, _NEAR)
        chosen: dict[int, None] = {}
        for values in (whole, together, *self._hops(asked, whole, steps)):
            count = min(pool, len(values))
            best = np.argpartition(values, len(values) - count)[len(values) - count :]
            chosen.update(dict.fromkeys(best[np.argsort(-values[best], kind="stable")].tolist()))
        inside = np.empty(0, np.int64) if labels is None else labels.rows_asked()
        if len(inside) > _INSIDE:
            inside = inside[np.argpartition(-together[inside], _INSIDE)[:_INSIDE]]
        chosen.update(dict.fromkeys(inside[np.argsort(-together[inside], kind="stable")].tolist()))
        rows = [*chosen]
        return list(zip([steps.ids[row] for row in rows], whole[rows].tolist(), strict=True))

    @staticmethod
    def _hops(asked: Asked, whole: FloatArray, steps: WorkingSet) -> list[FloatArray]:
        """Similarities to what a second hop from the nearest steps looks for; none without an embedder made for it."""
        if asked.hop is None or len(whole) < _LEAST_FOR_HOPS:
            return []
        nearest = np.argpartition(whole, len(whole) - _HOPS)[len(whole) - _HOPS :]
        wanted = asked.hop(asked.vector, steps.vectors(nearest))
        return [] if wanted is None else [steps.similarities(wanted).max(axis=0)]

    def _beside(self, permit: Permit, found: Sequence[int], near: Sequence[int], steps: WorkingSet) -> list[str]:
        """The permitted steps beside those found, by rows: one turn away, and two of those that are among the nearest."""
        rows, nearest = np.array(found, np.int64), np.array(near, np.int64)
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
            return items.facts(ids)
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
