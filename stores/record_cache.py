"""A bounded cache in memory of values derived from a user's steps or items, read when recalls first need them.

A record has a new change number whenever its words change, and a step when its labels change. So only cached records
that changed since are read again, and a conversation that continues costs no more than its new steps.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from hexamem.stores.ledger import Transaction

__all__ = ["RecordCache"]

_USERS = 256
_RECORDS = 20_000
_TOTAL = 200_000
_MAX_CHANGED = 2_000
_MAX_IN_ADVANCE = 20_000

Value = TypeVar("Value")
Reader = Callable[[Transaction, Collection[str]], Mapping[str, Value]]
Changed = Callable[[Transaction, int, int], set[str] | None]
Listing = Callable[[Transaction, int | None, int], list[tuple[str, int]]]
"""Transaction, position, limit → the records before that position (None: from the newest), with their falling positions."""


@dataclass(slots=True)
class _Entry(Generic[Value]):
    registered: int
    change: int
    before: int | None = None  # the position down to which it was filled; None before the first fill, 0 at the end
    records: dict[str, Value] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)


class RecordCache(Generic[Value]):
    """Values of records by user, least recently used users evicted first. Thread-safe.

    Args:
        read: reads the values of some records by id; records without a value are left out.
        changed: transaction, change number, limit → the ids of the records that changed since; None for ``limit`` or more.
        users: maximum number of users.
        records: maximum number of records of a user; with more, the user's cache is cleared.
        total: maximum number of records of all users; the user in use is never evicted.
    """

    def __init__(
        self,
        read: Reader[Value],
        changed: Changed,
        *,
        users: int = _USERS,
        records: int = _RECORDS,
        total: int = _TOTAL,
    ) -> None:
        self._read, self._changed = read, changed
        self._users, self._records, self._total = users, records, total
        self._entries: OrderedDict[str, _Entry[Value]] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction, ids: Collection[str]) -> Mapping[str, Value]:
        """The values of these records as the transaction sees them, in the order of the ids.

        A writing transaction bypasses the cache: its changes may be rolled back and their numbers used again.
        """
        if tx.writing:
            return self._uncached(tx, ids)
        with self._guard:
            entry = self._entries.get(tx.user)
            if entry is None or entry.registered != tx.registered or entry.change > tx.change:
                entry = self._entries[tx.user] = _Entry(tx.registered, tx.change)
            self._entries.move_to_end(tx.user)
        with entry.guard:
            if entry.change > tx.change:  # another thread sees a later state
                return self._uncached(tx, ids)
            if entry.change < tx.change:
                self._refresh(tx, entry)
            missing = [record_id for record_id in ids if record_id not in entry.records]
            if missing:
                if len(entry.records) + len(missing) > self._records:
                    entry.records.clear()
                    missing = list(ids)
                entry.records.update(self._read(tx, missing))
                self._evict(tx.user)
            return _in_order(entry.records, ids)

    def holds(self, user: str) -> bool:
        """Whether the cache has an entry for the user."""
        return user in self._entries

    def fill(self, tx: Transaction, listing: Listing, limit: int) -> bool:
        """Read what changed, and at most ``limit`` records in advance; returns whether there may be more to read.

        Args:
            listing: lists the records of the user, the newest first.
        """
        with self._guard:
            entry = self._entries.get(tx.user)
            full = sum(len(entry.records) for entry in self._entries.values()) >= min(_MAX_IN_ADVANCE, self._total)
            if entry is None or entry.registered != tx.registered:
                return False
        with entry.guard:
            if entry.change > tx.change:
                return True
            if entry.change < tx.change:
                self._refresh(tx, entry)
            if entry.before == 0 or full:
                return False
            listed = listing(tx, entry.before, limit)
            missing = [record_id for record_id, _ in listed if record_id not in entry.records]
            if len(entry.records) + len(missing) > self._records:
                entry.before = 0
                return False
            entry.records.update(self._read(tx, missing))
            entry.before = listed[-1][1] if len(listed) == limit else 0
            return bool(entry.before)

    def drop(self, user: str) -> None:
        """Remove the entry of a user."""
        with self._guard:
            self._entries.pop(user, None)

    def _uncached(self, tx: Transaction, ids: Collection[str]) -> Mapping[str, Value]:
        return _in_order(self._read(tx, ids), ids)

    def _refresh(self, tx: Transaction, entry: _Entry[Value]) -> None:
        changed = self._changed(tx, entry.change, _MAX_CHANGED)
        if changed is None:
            entry.records.clear()
            entry.before = None
        else:
            for record_id in changed:
                entry.records.pop(record_id, None)
        entry.change = tx.change

    def _evict(self, user: str) -> None:
        """Evict the least recently used users."""
        with self._guard:
            size = sum(len(entry.records) for entry in self._entries.values())
            for name in list(self._entries):
                if name == user or (size <= self._total and len(self._entries) <= self._users):
                    break
                size -= len(self._entries.pop(name).records)


def _in_order(records: Mapping[str, Value], ids: Collection[str]) -> Mapping[str, Value]:
    return {record_id: records[record_id] for record_id in ids if record_id in records}
