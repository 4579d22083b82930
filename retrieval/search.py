"""One recall: candidates from every signal of a strategy, filters that cost no recall, fusion, and the hits."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.errors import ConfigError, HexamemError
from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Hit, MemoryItem
from hexamem.retrieval.feedback_learning import FeedbackExample
from hexamem.retrieval.fusion import Candidate, Ranking, add_ranking, best, fuse, spread
from hexamem.retrieval.gates import OperationGate
from hexamem.retrieval.hits import LeaveOut, hits_of
from hexamem.retrieval.kept import Kept
from hexamem.retrieval.label_density import QueryIntent, asked_labels, by_density
from hexamem.retrieval.late import late_ranking
from hexamem.retrieval.learned import LearnedSearch, Measured, QuestionRead
from hexamem.retrieval.operating import (
    Opened,
    Searched,
    open_recall,
    outdated_steps,
    rank,
    replay,
    sub_questions,
)
from hexamem.retrieval.operations import Search
from hexamem.retrieval.permit import Permit, Request
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_weights import load_weights, shipped_weights
from hexamem.retrieval.run import Run
from hexamem.retrieval.strategies import FALLBACK, LabelWeights, Strategy, strategy_named
from hexamem.stores.chunking import is_passage, item_of
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, neighbours, user_key
from hexamem.stores.ledger.recalls import JudgedRecall, read_adjustment
from hexamem.stores.ledger.steps import Neighbours
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.projections import holds_documents
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["Found", "Searcher"]

_WIDEN = 4
"""How much wider than its pool a signal looks before its hits are filtered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a search gives: the hits, best first, and of ``learned`` the gate and the probability of an answer.

    Attributes:
        on: the operations that ran. chance: with which probability these were chosen.
        reasons: operation → what decided whether it ran. searches: how many were made.
        degraded: why another ranking than the one that was asked for had to do.
    """

    hits: list[Hit]
    gate: dict[str, float] | None = None
    answerable: float | None = None
    on: frozenset[str] = frozenset()
    chance: float = 1.0
    reasons: Mapping[str, str] = field(default_factory=dict)
    searches: int = 1
    degraded: tuple[str, ...] = ()


class Searcher:
    """Runs recalls over one home's ledger and indexes.

    Args:
        weights: file with the weights of the learned ranking; None takes those that ship for the embedder.
        folder: where what the learned ranking needs of steps is kept from one process to the next; None for nowhere.

    Attributes:
        kept: what is kept in memory between recalls.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        lexical: LexicalStore,
        embedder: Embedder,
        intent: QueryIntent | None = None,
        weights: str | os.PathLike[str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self._ledger, self._vectors, self._lexical, self._embedder = ledger, vectors, lexical, embedder
        self._intent, self._weights_file = intent, weights
        self.kept = Kept(embedder)
        self._signals: dict[str, Callable[[Run, int], Ranking]] = {"dense": self._dense, "bm25": self._bm25}
        self._learned = LearnedSearch(
            ledger,
            vectors,
            embedder,
            dense_steps=self._dense_steps,
            dense_items=self._dense_items,
            bm25=self._bm25,
            intent=intent,
            vocabularies=self.kept.vocabularies,
            folder=folder,
        )

    def drop(self, user: str) -> None:
        """Forget what is kept of a user, in memory and on disk."""
        self.kept.drop(user)
        self._vectors.let_go(user_key(user))
        self._learned.drop(user)
        self._embedder.forget()

    def refresh(self, user: str) -> None:
        """Take in what was written of a user of whom learned recalls were made; nobody may drop the user meanwhile."""
        self._learned.refresh(user)
        self.kept.refresh(self._ledger, user)

    def prepare(self, user: str) -> bool:
        """Read some more of what the next recalls of a user who was asked for will compare; whether there is more."""
        if self._embedder.token_model is None or not self.kept.asked(user):
            return False
        with self._ledger.read(user) as tx:
            return bool(tx.user_id) and self.kept.fill(tx)

    def reads_unindexed(self, request: Request, strategy: Strategy) -> bool:
        """Whether :meth:`find` can search new steps for this that are not indexed yet: a learned ranking compares all
        steps itself, from the ledger, where to embed them costs nothing."""
        narrowed = request.where is not None or request.as_of is not None or request.known_at is not None
        if narrowed or (request.kinds is not None and "step" not in request.kinds):
            return False
        return strategy.learned and not self._embedder.slow and isinstance(self.ranker, Ranker)

    def find(
        self,
        user: str,
        request: Request,
        strategy: Strategy,
        parts: tuple[str, ...] = (),
        unindexed: Mapping[str, str] | None = None,
        leave_out: LeaveOut | None = None,
    ) -> Found:
        """As :meth:`search`, with what a learned ranking tells beside the hits.

        Args:
            parts: of the question, by a model; where there are any, they are searched.
            unindexed: words of new steps by id that the indexes may not hold yet, where :meth:`reads_unindexed`.
            leave_out: tells what is not to be among the hits.
        """
        if not strategy.learned:
            return Found(hits=self.search(user, request, strategy, leave_out))
        ranker = self.ranker
        if isinstance(ranker, str):
            return Found(
                hits=self.search(user, request, strategy_named(FALLBACK), leave_out),
                degraded=(f"strategy {strategy.name!r}: {ranker}; ranked by {FALLBACK!r}",),
            )
        read = self._learned.read(user, request)
        if read is None:
            return Found(hits=[])
        asked, steps = read[0], read[1]
        former = self._former_items(user, request)
        texts = [item.text for item in former.values()]
        former_vectors = embed_texts(self._ledger, user, self._embedder, texts)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return Found(hits=[])
            run = Run(
                tx,
                request,
                Permit(tx, request),
                user_key(user),
                former,
                asked.vector,
                former_vectors,
                unindexed=unindexed or {},
            )
            measured = self._learned.measure(run, *read, strategy)
            gate = self._gate(ranker, read_adjustment(tx))
            opened = open_recall(measured, ranker, gate, strategy, steps, slow=self._embedder.slow, parts=parts)
            if "multi_step" not in opened.on:
                return self._found(run, [measured], opened, ranker, steps, strategy, leave_out)
            questions = sub_questions(run, opened.parts, measured)
        further = self._further(user, request, questions, steps)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return Found(hits=[])
            again = replace(run, tx=tx, permit=Permit(tx, request))
            searched = [measured, *self._measure_further(again, further, strategy)]
            return self._found(again, searched, opened, ranker, steps, strategy, leave_out)

    def _found(
        self,
        run: Run,
        searched: Sequence[Measured],
        opened: Opened,
        ranker: Ranker,
        steps: WorkingSet,
        strategy: Strategy,
        leave_out: LeaveOut | None,
    ) -> Found:
        candidates = rank(run, searched, opened, ranker, steps)
        weights = {name: f"gate {opened.gate[name]:.2f}" for name in opened.on}
        run.notes.update(weights)
        if "temporal_ordering" in weights:  # what it adds is the share of this signal
            run.notes["time"] = f"temporal_ordering, {weights['temporal_ordering']}"
        hits = hits_of(run, candidates, strategy, self._lexical, self.kept, leave_out)
        return Found(
            hits=hits,
            gate=opened.gate,
            answerable=opened.answerable,
            on=opened.on,
            chance=opened.chance,
            reasons=opened.reasons,
            searches=len(searched),
        )

    def _further(
        self, user: str, request: Request, questions: Sequence[str], steps: WorkingSet
    ) -> list[tuple[Request, QuestionRead]]:
        """Read sub-questions against the same steps, outside of any transaction."""
        found = []
        for one in questions:
            asking = replace(request, query=one)
            read = self._learned.read(user, asking)
            # Where the steps were read anew in between, their numbers are others: then the question alone has to do.
            if read is not None and read[1] is steps:
                found.append((asking, read))
        return found

    def _measure_further(
        self, run: Run, further: Sequence[tuple[Request, QuestionRead]], strategy: Strategy
    ) -> list[Measured]:
        return [
            self._learned.measure(replace(run, request=asking, vector=read[0].vector), *read, strategy)
            for asking, read in further
        ]

    def _gate(self, ranker: Ranker, adjustment: Mapping[str, Any] | None) -> OperationGate:
        """The gate of the weights, with what was learned of a user by these very weights."""
        if adjustment is None or adjustment.get("weights") != ranker.weights.digest:
            return self._shared_gate
        return OperationGate(ranker.weights, adjustment["offsets"])

    @cached_property
    def _shared_gate(self) -> OperationGate:
        ranker = self.ranker
        assert isinstance(ranker, Ranker)
        return OperationGate(ranker.weights)

    def replayed(self, user: str, judged: JudgedRecall, strategy: Strategy) -> FeedbackExample | None:
        """A recall with feedback asked again, under every set of operations; None where nothing of it can be asked.

        Raises:
            ConfigError: there are no weights for the embedder.
        """
        ranker = self.ranker
        if isinstance(ranker, str):
            raise ConfigError(f"feedback teaches nothing: {ranker}")
        k = max(len(judged.hits), 1)
        found = self.searches(user, Request(query=judged.query, k=k), strategy)
        if found is None or not len(found.searches[0].features.pool):
            return None
        return replay(found, judged, ranker, k)

    def searches(self, user: str, request: Request, strategy: Strategy) -> Searched | None:
        """All searches that a multi-step recall of a question makes, measured: what the gate is trained on.

        None for a user without a record.
        """
        read = self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            if read is None or not tx.user_id:
                return None
            asked, steps = read[0], read[1]
            run = Run(tx, request, Permit(tx, request), user_key(user), {}, asked.vector, None)
            first = self._learned.measure(run, *read, strategy)
            questions = sub_questions(run, (), first)
        further = self._further(user, request, questions, steps)
        with self._ledger.read(user) as tx:
            again = replace(run, tx=tx, permit=Permit(tx, request))
            measured = [first, *self._measure_further(again, further, strategy)]
            searches = tuple(Search(one.features, outdated_steps(again, one.features)) for one in measured)
        return Searched(asked=asked, searches=searches, steps=steps)

    def measure(self, user: str, request: Request, strategy: Strategy) -> Measured | None:
        """The candidates of a question with their features, as the learned ranking sees them: what it is trained on.

        None for a user without a record.
        """
        read = self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            if read is None or not tx.user_id:
                return None
            run = Run(tx, request, Permit(tx, request), user_key(user), {}, read[0].vector, None)
            return self._learned.measure(run, *read, strategy)

    @cached_property
    def ranker(self) -> Ranker | str:
        """What scores candidates, read when first needed; or why there is none."""
        source = self._weights_file or shipped_weights(self._embedder.name)
        if source is None:
            return f"no weights ship for the embedder {self._embedder.name!r}; train some with `hexamem train`"
        try:
            return Ranker(load_weights(source, self._embedder.fingerprint))
        except HexamemError as error:
            return str(error)

    def search(self, user: str, request: Request, strategy: Strategy, leave_out: LeaveOut | None = None) -> list[Hit]:
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
            asked = self._intent(user, request.query)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return []
            run = Run(tx, request, Permit(tx, request), user_key(user), former, vector, former_vectors)
            if known < 1:
                run.notes["dense"] = f"knows {known:.0%} of the query"
            pool = max(strategy.pool, request.k)
            rankings = {name: search(run, pool) for name, search in self._signals.items() if name in strategy.signals}
            candidates = self._fused(run, rankings, strategy, known, pool)
            if strategy.density is not None:
                candidates = self._by_density(run, asked, candidates, strategy, strategy.density, known)
            if strategy.neighbours and run.permit.wants_steps:
                origins = best(candidates, strategy.spread_from)
                around = neighbours(tx, [one.id for one in origins], len(strategy.neighbours))
                candidates = spread(candidates, origins, _permitted(run.permit, around), strategy)
            return hits_of(run, candidates, strategy, self._lexical, self.kept, leave_out)

    def _fused(
        self, run: Run, rankings: Mapping[str, Ranking], strategy: Strategy, known: float, pool: int
    ) -> dict[str, Candidate]:
        """What the signals found; late interaction orders the best of that, and counts as one more signal."""
        candidates = fuse(rankings, strategy, {"dense": known})
        if "late" not in strategy.signals:
            return candidates
        late = late_ranking(run, candidates, pool, self._embedder, self.kept)
        add_ranking(candidates, "late", late, strategy)
        return candidates

    def _by_density(
        self,
        run: Run,
        asked: QueryFilter,
        candidates: dict[str, Candidate],
        strategy: Strategy,
        settings: LabelWeights,
        known: float,
    ) -> dict[str, Candidate]:
        """Add the densest snippets to the similar ones, and order all by density."""
        labels = asked_labels(
            run.tx, asked, best(candidates, settings.voters), settings, self.kept.vocabularies.whole(run.tx)
        )
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
        similar = {**candidates, **self._fused(run, rankings, strategy, known, pool)}
        for record_id in densities.keys() - similar.keys():
            similar[record_id] = Candidate(record_id)
        # Some that were not taken may be as dense as those that were, and votes count among these alone.
        carried = self.kept.carried.of(run.tx, [one for one in similar if one.startswith("step_")])
        densities.update(_weighed(carried, labels.weights))
        votes = _weighed(carried, labels.votes) if settings.vote else {}
        return by_density(densities, similar, settings.step, votes, settings.vote)

    def _densest(self, run: Run, weights: Mapping[str, float], pool: int) -> dict[str, float]:
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

    def _dense(self, run: Run, pool: int) -> Ranking:
        if run.vector is None or run.former_vectors is None:
            raise ValueError("the dense signal was asked without the query's vector")
        permit = run.permit
        ranking: list[tuple[str, float]] = []
        if permit.wants_steps:
            ranking += self._dense_steps(run, run.vector, pool)
        ranking += self._dense_items(run, run.vector, pool)
        ranking.sort(key=lambda hit: (-hit[1], hit[0]))
        return ranking[:pool]

    def _dense_items(self, run: Run, vector: npt.NDArray[np.float32], pool: int) -> list[tuple[str, float]]:
        permit = run.permit
        ranking: list[tuple[str, float]] = []
        if permit.items is None:
            ranking += _widened(run, "dense", partial(self._vectors.query, run.key, "items", vector), pool)
        elif permit.items:
            wide = run.whole("dense", self._vectors.query(run.key, "items", vector, pool * _WIDEN))
            kept = [hit for hit in wide if hit[0] in permit.items][:pool]
            if len(kept) < min(pool, len(permit.items)):
                ids = self._with_passages(run, permit.items)
                kept = _widened(run, "dense", partial(self._vectors.query_among, run.key, "items", vector, ids), pool)
            ranking += kept
        scores = run.former_vectors @ vector if run.former and run.former_vectors is not None else ()
        ranking += [(item_id, float(score)) for item_id, score in zip(run.former, scores, strict=True)]
        return ranking

    def _dense_steps(self, run: Run, vector: npt.NDArray[np.float32], pool: int) -> list[tuple[str, float]]:
        if not run.permit.narrows_steps:
            return self._vectors.query(run.key, "steps", vector, pool)
        wide = self._vectors.query(run.key, "steps", vector, pool * _WIDEN)
        met = run.permit.steps_among([hit[0] for hit in wide])
        kept = [hit for hit in wide if hit[0] in met][:pool]
        if len(kept) >= min(pool, len(run.permit.all_steps) if len(kept) < pool else pool):
            return kept
        return self._vectors.query_among(run.key, "steps", vector, run.permit.all_steps, pool)

    def _bm25(self, run: Run, pool: int) -> Ranking:
        permit, query = run.permit, run.request.query
        kinds = LexicalFilter(kinds=permit.kinds) if permit.kinds is not None else None
        if not permit.narrows_steps and (permit.kinds_only or permit.items is None):
            return self._with_unindexed(run, self._by_words(run, pool, kinds))[:pool]
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
        return self._with_unindexed(run, kept)[:pool]

    def _with_unindexed(self, run: Run, found: list[tuple[str, float]]) -> list[tuple[str, float]]:
        """A ranking by words with the new steps that the index may not hold yet."""
        held = {one for one, _ in found}
        new = {one: text for one, text in run.unindexed.items() if one not in held}
        if not new:
            return found
        return sorted([*found, *self._lexical.score_texts(run.key, run.request.query, new)], key=lambda hit: -hit[1])

    def _by_words(self, run: Run, pool: int, filters: LexicalFilter | None) -> list[tuple[str, float]]:
        search = partial(self._lexical.search, run.key, run.request.query, filters=filters)
        return _widened(run, "bm25", search, pool)

    def _with_passages(self, run: Run, ids: Collection[str]) -> set[str]:
        """The ids, and those of the passages by which the documents among them are indexed."""
        wanted = set(ids)
        if wanted and holds_documents(run.tx):
            wanted.update(
                [one for one in self._vectors.ids(run.key, "items") if is_passage(one) and item_of(one) in wanted]
            )
        return wanted


def _weighed(carried: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """The sum of the weights of the labels that each record carries, of those that carry any."""
    found = {}
    if weights:
        for record_id, label_ids in carried.items():
            total = sum([weights[one] for one in label_ids if one in weights])
            if total > 0:
                found[record_id] = total
    return found


def _widened(
    run: Run, signal: str, search: Callable[[int], list[tuple[str, float]]], pool: int
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
