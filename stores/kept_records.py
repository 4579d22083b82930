"""What recalls need to know of a user's steps or items, as far as it was asked for: a bounded working set in memory.

A record gets a new change number whenever its words change after they were first stored, and so does a step when its
labels do. So of what is kept only the records that changed since are read again, and a conversation that goes on costs
no more than its new steps.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from hexamem.stores.ledger import Transaction

__all__ = ["KeptRecords"]

_USERS = 256
_RECORDS = 20_000
_TOTAL = 200_000
_CHANGED = 2_000
_FILLED = 20_000

Kept = TypeVar("Kept")
Reader = Callable[[Transaction, Collection[str]], Mapping[str, Kept]]
Changed = Callable[[Transaction, int, int], set[str] | None]
Listing = Callable[[Transaction, int | None, int], list[tuple[str, int]]]
"""The next records before a place, or the first, with their places, which fall; so many at most."""


@dataclass(slots=True)
class _Of(Generic[Kept]):
    registered: int
    change: int
    before: int | None = None  # the place up to which it was filled; None where that was not begun, 0 at the end
    records: dict[str, Kept] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class KeptRecords(Generic[Kept]):
    """What was read of records, of the users who were asked for last. Safe to use from several threads.

    Args:
        read: reads it for some records; leaves out one of which there is nothing to keep.
        changed: the ids of the records whose change number is above one; None where there are as many as told, or more.
        users: of how many users it is kept.
        records: of how many records of each; with more, it begins anew.
        total: of how many records of all together; the user asked for last is always kept.
    """

    def __init__(
        self,
        read: Reader[Kept],
        changed: Changed,
        *,
        users: int = _USERS,
        records: int = _RECORDS,
        total: int = _TOTAL,
    ) -> None:
        self._read, self._changed = read, changed
        self._users, self._records, self._total = users, records, total
        self._kept: OrderedDict[str, _Of[Kept]] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction, ids: Collection[str]) -> Mapping[str, Kept]:
        """What is known of each of these records as the transaction sees them, in the order of the ids.

        One that writes reads for itself: its changes may be rolled back, and their numbers given to others.
        """
        if tx.writing:
            read = self._read(tx, ids)
            return {one: read[one] for one in ids if one in read}
        with self._guard:
            kept = self._kept.get(tx.user)
            if kept is None or kept.registered != tx.registered or kept.change > tx.change:
                kept = self._kept[tx.user] = _Of(tx.registered, tx.change)
            self._kept.move_to_end(tx.user)
        with kept.guard:
            if kept.change > tx.change:  # another thread sees a later state
                read = self._read(tx, ids)
                return {one: read[one] for one in ids if one in read}
            if kept.change < tx.change:
                self._refresh(tx, kept)
            missing = [one for one in ids if one not in kept.records]
            if missing:
                if len(kept.records) + len(missing) > self._records:
                    kept.records.clear()
                    missing = list(ids)
                kept.records.update(self._read(tx, missing))
                self._bound(tx.user)
            return {one: kept.records[one] for one in ids if one in kept.records}

    def holds(self, user: str) -> bool:
        """Whether something of a user was asked for, and not let go of."""
        return user in self._kept

    def fill(self, tx: Transaction, listing: Listing, most: int) -> bool:
        """Take in what changed, and so many records that were not asked for yet, while few are kept; whether there may be more."""
        with self._guard:
            kept = self._kept.get(tx.user)
            full = sum(len(one.records) for one in self._kept.values()) >= min(_FILLED, self._total)
            if kept is None or kept.registered != tx.registered:
                return False
        with kept.guard:
            if kept.change > tx.change:
                return True
            if kept.change < tx.change:
                self._refresh(tx, kept)
            if kept.before == 0 or full:
                return False
            found = listing(tx, kept.before, most)
            missing = [one for one, _ in found if one not in kept.records]
            if len(kept.records) + len(missing) > self._records:
                kept.before = 0
                return False
            kept.records.update(self._read(tx, missing))
            kept.before = found[-1][1] if len(found) == most else 0
            return bool(kept.before)

    def drop(self, user: str) -> None:
        """Forget what is kept of a user."""
        with self._guard:
            self._kept.pop(user, None)

    def _refresh(self, tx: Transaction, kept: _Of[Kept]) -> None:
        changed = self._changed(tx, kept.change, _CHANGED)
        if changed is None:
            kept.records.clear()
            kept.before = None
        else:
            for one in changed:
                kept.records.pop(one, None)
        kept.change = tx.change

    def _bound(self, user: str) -> None:
        """Let go of the users not asked for the longest."""
        with self._guard:
            size = sum(len(one.records) for one in self._kept.values())
            for name in list(self._kept):
                if name == user or (size <= self._total and len(self._kept) <= self._users):
                    break
                size -= len(self._kept.pop(name).records)
