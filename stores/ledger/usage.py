"""The usage of models: calls, tokens and seconds by operation and agent.

The rows are those of a ``UsageMeter``: ``add_usage(tx, meter.drain())``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, insert, select

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types.base import new_id, utc_now
from hexamem.stores.ledger.ledger import Ledger, Transaction
from hexamem.stores.ledger.schema import usage

if TYPE_CHECKING:
    from hexamem.models.usage import UsageRow

__all__ = ["add_usage", "all_usage", "store_usage", "usage_totals"]

_SUMS = ("calls", "input_tokens", "output_tokens", "seconds")


def add_usage(tx: Transaction, rows: Iterable[UsageRow]) -> None:
    """Store the usage of models for this user; rows without any call, token or second are left out.

    Args:
        rows: one for each operation and agent, which are names of the program, never of a user.

    Raises:
        InvalidInputError: for a negative sum.
        NotFoundError: if the user has stored nothing yet.
    """
    now = utc_now()
    new: list[dict[str, Any]] = []
    for row in rows:
        sums = {"calls": row["calls"], "input_tokens": row["input_tokens"], "output_tokens": row["output_tokens"]}
        values: dict[str, Any] = {**sums, "seconds": row["seconds"]}
        for name, value in values.items():
            if not value >= 0:
                raise InvalidInputError(f"usage of {row['operation']}: {name} = {value!r} is below 0")
        if any(values.values()):
            place = {"user_id": tx.user_id, "id": new_id("usage"), "created_at": now}
            new.append({**place, "operation": row["operation"], "agent": row["agent"], **values})
    if not new:
        return
    if not tx.user_id:
        raise NotFoundError(f"user {tx.user!r} has stored nothing yet, so no usage can be stored for this user")
    tx.connection.execute(insert(usage), new)


def store_usage(ledger: Ledger, user: str, rows: Sequence[UsageRow]) -> None:
    """:func:`add_usage` in a transaction of its own, for calls whose result is not stored; nothing for an unknown user.

    Raises:
        HexamemError: if the ledger cannot be written.
    """
    if rows:
        with ledger.write(user, create=False) as tx:
            if tx.user_id:
                add_usage(tx, rows)


def usage_totals(tx: Transaction, *, since: datetime | None = None) -> list[UsageRow]:
    """The total usage of the user, one row for each operation and agent, in the order of their names.

    Args:
        since: only usage stored at this aware time or later.
    """
    return [_row(row) for row in tx.all(_totals(since).where(tx.own(usage)))]


def all_usage(ledger: Ledger, *, since: datetime | None = None) -> list[UsageRow]:
    """:func:`usage_totals` over all users, for maintenance of the home."""
    with ledger.connect() as connection:
        return [_row(row) for row in connection.execute(_totals(since))]


def _totals(since: datetime | None) -> Select[Any]:
    names = (usage.c.operation, usage.c.agent)
    statement = (
        select(*names, *(func.sum(usage.c[name]).label(name) for name in _SUMS)).group_by(*names).order_by(*names)
    )
    return statement if since is None else statement.where(usage.c.created_at >= since)


def _row(row: Any) -> UsageRow:
    # PostgreSQL sums whole numbers as decimals.
    return {
        "operation": row.operation,
        "agent": row.agent,
        "calls": int(row.calls),
        "input_tokens": int(row.input_tokens),
        "output_tokens": int(row.output_tokens),
        "seconds": float(row.seconds),
    }
