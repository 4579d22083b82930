"""The embedded Chroma behind the vector store: what is loaded, what may be damaged, when it starts afresh.

Chroma 1.5 keeps a fixed number of HNSW segments loaded (4 file handles and 2.7 MB each) and, when it evicts one,
forgets every record that was not yet persisted: queries then fail with "Nothing found on disk" or, worse, miss
records. Only a client that has not seen a collection yet replays what is pending. So eviction is never let happen:
the cache gets room for everything, this class counts what is loaded, and at the limit closes the client and opens it
again (a **generation**; 25 ms, once in ``max_loaded`` collections), which frees the handles and the memory.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hexamem.errors import (
    CorruptFileError,
    HomeInUseError,
    HomeNotWritableError,
    StorageFullError,
    StoreClosedError,
)
from hexamem.stores.disk import sync_file_system
from hexamem.stores.vectors import segments
from hexamem.stores.vectors.client import (
    close_client,
    disk_errors,
    handle_limit,
    internal_error,
    make_writable,
    open_client,
)
from hexamem.stores.vectors.gate import Gate
from hexamem.stores.vectors.journal import Journal
from hexamem.stores.vectors.names import PREFIX
from hexamem.stores.vectors.unset import UnsetMemory

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

__all__ = ["EmbeddedChroma"]

_CHECKPOINT_AT = 256
_NO_ROOM = 8 << 20


class EmbeddedChroma:
    """One folder, open in one process. Thread-safe: calls share it, a change of generation waits for them.

    Chroma itself is started by the first call that needs a collection.

    Args:
        folder: where Chroma lives; made when missing.
        max_loaded: collections kept loaded at most (see :func:`handle_limit`).
        min_free_bytes: a write is refused when the disk has less than this left: Chroma does not notice that its
            HNSW files could not be written.

    Attributes:
        notices: one clear line for everything found wrong on open.
        lost_all: the database was missing or unreadable, so every collection must be rebuilt.

    Raises:
        HomeNotWritableError: the folder cannot be made or written.
    """

    def __init__(self, folder: Path, *, max_loaded: int, min_free_bytes: int) -> None:
        self.folder = folder
        self.notices: list[str] = []
        self.lost_all = False
        self._limit = handle_limit(max_loaded)
        self._min_free = min_free_bytes
        self._gate = Gate()
        self._state = threading.Lock()
        self._starting = threading.Lock()
        self._closed = False
        self._all_checked = False
        self._locks: dict[str, threading.Lock] = {}
        self._handles: dict[str, Collection] = {}
        self._loading: set[str] = set()
        self._client: Client | None = None
        self._catalog: dict[str, segments.Stored] = {}
        self._checked: set[str] = set()
        self._unset = UnsetMemory(folder)
        make_writable(folder)
        self._journal = Journal(folder)
        try:
            self._recover()
        except BaseException:
            self._journal.close()
            raise

    # ------------------------------------------------------------------------------------------------------- reading

    def names(self) -> list[str]:
        """Names of the collections that exist, damaged ones too."""
        with self._state:
            return sorted(self._catalog)

    def metadata(self, name: str) -> Mapping[str, str | int | float] | None:
        """The collection's own metadata without loading it; ``None`` when there is no such collection."""
        with self._state:
            stored = self._catalog.get(name)
        return None if stored is None else stored.metadata

    def suspects(self) -> list[str]:
        """Collections to rebuild: in flight at an unclean stop, or with files that cannot be loaded."""
        if not self._all_checked:
            with self._shared():
                for name in self.names():
                    self._damage(name)
            self._all_checked = True
        return sorted(self._journal.suspects())

    # --------------------------------------------------------------------------------------------------------- using

    @contextmanager
    def using(
        self, name: str, *, create: Mapping[str, Any] | None = None, writing: bool = False
    ) -> Iterator[Collection | None]:
        """Lend the collection for one call; ``None`` when it does not exist and ``create`` is not given.

        Args:
            create: arguments of Chroma's ``create_collection`` for a collection that is missing.
            writing: the call changes it.

        Raises:
            CorruptFileError: the collection is a suspect: reset and rebuild it. Nothing was loaded.
            StorageFullError: too little disk is left, or Chroma ran out of it.
            HomeNotWritableError: the folder became read-only.
            StoreClosedError: the store was closed.
        """
        if writing:
            self._require_space()
        with self._shared(loading=name):
            self._refuse_damaged(name)
            if name not in self._catalog and create is None:
                yield None
                return
            # One call at a time on a collection: Chroma reads its two halves one after the other.
            with self._lock_of(name), self._unset.zeroed(name, self._segment_of(name)):
                # Only a first call loads; it may also persist what it replays.
                noted = writing or name not in self._handles
                if noted:
                    with disk_errors(self.folder):
                        self._journal.begin(name, writing=writing)
                try:
                    yield self._handle(name, create)
                except internal_error() as error:
                    self._translate(name, error, noted)
                except BaseException as error:
                    # A panic inside Chroma may have left half-written files; after anything else they are whole.
                    if type(error).__name__ == "PanicException":
                        self._journal.suspect([name])
                    if noted:
                        self._journal.end(name)
                    raise
                if noted:
                    with disk_errors(self.folder):
                        self._journal.end(name)

    def restart(self) -> None:
        """Start a generation, so that the changed settings of a collection take effect."""
        with self._alone():
            self._restart()

    def drop(self, names: Iterable[str], *, vacuum: bool) -> None:
        """Remove collections with everything of theirs from the disk, without loading them."""
        with self._alone():
            wanted = list(names)
            if not vacuum and not any(name in self._catalog or self._journal.is_suspect(name) for name in wanted):
                return
            self._journal.suspect(name for name in wanted if name in self._catalog)
            self._stop()
            self._reread()
            gone = [self._catalog[name] for name in wanted if name in self._catalog]
            if gone or vacuum:
                self._purge(gone, vacuum=vacuum)
            for name in wanted:
                self._catalog.pop(name, None)
                self._checked.discard(name)
                self._unset.forget(name)
            self._journal.forget(wanted)
            if vacuum:
                segments.remove_damaged(self.folder)
                self._unset.zero_all()

    def close(self) -> None:
        """Close Chroma and end the journal; a second call does nothing."""
        with self._gate.alone():
            if self._closed:
                return
            self._closed = True
            self._stop()
            # If this fails the journal stays as it is, open: the next session then checks more than it needs to.
            with disk_errors(self.folder):
                self._checkpoint()
                self._journal.close()

    # ---------------------------------------------------------------------------------------------------- generations

    @contextmanager
    def _shared(self, loading: str | None = None) -> Iterator[None]:
        """Hold the generation for one call; with ``loading``, one that has room for that collection."""
        while True:
            with self._gate.shared():
                self._require_open()
                if self._admit(loading):
                    yield
                    return
            with self._alone():
                # Another thread may have been here first.
                if len(self._loading) >= self._limit:
                    self._restart()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._gate.alone():
            self._require_open()
            yield

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosedError(f"The vector store in {self.folder} is closed; open it again.")

    def _admit(self, name: str | None) -> bool:
        with self._state:
            if name is None or name in self._loading:
                return True
            if len(self._loading) >= self._limit:
                return False
            self._loading.add(name)
            return True

    def _restart(self) -> None:
        self._stop()
        if len(self._journal.unsynced) >= _CHECKPOINT_AT:
            self._checkpoint()

    def _started(self) -> Client:
        with self._starting:
            if self._client is None:
                self._client = open_client(self.folder, capacity=self._limit + 1)
            return self._client

    def _stop(self) -> None:
        client, self._client = self._client, None
        self._handles.clear()
        self._loading.clear()
        if client is not None:
            close_client(client)

    def _checkpoint(self) -> None:
        """Bring the files of what was written to the disk, so that a power cut no longer puts it in doubt."""
        names = self._journal.unsynced
        if not names:
            return
        if not sync_file_system(self.folder):
            self._reread()
            for name in names & self._catalog.keys():
                for file in (self.folder / self._catalog[name].segment_id).glob("*"):
                    with open(file, "rb+") as opened:
                        os.fsync(opened.fileno())
        self._journal.checkpoint(names)

    # ------------------------------------------------------------------------------------------------------- recovery

    def _recover(self) -> None:
        database = self.folder / segments.DATABASE
        if self._journal.whole_store_suspect and database.exists():
            self._lose(f"was found damaged and moved aside to {segments.move_aside(self.folder).name}")
        elif not database.exists():
            if self._journal.existed:
                self._lose("is missing")
        else:
            try:
                self._reread(thorough=self._journal.unclean)
            except sqlite3.DatabaseError as error:
                if "unable to open" in str(error) or "readonly" in str(error):
                    raise HomeNotWritableError(f"{database} cannot be opened: {error}.") from error
                if "locked" in str(error):
                    raise HomeInUseError(f"{database} is held by another process ({error}); close it first.") from error
                self._lose(f"is not a sound database ({error}); moved to {segments.move_aside(self.folder).name}")
        # An empty file is an empty database: one that is missing at a later open was taken away.
        if not database.exists():
            with disk_errors(self.folder):
                database.touch()
        if self._journal.unclean and self._journal.suspects():
            self.notices.append(
                f"The vector store in {self.folder} was not closed: {len(self._journal.suspects())} collection(s) "
                "were being written and must be rebuilt."
            )
        if self._journal.unclean and database.exists():
            # Folders of an erasure that was cut off.
            segments.remove_orphans(self.folder, segments.all_segments(self.folder))

    def _lose(self, what: str) -> None:
        self.lost_all = True
        self._catalog = {}
        segments.remove_orphans(self.folder, ())
        self._journal.forget([*self._journal.suspects(), "*"])
        self.notices.append(f"{self.folder / segments.DATABASE} {what}: all vectors must be rebuilt.")

    def _reread(self, *, thorough: bool = False) -> None:
        self._catalog = segments.read_catalog(self.folder, prefix=PREFIX, thorough=thorough)

    def _purge(self, gone: list[segments.Stored], *, vacuum: bool) -> None:
        try:
            segments.purge(self.folder, gone, vacuum=vacuum)
        except sqlite3.Error as error:
            if "full" in str(error):
                raise StorageFullError(f"No disk left in {self.folder} to clear collections: {error}.") from error
            self._journal.suspect_whole_store()
            raise CorruptFileError(
                f"{self.folder / segments.DATABASE} cannot be cleared ({error}). Close and open the store: the file is "
                "then moved aside and all vectors are rebuilt."
            ) from error

    def _damage(self, name: str) -> str | None:
        """Check a collection's files once, before anything has loaded them."""
        if self._journal.is_suspect(name):
            return "found so earlier, or it was being written when the process stopped"
        stored = self._catalog.get(name)
        if stored is None or name in self._checked:
            return None
        problem = segments.segment_damage(self.folder, stored)
        if problem:
            self._journal.suspect([name])
            self.notices.append(f"Collection {name} is damaged and must be rebuilt: {problem}.")
        else:
            self._checked.add(name)
        return problem

    def _refuse_damaged(self, name: str) -> None:
        problem = self._damage(name)
        if problem:
            raise CorruptFileError(
                f"Collection {name} in {self.folder} may be damaged ({problem}); it was not loaded. "
                "Reset it and rebuild it from the ledger (`hexamem reindex`)."
            )

    # ---------------------------------------------------------------------------------------------------------- calls

    def _segment_of(self, name: str) -> str | None:
        stored = self._catalog.get(name)
        return stored.segment_id if stored else None

    def _handle(self, name: str, create: Mapping[str, Any] | None) -> Collection:
        handle = self._handles.get(name)
        if handle is not None:
            return handle
        client = self._started()
        if name in self._catalog:
            handle = client.get_collection(name, embedding_function=None)
        else:
            handle = client.get_or_create_collection(name, embedding_function=None, **dict(create or {}))
            with self._state:
                self._catalog[name] = segments.Stored(
                    collection_id=str(handle.id),
                    segment_id="",
                    dimension=None,
                    persisted=False,
                    metadata=dict(handle.metadata or {}),
                )
                self._checked.add(name)
        self._handles[name] = handle
        return handle

    def _lock_of(self, name: str) -> threading.Lock:
        with self._state:
            return self._locks.setdefault(name, threading.Lock())

    def _require_space(self) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < self._min_free:
            raise StorageFullError(
                f"The disk of {self.folder} has {free // 1_000_000} MB left, writing vectors needs "
                f"{self._min_free // 1_000_000} MB; free some room."
            )

    def _translate(self, name: str, error: Exception, noted: bool) -> NoReturn:
        text = str(error)
        if noted:
            self._journal.end(name)
        if "readonly database" in text:
            raise HomeNotWritableError(f"{self.folder} cannot be written: {text}.") from error
        if "database or disk is full" in text:
            raise StorageFullError(f"No disk left in {self.folder}: {text}.") from error
        if "malformed" in text or "not a database" in text:
            self._journal.suspect_whole_store()
            raise CorruptFileError(
                f"{self.folder / segments.DATABASE} is damaged ({text}). Close and open the store: the file is then "
                "moved aside and all vectors are rebuilt."
            ) from error
        # HNSW files may be half written.
        self._journal.suspect([name])
        if (free := shutil.disk_usage(self.folder).free) < _NO_ROOM:
            raise StorageFullError(
                f"The disk of {self.folder} has {free // 1000} kB left and Chroma failed on collection {name} ({text}); "
                "free some room. The collection must then be rebuilt."
            ) from error
        raise CorruptFileError(
            f"Chroma failed on collection {name} in {self.folder} ({text}). Reset it and rebuild it from the ledger."
        ) from error
