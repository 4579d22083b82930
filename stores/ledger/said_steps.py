"""What was said, by whom and when: as little of steps as ranking hundreds of them needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from hexamem.memory_types import Source
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps

__all__ = [
    "SaidStep",
    "SaidWhen",
    "index_texts",
    "last_said",
    "said_steps",
    "step_speakers",
    "step_texts",
    "step_times",
]


class SaidStep(NamedTuple):
    """A step without its labels; ``text`` is what is searched of it."""

    id: str
    thread_id: str
    speaker: str
    text: str
    occurred_at: datetime


class SaidWhen(NamedTuple):
    """When something was said; what was said at once is ordered by ``seq``, its step's number in the ledger."""

    at: datetime
    seq: int


_SPEAKER = func.coalesce(func.nullif(steps.c.name, ""), steps.c.role).label("speaker")
_TEXT = func.coalesce(steps.c.index_text, steps.c.content).label("text")
_GIVEN = (
    steps.c.user_id == bindparam("user"),
    steps.c.id.in_(bindparam("ids", expanding=True)),
    steps.c.status == "active",
)
_SAID = Prepared(select(steps.c.id, steps.c.thread_id, _SPEAKER, _TEXT, steps.c.occurred_at).where(*_GIVEN))
_TOLD = Prepared(select(steps.c.id, _SPEAKER, _TEXT).where(*_GIVEN))
_TEXTS = Prepared(select(steps.c.id, _TEXT).where(*_GIVEN))
_SPOKE = Prepared(select(steps.c.id, _SPEAKER).where(*_GIVEN))
_WHEN = Prepared(select(steps.c.id, steps.c.occurred_at, steps.c.seq).where(*_GIVEN))


def said_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, SaidStep]:
    """Active steps by id; unknown and forgotten ids are left out."""
    found: dict[str, SaidStep] = {}
    for part in chunks(step_ids):
        for row in tx.all(_SAID, user=tx.user_id, ids=part):
            found[row.id] = SaidStep._make(row)
    return found


def step_texts(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """What active steps say, behind who says it; unknown and forgotten ids are left out."""
    return {
        row.id: f"{row.speaker}: {row.text}"
        for part in chunks(step_ids)
        for row in tx.all(_TOLD, user=tx.user_id, ids=part)
    }


def index_texts(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """What is searched of active steps; unknown and forgotten ids are left out."""
    return {row.id: row.text for part in chunks(step_ids) for row in tx.all(_TEXTS, user=tx.user_id, ids=part)}


def step_speakers(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """Who spoke in active steps; unknown and forgotten ids are left out."""
    return {row.id: row.speaker for part in chunks(step_ids) for row in tx.all(_SPOKE, user=tx.user_id, ids=part)}


def last_said(tx: Transaction, cited: Mapping[str, Collection[Source]]) -> dict[str, SaidWhen]:
    """When what items say was last said, by their ids: an old conversation that is read today was not said today.

    Args:
        cited: item → what it cites. Items that cite no active step are left out.
    """
    said = step_times(tx, {source.step_id for sources in cited.values() for source in sources})
    times = {
        one: [said[source.step_id] for source in sources if source.step_id in said] for one, sources in cited.items()
    }
    return {one: max(moments) for one, moments in times.items() if moments}


def step_times(tx: Transaction, step_ids: Collection[str]) -> dict[str, SaidWhen]:
    """When active steps were said; unknown and forgotten ids are left out."""
    return {
        row.id: SaidWhen(row.occurred_at, row.seq)
        for part in chunks(step_ids)
        for row in tx.all(_WHEN, user=tx.user_id, ids=part)
    }
