"""Texts, speakers and times of steps: no more than ranking hundreds of them needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from hexamem.memory_types import Source
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import steps

__all__ = [
    "PlainStep",
    "StepTime",
    "index_texts",
    "last_stated",
    "plain_steps",
    "step_texts",
    "step_times",
]


class PlainStep(NamedTuple):
    """A step without its labels; ``text`` is its indexed text."""

    id: str
    thread_id: str
    speaker: str
    text: str
    occurred_at: datetime


class StepTime(NamedTuple):
    """The time of a step; steps of the same time are ordered by ``seq``."""

    at: datetime
    seq: int


_SPEAKER = func.coalesce(func.nullif(steps.c.name, ""), steps.c.role).label("speaker")
_TEXT = func.coalesce(steps.c.index_text, steps.c.content).label("text")
_ACTIVE = (
    steps.c.user_id == bindparam("user"),
    steps.c.id.in_(bindparam("ids", expanding=True)),
    steps.c.status == "active",
)
_PLAIN = Prepared(select(steps.c.id, steps.c.thread_id, _SPEAKER, _TEXT, steps.c.occurred_at).where(*_ACTIVE))
_SPOKEN = Prepared(select(steps.c.id, _SPEAKER, _TEXT).where(*_ACTIVE))
_TEXTS = Prepared(select(steps.c.id, _TEXT).where(*_ACTIVE))
_TIMES = Prepared(select(steps.c.id, steps.c.occurred_at, steps.c.seq).where(*_ACTIVE))


def plain_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, PlainStep]:
    """Active steps by id; unknown and forgotten ids are left out."""
    return {row.id: PlainStep._make(row) for row in tx.all_of(_PLAIN, step_ids)}


def step_texts(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """The indexed texts of active steps after their speakers; unknown and forgotten ids are left out."""
    return {row.id: f"{row.speaker}: {row.text}" for row in tx.all_of(_SPOKEN, step_ids)}


def index_texts(tx: Transaction, step_ids: Collection[str]) -> dict[str, str]:
    """The indexed texts of active steps; unknown and forgotten ids are left out."""
    return {row.id: row.text for row in tx.all_of(_TEXTS, step_ids)}


def last_stated(tx: Transaction, cited: Mapping[str, Collection[Source]]) -> dict[str, StepTime]:
    """The latest time at which the content of items was stated: that of their last source step.

    Args:
        cited: item id → its sources. Items that cite no active step are left out.
    """
    times = step_times(tx, {source.step_id for sources in cited.values() for source in sources})
    of_items = {
        item_id: [times[source.step_id] for source in sources if source.step_id in times]
        for item_id, sources in cited.items()
    }
    return {item_id: max(of_item) for item_id, of_item in of_items.items() if of_item}


def step_times(tx: Transaction, step_ids: Collection[str]) -> dict[str, StepTime]:
    """The times of active steps; unknown and forgotten ids are left out."""
    return {row.id: StepTime(row.occurred_at, row.seq) for row in tx.all_of(_TIMES, step_ids)}
