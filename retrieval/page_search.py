"""Searches pages: as a whole by vector and words, including open pages, and by their best steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from hexamem.memory_types import Hit, Signal
from hexamem.memory_types.times import read_zone
from hexamem.retrieval.fusion import Candidate, Ranking, best, fuse
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.documents import page_text
from hexamem.stores.index_writer import PAGES, keyword_index
from hexamem.stores.ledger import user_key
from hexamem.stores.ledger.labels import read_labels
from hexamem.stores.ledger.pages import PageRow, get_pages, pages_holding, read_pages
from hexamem.stores.lexical import LexicalFilter
from hexamem.stores.page_index import PageIndex
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["PageRequest", "search_pages"]

_POOL = 100
_STEPS = 60
_PAGES = Strategy(name="pages", signals={"dense": 0.25, "bm25": 0.25, "steps": 0.5}, rrf_k=60)
"""Half of the score is of the page as a whole, half of its best step."""
_STEPS_OF_PAGES = Strategy(name="steps of pages", signals={"dense": 1.0, "bm25": 1.0}, rrf_k=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A search for pages.

    Attributes:
        thread_id: only pages of this thread; None for all.
        since: only pages that end at this time or later.
        until: only pages that begin at this time or earlier.
        scope: only pages with one of these ids as main scope; None for all.
        exclude: ids of pages to leave out.
    """

    query: str
    k: int = 5
    thread_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    scope: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def matches(self, page: PageRow) -> bool:
        """Whether a page meets the conditions."""
        if page.id in self.exclude or (self.thread_id is not None and page.thread_id != self.thread_id):
            return False
        if self.since is not None and page.ended_at < self.since:
            return False
        if self.until is not None and page.started_at > self.until:
            return False
        return self.scope is None or page.scope_id in self.scope

    @property
    def narrow(self) -> bool:
        """Whether there is any condition."""
        return bool(self.thread_id or self.since or self.until or self.scope is not None or self.exclude)


def search_pages(index: PageIndex, user: str, request: PageRequest) -> list[Hit]:
    """The k best pages, best first; the index must be up to date.

    Half of a score is of the page as a whole (its vector, its words), half of its best step. Conditions are part of the
    search, so that all matching pages are ranked.
    """
    vector = index.embedder.embed_query(request.query)
    key = user_key(user)
    with index.ledger.read(user) as tx:
        if not tx.user_id:
            return []
        allowed = (
            {page.id for page in read_pages(tx) if page.closed and request.matches(page)} if request.narrow else None
        )
        zone = read_zone(tx.timezone)
    pool = max(_POOL, request.k)
    if allowed is None:
        dense = index.vectors.query(key, "pages", vector, pool)
    else:
        dense = index.vectors.query_among(key, "pages", vector, allowed, pool) if allowed else []
    words = index.lexical.search(
        keyword_index(user, PAGES), request.query, pool if allowed is None else pool + 10 * len(allowed)
    )
    words = [hit for hit in words if allowed is None or hit[0] in allowed]
    opened = index.open_pages(user)
    growing = [page for page in opened.pages if request.matches(page)]
    if growing:
        values = opened.vectors @ (vector / (np.linalg.norm(vector) or 1.0))
        cosines = dict(zip((page.id for page in opened.pages), values.tolist(), strict=True))
        dense += [(page.id, cosines[page.id]) for page in growing]
        texts = {page.id: page_text(page, opened.steps[page.id]) for page in growing}
        words += index.lexical.score_texts(keyword_index(user, PAGES), request.query, texts)
    known = {page.id for page in opened.pages}
    matching = {page.id for page in growing} | (allowed or set())
    by_step = [
        hit
        for hit in _by_steps(index, user, request.query, vector)
        if hit[0] in matching or (allowed is None and hit[0] not in known)
    ]
    rankings = {"dense": _ranked(dense, pool), "bm25": _ranked(words, pool), "steps": _ranked(by_step, pool)}
    chosen = best(fuse(rankings, _PAGES), request.k)
    with index.ledger.read(user) as tx:
        rows = {**get_pages(tx, [candidate.id for candidate in chosen]), **{page.id: page for page in growing}}
        labels = Vocabulary(read_labels(tx, {page.scope_id for page in rows.values() if page.scope_id}))
    return [
        Hit(
            id=page.id,
            kind="page",
            text="\n".join(line for line in (page.header, page.memo) if line),
            score=candidate.score,
            why=_why(candidate),
            occurred_at=page.started_at.astimezone(zone),
            thread_id=page.thread_id,
            scope=labels.path(page.scope_id) if page.scope_id in labels.by_id else None,
        )
        for candidate in chosen
        if (page := rows.get(candidate.id)) is not None
    ]


def _by_steps(index: PageIndex, user: str, query: str, vector: npt.NDArray[np.float32]) -> list[tuple[str, float]]:
    """Pages by the best of their steps, in the fused order of both signals over steps."""
    key = user_key(user)
    dense = index.vectors.query(key, "steps", vector, _STEPS)
    words = index.lexical.search(key, query, _STEPS, filters=LexicalFilter(kinds=frozenset({"step"})))
    steps = fuse({"dense": dense, "bm25": words}, _STEPS_OF_PAGES)
    with index.ledger.read(user) as tx:
        page_of = pages_holding(tx, steps)
    scores: dict[str, float] = {}
    for step_id, candidate in steps.items():
        page_id = page_of.get(step_id)
        if page_id is not None:
            scores[page_id] = max(scores.get(page_id, 0.0), candidate.score)
    return list(scores.items())


def _ranked(pages: Sequence[tuple[str, float]], most: int) -> Ranking:
    """Each page once, best first."""
    highest: dict[str, float] = {}
    for page_id, value in pages:
        highest[page_id] = max(value, highest.get(page_id, value))
    return sorted(highest.items(), key=lambda page: (-page[1], page[0]))[:most]


def _why(candidate: Candidate) -> tuple[Signal, ...]:
    signals = [Signal(name=name, value=value, rank=rank, share=share) for name, value, rank, share in candidate.why]
    return tuple(sorted(signals, key=lambda signal: -signal.share))
