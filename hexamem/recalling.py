"""Recalls: from the arguments through search and packing to the result, and the log of what was shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from hexamem.arguments import check_count, check_number, check_query, kinds_in
from hexamem.errors import (
    CorruptFileError,
    HexamemError,
    InvalidInputError,
    ModelFileError,
    NotFoundError,
    VectorServerError,
)
from hexamem.home import Home
from hexamem.labels import refuse_unknown
from hexamem.memory_types import RankingOperation, Recall, Where, new_id, utc_now
from hexamem.models.reranker import open_reranker
from hexamem.redactions import Redactions
from hexamem.retrieval.hits import LeaveOut
from hexamem.retrieval.packing import pack, with_attached
from hexamem.retrieval.ranking_operations import ABSTAIN, NAMES
from hexamem.retrieval.request import Request
from hexamem.retrieval.reranking import CANDIDATES, rerank, scored
from hexamem.retrieval.search import Searcher, SearchResult
from hexamem.retrieval.strategies import Strategy, strategy_named
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import log_recalls, recall_row
from hexamem.stores.ledger.recalls import RecallRow
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor

_SCORED = 100
"""Candidates that a host's own ranking scores, or ``k`` if that is more."""

_BACKLOG = 64
"""A recall writes the log itself once so many rows wait: the background is far behind."""


class RecallLog:
    """The recalls of a user that are not yet written to the ledger. Safe to use from several threads.

    Args:
        in_background: has :meth:`write` called in the background, for the user, and returns whether it will be: a recall
            must not wait for the writes of other users.
    """

    def __init__(self, home: Home, user: str, in_background: Callable[[str], bool]) -> None:
        self._home, self._user, self._in_background = home, user, in_background
        self._rows: list[RecallRow] = []
        self._erasures = 0
        self._guard = threading.Lock()

    @property
    def erasures(self) -> int:
        """How often the user was erased: recalls from before an erasure are not written after it."""
        return self._erasures

    def add(self, row: RecallRow, erasures: int) -> None:
        """Add a recall, unless the user was erased since it began."""
        settings = self._home.settings
        redactor = Redactor(None, settings.find_secrets)
        row["query"] = redactor.clean(row["query"], redactor.scan(row["query"]))
        with self._guard:
            if erasures != self._erasures:
                return
            self._rows.append(row)
            waiting = len(self._rows)
        most = settings.recall_log
        if waiting >= max(4 * most, _BACKLOG) or (waiting >= most and not self._in_background(self._user)):
            self.write()  # here, so that the rows in memory stay few

    def write(self) -> None:
        """Write the rows to the ledger, without the secrets that the vault holds by now."""
        with self._guard:
            erasures = self._erasures
            rows, self._rows = self._rows, []
        if not rows:
            return
        try:
            with self._home.ledger.write(self._user, create=False) as tx:
                # Writes of a user are serialized: a redaction or erasure is either complete here, or comes after this.
                if tx.user_id and erasures == self._erasures:
                    queries = replace_known(tx, self._home.cipher, [row["query"] for row in rows])
                    log_recalls(tx, [{**row, "query": query} for row, query in zip(rows, queries, strict=True)])
        except BaseException:
            with self._guard:
                if erasures == self._erasures:
                    self._rows[:0] = rows
            raise

    def forget(self) -> None:
        """Drop the rows that are not written yet: the user is erased."""
        with self._guard:
            self._erasures += 1
            self._rows.clear()


class Recalling:
    """What :meth:`hexamem.UserMemory.recall` does, for all users of a home. Safe to use from several threads."""

    def __init__(
        self,
        home: Home,
        projector: Projector,
        searcher: Searcher,
        redactions: Redactions,
        strategies: Mapping[str, Strategy],
    ) -> None:
        self._home, self._ledger, self._settings = home, home.ledger, home.settings
        self._projector, self._searcher, self._redactions = projector, searcher, redactions
        self._strategies = strategies

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
        """As :meth:`hexamem.UserMemory.recall`, with times and conditions parsed."""
        began = time.perf_counter()
        erasures = log.erasures
        check_query(query)
        preset = strategy_named(self._settings.strategy if strategy is None else strategy, self._strategies)
        if operations is not None:
            preset = with_operations(preset, operations)
        if min_probability is not None:
            if not preset.learned:
                raise InvalidInputError(
                    f"min_probability = {min_probability!r}: strategy {preset.name!r} estimates no probability"
                )
            check_number(min_probability, "min_probability", 0, 1)
        elif preset.operations.get("threshold_filtering"):
            min_probability = ABSTAIN
        token_budget = preset.token_budget if token_budget is None else check_count(token_budget, "token_budget")
        request = Request(
            query=query,
            k=preset.k or self._settings.k if k is None else check_count(k, "k", 1_000),
            kinds=kinds_in(kinds, self._ledger.types),
            where=where,
            as_of=as_of,
            known_at=known_at,
        )
        notices = self._home.notices
        before = notices.count
        self._redactions.finish(user)
        result = self._find(user, request, preset, leave_out)
        hits = result.hits
        degraded = [*notices.of(user, before), *result.degraded]
        if min_probability is not None and (result.answerable is None or result.answerable < min_probability):
            hits = []
            if result.gate is not None and result.answerable is None:
                degraded.append(
                    "no hits: with so few steps, or with these weights, the probability of an answer cannot be estimated"
                )
        if not hits and where is not None and where.labels:
            try:
                refuse_unknown(self._ledger, self._projector.catch_up, user, where.labels)
            except NotFoundError as error:
                degraded.append(str(error))
        text, tokens = pack(hits, token_budget) if packed else ("", 0)
        recall_id = new_id("recall")
        try:
            scores = [(hit.id, hit.score) for hit in with_attached(hits)]
            row = recall_row(recall_id, query, preset.name, scores, utc_now())
            log.add(row, erasures)
        except HexamemError as error:  # the hits are right; the rows stay in the log for the next write
            degraded.append(f"the recall could not be logged: {error}")
        return Recall.model_construct(
            id=recall_id,
            query=query,
            strategy=preset.name,
            hits=tuple(hits),
            text=text,
            tokens=tokens,
            answerable=result.answerable,
            gate=result.gate,
            operations=shown_operations(result, operations or {}, min_probability),
            degraded=tuple(degraded),
            elapsed_ms=(time.perf_counter() - began) * 1_000,
        )

    def _find(self, user: str, request: Request, strategy: Strategy, leave_out: LeaveOut | None) -> SearchResult:
        """Bring the indexes up to the ledger and search them, as the strategy asks."""
        most = _SCORED if strategy.scorer is not None else CANDIDATES if strategy.rerank else request.k
        wide = replace(request, k=max(request.k, most))
        unindexed: Mapping[str, str] = {}
        try:
            unindexed = self._bring_up(user, request, strategy)
            result = self._search(user, wide, strategy, unindexed=unindexed, leave_out=leave_out)
        except VectorServerError as error:
            result = self._by_keywords(user, wide, str(error), unindexed, leave_out)
        hits, degraded = result.hits, result.degraded
        try:
            if strategy.scorer is not None:
                hits = scored(request.query, hits, strategy)
            elif strategy.rerank:
                hits = rerank(request.query, hits, open_reranker())
        except ModelFileError as error:
            degraded = (*degraded, f"the hits are not reranked: {error}")
        return replace(result, hits=hits[: request.k], degraded=degraded)

    def _bring_up(self, user: str, request: Request, strategy: Strategy) -> Mapping[str, str]:
        """Bring the indexes up to the ledger. If only a little is missing, which the background thread will index, return
        its texts by id instead, to be searched unindexed."""
        if self._settings.background and self._searcher.reads_unindexed(request, strategy):
            unindexed = self._projector.unindexed(user)
            if unindexed is not None:
                return unindexed
        self._projector.catch_up(user)
        return {}

    def _search(
        self,
        user: str,
        request: Request,
        strategy: Strategy,
        *,
        unindexed: Mapping[str, str],
        leave_out: LeaveOut | None,
    ) -> SearchResult:
        if self._projector.embedder_error is not None:
            return self._by_keywords(user, request, self._projector.embedder_error, unindexed, leave_out)
        try:
            return self._searcher.find(user, request, strategy, unindexed, leave_out)
        except ModelFileError as error:
            return self._by_keywords(user, request, str(error), unindexed, leave_out)
        except CorruptFileError:  # an index was damaged since it was checked
            if not self._projector.repair(user):
                raise
            return self._searcher.find(user, request, strategy, unindexed, leave_out)

    def _by_keywords(
        self, user: str, request: Request, reason: str, unindexed: Mapping[str, str], leave_out: LeaveOut | None
    ) -> SearchResult:
        """Search where the embedder's model cannot be loaded, or the server of the vectors not be reached."""
        if unindexed:  # else the keyword index is level: it is written without the model and the server
            with suppress(VectorServerError):
                self._projector.catch_up(user)
        result = self._searcher.find(user, request, strategy_named("bm25_neighbours"), leave_out=leave_out)
        return replace(result, degraded=(*result.degraded, f"found by keywords alone: {reason}"))


def with_operations(strategy: Strategy, operations: Mapping[str, bool]) -> Strategy:
    """A strategy with some of its operations switched on or off, whatever its gate decides."""
    if not isinstance(operations, Mapping):
        raise InvalidInputError(f"operations = {operations!r}: pass a mapping of names to True or False")
    if not strategy.learned:
        raise InvalidInputError(f"operations = {dict(operations)!r}: strategy {strategy.name!r} has no operations")
    for name, value in operations.items():
        if name not in NAMES:
            raise InvalidInputError(f"operations: {name!r} is not an operation; use {', '.join(NAMES)}")
        if not isinstance(value, bool):
            raise InvalidInputError(f"operations[{name!r}] = {value!r}: pass True or False")
    return replace(strategy, operations={**strategy.operations, **operations})


def shown_operations(
    result: SearchResult, switched: Mapping[str, bool], min_probability: float | None
) -> tuple[RankingOperation, ...]:
    """The operations of a recall, with the reason for each."""
    if result.gate is None:
        return ()
    on, reasons = set(result.on), {**result.reasons, **dict.fromkeys(switched, "by the call")}
    if min_probability is not None and "threshold_filtering" not in on:
        on.add("threshold_filtering")
        reasons["threshold_filtering"] = f"by min_probability = {min_probability:g}"
    if "multi_step" in on and result.searches == 1:
        reasons["multi_step"] += ", but there is nothing to search further"
    return tuple(
        RankingOperation.of_fields(name=name, on=name in on, gate=weight, reason=reasons[name])
        for name, weight in result.gate.items()
    )
