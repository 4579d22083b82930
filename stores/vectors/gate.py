"""Many calls at once, or one change alone: the gate between calls into Chroma and its closing and opening."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Gate"]


class Gate:
    """A shared and exclusive lock that prefers the exclusive side. Not re-entrant: never enter twice in one thread."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._calls = 0
        self._taken = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside other shared calls; waits while an exclusive one runs or waits."""
        with self._state:
            self._state.wait_for(lambda: not self._taken)
            self._calls += 1
        try:
            yield
        finally:
            with self._state:
                self._calls -= 1
                self._state.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run when every shared call is over, with none beside."""
        with self._state:
            self._state.wait_for(lambda: not self._taken)
            self._taken = True
            self._state.wait_for(lambda: not self._calls)
        try:
            yield
        finally:
            with self._state:
                self._taken = False
                self._state.notify_all()
