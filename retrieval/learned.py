"""Candidates of the learned ranking: from every signal and beside them, measured at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, select

from hexamem.intent.query import QueryFilter
from hexamem.memory_types import MemoryItem
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.label_density import QueryIntent
from hexamem.retrieval.request import RecallFilter, Request, Run
from hexamem.retrieval.retrievers import Retrievers
from hexamem.retrieval.signals.features import Features, compute_features
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
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items as item_table
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["LearnedSearch", "Measured", "QuestionRead", "SignalRanks"]

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


class QuestionRead(NamedTuple):
    """A question as read, the steps and items it was read against, and the labels that it names."""

    asked: Asked
    steps: WorkingSet
    items: ItemSet | None
    labels: QueryFilter


class SignalRanks:
    """The value and rank that each signal gives to records; of most records these are never asked for.

    Args:
        rankings: by signal, best first.
    """

    def __init__(self, rankings: Mapping[str, Ranking]) -> None:
        self._rankings = rankings
        self._places = {
            name: {record_id: place for place, (record_id, _) in enumerate(ranking)}
            for name, ranking in rankings.items()
        }

    def of(self, record_id: str) -> dict[str, tuple[float, int | None]]:
        """Signal → its value and rank, of those that found the record."""
        found = {name: places[record_id] for name, places in self._places.items() if record_id in places}
        return {name: (self._rankings[name][place][1], place + 1) for name, place in found.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with its candidates' features, and the ranks that the retrievers give these."""

    asked: Asked
    features: Features
    ranks: SignalRanks


class LearnedSearch:
    """Finds and measures candidates. Safe to use from several threads.

    Args:
        folder: where working sets are stored from one process to the next; None for nowhere.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        embedder: Embedder,
        retrievers: Retrievers,
        intent: QueryIntent | None,
        vocabularies: KeptVocabularies,
        folder: Path | None,
    ) -> None:
        self._ledger, self._vectors, self._embedder, self._retrievers = ledger, vectors, embedder, retrievers
        self._kept = KeptWorkingSets(vectors, embedder, folder, labelled=intent is not None)
        self._intent, self._vocabularies = intent, vocabularies

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
        return QuestionRead(asked, steps, items, labels)

    def measure(self, run: Run, question: QuestionRead, strategy: Strategy) -> Measured:
        """The candidates of a recall and their features."""
        with self._kept.using(run.tx.user):
            carried = self._question_labels(run, question)
            return self._measured(run, question, carried, max(strategy.pool, run.request.k))

    def _question_labels(self, run: Run, question: QuestionRead) -> QuestionLabels | None:
        """The labels asked for, with those that the steps carry; None where nothing is labelled."""
        if self._intent is None:
            return None
        labels = self._kept.labels(run.tx, question.steps)
        if not labels.scope_ids:
            return None
        if question.labels.note:
            run.notes["labels"] = question.labels.note
        return QuestionLabels.read(question.labels, labels, self._vocabularies.whole(run.tx))

    def _measured(self, run: Run, question: QuestionRead, labels: QuestionLabels | None, pool: int) -> Measured:
        asked, steps, items, _ = question
        rankings = {"dense": self._dense(run, question, labels, pool), "bm25": self._retrievers.bm25(run, pool)}
        found = dict.fromkeys(one for ranking in rankings.values() for one, _ in ranking)
        rows = {one: row for one in found if (row := steps.row_of.get(one)) is not None}
        near = [rows[one] for ranking in rankings.values() for one, _ in ranking[:_NEAREST] if one in rows]
        step_ids = [*rows, *self._beside(run.filter, [*rows.values()], near, steps)] if run.filter.wants_steps else []
        facts = self._facts(run, [one for one in found if not one.startswith("step_")], steps, items)
        features = compute_features(asked, make_pool(step_ids, facts, steps), steps, labels)
        return Measured(asked, features, SignalRanks(rankings))

    def _dense(
        self, run: Run, question: QuestionRead, labels: QuestionLabels | None, pool: int
    ) -> list[tuple[str, float]]:
        asked, steps, items, _ = question
        ranking: list[tuple[str, float]] = []
        if run.filter.wants_steps:
            if run.filter.narrows_steps or len(steps) > _SCANNED:
                ranking += self._retrievers.dense_steps(run, asked.vector, pool)
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
        if items is not None and not run.filter.believed:
            if run.filter.items is None or run.filter.items:
                ranking += items.nearest(asked.vector, pool, run.filter.items)
        else:
            ranking += self._retrievers.dense_items(run, asked.vector, pool)
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

    def _beside(self, permit: RecallFilter, found: Sequence[int], near: Sequence[int], steps: WorkingSet) -> list[str]:
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
        if items is not None and not run.filter.believed:
            return items.facts(ids)
        if not ids:
            return []
        believed = run.filter.believed
        long = [one for one in ids if one not in believed and run.passage(one) is not None]
        records: dict[str, MemoryItem] = {
            **get_items(run.tx, long),
            **{one: believed[one] for one in ids if one in believed},
        }
        texts = {one: run.item_text(record) for one, record in records.items()}
        for part in chunks([one for one in ids if one not in texts]):
            texts.update({row.id: row.text for row in run.tx.all(_TEXTS, user=run.tx.user_id, ids=part)})
        stored = {one: run.passage(one) or one for one in texts if one not in run.former}
        indexed = self._vectors.vectors(run.key, "items", list(stored.values()))
        vectors = {one: indexed[name] for one, name in stored.items() if name in indexed}
        if run.former_vectors is not None:
            vectors.update(zip(run.former, run.former_vectors, strict=True))
        return read_facts(run.tx, texts, vectors, steps, self._embedder)
