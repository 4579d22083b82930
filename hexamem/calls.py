"""The public calls of a memory: counted, so that closing waits for running calls and refuses new ones; and their ``a…``
twins for asyncio."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from hexamem.arguments import check_text
from hexamem.errors import HomeInUseError, InvalidInputError, StoreClosedError
from hexamem.memory_types.times import shown
from hexamem.stores.redaction import safe_errors
from hexamem.stores.vectors.client import disk_errors

F = TypeVar("F", bound=Callable[..., Any])
Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Calls:
    """Which threads are in a call of one memory. Re-entrant: a call may make others, and may close the memory."""

    def __init__(self, closed: str, home: Path) -> None:
        self._closed_message, self.home = closed, home
        self._process = os.getpid()
        self._state = threading.Condition()
        self._running: Counter[int] = Counter()  # thread → depth of nested calls
        self._closer: int | None = None
        self._closed = False

    @property
    def closing(self) -> bool:
        """Whether closing has begun."""
        return self._closer is not None

    def _check(self, thread: int) -> None:
        # Nested calls of a running call are still allowed: closing waits for all of it.
        if self._closed or (self._closer is not None and thread not in self._running):
            raise StoreClosedError(self._closed_message)

    def __enter__(self) -> None:
        thread = threading.get_ident()
        if os.getpid() != self._process:  # before the lock, which another thread may have held at the fork
            raise HomeInUseError(
                f"the memory at {self.home} is open in process {self._process}, of which this one is a fork: open a memory "
                "after forking, a home in one process at a time"
            )
        with self._state:
            self._check(thread)
            self._running[thread] += 1

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._state:
            self._running[thread] -= 1
            if not self._running[thread]:
                del self._running[thread]
                self._state.notify_all()

    def begin_closing(self) -> bool:
        """Refuse new calls and wait for those of other threads; returns whether the caller is the one to close.

        It is not if the memory is closed already, or another thread is closing it. This waits for that thread, unless
        the caller is inside a call, for which the other thread waits. Nor is a fork of the process that opened it.
        """
        if os.getpid() != self._process:
            return False
        me = threading.get_ident()
        with self._state:
            while self._closer is not None and not self._closed:
                if self._closer == me or me in self._running:
                    return False
                self._state.wait()
            if self._closed:
                return False
            self._closer = me
            try:
                self._state.wait_for(lambda: not self._running.keys() - {me})
            except BaseException:  # interrupted while waiting: nothing is closed, and it can be tried again
                self._closer = None
                self._state.notify_all()
                raise
            return True

    def end_closing(self) -> None:
        """Everything is closed: wake the threads that wait for that."""
        with self._state:
            self._closed = True
            self._state.notify_all()


def public(call: F) -> F:
    """As :func:`counted`; arguments that are annotated as text or bool are checked first. Annotations are strings here."""
    kinds = {name: kind for name, kind in call.__annotations__.items() if kind in ("str", "str | None", "bool")}
    names = tuple(signature(call).parameters)[1:]

    @wraps(call)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            kind = kinds.get(name)
            if kind == "bool" and not isinstance(value, bool):
                raise InvalidInputError(f"{name} = {shown(value)}: pass True or False")
            if kind == "str" or (kind == "str | None" and value is not None):
                check_text(value, name)
        return call(self, *args, **kwargs)

    return counted(cast(F, checked))


def counted(call: F) -> F:
    """Decorate a public method: closing refuses it or waits for it, and its errors contain no secrets."""
    safe = safe_errors(call)

    @wraps(call)
    def count(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        with self._calls, disk_errors(self._calls.home):
            return safe(self, *args, **kwargs)

    return cast(F, count)


def in_thread(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
    """The async twin of a method, with its signature: it runs the method in a thread, so that the event loop is not blocked.

    ``aremember = in_thread(remember)`` in the class body; a subclass's override is called.
    """

    @wraps(method)
    async def twin(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return cast("Result", await asyncio.to_thread(getattr(self, method.__name__), *args, **kwargs))

    return _named_twin(twin, method)


def class_in_thread(
    method: Callable[Concatenate[type[Owner], Arguments], Result],
) -> classmethod[Owner, Arguments, Coroutine[Any, Any, Result]]:
    """As :func:`in_thread`, for a class method whose first parameter is positional only."""
    call = cast("Any", method).__func__

    @wraps(call)
    async def twin(cls: type[Owner], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return cast("Result", await asyncio.to_thread(getattr(cls, call.__name__), *args, **kwargs))

    return classmethod(_named_twin(twin, call))


def _named_twin(twin: F, method: Callable[..., Any]) -> F:
    twin.__name__ = f"a{method.__name__}"
    twin.__qualname__ = f"{method.__qualname__.rpartition('.')[0]}.{twin.__name__}"
    twin.__doc__ = f"As :meth:`{method.__qualname__}`, in a thread."
    return twin
