"""The batches of the write path: which steps are read together next, and how far the managers have come.

How far is a mark in the ledger, a ``seq`` of the user, that moves in the transaction in which a batch is applied. So a
batch is applied exactly once, whoever reads it and however often.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, func, select

from hexamem.agents.contract import Batch, BatchStep
from hexamem.errors import HexamemError
from hexamem.memory_types import Step
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Transaction, get_items, get_steps, read_projections, set_projection
from hexamem.stores.ledger.labels import get_intents, read_labels
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import recalls, steps
from hexamem.stores.vocabulary import Vocabulary

__all__ = [
    "MANAGED",
    "BatchTakenError",
    "Waiting",
    "advance",
    "count_waiting",
    "read_batch",
    "read_managed",
    "skip_all",
    "waiting_steps",
]

MANAGED = "managed"
"""The name of the mark in the ledger's projections."""
_EVERYWHERE = ""  # the ledger's mark, not a home's
_BEFORE = 6
_RECALLS, _SHOWN = 20, 60
_SHOWN_SINCE = timedelta(hours=6)


class BatchTakenError(HexamemError, RuntimeError):
    """The steps of the batch were managed by somebody else meanwhile; nothing was applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The steps that no manager has seen yet.

    Attributes:
        since: ``seq`` up to which all were seen.
        reached: ``seq`` of the last of ``step_ids``; ``since`` where there is none.
        step_ids: the next ones, at most as many as were asked for.
        more: whether others follow.
        newest: when the last of ``step_ids`` was stored.
    """

    since: int
    reached: int
    step_ids: tuple[str, ...]
    more: bool = False
    newest: datetime | None = None


def read_managed(tx: Transaction) -> int:
    """Up to which ``seq`` the managers have seen the user's steps; 0 at first."""
    return read_projections(tx, _EVERYWHERE).get(MANAGED, 0)


def advance(tx: Transaction, since: int, reached: int) -> None:
    """Say that the steps up to ``reached`` were managed.

    Raises:
        BatchTakenError: if they were managed only up to another place than ``since`` when the batch was read.
    """
    if read_managed(tx) != since:
        raise BatchTakenError("the steps of this batch were managed by another run meanwhile")
    set_projection(tx, _EVERYWHERE, MANAGED, reached)


def skip_all(tx: Transaction) -> None:
    """Say that there is nothing to be learned from what is stored: it came with what was learned from it."""
    row = tx.first(select(func.max(steps.c.seq)).where(steps.c.user_id == tx.user_id))
    if row is not None and row[0] is not None:
        set_projection(tx, _EVERYWHERE, MANAGED, int(row[0]))


_NEXT = Prepared(
    select(steps.c.id, steps.c.seq, steps.c.created_at)
    .where(steps.c.user_id == bindparam("user"), steps.c.seq > bindparam("since"), steps.c.status == "active")
    .order_by(steps.c.seq)
    .limit(bindparam("most"))
)


def waiting_steps(tx: Transaction, most: int) -> Waiting:
    """The steps to be managed next, in the order in which they were stored.

    Args:
        most: how many at most.
    """
    since = read_managed(tx)
    rows = tx.all(_NEXT, user=tx.user_id, since=since, most=most + 1)
    chosen = rows[:most]
    if not chosen:
        return Waiting(since=since, reached=since, step_ids=())
    return Waiting(
        since=since,
        reached=int(chosen[-1].seq),
        step_ids=tuple(row.id for row in chosen),
        more=len(rows) > most,
        newest=chosen[-1].created_at,
    )


def count_waiting(tx: Transaction) -> int:
    """How many steps no manager has seen yet."""
    own = (steps.c.user_id == tx.user_id) & (steps.c.seq > read_managed(tx)) & (steps.c.status == "active")
    row = tx.first(select(func.count()).select_from(steps).where(own))
    return int(row[0]) if row else 0


def read_batch(tx: Transaction, step_ids: Collection[str]) -> Batch:
    """The steps as the managers see them, with what came before and what recall has lately shown."""
    found = sorted(get_steps(tx, step_ids).values(), key=lambda step: step.seq)
    earlier = _earlier(tx, found)
    intents = get_intents(tx, [step.id for step in (*earlier, *found)])
    vocabulary = Vocabulary(read_labels(tx, {one for intent in intents.values() for one in intent.label_ids}))

    def heard(step: Step) -> BatchStep:
        intent = intents.get(step.id)
        if intent is None:
            return BatchStep(step=step, resolved_text=step.index_text)
        return BatchStep(
            step=step,
            resolved_text=step.index_text if intent.resolved_text is None else intent.resolved_text,
            scope=vocabulary.path(intent.scope_id),
            events=tuple(vocabulary.names(intent.event_ids)),
            entities=tuple(vocabulary.names(intent.entity_ids)),
        )

    return Batch(
        user=tx.user,
        steps=tuple(map(heard, found)),
        before=tuple(map(heard, earlier)),
        zone=read_zone(tx.timezone),
        shown=_shown(tx, found) if found else (),
    )


_OF_THREAD = Prepared(
    select(steps.c.id)
    .where(
        steps.c.user_id == bindparam("user"),
        steps.c.thread_id == bindparam("thread"),
        steps.c.status == "active",
        steps.c.seq < bindparam("first"),
    )
    .order_by(steps.c.seq.desc())
    .limit(_BEFORE)
)
_LATELY = Prepared(
    select(recalls.c.hits)
    .where(recalls.c.user_id == bindparam("user"), recalls.c.created_at >= bindparam("since"))
    .order_by(recalls.c.created_at.desc())
    .limit(_RECALLS)
)


def _earlier(tx: Transaction, found: list[Step]) -> list[Step]:
    """The latest steps before these in their threads."""
    ids: list[str] = []
    for thread_id in dict.fromkeys(step.thread_id for step in found):
        first = min(step.seq for step in found if step.thread_id == thread_id)
        ids += [row.id for row in tx.all(_OF_THREAD, user=tx.user_id, thread=thread_id, first=first)]
    return sorted(get_steps(tx, ids).values(), key=lambda step: step.seq)[-2 * _BEFORE :]


def _shown(tx: Transaction, found: list[Step]) -> tuple[str, ...]:
    """The texts that recall put before the model shortly before these steps were stored, and meanwhile."""
    since = min(step.created_at for step in found) - _SHOWN_SINCE
    hits: dict[str, Any] = {}
    for row in tx.all(_LATELY, user=tx.user_id, since=since):
        hits.update(dict.fromkeys(hit_id for hit_id, _ in row.hits))
    wanted = list(hits.keys() - {step.id for step in found})
    said = {step.id: step.content for step in get_steps(tx, wanted).values()}
    held = {item.id: item.text for item in get_items(tx, wanted).values()}
    texts = [{**said, **held}.get(hit_id, "") for hit_id in hits]
    return tuple(dict.fromkeys(text for text in texts if text))[:_SHOWN]
