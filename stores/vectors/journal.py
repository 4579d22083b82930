"""The journal of the embedded vector store: which collections a stop may have left half written.

Chroma rewrites HNSW files in place and loads a half-written one by crashing the process, so what was being written
has to be known *before* anything is loaded. Chroma persists inside the call (never in the background), so a
collection is in danger at two times only, and the journal notes both:

- **in flight** (``+`` and ``-``): a call that may write is running. One unsynced append each way, about a microsecond:
  the page cache outlives a killed process.
- **written** (``w``): the collection was written since the last checkpoint, and its files may not have reached the
  disk. Synced once a collection and checkpoint; it counts only when the machine itself went down since, which the
  kernel's boot id tells (where there is none, every stop counts as one).

``s`` is a suspect: it stays, over any number of opens, until the collection is cleared with :meth:`Journal.forget`.
Lines are names of collections, never a user's text. The file is rewritten atomically when it has grown.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hexamem.stores.disk import sync_folder
from hexamem.stores.vectors.names import PREFIX

__all__ = ["FILE_NAME", "Journal"]

FILE_NAME = "hexamem-journal"
_MAGIC = "hexamem-vectors-1"
_WHOLE_STORE = "*"
_COMPACT_BYTES = 1 << 20


def boot_id() -> str | None:
    """What changes whenever the machine starts anew; ``None`` where the system does not tell."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() or None
    return None


class Journal:
    """The open journal of one folder. Thread-safe; one process at a time (the home lock sees to that).

    Args:
        folder: the store's folder, which must exist.

    Attributes:
        existed: whether a journal was there, so the folder has held a store before.
        unclean: whether the last session ended without :meth:`close`.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._in_flight: Counter[str] = Counter()
        self._written: set[str] = set()
        self._suspects: set[str] = set()
        self.existed = self._path.exists()
        self.unclean = False
        if self.existed:
            self._read()
        self._fd = -1
        self._bytes = 0
        self._torn = False
        self._rewrite()

    def suspects(self) -> set[str]:
        """The collections to rebuild, by name."""
        with self._lock:
            return self._suspects - {_WHOLE_STORE}

    def is_suspect(self, name: str) -> bool:
        """Whether this collection is to be rebuilt before it is loaded."""
        return name in self._suspects

    @property
    def whole_store_suspect(self) -> bool:
        """Whether the database itself was found damaged."""
        return _WHOLE_STORE in self._suspects

    @property
    def unsynced(self) -> set[str]:
        """The collections written since the last :meth:`checkpoint`."""
        with self._lock:
            return set(self._written)

    def begin(self, name: str, *, writing: bool) -> None:
        """Note that a call begins that may change the files of ``name`` (``writing=False``: by loading it)."""
        with self._lock:
            if writing and name not in self._written:
                self._written.add(name)
                self._append(f"w {name}\n", sync=True)
            self._in_flight[name] += 1
            if self._in_flight[name] == 1:
                self._append(f"+ {name}\n")

    def end(self, name: str) -> None:
        """Note that the call is over and left the files whole."""
        with self._lock:
            self._in_flight[name] -= 1
            if self._in_flight[name] <= 0:
                del self._in_flight[name]
                self._append(f"- {name}\n")

    def suspect(self, names: Iterable[str]) -> None:
        """Note that these collections must be rebuilt before they are loaded again."""
        with self._lock:
            new = [name for name in names if name not in self._suspects]
            self._suspects.update(new)
            if new:
                self._append("".join(f"s {name}\n" for name in new), sync=True)

    def suspect_whole_store(self) -> None:
        """Note that the database is damaged: the next open moves it aside."""
        self.suspect([_WHOLE_STORE])

    def forget(self, names: Iterable[str]) -> None:
        """Drop every line about these collections (they were emptied), also from the bytes of the file."""
        with self._lock:
            for name in names:
                self._suspects.discard(name)
                self._written.discard(name)
            self._rewrite()

    def checkpoint(self, synced: Iterable[str]) -> None:
        """Note that the files of these collections have reached the disk."""
        with self._lock:
            self._written.difference_update(synced)
            self._rewrite()

    def close(self) -> None:
        """End the session cleanly. Call :meth:`checkpoint` first with what was synced; calls in flight stay noted."""
        with self._lock:
            if self._fd >= 0:
                self._rewrite(closed=True)
                os.close(self._fd)
                self._fd = -1

    # ---------------------------------------------------------------------------------------------------------- files

    def _read(self) -> None:
        # A power cut may leave zeros or half a line at the end: such a line names no collection and is passed over.
        lines = self._path.read_text("utf-8", errors="replace").split("\n")[:-1]
        head = lines[0].split() if lines else []
        if len(head) != 3 or head[0] != _MAGIC:
            # Nothing is known about what was in flight, so nothing may be loaded.
            self.unclean = True
            self._suspects = {_WHOLE_STORE}
            return
        in_flight: Counter[str] = Counter()
        written: set[str] = set()
        for line in lines[1:]:
            sign, _, name = line.partition(" ")
            if not (name == _WHOLE_STORE or name.startswith(PREFIX)) or " " in name:
                continue
            if sign == "+":
                in_flight[name] += 1
            elif sign == "-":
                in_flight[name] -= 1
            elif sign == "w":
                written.add(name)
            elif sign == "s":
                self._suspects.add(name)
        self.unclean = head[2] != "closed"
        self._suspects.update(name for name, calls in in_flight.items() if calls > 0)
        if head[1] == boot_id():
            self._written = written
        else:
            self._suspects.update(written)

    def _rewrite(self, *, closed: bool = False) -> None:
        lines = [f"{_MAGIC} {boot_id() or '-'} {'closed' if closed else 'open'}"]
        lines += [f"s {name}" for name in sorted(self._suspects)]
        lines += [f"w {name}" for name in sorted(self._written)]
        lines += [f"+ {name}" for name in sorted(self._in_flight)]
        data = ("\n".join(lines) + "\n").encode()
        new = self._path.with_name(FILE_NAME + ".new")
        with open(new, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if self._fd >= 0:
            os.close(self._fd)
        os.replace(new, self._path)
        sync_folder(self._path.parent)
        self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        self._bytes = len(data)

    def _append(self, text: str, *, sync: bool = False) -> None:
        data = ("\n" * self._torn + text).encode()
        self._torn = True
        if (done := os.write(self._fd, data)) < len(data):
            raise OSError(errno.ENOSPC, f"only {done} of {len(data)} bytes written", str(self._path))
        self._torn = False
        self._bytes += len(data)
        if sync:
            os.fsync(self._fd)
        if self._bytes > _COMPACT_BYTES:
            self._rewrite()
