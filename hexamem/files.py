"""Files and media: the implementation of ``UserMemory.add_file``, and the jobs that describe pictures and recordings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hexamem.arguments import check_texts
from hexamem.background import JobContext, JobError, JobHandlers, JobOutcome
from hexamem.errors import ConfigError, HexamemError, InvalidInputError, NotFoundError
from hexamem.home import Home
from hexamem.memory_types import ResourceItem
from hexamem.memory_types.files import ReadFile
from hexamem.stores.changing import edit_item
from hexamem.stores.file_readers import read_data
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import Transaction, get_items, get_steps, user_key
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.media_texts import FILE_KINDS, MEDIA_JOBS, NEVER, job_for, make_due, store_media_text

MediaReader = Callable[[bytes, str], str]
"""``(data, mime_type) -> text``: describes a picture or transcribes a recording.

If it raises, the job is retried, and parked after the last attempt.
"""


class MediaReaders:
    """The functions that describe pictures and transcribe recordings, and the jobs of a home that call them."""

    def __init__(
        self,
        home: Home,
        handlers: JobHandlers,
        wrote: Callable[[str], object],
        *,
        describe: MediaReader | None,
        transcribe: MediaReader | None,
    ) -> None:
        self._home, self._wrote = home, wrote
        self._readers: dict[str, MediaReader] = {}
        for kind, reader in (("describe", describe), ("transcribe", transcribe)):
            check_reader(reader, kind, ConfigError)
            if reader is not None:
                self._readers[kind] = reader
        self.ready = frozenset(self._readers)
        for kind in MEDIA_JOBS:
            handlers.register(kind, self.run)
        if self.ready:
            make_due(home.ledger, self.ready)

    def run(self, job: JobContext) -> JobOutcome:
        """Describe one picture or recording; the text and the end of the job are one transaction."""
        reader = self._readers.get(job.kind)
        if reader is None:  # queued by a memory that had one
            with job.write() as tx:
                job.complete(tx)
                enqueue(tx, job.kind, job.payload, due_at=NEVER)
            return JobOutcome.done()
        media = self._media(job)
        if media is None:
            return JobOutcome.done()
        sha256, mime_type = media
        try:
            data = self._home.media.get(user_key(job.user_name), sha256)
        except NotFoundError:
            return JobOutcome.done()  # erased or redacted since
        text = _checked_text(reader(data, mime_type), job.kind)
        with job.write() as tx:
            (text,) = self._home.redacted(tx, *replace_known(tx, self._home.cipher, [text]))
            if "step" in job.payload:
                store_media_text(tx, job.payload["step"], job.payload["media"], text, job.kind)
            elif _without_text(tx, job.payload["item"]) is not None:
                edit_item(tx, job.payload["item"], {"content": text}, self._home.cipher, actor=job.kind, find=False)
            job.complete(tx)
        self._wrote(job.user_name)
        return JobOutcome.done()

    def _media(self, job: JobContext) -> tuple[str, str] | None:
        """The hash and MIME type of the job's picture or recording, if it still has no text."""
        with self._home.ledger.read(job.user_name) as tx:
            if "item" in job.payload:
                item = _without_text(tx, job.payload["item"])
                file = item.metadata.get("file", {}) if item is not None else {}
                return (file["sha256"], file["mime_type"]) if file.get("sha256") else None
            step = get_steps(tx, [job.payload["step"]]).get(job.payload["step"])
            position = job.payload["media"]
            media = step.media[position] if step is not None and position < len(step.media) else None
            if media is None or media.sha256 is None or job_for(media) is None:
                return None
            return media.sha256, media.mime_type or "application/octet-stream"


def _without_text(tx: Transaction, item_id: str) -> ResourceItem | None:
    item = get_items(tx, [item_id]).get(item_id)
    return item if isinstance(item, ResourceItem) and item.status == "active" and not item.content else None


def check_reader(reader: object, name: str, error: type[HexamemError] = InvalidInputError) -> None:
    """Raise ``error`` unless the reader is None or callable."""
    if reader is not None and not callable(reader):
        raise error(f"{name} = {reader!r} cannot be called: pass a function of bytes and MIME type that returns text")


def _checked_text(text: object, kind: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise JobError(f"the {kind} function returned {'no text' if isinstance(text, str) else type(text).__name__}")
    return text.replace("\0", "").strip()


def read_file(data: bytes, name: str, max_bytes: int, readers: Mapping[str, MediaReader | None]) -> ReadFile:
    """A file with its text; of a picture or recording with the result of a call's own reader, by the kind of job."""
    for kind, given in readers.items():
        check_reader(given, kind)
    read = read_data(data, name, max_bytes=max_bytes)
    reader = readers.get(FILE_KINDS.get(read.resource_type, ""))
    if reader is None:
        return read
    try:
        return read.changed(content=_checked_text(reader(data, read.mime_type), FILE_KINDS[read.resource_type]))
    except JobError as error:
        raise InvalidInputError(f"{name}: {error}") from None


def tree_levels(place: Path, root: str | os.PathLike[str] | None, tree_path: Sequence[str] | None) -> tuple[str, ...]:
    """The categories of a file: ``tree_path``, or the folders between ``root`` and the file."""
    if tree_path is not None:
        if root is not None:
            raise InvalidInputError("root and tree_path exclude each other; pass one of them")
        return tuple(check_texts(tree_path, "tree_path"))
    if root is None:
        return ()
    if not isinstance(root, str | os.PathLike):
        raise InvalidInputError(f"root = {root!r} is of type {type(root).__name__}; pass the path of a folder")
    try:
        return Path(os.path.abspath(place)).parent.relative_to(os.path.abspath(root)).parts
    except ValueError:
        raise InvalidInputError(f"root = {str(root)!r} is not a folder above {place}") from None
