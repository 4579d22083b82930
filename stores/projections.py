"""Updates the indexes from the ledger, by change number, and rebuilds an index that is damaged or missing.

An index may be behind: the ledger stores up to which change each index is written, and writing a record twice does no
harm. So a process that was killed at any point is continued by the next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sqlalchemy import bindparam, select

from hexamem.errors import CorruptFileError, HomeInUseError, ModelFileError
from hexamem.memory_types.times import to_micros
from hexamem.stores.chunking import is_passage, item_of
from hexamem.stores.documents import Document, item_documents, step_document
from hexamem.stores.embedders import Embedder
from hexamem.stores.expected_counts import count_mismatch, expected_count
from hexamem.stores.ledger import (
    Ledger,
    Transaction,
    changed_items,
    changed_steps,
    get_steps,
    read_projections,
    set_projection,
    user_key,
)
from hexamem.stores.ledger.labels import get_intents, read_labels, steps_renamed
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items, steps
from hexamem.stores.lexical import LexicalDocument, LexicalStore
from hexamem.stores.memory_use import release_memory
from hexamem.stores.page_index import PageIndex
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["LabelStage", "Projector"]

_BATCH = 5_000
_PARALLEL = 500  # documents from which both indexes are written in parallel
_WRITES_TO_RELEASE, _SECONDS_TO_RELEASE = 4, 1.0
"""Small writes, and seconds, after which free memory is released: each write leaves some in the indexes' threads."""
_STREAMS: tuple[Literal["steps", "items"], ...] = ("steps", "items")
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class _Target:
    index: Literal["lexical", "vectors"]
    stream: Literal["steps", "items"]

    @property
    def name(self) -> str:
        return f"{self.index}.{self.stream}"


_MAX_UNINDEXED, _SHARE = 32, 100
"""At most so many new steps, and one per so many indexed ones, are searched before they are indexed."""
_FIRST_CHANGED = Prepared(
    select(steps.c.seq)
    .where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since"))
    .order_by(steps.c.seq)
    .limit(_MAX_UNINDEXED + 1)
)
_CHANGED_ITEM = Prepared(
    select(items.c.id).where(items.c.user_id == bindparam("user"), items.c.change > bindparam("since")).limit(1)
)
_LAST_STEP = Prepared(
    select(steps.c.seq).where(steps.c.user_id == bindparam("user")).order_by(steps.c.seq.desc()).limit(1)
)


class LabelStage(Protocol):
    """Labels steps before they are indexed."""

    def label(self, user: str) -> int:
        """Label the user's steps without labels; returns the number of steps labelled."""
        ...

    def waiting(self, user: str) -> bool:
        """Whether there are steps to label again, even if the indexes are up to date."""
        ...

    def start_over(self, user: str) -> None:
        """Try every step without labels again."""
        ...


class _SyncPoint(NamedTuple):
    """A state of the ledger in which no index of a user was behind.

    Attributes:
        state: :meth:`Ledger.state`; None if only a read shows whether it changed.
        change, seq: the last change number and the last step.
    """

    state: object | None
    change: int
    seq: int


_TARGETS = tuple(_Target(index, stream) for index in ("lexical", "vectors") for stream in _STREAMS)
_STEP_VECTORS = _Target("vectors", "steps")


class Projector:
    """Updates a home's indexes from its ledger. Thread-safe.

    Args:
        notices: receives the user and a message for each index that is rebuilt.
        home: the id of the home of the indexes: several homes may share a ledger, each with its own indexes.
        labelling: labels steps before they are indexed; None to index them without labels.
    """

    def __init__(
        self,
        ledger: Ledger,
        vectors: VectorIndex,
        lexical: LexicalStore,
        embedder: Embedder,
        notices: Callable[[str, str], None],
        home: str,
        labelling: LabelStage | None = None,
    ) -> None:
        self.labelling = labelling
        self.ledger, self.vectors, self.lexical, self.embedder = ledger, vectors, lexical, embedder
        self._notices = notices
        self._home = home
        self._preserved_vectors: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
        """By user and id: vectors of unchanged texts, while :meth:`purge` writes them again."""
        self.pages: PageIndex | None = None  # set by the owner of pages; erased, purged and rebuilt with the others
        self.on_removal: Callable[[str], None] = lambda user: None
        """Called with a user whose words were removed from the ledger; set by the owner of caches in memory."""
        self._locks: dict[str, threading.RLock] = {}
        self._guard = threading.Lock()
        self._checked: set[str] = set()
        self._synced: dict[str, _SyncPoint] = {}
        self.embedder_error: str | None = None
        """Why the embedder's model cannot be loaded; the vector indexes are then not updated."""
        self._writes, self._released = 0, time.monotonic()  # since free memory was last released

    def lock(self, user: str) -> threading.RLock:
        """The lock of all index writes of this user."""
        with self._guard:
            return self._locks.setdefault(user, threading.RLock())

    def behind(self, user: str) -> int:
        """The number of changes that the slowest index of the user is behind."""
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return 0
            return tx.change - _slowest(read_projections(tx, self._home))

    def catch_up(self, user: str, progress: Progress | None = None) -> int:
        """Label the steps that are waiting for labels, and update every index of the user, up to what the ledger holds at
        the time of the call: it does not chase a writer.

        Returns the number of records written.

        The first call for a user in a process also checks the number of records of each index, and rebuilds an index
        that is wrong. So does a call that fails on a damaged or missing index.
        """
        again = self.labelling is not None and self.labelling.waiting(user)
        if user in self._checked and not again and self._is_current(user):
            return 0
        wanted = self._change(user)
        with self.lock(user):
            if user not in self._checked:
                self._check(user)
                self._checked.add(user)
            elif not again and self._reaches(user, wanted):
                return 0  # another thread has indexed it meanwhile
            if self.labelling is not None:
                self.labelling.label(user)
            try:
                return self._advance_all(user, progress)
            except (CorruptFileError, HomeInUseError):  # a missing folder cannot be locked either
                if not self._check(user):
                    raise
                return self._advance_all(user, progress)

    def _is_current(self, user: str) -> bool:
        """Whether no index of the user is behind; the ledger is not read if nothing was written since the last call."""
        state, synced = self.ledger.state(user), self._synced.get(user)
        if state is not None and synced is not None and synced.state is state:
            return True
        with self.ledger.read(user) as tx:
            if _slowest(read_projections(tx, self._home) if tx.user_id else {}) < tx.change:
                return False
            self._synced[user] = _sync_point(tx, state)
        return True

    def _change(self, user: str) -> int:
        with self.ledger.read(user) as tx:
            return tx.change if tx.user_id else 0

    def _reaches(self, user: str, change: int) -> bool:
        """Whether every index is written up to a change, and its steps are labelled."""
        with self.ledger.read(user) as tx:
            return bool(tx.user_id) and _slowest(read_projections(tx, self._home)) >= change

    def unindexed(self, user: str) -> dict[str, str] | None:
        """The texts of new steps that may not be indexed yet, by step id, if they are few and nothing else changed.

        A recall that searches these texts directly need not wait until they are indexed. None: call :meth:`catch_up`
        first.
        """
        synced = self._synced.get(user)
        if synced is None or user not in self._checked:
            return None
        if synced.state is not None and self.ledger.state(user) is synced.state:
            return {}
        with self.ledger.read(user) as tx:
            if not tx.user_id or tx.change < synced.change:
                return None
            if _slowest(read_projections(tx, self._home)) < synced.change:  # an index is being rebuilt
                return None
            if tx.change == synced.change:
                return {}
            changed = tx.all(_FIRST_CHANGED, user=tx.user_id, since=synced.change)
            if not 0 < len(changed) <= _MAX_UNINDEXED or changed[0].seq <= synced.seq:
                return None
            if tx.first(_CHANGED_ITEM, user=tx.user_id, since=synced.change) is not None:
                return None
            new = [step_document(step) for _, step in changed_steps(tx, synced.change)]
        if not all(step.active for step in new) or _SHARE * len(new) > self.lexical.count(user_key(user)):
            return None
        return {step.id: _lexical(step).text for step in new}

    def repair(self, user: str) -> bool:
        """Rebuild the damaged indexes of the user, after a search failed; returns whether there was one."""
        with self.lock(user):
            damaged = self._check(user)
            if damaged:
                self._advance_all(user)
            return damaged

    def rebuild(self, user: str, progress: Progress | None = None) -> int:
        """Rebuild all indexes of the user from the ledger; returns the number of records written."""
        with self.lock(user):
            for target in _TARGETS:
                self._reset(user, target)
            self._checked.add(user)
            if self.labelling is not None:
                self.labelling.start_over(user)
                self.labelling.label(user)
            written = self._advance_all(user, progress)
            if self.pages is not None:
                written += self.pages.rebuild(user)
            return written

    def purge(self, user: str) -> None:
        """Update the indexes and remove all traces of replaced text, after a redaction.

        Names of labels, speakers and threads are metadata of vectors, and those of deleted records may remain anywhere
        in the files of the vector store. So the user is erased there and written again, with the same vectors; the keyword
        index too is written again.
        """
        with self.lock(user):
            self.catch_up(user)
            key = user_key(user)
            vectors = {stream: self.vectors.vectors(key, stream, self.vectors.ids(key, stream)) for stream in _STREAMS}
            self._synced.pop(user, None)
            self.vectors.drop_user(key)
            self._set(user, {f"vectors.{stream}": 0 for stream in _STREAMS})
            self._empty_lexical(user)
            self._preserved_vectors[user] = vectors["steps"] | vectors["items"]
            try:
                self._advance_all(user)
            finally:
                del self._preserved_vectors[user]
            if self.pages is not None:
                self.pages.purge(user)

    def drop_user(self, user: str) -> tuple[int, int]:
        """Erase the user's indexes physically, damaged or not; returns the numbers of vectors and documents.

        The content of a damaged index is not counted.
        """
        key = user_key(user)
        with self.lock(user):
            vectors = sum(self._count_vectors(key, stream)[0] for stream in _STREAMS)
            documents = 0 if self.lexical.damaged(key) else self.lexical.count(key)
            if self.pages is not None:
                of_pages = self.pages.drop_user(user)
                vectors, documents = vectors + of_pages[0], documents + of_pages[1]
            self.vectors.drop_user(key)
            self.lexical.reset(key)
            self._checked.discard(user)
            self._synced.pop(user, None)
        return vectors, documents

    def _check(self, user: str) -> bool:
        """Empty every index that is damaged or has a wrong number of records; returns whether there was one."""
        key = user_key(user)
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return False
            done = read_projections(tx, self._home)
            reached = {target: (target.stream, done.get(target.name, 0)) for target in _TARGETS}
            counted = {key: expected_count(tx, *key) for key in set(reached.values())}
            expected = {target: counted[key] for target, key in reached.items()}
        damaged = False
        reason = self.lexical.damaged(key)
        if reason is None:
            least, most = map(sum, zip(*(expected[t] for t in _TARGETS if t.index == "lexical"), strict=True))
            reason = count_mismatch(self.lexical.count(key), least, most)
        if reason is not None:
            damaged = True
            self._notices(user, f"the keyword index of user {user!r} is rebuilt from the ledger: {reason}")
            self._empty_lexical(user)
        for stream in _STREAMS:
            target = _Target("vectors", stream)
            count, damage = self._count_vectors(key, stream)
            reason = damage or count_mismatch(count, *expected[target])
            if reason is not None:
                damaged = True
                self._notices(
                    user, f"the vector index ({stream}) of user {user!r} is rebuilt from the ledger: {reason}"
                )
                self._reset(user, target)
        return damaged

    def _count_vectors(self, key: str, stream: Literal["steps", "items"]) -> tuple[int, str | None]:
        """The number of vectors; 0 and the reason if they cannot be read."""
        try:
            return self.vectors.count(key, stream), None
        except CorruptFileError as error:
            return 0, str(error)

    def _reset(self, user: str, target: _Target) -> None:
        key = user_key(user)
        if target.index == "vectors":
            self._synced.pop(user, None)
            self.vectors.reset(key, target.stream)
            self._set(user, {target.name: 0})
        else:
            self._empty_lexical(user)

    def _empty_lexical(self, user: str) -> None:
        """Empty the keyword index, which both streams share."""
        self._synced.pop(user, None)
        self.lexical.reset(user_key(user))
        self._set(user, {f"lexical.{stream}": 0 for stream in _STREAMS})

    def _set(self, user: str, values: dict[str, int]) -> None:
        with self.ledger.write(user, create=False) as tx:
            if tx.user_id:
                for name, change in values.items():
                    set_projection(tx, self._home, name, change)

    def _advance_all(self, user: str, progress: Progress | None = None) -> int:
        until = self._change(user)
        try:
            if self.embedder_error is None:
                return sum(self._advance(user, stream, until, progress) for stream in _STREAMS)
        except ModelFileError as error:
            self.embedder_error = str(error)
            self._notices(user, f"{error}; meanwhile messages are stored, and found by keywords alone")
        return sum(self._advance(user, stream, until, progress, index="lexical") for stream in _STREAMS)

    def _advance(
        self,
        user: str,
        stream: Literal["steps", "items"],
        until: int,
        progress: Progress | None,
        index: str = "",
    ) -> int:
        """Update both indexes of a stream, or only ``index``, at least up to the change ``until``; changes that both lack
        are read once."""
        targets = [target for target in _TARGETS if target.stream == stream and target.index.startswith(index)]
        written = 0
        while True:
            state = self.ledger.state(user)
            with self.ledger.read(user) as tx:
                if not tx.user_id:
                    return written
                done = read_projections(tx, self._home)
                since = min(done.get(target.name, 0) for target in targets)
                if since >= min(until, tx.change):
                    if _slowest(done) >= tx.change:
                        self._synced[user] = _sync_point(tx, state)
                    return written
                batch = self._changed(tx, stream, since)
                renamed = self._renamed(tx, done.get("vectors.steps", 0)) if _STEP_VECTORS in targets else []
                reached = batch[-1][0] if len(batch) >= _BATCH else tx.change  # an item may be several documents
            behind = {target: done.get(target.name, 0) for target in targets if done.get(target.name, 0) < reached}
            lacking = {
                target: [document for change, document in batch if change > come] for target, come in behind.items()
            }
            if renamed:
                self._rename(user, renamed)
            self._write_all(user, {target: documents for target, documents in lacking.items() if documents})
            for target, documents in lacking.items():
                written += len(documents)
                if progress is not None and documents:
                    progress(target.name, len(documents))
            self._set(user, {target.name: reached for target in behind})

    def _changed(self, tx: Transaction, stream: str, since: int) -> list[tuple[int, Document]]:
        if stream == "steps":
            changed = [(change, step_document(step)) for change, step in changed_steps(tx, since, _BATCH)]
        else:
            items_since = changed_items(tx, since, _BATCH)
            changed = [(change, document) for change, item in items_since for document in item_documents(item)]
        described = self._described(tx, [document for _, document in changed])
        return [(change, document) for (change, _), document in zip(changed, described, strict=True)]

    @staticmethod
    def _described(tx: Transaction, documents: Sequence[Document]) -> list[Document]:
        carried = {label_id for document in documents if document.kind == "step" for label_id in document.label_ids}
        vocabulary = Vocabulary(read_labels(tx, carried) if carried else ())
        return [document.with_metadata(vocabulary) for document in documents]

    def _renamed(self, tx: Transaction, since: int) -> list[Document]:
        """Unchanged steps whose labels were renamed or merged."""
        renamed = steps_renamed(tx, since)
        if not renamed:
            return []
        intents = get_intents(tx, renamed)
        steps = get_steps(tx, renamed).values()
        return self._described(
            tx, [step_document(step)._replace(label_ids=intents[step.id].label_ids) for step in steps]
        )

    def _rename(self, user: str, renamed: list[Document]) -> None:
        """Replace the metadata of stored vectors."""
        key = user_key(user)
        vectors = self.vectors.vectors(key, "steps", [document.id for document in renamed])
        known = [document for document in renamed if document.id in vectors]
        if known:
            rows = np.stack([vectors[document.id] for document in known])
            metadatas = [document.metadata for document in known]
            self.vectors.upsert(key, "steps", [document.id for document in known], rows, metadatas)

    def _write_all(self, user: str, lacking: dict[_Target, list[Document]]) -> None:
        """Write to both indexes, in parallel for many documents: tokenizing and embedding share the cores."""
        if len(lacking) < 2 or max(map(len, lacking.values())) < _PARALLEL:
            for target, documents in lacking.items():
                self._write(user, target, documents)
            self._writes += 1
            if self._writes >= _WRITES_TO_RELEASE and time.monotonic() - self._released >= _SECONDS_TO_RELEASE:
                self._writes, self._released = 0, time.monotonic()
                release_memory()
            return
        first, *rest = lacking.items()
        with ThreadPoolExecutor(1, "hexamem-index") as pool:  # only one more thread, since each needs memory
            parallel = pool.submit(self._write, user, *first)
            for target, documents in rest:
                self._write(user, target, documents)
            parallel.result()
        release_memory()

    def _write(self, user: str, target: _Target, documents: list[Document]) -> None:
        key = user_key(user)
        gone = [document.id for document in documents if not document.active]
        gone += self._former_passages(key, target, documents)
        active = [document for document in documents if document.active]
        if target.index == "lexical":
            if gone:
                self.lexical.delete(key, gone)
            if active:
                self.lexical.upsert(key, [_lexical(document) for document in active])
            return
        if gone:
            self.vectors.delete(key, target.stream, gone)
        if active:
            ids, metadatas = [document.id for document in active], [document.metadata for document in active]
            self.vectors.upsert(key, target.stream, ids, self._vectors_of(user, active), metadatas)

    def _former_passages(self, key: str, target: _Target, documents: list[Document]) -> list[str]:
        """The indexed passages of items that are written again, except passages that are written too."""
        written = {document.id for document in documents}
        anew = {document.id for document in documents if document.kind == "resource" and not is_passage(document.id)}
        if not anew:
            return []
        indexed = self.lexical.ids(key) if target.index == "lexical" else self.vectors.ids(key, target.stream)
        return [record_id for record_id in indexed - written if is_passage(record_id) and item_of(record_id) in anew]

    def _vectors_of(self, user: str, documents: list[Document]) -> npt.NDArray[np.float32]:
        stored = self._preserved_vectors.get(user, {})
        new = [document.text for document in documents if document.id not in stored]
        if len(new) == len(documents):
            return embed_texts(self.ledger, user, self.embedder, new)
        fresh = iter(embed_texts(self.ledger, user, self.embedder, new)) if new else iter(())
        return np.stack([stored[document.id] if document.id in stored else next(fresh) for document in documents])


def _slowest(done: Mapping[str, int]) -> int:
    """The change number up to which every index is written."""
    return min(done.get(target.name, 0) for target in _TARGETS)


def _sync_point(tx: Transaction, state: object | None) -> _SyncPoint:
    last = tx.first(_LAST_STEP, user=tx.user_id)
    return _SyncPoint(state, tx.change, 0 if last is None else int(last.seq))


def _lexical(document: Document) -> LexicalDocument:
    return LexicalDocument(
        id=document.id,
        text=f"{document.text}\n{document.also}" if document.also else document.text,
        kind=document.kind,
        thread_id=document.thread_id,
        speaker=document.speaker,
        occurred_at=to_micros(document.occurred_at),
        label_ids=document.label_ids,
    )
