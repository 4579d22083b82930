"""Stored experience: reads it with its counts, retires what hurts, and removes what was learned from forgotten runs."""

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
"""The actor in the history of what is learned and retired without a person."""
REPLACED = "completed or put right by another run"
"""The reason of an update that replaced the text of an experience."""


def read_experience(tx: Transaction, environment: str | None = None, *, retired: bool = False) -> list[Experience]:
    """The user's experience with its counts, oldest first.

    Args:
        environment: experience of this environment and promoted experience; all when None.
        retired: whether retired experience is included.
    """
    items = read_experience_items(tx, ENTRY_TYPE, removed=retired)
    uses = uses_of(read_runs(tx)) if items else {}
    learned = [experience_of(item, uses) for item in items]
    return [experience for experience in learned if environment is None or experience.environment in ("", environment)]


def retire_hurting(tx: Transaction, shown: Collection[str]) -> list[Operation]:
    """Retire those of these experiences that hurt: many runs that were shown it failed, and hardly any did their task.

    One that was retired before and restored by ``undo`` stays active: a person has decided.
    """
    operations: list[Operation] = []
    for experience in read_experience(tx):
        if (
            experience.id not in shown
            or experience.hurt < limits.RETIRE_AFTER
            or experience.hurt < 4 * experience.helped
        ):
            continue
        if any(operation.actor == ACTOR and operation.kind == "remove" for operation in history_of(tx, experience.id)):
            continue
        reason = f"{experience.hurt} of {experience.retrieved} runs that were given it failed, {experience.helped} did their task"
        operations.append(remove_item(tx, experience.id, actor=ACTOR, reason=reason))
    return operations


def retire_mistaken(tx: Transaction, run_id: str) -> list[Operation]:
    """Retire what was learned from this run alone, and undo its corrections of other experience: its outcome was
    replaced by the other one."""
    taken_back = _take_back(tx, {run_id})
    mistaken = [experience for experience in read_experience(tx) if experience.run_ids == (run_id,)]
    reason = "the outcome of the run that it was learned from was put right"
    return [*taken_back, *(remove_item(tx, experience.id, actor=ACTOR, reason=reason) for experience in mistaken)]


def _take_back(tx: Transaction, run_ids: Collection[str]) -> list[Operation]:
    """Undo the latest changes of text that came from these runs; a change that later ones build on stays."""
    operations: list[Operation] = []
    for experience in read_experience(tx):
        if len(experience.run_ids) < 2 or not set(experience.run_ids) & set(run_ids):
            continue
        last = history_of(tx, experience.id, limit=1)[0]
        if last.actor == ACTOR and last.reason == REPLACED and experience.run_ids[-1] in run_ids:
            operations += undo(tx, last.id, actor=ACTOR)
    return operations


def forget_runs(tx: Transaction, run_ids: Collection[str]) -> tuple[int, int]:
    """Delete runs physically, remove the experience that was learned from them alone, and undo their corrections.

    Returns:
        How many runs were deleted, and how many experiences removed.
    """
    deleted = set(run_ids)
    _take_back(tx, deleted)
    unsupported = [
        experience for experience in read_experience(tx) if experience.run_ids and set(experience.run_ids) <= deleted
    ]
    for experience in unsupported:
        remove_item(tx, experience.id, reason="the runs that it was learned from were forgotten")
    return delete_runs(tx, deleted), len(unsupported)
