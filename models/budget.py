"""Budgets: what an operation may spend on models, reserved before each call so that it is never overspent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from hexamem.errors import ConfigError
from hexamem.models.usage import Usage

__all__ = ["Budget", "BudgetRefusal", "Reservation"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetRefusal:
    """A call that the budget does not allow. An outcome, not an error: the caller falls to its rules.

    Attributes:
        limit: which limit stands against it.
        reason: the same in words, for ``degraded``.
        own: whether it is a limit of the budget that was asked, not of one of its ancestors.
    """

    limit: Literal["calls", "tokens", "seconds"]
    reason: str
    own: bool = True


class Budget:
    """A limit on calls, tokens and seconds, shared by everything that is given the object. Safe between threads.

    A call *reserves* what it may cost at most, and *settles* with what it did cost. Nothing is granted that could
    exceed a limit together with what others have spent and reserved, so the budget stops before it is exceeded. The
    one case beyond its reach is a model that reports more tokens than were reserved; then the next call is refused.

    Args:
        calls: the most requests, or None for no limit.
        tokens: the most tokens, read and written together, or None.
        seconds: wall-clock time from the making of this object, or None.
        parent: a budget that pays as well; ``child`` is the short way. A reservation is granted by the whole line of
            ancestors or not at all.
        clock: a monotonic clock in seconds.

    Raises:
        ConfigError: for a negative limit or one that is no number.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        parent: Budget | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        for name, value in (("calls", calls), ("tokens", tokens), ("seconds", seconds)):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and (not number or not value >= 0):
                raise ConfigError(f"Budget {name} = {value!r}: give a number of at least 0, or None for no limit")
        self.calls, self.tokens, self.seconds = calls, tokens, seconds
        self.parent = parent
        self._clock: Callable[[], float] = clock or (parent._clock if parent else time.monotonic)
        self._lock: Lock = parent._lock if parent else Lock()  # one lock a family: a grant is all or nothing
        self._start = self._clock()
        self._spent = Usage()
        self._reserved_calls = 0
        self._reserved_tokens = 0

    def child(self, *, calls: int | None = None, tokens: int | None = None, seconds: float | None = None) -> Budget:
        """A budget of its own limits that spends from this one too."""
        return Budget(calls=calls, tokens=tokens, seconds=seconds, parent=self)

    @property
    def spent(self) -> Usage:
        """What was settled so far, children included."""
        with self._lock:
            return self._spent

    def limits_tokens(self) -> bool:
        """Whether this budget or an ancestor has a limit on tokens."""
        return any(one.tokens is not None for one in self._line())

    def remaining_tokens(self) -> int | None:
        """Tokens that may still be reserved, by the tightest of this budget and its ancestors; None for no limit."""
        with self._lock:
            return self._tokens_left()

    def remaining_seconds(self) -> float | None:
        """Seconds that are left, by the tightest of this budget and its ancestors; None for no limit."""
        left = [one.seconds - (self._clock() - one._start) for one in self._line() if one.seconds is not None]
        return max(0.0, min(left)) if left else None

    def reserve(self, tokens: int, *, up_to: int | None = None) -> Reservation | BudgetRefusal:
        """Set aside one call and its tokens before it is made.

        Args:
            tokens: what the call needs at least: its input and the shortest answer that is of use.
            up_to: what it may use at most; the grant is as much of it as the budget has. ``tokens`` when left out.

        Returns:
            A reservation, to be settled or released exactly once, or the refusal.
        """
        with self._lock:
            refusal = self._refusal(tokens)
            if refusal is not None:
                return refusal
            left = self._tokens_left()
            wanted = max(tokens, up_to or 0)
            granted = wanted if left is None else min(wanted, left)
            for one in self._line():
                one._reserved_calls += 1
                one._reserved_tokens += granted
            return Reservation(self, granted)

    def _refusal(self, tokens: int) -> BudgetRefusal | None:
        for one in self._line():
            if one.calls is not None and one._spent.calls + one._reserved_calls + 1 > one.calls:
                return BudgetRefusal(
                    limit="calls", reason=f"the budget of {one.calls:,} model calls is used up", own=one is self
                )
            if one.tokens is not None:
                left = one.tokens - one._spent.tokens - one._reserved_tokens
                if tokens > left:
                    reason = f"the call needs about {tokens:,} tokens and {max(0, left):,} of {one.tokens:,} are left"
                    return BudgetRefusal(limit="tokens", reason=f"{reason} in the budget", own=one is self)
            if one.seconds is not None and self._clock() - one._start >= one.seconds:
                return BudgetRefusal(
                    limit="seconds",
                    reason=f"the time budget of {one.seconds:g} seconds is used up",
                    own=one is self,
                )
        return None

    def _tokens_left(self) -> int | None:
        left = [one.tokens - one._spent.tokens - one._reserved_tokens for one in self._line() if one.tokens is not None]
        return max(0, min(left)) if left else None

    def _line(self) -> list[Budget]:
        """This budget and its ancestors."""
        line: list[Budget] = [self]
        while line[-1].parent is not None:
            line.append(line[-1].parent)
        return line

    def _close(self, tokens: int, usage: Usage) -> None:
        with self._lock:
            for one in self._line():
                one._reserved_calls -= 1
                one._reserved_tokens -= tokens
                one._spent += usage


class Reservation:
    """What a budget set aside for one call.

    Attributes:
        tokens: tokens granted, input and answer together.
    """

    def __init__(self, budget: Budget, tokens: int) -> None:
        self.tokens = tokens
        self._budget = budget
        self._open = True

    def settle(self, usage: Usage) -> None:
        """Book what the call used in place of what was set aside. A second settling or release does nothing."""
        if self._open:
            self._open = False
            self._budget._close(self.tokens, usage)

    def release(self) -> None:
        """Give everything back: the call was not made, or cost nothing."""
        self.settle(Usage())
