"""The standard ``re``, but a pattern is compiled when it is first used: ``from .. import lazy_re as re``.

The rules hold over a thousand patterns, and one question or message uses a few of them. Compiled on import they cost
each command of the shell more than its answer.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    UNICODE,
    VERBOSE,
    I,
    M,
    Match,
    Pattern,
    S,
    escape,
    findall,
    finditer,
    fullmatch,
    match,
    search,
    split,
    sub,
    subn,
)
from typing import TYPE_CHECKING, AnyStr, Generic, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ASCII",
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "UNICODE",
    "VERBOSE",
    "I",
    "LazyPattern",
    "M",
    "Match",
    "Pattern",
    "S",
    "compile",
    "escape",
    "findall",
    "finditer",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
    "subn",
]

_TAKEN = (
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
    "flags",
    "groups",
    "groupindex",
)


def compile(pattern: AnyStr | Callable[[], AnyStr], flags: int = 0) -> Pattern[AnyStr]:  # noqa: A001 - as in `re`
    """As :func:`re.compile`, but a mistake in the pattern is raised at its first use.

    Args:
        pattern: its text, or what makes it, which is then called once, when the pattern or its text is first asked for.
        flags: as those of ``re``.

    What is returned has all methods and attributes of a compiled pattern; once used, a call costs some 30 ns more. Call its
    methods: the functions of the module, such as ``re.search``, take text or what ``re.compile`` itself made.
    """
    return cast("Pattern[AnyStr]", LazyPattern(pattern, flags))


class LazyPattern(Generic[AnyStr]):
    """A pattern that is compiled when one of its methods is first asked for, not when its text, ``pattern``, is."""

    __slots__ = ("_flags", "_make", "pattern", *_TAKEN)
    pattern: AnyStr
    _make: Callable[[], AnyStr]

    def __init__(self, pattern: AnyStr | Callable[[], AnyStr], flags: int) -> None:
        self._flags = flags
        if callable(pattern):
            self._make = pattern
        else:
            self.pattern = pattern

    def __getattr__(self, name: str) -> object:  # only for what no slot holds yet
        if name == "pattern":
            self.pattern = self._make()
            return self.pattern
        if name not in _TAKEN:
            raise AttributeError(f"a pattern has no attribute {name!r}")
        compiled = re.compile(self.pattern, self._flags)
        for one in _TAKEN:
            setattr(self, one, getattr(compiled, one))
        return getattr(compiled, name)

    def __repr__(self) -> str:
        return f"lazy_re.compile({self.pattern!r}, {self._flags!r})"
