"""Bringing the indexes up to the ledger, by change number; rebuilding one that is damaged or gone.

An index may always be behind: its rows say how far it came, and writing the same record twice does no harm. So a
process that was killed at any point goes on where the index was left.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sqlalchemy import BigInteger, Table, bindparam, func, select

from hexamem.errors import CorruptFileError, HomeInUseError, ModelFileError
from hexamem.memory_types.times import to_micros
from hexamem.stores.chunking import SHORT, chunk_spans, is_passage, item_of
from hexamem.stores.documents import Document, item_documents, step_document
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import (
    Ledger,
    Transaction,
    changed_items,
    changed_steps,
    get_items,
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

__all__ = ["LabelStage", "Projector", "count_passages", "holds_documents"]

_BATCH = 5_000
_SIDE_BY_SIDE = 500
_GIVEN_BACK, _APART = 4, 1.0
"""Small writes, and seconds, after which free memory is given back: each leaves some behind in the threads of the indexes."""
_STREAMS: tuple[Literal["steps", "items"], ...] = ("steps", "items")
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class _Target:
    index: Literal["lexical", "vectors"]
    stream: Literal["steps", "items"]

    @property
    def name(self) -> str:
        return f"{self.index}.{self.stream}"


_DOCUMENT = Prepared(
    select(items.c.id)
    .where(items.c.user_id == bindparam("user"), items.c.kind == "resource", func.length(items.c.text) > SHORT)
    .limit(1)
)
_FEW, _SHARE = 32, 100
"""So many new steps, and one in so many of those indexed, may be searched before they are indexed."""
_FIRST_CHANGED = Prepared(
    select(steps.c.seq)
    .where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since"))
    .order_by(steps.c.seq)
    .limit(_FEW + 1)
)
_CHANGED_ITEM = Prepared(
    select(items.c.id).where(items.c.user_id == bindparam("user"), items.c.change > bindparam("since")).limit(1)
)
_LAST_STEP = Prepared(
    select(steps.c.seq).where(steps.c.user_id == bindparam("user")).order_by(steps.c.seq.desc()).limit(1)
)
_DOCUMENTS = Prepared(
    select(items.c.id).where(
        items.c.user_id == bindparam("user"),
        items.c.kind == "resource",
        items.c.status.in_(["active", "superseded"]),
        items.c.change <= bindparam("upto"),
        func.length(items.c.text) > SHORT,
    )
)


def _counting(table: Table, kept: Sequence[str]) -> tuple[Prepared, Prepared]:
    """Count the records that an index holds, and those that changed since."""
    own = select(func.count()).where(table.c.user_id == bindparam("user"))
    reached = bindparam("upto", type_=BigInteger)
    return (
        Prepared(own.where(table.c.change <= reached, table.c.status.in_(kept))),
        Prepared(own.where(table.c.change > reached)),
    )


_COUNTED = {"steps": _counting(steps, ["active"]), "items": _counting(items, ["active", "superseded"])}


class LabelStage(Protocol):
    """What labels steps before they are indexed."""

    def label(self, user: str) -> int:
        """Label the user's steps that have no labels yet; returns how many were."""
        ...

    def waiting(self, user: str) -> bool:
        """Whether there are steps to be tried again, though the indexes are up to the ledger."""
        ...

    def start_over(self, user: str) -> None:
        """Look again at every step that has no labels."""
        ...


class _Level(NamedTuple):
    """When no index of a user was behind.

    Attributes:
        state: the ledger's own word for it; None where only reading tells.
        change, seq: the last change number and the last step there were.
    """

    state: object | None
    change: int
    seq: int


_TARGETS = tuple(_Target(index, stream) for index in ("lexical", "vectors") for stream in _STREAMS)
_STEP_VECTORS = _Target("vectors", "steps")


class Projector:
    """Keeps a home's indexes in step with its ledger. Safe to call from several threads.

    Args:
        notices: receives the user and one clear line for each index that had to be rebuilt.
        home: the id of the home that the indexes lie in: several may share a ledger, each with indexes of its own.
        labelling: labels steps before they are indexed; None to index them without.
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
        self._held_vectors: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
        """By user and id, while :meth:`purge` writes the vectors of unchanged texts anew."""
        self.pages: PageIndex | None = None  # set by whoever makes pages; erased, purged and rebuilt with the others
        self.on_removal: Callable[[str], None] = lambda user: None
        """Called with a user whose words were taken out of the ledger; set by whoever keeps some in memory."""
        self._locks: dict[str, threading.RLock] = {}
        self._guard = threading.Lock()
        self._checked: set[str] = set()
        self._level: dict[str, _Level] = {}
        self.embedder_error: str | None = None
        """Why the embedder's model cannot be loaded; the indexes of vectors stay behind then."""
        self._writes, self._given_back = 0, time.monotonic()  # since free memory was last given back, and when

    def lock(self, user: str) -> threading.RLock:
        """The lock that index writes of this user hold."""
        with self._guard:
            return self._locks.setdefault(user, threading.RLock())

    def behind(self, user: str) -> int:
        """How many change numbers the slowest index of the user lacks."""
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return 0
            return tx.change - _slowest(read_projections(tx, self._home))

    def catch_up(self, user: str, progress: Progress | None = None) -> int:
        """Bring every index of the user up to the ledger; returns how many records were written.

        The first call for a user in a process also checks that the indexes hold what they say, and rebuilds those
        that do not; so does any that finds one damaged or gone under its hands.
        """
        again = self.labelling is not None and self.labelling.waiting(user)
        if user in self._checked and not again and self._is_level(user):
            return 0
        with self.lock(user):
            if user not in self._checked:
                self._check(user)
                self._checked.add(user)
            if self.labelling is not None:
                self.labelling.label(user)
            try:
                return self._advance_all(user, progress)
            except (CorruptFileError, HomeInUseError):  # a folder that is gone cannot be locked either
                if not self._check(user):
                    raise
                return self._advance_all(user, progress)

    def _is_level(self, user: str) -> bool:
        """Whether no index of the user is behind; without asking the ledger where nothing was written since it was seen."""
        state, level = self.ledger.state(user), self._level.get(user)
        if state is not None and level is not None and level.state is state:
            return True
        with self.ledger.read(user) as tx:
            if _slowest(read_projections(tx, self._home) if tx.user_id else {}) < tx.change:
                return False
            self._level[user] = _level(tx, state)
        return True

    def unindexed(self, user: str) -> dict[str, str] | None:
        """The words of the steps that no index may hold yet, by step id: few new ones, beside which nothing has changed.

        A recall that searches them as they are need not wait until they are indexed. None where that is not enough:
        then :meth:`catch_up` comes first.
        """
        level = self._level.get(user)
        if level is None or user not in self._checked:
            return None
        if level.state is not None and self.ledger.state(user) is level.state:
            return {}
        with self.ledger.read(user) as tx:
            if not tx.user_id or tx.change < level.change:
                return None
            if (
                _slowest(read_projections(tx, self._home)) < level.change
            ):  # one that is built anew holds less than it did
                return None
            if tx.change == level.change:
                return {}
            changed = tx.all(_FIRST_CHANGED, user=tx.user_id, since=level.change)
            if not 0 < len(changed) <= _FEW or changed[0].seq <= level.seq:
                return None
            if tx.first(_CHANGED_ITEM, user=tx.user_id, since=level.change) is not None:
                return None
            new = [step_document(step) for _, step in changed_steps(tx, level.change)]
        if not all(one.active for one in new) or _SHARE * len(new) > self.lexical.count(user_key(user)):
            return None
        return {one.id: _lexical(one).text for one in new}

    def mend(self, user: str) -> bool:
        """Rebuild those indexes of the user that are damaged, after a search failed on one; whether there was any."""
        with self.lock(user):
            found = self._check(user)
            if found:
                self._advance_all(user)
            return found

    def rebuild(self, user: str, progress: Progress | None = None) -> int:
        """Throw the user's indexes away and build them from the ledger; returns how many records were written."""
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
        """Bring the indexes up and drop what they still hold of replaced text: after a redaction.

        Names of labels, speakers and threads are metadata of vectors, and those of deleted records may lie anywhere in
        the files of the vector store. So the user is erased there and written anew, with the vectors of before.
        """
        with self.lock(user):
            self.catch_up(user)
            key = user_key(user)
            held = {stream: self.vectors.vectors(key, stream, self.vectors.ids(key, stream)) for stream in _STREAMS}
            self._level.pop(user, None)
            self.vectors.drop_user(key)
            self._set(user, {f"vectors.{stream}": 0 for stream in _STREAMS})
            self._held_vectors[user] = held["steps"] | held["items"]
            try:
                self._advance_all(user)
            finally:
                del self._held_vectors[user]
            if not self.lexical.purge(user_key(user)):  # too large to be cleaned in place
                self._empty_lexical(user)
                self._advance_all(user)
            if self.pages is not None:
                self.pages.purge(user)

    def drop_user(self, user: str) -> tuple[int, int]:
        """Erase the user's indexes physically, damaged or not; returns how many vectors and documents they held.

        What a damaged index held is not counted: it is not opened any more.
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
            self._level.pop(user, None)
        return vectors, documents

    def _check(self, user: str) -> bool:
        """Empty every index that is damaged, or does not hold what the ledger has given it; whether there was one."""
        key = user_key(user)
        with self.ledger.read(user) as tx:
            if not tx.user_id:
                return False
            done = read_projections(tx, self._home)
            reached = {target: (target.stream, done.get(target.name, 0)) for target in _TARGETS}
            counted = {one: _held(tx, *one) for one in set(reached.values())}
            held = {target: counted[one] for target, one in reached.items()}
        found = False
        reason = self.lexical.damaged(key)
        if reason is None:
            both = [held[target] for target in _TARGETS if target.index == "lexical"]
            reason = _miscounted(self.lexical.count(key), sum(low for low, _ in both), sum(high for _, high in both))
        if reason is not None:
            found = True
            self._notices(user, f"the keyword index of user {user!r} is rebuilt from the ledger: {reason}")
            self._empty_lexical(user)
        for stream in _STREAMS:
            target = _Target("vectors", stream)
            count, damage = self._count_vectors(key, stream)
            reason = damage or _miscounted(count, *held[target])
            if reason is not None:
                found = True
                self._notices(
                    user, f"the vector index ({stream}) of user {user!r} is rebuilt from the ledger: {reason}"
                )
                self._reset(user, target)
        return found

    def _count_vectors(self, key: str, stream: Literal["steps", "items"]) -> tuple[int, str | None]:
        """How many vectors there are; 0 and why, where they cannot be read."""
        try:
            return self.vectors.count(key, stream), None
        except CorruptFileError as error:
            return 0, str(error)

    def _reset(self, user: str, target: _Target) -> None:
        key = user_key(user)
        if target.index == "vectors":
            self._level.pop(user, None)
            self.vectors.reset(key, target.stream)
            self._set(user, {target.name: 0})
        else:
            self._empty_lexical(user)

    def _empty_lexical(self, user: str) -> None:
        """Both streams share one keyword index."""
        self._level.pop(user, None)
        self.lexical.reset(user_key(user))
        self._set(user, {f"lexical.{stream}": 0 for stream in _STREAMS})

    def _set(self, user: str, values: dict[str, int]) -> None:
        with self.ledger.write(user, create=False) as tx:
            if tx.user_id:
                for name, change in values.items():
                    set_projection(tx, self._home, name, change)

    def _advance_all(self, user: str, progress: Progress | None = None) -> int:
        try:
            if self.embedder_error is None:
                return sum(self._advance(user, stream, progress) for stream in _STREAMS)
        except ModelFileError as error:
            self.embedder_error = str(error)
            self._notices(user, f"{error}; meanwhile messages are stored, and found by keywords alone")
        return sum(self._advance(user, stream, progress, index="lexical") for stream in _STREAMS)

    def _advance(self, user: str, stream: Literal["steps", "items"], progress: Progress | None, index: str = "") -> int:
        """Bring both indexes of a stream up, or one alone; what both lack is read from the ledger once."""
        targets = [target for target in _TARGETS if target.stream == stream and target.index.startswith(index)]
        written = 0
        while True:
            state = self.ledger.state(user)
            with self.ledger.read(user) as tx:
                if not tx.user_id:
                    return written
                done = read_projections(tx, self._home)
                since = min(done.get(target.name, 0) for target in targets)
                if since >= tx.change:
                    if _slowest(done) >= tx.change:
                        self._level[user] = _level(tx, state)
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
        """Steps that are unchanged themselves, but whose labels were renamed or joined."""
        renamed = steps_renamed(tx, since)
        if not renamed:
            return []
        intents = get_intents(tx, renamed)
        steps = get_steps(tx, renamed).values()
        return self._described(
            tx, [step_document(step)._replace(label_ids=intents[step.id].label_ids) for step in steps]
        )

    def _rename(self, user: str, renamed: list[Document]) -> None:
        """Write new metadata beside the vectors that are there."""
        key = user_key(user)
        vectors = self.vectors.vectors(key, "steps", [document.id for document in renamed])
        known = [document for document in renamed if document.id in vectors]
        if known:
            rows = np.stack([vectors[document.id] for document in known])
            metadatas = [document.metadata for document in known]
            self.vectors.upsert(key, "steps", [document.id for document in known], rows, metadatas)

    def _write_all(self, user: str, lacking: dict[_Target, list[Document]]) -> None:
        """Write to both indexes, side by side where there is enough to do: tokenizing and embedding share the cores."""
        if len(lacking) < 2 or max(map(len, lacking.values())) < _SIDE_BY_SIDE:
            for target, documents in lacking.items():
                self._write(user, target, documents)
            self._writes += 1
            if self._writes >= _GIVEN_BACK and time.monotonic() - self._given_back >= _APART:
                self._writes, self._given_back = 0, time.monotonic()
                release_memory()
            return
        first, *rest = lacking.items()
        with ThreadPoolExecutor(1, "hexamem-index") as pool:  # one more thread, since each costs memory of its own
            beside = pool.submit(self._write, user, *first)
            for target, documents in rest:
                self._write(user, target, documents)
            beside.result()
        release_memory()

    def _write(self, user: str, target: _Target, documents: list[Document]) -> None:
        key = user_key(user)
        gone = [document.id for document in documents if not document.active]
        gone += self._former_passages(key, target, documents)
        kept = [document for document in documents if document.active]
        if target.index == "lexical":
            if gone:
                self.lexical.delete(key, gone)
            if kept:
                self.lexical.upsert(key, [_lexical(document) for document in kept])
            return
        if gone:
            self.vectors.delete(key, target.stream, gone)
        if kept:
            vectors = self._vectors_of(user, kept)
            self.vectors.upsert(
                key,
                target.stream,
                [document.id for document in kept],
                vectors,
                [document.metadata for document in kept],
            )

    def _former_passages(self, key: str, target: _Target, documents: list[Document]) -> list[str]:
        """The passages that an index still holds of items that are written anew."""
        written = {document.id for document in documents}
        anew = {document.id for document in documents if document.kind == "resource" and not is_passage(document.id)}
        if not anew:
            return []
        held = self.lexical.ids(key) if target.index == "lexical" else self.vectors.ids(key, target.stream)
        return [one for one in held - written if is_passage(one) and item_of(one) in anew]

    def _vectors_of(self, user: str, documents: list[Document]) -> npt.NDArray[np.float32]:
        held = self._held_vectors.get(user, {})
        new = [document.text for document in documents if document.id not in held]
        if len(new) == len(documents):
            return embed_texts(self.ledger, user, self.embedder, new)
        made = iter(embed_texts(self.ledger, user, self.embedder, new)) if new else iter(())
        return np.stack([held[document.id] if document.id in held else next(made) for document in documents])


def _slowest(done: Mapping[str, int]) -> int:
    """The change number up to which every index has come."""
    return min(done.get(target.name, 0) for target in _TARGETS)


def _level(tx: Transaction, state: object | None) -> _Level:
    last = tx.first(_LAST_STEP, user=tx.user_id)
    return _Level(state, tx.change, 0 if last is None else int(last.seq))


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


def _held(tx: Transaction, stream: str, done: int) -> tuple[int, int]:
    """How many records an index that has come as far as ``done`` holds: at least, and at most.

    Between the two lie the records that changed since: a killed process may have written some of them already.
    """
    low, since = (tx.first(one, user=tx.user_id, upto=done) for one in _COUNTED[stream])
    least = int(low[0]) if low else 0
    most = least + (int(since[0]) if since else 0)
    if stream == "steps":
        return least, most
    passages = count_passages(tx, upto=done)
    # Of a document that changed since, an index may hold any number, those of its former content too.
    return least + passages, most + passages if most == least or not _resources_since(tx, done) else sys.maxsize


def count_passages(tx: Transaction, upto: int | None = None) -> int:
    """How many passages the user's long documents have in each index that has come as far as ``upto``, or all the way."""
    ids = [row.id for row in tx.all(_DOCUMENTS, user=tx.user_id, upto=sys.maxsize if upto is None else upto)]
    return sum(len(chunk_spans(item)) for one in ids for item in get_items(tx, [one]).values())  # one in memory


def holds_documents(tx: Transaction) -> bool:
    """Whether any item of the user may be indexed by passages."""
    return tx.first(_DOCUMENT, user=tx.user_id) is not None


def _resources_since(tx: Transaction, done: int) -> bool:
    own = (items.c.user_id == tx.user_id) & (items.c.kind == "resource") & (items.c.change > done)
    return tx.first(select(items.c.id).where(own).limit(1)) is not None


def _miscounted(count: int, least: int, most: int) -> str | None:
    if least <= count <= most:
        return None
    return f"it holds {count:,} of {least:,} records" if least == most else f"it holds {count:,} records of {most:,}"
