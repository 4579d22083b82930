"""Forgetting: steps, parts of steps and items leave every read, in one operation that ``undo`` reverses."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, MemoryItem, Operation, Source, Step, Where
from hexamem.memory_types.cutting import without_parts
from hexamem.stores.ledger import (
    Transaction,
    get_items,
    get_steps,
    item_change,
    items_citing,
    record_operation,
    select_step_ids,
)
from hexamem.stores.secrets import find_references

__all__ = ["forget_records"]


def forget_records(
    tx: Transaction,
    ids: Collection[str],
    where: Where | None = None,
    parts: Mapping[str, Collection[str]] = {},
    *,
    actor: str = "user",
    reason: str = "",
) -> Operation:
    """Take records out of every read; see ``UserMemory.forget`` for the contract.

    Returns:
        The operation. Its changes are in the order of ``ids``; the items that rest on nothing else come last.
    """
    if not ids and where is None and not parts:
        raise InvalidInputError("forget what? give ids, a thread_id, where or parts (erase() erases the whole user)")
    if where is not None:
        if ids or where.empty:
            raise InvalidInputError(
                "forget either ids or the steps that meet where, which holds at least one condition"
            )
        ids = sorted(select_step_ids(tx, where))
        if not ids:
            raise NotFoundError(f"user {tx.user!r} has no steps that meet {where!r}")
    items = {one.id: one for one in get_items(tx, ids).values() if one.status != "removed"}
    steps = get_steps(tx, ids)
    cut = _without_parts(tx, {step_id: words for step_id, words in parts.items() if step_id not in steps})
    if missing := [one for one in dict.fromkeys(ids) if one not in items and one not in steps]:
        raise NotFoundError(
            f"no such step or item, or it was forgotten already: {', '.join(map(repr, missing))}; leave it out"
        )
    resting = {one.id: one for one in _resting_on(tx, steps.keys(), cut) if one.id not in items}
    return record_operation(
        tx,
        "forget",
        [
            *(_change(items.get(one) or steps[one]) for one in dict.fromkeys(ids)),
            *cut.values(),
            *map(_change, resting.values()),
        ],
        actor=actor,
        reason=reason,
    )


def _change(record: Step | MemoryItem) -> Change:
    if isinstance(record, Step):
        return Change(target="step", target_id=record.id, before={"status": "active"}, after={"status": "forgotten"})
    return item_change(record, record.changed(status="removed"))


def _without_parts(tx: Transaction, parts: Mapping[str, Collection[str]]) -> dict[str, Change]:
    """The changes that take parts out of what steps say, by step."""
    held = get_steps(tx, parts)
    if missing := sorted(parts.keys() - held.keys()):
        raise NotFoundError(f"no such step to forget a part of: {', '.join(missing)}")
    if whole := sorted(one.id for one in held.values() if not _is_plain(one)):
        raise InvalidInputError(f"a step with files, blocks or secrets is forgotten whole or not at all: {whole}")
    return {
        step_id: Change(
            target="text",
            target_id=step_id,
            before={"content": held[step_id].content},
            after={"content": without_parts(held[step_id].content, words)},
        )
        for step_id, words in sorted(parts.items())
    }


def _is_plain(step: Step) -> bool:
    """Whether a step says what it says in its text alone."""
    beside = step.blocks or step.media or step.tool_calls or step.reasoning or find_references(step.content)
    return not beside and step.index_text == step.content


def _resting_on(tx: Transaction, step_ids: Collection[str], cut: Mapping[str, Change]) -> list[MemoryItem]:
    """The items that cite nothing but these steps, words that are cut out of steps, or steps forgotten before."""
    citing = get_items(tx, items_citing(tx, {*step_ids, *cut}))
    cited = {source.step_id for item in citing.values() for source in item.sources}
    alive = get_steps(tx, cited - set(step_ids)).keys()

    def holds_on(source: Source) -> bool:
        change = cut.get(source.step_id)
        return source.step_id in alive and (change is None or source.quote in (change.after or {})["content"])

    return [
        item
        for item in citing.values()
        if item.status in ("active", "superseded") and not any(map(holds_on, item.sources))
    ]
