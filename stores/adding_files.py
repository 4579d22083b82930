"""Adding a file: its text as a resource item, its bytes by hash, its secrets in the vault; all of it or nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import insert, select

from hexamem.memory_types import ResourceItem, VaultItem, utc_now
from hexamem.memory_types.files import AddedFile, ReadFile
from hexamem.stores.changing import add_item
from hexamem.stores.chunking import chunk_spans
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import Ledger, Transaction, get_items, item_change, read_items, record_operation
from hexamem.stores.ledger.schema import files, items
from hexamem.stores.ledger.vault import NewSecret, known_secrets, new_secret, store_new_secrets
from hexamem.stores.media import MediaStore, adding_before, kept_files, text_of
from hexamem.stores.media_texts import FILE_KINDS, enqueue_item
from hexamem.stores.redaction import Redactor
from hexamem.stores.secrets import Cipher, SecretSpan

__all__ = ["FileToAdd", "add_file"]

_LONGEST_SUMMARY = 300
_WORDS = re.compile(rb"[\t -~]{8,}")  # in a file of which nothing is read: where a secret may stand in clear
_SENTENCE = re.compile(r"\S.*?(?:[.!?…](?=\s|$)|[。！？]|$)", re.MULTILINE)


class FileToAdd(NamedTuple):
    """A file that was read, and what its caller says of it.

    Attributes:
        path: absolute: a file that comes again under it is a new version.
        title: the caller's; None for the file's own, else its name.
        metadata: goes onto the item; ``file`` is added to it.
    """

    read: ReadFile
    data: bytes
    name: str
    path: str
    title: str | None
    tree_path: tuple[str, ...]
    labels: tuple[str, ...]
    metadata: Mapping[str, Any]
    keep_bytes: bool
    actor: str
    reason: str


class _Prepared(NamedTuple):
    values: dict[str, Any]  # the fields of the item, cleaned
    kept: bytes | None  # the bytes to keep
    actor: str
    reason: str
    secrets: list[NewSecret]
    held: dict[str, str]  # the secrets of the file that the user kept already: digest → id
    spans: dict[str, SecretSpan]  # secret id → what it is
    replaced: tuple[str, ...]
    degraded: tuple[str, ...]


def add_file(
    ledger: Ledger,
    media: MediaStore,
    cipher: Cipher,
    user: str,
    file: FileToAdd,
    *,
    timezone: str,
    find: bool = True,
    ready: frozenset[str] = frozenset(),
) -> AddedFile:
    """Store a file as a resource item; see ``UserMemory.add_file`` for the contract.

    Secrets are found and the bytes written before the transaction, as for messages; if another call has stored one of
    the secrets meanwhile, the file is prepared anew.

    Args:
        ready: the kinds of job that are handled here: a picture or recording without words waits for its own.
    """
    digest = cipher.digest(hashlib.sha256(file.data).hexdigest(), context=user).hex()
    with ledger.read(user) as tx:
        if tx.user_id and (same := _same(tx, digest)) is not None:
            return _repeated(same)
    with adding_before(media, ledger, user) as put:
        while True:
            prepared = _prepare(ledger, user, file, cipher, digest, find)
            if prepared.kept is not None:
                put(prepared.kept)
            with ledger.write(user, timezone=timezone) as tx:
                if (same := _same(tx, digest)) is not None:
                    return _repeated(same)
                if known_secrets(tx, _digests(prepared)) == prepared.held:
                    if prepared.kept is not None:
                        put(prepared.kept)  # it may have been swept away since
                    return _store(tx, prepared, cipher, ready)


def _digests(prepared: _Prepared) -> set[str]:
    return {*prepared.held, *(one.digest for one in prepared.secrets)}


def _same(tx: Transaction, digest: str) -> ResourceItem | None:
    """The item that holds these very bytes."""
    found = [item_id for item_id, file in _files(tx) if file.get("digest") == digest]
    item = get_items(tx, found[:1]).get(found[0]) if found else None
    return item if isinstance(item, ResourceItem) else None


def _files(tx: Transaction) -> list[tuple[str, Mapping[str, Any]]]:
    """The items that hold files, with what they say of them, the newest first."""
    own = (items.c.user_id == tx.user_id) & (items.c.kind == "resource") & (items.c.status == "active")
    rows = tx.all(select(items.c.id, items.c.metadata).where(own).order_by(items.c.change.desc()))
    said = [(row.id, row._mapping["metadata"].get("file")) for row in rows]
    return [(item_id, file) for item_id, file in said if isinstance(file, Mapping)]


def _repeated(item: ResourceItem) -> AddedFile:
    return AddedFile(item=item, repeated=True, passages=max(1, len(chunk_spans(item))))


def _prepare(ledger: Ledger, user: str, file: FileToAdd, cipher: Cipher, digest: str, find: bool) -> _Prepared:
    new: list[NewSecret] = []
    held: dict[str, str] = {}
    spans: dict[str, SecretSpan] = {}

    def keep(plaintext: str, span: SecretSpan) -> str:
        own = cipher.digest(plaintext, context=user).hex()
        secret_id = already.get(own)
        if secret_id is None:
            made = new_secret(
                cipher, user, plaintext, kind=span.kind, caption=span.caption, sensitivity=span.sensitivity
            )
            new.append(made)
            secret_id = made.id
        else:
            held[own] = secret_id
        spans[secret_id] = span
        return secret_id

    read = file.read
    source, encoding = text_of(file.data, read.mime_type) if read.content else (None, "")
    title = file.title or read.title or file.name
    said: dict[str, Any] = {
        "title": title,
        "summary": _summary(read, title),
        "content": read.content,
        "resource_type": read.resource_type,
        "tree_path": file.tree_path,
        "labels": file.labels,
        "metadata": {**file.metadata, "file": {"name": file.name, "path": file.path}},
    }
    redactor = Redactor(keep, find)
    original = source if source is not None and source.strip() != read.content.strip() else None
    if not read.content and read.resource_type not in FILE_KINDS:
        original = "\n".join(words.decode("ascii") for words in _WORDS.findall(file.data)) or None
    near = redactor.look([said, original, file.actor, file.reason])
    with ledger.read(user) as tx:
        if find and tx.user_id:
            texts = [title, read.content, original or "", file.name, file.path, file.reason]
            known = find_known(tx, cipher, texts)
            redactor.know(known)
            near |= frozenset(known)
        already = known_secrets(tx, {cipher.digest(one, context=user).hex() for one in near})
    clean = partial(redactor.clean, near=near)
    values = clean(said)
    degraded = list(read.degraded)
    kept = None
    if file.keep_bytes:
        hidden = values["content"] != read.content
        if source is None and original is not None:
            hidden, original = clean(original) != original, None
        kept, line = _kept(file, source if hidden else original, encoding, clean, hidden=hidden)
        degraded += [line] if line else []
    values["metadata"]["file"] |= {
        "mime_type": read.mime_type,
        "size": len(file.data),
        "digest": digest,
        "sha256": hashlib.sha256(kept).hexdigest() if kept is not None else None,
    }
    actor, reason = clean(file.actor), clean(file.reason)
    replaced = tuple(dict.fromkeys(redactor.replaced.values()))
    return _Prepared(values, kept, actor, reason, new, held, spans, replaced, tuple(clean(degraded)))


def _kept(
    file: FileToAdd, source: str | None, encoding: str, clean: Any, *, hidden: bool
) -> tuple[bytes | None, str | None]:
    """The bytes to keep, and what to tell: a text file without its secrets; no other file in which some stand."""
    if source is not None:
        cleaned = clean(source)
        return (file.data if cleaned == source else cleaned.encode(encoding, "xmlcharrefreplace")), None
    if hidden:
        left = "its text is kept without them" if file.read.content else "its name is kept"
        kind = "" if file.read.resource_type == "file" else f"{file.read.resource_type} "
        return None, f"{file.name} holds secrets, which cannot be taken out of a {kind}file: {left}, its bytes are not"
    return file.data, None


def _summary(read: ReadFile, title: str) -> str:
    """The widest headings of the document if it has several, and its first sentence."""
    headings = [one for one in read.sections if one.heading and one.heading != title]
    widest = min((one.level for one in headings), default=0)
    named = [one.heading for one in headings if one.level == widest and one.heading]
    if read.resource_type == "csv":
        first = f"{read.content.count(chr(10)):,} rows: {read.content.partition(chr(10))[0]}"
    else:
        bodies = (one.text.lstrip('#->*|" \n\t') for one in read.sections)
        found = next((match for body in bodies if (match := _SENTENCE.search(body[:2_000]))), None)
        first = " ".join(found[0].split()) if found else ""
    parts = [first[:_LONGEST_SUMMARY], " · ".join(named)[:_LONGEST_SUMMARY] if len(named) > 1 else ""]
    return "\n".join(part for part in parts if part and part != title)


def _store(tx: Transaction, prepared: _Prepared, cipher: Cipher, ready: frozenset[str]) -> AddedFile:
    now = utc_now()
    store_new_secrets(tx, prepared.secrets)
    about = prepared.values["metadata"]["file"]
    if prepared.kept is not None and about["sha256"] not in kept_files(tx):
        row = {"mime_type": about["mime_type"], "name": about["name"], "size": len(prepared.kept), "text": None}
        tx.connection.execute(insert(files).values(user_id=tx.user_id, sha256=about["sha256"], created_at=now, **row))
    former = next((item_id for item_id, file in _files(tx) if file.get("path") == about["path"]), None)
    item = add_item(
        tx,
        {"kind": "resource", **prepared.values},
        cipher,
        supersedes=former,
        actor=prepared.actor,
        reason=prepared.reason,
        find=False,
    )
    assert isinstance(item, ResourceItem)
    _keep_vault_items(tx, prepared.spans, now)
    if item.resource_type in FILE_KINDS and not item.content and about["sha256"] is not None:
        enqueue_item(tx, item, ready)
    passages = max(1, len(chunk_spans(item)))
    return AddedFile(
        item=item,
        superseded=former,
        passages=passages,
        secrets=prepared.replaced,
        degraded=prepared.degraded,
    )


def _keep_vault_items(tx: Transaction, spans: Mapping[str, SecretSpan], now: datetime) -> None:
    """One vault item a secret that has none yet."""
    if not spans:
        return
    held = {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}
    made: Sequence[VaultItem] = [
        VaultItem(
            user=tx.user,
            entry_type=span.kind,
            caption=span.caption,
            sensitivity=span.sensitivity,
            secret_id=secret_id,
            created_at=now,
        )
        for secret_id, span in spans.items()
        if secret_id not in held
    ]
    if made:
        changes = [item_change(None, one) for one in made]
        record_operation(tx, "add", changes, actor="rules", reason="a secret was found and taken out")
