"""What the write path's models are shown: the steps of a batch, what came before, and the known items by handle."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, timezone, tzinfo

from hexamem.agents.contract import Batch, BatchStep, Instruction
from hexamem.agents.labelling.task import abridged, thread, who
from hexamem.agents.managers.reading import Reading
from hexamem.memory_types.cutting import trimmed

__all__ = ["shown_before", "shown_items", "shown_steps", "shown_task"]

_LONGEST, _ENDING = 4_000, 800
_CUT = " …[cut]… "
_BEFORE_TEXT = 240
_FIELD_TEXT, _LIST_SHOWN = 300, 12


def shown_steps(batch: Batch, notes: Mapping[str, str] | None = None) -> str:
    """The steps, numbered from 1, with the user's local time and weekday, who said it, and what its references mean.

    Labels are not shown: the embedded ones are named by single words, which mislead more than they tell.

    Args:
        notes: step id → a line to stand below it.
    """
    lines: list[str] = []
    for number, one in enumerate(batch.steps, 1):
        lines.append(f"[{number}] {_head(one, batch)}")
        text = one.step.index_text if one.step.index_text.strip() else one.step.content
        lines += [f"| {line}" for line in _cut(trimmed(text)).splitlines() if line.strip()]
        resolved = one.resolved_text
        if resolved.strip() and resolved not in (text, one.step.content) and len(resolved) <= _LONGEST:
            lines.append(f"meant: {abridged(resolved, _LONGEST)}")
        if notes and one.step.id in notes:
            lines.append(notes[one.step.id])
    return "\n".join(lines)


def shown_before(batch: Batch) -> str:
    """The steps before the batch, shortened: they help to understand, nothing is learned from them."""
    lines = []
    for one in batch.before:
        text = abridged(one.resolved_text or one.step.index_text, _BEFORE_TEXT)
        lines.append(f"{_head(one, batch)}: {text}")
    return "\n".join(lines) or "none: the talk begins here"


def shown_items(reading: Reading, only: Collection[str] | None = None) -> str:
    """The known items that a manager is shown, one line each: handle, since when it is valid, its fields.

    Args:
        only: the ids of those to show; all when None.
    """
    lines = []
    zone = reading.batch.zone
    for handle, item_id in reading.handles.items():
        if only is not None and item_id not in only:
            continue
        item = reading.known[item_id]
        since = f" (since {item.valid_from.astimezone(zone):%Y-%m-%d})" if item.valid_from else ""
        values = [(name, getattr(item, name, None)) for name in reading.form.shown]
        values.append(("slot", item.metadata.get("slot")))
        fields = "; ".join(f"{name}: {_value(value, zone)}" for name, value in values if value)
        lines.append(f"{handle}{since} {fields}")
    return "\n".join(lines) or ("none yet" if only is None else "nothing is known of it")


def shown_task(batch: Batch, instruction: Instruction) -> str:
    """What the meta-manager asked for, in one line or two."""
    chosen = [str(number) for number, one in enumerate(batch.steps, 1) if one.step.id in instruction.step_ids]
    where = f"Look above all at step{'s' if len(chosen) > 1 else ''} {', '.join(chosen)}." if chosen else ""
    told = "\n".join(part for part in (abridged(instruction.task, 400), where) if part)
    return told or "Look at all steps."


def _head(one: BatchStep, batch: Batch) -> str:
    # The day on which it was said is that of the speaker's clock, where the message told it.
    offset = one.step.offset_minutes
    local = one.step.occurred_at.astimezone(timezone(timedelta(minutes=offset)) if offset else batch.zone)
    threads = (step.step.thread_id for step in (*batch.before, *batch.steps))
    return f"{local:%a %Y-%m-%d %H:%M} {thread(one.step.thread_id, threads)}{who(one.step)}"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _ENDING]}{_CUT}{text[-_ENDING:]}"


def _value(value: object, zone: tzinfo) -> str:
    if isinstance(value, datetime):
        local = value.astimezone(zone)
        return local.strftime("%Y-%m-%d" if (local.hour, local.minute) == (0, 0) else "%Y-%m-%d %H:%M")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " / ".join(abridged(str(one), 80) for one in value[:_LIST_SHOWN])
    return abridged(str(value), _FIELD_TEXT)
