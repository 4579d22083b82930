"""Runs of acting agents and their steps, in the ledger; and the experience items that were made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

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
    """Write a new run."""
    tx.connection.execute(insert(runs).values(user_id=tx.user_id, **_values(run)))


def set_run(tx: Transaction, run: Run) -> None:
    """Write a run as it is now."""
    own = (runs.c.user_id == tx.user_id) & (runs.c.id == run.id)
    tx.connection.execute(update(runs).where(own).values(**_values(run)))


def _values(run: Run) -> dict[str, Any]:
    said = run.outcome
    return {
        **{name: getattr(run, name) for name in _FIELDS},
        "outcome": None if said is None else said.label,
        "outcome_source": None if said is None else said.source,
        "confidence": None if said is None else said.confidence,
        "reason": None if said is None else said.reason,
        "shown": list(run.shown),
        "distilled": run.distilled,
    }


def _run(tx: Transaction, row: Row[Any]) -> Run:
    said = None
    if row.outcome is not None:
        said = Outcome(
            label=row.outcome,
            source=row.outcome_source or "environment",
            confidence=1.0 if row.confidence is None else row.confidence,
            reason=row.reason or "",
        )
    values = {name: row._mapping[name] for name in _FIELDS}
    return Run(user=tx.user, outcome=said, shown=tuple(row.shown or ()), distilled=bool(row.distilled), **values)


def get_run(tx: Transaction, run_id: str) -> Run:
    """One run.

    Raises:
        NotFoundError: if this user has no such run.
    """
    row = tx.first(select(runs).where(runs.c.user_id == tx.user_id, runs.c.id == run_id))
    if row is None:
        raise NotFoundError(f"no run {run_id!r} for user {tx.user!r}; `user.experience.runs()` lists them")
    return _run(tx, row)


def read_runs(
    tx: Transaction, environment: str | None = None, *, finished: bool = False, limit: int | None = None
) -> list[Run]:
    """The user's runs, the newest first.

    Args:
        environment: only those in it; all when None.
        finished: only those that their agent finished.
        limit: at most so many, the newest.
    """
    found = select(runs).where(runs.c.user_id == tx.user_id)
    if environment is not None:
        found = found.where(runs.c.environment == environment)
    if finished:
        found = found.where(runs.c.status == "finished")
    found = found.order_by(runs.c.started_at.desc(), runs.c.id.desc())
    return [_run(tx, row) for row in tx.all(found if limit is None else found.limit(limit))]


def append_run_step(tx: Transaction, step: RunStep) -> RunStep:
    """Write a step behind the last one of its run; returns it with its position."""
    last = select(func.max(run_steps.c.position)).where(
        run_steps.c.user_id == tx.user_id, run_steps.c.run_id == step.run_id
    )
    before = tx.connection.execute(last).scalar()
    placed = step.changed(position=0 if before is None else before + 1)
    tx.connection.execute(insert(run_steps).values(user_id=tx.user_id, **placed.model_dump()))
    return placed


def read_run_steps(tx: Transaction, run_ids: Collection[str]) -> dict[str, list[RunStep]]:
    """The steps of runs in order, by run; a run without steps has an empty list."""
    found: dict[str, list[RunStep]] = {run_id: [] for run_id in run_ids}
    for part in chunks(found):
        rows = select(run_steps).where(run_steps.c.user_id == tx.user_id, run_steps.c.run_id.in_(part))
        for row in tx.all(rows.order_by(run_steps.c.run_id, run_steps.c.position)):
            values = {name: value for name, value in row._mapping.items() if name != "user_id"}
            found[row.run_id].append(RunStep(**values))
    return found


def count_run_steps(tx: Transaction, run_ids: Iterable[str]) -> dict[str, int]:
    """How many steps each run has."""
    found: dict[str, int] = {}
    for part in chunks(run_ids):
        own = (run_steps.c.user_id == tx.user_id) & run_steps.c.run_id.in_(part)
        counted = select(run_steps.c.run_id, func.count().label("steps")).where(own).group_by(run_steps.c.run_id)
        found.update({row.run_id: int(row.steps) for row in tx.all(counted)})
    return found


def delete_runs(tx: Transaction, run_ids: Collection[str]) -> int:
    """Delete runs with their steps for good; returns how many there were."""
    gone = 0
    for part in chunks(run_ids):
        tx.connection.execute(delete(run_steps).where(run_steps.c.user_id == tx.user_id, run_steps.c.run_id.in_(part)))
        gone += tx.connection.execute(delete(runs).where(runs.c.user_id == tx.user_id, runs.c.id.in_(part))).rowcount
    return gone


def read_experience_items(tx: Transaction, entry_type: str, *, removed: bool = False) -> list[ProceduralItem]:
    """The procedural items of an entry type, in the order in which they were made; with ``removed`` those too."""
    statuses = ["active", "removed"] if removed else ["active"]
    own = (items.c.user_id == tx.user_id) & (items.c.kind == "procedural") & items.c.status.in_(statuses)
    ids = [row.id for row in tx.all(select(items.c.id).where(own).order_by(items.c.created_at, items.c.id))]
    found = get_items(tx, ids)
    chosen = (found[one] for one in ids if one in found)
    return [one for one in chosen if isinstance(one, ProceduralItem) and one.entry_type == entry_type]
