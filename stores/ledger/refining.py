"""What the model tier of labelling reads of the ledger: the steps whose labels are the rules' alone, and what was before.

Labels never look ahead: everything here is bounded by the ``seq`` of the first step of a batch, since the rules may
have labelled the steps after it long ago.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, update

from hexamem.stores.ledger.labels import PendingStep, StepIntent, get_intents, pending_step
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.progress import SHARED, read_projections, set_projection
from hexamem.stores.ledger.schema import intents, jobs, labelings, steps
from hexamem.stores.ledger.step_rows import WITH_INTENT

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
        summaries: of its first step and its latest ones before that step, in order.
    """

    label_id: str
    summaries: tuple[str, ...]


def read_refined(tx: Transaction) -> int | None:
    """Up to which ``seq`` steps were looked at by the model tier; None where it never began."""
    return read_projections(tx, SHARED).get(_REFINED)


def set_refined(tx: Transaction, seq: int) -> None:
    """Say up to which ``seq`` steps were looked at by the model tier."""
    set_projection(tx, SHARED, _REFINED, seq)


def has_job(tx: Transaction, kind: str) -> bool:
    """Whether the user has a job of this kind, in whatever status."""
    own = (jobs.c.user_id == tx.user_id) & (jobs.c.kind == kind)
    return tx.first(select(jobs.c.id).where(own).limit(1)) is not None


def first_seq(tx: Transaction, step_ids: Collection[str]) -> int | None:
    """The lowest ``seq`` among steps."""
    found = []
    for part in chunks(step_ids):
        row = tx.first(select(func.min(steps.c.seq)).where(steps.c.user_id == tx.user_id, steps.c.id.in_(part)))
        if row is not None and row[0] is not None:
            found.append(int(row[0]))
    return min(found, default=None)


def latest_seq(tx: Transaction) -> int:
    """The highest ``seq`` of a labelled step; 0 where there is none."""
    statement = select(func.max(steps.c.seq)).select_from(steps.join(intents, WITH_INTENT))
    row = tx.first(statement.where(steps.c.user_id == tx.user_id))
    return 0 if row is None or row[0] is None else int(row[0])


_COLUMNS = ("id", "change", "thread_id", "turn", "role", "name", "content", "index_text", "occurred_at", "seq")


def steps_to_refine(tx: Transaction, since: int, limit: int, below: float | None) -> list[int]:
    """The ``seq`` of steps labelled by rules that come after ``since``, in order.

    Args:
        below: only those of which the rules are less sure than this.
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
    """Say whether the labels that rules gave steps are still to be looked at by the model.

    Args:
        below: only of steps of which the rules are less sure than this.
    """
    for part in chunks(step_ids):
        own = and_(intents.c.user_id == tx.user_id, intents.c.step_id.in_(part), intents.c.tier == "embedded")
        if below is not None:
            own = and_(own, intents.c.confidence < below)
        tx.connection.execute(update(intents).where(own).values(provisional=value))


def steps_around(tx: Transaction, chosen: Collection[int], before: int) -> list[WindowStep]:
    """The chosen steps, and at most ``before`` labelled ones right before each of them, in order.

    Args:
        chosen: ``seq`` of each, a batch of them.
    """
    if not chosen:
        return []
    found: dict[int, Any] = {}
    ordered = sorted(chosen)
    own = and_(steps.c.user_id == tx.user_id, steps.c.status == "active")
    base: Select[Any] = select(*(steps.c[name] for name in _COLUMNS)).join(intents, WITH_INTENT).where(own)
    floor = -1
    for seq in ordered:
        gap = base.where(steps.c.seq < seq, steps.c.seq > floor).order_by(steps.c.seq.desc()).limit(before)
        if seq != floor + 1 and before:
            found.update((row.seq, row) for row in tx.all(gap))
        floor = seq
    found.update((row.seq, row) for row in tx.all(base.where(steps.c.seq.in_(ordered))))
    held = get_intents(tx, [row.id for row in found.values()])
    return [
        WindowStep(
            int(seq),
            pending_step(row),
            held[row.id],
        )
        for seq, row in sorted(found.items())
    ]


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
    """The scopes that active steps before this one carry, those carried last, the latest last.

    Args:
        limit: how many at most.
    """
    active = select(intents.c.scope_id, steps.c.seq, intents.c.summary).join(steps, WITH_INTENT)
    active = active.where(intents.c.user_id == tx.user_id, steps.c.status == "active")
    held = active.subquery()
    ranked = (
        select(held.c.scope_id, func.max(held.c.seq).label("last"))
        .where(held.c.seq < seq)
        .group_by(held.c.scope_id)
        .order_by(func.max(held.c.seq).desc())
        .limit(limit)
    )
    order = [str(row.scope_id) for row in tx.all(ranked)][::-1]
    if not order:
        return []
    placed = (
        select(
            held.c.scope_id,
            held.c.summary,
            held.c.seq,
            func.row_number().over(partition_by=held.c.scope_id, order_by=held.c.seq).label("first"),
            func.row_number().over(partition_by=held.c.scope_id, order_by=held.c.seq.desc()).label("last"),
        )
        .where(held.c.seq < seq, held.c.scope_id.in_(order))
        .subquery()
    )
    told: dict[str, list[str]] = {}
    rows = select(placed.c.scope_id, placed.c.summary).where(or_(placed.c.first == 1, placed.c.last <= 2))
    for row in tx.all(rows.order_by(placed.c.seq)):
        told.setdefault(str(row.scope_id), []).append(row.summary or "")
    return [OpenScope(one, tuple(told.get(one, ()))) for one in order]
