"""One recall: candidates from every signal of a strategy, filters that cost no recall, fusion, and the hits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexamem.errors import ConfigError, HexamemError
from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Hit, MemoryItem
from hexamem.retrieval.caches import RecallCaches
from hexamem.retrieval.feedback_learning import FeedbackExample
from hexamem.retrieval.fusion import Candidate, Ranking, add_ranking, best, fuse, spread
from hexamem.retrieval.gates import OperationGate
from hexamem.retrieval.hits import LeaveOut, hits_of
from hexamem.retrieval.label_density import QueryIntent, asked_labels, by_density
from hexamem.retrieval.late import late_ranking
from hexamem.retrieval.learned import LearnedSearch, Measured
from hexamem.retrieval.operating import Opened, Searched, open_recall, outdated_steps, rank, replay, sub_questions
from hexamem.retrieval.operations import Search
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.ranking_weights import load_weights, shipped_weights
from hexamem.retrieval.request import RecallFilter, Request, Run
from hexamem.retrieval.retrievers import Retrievers
from hexamem.retrieval.strategies import FALLBACK, LabelWeights, Strategy, strategy_named
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, Transaction, neighbours, user_key
from hexamem.stores.ledger.recalls import JudgedRecall, read_adjustment
from hexamem.stores.lexical import LexicalFilter, LexicalStore
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["SearchResult", "Searcher"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
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


@dataclass(frozen=True, slots=True)
class _Former:
    """Items that were believed at the belief time in other words than now, with their vectors ``(n, d)``: the indexes do
    not hold these words."""

    items: dict[str, MemoryItem] = field(default_factory=dict)
    vectors: npt.NDArray[np.float32] | None = None


class Searcher:
    """Runs recalls over one home's ledger and indexes. The embedder, which may be a remote one, is never called while
    the ledger is being read.

    Args:
        weights: file with the weights of the learned ranking; None takes those that ship for the embedder.
        folder: where what the learned ranking needs of steps is stored from one process to the next; None for nowhere.

    Attributes:
        caches: what stays in memory between recalls.
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
        self.caches = RecallCaches(embedder)
        self._retrievers = Retrievers(vectors, lexical)
        vocabularies = self.caches.vocabularies
        self._learned = LearnedSearch(ledger, vectors, embedder, self._retrievers, intent, vocabularies, folder)

    def drop(self, user: str) -> None:
        """Forget what is cached of a user, in memory and on disk."""
        self.caches.drop(user)
        self._vectors.evict(user_key(user))
        self._learned.drop(user)
        self._embedder.forget()

    def refresh(self, user: str) -> None:
        """Take in what was written of a user of whom learned recalls were made; nobody may drop the user meanwhile."""
        self._learned.refresh(user)
        self.caches.refresh(self._ledger, user)

    def prepare(self, user: str) -> bool:
        """Read some more of what the next recalls of a user who was asked for will compare; whether there is more."""
        if self._embedder.token_model is None or not self.caches.asked(user):
            return False
        with self._ledger.read(user) as tx:
            return bool(tx.user_id) and self.caches.fill(tx)

    def reads_unindexed(self, request: Request, strategy: Strategy) -> bool:
        """Whether :meth:`find` can search new steps for this that are not indexed yet: a learned ranking compares all
        steps itself, from the ledger, where to embed them costs nothing."""
        narrowed = request.where is not None or request.as_of is not None or request.known_at is not None
        if narrowed or (request.kinds is not None and "step" not in request.kinds):
            return False
        return strategy.learned and not self._embedder.slow and isinstance(self.ranker, Ranker)

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

    def find(
        self,
        user: str,
        request: Request,
        strategy: Strategy,
        parts: tuple[str, ...] = (),
        unindexed: Mapping[str, str] | None = None,
        leave_out: LeaveOut | None = None,
    ) -> SearchResult:
        """As :meth:`search`, with what a learned ranking gives beside the hits.

        Args:
            parts: of the question, by a model; where there are any, they are searched.
            unindexed: words of new steps by id that the indexes may not hold yet, where :meth:`reads_unindexed`.
            leave_out: decides what is not to be among the hits.
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

        def result(run: Run, opened: Opened, searched: Sequence[Measured]) -> SearchResult:
            candidates = rank(run, searched, opened, ranker, question.steps)
            return SearchResult(
                hits=hits_of(run, candidates, strategy, self._lexical, self.caches, leave_out),
                gate=opened.gate,
                answerable=opened.answerable,
                on=opened.on,
                chance=opened.chance,
                reasons=opened.reasons,
                searches=len(searched),
            )

        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return SearchResult(hits=[])
            run = self._run(tx, request, question.asked.vector, former, unindexed)
            measured = self._learned.measure(run, question, strategy)
            gate = OperationGate(ranker.weights, self._offsets(tx, ranker))
            opened = open_recall(measured, ranker, gate, strategy, question.steps, self._embedder.slow, parts)
            if "multi_step" not in opened.on:
                return result(run, opened, [measured])
            texts = sub_questions(run, opened.parts, measured)
        with self._search_again(user, run, texts, question.steps, strategy) as (run, further):
            return result(run, opened, [measured, *further])

    @contextmanager
    def _search_again(
        self, user: str, run: Run, texts: Sequence[str], steps: WorkingSet, strategy: Strategy
    ) -> Iterator[tuple[Run, list[Measured]]]:
        """Search for further texts too, in a transaction of its own; gives the run there, and what was measured."""
        questions = []
        for text in texts:
            request = replace(run.request, query=text)
            question = self._learned.read(user, request)
            # Where the steps were read anew in between, their numbers are others: then the question alone has to do.
            if question is not None and question.steps is steps:
                questions.append((request, question))
        with self._ledger.read(user) as tx:
            again = replace(run, tx=tx, filter=RecallFilter(tx, run.request))
            yield (
                again,
                [
                    self._learned.measure(
                        replace(again, request=request, vector=question.asked.vector), question, strategy
                    )
                    for request, question in questions
                    if tx.user_id
                ],
            )

    @staticmethod
    def _offsets(tx: Transaction, ranker: Ranker) -> Mapping[str, float] | None:
        """What was learned of the user's feedback by these very weights."""
        adjustment = read_adjustment(tx)
        if adjustment is None or adjustment.get("weights") != ranker.weights.digest:
            return None
        offsets: Mapping[str, float] = adjustment["offsets"]
        return offsets

    def replayed(self, user: str, judged: JudgedRecall, strategy: Strategy) -> FeedbackExample | None:
        """A recall with feedback asked again, under every set of operations; None where nothing of it can be asked.

        Raises:
            ConfigError: there are no weights for the embedder.
        """
        ranker = self.ranker
        if isinstance(ranker, str):
            raise ConfigError(f"feedback teaches nothing: {ranker}")
        k = max(len(judged.hits), 1)
        searched = self.searches(user, Request(query=judged.query, k=k), strategy)
        if searched is None or not len(searched.searches[0].features.pool):
            return None
        return replay(searched, judged, ranker, k)

    def searches(self, user: str, request: Request, strategy: Strategy) -> Searched | None:
        """All searches that a multi-step recall of a question makes, measured: what the gate is trained on.

        None for a user without a record.
        """
        question = self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            if question is None or not tx.user_id:
                return None
            run = self._run(tx, request, question.asked.vector)
            measured = self._learned.measure(run, question, strategy)
            texts = sub_questions(run, (), measured)
        with self._search_again(user, run, texts, question.steps, strategy) as (run, further):
            searches = tuple(Search(each.features, outdated_steps(run, each.features)) for each in (measured, *further))
        return Searched(asked=question.asked, searches=searches, steps=question.steps)

    def measure(self, user: str, request: Request, strategy: Strategy) -> Measured | None:
        """The candidates of a question with their features, as the learned ranking sees them: what it is trained on.

        None for a user without a record.
        """
        question = self._learned.read(user, request)
        with self._ledger.read(user) as tx:
            if question is None or not tx.user_id:
                return None
            return self._learned.measure(self._run(tx, request, question.asked.vector), question, strategy)

    def search(self, user: str, request: Request, strategy: Strategy, leave_out: LeaveOut | None = None) -> list[Hit]:
        """The k best hits, best first; equal scores in order of id. The indexes must be up to the ledger."""
        dense = "dense" in strategy.signals
        former = self._former(user, request, embed=dense)
        vector = self._embedder.embed_query(request.query) if dense else None
        known = self._embedder.known_share(request.query)
        asked = QueryFilter()
        if strategy.density is not None and self._intent is not None:
            asked = self._intent(user, request.query)
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
            candidates = self._fused(run, rankings, strategy, known, pool)
            if strategy.density is not None:
                candidates = self._by_density(run, asked, candidates, strategy, strategy.density, known)
            if strategy.neighbours and run.filter.wants_steps:
                origins = best(candidates, strategy.spread_from)
                around = neighbours(tx, [origin.id for origin in origins], len(strategy.neighbours))
                if run.filter.narrows_steps:
                    allowed = run.filter.steps_among({other for beside in around.values() for other, _ in beside})
                    around = {
                        origin: [pair for pair in beside if pair[0] in allowed] for origin, beside in around.items()
                    }
                candidates = spread(candidates, origins, around, strategy)
            return hits_of(run, candidates, strategy, self._lexical, self.caches, leave_out)

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

    def _fused(
        self, run: Run, rankings: Mapping[str, Ranking], strategy: Strategy, known: float, pool: int
    ) -> dict[str, Candidate]:
        """What the signals found; late interaction orders the best of that, and counts as one more signal."""
        candidates = fuse(rankings, strategy, {"dense": known})
        if "late" not in strategy.signals:
            return candidates
        late = late_ranking(run, candidates, pool, self._embedder, self.caches)
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
            run.tx, asked, best(candidates, settings.voters), settings, self.caches.vocabularies.whole(run.tx)
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
        carried = self.caches.carried.of(run.tx, [one for one in similar if one.startswith("step_")])
        densities.update(_weighed(carried, labels.weights))
        votes = _weighed(carried, labels.votes) if settings.vote else {}
        return by_density(densities, similar, settings.step, votes, settings.vote)

    def _densest(self, run: Run, weights: Mapping[str, float], pool: int) -> dict[str, float]:
        """The permitted records whose labels weigh most, with the sum of the weights."""
        if not weights:
            return {}
        found = self._lexical.label_density(run.key, weights, pool)
        met = run.filter.among([hit[0] for hit in found])
        if len(met) < len(found) == pool:
            found = self._lexical.label_density(run.key, weights, pool, filters=LexicalFilter(ids=run.filter.all_ids()))
            met = {hit[0] for hit in found}
        return {record_id: value for record_id, value in found if record_id in met}


def _weighed(carried: Mapping[str, Sequence[str]], weights: Mapping[str, float]) -> dict[str, float]:
    """The sum of the weights of the labels that each record carries, of those that carry any."""
    found = {}
    if weights:
        for record_id, label_ids in carried.items():
            total = sum([weights[one] for one in label_ids if one in weights])
            if total > 0:
                found[record_id] = total
    return found
