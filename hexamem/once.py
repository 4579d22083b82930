"""Values that a process builds once: loaded weights, compiled patterns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

__all__ = ["Once", "once"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Once(Generic[_P, _T]):
    """A function whose value for some arguments is built once; see :func:`once`."""

    def __init__(self, build: Callable[_P, _T]) -> None:
        self._build, self._built = build, dict[Any, _T]()
        self._new_lock()
        if hasattr(os, "register_at_fork"):  # a lock that another thread holds is never released in a forked child
            os.register_at_fork(after_in_child=self._new_lock)
        update_wrapper(self, build)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        key = (args, tuple(sorted(kwargs.items())))
        if key not in self._built:
            with self._lock:
                if key not in self._built:
                    self._built[key] = self._build(*args, **kwargs)
        return self._built[key]

    @property
    def is_built(self) -> bool:
        """Whether it was built for any arguments."""
        return bool(self._built)

    def _new_lock(self) -> None:
        self._lock = threading.RLock()


def once(build: Callable[_P, _T]) -> Once[_P, _T]:
    """Like ``functools.cache``, but threads that need a value at the same time wait for the first, rather than each build one.

    A server's first requests arrive together: with ``functools.cache`` thirty of them compiled the patterns of dates thirty times.

    Args:
        build: makes the value for its arguments, which are hashable. A failure is not cached.
    """
    return Once(build)
