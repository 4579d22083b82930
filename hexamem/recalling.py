"""Recalls: from the arguments through search and packing to the result, and the log of what was shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from hexamem.arguments import check_count, check_query, check_text, kinds_in
from hexamem.errors import CorruptFileError, HexamemError, InvalidInputError, ModelFileError, NotFoundError
from hexamem.home import Home
from hexamem.labels import refuse_unknown
from hexamem.memory_types import Hit, RankingOperation, Recall, Signal, Where, new_id, utc_now
from hexamem.model_tier import ModelTier
from hexamem.models.reranker import open_reranker
from hexamem.redactions import Redactions
from hexamem.retrieval.feedback_learning import RankingAdjustment, learn_offsets
from hexamem.retrieval.hits import LeaveOut
from hexamem.retrieval.operations import ABSTAIN, NAMES
from hexamem.retrieval.packing import pack
from hexamem.retrieval.ranker import Ranker
from hexamem.retrieval.request import Request
from hexamem.retrieval.reranking import CANDIDATES, rerank
from hexamem.retrieval.search import Searcher, SearchResult
from hexamem.retrieval.strategies import Strategy, strategy_named
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import log_recalls, recall_row
from hexamem.stores.ledger.recalls import RecallRow, read_judged, write_adjustment
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor

__all__ = ["RecallLog", "Recalling"]

_WIDER, _WIDEST = 3, 60
"""How many times as many hits a model sees as are wanted, and how many at most."""
_TAUGHT = frozenset({"learned", "learned_full"})
"""Strategies whose recalls teach the gate."""


class RecallLog:
    """What a user's recalls have shown, until it is written to the ledger. Safe to use from several threads."""

    def __init__(self, home: Home, user: str) -> None:
        self._home, self._user = home, user
        self._shown: list[RecallRow] = []
        self._erasures = 0
        self._guard = threading.Lock()

    @property
    def erasures(self) -> int:
        """How often the user was erased: what was shown before is not written afterwards."""
        return self._erasures

    def add(self, row: RecallRow, erasures: int) -> None:
        """Add what a recall has shown, unless the user was erased since.

        Args:
            erasures: how often the user had been erased when the recall began.
        """
        settings = self._home.settings
        redactor = Redactor(None, settings.find_secrets)
        row["query"] = redactor.clean(row["query"], redactor.scan(row["query"]))
        with self._guard:
            if erasures != self._erasures:
                return
            self._shown.append(row)
            full = len(self._shown) >= settings.recall_log
        if full:
            self.write()

    def write(self) -> None:
        """Write the rows to the ledger, without the secrets that it knows by then."""
        with self._guard:
            erasures = self._erasures
            rows, self._shown = self._shown, []
        if not rows:
            return
        try:
            with self._home.ledger.write(self._user, create=False) as tx:
                # Writers of a user wait for each other: a redaction or erasure is seen here, or still to come.
                if tx.user_id and erasures == self._erasures:
                    queries = replace_known(tx, self._home.cipher, [row["query"] for row in rows])
                    log_recalls(tx, [{**row, "query": query} for row, query in zip(rows, queries, strict=True)])
        except BaseException:
            with self._guard:
                if erasures == self._erasures:
                    self._shown[:0] = rows
            raise

    def forget(self) -> None:
        """Drop the rows that are not written, for good: the user is erased."""
        with self._guard:
            self._erasures += 1
            self._shown.clear()


class Recalling:
    """What :meth:`hexamem.UserMemory.recall` does, for all users of a home. Safe to use from several threads."""

    def __init__(
        self, home: Home, projector: Projector, searcher: Searcher, tier: ModelTier, redactions: Redactions
    ) -> None:
        self._home, self._ledger, self._settings = home, home.ledger, home.settings
        self._projector, self._searcher, self._tier, self._redactions = projector, searcher, tier, redactions

    def recall(
        self,
        user: str,
        log: RecallLog,
        query: str,
        k: int | None,
        strategy: str | None,
        *,
        kinds: str | Collection[str] | None,
        where: Where | None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        token_budget: int | None = None,
        min_probability: float | None = None,
        operations: Mapping[str, bool] | None = None,
        leave_out: LeaveOut | None = None,
        packed: bool = True,
    ) -> Recall:
        """As :meth:`hexamem.UserMemory.recall`, with times and conditions parsed.

        Args:
            log: of the user, for what is shown.
            leave_out: whether a record is left out of the hits; the next best takes its place.
            packed: whether to pack the hits into ``text``, which is left empty else.
        """
        began = time.perf_counter()
        erasures, settings = log.erasures, self._settings
        check_query(query)
        preset = strategy_named(settings.strategy if strategy is None else check_text(strategy, "strategy"))
        k = preset.k or settings.k if k is None else check_count(k, "k", 1_000)
        token_budget = preset.token_budget if token_budget is None else check_count(token_budget, "token_budget")
        if operations is not None:
            preset = with_operations(preset, operations)
        if preset.learned and settings.explore:
            preset = replace(preset, explore=settings.explore)
        if min_probability is not None:
            check_probability(min_probability, preset)
        elif preset.operations.get("threshold_filtering"):
            min_probability = ABSTAIN
        request = Request(
            query=query, k=k, kinds=kinds_in(kinds, self._ledger.types), where=where, as_of=as_of, known_at=known_at
        )
        notices, unsure = self._home.notices, ""
        before = len(notices.entries)
        self._redactions.finish(user)
        unindexed = self._bring_up(user, request, preset)
        find = partial(self._search, user, unindexed=unindexed, leave_out=leave_out)
        if preset.full:
            found = self._full(user, request, preset, find)
        else:
            found = self._reranked(request, preset, find) if preset.rerank else find(request, preset)
        hits = found.hits
        if min_probability is not None and (found.answerable is None or found.answerable < min_probability):
            hits = []
            if found.gate is not None and found.answerable is None:
                unsure = "how likely memory holds an answer is not known of so few steps, or by these weights: no hits"
        degraded = [*notices.of(user, before), *found.degraded]
        degraded += [unsure] if unsure else []
        if not hits and where is not None and where.labels:
            try:
                refuse_unknown(self._ledger, self._projector.catch_up, user, where.labels)
            except NotFoundError as error:
                degraded.append(str(error))
        text, tokens = pack(hits, token_budget) if packed else ("", 0)
        recall_id = new_id("recall")
        try:
            shown = [(hit.id, hit.score) for hit in hits]
            row = recall_row(recall_id, query, preset.name, shown, utc_now(), logged_operations(found))
            log.add(row, erasures)
        except HexamemError as error:  # the hits are right; the rows are kept for the next try
            degraded.append(f"what was shown could not be noted: {error}")
        return Recall.model_construct(
            id=recall_id,
            query=query,
            strategy=preset.name,
            hits=tuple(hits),
            text=text,
            tokens=tokens,
            answerable=found.answerable,
            gate=found.gate,
            operations=shown_operations(found, operations or {}, min_probability),
            degraded=tuple(degraded),
            elapsed_ms=(time.perf_counter() - began) * 1_000,
        )

    def _bring_up(self, user: str, request: Request, strategy: Strategy) -> Mapping[str, str]:
        """Bring the indexes up to the ledger. Where only a few new steps are missing, which the background is about to
        index, return their texts instead, to be searched as they are."""
        if self._settings.background and not strategy.full and self._searcher.reads_unindexed(request, strategy):
            found = self._projector.unindexed(user)
            if found is not None:
                return found
        self._projector.catch_up(user)
        return {}

    def _search(
        self,
        user: str,
        request: Request,
        strategy: Strategy,
        parts: tuple[str, ...] = (),
        *,
        unindexed: Mapping[str, str],
        leave_out: LeaveOut | None,
    ) -> SearchResult:
        if self._projector.embedder_error is not None:
            return self._by_keywords(user, request, leave_out, self._projector.embedder_error)
        try:
            return self._searcher.find(user, request, strategy, parts, unindexed, leave_out)
        except ModelFileError as error:
            return self._by_keywords(user, request, leave_out, str(error))
        except CorruptFileError:  # an index that went bad since it was checked
            if not self._projector.mend(user):
                raise
            return self._searcher.find(user, request, strategy, parts, unindexed, leave_out)

    def _by_keywords(self, user: str, request: Request, leave_out: LeaveOut | None, reason: str) -> SearchResult:
        """A recall where the embedder's model cannot be loaded."""
        found = self._searcher.find(user, request, strategy_named("bm25_neighbours"), leave_out=leave_out)
        return replace(found, degraded=(*found.degraded, f"found by keywords alone: {reason}"))

    def _reranked(self, request: Request, strategy: Strategy, find: Callable[..., SearchResult]) -> SearchResult:
        """A recall whose best hits the cross-encoder reorders."""
        found = find(replace(request, k=max(request.k, CANDIDATES)), strategy)
        try:
            hits = rerank(request.query, found.hits, open_reranker())
        except ModelFileError as error:
            note = f"the order is that of the ranking: {error}"
            return replace(found, hits=found.hits[: request.k], degraded=(*found.degraded, note))
        return replace(found, hits=hits[: request.k])

    def _full(self, user: str, request: Request, strategy: Strategy, find: Callable[..., SearchResult]) -> SearchResult:
        """A recall that may ask models: for the parts of the question, and for the order of three times as many hits."""
        models = self._tier.full_recall()
        question = self._home.without_secrets(user, request.query)
        parts = models.parts(user, question) if strategy.operations.get("multi_step", True) else ()
        reranks = strategy.operations.get("semantic_reranking", True)
        wide = replace(request, k=min(_WIDER * request.k, _WIDEST)) if reranks else request
        found = find(wide, strategy, parts)
        order = models.order(user, question, found.hits, request.k) if reranks else None
        hits = found.hits if order is None else in_order(found.hits, order)
        degraded = (*found.degraded, *dict.fromkeys(models.degraded))
        return replace(found, hits=hits[: request.k], degraded=degraded)

    def learn(self, user: str) -> RankingAdjustment:
        """What :meth:`hexamem.UserMemory.learn_ranking` does."""
        with self._ledger.read(user) as tx:
            judged = [one for one in read_judged(tx) if one.strategy in _TAUGHT] if tx.user_id else []
        self._projector.catch_up(user)
        examples, verdicts = [], 0
        for one in judged:
            found = self._searcher.replayed(user, one, strategy_named("learned"))
            if found is not None:
                examples.append(found)
                verdicts += len(one.helped) + len(one.hurt)
        learned = learn_offsets(examples, verdicts)
        if learned.accepted:
            ranker = self._searcher.ranker
            assert isinstance(ranker, Ranker)
            kept = {"weights": ranker.weights.digest, "offsets": dict(learned.offsets), "at": utc_now().isoformat()}
            with self._ledger.write(user, create=False) as tx:
                write_adjustment(tx, kept)
        return learned

    def unlearn(self, user: str) -> None:
        """Rank this user's recalls by the weights alone again."""
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                write_adjustment(tx, None)


def in_order(hits: Sequence[Hit], best: Sequence[str]) -> list[Hit]:
    """Hits with those named first, in that order, and the others behind as they were.

    The scores stay those that there were, in the new order; what the order added to each is a reason of its own.
    """
    place = {one: number for number, one in enumerate(best)}
    ordered = sorted(hits, key=lambda hit: place.get(hit.id, len(place)))
    found = []
    for hit, score in zip(ordered, sorted((hit.score for hit in hits), reverse=True), strict=True):
        by_model = Signal(
            name="model", rank=None if hit.id not in place else place[hit.id] + 1, share=score - hit.score
        )
        why = tuple(sorted((*hit.why, by_model), key=lambda one: -one.share))
        found.append(hit.model_copy(update={"score": score, "why": why}))
    return found


def with_operations(strategy: Strategy, operations: Mapping[str, bool]) -> Strategy:
    """A strategy with some of its operations on or off, whatever its gate says.

    Raises:
        InvalidInputError: the strategy has no operations, or there is none of such a name.
    """
    if not isinstance(operations, Mapping):
        raise InvalidInputError(f"operations = {operations!r}: give a mapping of names to True or False")
    if not strategy.learned:
        raise InvalidInputError(f"operations = {dict(operations)!r}: strategy {strategy.name!r} has none")
    for name, value in operations.items():
        if name not in NAMES or not isinstance(value, bool):
            raise InvalidInputError(f"operations: {name!r} = {value!r}; set {', '.join(NAMES)} to True or False")
    return replace(strategy, operations={**strategy.operations, **operations})


def shown_operations(
    found: SearchResult, asked: Mapping[str, bool], min_probability: float | None
) -> tuple[RankingOperation, ...]:
    """The operations of a recall, with the reason for each.

    Args:
        asked: those that the call switched.
        min_probability: below which there were no hits; None where that was not looked at.
    """
    if found.gate is None:
        return ()
    on, reasons = set(found.on), {**found.reasons, **dict.fromkeys(asked, "by the call")}
    if min_probability is not None and "threshold_filtering" not in on:
        on.add("threshold_filtering")
        reasons["threshold_filtering"] = f"by min_probability = {min_probability:g}"
    if "multi_step" in on and found.searches == 1:
        reasons["multi_step"] += ", but there is nothing to search further"
    return tuple(
        RankingOperation.of_fields(name=name, on=name in on, gate=weight, reason=reasons[name])
        for name, weight in found.gate.items()
    )


def logged_operations(found: SearchResult) -> dict[str, object] | None:
    """What is kept of the gate with a recall, to learn from it later; None for a ranking without one."""
    if found.gate is None:
        return None
    gate = {name: round(value, 4) for name, value in found.gate.items()}
    return {"gate": gate, "on": sorted(found.on), "chance": round(found.chance, 6)}


def check_probability(value: object, strategy: Strategy) -> None:
    """Raise InvalidInputError unless a recall by this strategy can be held to that probability."""
    if not strategy.learned:
        raise InvalidInputError(f"min_probability = {value!r}: strategy {strategy.name!r} estimates no probability")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"min_probability = {value!r}: give a number from 0 to 1")
