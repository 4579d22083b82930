"""The index of pages: a vector and a keyword record for each closed page, updated from the ledger by change number.

Pages have their own keyword index, since their long texts would change the statistics by which steps are ranked. A
page's vector is the mean of two: the mean of its steps' vectors (read from the index, so that a paid embedder is not
called again), and the vector of header and memo. Open pages are not indexed, since they grow; a search compares them
directly.

Pages are created and indexed in the background or when they are read, never by a recall.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hexamem.errors import CorruptFileError, HomeInUseError
from hexamem.memory_types.times import to_micros
from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, Transaction, read_projections, set_projection, user_key
from hexamem.stores.ledger.pages import (
    PageRow,
    PageStep,
    changed_pages,
    count_pages,
    next_page_change,
    open_pages,
    page_steps,
)
from hexamem.stores.lexical import LexicalDocument, LexicalStore
from hexamem.stores.lexical.tokens import repair_surrogates
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import VectorIndex

__all__ = ["OpenPages", "PageIndex", "PageStage", "lexical_key", "page_text", "page_top", "page_vectors"]

_BATCH = 500
_FRESH_SECONDS = 60.0
_MAX_USERS = 1_024
_MAX_OPEN = 64
_MAX_USERS_OPEN = 64
_NAMES = ("lexical.pages", "vectors.pages")


class PageStage(Protocol):
    """Creates pages from steps."""

    def shown(self, tx: Transaction, page: PageRow) -> PageRow:
        """An open page with its current header and memo."""
        ...

    def page(self, user: str) -> int:
        """Update the user's pages from the steps; returns the number of pages closed or rewritten."""
        ...


def lexical_key(user: str) -> str:
    """The name of the keyword index of a user's pages."""
    return f"{user_key(user)}.pages"


def page_top(page: PageRow) -> str:
    """The text of a page that is embedded in addition to its steps."""
    return f"{page.header}\n{page.memo}"


def page_text(page: PageRow, steps: Sequence[PageStep]) -> str:
    """The text of a page for the keyword index: header, memo, and each step after its speaker."""
    lines = [line for line in (page.header, page.memo) if line]
    for step in steps:
        text = searchable(step.text if step.resolved_text is None else step.resolved_text)
        lines.append(f"{searchable(step.name)}: {text}" if step.name else text)
    return "\n".join(lines)


def page_vectors(tops: npt.NDArray[np.float32], bodies: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """The vectors ``(n, d)`` of pages.

    Args:
        tops: the vectors of header and memo, ``(n, d)``.
        bodies: the vectors of the steps of each page, ``(m, d)``, m at least 1.
    """
    means = np.stack([_unit(_unit(body).mean(axis=0)[None, :])[0] for body in bodies])
    return _unit(_unit(tops) + means).astype(np.float32)


def _metadata(page: PageRow) -> dict[str, str | int]:
    return {
        "type": "page",
        "thread": repair_surrogates(page.thread_id),
        "time": int(page.started_at.timestamp()),
    }


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class OpenPages:
    """The open pages of a user that have steps, with the steps by page id, and the vectors ``(n, d)``."""

    pages: tuple[PageRow, ...]
    steps: Mapping[str, list[PageStep]]
    vectors: npt.NDArray[np.float32]


class PageIndex:
    """Updates the pages of a home and their index from its ledger. Thread-safe.

    Args:
        steps: updates the index of the user's steps, from whose vectors those of pages are computed.
        lock: returns the lock of the user's index writes.
        home: the id of the home of the indexes.
        notices: receives the user and a message for each index that is rebuilt.
        stage: creates the pages.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        lexical: LexicalStore,
        embedder: Embedder,
        *,
        stage: PageStage,
        steps: Callable[[str], object],
        lock: Callable[[str], AbstractContextManager[object]],
        home: str,
        notices: Callable[[str, str], None],
    ) -> None:
        self.ledger, self.vectors, self.lexical, self.embedder = ledger, vectors, lexical, embedder
        self.stage, self._steps, self._lock, self._home, self._notices = stage, steps, lock, home, notices
        self._checked: set[str] = set()
        self._updated: dict[str, tuple[float, tuple[int, int]]] = {}
        self._opened: dict[str, tuple[tuple[int, int], OpenPages]] = {}
        self._guard = threading.Lock()

    def catch_up(self, user: str) -> int:
        """Update the user's pages and their index; returns the number of pages indexed."""
        self._steps(user)
        if self._is_fresh(user):
            return 0
        with self._lock(user):
            self.stage.page(user)
            if user not in self._checked:
                self._check(user)
                with self._guard:
                    self._checked.add(user)
            try:
                written = self._advance(user)
            except (CorruptFileError, HomeInUseError):
                if not self._check(user):
                    raise
                written = self._advance(user)
            self._note(user)
            return written

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
        vectors = self.embed(user, growing, steps) if growing else np.empty((0, self.embedder.dimension), np.float32)
        opened = OpenPages(tuple(growing), steps, vectors)
        with self._guard:
            self._opened.pop(user, None)
            self._opened[user] = (marks, opened)
            while len(self._opened) > _MAX_USERS_OPEN:
                self._opened.pop(next(iter(self._opened)))
        return opened

    def repair(self, user: str) -> bool:
        """Rebuild the index if it is damaged, after a search failed; returns whether it was."""
        with self._lock(user):
            damaged = self._check(user)
            if damaged:
                self._advance(user)
            return damaged

    def rebuild(self, user: str) -> int:
        """Rebuild the index from the ledger; returns the number of pages indexed."""
        with self._lock(user):
            self._empty(user)
            with self._guard:
                self._checked.add(user)
            self.stage.page(user)
            return self._advance(user)

    def purge(self, user: str) -> None:
        """Remove all traces of replaced text, after a redaction that erased the user's vectors."""
        with self._lock(user):
            with self.ledger.read(user) as tx:
                begun = bool(tx.user_id) and "lexical.pages" in read_projections(tx, self._home)
            if not begun:
                return
            self.lexical.reset(lexical_key(user))
            self._set(user, dict.fromkeys(_NAMES, 0))
            self.stage.page(user)
            self._advance(user)

    def drop(self, user: str) -> None:
        """Evict what is in memory of a user."""
        with self._guard:
            self._updated.pop(user, None)
            self._opened.pop(user, None)

    def drop_user(self, user: str) -> tuple[int, int]:
        """Erase the keyword index of the user's pages; returns the numbers of vectors and documents.

        The vectors are erased with the user's other ones.
        """
        key = user_key(user)
        with self._lock(user):
            try:
                vectors = self.vectors.count(key, "pages")
            except CorruptFileError:  # the content of a damaged index is not counted
                vectors = 0
            documents = 0 if self.lexical.damaged(lexical_key(user)) else self.lexical.count(lexical_key(user))
            self.lexical.reset(lexical_key(user))
            with self._guard:
                self._checked.discard(user)
            self.drop(user)
        return vectors, documents

    # ------------------------------------------------------------------------------------------------------ inside

    def _marks(self, user: str) -> tuple[int, int]:
        with self.ledger.read(user) as tx:
            return (tx.change, next_page_change(tx)) if tx.user_id else (0, 0)

    def _is_fresh(self, user: str) -> bool:
        """Whether nothing has changed since a recent update; an older one does not count, since time closes pages too."""
        seen = self._updated.get(user)
        return seen is not None and time.monotonic() - seen[0] < _FRESH_SECONDS and seen[1] == self._marks(user)

    def _note(self, user: str) -> None:
        marks = self._marks(user)
        with self._guard:
            self._updated.pop(user, None)
            self._updated[user] = (time.monotonic(), marks)
            while len(self._updated) > _MAX_USERS:
                self._updated.pop(next(iter(self._updated)))

    def _check(self, user: str) -> bool:
        key = user_key(user)
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return False
            done = read_projections(tx, self._home)
            expected = {name: count_pages(tx, done.get(name, 0)) for name in _NAMES}
        reason = self.lexical.damaged(lexical_key(user))
        if reason is None:
            try:
                counts = {
                    "lexical.pages": self.lexical.count(lexical_key(user)),
                    "vectors.pages": self.vectors.count(key, "pages"),
                }
            except CorruptFileError as error:
                counts, reason = {}, str(error)
            for name, count in counts.items():
                # Pages without active steps are in neither index: there may be fewer, but not in one index only.
                known, changed = expected[name]
                if count > known + changed or count + changed < max(counts.values()):
                    reason = f"it holds {count:,} records of {known + changed:,}"
        if reason is None:
            return False
        self._notices(user, f"the index of pages of user {user!r} is rebuilt from the ledger: {reason}")
        self._empty(user)
        return True

    def _empty(self, user: str) -> None:
        with self._guard:
            self._updated.pop(user, None)
        self.vectors.reset(user_key(user), "pages")
        self.lexical.reset(lexical_key(user))
        self._set(user, dict.fromkeys(_NAMES, 0))

    def _set(self, user: str, values: dict[str, int]) -> None:
        with self.ledger.write(user, create=False) as tx:
            if tx.user_id:
                for name, change in values.items():
                    set_projection(tx, self._home, name, change)

    def _advance(self, user: str) -> int:
        written = 0
        while True:
            with self.ledger.read(user) as tx:
                if not tx.user_id:
                    return written
                done = read_projections(tx, self._home)
                since = min(done.get(name, 0) for name in _NAMES)
                batch = changed_pages(tx, since, _BATCH)
                if not batch:
                    return written
                steps = page_steps(tx, batch)
            reached = batch[-1].change
            behind = [name for name in _NAMES if done.get(name, 0) < reached]
            if "lexical.pages" in behind:
                self._write_words(user, batch, steps)
            if "vectors.pages" in behind:
                self._write_vectors(user, batch, steps)
            written += len(batch)
            self._set(user, dict.fromkeys(behind, reached))

    def _write_words(self, user: str, batch: Sequence[PageRow], steps: dict[str, list[PageStep]]) -> None:
        key = lexical_key(user)
        gone = [page.id for page in batch if not steps[page.id]]
        if gone:
            self.lexical.delete(key, gone)
        documents = [
            LexicalDocument(
                id=page.id,
                text=page_text(page, steps[page.id]),
                kind="page",
                thread_id=page.thread_id,
                occurred_at=to_micros(page.started_at),
                label_ids=tuple(dict.fromkeys(step.scope_id for step in steps[page.id] if step.scope_id)),
            )
            for page in batch
            if steps[page.id]
        ]
        if documents:
            self.lexical.upsert(key, documents)

    def _write_vectors(self, user: str, batch: Sequence[PageRow], steps: dict[str, list[PageStep]]) -> None:
        key = user_key(user)
        gone = [page.id for page in batch if not steps[page.id]]
        if gone:
            self.vectors.delete(key, "pages", gone)
        pages = [page for page in batch if steps[page.id]]
        if pages:
            vectors = self.embed(user, pages, steps)
            self.vectors.upsert(key, "pages", [page.id for page in pages], vectors, [_metadata(page) for page in pages])

    def embed(self, user: str, chosen: Sequence[PageRow], steps: dict[str, list[PageStep]]) -> npt.NDArray[np.float32]:
        """The vectors of pages that have steps, ``(n, d)``."""
        ids = [step.id for page in chosen for step in steps[page.id]]
        step_vectors = self.vectors.vectors(user_key(user), "steps", ids)
        missing = [step for page in chosen for step in steps[page.id] if step.id not in step_vectors]
        if missing:
            texts = [searchable(step.text) for step in missing]
            vectors = embed_texts(self.ledger, user, self.embedder, texts)
            step_vectors.update(zip((step.id for step in missing), vectors, strict=True))
        tops = embed_texts(self.ledger, user, self.embedder, [page_top(page) for page in chosen])
        return page_vectors(tops, [np.stack([step_vectors[step.id] for step in steps[page.id]]) for page in chosen])
