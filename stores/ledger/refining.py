"""Reads for the model tier of labelling: the steps that the embedded tier alone has labelled, and the steps before them.

Labels never depend on later steps: everything here is bounded by the ``seq`` of the first step of a batch, since the
embedded tier may have labelled the steps after it already.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update

from hexamem.stores.ledger.labels import PENDING, PendingStep, StepIntent, get_intents, pending_step
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.progress import SHARED, read_projections, set_projection
from hexamem.stores.ledger.schema import WITH_INTENT, intents, jobs, labelings, steps

__all__ = [
    "OpenScope",
    "WindowStep",
    "first_seq",
    "has_job",
    "labels_before",
    "latest_seq",
    "mark_provisional",
    "open_scopes",
    "read_refined",
    "set_refined",
    "steps_around",
    "steps_to_refine",
]

_REFINED = "labels.model"


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


def read_refined(tx: Transaction) -> int | None:
    """The ``seq`` up to which the model tier has read the steps; None where it has not run yet."""
    return read_projections(tx, SHARED).get(_REFINED)


def set_refined(tx: Transaction, seq: int) -> None:
    """Store the ``seq`` up to which the model tier has read the steps."""
    set_projection(tx, SHARED, _REFINED, seq)


def has_job(tx: Transaction, kind: str) -> bool:
    """Whether the user has a job of this kind, in whatever status."""
    own = (jobs.c.user_id == tx.user_id) & (jobs.c.kind == kind)
    return tx.first(select(jobs.c.id).where(own).limit(1)) is not None


def first_seq(tx: Transaction, step_ids: Collection[str]) -> int | None:
    """The lowest ``seq`` among steps."""
    lowest = [
        tx.first(select(func.min(steps.c.seq)).where(steps.c.user_id == tx.user_id, steps.c.id.in_(part)))
        for part in chunks(step_ids)
    ]
    return min((int(row[0]) for row in lowest if row is not None and row[0] is not None), default=None)


def latest_seq(tx: Transaction) -> int:
    """The highest ``seq`` of a labelled step; 0 where there is none."""
    statement = select(func.max(steps.c.seq)).select_from(steps.join(intents, WITH_INTENT))
    row = tx.first(statement.where(steps.c.user_id == tx.user_id))
    return 0 if row is None or row[0] is None else int(row[0])


def steps_to_refine(tx: Transaction, since: int, limit: int, below: float | None) -> list[int]:
    """The ``seq`` of steps after ``since`` that the embedded tier has labelled, in order.

    Args:
        below: only those whose confidence is below this.
    """
    where: list[ColumnElement[bool]] = [intents.c.tier == "embedded"]
    if below is not None:
        where.append(intents.c.confidence < below)
    statement = (
        select(steps.c.seq)
        .join(intents, WITH_INTENT)
        .where(steps.c.user_id == tx.user_id, steps.c.seq > since, steps.c.status == "active", *where)
        .order_by(steps.c.seq)
        .limit(limit)
    )
    return [int(row.seq) for row in tx.all(statement)]


def mark_provisional(tx: Transaction, step_ids: Collection[str], value: bool, below: float | None = None) -> None:
    """Store whether the model tier has yet to review the labels that the embedded tier assigned to these steps.

    Args:
        below: only of steps whose confidence is below this.
    """
    for part in chunks(step_ids):
        own = and_(intents.c.user_id == tx.user_id, intents.c.step_id.in_(part), intents.c.tier == "embedded")
        if below is not None:
            own = and_(own, intents.c.confidence < below)
        tx.connection.execute(update(intents).where(own).values(provisional=value))


def steps_around(tx: Transaction, chosen: Collection[int], before: int) -> list[WindowStep]:
    """The chosen steps, and at most ``before`` labelled ones directly before each of them, in order.

    Args:
        chosen: the ``seq`` of each.
    """
    if not chosen:
        return []
    rows: dict[int, Any] = {}
    ordered = sorted(chosen)
    own = and_(steps.c.user_id == tx.user_id, steps.c.status == "active")
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
        .where(
            labelings.c.user_id == tx.user_id,
            labelings.c.target == "step",
            steps.c.status == "active",
            steps.c.seq < seq,
        )
        .distinct()
    )
    return {str(row.label_id) for row in tx.all(statement)}


def open_scopes(tx: Transaction, seq: int, limit: int) -> list[OpenScope]:
    """The scopes that active steps before this one carried most recently, at most ``limit``, the latest last."""
    active = select(intents.c.scope_id, steps.c.seq, intents.c.summary).join(steps, WITH_INTENT)
    active = active.where(intents.c.user_id == tx.user_id, steps.c.status == "active")
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
