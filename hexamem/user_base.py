"""The base of ``UserMemory``: its user, its stores, and the parsing of times and conditions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hexamem.calls import Calls
from hexamem.errors import InvalidInputError
from hexamem.home import Home
from hexamem.memory_types import Where
from hexamem.memory_types.times import parse_time, read_zone
from hexamem.recalling import RecallLog
from hexamem.stores.ledger import Transaction, user_key

if TYPE_CHECKING:
    from hexamem.memory import Memory

Time = datetime | str | int | float
_LOCKS = 16


class UserBase:
    """The state that the methods of :class:`~hexamem.UserMemory` share; that class documents the attributes."""

    def __init__(self, memory: Memory, home: Home, calls: Calls, name: str, timezone: str) -> None:
        self.memory, self.name, self.timezone = memory, name, timezone
        self.key = user_key(name)
        read_zone(timezone)  # raises for an unknown zone now, not at the first message
        self._home, self._calls = home, calls
        self._recalls = RecallLog(home, name, memory.write_recalls_in_background)
        self._thread_locks = tuple(threading.Lock() for _ in range(_LOCKS))

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A read transaction on the user's ledger; closing the memory waits for its end."""
        with self._calls, self._home.ledger.read(self.name) as tx:
            yield tx

    @contextmanager
    def _change(self, *, create: bool = False) -> Iterator[Transaction]:
        """A write transaction on the user's ledger; the background thread is notified of it."""
        with self._home.ledger.write(self.name, create=create, timezone=self.timezone) as tx:
            yield tx
        self.memory.wrote(self.name)

    def thread_lock(self, thread_id: str) -> threading.Lock:
        """The lock for comparing a history with a thread and storing the new messages: one caller at a time."""
        return self._thread_locks[hash(thread_id) % _LOCKS]

    def write_recalls(self) -> None:
        """Write the logged recalls to the ledger, without the secrets that the vault holds by now."""
        self._recalls.write()

    def _time(self, value: Time | None) -> datetime | None:
        return None if value is None else parse_time(value, timezone=self.timezone).utc

    def _where(self, where: Where | Mapping[str, Any] | None) -> Where | None:
        if where is None or isinstance(where, Where):
            return where
        if not isinstance(where, Mapping):
            raise InvalidInputError(f"where = {where!r}: pass a Where or a mapping of its fields")
        times = {name: self._time(where[name]) for name in ("since", "until") if where.get(name) is not None}
        return Where.parse({**where, **times})
