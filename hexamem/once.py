"""Values that a process builds once: loaded weights, compiled patterns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

__all__ = ["once"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def once(build: Callable[_P, _T]) -> Callable[_P, _T]:
    """Like ``functools.cache``, but threads that need a value at the same time wait for the first, rather than each build one.

    A server's first requests arrive together: with ``functools.cache`` thirty of them compiled the patterns of dates thirty times.

    Args:
        build: makes the value for its arguments, which are hashable. A failure is not cached.
    """
    cached, lock = cache(build), threading.RLock()

    @wraps(build)
    def built(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        with lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

    return built
