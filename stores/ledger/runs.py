"""Runs of agents and their steps in the ledger, and the experience items derived from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Row, func, insert, select

from hexamem.errors import NotFoundError
from hexamem.memory_types.experience import Outcome, Run, RunStep
from hexamem.memory_types.items import ProceduralItem
from hexamem.stores.ledger.items import get_items
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.schema import items, run_steps, runs

__all__ = [
    "add_run",
    "append_run_step",
    "count_run_steps",
    "delete_runs",
    "get_run",
    "read_experience_items",
    "read_run_steps",
    "read_runs",
    "set_run",
]

_FIELDS = ("id", "task", "environment", "status", "evidence", "started_at", "finished_at", "metadata")


def add_run(tx: Transaction, run: Run) -> None:
    """Insert a new run."""
    tx.connection.execute(insert(runs).values(user_id=tx.user_id, **_values(run)))


def set_run(tx: Transaction, run: Run) -> None:
    """Update a run."""
    tx.update(runs, run.id, **_values(run))


def _values(run: Run) -> dict[str, Any]:
    outcome = run.outcome
    return {
        **{name: getattr(run, name) for name in _FIELDS},
        "outcome": outcome and outcome.label,
        "outcome_source": outcome and outcome.source,
        "confidence": outcome and outcome.confidence,
        "reason": outcome and outcome.reason,
        "shown": list(run.shown),
        "distilled": run.distilled,
    }


def _run(tx: Transaction, row: Row[Any]) -> Run:
    outcome = None
    if row.outcome is not None:
        outcome = Outcome(
            label=row.outcome, source=row.outcome_source, confidence=row.confidence, reason=row.reason or ""
        )
    values = {name: row._mapping[name] for name in _FIELDS}
    return Run(user=tx.user, outcome=outcome, shown=tuple(row.shown or ()), distilled=bool(row.distilled), **values)


def get_run(tx: Transaction, run_id: str) -> Run:
    """One run.

    Raises:
        NotFoundError: if this user has no such run.
    """
    row = tx.first(select(runs).where(tx.own(runs), runs.c.id == run_id))
    if row is None:
        raise NotFoundError(f"no run {run_id!r} for user {tx.user!r}; `user.experience.runs()` lists them")
    return _run(tx, row)


def read_runs(
    tx: Transaction, environment: str | None = None, *, finished: bool = False, limit: int | None = None
) -> list[Run]:
    """The user's runs, the newest first.

    Args:
        environment: only those in this environment; all when None.
        finished: only finished runs.
        limit: at most this many, the newest.
    """
    statement = select(runs).where(tx.own(runs))
    if environment is not None:
        statement = statement.where(runs.c.environment == environment)
    if finished:
        statement = statement.where(runs.c.status == "finished")
    statement = statement.order_by(runs.c.started_at.desc(), runs.c.id.desc())
    return [_run(tx, row) for row in tx.all(statement.limit(limit))]


def append_run_step(tx: Transaction, step: RunStep) -> RunStep:
    """Append a step to its run; returns it with its position."""
    last = select(func.max(run_steps.c.position)).where(tx.own(run_steps), run_steps.c.run_id == step.run_id)
    before = tx.connection.execute(last).scalar()
    placed = step.changed(position=0 if before is None else before + 1)
    tx.connection.execute(insert(run_steps).values(user_id=tx.user_id, **placed.model_dump()))
    return placed


def read_run_steps(tx: Transaction, run_ids: Collection[str]) -> dict[str, list[RunStep]]:
    """The steps of runs in order, by run; a run without steps has an empty list."""
    steps_of: dict[str, list[RunStep]] = {run_id: [] for run_id in run_ids}
    for part in chunks(steps_of):
        rows = select(run_steps).where(tx.own(run_steps), run_steps.c.run_id.in_(part))
        for row in tx.all(rows.order_by(run_steps.c.run_id, run_steps.c.position)):
            values = {name: value for name, value in row._mapping.items() if name != "user_id"}
            steps_of[row.run_id].append(RunStep(**values))
    return steps_of


def count_run_steps(tx: Transaction, run_ids: Iterable[str]) -> dict[str, int]:
    """How many steps each run has."""
    counts: dict[str, int] = {}
    for part in chunks(run_ids):
        own = tx.own(run_steps) & run_steps.c.run_id.in_(part)
        counted = select(run_steps.c.run_id, func.count().label("steps")).where(own).group_by(run_steps.c.run_id)
        counts.update({row.run_id: int(row.steps) for row in tx.all(counted)})
    return counts


def delete_runs(tx: Transaction, run_ids: Collection[str]) -> int:
    """Delete runs with their steps; returns how many runs were deleted."""
    tx.delete(run_steps, run_id=run_ids)
    return tx.delete(runs, id=run_ids)


def read_experience_items(tx: Transaction, entry_type: str, *, removed: bool = False) -> list[ProceduralItem]:
    """The active procedural items of an entry type in order of creation; with ``removed`` also the removed ones."""
    statuses = ["active", "removed"] if removed else ["active"]
    own = tx.own(items) & (items.c.kind == "procedural") & items.c.status.in_(statuses)
    ids = [row.id for row in tx.all(select(items.c.id).where(own).order_by(items.c.created_at, items.c.id))]
    by_id = get_items(tx, ids)
    ordered = (by_id[item_id] for item_id in ids if item_id in by_id)
    return [item for item in ordered if isinstance(item, ProceduralItem) and item.entry_type == entry_type]
