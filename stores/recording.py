"""The first step of every write: secrets are taken out, then the messages go into the ledger as steps.

What comes back from :func:`record` is acknowledged: it survives a killed process and is found by the next recall.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import and_, select

from hexamem.memory_types import Media, Remembered, Source, Step, ToolCall, VaultItem, utc_now
from hexamem.memory_types.base import new_ids
from hexamem.memory_types.cutting import is_cut_from
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
    item_change,
    known_messages,
    next_turn,
    read_items,
    record_operation,
)
from hexamem.stores.ledger.schema import changes, files, operations, steps
from hexamem.stores.ledger.steps import chunks
from hexamem.stores.ledger.vault import NewSecret, known_secrets, new_secret, store_new_secrets
from hexamem.stores.media import MediaStore, adding_before, kept_files, text_of
from hexamem.stores.media_texts import enqueue_steps
from hexamem.stores.redaction import Redactor
from hexamem.stores.secrets import Cipher, SecretSpan, find_references

__all__ = ["record"]

_FEW, _SHORT = 4, 4_000  # messages, and characters of all together


class _Prepared(NamedTuple):
    """A call made ready to be written: everything that takes long, done before the transaction."""

    known: dict[str, str]  # the host's message ids that the thread held: → step id
    steps: list[Step]  # without turn, seq and time of arrival
    timed: set[str]  # ids of the steps whose message tells its time
    files: dict[str, tuple[bytes, dict[str, Any]]]  # hash → bytes, row
    secrets: list[NewSecret]
    held: dict[str, str]  # the secrets of the call that the user kept already: digest → id
    items: list[VaultItem]  # one a secret
    receipt: Remembered


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

    A message whose id the thread holds already is not stored again. A message without a time gets the present one, as a
    clock in the user's timezone shows it.
    Names by which a host finds its things again (ids of thread, message, agent, tool call, file) are kept as they are.

    Secrets are found and files written before the transaction that stores the call: it holds up other writers for no
    longer than its rows take. If another call has stored one of these messages or secrets meanwhile, the
    call is prepared anew on what is there then. A short message is compared with what is there in the transaction that
    stores it: there is no more to do for it than to begin another.

    Args:
        ready: the kinds of job that put media into words here; media of another kind wait.
        also: writes more in the transaction that stores the messages.
    """
    zone = read_zone(timezone)

    def looked() -> _Call:
        return _Call(user, drafts, thread_id, agent_id, metadata, cipher, find, zone)

    if _are_short(drafts) and not metadata:
        call = looked()
        with ledger.write(user, timezone=timezone) as tx:
            call.compare(tx)
            receipt = _store(tx, thread_id, call.prepared(), _no_file, ready)
            also(tx)
            return receipt
    with adding_before(media, ledger, user) as put:
        while True:
            call = looked()
            with ledger.read(user) as tx:
                call.compare(tx)
            prepared = call.prepared()
            for data, _ in prepared.files.values():
                put(data)
            with ledger.write(user, timezone=timezone) as tx:
                if _fits(tx, thread_id, prepared, drafts):
                    receipt = _store(tx, thread_id, prepared, put, ready)
                    also(tx)
                    return receipt


def _no_file(data: bytes) -> str:
    raise ValueError(f"a message of words alone carries a file of {len(data):,} bytes")


def _are_short(drafts: Sequence[MessageDraft]) -> bool:
    """Whether these are a few short messages of words alone."""
    plain = not any(
        one.blocks or one.tool_calls or one.media or one.reasoning or one.metadata for one in drafts[: _FEW + 1]
    )
    return plain and len(drafts) <= _FEW and sum(len(one.text) + len(one.index_text) for one in drafts) <= _SHORT


class _Call:
    """The messages of a call: first rules look for secrets in them, then the ledger is asked, then they are made steps."""

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
        self._kept: dict[str, tuple[str, SecretSpan]] = {}
        self._new: list[NewSecret] = []
        self._held: dict[str, str] = {}
        self._redactor = Redactor(self._keep, find)
        shared = self._redactor.look(metadata)
        self._said_in = [_strings(draft) for draft in drafts]
        self._secrets = [shared | self._redactor.look(one) for one in self._said_in]

    def compare(self, tx: Transaction) -> None:
        """Read what the ledger holds of the messages and their secrets, and find secrets that it knows."""
        texts = _texts([self._metadata, *self._said_in])
        again = find_known(tx, self._cipher, texts) if self._find else {}
        self._redactor.know(again)
        spoken = frozenset(again).union(*self._secrets)
        self._already = known_secrets(tx, {self._digest(plaintext) for plaintext in spoken})
        self._known = known_messages(tx, self._thread_id, _message_ids(self._drafts))
        self._said = {
            step.id: step.content for step in get_steps(tx, set(self._known.values()), forgotten=True).values()
        }

    def prepared(self) -> _Prepared:
        """The steps, without secrets; once, after :meth:`compare`."""
        step_of, said = dict(self._known), self._said
        ids: list[str] = []
        fresh = new_ids("step", len(self._drafts))
        repeated: list[str] = []
        steps: list[Step] = []
        timed: set[str] = set()
        files: dict[str, tuple[bytes, dict[str, Any]]] = {}
        degraded: list[str] = []
        for draft, near in zip(self._drafts, self._secrets, strict=True):
            clean = partial(self._redactor.clean, near=near)
            if draft.message_id is not None and draft.message_id in step_of:
                repeated.append(step_of[draft.message_id])
                ids.append(step_of[draft.message_id])
                again, before = clean(draft.text), said[step_of[draft.message_id]]
                if again != before and not is_cut_from(before, again):
                    degraded.append(
                        f"message id {draft.message_id!r} came again with another text, which was not stored: "
                        "an id stands for one message, so give a changed one an id of its own"
                    )
                continue
            degraded.extend(clean(draft.degraded))
            step = _step(
                next(fresh),
                self._user,
                draft,
                clean,
                files,
                self._thread_id,
                self._agent_id,
                self._metadata,
                self._offset,
            )
            said[step.id] = step.content
            if draft.message_id is not None:
                step_of[draft.message_id] = step.id
            if draft.occurred_at is not None:
                timed.add(step.id)
            steps.append(step)
            ids.append(step.id)
        receipt = Remembered(
            step_ids=tuple(ids),
            repeated=tuple(repeated),
            secrets=tuple(dict.fromkeys(self._redactor.replaced.values())),
            degraded=tuple(degraded),
        )
        items = _vault_items(self._user, self._redactor, self._kept, steps)
        return _Prepared(self._known, steps, timed, files, self._new, self._held, items, receipt)

    def _digest(self, plaintext: str) -> str:
        return self._cipher.digest(plaintext, context=self._user).hex()

    def _keep(self, plaintext: str, span: SecretSpan) -> str:
        digest = self._digest(plaintext)
        secret_id = self._already.get(digest)
        if secret_id is None:
            made = new_secret(
                self._cipher,
                self._user,
                plaintext,
                kind=span.kind,
                caption=span.caption,
                sensitivity=span.sensitivity,
            )
            self._new.append(made)
            secret_id = made.id
        else:
            self._held[digest] = secret_id
        self._kept[plaintext] = (secret_id, span)
        return secret_id


def _texts(value: Any) -> Iterator[str]:
    """Every string in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(key)
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


def _message_ids(drafts: Sequence[MessageDraft]) -> list[str]:
    return [draft.message_id for draft in drafts if draft.message_id is not None]


def _fits(tx: Transaction, thread_id: str, prepared: _Prepared, drafts: Sequence[MessageDraft]) -> bool:
    """Whether the ledger still holds of the call's messages and secrets what it was prepared on."""
    digests = {*prepared.held, *(one.digest for one in prepared.secrets)}
    return (
        known_messages(tx, thread_id, _message_ids(drafts)) == prepared.known
        and known_secrets(tx, digests) == prepared.held
    )


def _store(
    tx: Transaction, thread_id: str, prepared: _Prepared, put: Callable[[bytes], str], ready: Collection[str]
) -> Remembered:
    now = utc_now()
    held = kept_files(tx) if prepared.files else set()
    for sha256, (data, row) in prepared.files.items():
        put(data)  # it may have been swept away since
        if sha256 not in held:
            tx.connection.execute(files.insert().values(user_id=tx.user_id, sha256=sha256, created_at=now, **row))
    store_new_secrets(tx, prepared.secrets)
    if prepared.steps:
        turn, seq = next_turn(tx, thread_id), tx.next_change(len(prepared.steps))
        append_steps(tx, prepared.steps, Arrival(turn, seq, now, frozenset(prepared.timed)))
        enqueue_steps(tx, prepared.steps, ready)
    _keep_vault_items(tx, prepared.items, now)
    again = _forgotten(tx, prepared.known)
    return prepared.receipt.changed(degraded=(*prepared.receipt.degraded, *again)) if again else prepared.receipt


def _forgotten(tx: Transaction, known: Mapping[str, str]) -> list[str]:
    """One line for each operation that forgot messages which are now said again, and which stay forgotten.

    A host that sends its whole history each time must not undo what its user wished.
    """
    message_of = {step_id: message_id for message_id, step_id in known.items()}
    last: dict[str, str] = {}
    of_step = and_(steps.c.user_id == changes.c.user_id, steps.c.id == changes.c.target_id)
    of_operation = and_(operations.c.user_id == changes.c.user_id, operations.c.id == changes.c.operation_id)
    base = select(steps.c.id, operations.c.id.label("operation"), changes.c.after).select_from(
        changes.join(steps, of_step).join(operations, of_operation)
    )
    own = and_(changes.c.user_id == tx.user_id, changes.c.target == "step", steps.c.status == "forgotten")
    for part in chunks(message_of):
        for row in tx.all(base.where(own, steps.c.id.in_(part)).order_by(operations.c.seq)):
            if row.after and row.after["status"] == "forgotten":
                last[row.id] = row.operation
    by_operation: dict[str, list[str]] = {}
    for step_id, operation_id in last.items():
        by_operation.setdefault(operation_id, []).append(message_of[step_id])
    return [_said_again(operation_id, sorted(messages)) for operation_id, messages in by_operation.items()]


def _said_again(operation_id: str, messages: Sequence[str]) -> str:
    if len(messages) == 1:
        return f"message {messages[0]} was forgotten before and stays so; undo {operation_id} brings it back"
    named = ", ".join(messages[:5]) + (f" and {len(messages) - 5} more" if len(messages) > 5 else "")
    return f"messages {named} were forgotten before and stay so; undo {operation_id} brings them back"


_Clean = Callable[[Any], Any]


def _strings(draft: MessageDraft) -> list[Any]:
    """What of a message may hold a secret."""
    found: list[Any] = [draft.text]
    if draft.index_text != draft.text:
        found.append(draft.index_text)
    if draft.name is not None:
        found.append(draft.name)
    if draft.reasoning is not None:
        found.append(draft.reasoning)
    found += draft.blocks
    found += [[call.name, call.arguments] for call in draft.tool_calls]
    for one in draft.media:
        found.append([one.name, one.caption, one.transcript, one.url, one.mime_type])
        if one.data is not None:
            found.append(text_of(one.data, one.mime_type)[0])
    if draft.metadata:
        found.append(draft.metadata)
    return found


def _step(
    step_id: str,
    user: str,
    draft: MessageDraft,
    clean: _Clean,
    files: dict[str, tuple[bytes, dict[str, Any]]],
    thread_id: str,
    agent_id: str | None,
    metadata: Mapping[str, Any],
    offset: int,
) -> Step:
    moment, now = draft.occurred_at, utc_now()
    stored = [_without_secrets(one, clean) for one in draft.media]
    # The hash of a text file that held a secret would let it be guessed: the new one stands for it everywhere.
    renamed = {
        one.sha256: hashlib.sha256(data).hexdigest()
        for one, data in zip(draft.media, stored, strict=True)
        if one.sha256 is not None and data is not None and data is not one.data
    }
    return Step.of_fields(
        id=step_id,
        user=user,
        thread_id=thread_id,
        turn=0,
        seq=0,
        role=draft.role,
        name=clean(draft.name),
        content=clean(draft.text),
        blocks=_renamed(clean(draft.blocks), renamed) if renamed else clean(draft.blocks),
        reasoning=clean(draft.reasoning),
        tool_calls=tuple(
            [ToolCall(id=call.id, name=clean(call.name), arguments=clean(call.arguments)) for call in draft.tool_calls]
        ),
        tool_call_id=draft.tool_call_id,
        media=tuple([_media(one, data, clean, files) for one, data in zip(draft.media, stored, strict=True)]),
        index_text=clean(draft.index_text),
        message_id=draft.message_id,
        agent_id=agent_id,
        occurred_at=moment.utc if moment else now,
        offset_minutes=moment.offset_minutes if moment else offset,
        created_at=now,
        status="active",
        metadata=clean({**metadata, **draft.metadata}),
    )


def _without_secrets(draft: MediaDraft, clean: _Clean) -> bytes | None:
    """The bytes to keep: a text file without its secrets, any other as it is."""
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


def _media(
    draft: MediaDraft, data: bytes | None, clean: _Clean, files: dict[str, tuple[bytes, dict[str, Any]]]
) -> Media:
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


def _vault_items(
    user: str, redactor: Redactor, kept: Mapping[str, tuple[str, SecretSpan]], steps: Sequence[Step]
) -> list[VaultItem]:
    """One vault item a secret, citing the first step that holds its reference."""
    places = _places(steps) if kept else {}
    made: dict[str, VaultItem] = {}
    for plaintext, (secret_id, span) in kept.items():
        if secret_id not in made:
            source = places.get(redactor.replaced[plaintext])
            made[secret_id] = VaultItem(
                user=user,
                entry_type=span.kind,
                caption=span.caption,
                sensitivity=span.sensitivity,
                secret_id=secret_id,
                sources=(source,) if source else (),
            )
    return list(made.values())


def _places(steps: Sequence[Step]) -> dict[str, Source]:
    """Reference → where it first stands."""
    found: dict[str, Source] = {}
    for step in steps:
        for at in find_references(step.content):
            put = step.content[at.start : at.end]
            found.setdefault(put, Source(step_id=step.id, quote=put, start=at.start, end=at.end))
        if step.index_text != step.content:
            for at in find_references(step.index_text):
                found.setdefault(step.index_text[at.start : at.end], Source(step_id=step.id))
    return found


def _keep_vault_items(tx: Transaction, made: Sequence[VaultItem], now: datetime) -> None:
    """Add those whose secret has no item yet."""
    if not made:
        return
    held = {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}
    new = [item_change(None, one.changed(created_at=now)) for one in made if one.secret_id not in held]
    if new:
        record_operation(tx, "add", new, actor="rules", reason="a secret was found and taken out")
