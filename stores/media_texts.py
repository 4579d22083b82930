"""Descriptions of pictures and transcripts of recordings: the jobs for them, and where their texts are stored.

A job (``describe``, ``transcribe``) is enqueued in the transaction that stores the media. Without a model for images or
audio it is never due (:data:`NEVER`), so that nothing waits for it; opening a memory with such a model makes it due.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import func, select, update

from hexamem.memory_types import Change, Media, ResourceItem, Source, Step, utc_now
from hexamem.memory_types.operations import ItemOperation
from hexamem.stores.ledger import Ledger, Transaction, get_items, get_steps, item_change, items_citing, record_operation
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.schema import jobs, steps

__all__ = [
    "FILE_KINDS",
    "MEDIA_JOBS",
    "NEVER",
    "count_waiting",
    "enqueue_item",
    "enqueue_steps",
    "make_due",
    "store_media_text",
]

MediaJob = Literal["describe", "transcribe"]
MEDIA_JOBS: tuple[MediaJob, ...] = ("describe", "transcribe")
FILE_KINDS: dict[str, MediaJob] = {"image": "describe", "audio": "transcribe"}
"""Kind of media → the job that makes a text of it."""
NEVER = datetime(9000, 1, 1, tzinfo=UTC)


def enqueue_steps(tx: Transaction, new: Sequence[Step], ready: Collection[str]) -> None:
    """Enqueue jobs for the pictures and recordings of new steps that have no text and whose bytes are stored."""
    for step in new:
        for position, media in enumerate(step.media):
            if (kind := job_for(media)) is not None:
                due = None if kind in ready else NEVER
                enqueue(tx, kind, {"step": step.id, "media": position}, key=f"{step.id}.{position}", due_at=due)


def enqueue_item(tx: Transaction, item: ResourceItem, ready: Collection[str]) -> None:
    """Enqueue the job for a picture or recording that was added as a file."""
    kind = FILE_KINDS[item.resource_type]
    enqueue(tx, kind, {"item": item.id}, key=item.id, due_at=None if kind in ready else NEVER)


def job_for(media: Media) -> MediaJob | None:
    """The job for the text of the media; None where it has a text, or no bytes."""
    text = media.caption if media.kind == "image" else media.transcript
    return FILE_KINDS.get(media.kind) if media.sha256 is not None and not text else None


def make_due(ledger: Ledger, kinds: Collection[str]) -> None:
    """Make the jobs of all users due that waited for a model."""
    waits = jobs.c.kind.in_(sorted(kinds)) & (jobs.c.status == "waiting") & (jobs.c.due_at >= NEVER)
    with ledger.connect() as connection:
        if connection.execute(select(jobs.c.id).where(waits).limit(1)).first() is None:
            return
    with ledger.connect(write=True) as connection:
        connection.execute(update(jobs).where(waits).values(due_at=utc_now()))


def count_waiting(ledger: Ledger) -> dict[str, int]:
    """How many media wait for a model for images or audio, by kind of job."""
    waits = jobs.c.kind.in_(MEDIA_JOBS) & (jobs.c.status == "waiting") & (jobs.c.due_at >= NEVER)
    statement = select(jobs.c.kind, func.count()).where(waits).group_by(jobs.c.kind)
    with ledger.connect() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(statement)}


def store_media_text(tx: Transaction, step_id: str, position: int, text: str, actor: str) -> ResourceItem | None:
    """Store the text of a picture or recording in its step, to be searched, and in a resource item that cites the step.

    Returns:
        The item; None if the step was forgotten or erased, or the media has a text already.
    """
    step = get_steps(tx, [step_id]).get(step_id)
    if step is None or position >= len(step.media) or job_for(step.media[position]) is None:
        return None
    media = step.media[position]
    described = media.changed(**{"caption" if media.kind == "image" else "transcript": text})
    all_media = [described if number == position else other for number, other in enumerate(step.media)]
    index_text = f"{step.index_text}\n{text}" if step.index_text else text
    tx.update(
        steps,
        step_id,
        media=[described.model_dump(mode="json", exclude_none=True) for described in all_media],
        index_text=None if index_text == step.content else index_text,
        change=tx.next_change(),
    )
    noun = "Picture" if media.kind == "image" else "Recording"
    title = media.name or f"{noun} from {step.speaker}"
    metadata = {"media": {"sha256": media.sha256, "mime_type": media.mime_type, "name": media.name}}
    old = _item_without_text(tx, step_id, media)
    if old is not None:
        metadata = {**old.metadata, **metadata}
        item = old.changed(content=text, resource_type=media.kind, version=old.version + 1, metadata=metadata)
    else:
        item = ResourceItem(
            user=tx.user,
            title=title,
            resource_type=media.kind,
            content=text,
            valid_from=step.occurred_at,
            sources=(Source(step_id=step_id),),
            metadata=metadata,
        )
    # The step is a part of the operation, so that the operation is in the step's history.
    unchanged = Change(target="step", target_id=step_id, before={"status": step.status}, after={"status": step.status})
    reason = "a picture was described" if media.kind == "image" else "a recording was transcribed"
    kind: ItemOperation = "add" if old is None else "update"
    record_operation(tx, kind, [item_change(old, item), unchanged], actor=actor, reason=reason)
    return item


def _item_without_text(tx: Transaction, step_id: str, media: Media) -> ResourceItem | None:
    """The item that was made of a picture or recording of a step before it had a text, found by its name."""
    for item in get_items(tx, items_citing(tx, [step_id])).values():
        if isinstance(item, ResourceItem) and item.status == "active" and item.title == media.name:
            return item if item.content in ("", media.name, media.url) else None
    return None
