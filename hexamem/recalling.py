"""A user's recalls: one after the other through search and packing, and the note of what was shown until it is written."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from .arguments import check_count, check_text, kinds_in
from .errors import CorruptFileError, HexamemError, InvalidInputError, NotFoundError
from .labels import refuse_unknown
from .memory_types import Recall, Where, new_id, utc_now
from .retrieval.packing import pack
from .retrieval.permit import Request
from .retrieval.search import Found
from .retrieval.strategies import Strategy, strategy_named
from .stores.known_secrets import replace_known
from .stores.ledger import log_recalls, recall_row
from .stores.ledger.recalls import RecallRow
from .stores.redaction import Redactor

if TYPE_CHECKING:
    from .user import UserMemory

__all__ = ["Recalling"]


class Recalling:
    """What :meth:`UserMemory.recall` does. Safe to use from several threads."""

    def __init__(self, user: UserMemory) -> None:
        self._user = user
        self._shown: list[RecallRow] = []
        self._erased = 0  # how often: what was shown before is not written afterwards
        self._guard = threading.Lock()

    def recall(
        self,
        query: str,
        k: int | None,
        strategy: str | None,
        *,
        kinds: str | Collection[str] | None,
        where: Where | None,
        as_of: datetime | None,
        known_at: datetime | None,
        token_budget: int | None,
        min_probability: float | None,
    ) -> Recall:
        """As :meth:`UserMemory.recall`, with times and conditions read."""
        began = time.perf_counter()
        erased = self._erased
        user, memory = self._user, self._user.memory
        if not isinstance(query, str) or not query.strip():
            raise InvalidInputError(f"query = {query!r}: ask something")
        preset = strategy_named(memory.settings.strategy if strategy is None else check_text(strategy, "strategy"))
        k = preset.k or memory.settings.k if k is None else check_count(k, "k", 1_000)
        token_budget = preset.token_budget if token_budget is None else check_count(token_budget, "token_budget")
        if min_probability is not None:
            check_probability(min_probability, preset)
        request = Request(query=query, k=k, kinds=kinds_in(kinds), where=where, as_of=as_of, known_at=known_at)
        before = len(memory.noticed)
        user._finish_redactions()
        memory.projector.catch_up(user.name)
        found = self._search(request, preset)
        hits = found.hits
        if min_probability is not None and (found.answerable is None or found.answerable < min_probability):
            hits = []
        # Of this user only: another's may be mended at the same time, in another thread.
        degraded = [line for whose, line in memory.noticed[before:] if whose == user.name]
        degraded += found.degraded
        if not hits and where is not None and where.labels:
            try:
                refuse_unknown(user, where.labels)
            except NotFoundError as error:
                degraded.append(str(error))
        text, tokens = pack(hits, token_budget)
        recall_id = new_id("recall")
        try:
            row = recall_row(recall_id, query, preset.name, [(hit.id, hit.score) for hit in hits], utc_now())
            self._log(row, erased)
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
            degraded=tuple(degraded),
            elapsed_ms=(time.perf_counter() - began) * 1_000,
        )

    def _search(self, request: Request, strategy: Strategy) -> Found:
        memory, name = self._user.memory, self._user.name
        try:
            return memory.searcher.find(name, request, strategy)
        except CorruptFileError:  # an index that went bad since it was checked
            if not memory.projector.mend(name):
                raise
            return memory.searcher.find(name, request, strategy)

    def _log(self, row: RecallRow, erased: int) -> None:
        looker = Redactor(None, self._user.memory.settings.find_secrets)
        row["query"] = looker.clean(row["query"], looker.look(row["query"]))
        with self._guard:
            if erased != self._erased:  # erased while it was asked
                return
            self._shown.append(row)
            full = len(self._shown) >= self._user.memory.settings.recall_log
        if full:
            self._user.write_recalls()

    def write(self) -> None:
        """Write the recalls made since the last time to the ledger, without the secrets it knows by then."""
        with self._guard:
            erased = self._erased
            rows, self._shown = self._shown, []
        if not rows:
            return
        memory = self._user.memory
        try:
            with memory.ledger.write(self._user.name, create=False) as tx:
                # Writers of a user wait for each other: a redaction or erasure is seen here, or still to come.
                if tx.user_id and erased == self._erased:
                    queries = replace_known(tx, memory.cipher, [row["query"] for row in rows])
                    log_recalls(tx, [{**row, "query": query} for row, query in zip(rows, queries, strict=True)])
        except BaseException:
            with self._guard:
                if erased == self._erased:
                    self._shown[:0] = rows
            raise

    def forget(self) -> None:
        """Drop what is not written, for good: the user is erased."""
        with self._guard:
            self._erased += 1
            self._shown.clear()


def check_probability(value: object, strategy: Strategy) -> None:
    """Raise InvalidInputError unless a recall by this strategy can be held to that probability."""
    if not strategy.learned:
        raise InvalidInputError(f"min_probability = {value!r}: strategy {strategy.name!r} estimates no probability")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInputError(f"min_probability = {value!r}: give a number from 0 to 1")
