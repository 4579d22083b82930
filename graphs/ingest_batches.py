"""The batches of the write path: which steps are managed together next, and which are managed already.

The ledger stores for each user the ``seq`` up to which steps are managed, and moves it in the transaction that applies a
batch. So a batch is applied exactly once, however often it is read.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from sqlalchemy import bindparam, func, select

from hexamem.agents.contract import Batch, BatchStep
from hexamem.errors import HexamemError
from hexamem.memory_types import Step
from hexamem.memory_types.times import read_zone
from hexamem.stores.ledger import Transaction, get_items, get_steps, read_projections, set_projection
from hexamem.stores.ledger.labels import get_intents, read_labels
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.progress import SHARED
from hexamem.stores.ledger.schema import recalls, steps
from hexamem.stores.vocabulary import Vocabulary

MANAGED = "managed"
"""The name of that ``seq`` in the ledger's projections."""
_BEFORE = 6
_LONGEST_STEP = 4_000  # characters of a step in a prompt
_RECALLS, _SHOWN = 20, 60
_SHOWN_SINCE = timedelta(hours=6)


class BatchTakenError(HexamemError, RuntimeError):
    """The steps of the batch were managed by another run meanwhile; nothing was applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The steps that are not managed yet."""

    since: int  # `seq` up to which all are managed
    reached: int  # `seq` of the last of `step_ids`; `since` if there is none
    step_ids: tuple[str, ...]  # the next ones
    more: bool = False  # whether others follow, so that these are a full batch
    newest: datetime | None = None  # when the last of `step_ids` was stored


def read_managed(tx: Transaction) -> int:
    """The ``seq`` up to which the user's steps are managed; 0 at first."""
    return read_projections(tx, SHARED).get(MANAGED, 0)


def advance(tx: Transaction, since: int, reached: int) -> None:
    """Record that the steps up to ``reached`` are managed."""
    if read_managed(tx) != since:
        raise BatchTakenError("the steps of this batch were managed by another run meanwhile")
    set_projection(tx, SHARED, MANAGED, reached)


def skip_all(tx: Transaction) -> None:
    """Record that all stored steps are managed: their items were imported with them."""
    row = tx.first(select(func.max(steps.c.seq)).where(steps.c.user_id == tx.user_id))
    if row is not None and row[0] is not None:
        set_projection(tx, SHARED, MANAGED, int(row[0]))


_NEXT = Prepared(
    select(steps.c.id, steps.c.seq, steps.c.created_at, func.length(steps.c.content).label("characters"))
    .where(steps.c.user_id == bindparam("user"), steps.c.seq > bindparam("since"), steps.c.status == "active")
    .order_by(steps.c.seq)
    .limit(bindparam("most"))
)


def waiting_steps(tx: Transaction, most: int, characters: int | None = None) -> Waiting:
    """The steps to be managed next, in the order in which they were stored.

    Args:
        most: the number of steps in a full batch. If no more than a third of it would be left, a batch of a few steps, which
            costs a model as many instructions, the batch takes these as well.
        characters: the largest total length of their texts, each counted up to 4,000; one step is always returned.
    """
    since = read_managed(tx)
    largest = most + most // 3
    rows = tx.all(_NEXT, user=tx.user_id, since=since, most=largest + 1)
    chosen = rows if len(rows) <= largest else rows[:most]
    if characters is not None:
        lengths = accumulate(min(row.characters, _LONGEST_STEP) for row in chosen)
        chosen = chosen[: max(1, sum(length <= characters for length in lengths))]
    if not chosen:
        return Waiting(since=since, reached=since, step_ids=())
    return Waiting(
        since=since,
        reached=int(chosen[-1].seq),
        step_ids=tuple(row.id for row in chosen),
        more=len(rows) > len(chosen),
        newest=chosen[-1].created_at,
    )


def last_step(tx: Transaction) -> int:
    """The ``seq`` of the last active step; 0 without any."""
    own = (steps.c.user_id == tx.user_id) & (steps.c.status == "active")
    row = tx.first(select(func.max(steps.c.seq)).where(own))
    return int(row[0] or 0) if row else 0


def count_waiting(tx: Transaction) -> int:
    """How many steps are not managed yet."""
    own = (steps.c.user_id == tx.user_id) & (steps.c.seq > read_managed(tx)) & (steps.c.status == "active")
    row = tx.first(select(func.count()).select_from(steps).where(own))
    return int(row[0]) if row else 0


def read_batch(tx: Transaction, step_ids: Collection[str]) -> Batch:
    """The steps as managers read them, with the steps before them and the texts that recalls have shown lately."""
    chosen = sorted(get_steps(tx, step_ids).values(), key=lambda step: step.seq)
    earlier = _earlier(tx, chosen)
    intents = get_intents(tx, [step.id for step in (*earlier, *chosen)])
    vocabulary = Vocabulary(read_labels(tx, {label_id for intent in intents.values() for label_id in intent.label_ids}))

    def batch_step(step: Step) -> BatchStep:
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
        steps=tuple(map(batch_step, chosen)),
        before=tuple(map(batch_step, earlier)),
        zone=read_zone(tx.timezone),
        shown=_shown(tx, chosen) if chosen else (),
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


def _earlier(tx: Transaction, chosen: list[Step]) -> list[Step]:
    """The latest steps before these in their threads."""
    ids: list[str] = []
    for thread_id in dict.fromkeys(step.thread_id for step in chosen):
        first = min(step.seq for step in chosen if step.thread_id == thread_id)
        ids += [row.id for row in tx.all(_OF_THREAD, user=tx.user_id, thread=thread_id, first=first)]
    return sorted(get_steps(tx, ids).values(), key=lambda step: step.seq)[-2 * _BEFORE :]


def _shown(tx: Transaction, chosen: list[Step]) -> tuple[str, ...]:
    """The texts that recalls have shown shortly before these steps were stored, or since."""
    since = min(step.created_at for step in chosen) - _SHOWN_SINCE
    hits: dict[str, Any] = {}
    for row in tx.all(_LATELY, user=tx.user_id, since=since):
        hits.update(dict.fromkeys(hit_id for hit_id, _ in row.hits))
    ids = list(hits.keys() - {step.id for step in chosen})
    contents = {step.id: step.content for step in get_steps(tx, ids).values()}
    item_texts = {item.id: item.text for item in get_items(tx, ids).values()}
    texts = [{**contents, **item_texts}.get(hit_id, "") for hit_id in hits]
    return tuple(dict.fromkeys(text for text in texts if text))[:_SHOWN]
