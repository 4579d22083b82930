"""Up to which change of the ledger the indexes of a home were written, recorded outside of the ledger.

A ledger may become older than its indexes: a backup of it was restored, or its log lost its end. Its own records of how
far each index is written are then as old as it is, and its next changes get numbers that the indexes have seen already.
On a shared ledger another home may erase a user who then begins anew: the indexes here are of the former user.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["IndexReach"]

_ENTRY = re.compile(r"(?P<change>[0-9]{1,20}) (?P<registered>-?[0-9]{1,20})\n")
_LOST = (1 << 62, -1)
"""Recorded for a user whose indexes have changes that the ledger lost, until they were emptied."""


class IndexReach:
    """The last change of each user that may be in an index, and the registration of the user: a file for each user.

    So opening a home reads nothing, whatever the number of its users. Use it under the lock of the user's index writes;
    :meth:`compare` may be called without it.

    Args:
        folder: is made when first needed. Its files survive a killed process; the ledger is synchronised, so that after
            a power cut it is not the older one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: dict[str, tuple[int, int]] = {}  # what was read or written

    def compare(self, key: str, change: int, registered: int, *, exclusive: bool) -> None:
        """Compare with the ledger, before it is written for this user by this process; a loss is recorded.

        Args:
            change, registered: the user's last change and registration in the ledger, 0 where it does not have the user.
            exclusive: whether no other home can erase a user of the ledger.
        """
        last = self._read(key)
        if last is None or last == _LOST:
            return
        if not registered:
            lost = exclusive
        elif registered == last[1]:
            lost = last[0] > change
        else:  # a backup has an earlier registration; one that is later follows an erasure
            lost = registered < last[1]
        if lost:
            self._write(key, _LOST)

    def lost(self, key: str) -> bool:
        """Whether the user's indexes have changes that the ledger lacked."""
        return self._read(key) == _LOST

    def outdated(self, key: str, registered: int) -> bool:
        """Whether the user's indexes must be emptied first: the ledger lost changes, or they are of a former user."""
        last = self._read(key)
        return last is not None and last[1] != registered

    def record(self, key: str, change: int, registered: int) -> None:
        """The user's indexes are about to be written up to a change; those that are outdated remain so."""
        if not self.outdated(key, registered) and self._last.get(key) != (change, registered):
            self._write(key, (change, registered))

    def forget(self, key: str) -> None:
        """The user's indexes were emptied."""
        self._last.pop(key, None)
        self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / key

    def _read(self, key: str) -> tuple[int, int] | None:
        if key not in self._last:
            try:
                entry = _ENTRY.match(self._file(key).read_text("ascii", errors="replace"))
            except FileNotFoundError:
                return None
            if entry is None:  # it may have been cut off or damaged
                return None
            self._last[key] = int(entry["change"]), int(entry["registered"])
        return self._last[key]

    def _write(self, key: str, last: tuple[int, int]) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # Always of the same length, so that one write replaces it as a whole.
        line = f"{last[0]:020d} {last[1]:020d}\n"
        out = os.open(self._file(key), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.write(out, line.encode("ascii"))
        finally:
            os.close(out)
        self._last[key] = last
