"""Up to which change of the ledger the indexes of a home were written, recorded outside of the ledger.

A ledger may become older than its indexes: a backup of it was restored, or its log lost its end. Its own records of how
far each index is written are then as old as it is, and its next changes get numbers that the indexes have seen already.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["IndexReach"]

_ENTRY = re.compile(r"(?P<key>[0-9a-f]{8,128}) (?P<change>[0-9]+)")
_UNKNOWN = 1 << 62
"""Recorded for a user whose indexes are to be built anew, until that has begun."""


class IndexReach:
    """The last change of each user that may be in an index, in one file, a line for each write; the last line counts.

    Args:
        file: is made when first needed. It survives a killed process; the ledger is synchronised, so that after a power
            cut it is not the older one.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._out: int | None = None
        self._last: dict[str, int] = {}

    def compare(self, changes: Mapping[str, int]) -> set[str]:
        """The keys of the users whose indexes have changes that the ledger lacks. Use it before the ledger is written.

        Args:
            changes: the last change of each user of the ledger, by the user's key. A user who is not among them has none.
        """
        recorded = self._read()
        reached = {key: change for key, change in recorded.items() if change or key in changes}
        newer = {key for key, change in reached.items() if change > changes.get(key, 0)}
        lines = [f"{key} {_UNKNOWN if key in newer else change}\n" for key, change in sorted(reached.items())]
        if lines or recorded:
            new = self._file.with_suffix(".new")
            new.write_text("".join(lines), encoding="ascii")
            os.replace(new, self._file)
        return newer

    def record(self, key: str, change: int) -> None:
        """A user's indexes are about to be written up to a change; 0 if they were emptied."""
        if self._last.get(key) == change:
            return
        self._last[key] = change
        if self._out is None:
            self._out = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._out, f"{key} {change}\n".encode("ascii"))

    def close(self) -> None:
        """Close the file."""
        if self._out is not None:
            os.close(self._out)
            self._out = None

    def _read(self) -> dict[str, int]:
        recorded: dict[str, int] = {}
        if self._file.exists():
            for line in self._file.read_text("ascii", errors="replace").splitlines():
                if entry := _ENTRY.fullmatch(line):  # a line may have been cut off or damaged
                    recorded[entry["key"]] = int(entry["change"])
        return recorded
