"""Keeps what the process had in memory out of Chroma's files.

The files of a new HNSW index are written at its full capacity before it has an element, from memory that was never set:
text and vectors of any user may lie in them. The first time the index is persisted they shrink to the elements it has;
until then nothing reads them: on opening, Chroma writes them anew and replays its queue. So they may be zeroed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hexamem.stores.vectors.client import disk_errors
from hexamem.stores.vectors.segments import segment_ids

__all__ = ["UnsetMemory"]

_PERSISTED = "index_metadata.pickle"
_FILES = ("data_level0.bin", "length.bin")
_Stamp = tuple[int, ...]


class UnsetMemory:
    """Zeroes the files of indexes that are not yet persisted, after each call that may have written them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._creating = threading.Lock()
        self._segments: dict[str, str] = {}
        self._stamps: dict[str, _Stamp | None] = {}

    @contextmanager
    def zeroed(self, name: str, segment: str | None) -> Iterator[None]:
        """Zero after the call. To be held within the collection's lock.

        Args:
            segment: id of the collection's segment, where it is known.
        """
        known = self._segments.get(name) or segment
        if self._stamps.get(name, ()) is None:
            yield
        elif known and (self._folder / known).exists():
            try:
                yield
            finally:
                self._zero(name, known)
        else:
            # The folder that appears is this collection's: no other is made meanwhile.
            with self._creating:
                before = segment_ids(self._folder)
                try:
                    yield
                finally:
                    for made in segment_ids(self._folder) - before:
                        self._segments[name] = made
                        self._zero(name, made)

    def zero_all(self) -> None:
        """Zero every index that is not persisted, while Chroma is closed."""
        for segment in segment_ids(self._folder):
            _zero(self._folder / segment, None)

    def forget(self, name: str) -> None:
        """The collection is gone; another may take its name."""
        self._segments.pop(name, None)
        self._stamps.pop(name, None)

    def _zero(self, name: str, segment: str) -> None:
        with disk_errors(self._folder):
            self._stamps[name] = _zero(self._folder / segment, self._stamps.get(name))


def _zero(home: Path, seen: _Stamp | None) -> _Stamp | None:
    """When the files were last written; None once the index was persisted. What was ``seen`` is not read again."""
    if (home / _PERSISTED).exists():
        return None
    files = [home / name for name in _FILES]
    if seen is not None and _stamp(files) == seen:
        return seen
    for path in files:
        with suppress(FileNotFoundError), open(path, "rb+") as file:
            content = file.read()
            if content != bytes(len(content)):
                file.seek(0)
                file.write(bytes(len(content)))
    return _stamp(files)


def _stamp(files: list[Path]) -> _Stamp:
    return tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in files)
