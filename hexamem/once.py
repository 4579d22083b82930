"""Values that a process builds once: loaded weights, compiled patterns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Once", "once"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Once(Generic[_P, _T]):
    """A function whose value for some arguments is built once; see :func:`once`."""

    def __init__(self, build: Callable[_P, _T]) -> None:
        self._cached, self._lock = cache(build), threading.RLock()
        update_wrapper(self, build)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._lock:
            return self._cached(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def is_built(self) -> bool:
        """Whether it was built for any arguments."""
        return self._cached.cache_info().currsize > 0


def once(build: Callable[_P, _T]) -> Once[_P, _T]:
    """Like ``functools.cache``, but threads that need a value at the same time wait for the first, rather than each build one.

    A server's first requests arrive together: with ``functools.cache`` thirty of them compiled the patterns of dates thirty times.

    Args:
        build: makes the value for its arguments, which are hashable. A failure is not cached.
    """
    return Once(build)
