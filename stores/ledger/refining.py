"""Reads for the model tier of labelling: steps with the steps before them, and the labels in use until then.

Labels never depend on later steps: everything here is bounded by the ``seq`` of the first step of a batch, since the
embedded tier may have labelled the steps after it already.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, func, or_, select

from hexamem.stores.ledger.labels import PENDING, PendingStep, StepIntent, get_intents, pending_step
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.schema import WITH_INTENT, intents, labelings, steps

__all__ = [
    "OpenScope",
    "WindowStep",
    "labels_before",
    "open_scopes",
    "steps_around",
]


class WindowStep(NamedTuple):
    """A labelled step and its place in the order in which steps were stored."""

    seq: int
    step: PendingStep
    intent: StepIntent


class OpenScope(NamedTuple):
    """A scope as of some step.

    Attributes:
        summaries: of its first and its latest steps before that step, in order.
    """

    label_id: str
    summaries: tuple[str, ...]


def steps_around(tx: Transaction, chosen: Collection[int], before: int) -> list[WindowStep]:
    """The chosen steps, and at most ``before`` labelled ones directly before each of them, in order.

    Args:
        chosen: the ``seq`` of each.
    """
    if not chosen:
        return []
    rows: dict[int, Any] = {}
    ordered = sorted(chosen)
    own = and_(tx.own(steps), steps.c.status == "active")
    base: Select[Any] = select(*PENDING, steps.c.seq).join(intents, WITH_INTENT).where(own)
    floor = -1
    for seq in ordered:
        gap = base.where(steps.c.seq < seq, steps.c.seq > floor).order_by(steps.c.seq.desc()).limit(before)
        if seq != floor + 1 and before:
            rows.update((row.seq, row) for row in tx.all(gap))
        floor = seq
    rows.update((row.seq, row) for row in tx.all(base.where(steps.c.seq.in_(ordered))))
    intent_of = get_intents(tx, [row.id for row in rows.values()])
    return [WindowStep(int(seq), pending_step(row), intent_of[row.id]) for seq, row in sorted(rows.items())]


def labels_before(tx: Transaction, seq: int) -> set[str]:
    """The ids of the labels that active steps before this one carry."""
    statement = (
        select(labelings.c.label_id)
        .join(steps, and_(steps.c.user_id == labelings.c.user_id, steps.c.id == labelings.c.target_id))
        .where(tx.own(labelings), labelings.c.target == "step", steps.c.status == "active", steps.c.seq < seq)
        .distinct()
    )
    return {str(row.label_id) for row in tx.all(statement)}


def open_scopes(tx: Transaction, seq: int, limit: int) -> list[OpenScope]:
    """The scopes that active steps before this one carried most recently, at most ``limit``, the latest last."""
    active = select(intents.c.scope_id, steps.c.seq, intents.c.summary).join(steps, WITH_INTENT)
    active = active.where(tx.own(intents), steps.c.status == "active")
    scoped = active.subquery()
    ranked = (
        select(scoped.c.scope_id, func.max(scoped.c.seq).label("last"))
        .where(scoped.c.seq < seq)
        .group_by(scoped.c.scope_id)
        .order_by(func.max(scoped.c.seq).desc())
        .limit(limit)
    )
    order = [str(row.scope_id) for row in tx.all(ranked)][::-1]
    if not order:
        return []
    placed = (
        select(
            scoped.c.scope_id,
            scoped.c.summary,
            scoped.c.seq,
            func.row_number().over(partition_by=scoped.c.scope_id, order_by=scoped.c.seq).label("first"),
            func.row_number().over(partition_by=scoped.c.scope_id, order_by=scoped.c.seq.desc()).label("last"),
        )
        .where(scoped.c.seq < seq, scoped.c.scope_id.in_(order))
        .subquery()
    )
    summaries: dict[str, list[str]] = {}
    rows = select(placed.c.scope_id, placed.c.summary).where(or_(placed.c.first == 1, placed.c.last <= 2))
    for row in tx.all(rows.order_by(placed.c.seq)):
        summaries.setdefault(str(row.scope_id), []).append(row.summary or "")
    return [OpenScope(scope_id, tuple(summaries.get(scope_id, ()))) for scope_id in order]
