"""Reads the facts of steps for a working set, fast: a home may have hundreds of thousands of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Select, Text, and_, bindparam, func, select, type_coerce

from hexamem.stores.documents import searchable
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.columns import decode_text
from hexamem.stores.ledger.prepared import of_user
from hexamem.stores.ledger.schema import intents, steps
from hexamem.stores.working_set import StepFacts

__all__ = ["read_steps"]

_BATCH = 4_000
_MICROS = 1_000_000

# Columns are read without their SQLAlchemy types, whose conversion costs more than the rows.
_EVERY = (
    select(
        steps.c.id,
        steps.c.status,
        steps.c.turn,
        steps.c.seq,
        steps.c.role,
        steps.c.offset_minutes,
        steps.c.media.is_not(None),
        type_coerce(steps.c.occurred_at, BigInteger),
        type_coerce(steps.c.thread_id, Text),
        type_coerce(steps.c.name, Text),
        type_coerce(func.coalesce(steps.c.index_text, steps.c.content), Text),
        type_coerce(intents.c.resolved_text, Text),
    )
    .outerjoin(intents, and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id))
    .where(of_user(steps))
    .order_by(steps.c.seq)
)
_ACTIVE = _EVERY.where(steps.c.status == "active")
_CHANGED = _EVERY.where(steps.c.change > bindparam("since"))


def read_steps(tx: Transaction, since: int = 0) -> Iterator[list[StepFacts]]:
    """The steps whose change number is above ``since``, in the order of storage, in batches; only active ones from 0 on."""
    statement: Select[Any] = _CHANGED if since else _ACTIVE
    values = {"user": tx.user_id, **({"since": since} if since else {})}
    result = tx.connection.execute(statement, values, execution_options={"yield_per": _BATCH})
    for rows in result.partitions():
        yield [_read(*row) for row in rows]


def _read(
    step_id: str,
    status: str,
    turn: int,
    seq: int,
    role: str,
    offset: int,
    pictured: bool,
    micros: int,
    thread: str,
    name: str | None,
    content: str,
    resolved: str | None,
) -> StepFacts:
    content = decode_text(content)
    text = plain = searchable(content)
    if resolved is not None:
        # The stored text and the words that replace its references; the resolved text is embedded.
        plain = decode_text(resolved)
        known = set(text.split())
        text = " ".join([text, *(word for word in plain.split() if word not in known)])
    speaker = decode_text(name) if name else ""
    return StepFacts(
        id=step_id,
        thread_id=decode_text(thread),
        turn=turn,
        speaker=speaker or role,
        role=role,
        text=text,
        content=content,
        seconds=micros // _MICROS,
        offset_minutes=offset,
        pictured=bool(pictured),
        seq=seq,
        embedded=f"{searchable(speaker)}: {plain}" if speaker else plain,
        active=status == "active",
    )
