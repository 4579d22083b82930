"""Reads tantivy's files: lists them, verifies their checksums, and recognizes disk errors.

In tantivy's file format `meta.json` names the segments, and each segment file ends with its checksum (a JSON footer, the
footer's length and a magic number). The tests of the store fail if tantivy changes it.
"""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hexamem.errors import CorruptFileError, HexamemError, HomeInUseError, HomeNotWritableError, StorageFullError

__all__ = [
    "committed_files",
    "file_damage",
    "is_initialized",
    "leftover_files",
    "storage_errors",
]

META = "meta.json"
_COMPONENTS = ("idx", "pos", "term", "store", "fast", "fieldnorm")
_SEGMENT_FILE = re.compile(r"([0-9a-f]{32})\.(?:(?:\d+\.)?del|[a-z]+(?:\.temp)?)")
_FOOTER_MAGIC = 1337
_FOOTER_TAIL = 8  # bytes: the length of the JSON footer and the magic number
_CHUNK = 1 << 20
_OS_ERROR = re.compile(r"os error (\d+)|kind: (StorageFull|PermissionDenied|ReadOnlyFilesystem|QuotaExceeded)")
_FULL = {"27", "28", "122", "StorageFull", "QuotaExceeded"}  # EFBIG, ENOSPC, EDQUOT
_NOT_WRITABLE = {"1", "13", "30", "PermissionDenied", "ReadOnlyFilesystem"}  # EPERM, EACCES, EROFS
_NEARLY_FULL = 16 << 20


def is_initialized(path: Path) -> bool:
    """Whether the folder has a tantivy index.

    Raises:
        CorruptFileError: there are segment files without `meta.json`.
    """
    if (path / META).is_file():
        return True
    if path.is_dir() and any(_SEGMENT_FILE.fullmatch(entry.name) for entry in path.iterdir()):
        raise CorruptFileError(f"The lexical index in {path} has segment files but no {META}; reset and rebuild it.")
    return False


def committed_files(path: Path) -> list[str]:
    """The names of the segment files of the last commit.

    Raises:
        CorruptFileError: `meta.json` cannot be read.
    """
    names: list[str] = []
    try:
        for entry in json.loads((path / META).read_bytes())["segments"]:
            stem, deletes = entry["segment_id"].replace("-", ""), entry["deletes"]
            names += [f"{stem}.{component}" for component in _COMPONENTS]
            if deletes:
                names.append(f"{stem}.{deletes['opstamp']}.del")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptFileError(f"{path / META} cannot be read ({error!r}); reset and rebuild the index.") from error
    return names


def leftover_files(path: Path) -> list[str]:
    """Segment files that are not part of the last commit."""
    named = set(committed_files(path))
    return [e.name for e in path.iterdir() if _SEGMENT_FILE.fullmatch(e.name) and e.name not in named]


def file_damage(path: Path) -> str | None:
    """The first damage in the files of the last commit, which are read in full; ``None`` when there is none."""
    try:
        if not is_initialized(path):
            return None
        for name in committed_files(path):
            reason = _checksum_damage(path / name)
            if reason is not None:
                return reason
    except CorruptFileError as error:
        return str(error)
    return None


def _checksum_damage(path: Path) -> str | None:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - _FOOTER_TAIL))
            tail = file.read(_FOOTER_TAIL)
            length, magic = int.from_bytes(tail[:4], "little"), int.from_bytes(tail[4:], "little")
            body = size - _FOOTER_TAIL - length
            if len(tail) < _FOOTER_TAIL or magic != _FOOTER_MAGIC or body < 0:
                return f"{path} is cut short or overwritten ({size:,} bytes)"
            file.seek(body)
            expected = json.loads(file.read(length))["crc"]
            file.seek(0)
            checksum, left = 0, body
            while left and (chunk := file.read(min(_CHUNK, left))):
                checksum = zlib.crc32(chunk, checksum)
                left -= len(chunk)
    except FileNotFoundError:
        return f"{path} is missing"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{path} cannot be read: {error!r}"
    return None if checksum == expected else f"{path} does not match its checksum"


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Convert tantivy's exceptions inside the block to errors of :mod:`hexamem.errors`.

    tantivy-py reports every failure as a ``ValueError`` with the text of the cause, and a broken invariant as a
    ``PanicException``, which derives from ``BaseException`` only.
    """
    try:
        yield
    except HexamemError:
        raise
    except BaseException as error:
        if isinstance(error, ValueError | OSError) or type(error).__name__ == "PanicException":
            raise _explained(path, error) from error
        raise


def _explained(path: Path, error: BaseException) -> HexamemError:
    match = _OS_ERROR.search(str(error))
    code = (match[1] or match[2]) if match else str(getattr(error, "errno", None))
    # A worker thread that could not write reports only that it died.
    worker_died = "writer was killed" in str(error) or "error occurred in a thread" in str(error)
    if code in _FULL or (match is None and worker_died and _nearly_full(path)):
        return StorageFullError(f"No room is left for the lexical index in {path}: free disk space and call again.")
    if code in _NOT_WRITABLE:
        return HomeNotWritableError(f"The lexical index in {path} cannot be written: {error}. Check its permissions.")
    if "LockBusy" in str(error) or "acquire Lockfile" in str(error):
        return HomeInUseError(f"Another process writes the lexical index in {path}; close it first.")
    return CorruptFileError(f"The lexical index in {path} failed ({error}); rebuild it if `damaged` names a reason.")


def _nearly_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path).free < _NEARLY_FULL
    except OSError:
        return False
