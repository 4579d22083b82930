"""Runs one recall: candidates from the signals of a strategy, filters, fusion or learned ranking, and hits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hexamem.errors import HexamemError
from hexamem.memory_types import Hit, MemoryItem
from hexamem.retrieval.decide_and_rank import (
    Decision,
    RecallSearches,
    decide_operations,
    further_query,
    outdated_steps,
    rank,
)
from hexamem.retrieval.fusion import Candidate, Ranking, add_ranking, best, fuse, spread
from hexamem.retrieval.hits import LeaveOut, hits_of
from hexamem.retrieval.label_density import QueryIntent
from hexamem.retrieval.late import late_ranking
from hexamem.retrieval.learned import LearnedSearch, Measured
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_operations import Search
from hexamem.retrieval.ranking_weights import load_weights, shipped_weights
from hexamem.retrieval.request import RecallFilter, Request, Run
from hexamem.retrieval.retrievers import Retrievers
from hexamem.retrieval.signals.labels import LABEL_FEATURES, density_parts
from hexamem.retrieval.strategies import FALLBACK, LabelWeights, Strategy, strategy_named
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, Transaction, neighbours, user_key
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary_cache import VocabularyCache
from hexamem.stores.working_set import WorkingSet

__all__ = ["SearchResult", "Searcher"]

_DENSITY_PARTS = ("labels", "votes", "fused")
"""Signals of a ranking by label density."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The hits of a search, best first. All but ``hits`` and ``degraded`` are those of a learned ranking.

    Attributes:
        gate: operation → its weight, from 0 to 1.
        answerable: the probability that memory contains the answer.
        on: the operations that ran.
        reasons: operation → what decided whether it ran.
        searches: the number of searches.
        degraded: why the ranking is not the requested one.
    """

    hits: list[Hit]
    gate: dict[str, float] | None = None
    answerable: float | None = None
    on: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=dict)
    searches: int = 1
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Former:
    """Items with another text at the belief time, with the vectors of those texts ``(n, d)``, which are in no index."""

    items: dict[str, MemoryItem] = field(default_factory=dict)
    vectors: npt.NDArray[np.float32] | None = None


class Searcher:
    """Runs recalls over one home's ledger and indexes. The embedder, which may be remote, is never called within a
    transaction.

    Args:
        indexed: the change number up to which a user's indexes are written, as a transaction sees it.
        weights: file with the weights of the learned ranking; None for those that ship for the embedder.

    Attributes:
        vocabularies: the cached labels of users.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        lexical: LexicalStore,
        embedder: Embedder,
        intent: QueryIntent,
        indexed: Callable[[Transaction], int],
        weights: str | os.PathLike[str] | None = None,
    ) -> None:
        self._ledger, self._vectors, self._embedder = ledger, vectors, embedder
        self._weights_file = weights
        self.vocabularies = VocabularyCache()
        self._retrievers = Retrievers(vectors, lexical)
        self._learned = LearnedSearch(ledger, vectors, embedder, self._retrievers, intent, self.vocabularies, indexed)

    def drop(self, user: str) -> None:
        """Evict a user from the caches."""
        self.vocabularies.drop(user)
        self._vectors.evict(user_key(user))
        self._learned.drop(user)
        self._embedder.forget()

    def refresh(self, user: str) -> None:
        """Update the caches of a user with what was written. Do not call :meth:`drop` for the user at the same time."""
        self._learned.refresh(user)

    def reads_unindexed(self, request: Request, strategy: Strategy) -> bool:
        """Whether :meth:`find` can search what is not indexed yet: a learned ranking with a local embedder compares all
        steps and items from the ledger."""
        narrowed = request.where is not None or request.as_of is not None or request.known_at is not None
        if narrowed or (request.kinds is not None and "step" not in request.kinds):
            return False
        return strategy.learned and not self._embedder.paid and isinstance(self.ranker, Ranker)

    @cached_property
    def ranker(self) -> Ranker | str:
        """The learned ranking, loaded when first used; or why there is none."""
        source = self._weights_file or shipped_weights(self._embedder.name)
        if source is None:
            return f"no weights ship for the embedder {self._embedder.name!r}; train some with `hexamem train`"
        try:
            return Ranker(load_weights(source, self._embedder.fingerprint))
        except HexamemError as error:
            return str(error)

    def find(
        self,
        user: str,
        request: Request,
        strategy: Strategy,
        unindexed: Mapping[str, str] | None = None,
        leave_out: LeaveOut | None = None,
    ) -> SearchResult:
        """As :meth:`search`, with the further results of a learned ranking.

        Args:
            unindexed: id → text of steps and items that may not be indexed yet, if :meth:`reads_unindexed`.
            leave_out: whether a record is left out of the hits.
        """
        if not strategy.learned:
            return SearchResult(hits=self.search(user, request, strategy, leave_out))
        ranker = self.ranker
        if isinstance(ranker, str):
            return SearchResult(
                hits=self.search(user, request, strategy_named(FALLBACK), leave_out),
                degraded=(f"strategy {strategy.name!r}: {ranker}; ranked by {FALLBACK!r}",),
            )
        question = self._learned.read(user, request)
        if question is None:
            return SearchResult(hits=[])
        former = self._former(user, request)

        def result(run: Run, decision: Decision, measured: Sequence[Measured]) -> SearchResult:
            candidates = rank(run, measured, decision, ranker, question.steps)
            return SearchResult(
                hits=hits_of(run, candidates, strategy, self.vocabularies, leave_out),
                gate=decision.gate,
                answerable=decision.answerable,
                on=decision.on,
                reasons=decision.reasons,
                searches=len(measured),
            )

        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return SearchResult(hits=[])
            run = self._run(tx, request, question.parsed.vector, former, unindexed)
            measured = self._learned.measure(run, question, strategy)
            decision = decide_operations(run, measured, ranker, strategy, question.steps, self._embedder.slow)
            if "multi_step" not in decision.on:
                return result(run, decision, [measured])
            text = further_query(run, measured)
        with self._search_again(user, run, text, question.steps, strategy) as (run, further):
            return result(run, decision, [measured, *further])

    @contextmanager
    def _search_again(
        self, user: str, run: Run, text: str | None, steps: WorkingSet, strategy: Strategy
    ) -> Iterator[tuple[Run, list[Measured]]]:
        """Search for a further text in a new transaction; yields the run of that transaction and the measured search, if any."""
        request = run.request if text is None else replace(run.request, query=text)
        question = None if text is None else self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            again = replace(run, tx=tx, filter=RecallFilter(tx, run.request))
            measured = []
            # If the working set was replaced meanwhile, its rows have changed: then only the question is searched.
            if question is not None and question.steps is steps and tx.user_id:
                part = replace(again, request=request, vector=question.parsed.vector)
                measured.append(self._learned.measure(part, question, strategy))
            yield again, measured

    def searches(
        self, user: str, request: Request, strategy: Strategy, *, further: bool = True
    ) -> RecallSearches | None:
        """The measured searches of a recall, for training and evaluation; None for an unknown user.

        Args:
            further: whether to make the further searches of a multi-step recall too.
        """
        question = self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            if question is None or not tx.user_id:
                return None
            run = self._run(tx, request, question.parsed.vector)
            measured = self._learned.measure(run, question, strategy)
            text = further_query(run, measured) if further else None
        with self._search_again(user, run, text, question.steps, strategy) as (run, others):
            searches = tuple(
                Search(search.features, outdated_steps(run, search.features)) for search in (measured, *others)
            )
        return RecallSearches(question=question.parsed, searches=searches, steps=question.steps)

    def search(self, user: str, request: Request, strategy: Strategy, leave_out: LeaveOut | None = None) -> list[Hit]:
        """The k best hits, best first; equal scores in order of id. The indexes must be up to date."""
        if strategy.density is not None:
            return self._by_density(user, request, strategy, strategy.density, leave_out)
        dense = "dense" in strategy.signals
        former = self._former(user, request, embed=dense)
        vector = self._embedder.embed_query(request.query) if dense else None
        known = self._embedder.known_share(request.query)
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return []
            run = self._run(tx, request, vector, former)
            if known < 1:
                run.notes["dense"] = f"knows {known:.0%} of the query"
            pool = max(strategy.pool, request.k)
            rankings: dict[str, Ranking] = {}
            if dense:
                rankings["dense"] = self._retrievers.dense(run, pool)
            if "bm25" in strategy.signals:
                rankings["bm25"] = self._retrievers.bm25(run, pool)
            candidates = fuse(rankings, strategy, {"dense": known})
            if "late" in strategy.signals:  # ranks the best of the others
                add_ranking(candidates, "late", late_ranking(run, candidates, pool, self._embedder), strategy)
            if strategy.neighbours and run.filter.wants_steps:
                origins = best(candidates, strategy.spread_from)
                around = neighbours(tx, [origin.id for origin in origins], len(strategy.neighbours))
                if run.filter.narrows_steps:
                    allowed = run.filter.steps_among({other for beside in around.values() for other, _ in beside})
                    around = {
                        origin: [pair for pair in beside if pair[0] in allowed] for origin, beside in around.items()
                    }
                candidates = spread(candidates, origins, around, strategy)
            return hits_of(run, candidates, strategy, self.vocabularies, leave_out)

    def _former(self, user: str, request: Request, *, embed: bool = True) -> _Former:
        if request.known_at is None:
            return _Former()
        with self._ledger.read(user) as tx:
            items = RecallFilter(tx, request).former if tx.user_id else {}
        texts = [item.text for item in items.values()]
        return _Former(items, embed_texts(self._ledger, user, self._embedder, texts) if embed else None)

    @staticmethod
    def _run(
        tx: Transaction,
        request: Request,
        vector: npt.NDArray[np.float32] | None,
        former: _Former | None = None,
        unindexed: Mapping[str, str] | None = None,
    ) -> Run:
        former = former or _Former()
        return Run(
            tx=tx,
            request=request,
            filter=RecallFilter(tx, request),
            key=user_key(tx.user),
            former=former.items,
            vector=vector,
            former_vectors=former.vectors,
            unindexed=unindexed or {},
        )

    def _by_density(
        self, user: str, request: Request, strategy: Strategy, weights: LabelWeights, leave_out: LeaveOut | None
    ) -> list[Hit]:
        """The hits by label density, and by similarity among equals (STITCH)."""
        question = self._learned.read(user, request)
        former = self._former(user, request)
        with self._ledger.read(user) as tx:
            if question is None or not tx.user_id:
                return []
            run = self._run(tx, request, question.parsed.vector, former)
            features = self._learned.measure(run, question, strategy).features
            run.notes["votes"] = "labels of the nearest steps"
            if not len(features.pool):
                return []
            columns = {name: features.column(name) for name in LABEL_FEATURES}
            parts = density_parts(columns, features.column("fused"), weights).T.tolist()
            candidates = {
                record_id: Candidate(
                    record_id,
                    sum(shares),
                    [(name, share, None, share) for name, share in zip(_DENSITY_PARTS, shares, strict=True) if share],
                )
                for record_id, shares in zip(features.pool.ids, parts, strict=True)
            }
            return hits_of(run, candidates, strategy, self.vocabularies, leave_out)
