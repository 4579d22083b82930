"""Steps without their labels: no more than ranking hundreds of them needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select

from hexamem.memory_types import Source
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import INDEX_TEXT, SPEAKER, steps

__all__ = ["PlainStep", "StepTime", "last_stated", "plain_steps"]


class PlainStep(NamedTuple):
    """A step without its labels; ``text`` is its indexed text."""

    id: str
    thread_id: str
    speaker: str
    text: str
    occurred_at: datetime

    @property
    def line(self) -> str:
        """The text after its speaker."""
        return f"{self.speaker}: {self.text}"


class StepTime(NamedTuple):
    """The time of a step; steps of the same time are ordered by ``seq``."""

    at: datetime
    seq: int


_ACTIVE = (
    of_user(steps),
    among(steps.c.id),
    steps.c.status == "active",
)
_PLAIN = Prepared(select(steps.c.id, steps.c.thread_id, SPEAKER, INDEX_TEXT, steps.c.occurred_at).where(*_ACTIVE))
_TIMES = Prepared(select(steps.c.id, steps.c.occurred_at, steps.c.seq).where(*_ACTIVE))


def plain_steps(tx: Transaction, step_ids: Collection[str]) -> dict[str, PlainStep]:
    """Active steps by id; unknown and forgotten ids are left out."""
    return {row.id: PlainStep._make(row) for row in tx.all_of(_PLAIN, step_ids)}


def last_stated(tx: Transaction, cited: Mapping[str, Collection[Source]]) -> dict[str, StepTime]:
    """The latest time at which the content of items was stated: that of their last source step.

    Args:
        cited: item id → its sources. Items that cite no active step are left out.
    """
    step_ids = {source.step_id for sources in cited.values() for source in sources}
    times = {row.id: StepTime(row.occurred_at, row.seq) for row in tx.all_of(_TIMES, step_ids)}
    of_items = {
        item_id: [times[source.step_id] for source in sources if source.step_id in times]
        for item_id, sources in cited.items()
    }
    return {item_id: max(of_item) for item_id, of_item in of_items.items() if of_item}
