"""The index of pages: one record a closed page, by vector and by words, following the ledger by change number.

Pages have a keyword index of their own beside that of steps and items: in one index their long texts would shift the
statistics by which steps are ranked. A page's vector is the mean of its steps' (which are there already, so that a paid
embedder is not asked again), and of that of its header and memo, in equal parts. Open pages are in no index: they
grow, and whoever searches looks through them as they are.

Pages are made and indexed when there is nothing else to do, or when somebody reads them, never by a recall.
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
_MOMENT = 60.0  # seconds
_KEPT_USERS = 1_024
_OPEN = 64
_KEPT_OPEN = 64
_NAMES = ("lexical.pages", "vectors.pages")


class PageStage(Protocol):
    """What makes pages of steps."""

    def shown(self, tx: Transaction, page: PageRow) -> PageRow:
        """An open page with header and memo as of now."""
        ...

    def page(self, user: str) -> int:
        """Bring the user's pages up to what is stored; returns how many were closed or written anew."""
        ...


def lexical_key(user: str) -> str:
    """The name of the keyword index of a user's pages."""
    return f"{user_key(user)}.pages"


def page_top(page: PageRow) -> str:
    """What is embedded of a page beside its steps."""
    return f"{page.header}\n{page.memo}"


def page_text(page: PageRow, steps: Sequence[PageStep]) -> str:
    """What is searched of a page by words: header, memo, and each step behind its speaker."""
    lines = [line for line in (page.header, page.memo) if line]
    for step in steps:
        said = searchable(step.text if step.resolved_text is None else step.resolved_text)
        lines.append(f"{searchable(step.name)}: {said}" if step.name else said)
    return "\n".join(lines)


def page_vectors(tops: npt.NDArray[np.float32], bodies: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """The vectors ``(n, d)`` of pages.

    Args:
        tops: of header and memo, ``(n, d)``.
        bodies: of the steps of each page, ``(m, d)``, m at least 1.
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
    """The open pages of a user that have steps, with their texts as of now, and their vectors ``(n, d)``."""

    pages: tuple[PageRow, ...]
    steps: Mapping[str, list[PageStep]]
    vectors: npt.NDArray[np.float32]


class PageIndex:
    """Keeps the pages of a home and their index in step with its ledger. Safe to call from several threads.

    Args:
        steps: brings the index of the user's steps up, whose vectors pages are made of.
        lock: the lock under which the user's indexes are written.
        home: the id of the home that the indexes lie in.
        notices: receives the user and one clear line for each index that had to be rebuilt.
        stage: makes the pages.
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
        self._seen: dict[str, tuple[float, tuple[int, int]]] = {}
        self._opened: dict[str, tuple[tuple[int, int], OpenPages]] = {}
        self._guard = threading.Lock()

    def catch_up(self, user: str) -> int:
        """Bring the user's pages and their index up to the ledger; returns how many pages were indexed."""
        self._steps(user)
        if self._known(user):
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
        """The latest of the user's open pages, at most 64; kept until anything changes."""
        marks = self._marks(user)
        with self._guard:
            kept = self._opened.get(user)
        if kept is not None and kept[0] == marks:
            return kept[1]
        with self.ledger.read(user) as tx:
            growing = [self.stage.shown(tx, page) for page in open_pages(tx)[-_OPEN:]] if tx.user_id else []
            steps = page_steps(tx, growing)
        growing = [page for page in growing if steps[page.id]]
        vectors = self.embed(user, growing, steps) if growing else np.empty((0, self.embedder.dimension), np.float32)
        found = OpenPages(tuple(growing), steps, vectors)
        with self._guard:
            self._opened.pop(user, None)
            self._opened[user] = (marks, found)
            while len(self._opened) > _KEPT_OPEN:
                self._opened.pop(next(iter(self._opened)))
        return found

    def repair(self, user: str) -> bool:
        """Rebuild the index if it is damaged, after a search failed on it; whether it was."""
        with self._lock(user):
            found = self._check(user)
            if found:
                self._advance(user)
            return found

    def rebuild(self, user: str) -> int:
        """Throw the index away and build it from the ledger; returns how many pages were indexed."""
        with self._lock(user):
            self._empty(user)
            with self._guard:
                self._checked.add(user)
            self.stage.page(user)
            return self._advance(user)

    def purge(self, user: str) -> None:
        """Drop what the index still holds of replaced text, after a redaction that erased the user's vectors."""
        with self._lock(user):
            with self.ledger.read(user) as tx:
                begun = bool(tx.user_id) and "lexical.pages" in read_projections(tx, self._home)
            if not begun:
                return
            self._set(user, {"vectors.pages": 0})
            self.stage.page(user)
            self._advance(user)
            if not self.lexical.purge(lexical_key(user)):
                self.lexical.reset(lexical_key(user))
                self._set(user, {"lexical.pages": 0})
                self._advance(user)

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user."""
        with self._guard:
            self._seen.pop(user, None)
            self._opened.pop(user, None)

    def drop_user(self, user: str) -> tuple[int, int]:
        """Erase the keyword index, and forget the user; returns how many vectors and documents there were.

        The vectors go with the user's other ones.
        """
        key = user_key(user)
        with self._lock(user):
            try:
                vectors = self.vectors.count(key, "pages")
            except CorruptFileError:  # what a damaged index held is not counted
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

    def _known(self, user: str) -> bool:
        """Whether nothing has changed since the last time, which was a moment ago: time alone closes pages too."""
        seen = self._seen.get(user)
        return seen is not None and time.monotonic() - seen[0] < _MOMENT and seen[1] == self._marks(user)

    def _note(self, user: str) -> None:
        marks = self._marks(user)
        with self._guard:
            self._seen.pop(user, None)
            self._seen[user] = (time.monotonic(), marks)
            while len(self._seen) > _KEPT_USERS:
                self._seen.pop(next(iter(self._seen)))

    def _check(self, user: str) -> bool:
        key = user_key(user)
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return False
            done = read_projections(tx, self._home)
            held = {name: count_pages(tx, done.get(name, 0)) for name in _NAMES}
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
                # Pages without active steps are in neither, so there may be fewer, but not in one of the two alone.
                known, changed = held[name]
                if count > known + changed or count + changed < max(counts.values()):
                    reason = f"it holds {count:,} records of {known + changed:,}"
        if reason is None:
            return False
        self._notices(user, f"the index of pages of user {user!r} is rebuilt from the ledger: {reason}")
        self._empty(user)
        return True

    def _empty(self, user: str) -> None:
        with self._guard:
            self._seen.pop(user, None)
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
        kept = [page for page in batch if steps[page.id]]
        if not kept:
            return
        made = self.embed(user, kept, steps)
        self.vectors.upsert(key, "pages", [page.id for page in kept], made, [_metadata(page) for page in kept])

    def embed(self, user: str, chosen: Sequence[PageRow], steps: dict[str, list[PageStep]]) -> npt.NDArray[np.float32]:
        """The vectors of pages that have steps, ``(n, d)``."""
        ids = [step.id for page in chosen for step in steps[page.id]]
        held = self.vectors.vectors(user_key(user), "steps", ids)
        missing = [step for page in chosen for step in steps[page.id] if step.id not in held]
        if missing:
            texts = [searchable(step.text) for step in missing]
            vectors = embed_texts(self.ledger, user, self.embedder, texts)
            held.update(zip((step.id for step in missing), vectors, strict=True))
        tops = embed_texts(self.ledger, user, self.embedder, [page_top(page) for page in chosen])
        return page_vectors(tops, [np.stack([held[step.id] for step in steps[page.id]]) for page in chosen])
