"""The inputs of the write path's prompts: the steps of a batch, those before it, the known items by handle, the task."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta, timezone, tzinfo

from hexamem.agents.contract import Batch, BatchStep, Instruction
from hexamem.agents.labelling.task import abridged, thread, who
from hexamem.agents.managers.reading import Reading
from hexamem.memory_types import VaultItem
from hexamem.memory_types.coarse_dates import PRECISION, Precision, precision_of, shown_date

__all__ = ["shown_before", "shown_items", "shown_steps", "shown_task"]

_LONGEST_STEP, _ENDING = 4_000, 800  # characters; of a longer step the beginning and the ending are shown
_CUT_MARK = " …[cut]… "
_LONGEST_BEFORE, _LONGEST_FIELD = 240, 300  # characters
_MOST_PARTS, _LONGEST_PART = 12, 80  # of a field that is a list: parts, characters of each


def shown_steps(batch: Batch, notes: Mapping[str, str] | None = None) -> str:
    """The steps, numbered from 1, each with its local time and weekday, its speaker, and its text with references resolved.

    Labels are left out: the embedded ones have names of single words, which mislead a model.

    Args:
        notes: step id → a line below the step.
    """
    lines: list[str] = []
    for number, labelled in enumerate(batch.steps, 1):
        step, resolved = labelled.step, labelled.resolved_text
        lines.append(f"[{number}] {_head(labelled, batch)}")
        text = step.index_text if step.index_text.strip() else step.content
        lines += [f"| {line}" for line in _cut(text).splitlines() if line.strip()]
        if resolved.strip() and resolved not in (text, step.content) and len(resolved) <= _LONGEST_STEP:
            lines.append(f"meant: {abridged(resolved, _LONGEST_STEP)}")
        if notes and step.id in notes:
            lines.append(notes[step.id])
    return "\n".join(lines)


def shown_before(batch: Batch) -> str:
    """The steps before the batch, shortened: context, from which nothing is extracted."""
    lines = []
    for labelled in batch.before:
        text = abridged(labelled.resolved_text or labelled.step.index_text, _LONGEST_BEFORE)
        lines.append(f"{_head(labelled, batch)}: {text}")
    return "\n".join(lines) or "none: the talk begins here"


def shown_items(reading: Reading, only: Collection[str] | None = None) -> str:
    """The known items in the input of a manager, one line each: handle, start of validity, fields.

    Args:
        only: the ids of the items to list; None for all.
    """
    lines = []
    zone = reading.batch.zone
    for handle, item_id in reading.handles.items():
        if only is not None and item_id not in only:
            continue
        item = reading.known[item_id]
        precision = precision_of(item.metadata.get(PRECISION))
        since = f" (since {_day(item.valid_from, zone, precision)})" if item.valid_from else ""
        values = [
            (name, _time(value, zone, precision) if isinstance(value, datetime) else value)
            for name in reading.form.shown
            if (value := getattr(item, name, None))
        ]
        values.append(("slot", item.metadata.get("slot")))
        if isinstance(item, VaultItem) and item.secret_id:
            values.append(("secret", f"{{{{vault:{item.secret_id}}}}}"))
        fields = "; ".join(f"{name}: {_value(value)}" for name, value in values if value)
        lines.append(f"{handle}{since} {fields}")
    return "\n".join(lines) or ("none yet" if only is None else "nothing is known of it")


def shown_task(batch: Batch, instruction: Instruction) -> str:
    """The instruction of the meta-manager, in one or two lines."""
    chosen = [str(number) for number, labelled in enumerate(batch.steps, 1) if labelled.step.id in instruction.step_ids]
    where = f"Look above all at step{'s' if len(chosen) > 1 else ''} {', '.join(chosen)}." if chosen else ""
    return "\n".join(part for part in (abridged(instruction.task, 400), where) if part) or "Look at all steps."


def _head(labelled: BatchStep, batch: Batch) -> str:
    step = labelled.step
    # The day of a step is that of the speaker's clock, if the message has its UTC offset.
    offset = step.offset_minutes
    local = step.occurred_at.astimezone(timezone(timedelta(minutes=offset)) if offset else batch.zone)
    threads = (other.step.thread_id for other in (*batch.before, *batch.steps))
    return f"{local:%a %Y-%m-%d %H:%M} {thread(step.thread_id, threads)}{who(step)}"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_STEP:
        return text
    return f"{text[: _LONGEST_STEP - _ENDING]}{_CUT_MARK}{text[-_ENDING:]}"


def _day(moment: datetime, zone: tzinfo, precision: Precision | None) -> str:
    return shown_date(moment.astimezone(zone), precision)


def _time(moment: datetime, zone: tzinfo, precision: Precision | None) -> str:
    local = moment.astimezone(zone)
    day = _day(moment, zone, precision)
    return day if precision is not None or (local.hour, local.minute) == (0, 0) else f"{day} {local:%H:%M}"


def _value(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " / ".join(abridged(str(part), _LONGEST_PART) for part in value[:_MOST_PARTS])
    return abridged(str(value), _LONGEST_FIELD)
