"""Forgetting: hiding steps, parts of steps and items from every read, in one operation that ``undo`` reverses."""

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
    """Hide records from every read; see ``UserMemory.forget`` for the contract.

    Returns:
        The operation. Its changes are in the order of ``ids``; items without any other source come last.
    """
    if not ids and where is None and not parts:
        raise InvalidInputError("forget what? pass ids, a thread_id, where or parts (erase() erases the whole user)")
    if where is not None:
        if ids or where.empty:
            raise InvalidInputError(
                "forget either ids or the steps that match where, which needs at least one condition"
            )
        ids = sorted(select_step_ids(tx, where))
        if not ids:
            raise NotFoundError(f"user {tx.user!r} has no steps that match {where!r}")
    items = {item_id: item for item_id, item in get_items(tx, ids).items() if item.status != "removed"}
    steps = get_steps(tx, ids)
    cut = _without_parts(tx, {step_id: words for step_id, words in parts.items() if step_id not in steps})
    if missing := [record_id for record_id in dict.fromkeys(ids) if record_id not in items and record_id not in steps]:
        raise NotFoundError(
            f"no such step or item, or it was forgotten already: {', '.join(map(repr, missing))}; leave it out"
        )
    without_source = [item for item in _without_other_source(tx, steps.keys(), cut) if item.id not in items]
    return record_operation(
        tx,
        "forget",
        [
            *(_change(items.get(record_id) or steps[record_id]) for record_id in dict.fromkeys(ids)),
            *cut.values(),
            *map(_change, without_source),
        ],
        actor=actor,
        reason=reason,
    )


def _change(record: Step | MemoryItem) -> Change:
    if isinstance(record, Step):
        return Change(target="step", target_id=record.id, before={"status": "active"}, after={"status": "forgotten"})
    return item_change(record, record.changed(status="removed"))


def _without_parts(tx: Transaction, parts: Mapping[str, Collection[str]]) -> dict[str, Change]:
    """The changes that remove parts of the contents of steps, by step."""
    steps = get_steps(tx, parts)
    if missing := sorted(parts.keys() - steps.keys()):
        raise NotFoundError(f"no such step to forget a part of: {', '.join(missing)}")
    if whole := sorted(step.id for step in steps.values() if not _is_plain(step)):
        raise InvalidInputError(
            f"parts of steps with files, blocks or secrets cannot be forgotten: {', '.join(whole)}; forget the steps"
        )
    return {
        step_id: Change(
            target="text",
            target_id=step_id,
            before={"content": steps[step_id].content},
            after={"content": without_parts(steps[step_id].content, words)},
        )
        for step_id, words in sorted(parts.items())
    }


def _is_plain(step: Step) -> bool:
    """Whether a step consists of its text alone."""
    more = step.blocks or step.media or step.tool_calls or step.reasoning or find_references(step.content)
    return not more and step.index_text == step.content


def _without_other_source(tx: Transaction, step_ids: Collection[str], cut: Mapping[str, Change]) -> list[MemoryItem]:
    """The items that cite nothing but these steps, quotes removed from steps, and steps forgotten before."""
    citing = get_items(tx, items_citing(tx, {*step_ids, *cut}))
    cited = {source.step_id for item in citing.values() for source in item.sources}
    remaining = get_steps(tx, cited - set(step_ids)).keys()

    def remains(source: Source) -> bool:
        change = cut.get(source.step_id)
        return source.step_id in remaining and (change is None or source.quote in (change.after or {})["content"])

    return [
        item
        for item in citing.values()
        if item.status in ("active", "superseded") and not any(map(remains, item.sources))
    ]
