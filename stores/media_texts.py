"""Pictures and recordings put into words: which wait for it, and where the words go.

The work is a job in the ledger (``describe``, ``transcribe``), made in the transaction that stores the media. Where no
model can see or hear, it is due at no time (:data:`NEVER`), so nobody waits for it; a memory that is opened with such
a model makes it due.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import func, select, update

from hexamem.memory_types import Change, Media, ResourceItem, Source, Step, utc_now
from hexamem.memory_types.operations import ItemOperation
from hexamem.stores.ledger import Ledger, Transaction, get_items, get_steps, item_change, items_citing, record_operation
from hexamem.stores.ledger.engine import plain_errors
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
    "put_words",
]

MediaJob = Literal["describe", "transcribe"]
MEDIA_JOBS: tuple[MediaJob, ...] = ("describe", "transcribe")
FILE_KINDS: dict[str, MediaJob] = {"image": "describe", "audio": "transcribe"}
"""The job that puts media of a kind into words."""
NEVER = datetime(9000, 1, 1, tzinfo=UTC)


def enqueue_steps(tx: Transaction, new: Sequence[Step], ready: Collection[str]) -> None:
    """Ask for words for the pictures and recordings of new steps that have none and whose bytes are kept."""
    for step in new:
        for position, media in enumerate(step.media):
            if (kind := job_for(media)) is not None:
                due = None if kind in ready else NEVER
                enqueue(tx, kind, {"step": step.id, "media": position}, key=f"{step.id}.{position}", due_at=due)


def enqueue_item(tx: Transaction, item: ResourceItem, ready: Collection[str]) -> None:
    """Ask for words for a picture or recording that was added as a file."""
    kind = FILE_KINDS[item.resource_type]
    enqueue(tx, kind, {"item": item.id}, key=item.id, due_at=None if kind in ready else NEVER)


def job_for(media: Media) -> MediaJob | None:
    """The job that would put the media into words; None where there are words, or no bytes."""
    words = media.caption if media.kind == "image" else media.transcript
    return FILE_KINDS.get(media.kind) if media.sha256 is not None and not words else None


def make_due(ledger: Ledger, kinds: Collection[str]) -> None:
    """Make the jobs due that waited for a model, of all users."""
    waits = jobs.c.kind.in_(sorted(kinds)) & (jobs.c.status == "waiting") & (jobs.c.due_at >= NEVER)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        if connection.execute(select(jobs.c.id).where(waits).limit(1)).first() is None:
            return
    writer = ledger.engine.execution_options(hexamem_write=True)
    with plain_errors(ledger.place), writer.connect() as connection, connection.begin():
        connection.execute(update(jobs).where(waits).values(due_at=utc_now()))


def count_waiting(ledger: Ledger) -> dict[str, int]:
    """How many media wait for a model that can see or hear, by kind of job."""
    waits = jobs.c.kind.in_(MEDIA_JOBS) & (jobs.c.status == "waiting") & (jobs.c.due_at >= NEVER)
    found = select(jobs.c.kind, func.count()).where(waits).group_by(jobs.c.kind)
    with plain_errors(ledger.place), ledger.engine.connect() as connection:
        return {row[0]: int(row[1]) for row in connection.execute(found)}


def put_words(tx: Transaction, step_id: str, position: int, words: str, actor: str) -> ResourceItem | None:
    """Write the words of a picture or recording into its step, to be searched, and into a resource item that cites it.

    Returns:
        The item; None if the step was forgotten or erased, or has such words already.
    """
    step = get_steps(tx, [step_id]).get(step_id)
    if step is None or position >= len(step.media) or job_for(step.media[position]) is None:
        return None
    media = step.media[position]
    told = media.changed(**{"caption" if media.kind == "image" else "transcript": words})
    all_media = [told if number == position else one for number, one in enumerate(step.media)]
    index_text = f"{step.index_text}\n{words}" if step.index_text else words
    tx.connection.execute(
        update(steps)
        .where(steps.c.user_id == tx.user_id, steps.c.id == step_id)
        .values(
            media=[one.model_dump(mode="json", exclude_none=True) for one in all_media],
            index_text=None if index_text == step.content else index_text,
            change=tx.next_change(),
        )
    )
    noun = "Picture" if media.kind == "image" else "Recording"
    title = media.name or f"{noun} from {step.speaker}"
    about = {"media": {"sha256": media.sha256, "mime_type": media.mime_type, "name": media.name}}
    old = _without_words(tx, step_id, media)
    if old is not None:
        metadata = {**old.metadata, **about}
        item = old.changed(content=words, resource_type=media.kind, metadata=metadata, version=old.version + 1)
    else:
        item = ResourceItem(
            user=tx.user,
            title=title,
            resource_type=media.kind,
            content=words,
            valid_from=step.occurred_at,
            sources=(Source(step_id=step_id),),
            metadata=about,
        )
    # The step stands in the operation, so that its history tells.
    as_before = Change(target="step", target_id=step_id, before={"status": step.status}, after={"status": step.status})
    reason = "a picture was described" if media.kind == "image" else "a recording was transcribed"
    kind: ItemOperation = "add" if old is None else "update"
    record_operation(tx, kind, [item_change(old, item), as_before], actor=actor, reason=reason)
    return item


def _without_words(tx: Transaction, step_id: str, media: Media) -> ResourceItem | None:
    """The item that was made of a picture or recording of a step, by its name, before there were words for it."""
    for item in get_items(tx, items_citing(tx, [step_id])).values():
        if isinstance(item, ResourceItem) and item.status == "active" and item.title == media.name:
            return item if item.content in ("", media.name, media.url) else None
    return None
