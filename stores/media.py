"""The bytes of pictures, recordings and files, stored once per user by their SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Text, select, type_coerce

from hexamem.errors import HexamemError, HomeNotWritableError, NotFoundError, StorageFullError
from hexamem.stores.disk import sync_folder
from hexamem.stores.ledger import Ledger, Transaction, user_key
from hexamem.stores.ledger.schema import files, items, steps

__all__ = ["MediaStore", "adding_before", "carries_media", "stored_files", "text_of"]

_ERASED = ".erased"  # of the file that marks a user whose erasure has begun
_NO_SPACE = {28, 122}  # ENOSPC, EDQUOT
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def text_of(data: bytes, mime_type: str | None = None) -> tuple[str | None, str]:
    """The text of a text file and an encoding that reproduces its bytes; None for any other file.

    A text file is recognized by its bytes (UTF-8, or UTF-16 with a byte order mark), whatever its MIME type; other bytes
    with a MIME type of text are decoded as Latin-1, which preserves every byte.
    """
    encoding = _UTF_16.get(data[:2], "utf-8")
    try:
        text = data.decode(encoding)
        if text.encode(encoding) == data:
            return text, encoding
    except UnicodeDecodeError:
        pass  # another encoding, or no text
    return (data.decode("latin-1"), "latin-1") if (mime_type or "").startswith("text/") else (None, "")


def carries_media(tx: Transaction, sha256: str) -> bool:
    """Whether an active step of the user, or an active or superseded item, refers to these bytes."""
    if not _SHA256.fullmatch(sha256):
        return False
    in_step = type_coerce(steps.c.media, Text).contains(sha256, autoescape=True)
    own = tx.own(steps) & (steps.c.status == "active")
    if tx.first(select(steps.c.id).where(own, in_step).limit(1)) is not None:
        return True
    in_item = type_coerce(items.c.metadata, Text).contains(sha256, autoescape=True)
    own = tx.own(items) & (items.c.kind == "resource") & items.c.status.in_(["active", "superseded"])
    rows = tx.all(select(items.c.metadata).where(own, in_item))
    files_of = (row._mapping["metadata"].get("file") for row in rows)
    return any(isinstance(file, dict) and file.get("sha256") == sha256 for file in files_of)


def stored_files(tx: Transaction) -> set[str]:
    """The hashes of the user's files in the ledger."""
    return {row.sha256 for row in tx.all(select(files.c.sha256).where(tx.own(files)))}


@contextmanager
def adding_before(media: MediaStore, ledger: Ledger, user: str) -> Iterator[Callable[[bytes], str]]:
    """A function that stores files before the ledger transaction of a call, so that no writer waits for the disk.

    An erasure or a redaction in between may delete them, so inside the transaction store each again: that costs nothing
    where the file exists. When the block raises, the files that it added are removed unless they are in the ledger.
    """
    key = user_key(user)
    added: set[str] = set()

    def put(data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        if not media.contains(key, sha256, len(data)):
            added.add(sha256)
            media.put(key, data)
        return sha256

    try:
        yield put
    except BaseException:
        if added:
            # A file that cannot be removed is in no row of the ledger; an erasure removes it.
            with suppress(HexamemError, OSError), ledger.write(user, create=False) as tx:
                media.drop(key, added - stored_files(tx))
        raise


class MediaStore:
    """Files under ``root/<user key>/<sha256>``, described by the ledger's table ``files``.

    Only the owner of the home can read them: folders have mode 0700, files 0600.

    Args:
        root: the folder, created when first needed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._locks: dict[str, threading.Lock] = {}

    def _lock(self, user_key: str) -> threading.Lock:
        """The lock for writing and removing a user's files: a cleanup must not delete what another call is writing."""
        return self._locks.setdefault(user_key, threading.Lock())

    def put(self, user_key: str, data: bytes) -> str:
        """Store bytes; returns their SHA-256 in hexadecimal. The same bytes are stored once.

        Raises:
            StorageFullError, HomeNotWritableError: if they cannot be written; no partial file stays.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        with self._lock(user_key):
            if not self.contains(user_key, sha256, len(data)):
                self._write(self._path(user_key, sha256), data)
        return sha256

    def _write(self, path: Path, data: bytes) -> None:
        partial = path.with_suffix(".partial")
        try:
            for folder in (self.root, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            with open(partial, "wb", opener=_private) as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            partial.replace(path)
            sync_folder(path.parent)
        except OSError as error:
            with suppress(OSError):  # the first error is raised below
                partial.unlink(missing_ok=True)
            if error.errno in _NO_SPACE:
                raise StorageFullError(
                    f"no room on the disk for {len(data):,} bytes of media under {self.root}: free some space"
                ) from None
            raise HomeNotWritableError(
                f"media cannot be written under {self.root} ({error.strerror}): check its permissions"
            ) from None

    def contains(self, user_key: str, sha256: str, size: int) -> bool:
        """Whether these bytes are stored completely."""
        path = self._path(user_key, sha256)
        return path.is_file() and path.stat().st_size == size

    def drop(self, user_key: str, hashes: Collection[str]) -> None:
        """Remove files of the user, if they exist. Use it inside the user's ledger transaction."""
        with self._lock(user_key):
            for sha256 in hashes:
                self._path(user_key, sha256).unlink(missing_ok=True)

    def retain_only(self, user_key: str, hashes: Collection[str]) -> int:
        """Remove the user's files except these, also those that a killed call has left; returns how many.

        Use it inside the user's ledger transaction.
        """
        folder = self.root / user_key
        with self._lock(user_key):
            others = [path for path in folder.iterdir() if path.name not in hashes] if folder.is_dir() else []
            for path in others:
                path.unlink()
        return len(others)

    def get(self, user_key: str, sha256: str) -> bytes:
        """The bytes.

        Raises:
            NotFoundError: if no such bytes are stored for this user.
        """
        path = self._path(user_key, sha256)
        if not path.is_file():
            raise NotFoundError(f"no media with SHA-256 {sha256[:12]}… is stored for this user")
        return path.read_bytes()

    def drop_user(self, user_key: str) -> int:
        """Remove all of the user's files; returns how many there were."""
        folder = self.root / user_key
        with self._lock(user_key):
            if not folder.is_dir():
                return 0
            count = sum(1 for _ in folder.iterdir())
            shutil.rmtree(folder)
        return count

    def mark_erased(self, user_key: str) -> None:
        """Record, durably, that the erasure of a user who has files has begun."""
        if (self.root / user_key).is_dir():
            (self.root / f"{user_key}{_ERASED}").touch(mode=0o600)
            sync_folder(self.root)

    def unmark_erased(self, user_key: str) -> None:
        """Record that it has ended."""
        (self.root / f"{user_key}{_ERASED}").unlink(missing_ok=True)

    def marked_erased(self) -> set[str]:
        """The keys of the users whose erasure has begun and not ended."""
        return {path.name.removesuffix(_ERASED) for path in self.root.glob(f"*{_ERASED}")}

    def _path(self, user_key: str, sha256: str) -> Path:
        if len(sha256) != 64 or any(char not in "0123456789abcdef" for char in sha256):
            raise NotFoundError(f"{sha256[:20]!r} is not a SHA-256 in hexadecimal")
        return self.root / user_key / sha256


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
