"""Care for what was learned: reading it with its counts, retiring what hurts, and what goes when a run is forgotten."""

from __future__ import annotations

from collections.abc import Collection

from hexamem.experience import limits
from hexamem.experience.as_items import ENTRY_TYPE, experience_of, uses_of
from hexamem.memory_types.experience import Experience
from hexamem.memory_types.operations import Operation
from hexamem.stores.changing import remove_item
from hexamem.stores.ledger import Transaction, history_of, undo
from hexamem.stores.ledger.runs import delete_runs, read_experience_items, read_runs

__all__ = ["ACTOR", "REPLACED", "forget_runs", "read_experience", "retire_hurting", "retire_mistaken"]

ACTOR = "experience"
"""Who stands in the history for what is learned and retired without a person."""
REPLACED = "completed or put right by another run"
"""The reason of an update that gave an experience another text."""


def read_experience(tx: Transaction, environment: str | None = None, *, retired: bool = False) -> list[Experience]:
    """The user's experience with its counts, in the order in which it was learned.

    Args:
        environment: what holds there, promoted experience with it; all when None.
        retired: whether what was retired is among it.
    """
    items = read_experience_items(tx, ENTRY_TYPE, removed=retired)
    uses = uses_of(read_runs(tx)) if items else {}
    found = [experience_of(item, uses) for item in items]
    return [one for one in found if environment is None or one.environment in ("", environment)]


def retire_hurting(tx: Transaction, shown: Collection[str]) -> list[Operation]:
    """Retire what of this experience does harm: so many runs that were given it failed, and hardly any did their task.

    What was retired before, and brought back by ``undo``, stays: a person has decided.
    """
    done: list[Operation] = []
    for one in read_experience(tx):
        if one.id not in shown or one.hurt < limits.RETIRE_AFTER or one.hurt < 4 * one.helped:
            continue
        if any(made.actor == ACTOR and made.kind == "remove" for made in history_of(tx, one.id)):
            continue
        reason = f"{one.hurt} of {one.retrieved} runs that were given it failed, {one.helped} did their task"
        done.append(remove_item(tx, one.id, actor=ACTOR, reason=reason))
    return done


def retire_mistaken(tx: Transaction, run_id: str) -> list[Operation]:
    """Retire what was learned from this run alone, and take its text back out of what it put right: its outcome turned
    out to be the other one."""
    taken_back = _take_back(tx, {run_id})
    mistaken = [one for one in read_experience(tx) if one.run_ids == (run_id,)]
    reason = "the outcome of the run that it was learned from was put right"
    return [*taken_back, *(remove_item(tx, one.id, actor=ACTOR, reason=reason) for one in mistaken)]


def _take_back(tx: Transaction, run_ids: Collection[str]) -> list[Operation]:
    """Undo the latest changes of text that rest on these runs; one that others were built upon is left."""
    done: list[Operation] = []
    for one in read_experience(tx):
        if len(one.run_ids) < 2 or not set(one.run_ids) & set(run_ids):
            continue
        last = history_of(tx, one.id, limit=1)[0]
        if last.actor == ACTOR and last.reason == REPLACED and one.run_ids[-1] in run_ids:
            done += undo(tx, last.id, actor=ACTOR)
    return done


def forget_runs(tx: Transaction, run_ids: Collection[str]) -> tuple[int, int]:
    """Delete runs for good, and take out the experience that rests on nothing else, and what they put right of other.

    Returns:
        How many runs and how many experiences went.
    """
    gone = set(run_ids)
    _take_back(tx, gone)
    resting = [one for one in read_experience(tx) if one.run_ids and set(one.run_ids) <= gone]
    for one in resting:
        remove_item(tx, one.id, reason="the runs that it was learned from were forgotten")
    return delete_runs(tx, gone), len(resting)
