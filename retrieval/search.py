"""One recall: candidates from every signal of a strategy, filters that cost no recall, fusion, and the hits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta, timezone, tzinfo
from functools import partial

import numpy as np
import numpy.typing as npt

from ..intent.query import QueryFilter
from ..memory_types import Hit, MemoryItem, ResourceItem, Signal, Source, Step
from ..memory_types.times import read_zone
from ..stores.chunking import SHORT, chunk_spans, is_passage, item_of, passage_at, span_of
from ..stores.embedders import Embedder
from ..stores.ledger import Ledger, Transaction, event_time, get_items, get_steps, neighbours, user_key
from ..stores.ledger.items import item_statuses
from ..stores.ledger.steps import Neighbours
from ..stores.lexical import LexicalFilter, LexicalStore
from ..stores.projections import holds_documents
from ..stores.vector_cache import embed_texts
from ..stores.vectors import VectorStore
from .fusion import Candidate, Ranking, best, fuse, spread
from .label_density import QueryIntent, asked_labels, by_density
from .permit import Permit, Request
from .strategies import LabelWeights, Strategy

__all__ = ["Searcher"]

_WIDEN = 4
"""How much wider than its pool a signal looks before its hits are filtered."""
_PASSAGE_RANK = 60
"""Reciprocal rank fusion's constant (Cormack et al., SIGIR 2009), for the best passage of a document."""


class Searcher:
    """Runs recalls over one home's ledger and indexes."""

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorStore,
        lexical: LexicalStore,
        embedder: Embedder,
        intent: QueryIntent | None = None,
    ) -> None:
        self._ledger, self._vectors, self._lexical, self._embedder = ledger, vectors, lexical, embedder
        self._intent = intent
        self._signals: dict[str, Callable[[_Run, int], Ranking]] = {"dense": self._dense, "bm25": self._bm25}

    def search(self, user: str, request: Request, strategy: Strategy) -> list[Hit]:
        """The k best hits, best first; equal scores in order of id. The indexes must be up to the ledger.

        The embedder, which may be a remote one, is never called while the ledger is being read.
        """
        former = self._former_items(user, request)
        vector = former_vectors = None
        if "dense" in strategy.signals:
            vector = self._embedder.embed_query(request.query)
            former_vectors = embed_texts(self._ledger, user, self._embedder, [item.text for item in former.values()])
        known = self._embedder.known_share(request.query)
        asked = QueryFilter()
        if strategy.density is not None and self._intent is not None:
            asked = self._intent(user, request.query, vector)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return []
            run = _Run(tx, request, Permit(tx, request), user_key(user), former, vector, former_vectors)
            if known < 1:
                run.notes["dense"] = f"knows {known:.0%} of the query"
            pool = max(strategy.pool, request.k)
            rankings = {name: self._signals[name](run, pool) for name in strategy.signals}
            candidates = fuse(rankings, strategy, {"dense": known})
            if strategy.density is not None:
                candidates = self._by_density(run, asked, candidates, strategy, strategy.density, known)
            if strategy.neighbours and run.permit.wants_steps:
                origins = best(candidates, strategy.spread_from)
                around = neighbours(tx, [one.id for one in origins], len(strategy.neighbours))
                candidates = spread(candidates, origins, _permitted(run.permit, around), strategy)
            return _hits(run, candidates, strategy, self._lexical)

    def _by_density(
        self,
        run: _Run,
        asked: QueryFilter,
        candidates: dict[str, Candidate],
        strategy: Strategy,
        settings: LabelWeights,
        known: float,
    ) -> dict[str, Candidate]:
        """Add the densest snippets to the similar ones, and order all by density."""
        labels = asked_labels(run.tx, asked, best(candidates, settings.voters), settings)
        run.notes["labels"] = run.notes["votes"] = labels.note
        pool = max(settings.pool, run.request.k)
        densities = self._densest(run, labels.weights, pool)
        if not densities and not (labels.votes and settings.vote):
            return candidates
        # Similarity among the densest alone: the best of them need not be among the best of all.
        rankings: dict[str, Ranking] = {}
        if densities:
            among = LexicalFilter(ids=densities.keys())
            rankings["bm25"] = self._lexical.search(run.key, run.request.query, pool, filters=among)
            if run.vector is not None:
                steps = [record_id for record_id in densities if record_id.startswith("step_")]
                rankings["dense"] = self._vectors.query_among(run.key, "steps", run.vector, steps, pool)
        similar = {**candidates, **fuse(rankings, strategy, {"dense": known})}
        for record_id in densities.keys() - similar.keys():
            similar[record_id] = Candidate(record_id)
        beyond = similar.keys() - densities.keys()
        if len(densities) == pool and beyond:  # some of these may be as dense as those that were taken
            densities.update(
                self._lexical.label_density(run.key, labels.weights, pool, filters=LexicalFilter(ids=beyond))
            )
        votes: dict[str, float] = {}
        if labels.votes and settings.vote:  # of these alone: among all of a user's steps thousands may be equal
            own = LexicalFilter(ids=similar.keys())
            votes = dict(self._lexical.label_density(run.key, labels.votes, len(similar), filters=own))
        return by_density(densities, similar, settings.step, votes, settings.vote)

    def _densest(self, run: _Run, weights: Mapping[str, float], pool: int) -> dict[str, float]:
        """The permitted records whose labels weigh most, with the sum of the weights."""
        if not weights:
            return {}
        found = self._lexical.label_density(run.key, weights, pool)
        met = run.permit.among([hit[0] for hit in found])
        if len(met) < len(found) == pool:
            found = self._lexical.label_density(run.key, weights, pool, filters=LexicalFilter(ids=run.permit.all_ids()))
            met = {hit[0] for hit in found}
        return {record_id: value for record_id, value in found if record_id in met}

    def _former_items(self, user: str, request: Request) -> dict[str, MemoryItem]:
        """Items that were believed then in other words than now: the indexes do not hold these words."""
        if request.known_at is None:
            return {}
        with self._ledger.read(user) as tx:
            return Permit(tx, request).former if tx.user_id else {}

    def _dense(self, run: _Run, pool: int) -> Ranking:
        if run.vector is None or run.former_vectors is None:
            raise ValueError("the dense signal was asked without the query's vector")
        permit = run.permit
        ranking: list[tuple[str, float]] = []
        if permit.wants_steps:
            ranking += self._dense_steps(run, run.vector, pool)
        if permit.items is None:
            ranking += _widened(run, "dense", partial(self._vectors.query, run.key, "items", run.vector), pool)
        elif permit.items:
            wide = run.whole("dense", self._vectors.query(run.key, "items", run.vector, pool * _WIDEN))
            kept = [hit for hit in wide if hit[0] in permit.items][:pool]
            if len(kept) < min(pool, len(permit.items)):
                ids = self._with_passages(run, permit.items)
                kept = _widened(
                    run, "dense", partial(self._vectors.query_among, run.key, "items", run.vector, ids), pool
                )
            ranking += kept
        scores = run.former_vectors @ run.vector if run.former else ()
        ranking += [(item_id, float(score)) for item_id, score in zip(run.former, scores, strict=True)]
        ranking.sort(key=lambda hit: (-hit[1], hit[0]))
        return ranking[:pool]

    def _dense_steps(self, run: _Run, vector: npt.NDArray[np.float32], pool: int) -> list[tuple[str, float]]:
        if not run.permit.narrows_steps:
            return self._vectors.query(run.key, "steps", vector, pool)
        wide = self._vectors.query(run.key, "steps", vector, pool * _WIDEN)
        met = run.permit.steps_among([hit[0] for hit in wide])
        kept = [hit for hit in wide if hit[0] in met][:pool]
        if len(kept) >= min(pool, len(run.permit.all_steps) if len(kept) < pool else pool):
            return kept
        return self._vectors.query_among(run.key, "steps", vector, run.permit.all_steps, pool)

    def _bm25(self, run: _Run, pool: int) -> Ranking:
        permit, query = run.permit, run.request.query
        kinds = LexicalFilter(kinds=permit.kinds) if permit.kinds is not None else None
        if not permit.narrows_steps and (permit.items is None or permit.kinds_only):
            return self._by_words(run, pool, kinds)
        found = self._lexical.search(run.key, query, pool * _WIDEN, filters=kinds)
        wide = run.whole("bm25", found)
        met = permit.among([hit[0] for hit in wide])
        kept = [hit for hit in wide if hit[0] in met][:pool]
        if len(kept) < pool and len(found) == pool * _WIDEN:
            kept = self._by_words(run, pool, LexicalFilter(ids=self._with_passages(run, permit.all_ids())))
        if run.former:
            texts = {item_id: item.text for item_id, item in run.former.items()}
            kept = [*kept, *self._lexical.score_texts(run.key, query, texts)]
            kept.sort(key=lambda hit: -hit[1])
        return kept[:pool]

    def _by_words(self, run: _Run, pool: int, filters: LexicalFilter | None) -> list[tuple[str, float]]:
        search = partial(self._lexical.search, run.key, run.request.query, filters=filters)
        return _widened(run, "bm25", search, pool)

    def _with_passages(self, run: _Run, ids: Collection[str]) -> set[str]:
        """The ids, and those of the passages by which the documents among them are indexed."""
        wanted = set(ids)
        if wanted and holds_documents(run.tx):
            wanted.update(
                [one for one in self._vectors.ids(run.key, "items") if is_passage(one) and item_of(one) in wanted]
            )
        return wanted


@dataclass(frozen=True, slots=True)
class _Run:
    tx: Transaction
    request: Request
    permit: Permit
    key: str
    former: dict[str, MemoryItem]
    vector: npt.NDArray[np.float32] | None
    former_vectors: npt.NDArray[np.float32] | None
    notes: dict[str, str] = field(default_factory=dict)
    passages: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)

    def whole(self, signal: str, found: Ranking) -> list[tuple[str, float]]:
        """A ranking with documents in place of their passages, each as good as its best; which one that is, is noted."""
        best: dict[str, float] = {}
        for rank, (record_id, value) in enumerate(found, 1):
            if is_passage(record_id):
                points = self.passages.setdefault(item_of(record_id), {}).setdefault(record_id, {})
                points[signal] = max(points.get(signal, 0.0), 1 / (_PASSAGE_RANK + rank))
            best.setdefault(item_of(record_id), value)
        return list(best.items())

    def passage(self, item_id: str) -> str | None:
        """The passage of a document that the signals together rank first."""
        found = self.passages.get(item_id)
        return None if not found else min(found, key=lambda one: (-sum(found[one].values()), span_of(one)))


def _widened(
    run: _Run, signal: str, search: Callable[[int], list[tuple[str, float]]], pool: int
) -> list[tuple[str, float]]:
    """The best ``pool`` steps and items, however many passages of one document stand before the others."""
    wide = pool
    while True:
        found = search(wide)
        ranking = run.whole(signal, found)
        if len(ranking) >= pool or len(found) < wide:
            return ranking[:pool]
        wide *= _WIDEN


def _permitted(permit: Permit, around: Neighbours) -> Neighbours:
    if not permit.narrows_steps:
        return around
    met = permit.steps_among({one[0] for beside in around.values() for one in beside})
    return {origin: [one for one in beside if one[0] in met] for origin, beside in around.items()}


def _hits(run: _Run, candidates: dict[str, Candidate], strategy: Strategy, lexical: LexicalStore) -> list[Hit]:
    ranked = sorted(candidates.values(), key=lambda candidate: (-candidate.score, candidate.id))
    item_ids = [candidate.id for candidate in ranked if not candidate.id.startswith("step_")]
    believed = run.permit.believed
    statuses = item_statuses(run.tx, item_ids) if item_ids else {}
    statuses.update({item_id: item.status for item_id, item in believed.items()})
    as_asked = run.request.as_of is not None or run.request.known_at is not None
    for candidate in ranked:
        if statuses.get(candidate.id) == "superseded" and not as_asked:
            # A negative score (a cosine) sinks as well: it grows by as much as a positive one shrinks.
            factor = strategy.superseded if candidate.score >= 0 else 2 - strategy.superseded
            candidate.score *= factor
            candidate.why = [(*reason[:3], reason[3] * factor) for reason in candidate.why]
    ranked.sort(key=lambda candidate: (-candidate.score, candidate.id))
    zone = read_zone(run.tx.timezone)
    # A candidate may have left the ledger since the indexes were read: take the next one instead.
    hits: list[Hit] = []
    for start in range(0, len(ranked), run.request.k):
        part = ranked[start : start + run.request.k]
        records: dict[str, Step | MemoryItem] = {
            **get_steps(run.tx, [one.id for one in part if one.id not in statuses])
        }
        # What they say is read of those alone that are shown: a document may be long.
        records.update(get_items(run.tx, [one.id for one in part if one.id in statuses and one.id not in believed]))
        for candidate in part:
            record = believed.get(candidate.id) or records.get(candidate.id)
            if record is not None:
                hits.append(_hit(candidate, record, run, zone, lexical))
        if len(hits) >= run.request.k:
            break
    return hits[: run.request.k]


def _passage_of(run: _Run, item: MemoryItem, lexical: LexicalStore) -> tuple[str, str | None]:
    """What is shown of an item: of a long document its title and best passage, with the place of that."""
    if not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
        return item.text, None
    found = None if item.id in run.former else run.passage(item.id)
    if found is not None:
        span = span_of(found)
    else:  # found by its title, its labels, or in words of before, which are in no index
        spans = chunk_spans(item)
        if not spans:
            return item.text, None
        texts = {str(number): item.content[start:end] for number, (start, end) in enumerate(spans)}
        scored = lexical.score_texts(run.key, run.request.query, texts)
        span = spans[int(max(scored, key=lambda one: one[1])[0]) if scored else 0]
    passage = passage_at(item, span)
    return f"{item.title}{f', {passage.place}' if passage.place else ''}\n{passage.text}", passage.place or None


def _hit(candidate: Candidate, record: Step | MemoryItem, run: _Run, zone: tzinfo, lexical: LexicalStore) -> Hit:
    why = tuple(
        Signal(name=name, value=value, rank=rank, share=share, note=run.notes.get(name))
        for name, value, rank, share in sorted(candidate.why, key=lambda reason: -reason[3])
    )
    if isinstance(record, Step):
        return Hit.model_construct(
            id=record.id,
            kind="step",
            text=record.index_text,
            score=candidate.score,
            why=why,
            occurred_at=record.occurred_at.astimezone(timezone(timedelta(minutes=record.offset_minutes))),
            speaker=record.speaker,
            thread_id=record.thread_id,
            sources=(Source.model_construct(step_id=record.id, quote="", start=None, end=None),),
            superseded=False,
        )
    text, place = _passage_of(run, record, lexical)
    return Hit.model_construct(
        id=record.id,
        kind=record.kind,
        text=text,
        place=place,
        score=candidate.score,
        why=why,
        occurred_at=event_time(record).astimezone(zone),
        speaker=None,
        thread_id=None,
        sources=record.sources,
        superseded=record.status == "superseded",
    )
