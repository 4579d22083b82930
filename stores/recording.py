"""The first step of every write: secrets are replaced, then the messages are appended to the ledger as steps.

When :func:`record` returns they are acknowledged: they survive a killed process, and the next recall finds them.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

from sqlalchemy import and_, select

from hexamem.memory_types import Media, Remembered, Source, Step, ToolCall, VaultItem, utc_now
from hexamem.memory_types.base import new_ids
from hexamem.memory_types.local_time import offset_minutes
from hexamem.memory_types.messages import MediaDraft, MessageDraft
from hexamem.memory_types.times import read_zone
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import (
    Arrival,
    Ledger,
    Transaction,
    append_steps,
    get_steps,
    known_messages,
    last_message,
    next_turn,
)
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.schema import changes, files, operations, steps
from hexamem.stores.ledger.steps import LastMessage
from hexamem.stores.media import MediaStore, adding_before, stored_files, text_of
from hexamem.stores.media_texts import enqueue_steps
from hexamem.stores.redaction import MAX_ANSWER, Redactor, strings_in
from hexamem.stores.secrets import Cipher, SecretSpan, find_references
from hexamem.stores.vault_writes import StagedSecrets, add_vault_items, vault_items

__all__ = ["record"]

_SHORT = 8_000  # characters

_Clean = Callable[[Any], Any]
_Files = dict[str, tuple[bytes, dict[str, Any]]]
"""SHA-256 of a file → its bytes, and its columns in the table ``files``."""


def record(
    ledger: Ledger,
    user: str,
    drafts: Sequence[MessageDraft],
    *,
    timezone: str,
    thread_id: str,
    agent_id: str | None,
    metadata: Mapping[str, Any],
    cipher: Cipher,
    media: MediaStore,
    find: bool = True,
    ready: Collection[str] = (),
    also: Callable[[Transaction], object] = lambda tx: None,
) -> Remembered:
    """Append messages to a thread: when this returns they are acknowledged.

    A message whose id the thread contains already is not stored again. A message without a time gets the current one,
    with the offset of the user's timezone.
    Names by which a host finds its records again (ids of thread, message, agent, tool call, file) are stored unchanged.

    Secrets are searched for, and files written, before the transaction, so that it blocks other writers for a short time
    only; a text file, in which a secret may occur, is written in it.

    Args:
        ready: the kinds of job that put media into words here; media of another kind wait.
        also: writes more in the transaction that stores the messages.
    """
    call = _Call(user, drafts, thread_id, agent_id, metadata, cipher, find, read_zone(timezone))
    with adding_before(media, ledger, user) as put:
        for data in call.binary_files:
            put(data)
        if not call.short:
            with ledger.read(user) as tx:
                call.find_known(tx)
        with ledger.write(user, timezone=timezone) as tx:
            if call.short:  # faster than a second transaction
                call.find_known(tx)
            receipt = call.write(tx, put, ready)
            also(tx)
            return receipt


class _Call:
    """The messages of a call: scanned for secrets when made, then written as steps.

    Attributes:
        binary_files: the bytes of media that are no text.
        short: whether the secrets of the vault are found in it quickly.
    """

    def __init__(
        self,
        user: str,
        drafts: Sequence[MessageDraft],
        thread_id: str,
        agent_id: str | None,
        metadata: Mapping[str, Any],
        cipher: Cipher,
        find: bool,
        zone: tzinfo,
    ) -> None:
        self._user, self._drafts, self._cipher, self._find = user, drafts, cipher, find
        self._offset = offset_minutes(utc_now(), zone)
        self._thread_id, self._agent_id, self._metadata = thread_id, agent_id, metadata
        self._staged = StagedSecrets(cipher, user)
        self._redactor = Redactor(self._staged.stage, find)
        self.binary_files = [
            media.data
            for draft in drafts
            for media in draft.media
            if media.data is not None and text_of(media.data, media.mime_type)[0] is None
        ]
        self._texts = [_texts(draft) for draft in drafts]
        self._strings = strings_in([metadata, *self._texts])
        self.short = sum(map(len, self._strings)) <= _SHORT
        self._found: Mapping[str, SecretSpan] = {}
        self._files: _Files = {}
        self._redactor.read([draft.text for draft in drafts], _questions(drafts))
        shared = self._redactor.scan(metadata)
        self._secrets = [shared | self._redactor.scan(texts) for texts in self._texts]

    def find_known(self, tx: Transaction) -> None:
        """Find secrets of the vault in the messages, and a secret that the first message gives as an answer."""
        if self._find:
            first = self._drafts[0] if self._drafts else None
            asked = last_message(tx, self._thread_id) if first and len(first.text) <= MAX_ANSWER else None
            if first and asked and _may_answer(first, asked):
                self._secrets[0] |= self._redactor.scan_answer(first.text, asked.text)
            self._found = find_known(tx, self._cipher, self._strings)
            self._redactor.add_known(self._found)

    def write(self, tx: Transaction, put: Callable[[bytes], str], ready: Collection[str]) -> Remembered:
        """Append the messages that the thread does not contain yet, without secrets; called once."""
        self._staged.look_up(tx, frozenset(self._found).union(*self._secrets))
        message_ids = [draft.message_id for draft in self._drafts if draft.message_id is not None]
        known = known_messages(tx, self._thread_id, message_ids)
        contents = {step.id: step.content for step in get_steps(tx, set(known.values()), forgotten=True).values()}
        step_of = dict(known)
        fresh = new_ids("step", len(self._drafts))
        ids: list[str] = []
        repeated: list[str] = []
        steps: list[Step] = []  # without turn, seq and time of arrival
        timed: set[str] = set()
        degraded: list[str] = []
        for draft, near in zip(self._drafts, self._secrets, strict=True):
            clean = partial(self._redactor.clean, near=near)
            if draft.message_id is not None and draft.message_id in step_of:
                step_id = step_of[draft.message_id]
                repeated.append(step_id)
                ids.append(step_id)
                if clean(draft.text) != contents[step_id]:
                    degraded.append(
                        f"message id {draft.message_id!r} came again with another text, which was not stored: "
                        "an id identifies one message, so give a changed message an id of its own"
                    )
                continue
            degraded.extend(clean(draft.degraded))
            step = self._step(next(fresh), draft, clean)
            contents[step.id] = step.content
            if draft.message_id is not None:
                step_of[draft.message_id] = step.id
            if draft.occurred_at is not None:
                timed.add(step.id)
            steps.append(step)
            ids.append(step.id)
        now = utc_now()
        self._write_files(tx, put, now)
        self._staged.write(tx)
        if steps:
            turn, seq = next_turn(tx, self._thread_id), tx.next_change(len(steps))
            append_steps(tx, steps, Arrival(turn, seq, now, frozenset(timed)))
            enqueue_steps(tx, steps, ready)
        add_vault_items(tx, _vault_items(self._user, self._staged, steps), created_at=now)
        return Remembered(
            step_ids=tuple(ids),
            repeated=tuple(repeated),
            secrets=tuple(dict.fromkeys(self._redactor.replaced.values())),
            degraded=(*degraded, *_forgotten(tx, known)),
        )

    def _write_files(self, tx: Transaction, put: Callable[[bytes], str], now: datetime) -> None:
        stored = stored_files(tx) if self._files else set()
        for sha256, (data, row) in self._files.items():
            put(data)  # a cleanup may have deleted it since
            if sha256 not in stored:
                tx.connection.execute(files.insert().values(user_id=tx.user_id, sha256=sha256, created_at=now, **row))

    def _step(self, step_id: str, draft: MessageDraft, clean: _Clean) -> Step:
        moment, now = draft.occurred_at, utc_now()
        stored = [_without_secrets(media, clean) for media in draft.media]
        # The secret could be guessed from the hash of a text file that contained it: the new hash replaces it everywhere.
        renamed = {
            media.sha256: hashlib.sha256(data).hexdigest()
            for media, data in zip(draft.media, stored, strict=True)
            if media.sha256 is not None and data is not None and data is not media.data
        }
        return Step.of_fields(
            id=step_id,
            user=self._user,
            thread_id=self._thread_id,
            turn=0,
            seq=0,
            role=draft.role,
            name=clean(draft.name),
            content=clean(draft.text),
            blocks=_renamed(clean(draft.blocks), renamed) if renamed else clean(draft.blocks),
            reasoning=clean(draft.reasoning),
            tool_calls=tuple(
                [
                    ToolCall(id=call.id, name=clean(call.name), arguments=clean(call.arguments))
                    for call in draft.tool_calls
                ]
            ),
            tool_call_id=draft.tool_call_id,
            media=tuple(
                [_media(media, data, clean, self._files) for media, data in zip(draft.media, stored, strict=True)]
            ),
            index_text=clean(draft.index_text),
            message_id=draft.message_id,
            agent_id=self._agent_id,
            occurred_at=moment.utc if moment else now,
            offset_minutes=moment.offset_minutes if moment else self._offset,
            created_at=now,
            status="active",
            metadata=clean({**self._metadata, **draft.metadata}),
        )


def _questions(drafts: Sequence[MessageDraft]) -> list[str]:
    """For each message the text before it that it may answer, or an empty text."""
    asked = (before.text if _may_answer(draft, before) else "" for before, draft in itertools.pairwise(drafts))
    return ["", *asked][: len(drafts)]


def _may_answer(draft: MessageDraft, before: MessageDraft | LastMessage) -> bool:
    return len(draft.text) <= MAX_ANSWER and (draft.role, draft.name) != (before.role, before.name)


def _forgotten(tx: Transaction, known: Mapping[str, str]) -> list[str]:
    """One line for each operation that forgot messages which were sent again now. They stay forgotten.

    A host that sends its whole history each time must not undo what its user asked for.
    """
    message_of = {step_id: message_id for message_id, step_id in known.items()}
    last: dict[str, str] = {}
    of_step = and_(steps.c.user_id == changes.c.user_id, steps.c.id == changes.c.target_id)
    of_operation = and_(operations.c.user_id == changes.c.user_id, operations.c.id == changes.c.operation_id)
    base = select(steps.c.id, operations.c.id.label("operation"), changes.c.after).select_from(
        changes.join(steps, of_step).join(operations, of_operation)
    )
    own = and_(tx.own(changes), changes.c.target == "step", steps.c.status == "forgotten")
    for part in chunks(message_of):
        for row in tx.all(base.where(own, steps.c.id.in_(part)).order_by(operations.c.seq)):
            if row.after and row.after["status"] == "forgotten":
                last[row.id] = row.operation
    by_operation: dict[str, list[str]] = {}
    for step_id, operation_id in last.items():
        by_operation.setdefault(operation_id, []).append(message_of[step_id])
    return [_sent_again(operation_id, sorted(messages)) for operation_id, messages in by_operation.items()]


def _sent_again(operation_id: str, messages: Sequence[str]) -> str:
    if len(messages) == 1:
        return f"message {messages[0]} was forgotten before and stays so; undo {operation_id} brings it back"
    named = ", ".join(messages[:5]) + (f" and {len(messages) - 5} more" if len(messages) > 5 else "")
    return f"messages {named} were forgotten before and stay so; undo {operation_id} brings them back"


def _texts(draft: MessageDraft) -> list[Any]:
    """The parts of a message that may contain a secret."""
    parts: list[Any] = [draft.text]
    if draft.index_text != draft.text:
        parts.append(draft.index_text)
    parts += [text for text in (draft.name, draft.reasoning) if text is not None]
    parts += draft.blocks
    parts += [[call.name, call.arguments] for call in draft.tool_calls]
    for media in draft.media:
        parts.append([media.name, media.caption, media.transcript, media.url, media.mime_type])
        if media.data is not None:
            parts.append(text_of(media.data, media.mime_type)[0])
    if draft.metadata:
        parts.append(draft.metadata)
    return parts


def _without_secrets(draft: MediaDraft, clean: _Clean) -> bytes | None:
    """The bytes to store: a text file without its secrets, any other file unchanged."""
    if draft.data is None:
        return None
    text, encoding = text_of(draft.data, draft.mime_type)
    cleaned = clean(text)
    return draft.data if text is None or cleaned == text else cleaned.encode(encoding, "xmlcharrefreplace")


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(part, names) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_renamed(part, names) for part in value)
    return names.get(value, value) if isinstance(value, str) else value


def _media(draft: MediaDraft, data: bytes | None, clean: _Clean, files: _Files) -> Media:
    caption, transcript, name, mime_type = (
        clean(text) for text in (draft.caption, draft.transcript, draft.name, draft.mime_type)
    )
    sha256 = None
    if data is not None:
        sha256 = hashlib.sha256(data).hexdigest()
        text = "\n".join(part for part in (caption, transcript) if part) or None
        files.setdefault(sha256, (data, {"mime_type": mime_type, "name": name, "size": len(data), "text": text}))
    return Media(
        kind=draft.kind,
        sha256=sha256,
        mime_type=mime_type,
        url=clean(draft.url),
        file_id=draft.file_id,
        name=name,
        size=len(data) if data is not None else None,
        caption=caption,
        transcript=transcript,
    )


def _vault_items(user: str, secrets: StagedSecrets, steps: Sequence[Step]) -> list[VaultItem]:
    """One vault item for each secret, citing the first step that contains its reference."""
    if not secrets.spans:
        return []
    sources = _first_references(steps)
    return [
        item.changed(sources=(sources[secret_id],)) if (secret_id := str(item.secret_id)) in sources else item
        for item in vault_items(user, secrets.spans)
    ]


def _first_references(steps: Sequence[Step]) -> dict[str, Source]:
    """Secret id → the first place where its reference occurs."""
    sources: dict[str, Source] = {}
    for step in steps:
        for mark in find_references(step.content):
            quote = step.content[mark.start : mark.end]
            sources.setdefault(mark.id, Source(step_id=step.id, quote=quote, start=mark.start, end=mark.end))
        if step.index_text != step.content:
            for mark in find_references(step.index_text):
                sources.setdefault(mark.id, Source(step_id=step.id))
    return sources
