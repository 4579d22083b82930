"""An embedded Chroma that survives unclean stops: one lock, a marker of the collection being written, and a seal.

It works around four properties of Chroma 1.5.

- Chroma rewrites HNSW files in place and crashes the process that loads a half-written file (chroma issue 7238). It
  writes inside a call, never in the background, and here one call runs at a time, so at most one collection is at risk:
  the marker file contains its name while the call runs. A collection named there at the next open is cleared and
  rebuilt from the ledger; after a restart of the machine, all collections are.
- A file may be damaged in other ways. A clean close writes a **seal** with the sizes and checksums of the HNSW files;
  a collection that differs from it is not loaded.
- When its cache of collections is full, Chroma evicts a collection and loses its records that were not yet written to
  files. So the cache is made large enough, and the client is reopened (25 ms) before it is full.
- ``delete_collection`` leaves rows, free pages and files; and Chroma creates the files of an index in full capacity from
  uninitialized memory, which may contain words of any user. The former are cleared while Chroma is closed, the latter
  after the call that created the files.

Chroma contains its own SQLite, and two copies of SQLite in one process lose each other's file locks: the database is
opened here only while Chroma is closed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hexamem.errors import (
    CorruptFileError,
    HomeInUseError,
    HomeNotWritableError,
    StorageFullError,
    StoreClosedError,
)
from hexamem.stores.disk import sync_folder
from hexamem.stores.vectors.chroma_files import boot_id, checksum, checksums, delete_collection, zero_unused
from hexamem.stores.vectors.client import (
    close_client,
    disk_errors,
    handle_limit,
    internal_error,
    make_writable,
    open_client,
)

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

__all__ = ["EmbeddedChroma"]

_DATABASE, _MARKER, _SEAL = "chroma.sqlite3", "hexamem-open", "hexamem-seal.json"
_ALL = "*"
_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_ALMOST_FULL = 8 << 20

Seal = dict[str, dict[str, list[int]]]
"""By segment and file: size and checksum, which is 0 for a file of more than 16 MB."""


class EmbeddedChroma:
    """One folder, open in one process. Thread-safe. Chroma is started by the first call that needs it.

    Args:
        folder: the folder of Chroma; created when missing.
        max_loaded: maximum number of loaded collections, each of 2.7 MB and 4 file handles; fewer if the process may
            have few handles.
        min_free_bytes: a write is refused when the disk has less free: Chroma does not notice that its HNSW files could
            not be written.

    Attributes:
        notices: one line for each problem found.

    Raises:
        HomeNotWritableError: the folder cannot be created or written.
        HomeInUseError: another process has opened the database.
    """

    def __init__(self, folder: Path, *, max_loaded: int, min_free_bytes: int) -> None:
        self.folder = folder
        self.notices: list[str] = []
        self._limit = handle_limit(max_loaded)
        self._min_free = min_free_bytes
        self._lock = threading.RLock()
        self._client: Client | None = None
        self._handles: dict[str, Collection] = {}
        self._damaged: dict[str, str] = {}
        self._closed = False
        make_writable(folder)
        self._seal = self._recover()
        self._segments = self._read_segments()
        self._checked: set[str] = set()
        self._marker = self._begin()

    # --------------------------------------------------------------------------------------------------------- calling

    @contextmanager
    def using(
        self, name: str, *, create: Mapping[str, Any] | None = None, writing: bool = False
    ) -> Iterator[Collection | None]:
        """A collection for one call; ``None`` when it does not exist and ``create`` is not given.

        Args:
            create: arguments of Chroma's ``create_collection`` for a missing collection.
            writing: whether the call changes it.

        Raises:
            CorruptFileError: the collection is damaged and not loaded: drop it, and write it again.
            StorageFullError: the disk has too little space.
            HomeNotWritableError: the folder is read-only.
            StoreClosedError: the store was closed.
        """
        with self._lock:
            self._require_open()
            if writing and (free := shutil.disk_usage(self.folder).free) < self._min_free:
                raise StorageFullError(
                    f"The disk of {self.folder} has {free // 1_000_000} MB left, writing vectors needs "
                    f"{self._min_free // 1_000_000} MB; free some room."
                )
            self._refuse_damaged(name)
            if create is None and name not in self._segments:
                yield None
                return
            if name not in self._handles and len(self._handles) >= self._limit:
                self._stop()
            if not writing and name in self._handles:
                yield self._handles[name]
                return
            first = name not in self._handles or not self._segments.get(name)
            before = self._folders() if first else set()
            self._mark(name)  # a first call loads the collection, which may persist pending records
            try:
                yield self._load(name, create)
                if first:
                    self._zero_new_files(name, before)
            except internal_error() as error:
                self._translate(name, error)
            except BaseException as error:
                # A panic inside Chroma may have left half-written files; after other errors they are whole.
                if type(error).__name__ == "PanicException":
                    self._damaged[name] = str(error)
                    raise
                self._mark()
                raise
            self._mark()

    def metadata(self, name: str) -> Mapping[str, Any] | None:
        """The metadata of the collection, without loading its vectors; ``None`` if it does not exist."""
        with self._lock:
            self._require_open()
            if name not in self._segments or name in self._damaged:
                return None
            try:
                handle = self._handles.get(name) or self._started().get_collection(name, embedding_function=None)
            except internal_error() as error:
                self._translate(name, error)
            return handle.metadata or {}

    def drop(self, names: Sequence[str], *, erase: bool) -> None:
        """Remove collections from the disk without loading them.

        Args:
            erase: also clear their bytes from free pages.
        """
        with self._lock:
            self._require_open()
            known = [name for name in names if name in self._segments]
            if known or erase:
                self._stop()
                self._purge(known, erase=erase)
                self._segments = self._read_segments()
            for name in names:
                self._damaged.pop(name, None)
                self._checked.discard(name)
            self._mark()

    def close(self) -> None:
        """Close Chroma and seal its files; a second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._stop()
            with disk_errors(self.folder):
                if _ALL in self._damaged:  # the marker stays, so that the next open clears all
                    os.close(self._marker)
                    return
                if self._damaged:
                    self._purge(list(self._damaged), erase=False)
                self._zero_all()
                self._write_seal()
                os.close(self._marker)
                (self.folder / _MARKER).unlink()
                sync_folder(self.folder)

    # ---------------------------------------------------------------------------------------------- the marker, the seal

    def _recover(self) -> Seal:
        """Clear collections that an unclean stop may have left half written; returns the seal of a clean stop."""
        marker, seal = self.folder / _MARKER, self.folder / _SEAL
        database = (self.folder / _DATABASE).exists()
        if marker.exists():
            seal.unlink(missing_ok=True)
            boot, *names = marker.read_text("utf-8", errors="replace").split("\n")
            if database and (boot != boot_id() or _ALL in names):
                self._clear("may have been half written when the machine or the database failed")
            elif database:
                for name in self._read_segments().keys() & set(names):
                    self._purge([name], erase=False)
                    self.notices.append(f"Collection {name} was being written when a process ended; it was cleared.")
            if (self.folder / _DATABASE).exists():
                self._zero_all()
            return {}
        try:
            sealed: Seal = json.loads(seal.read_bytes()) if seal.exists() else {}
        except ValueError:
            sealed = {}
            self._clear("was not closed in a way that can be read")
        if database and not seal.exists():
            self._clear("has lost its seal")
        if sealed and not database:
            self._clear("is missing")
            return {}
        if _DATABASE in sealed and sealed.pop(_DATABASE) != {_DATABASE: checksum(self.folder / _DATABASE)}:
            self._clear("is not as it was at the last close")
            return {}
        return sealed

    def _begin(self) -> int:
        with disk_errors(self.folder):
            marker = os.open(self.folder / _MARKER, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            self._boot = f"{boot_id() or '-'}\n".encode()
            os.write(marker, self._boot)
            os.fsync(marker)
            (self.folder / _SEAL).unlink(missing_ok=True)
            sync_folder(self.folder)
        return marker

    def _mark(self, *writing: str) -> None:
        """Write the names of damaged collections and of one being written: the page cache survives a killed process."""
        with disk_errors(self.folder):
            os.ftruncate(self._marker, len(self._boot))
            if names := "\n".join((*self._damaged, *writing)):
                os.pwrite(self._marker, names.encode(), len(self._boot))

    def _write_seal(self) -> None:
        segments = self._read_segments()
        seal = {
            segment: self._seal[segment]
            if segment in self._seal and name not in self._checked
            else checksums(self.folder / segment)
            for name, segment in segments.items()
            if (self.folder / segment).exists()
        }
        if (self.folder / _DATABASE).exists():
            seal[_DATABASE] = {_DATABASE: checksum(self.folder / _DATABASE)}
        new = self.folder / (_SEAL + ".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump(seal, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.folder / _SEAL)

    def _refuse_damaged(self, name: str) -> None:
        if name in self._segments and name not in self._checked and name not in self._damaged:
            segment = self._segments[name]
            sealed = self._seal.get(segment)
            if sealed is not None and sealed != checksums(self.folder / segment):
                self._damaged[name] = f"its files in {segment} are not those of the last close"
                self.notices.append(f"Collection {name} is damaged and must be rebuilt: {self._damaged[name]}.")
                self._mark()
            self._checked.add(name)
        if name in self._damaged:
            raise CorruptFileError(
                f"Collection {name} in {self.folder} may be damaged ({self._damaged[name]}); it was not loaded. "
                "Rebuild it from the ledger (`hexamem reindex`)."
            )

    # ---------------------------------------------------------------------------------------------------------- the files

    def _read_segments(self) -> dict[str, str]:
        """The folder of each collection's vectors, by its name; an unreadable database is cleared."""
        if self._client is not None:
            raise AssertionError("the database is only read with Chroma closed")
        try:
            with closing(self._connect()) as database:
                if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'collections'").fetchone():
                    return {}
                return dict(
                    database.execute(
                        "SELECT c.name, s.id FROM collections c JOIN segments s ON s.collection = c.id "
                        "WHERE s.scope = 'VECTOR'"
                    ).fetchall()
                )
        except sqlite3.DatabaseError as error:
            place = self.folder / _DATABASE
            if "unable to open" in str(error) or "readonly" in str(error):
                raise HomeNotWritableError(f"{place} cannot be opened: {error}.") from error
            if "locked" in str(error):
                raise HomeInUseError(f"{place} is held by another process ({error}); close it first.") from error
            self._clear(f"is not a sound database ({error})")
            return {}

    def _clear(self, why: str) -> None:
        """Remove all vectors, which can be rebuilt from the ledger."""
        self.notices.append(f"{self.folder / _DATABASE} {why}: all vectors are rebuilt.")
        for segment in self._folders():
            shutil.rmtree(self.folder / segment)
        for file in self.folder.glob(f"{_DATABASE}*"):
            file.unlink()

    def _purge(self, names: Sequence[str], *, erase: bool) -> None:
        """Delete collections from the database, then the folders without a collection. Chroma must be closed.

        Chroma's ``delete_collection`` leaves the rows of array values, and because row ids are used again, the labels of a
        deleted collection would appear in the records of the next user.
        """
        try:
            with closing(self._connect()) as database:
                if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'collections'").fetchone():
                    return
                database.execute("BEGIN IMMEDIATE")
                for name in names:
                    delete_collection(database, name)
                database.execute("DELETE FROM embedding_metadata_array WHERE id NOT IN (SELECT id FROM embeddings)")
                database.execute("COMMIT")
                if erase:
                    database.execute("VACUUM")
                owned = {row[0] for row in database.execute("SELECT id FROM segments")}
        except sqlite3.Error as error:
            if "full" in str(error):
                raise StorageFullError(f"No disk left in {self.folder} to clear collections: {error}.") from error
            self._refuse_all(error)
        for segment in self._folders() - owned:
            shutil.rmtree(self.folder / segment)
        if erase:
            self._zero_all()

    def _folders(self) -> set[str]:
        return {child.name for child in self.folder.iterdir() if _UUID.fullmatch(child.name) and child.is_dir()}

    def _zero_new_files(self, name: str, before: set[str]) -> None:
        """Clear unused bytes after the first call for a collection, which may have created its files."""
        segment = self._segments.get(name) or next(iter(self._folders() - before), "")
        if segment:
            self._segments[name] = segment
            with disk_errors(self.folder):
                zero_unused(self.folder / segment)

    def _zero_all(self) -> None:
        for segment in self._folders():
            zero_unused(self.folder / segment)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.folder / _DATABASE, timeout=30, isolation_level=None)

    # ------------------------------------------------------------------------------------------------------------- Chroma

    def _require_open(self) -> None:
        if self._closed:
            raise StoreClosedError(f"The vector store in {self.folder} is closed; open it again.")
        if _ALL in self._damaged:
            self._refuse_all(self._damaged[_ALL])

    def _refuse_all(self, error: object) -> NoReturn:
        self._damaged[_ALL] = str(error)
        self._mark()
        raise CorruptFileError(
            f"{self.folder / _DATABASE} is damaged ({error}). Close and open the memory: all vectors are then rebuilt."
        )

    def _started(self) -> Client:
        if self._client is None:
            self._client = open_client(self.folder, capacity=self._limit + 1)
        return self._client

    def _stop(self) -> None:
        client, self._client = self._client, None
        self._handles.clear()
        if client is not None:
            close_client(client)

    def _load(self, name: str, create: Mapping[str, Any] | None) -> Collection:
        handle = self._handles.get(name)
        if handle is None:
            client = self._started()
            if name in self._segments:
                handle = client.get_collection(name, embedding_function=None)
            else:
                handle = client.get_or_create_collection(name, embedding_function=None, **(create or {}))
                self._segments[name] = ""  # set after the first call
                self._checked.add(name)
            self._handles[name] = handle
        return handle

    def _translate(self, name: str, error: Exception) -> NoReturn:
        text = str(error)
        if "readonly database" in text:
            self._mark()
            raise HomeNotWritableError(f"{self.folder} cannot be written: {text}.") from error
        if "database or disk is full" in text:
            self._mark()
            raise StorageFullError(f"No disk left in {self.folder}: {text}.") from error
        if "malformed" in text or "not a database" in text:
            self._refuse_all(text)
        self._damaged[name] = text  # its HNSW files may be half written, so the marker stays
        if (free := shutil.disk_usage(self.folder).free) < _ALMOST_FULL:
            raise StorageFullError(
                f"The disk of {self.folder} has {free // 1000} kB left and Chroma failed on collection {name} ({text}); "
                "free some room. The collection must then be rebuilt."
            ) from error
        raise CorruptFileError(
            f"Chroma failed on collection {name} in {self.folder} ({text}). Rebuild it from the ledger "
            "(`hexamem reindex`)."
        ) from error
