"""The pages of a home: assigned to steps and indexed on demand, with the vectors of closed and of open pages.

Pages have their own keyword index, since their long texts would change the statistics by which steps are ranked. A
page's vector is the mean of two: the mean of its steps' vectors (read from the index, so that a paid embedder is not
called again), and the vector of header and memo. Open pages are not indexed, since they grow; a search compares them
directly.

Pages are created and indexed in the background or when they are read, never by a recall.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hexamem.stores.documents import page_top, searchable
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.index_writer import PAGES
from hexamem.stores.ledger import Transaction, user_key
from hexamem.stores.ledger.pages import PageRow, PageStep, get_pages, next_page_change, open_pages, page_steps
from hexamem.stores.projections import Projector
from hexamem.stores.vector_cache import embed_texts

__all__ = ["OpenPages", "PageIndex", "PageStage", "page_vectors"]

_FRESH_SECONDS = 60.0
_MAX_USERS = 1_024
_MAX_OPEN = 64
_MAX_USERS_OPEN = 64


class PageStage(Protocol):
    """Creates pages from steps."""

    def shown(self, tx: Transaction, page: PageRow) -> PageRow:
        """An open page with its current header and memo."""
        ...

    def page(self, user: str) -> int:
        """Update the user's pages from the steps; returns the number of pages closed or rewritten."""
        ...


def page_vectors(tops: npt.NDArray[np.float32], bodies: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """The vectors ``(n, d)`` of pages.

    Args:
        tops: the vectors of header and memo, ``(n, d)``.
        bodies: the vectors of the steps of each page, ``(m, d)``, m at least 1.
    """
    means = np.stack([unit_rows(body).mean(axis=0) for body in bodies])
    return unit_rows(unit_rows(tops) + unit_rows(means))


@dataclass(frozen=True, slots=True)
class OpenPages:
    """The open pages of a user that have steps, with the steps by page id, and the vectors ``(n, d)``."""

    pages: tuple[PageRow, ...]
    steps: Mapping[str, list[PageStep]]
    vectors: npt.NDArray[np.float32]


class PageIndex:
    """Updates the pages of a home's users, and their indexes through the projector. Thread-safe.

    Args:
        projector: of the home; it erases, purges and rebuilds the indexes of pages with the others.
        stage: creates the pages.
    """

    def __init__(self, projector: Projector, stage: PageStage) -> None:
        self.projector, self.stage = projector, stage
        self.ledger, self.embedder = projector.ledger, projector.embedder
        self.vectors, self.lexical = projector.vectors, projector.lexical
        self._updated: dict[str, tuple[float, tuple[int, int]]] = {}
        self._opened: dict[str, tuple[tuple[int, int], OpenPages]] = {}
        self._guard = threading.Lock()
        projector.writer.pages = self

    def catch_up(self, user: str) -> int:
        """Update the user's pages and their indexes; returns the number of records written."""
        self.projector.catch_up(user)
        seen = self._updated.get(user)
        # An older update does not count, since time closes pages too.
        if seen is not None and time.monotonic() - seen[0] < _FRESH_SECONDS and seen[1] == self._marks(user):
            return 0
        with self.projector.lock(user):
            self.assign(user)
            written = self.projector.advance(user, PAGES)
            marks = self._marks(user)
            with self._guard:
                _put(self._updated, user, (time.monotonic(), marks), _MAX_USERS)
            return written

    def assign(self, user: str) -> None:
        """Assign the user's steps to pages."""
        self.stage.page(user)

    def open_pages(self, user: str) -> OpenPages:
        """The latest of the user's open pages, at most 64; cached until anything changes."""
        marks = self._marks(user)
        with self._guard:
            cached = self._opened.get(user)
        if cached is not None and cached[0] == marks:
            return cached[1]
        with self.ledger.read(user) as tx:
            growing = [self.stage.shown(tx, page) for page in open_pages(tx)[-_MAX_OPEN:]] if tx.user_id else []
            steps = page_steps(tx, growing)
        growing = [page for page in growing if steps[page.id]]
        vectors = self._embed(user, growing, steps) if growing else np.empty((0, self.embedder.dimension), np.float32)
        opened = OpenPages(tuple(growing), steps, vectors)
        with self._guard:
            _put(self._opened, user, (marks, opened), _MAX_USERS_OPEN)
        return opened

    def drop(self, user: str) -> None:
        """Evict what is in memory of a user."""
        with self._guard:
            self._updated.pop(user, None)
            self._opened.pop(user, None)

    def vectors_of(self, user: str, page_ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors ``(n, d)`` of pages."""
        with self.ledger.read(user) as tx:
            rows = get_pages(tx, page_ids)
            steps = page_steps(tx, list(rows.values()))
        return self._embed(user, [rows[page_id] for page_id in page_ids], steps)

    def _marks(self, user: str) -> tuple[int, int]:
        with self.ledger.read(user) as tx:
            return (tx.change, next_page_change(tx)) if tx.user_id else (0, 0)

    def _embed(self, user: str, chosen: Sequence[PageRow], steps: dict[str, list[PageStep]]) -> npt.NDArray[np.float32]:
        ids = [step.id for page in chosen for step in steps[page.id]]
        step_vectors = self.vectors.vectors(user_key(user), "steps", ids)
        missing = [step for page in chosen for step in steps[page.id] if step.id not in step_vectors]
        if missing:
            texts = [searchable(step.text) for step in missing]
            vectors = embed_texts(self.ledger, user, self.embedder, texts)
            step_vectors.update(zip((step.id for step in missing), vectors, strict=True))
        tops = embed_texts(self.ledger, user, self.embedder, [page_top(page) for page in chosen])
        bodies = [[step_vectors[step.id] for step in steps[page.id]] for page in chosen]
        # The steps of a page may be forgotten meanwhile.
        return page_vectors(tops, [np.stack(body or [top]) for body, top in zip(bodies, tops, strict=True)])


T = TypeVar("T")


def _put(cache: dict[str, T], user: str, value: T, most: int) -> None:
    cache.pop(user, None)
    cache[user] = value
    while len(cache) > most:
        cache.pop(next(iter(cache)))
