"""The lexical index: BM25 over words and ids, and label density, in one tantivy directory a user.

It is derived from the ledger, from which a lost index is rebuilt. Text is indexed and not stored; the statistics of
BM25 are those of one user's documents. Label density (STITCH, arXiv 2601.10702, section 3.3) is a
boolean query of constant scores over label ids.
"""

from __future__ import annotations

import math
import re
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tantivy import Query

from hexamem.errors import CorruptFileError, InvalidInputError, MissingUserError, StoreClosedError
from hexamem.stores.disk import sync_folder
from hexamem.stores.lexical.files import file_damage, is_initialized, leftover_files, storage_errors
from hexamem.stores.lexical.query import LexicalQueries, NoDocuments
from hexamem.stores.lexical.records import (
    ID,
    MIN_HEAP,
    LexicalDocument,
    LexicalFilter,
    checked_key,
    decode_key,
    encode_key,
    open_index,
    tantivy_document,
)

__all__ = ["LexicalDocument", "LexicalFilter", "LexicalStore"]

_USER_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MAX_OPEN = 64  # open indexes; each needs a thread and mapped files
_BULK_DOCUMENTS, _BULK_CHARACTERS = 1_000, 2_000_000  # from so many on a write uses the large heap
_BULK_HEAP = 64_000_000


class LexicalStore:
    """The lexical indexes of all users; each call names a user. Thread-safe: writes of one user are serialized, searches
    never wait. One process at a time may write a folder. Created by :meth:`open`.

    Every method but :meth:`damaged`, :meth:`reset` and :meth:`close` raises ``CorruptFileError`` on a damaged index.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._queries = LexicalQueries()
        self._open: OrderedDict[str, Any] = OrderedDict()
        self._locks: dict[str, threading.RLock] = {}
        self._guard = threading.Lock()
        self._closed = False

    @classmethod
    def open(cls, root: Path) -> LexicalStore:
        """Open the folder of all indexes, which is created when missing; no index is opened yet.

        Raises:
            HomeNotWritableError, StorageFullError: the folder cannot be created.
        """
        with storage_errors(root):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(root)

    def close(self) -> None:
        """Close every open index; each write was committed. Later calls raise."""
        with self._guard:
            self._closed = True
            self._open.clear()

    # -------------------------------------------------------------------------------------------------------- writing

    def upsert(self, user_key: str, documents: Sequence[LexicalDocument]) -> None:
        """Index documents; one of a known id replaces it, and of two with one id the later counts.

        Durable and visible to searches on return, all or nothing.

        Raises:
            MissingUserError, InvalidInputError: a user key, id or time is not acceptable; nothing was stored.
            StorageFullError, HomeNotWritableError, HomeInUseError: nothing was stored.
        """
        latest = {checked_key(document): document for document in documents}
        with self._lock(user_key):
            if not latest:
                return
            index = self._index(user_key, create=True)
            searcher = index.searcher()
            with storage_errors(self._path(user_key)):
                known = {key for key in latest if searcher.doc_freq(ID, key)} if searcher.num_docs else set()
            many = len(latest) >= _BULK_DOCUMENTS
            large = many or sum(len(document.text) for document in latest.values()) > _BULK_CHARACTERS
            with (
                self._writing(user_key, index, _BULK_HEAP if large else MIN_HEAP) as writer,
                storage_errors(self._path(user_key)),
            ):
                for key, document in latest.items():
                    if key in known:
                        writer.delete_documents_by_term(ID, key)
                    writer.add_document(tantivy_document(key, document))

    def delete(self, user_key: str, ids: Iterable[str]) -> None:
        """Remove documents from all searches, durably; unknown ids are ignored. A later merge, or :meth:`reset`,
        removes their terms from the files."""
        keys = [encode_key(record_id) for record_id in ids]
        with self._lock(user_key):
            index = self._index(user_key)
            if index is None:
                return
            searcher = index.searcher()
            with storage_errors(self._path(user_key)):
                known = [key for key in keys if searcher.doc_freq(ID, key)]
            if known:
                with self._writing(user_key, index, MIN_HEAP) as writer:
                    for key in known:
                        writer.delete_documents_by_term(ID, key)

    def reset(self, user_key: str) -> None:
        """Remove the user's directory, damaged or not; the next write starts an empty index."""
        with self._lock(user_key):
            with self._guard:
                self._open.pop(user_key, None)
            path = self._path(user_key)
            with storage_errors(path):
                if path.exists():
                    shutil.rmtree(path)
                    sync_folder(self._root)

    # -------------------------------------------------------------------------------------------------------- reading

    def search(
        self, user_key: str, query: str, k: int, *, filters: LexicalFilter | None = None
    ) -> list[tuple[str, float]]:
        """The `k` best documents by BM25 that share a term with the query, as ``(id, score)``, best first.

        The query is plain text: no character in it is an operator. Equal scores are ordered by time, latest first
        and undated last, then by a hash of the id. Scores count deleted documents until a merge drops them, so they
        may differ a little between two indexes of the same documents.

        Raises:
            InvalidInputError: `k` is below 1.
        """
        index = self._readable(user_key, k)
        if index is None:
            return []
        searcher = index.searcher()
        with storage_errors(self._path(user_key)):
            return self._queries.run(searcher, self._queries.text(searcher, query), k, filters)

    def score_texts(self, user_key: str, query: str, texts: Mapping[str, str]) -> list[tuple[str, float]]:
        """BM25 of texts that are not in the index, comparable with :meth:`search`; those above 0, best first.

        For the words that an item had before it was changed. Each text counts as of mean length.
        """
        index = self._readable(user_key, 1)
        searcher = NoDocuments() if index is None else index.searcher()
        scored = zip(texts, self._queries.scores(searcher, query, texts.values()), strict=True)
        return sorted((hit for hit in scored if hit[1] > 0), key=lambda hit: (-hit[1], hit[0]))

    def label_density(
        self, user_key: str, weights: Mapping[str, float], k: int, *, filters: LexicalFilter | None = None
    ) -> list[tuple[str, float]]:
        """The `k` documents with the largest sum of the weights of their labels.

        Args:
            weights: label id to weight, finite and not negative; a label of weight 0 finds nothing.

        Returns:
            ``(id, sum)``, largest first, in 32-bit precision; ties as in :meth:`search`.

        Raises:
            InvalidInputError: `k` is below 1, or a weight is not acceptable.
        """
        for label, weight in weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise InvalidInputError(f"The weight {weight!r} of label {label!r} must be finite and not negative.")
        index = self._readable(user_key, k)
        if index is None:
            return []
        with storage_errors(self._path(user_key)):
            return self._queries.run(index.searcher(), self._queries.labels(weights), k, filters)

    def count(self, user_key: str) -> int:
        """The number of documents in the user's index, without deleted ones."""
        index = self._readable(user_key)
        if index is None:
            return 0
        return int(index.searcher().num_docs)

    def ids(self, user_key: str) -> set[str]:
        """The ids of all the user's documents."""
        index = self._readable(user_key)
        if index is None or not (searcher := index.searcher()).num_docs:
            return set()
        with storage_errors(self._path(user_key)):
            hits = searcher.search(Query.all_query(), searcher.num_docs, count=False).hits
            keys = {searcher.doc(address).get_first(ID) for _, address in hits}
        return {decode_key(key) for key in keys}

    def damaged(self, user_key: str) -> str | None:
        """Why the user's index must be rebuilt, or ``None``: reads every file against its checksum, then opens it.

        A user without an index has an undamaged, empty one.
        """
        path = self._path(user_key)
        with self._lock(user_key):
            reason = file_damage(path)
            if reason is not None:
                return reason
            with self._guard:
                self._open.pop(user_key, None)  # an open index would answer from its mapped files
            try:
                self._index(user_key)
            except CorruptFileError as error:
                return str(error)
        return None

    # ------------------------------------------------------------------------------------------------------- internal

    def _path(self, user_key: str) -> Path:
        if not user_key:
            raise MissingUserError("The lexical index was called without a user key; name the user.")
        if _USER_KEY.fullmatch(user_key) is None:
            raise InvalidInputError(
                f"The user key {user_key!r} must be 1 to 128 letters, digits, '.', '_' or '-', the first a letter or "
                "digit: it names a folder. Pass the hash of the user."
            )
        return self._root / user_key

    def _lock(self, user_key: str) -> threading.RLock:
        self._path(user_key)
        with self._guard:
            if self._closed:
                raise StoreClosedError("The lexical store was closed before this call; open it again.")
            return self._locks.setdefault(user_key, threading.RLock())

    def _readable(self, user_key: str, k: int = 1) -> Any | None:
        if k < 1:
            raise InvalidInputError(f"k={k!r} must be at least 1.")
        with self._guard:
            if self._closed:
                raise StoreClosedError("The lexical store was closed before this call; open it again.")
            index = self._open.get(user_key)
            if index is not None:
                self._open.move_to_end(user_key)
                return index
        with self._lock(user_key):
            return self._index(user_key)

    def _index(self, user_key: str, *, create: bool = False) -> Any:
        """The user's open index, or ``None`` when there is none and `create` is not set. The caller holds the lock."""
        with self._guard:
            index = self._open.get(user_key)
        if index is None:
            path = self._path(user_key)
            with storage_errors(path):
                if not is_initialized(path):
                    if not create:
                        return None
                    path.mkdir(mode=0o700, exist_ok=True)
                    sync_folder(self._root)
                index = open_index(path)
        with self._guard:
            self._open[user_key] = index
            self._open.move_to_end(user_key)
            while len(self._open) > _MAX_OPEN:
                self._open.popitem(last=False)
        return index

    @contextmanager
    def _writing(self, user_key: str, index: Any, heap_bytes: int) -> Iterator[Any]:
        """A writer whose changes are committed, durable and visible after the block, or dropped if it fails.

        One thread, open for this commit only: a writer holds threads and its heap. tantivy's lock on the directory
        is an advisory one of the system, which ends with the process, so a killed one leaves nothing to clean.
        """
        path = self._path(user_key)
        with storage_errors(path):
            writer = index.writer(heap_bytes, 1)
            try:
                # Files that a killed or failed write has left: tantivy continues its count of operations from the last
                # commit, and fails on an old file of deletes with the same count.
                for name in leftover_files(path):
                    (path / name).unlink(missing_ok=True)
            except BaseException:
                writer.wait_merging_threads()
                raise
        try:
            yield writer
            with storage_errors(path):
                writer.commit()
        except BaseException:
            with suppress(ValueError, RuntimeError):  # the first error is reported
                writer.wait_merging_threads()
            raise
        with storage_errors(path):
            writer.wait_merging_threads()
            sync_folder(path)  # tantivy syncs each file, but not the rename of meta.json
            index.reload()
