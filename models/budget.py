"""Budgets: limits on what an operation spends on models, reserved before each call."""

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
    """A call that the budget does not allow. It is returned, not raised: the caller falls back to its rules.

    Attributes:
        limit: the limit that would be exceeded.
        reason: the same as a sentence, for ``degraded``.
        own: whether it is a limit of the budget itself, not of one of its ancestors.
    """

    limit: Literal["calls", "tokens", "seconds"]
    reason: str
    own: bool = True


class Budget:
    """A limit on calls, tokens and seconds, shared by all holders of the object. Thread-safe.

    A call *reserves* the most it may cost, and *settles* with its real cost. A reservation is refused where it could
    exceed a limit together with what is already spent and reserved. Only a model that reports more tokens than were
    reserved can exceed a limit; the next call is then refused.

    Args:
        calls: the most requests, or None for no limit.
        tokens: the most tokens, input and output together, or None.
        seconds: wall-clock time from the creation of this object, or None.
        parent: a budget that is charged as well; see :meth:`child`. A reservation is granted by all ancestors or not
            at all.
        clock: a monotonic clock in seconds.

    Raises:
        ConfigError: for a limit that is negative or not a number.
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
                raise ConfigError(f"Budget {name} = {value!r}: use a number of at least 0, or None for no limit")
        self.calls, self.tokens, self.seconds = calls, tokens, seconds
        self.parent = parent
        self._clock: Callable[[], float] = clock or (parent._clock if parent else time.monotonic)
        self._lock: Lock = parent._lock if parent else Lock()
        self._start = self._clock()
        self._spent = Usage()
        self._reserved_calls = 0
        self._reserved_tokens = 0

    def child(self, *, calls: int | None = None, tokens: int | None = None, seconds: float | None = None) -> Budget:
        """A budget with limits of its own that is charged to this one too."""
        return Budget(calls=calls, tokens=tokens, seconds=seconds, parent=self)

    @property
    def spent(self) -> Usage:
        """The cost settled so far, including that of children."""
        with self._lock:
            return self._spent

    def limits_tokens(self) -> bool:
        """Whether this budget or an ancestor has a limit on tokens."""
        return any(budget.tokens is not None for budget in self._line())

    def remaining_seconds(self) -> float | None:
        """Seconds that are left, by the tightest of this budget and its ancestors; None for no limit."""
        left = [budget._seconds_left(budget.seconds) for budget in self._line() if budget.seconds is not None]
        return max(0.0, min(left)) if left else None

    def reserve(self, tokens: int, *, up_to: int | None = None) -> Reservation | BudgetRefusal:
        """Reserve one call and its tokens before it is made.

        Args:
            tokens: the least that the call needs: its input and the shortest useful answer.
            up_to: the most that it may use; granted as far as the budget allows. ``tokens`` by default.

        Returns:
            A reservation, to be settled exactly once, or the refusal.
        """
        with self._lock:
            for budget in self._line():
                if refusal := budget._refusal(tokens, own=budget is self):
                    return refusal
            left = [budget._tokens_left(budget.tokens) for budget in self._line() if budget.tokens is not None]
            granted = min([max(tokens, up_to or 0), *left])
            for budget in self._line():
                budget._reserved_calls += 1
                budget._reserved_tokens += granted
            return Reservation(self, granted)

    def _refusal(self, tokens: int, own: bool) -> BudgetRefusal | None:
        """The refusal by this budget's own limits, if any."""
        if self.calls is not None and self._spent.calls + self._reserved_calls >= self.calls:
            return BudgetRefusal(limit="calls", reason=f"the budget of {self.calls:,} model calls is used up", own=own)
        if self.tokens is not None and tokens > (left := self._tokens_left(self.tokens)):
            reason = f"the call needs about {tokens:,} tokens and {left:,} of {self.tokens:,} are left in the budget"
            return BudgetRefusal(limit="tokens", reason=reason, own=own)
        if self.seconds is not None and self._seconds_left(self.seconds) <= 0:
            reason = f"the time budget of {self.seconds:g} seconds is used up"
            return BudgetRefusal(limit="seconds", reason=reason, own=own)
        return None

    def _tokens_left(self, limit: int) -> int:
        return max(0, limit - self._spent.tokens - self._reserved_tokens)

    def _seconds_left(self, limit: float) -> float:
        return limit - (self._clock() - self._start)

    def _line(self) -> list[Budget]:
        """This budget and its ancestors."""
        line: list[Budget] = [self]
        while line[-1].parent is not None:
            line.append(line[-1].parent)
        return line

    def _close(self, tokens: int, usage: Usage) -> None:
        with self._lock:
            for budget in self._line():
                budget._reserved_calls -= 1
                budget._reserved_tokens -= tokens
                budget._spent += usage


class Reservation:
    """The part of a budget that is reserved for one call.

    Attributes:
        tokens: tokens granted, input and answer together.
    """

    def __init__(self, budget: Budget, tokens: int) -> None:
        self.tokens = tokens
        self._budget = budget
        self._open = True

    def settle(self, usage: Usage) -> None:
        """Charge what the call used in place of what was reserved. A second call does nothing."""
        if self._open:
            self._open = False
            self._budget._close(self.tokens, usage)

    def release(self) -> None:
        """Give everything back: the call was not made, or cost nothing."""
        self.settle(Usage())
