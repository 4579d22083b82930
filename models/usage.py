"""The cost of model calls: requests, tokens and seconds, summed by operation and agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from threading import Lock
from typing import TypedDict

__all__ = ["Usage", "UsageMeter", "UsageRow"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The cost of model calls. Sum with ``+``; zero is ``Usage()``.

    Attributes:
        calls: requests that were answered, or that broke off after the model may have begun. A refused request (429, 5xx,
            no connection) costs nothing and is not counted.
        input_tokens: input tokens as the model reports them; an estimate where it reports none.
        seconds: the duration of the requests, without the waits between them.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        names = [field.name for field in fields(self)]
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})


class UsageRow(TypedDict):
    """One line of a meter, with the names of the ledger's ``usage`` table."""

    operation: str
    agent: str
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float


class UsageMeter:
    """Sums usage by operation (``remember``, ``research``, …) and agent. Safe to share between threads.

    Args:
        operation: the default operation of :meth:`add`.
    """

    def __init__(self, operation: str = "call") -> None:
        self.operation = operation
        self._lock = Lock()
        self._sums: dict[tuple[str, str], Usage] = {}

    def add(self, usage: Usage, *, agent: str, operation: str | None = None) -> None:
        """Add the usage of one agent."""
        key = (operation or self.operation, agent)
        with self._lock:
            self._sums[key] = self._sums.get(key, Usage()) + usage

    @property
    def total(self) -> Usage:
        """The sum of all rows."""
        with self._lock:
            return sum(self._sums.values(), Usage())

    def rows(self) -> list[UsageRow]:
        """One row for each operation and agent, in the order of their first use."""
        with self._lock:
            return _rows(self._sums)

    def drain(self) -> list[UsageRow]:
        """Return the rows and reset the meter, atomically, so that nothing is persisted twice."""
        with self._lock:
            sums, self._sums = self._sums, {}
        return _rows(sums)


def _rows(sums: Mapping[tuple[str, str], Usage]) -> list[UsageRow]:
    return [UsageRow(operation=op, agent=agent, **asdict(usage)) for (op, agent), usage in sums.items()]  # type: ignore[typeddict-item]
