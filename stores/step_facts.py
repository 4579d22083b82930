"""Reading what a working set takes in of steps, quickly: a home may have hundreds of thousands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Select, Text, and_, bindparam, func, select, type_coerce

from hexamem.stores.documents import searchable
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.columns import decode_text
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import intents, steps
from hexamem.stores.working_set import StepFacts

__all__ = ["ReadStep", "changed_ids", "count_steps", "read_speakers", "read_steps"]

_BATCH = 4_000
_MICROS = 1_000_000

# Columns are read as the database has them: their types cost more than the rows.
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
    .where(steps.c.user_id == bindparam("user"))
    .order_by(steps.c.seq)
)
_ACTIVE = _EVERY.where(steps.c.status == "active")
_CHANGED = _EVERY.where(steps.c.change > bindparam("since"))
_COUNT = Prepared(select(func.count()).where(steps.c.user_id == bindparam("user"), steps.c.status == "active"))
_IDS = Prepared(select(steps.c.id).where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since")))
_NAMES = Prepared(
    select(steps.c.id, steps.c.name, steps.c.role).where(
        steps.c.user_id == bindparam("user"), steps.c.id.in_(bindparam("ids", expanding=True))
    )
)


class ReadStep(NamedTuple):
    """A step as read: what a set takes in, what is embedded of it, and whether it is one that may be found."""

    facts: StepFacts
    embedded: str
    active: bool


def read_steps(tx: Transaction, since: int = 0) -> Iterator[list[ReadStep]]:
    """The steps whose change number is above ``since``, in the order in which they were stored, in batches; from 0 on
    the active ones alone."""
    statement: Select[Any] = _CHANGED if since else _ACTIVE
    values = {"user": tx.user_id, **({"since": since} if since else {})}
    found = tx.connection.execute(statement, values, execution_options={"yield_per": _BATCH})
    for rows in found.partitions():
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
) -> ReadStep:
    said = decode_text(content)
    text = plain = searchable(said)
    if resolved is not None:
        # What was said, and the words by which its references were resolved; embedded as resolved.
        plain = decode_text(resolved)
        known = set(text.split())
        text = " ".join([text, *(word for word in plain.split() if word not in known)])
    speaker = decode_text(name) if name else ""
    facts = StepFacts(
        step_id,
        decode_text(thread),
        turn,
        speaker or role,
        role,
        text,
        said,
        micros // _MICROS,
        offset,
        bool(pictured),
        seq,
    )
    return ReadStep(facts, f"{searchable(speaker)}: {plain}" if speaker else plain, status == "active")


def read_speakers(tx: Transaction, step_ids: list[str]) -> list[str]:
    """Who said these steps; those that are gone are left out."""
    found = {
        row.id: row.name or row.role for part in chunks(step_ids) for row in tx.all(_NAMES, user=tx.user_id, ids=part)
    }
    return [found[one] for one in step_ids if one in found]


def changed_ids(tx: Transaction, since: int) -> list[str]:
    """The ids of the steps whose change number is above ``since``, whatever became of them."""
    return [row.id for row in tx.all(_IDS, user=tx.user_id, since=since)]


def count_steps(tx: Transaction) -> int:
    """How many active steps the user has."""
    row = tx.first(_COUNT, user=tx.user_id)
    return 0 if row is None else int(row[0])
