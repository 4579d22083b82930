"""The candidates of the learned ranking, from all retrievers and the steps beside these, with their features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, select

from hexamem.intent.query import QueryFilter
from hexamem.memory_types import MemoryItem
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.label_density import QueryIntent
from hexamem.retrieval.request import RecallFilter, Request, Run
from hexamem.retrieval.retrievers import WIDEN, Retrievers, nearest_permitted
from hexamem.retrieval.signals.content import REPEATED
from hexamem.retrieval.signals.features import Features, compute_features
from hexamem.retrieval.signals.labels import QuestionLabels
from hexamem.retrieval.signals.pool import make_pool
from hexamem.retrieval.signals.question import ParsedQuestion, is_question, read_question
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.item_set import ItemFacts, ItemSet, read_facts
from hexamem.stores.ledger import Ledger, Transaction, get_items
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items as item_table
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary_cache import VocabularyCache
from hexamem.stores.working_set import WorkingSet
from hexamem.stores.working_set_cache import WorkingSetCache

__all__ = ["LearnedSearch", "Measured", "RecallQuestion", "SignalRanks"]

_SCANNED = 25_000
"""Up to this number all steps are compared with the question; beyond it the vector index returns the nearest."""
_NEAR = 0.7  # weight of the steps beside one, where they are compared together
_NEAREST = 40  # of each ranking
_HOPS = 3  # of the nearest steps, from which a second hop is made
_LEAST_FOR_HOPS = 20  # steps
_INSIDE = 50  # steps of the scopes that the question names

_TEXTS = Prepared(
    select(item_table.c.id, item_table.c.text).where(
        item_table.c.user_id == bindparam("user"), item_table.c.id.in_(bindparam("ids", expanding=True))
    )
)


class RecallQuestion(NamedTuple):
    """A parsed question, the working sets against which it was parsed, and the labels that it names."""

    parsed: ParsedQuestion
    steps: WorkingSet
    items: ItemSet | None
    labels: QueryFilter


class SignalRanks:
    """The values and ranks of records in the rankings of signals, looked up on demand.

    Args:
        rankings: signal → its ranking, best first.
    """

    def __init__(self, rankings: Mapping[str, Ranking]) -> None:
        self._rankings = rankings
        self._places = {
            name: {record_id: place for place, (record_id, _) in enumerate(ranking)}
            for name, ranking in rankings.items()
        }

    def of(self, record_id: str) -> dict[str, tuple[float, int | None]]:
        """Signal → value and rank of a record, for the signals that returned it."""
        ranked = {name: places[record_id] for name, places in self._places.items() if record_id in places}
        return {name: (self._rankings[name][place][1], place + 1) for name, place in ranked.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """A question with the features of its candidates, and their ranks by the retrievers."""

    question: ParsedQuestion
    features: Features
    ranks: SignalRanks


class LearnedSearch:
    """Finds and measures candidates. Thread-safe."""

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        embedder: Embedder,
        retrievers: Retrievers,
        intent: QueryIntent,
        vocabularies: VocabularyCache,
        indexed: Callable[[Transaction], int],
    ) -> None:
        self._ledger, self._vectors, self._embedder, self._retrievers = ledger, vectors, embedder, retrievers
        self._kept = WorkingSetCache(vectors, embedder, indexed)
        self._intent, self._vocabularies = intent, vocabularies

    def drop(self, user: str) -> None:
        """Evict a user from the working sets."""
        self._kept.drop(user)

    def refresh(self, user: str) -> None:
        """Update the working sets of a user with what was written, so that the next recall need not."""
        if not self._kept.holds(user):
            return
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return
            steps, _ = self._kept.of(tx)
            with self._kept.using(user):
                steps.prepare(_NEAR)
                labels = self._kept.labels(tx, steps)
                if labels.scope_ids:
                    labels.scopes(self._vocabularies.of(tx))

    def read(self, user: str, request: Request) -> RecallQuestion | None:
        """Parse the question, before the transaction in which it is answered; None for an unknown user."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                self._kept.drop(user)  # the user may have been erased by another home of a shared ledger
                return None
            (steps, items), zone = self._kept.of(tx), read_zone(tx.timezone)
        parsed = read_question(request.query, steps, self._embedder, zone, request.as_of)
        return RecallQuestion(parsed, steps, items, self._intent(user, request.query))

    def measure(self, run: Run, question: RecallQuestion, strategy: Strategy) -> Measured:
        """The candidates of a recall and their features."""
        with self._kept.using(run.tx.user):
            labels = self._question_labels(run, question)
            return self._measured(run, question, labels, max(strategy.pool, run.request.k))

    def _question_labels(self, run: Run, question: RecallQuestion) -> QuestionLabels | None:
        """The labels that the question names, with those of the steps; None where no step is labelled."""
        labels = self._kept.labels(run.tx, question.steps)
        if not labels.scope_ids:
            return None
        if question.labels.note:
            run.notes["labels"] = question.labels.note
        return QuestionLabels.read(question.labels, labels, self._vocabularies.of(run.tx))

    def _measured(self, run: Run, question: RecallQuestion, labels: QuestionLabels | None, pool: int) -> Measured:
        parsed, steps, items, _ = question
        rankings = {"dense": self._dense(run, question, labels, pool), "bm25": self._retrievers.bm25(run, pool)}
        found = dict.fromkeys(record_id for ranking in rankings.values() for record_id, _ in ranking)
        rows = {record_id: row for record_id in found if (row := steps.row_of.get(record_id)) is not None}
        near = [
            rows[record_id] for ranking in rankings.values() for record_id, _ in ranking[:_NEAREST] if record_id in rows
        ]
        step_ids = [*rows, *self._beside(run.filter, [*rows.values()], near, steps)] if run.filter.wants_steps else []
        if is_question(parsed.text) and step_ids:
            cosines = steps.products(np.array([steps.row_of[step_id] for step_id in step_ids]), parsed.vector[None])
            step_ids = [each for each, cosine in zip(step_ids, cosines[:, 0], strict=True) if cosine < REPEATED]
        facts = self._facts(run, [record_id for record_id in found if not record_id.startswith("step_")], steps, items)
        features = compute_features(parsed, make_pool(step_ids, facts, steps), steps, labels)
        return Measured(parsed, features, SignalRanks(rankings))

    def _dense(
        self, run: Run, question: RecallQuestion, labels: QuestionLabels | None, pool: int
    ) -> list[tuple[str, float]]:
        parsed, steps, items, _ = question
        ranking: list[tuple[str, float]] = []
        if run.filter.wants_steps:
            if run.filter.narrows_steps or len(steps) > _SCANNED:
                ranking += self._retrievers.dense_steps(run, parsed.vector, pool)
                new = [row for step_id in run.unindexed if (row := steps.row_of.get(step_id)) is not None]
                if new:
                    ranked = {step_id for step_id, _ in ranking}
                    cosines = steps.products(np.array(new), parsed.vector[None])[:, 0].tolist()
                    ranking += [
                        (steps.ids[row], cosine)
                        for row, cosine in zip(new, cosines, strict=True)
                        if steps.ids[row] not in ranked
                    ]
            elif len(steps):
                ranking += self._scanned(parsed, steps, labels, pool)
        if items is not None and not run.filter.believed:
            ranking += self._nearest_items(run.filter, items, parsed.vector, pool)
        else:
            ranking += self._retrievers.dense_items(run, parsed.vector, pool)
        ranking.sort(key=itemgetter(0))
        ranking.sort(key=itemgetter(1), reverse=True)  # a stable sort: equal cosines remain in the order of ids
        return ranking

    @staticmethod
    def _nearest_items(filters: RecallFilter, items: ItemSet, vector: FloatArray, pool: int) -> Ranking:
        if not filters.narrows_items:
            return items.nearest(vector, pool, None)
        wide = items.nearest(vector, pool * WIDEN, None) if filters.wants_items else []
        among = partial(items.nearest, vector, pool)
        return nearest_permitted(wide, filters.items_among, lambda: filters.items or set(), among, pool)

    def _scanned(
        self, question: ParsedQuestion, steps: WorkingSet, labels: QuestionLabels | None, pool: int
    ) -> list[tuple[str, float]]:
        """The steps nearest to the question, alone and together with the steps beside them, and the nearest in the scopes
        that the question names."""
        if question.bare is question.vector:
            whole = bare = steps.similarities(question.vector)
        else:
            whole, bare = steps.similarities(np.stack([question.vector, question.bare]))
        together = steps.with_neighbours(bare, _NEAR)
        chosen: dict[int, None] = {}
        for values in (whole, together, *self._hops(question, whole, steps)):
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
    def _hops(question: ParsedQuestion, whole: FloatArray, steps: WorkingSet) -> list[FloatArray]:
        """Similarities to the second-hop queries from the nearest steps; empty without an embedder that makes them."""
        if question.hop is None or len(whole) < _LEAST_FOR_HOPS:
            return []
        nearest = np.argpartition(whole, len(whole) - _HOPS)[len(whole) - _HOPS :]
        wanted = question.hop(question.vector, steps.vectors(nearest))
        return [] if wanted is None else [steps.similarities(wanted).max(axis=0)]

    def _beside(self, filters: RecallFilter, found: Sequence[int], near: Sequence[int], steps: WorkingSet) -> list[str]:
        """The permitted steps one turn away from those retrieved, and two turns away from the nearest; by rows."""
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
        if not filters.narrows_steps:
            return others
        permitted = filters.steps_among(others)
        return [step_id for step_id in others if step_id in permitted]

    def _facts(self, run: Run, ids: Sequence[str], steps: WorkingSet, items: ItemSet | None) -> list[ItemFacts]:
        """The facts of items that features compare, from memory or the stores."""
        if items is not None and not run.filter.believed:
            return items.facts(ids)
        if not ids:
            return []
        believed = run.filter.believed
        documents = [item_id for item_id in ids if item_id not in believed and run.passage(item_id) is not None]
        records: dict[str, MemoryItem] = {
            **get_items(run.tx, documents),
            **{item_id: believed[item_id] for item_id in ids if item_id in believed},
        }
        texts = {item_id: run.item_text(record) for item_id, record in records.items()}
        for part in chunks([item_id for item_id in ids if item_id not in texts]):
            texts.update({row.id: row.text for row in run.tx.all(_TEXTS, user=run.tx.user_id, ids=part)})
        stored = {item_id: run.passage(item_id) or item_id for item_id in texts if item_id not in run.former}
        indexed = self._vectors.vectors(run.key, "items", list(stored.values()))
        vectors = {item_id: indexed[name] for item_id, name in stored.items() if name in indexed}
        if run.former_vectors is not None:
            vectors.update(zip(run.former, run.former_vectors, strict=True))
        return read_facts(run.tx, texts, vectors, steps, self._embedder)
