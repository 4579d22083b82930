"""Adding a file: its text as a resource item, its bytes by hash, its secrets in the vault, in one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import insert, select

from hexamem.memory_types import ResourceItem, utc_now
from hexamem.memory_types.files import AddedFile, ReadFile
from hexamem.stores.changing import add_item
from hexamem.stores.chunking import chunk_spans
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import Ledger, Transaction, get_items
from hexamem.stores.ledger.schema import files, items
from hexamem.stores.media import MediaStore, adding_before, stored_files, text_of
from hexamem.stores.media_texts import FILE_KINDS, enqueue_item
from hexamem.stores.redaction import Redactor
from hexamem.stores.secrets import Cipher
from hexamem.stores.vault_writes import StagedSecrets, add_vault_items, vault_items

__all__ = ["FileToAdd", "add_file"]

_MAX_SUMMARY = 300
_WORDS = re.compile(rb"[\t -~]{8,}")  # in a file from which no text is read: where a secret may occur unencrypted
_SENTENCE = re.compile(r"\S.*?(?:[.!?…](?=\s|$)|[。！？]|$)", re.MULTILINE)


class FileToAdd(NamedTuple):
    """A file that was read, and the caller's arguments for it.

    Attributes:
        path: absolute; another file added under it later is a new version.
        title: the caller's; None for the file's own title, else its name.
        metadata: of the item; ``file`` is added to it.
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

    Secrets are searched for before the transaction, and the bytes of a file without any are written before it, as for
    messages.

    Args:
        ready: the kinds of job that have a handler here: a picture or recording without text is queued for its own.
    """
    digest = cipher.digest(hashlib.sha256(file.data).hexdigest(), context=user).hex()
    with ledger.read(user) as tx:
        if tx.user_id and (same := _same(tx, digest)) is not None:
            return _repeated(same)
    search = _Search(file, StagedSecrets(cipher, user), find)
    with adding_before(media, ledger, user) as put:
        with ledger.read(user) as tx:
            search.find_known(tx, cipher)
        if file.keep_bytes and not search.near:
            put(file.data)
        with ledger.write(user, timezone=timezone) as tx:
            if (same := _same(tx, digest)) is not None:
                return _repeated(same)
            search.secrets.look_up(tx, search.near)
            return _store(tx, search, digest, cipher, put, ready)


def _same(tx: Transaction, digest: str) -> ResourceItem | None:
    """The item of a file with exactly these bytes."""
    item_id = next((item_id for item_id, file in _files(tx) if file.get("digest") == digest), None)
    item = get_items(tx, [item_id]).get(item_id) if item_id is not None else None
    return item if isinstance(item, ResourceItem) else None


def _files(tx: Transaction) -> list[tuple[str, Mapping[str, Any]]]:
    """The ids of the items of files, each with its ``metadata["file"]``, newest first."""
    own = tx.own(items) & (items.c.kind == "resource") & (items.c.status == "active")
    rows = tx.all(select(items.c.id, items.c.metadata).where(own).order_by(items.c.change.desc()))
    file_of = [(row.id, row._mapping["metadata"].get("file")) for row in rows]
    return [(item_id, file) for item_id, file in file_of if isinstance(file, Mapping)]


def _repeated(item: ResourceItem) -> AddedFile:
    return AddedFile(item=item, repeated=True, passages=max(1, len(chunk_spans(item))))


class _Search:
    """The fields of a file's item, searched for secrets.

    Attributes:
        fields: of the item, with the secrets in them.
        source, encoding: the text of a text file.
        searched: what else is searched: the source where it differs from the content, or words of an unread file.
        near: the secrets of the file.
    """

    def __init__(self, file: FileToAdd, secrets: StagedSecrets, find: bool) -> None:
        read = file.read
        self.file, self.secrets, self._find = file, secrets, find
        self.source, self.encoding = text_of(file.data, read.mime_type) if read.content else (None, "")
        title = file.title or read.title or file.name
        self.fields: dict[str, Any] = {
            "title": title,
            "summary": _summary(read, title),
            "content": read.content,
            "resource_type": read.resource_type,
            "tree_path": file.tree_path,
            "labels": file.labels,
            "metadata": {**file.metadata, "file": {"name": file.name, "path": file.path}},
        }
        self.searched = self.source
        if self.source is not None and self.source.strip() == read.content.strip():
            self.searched = None
        if not read.content and read.resource_type not in FILE_KINDS:
            self.searched = "\n".join(words.decode("ascii") for words in _WORDS.findall(file.data)) or None
        self.redactor = Redactor(secrets.stage, find)
        self.near = self.redactor.scan([self.fields, self.searched, file.actor, file.reason])

    def find_known(self, tx: Transaction, cipher: Cipher) -> None:
        """Find secrets of the vault in the file."""
        if self._find and tx.user_id:
            file = self.file
            texts = [self.fields["title"], file.read.content, self.searched or "", file.name, file.path, file.reason]
            known = find_known(tx, cipher, texts)
            self.redactor.add_known(known)
            self.near |= frozenset(known)

    def clean(self, value: Any) -> Any:
        """A value of the file with references in place of the secrets."""
        return self.redactor.clean(value, self.near)


def _bytes_to_store(search: _Search, *, contains_secrets: bool) -> tuple[bytes | None, str | None]:
    """The bytes, and a line for ``degraded``: a text file without its secrets, no other file that contains some."""
    file, text = search.file, search.source if contains_secrets else search.searched
    if search.source is None and search.searched is not None:
        contains_secrets, text = search.clean(search.searched) != search.searched, None
    if text is not None:
        cleaned = search.clean(text)
        return (file.data if cleaned == text else cleaned.encode(search.encoding, "xmlcharrefreplace")), None
    if contains_secrets:
        stored = "its text is stored without them" if file.read.content else "its name is stored"
        kind = "" if file.read.resource_type == "file" else f"{file.read.resource_type} "
        line = f"{file.name} contains secrets, which cannot be removed from a {kind}file: {stored}, its bytes are not"
        return None, line
    return file.data, None


def _summary(read: ReadFile, title: str) -> str:
    """The first sentence of the document, and its top-level headings if there are several."""
    sections = [section for section in read.sections if section.heading and section.heading != title]
    top_level = min((section.level for section in sections), default=0)
    headings = [section.heading for section in sections if section.level == top_level and section.heading]
    if read.resource_type == "csv":
        first = f"{read.content.count(chr(10)):,} rows: {read.content.partition(chr(10))[0]}"
    else:
        bodies = (section.text.lstrip('#->*|" \n\t') for section in read.sections)
        sentence = next((match for body in bodies if (match := _SENTENCE.search(body[:2_000]))), None)
        first = " ".join(sentence[0].split()) if sentence else ""
    parts = [first[:_MAX_SUMMARY], " · ".join(headings)[:_MAX_SUMMARY] if len(headings) > 1 else ""]
    return "\n".join(part for part in parts if part and part != title)


def _store(
    tx: Transaction,
    search: _Search,
    digest: str,
    cipher: Cipher,
    put: Callable[[bytes], str],
    ready: frozenset[str],
) -> AddedFile:
    clean, read = search.clean, search.file.read
    values = clean(search.fields)
    data, line = None, None
    if search.file.keep_bytes:
        data, line = _bytes_to_store(search, contains_secrets=values["content"] != read.content)
    file = values["metadata"]["file"]
    file |= {"mime_type": read.mime_type, "size": len(search.file.data), "digest": digest, "sha256": None}
    if data is not None:
        file["sha256"] = put(data)
    degraded = tuple(clean([*read.degraded, *([line] if line else [])]))
    actor, reason = clean(search.file.actor), clean(search.file.reason)
    search.secrets.write(tx)
    if data is not None and file["sha256"] not in stored_files(tx):
        row = {"mime_type": file["mime_type"], "name": file["name"], "size": len(data), "text": None}
        own = {"user_id": tx.user_id, "sha256": file["sha256"], "created_at": utc_now()}
        tx.connection.execute(insert(files).values(**own, **row))
    former = next((item_id for item_id, other in _files(tx) if other.get("path") == file["path"]), None)
    new = {"kind": "resource", **values}
    item = add_item(tx, new, cipher, supersedes=former, actor=actor, reason=reason, find=False)
    assert isinstance(item, ResourceItem)
    add_vault_items(tx, vault_items(tx.user, search.secrets.spans))
    if item.resource_type in FILE_KINDS and not item.content and data is not None:
        enqueue_item(tx, item, ready)
    return AddedFile(
        item=item,
        superseded=former,
        passages=max(1, len(chunk_spans(item))),
        secrets=tuple(dict.fromkeys(search.redactor.replaced.values())),
        degraded=degraded,
    )
