"""Revealing, redacting and erasing: the operations that touch what must not be seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, delete, select, update

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, EraseReceipt, RedactReceipt, Sensitivity, Source, VaultItem, utc_now
from hexamem.stores.documents import item_documents, step_document
from hexamem.stores.ledger import (
    Ledger,
    Redaction,
    Transaction,
    changed_steps,
    erase_rows,
    get_items,
    get_steps,
    item_change,
    read_items,
    record_operation,
    reveal_secret,
    rewrite_everywhere,
    store_secret,
    user_key,
    whole_words,
)
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.pages import read_pages
from hexamem.stores.ledger.schema import files, items, jobs
from hexamem.stores.media import MediaStore, stored_files, text_of
from hexamem.stores.page_index import page_top
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor, redact_texts
from hexamem.stores.secrets import Cipher, find_references
from hexamem.stores.vector_cache import keep_vectors

__all__ = ["CLEANUP", "RedactRequest", "erase", "finish_redactions", "redact", "reveal"]

CLEANUP = "redact_cleanup"
"""The job of :func:`finish_redactions`: what a redaction took out of the ledger still lies elsewhere."""


def reveal(tx: Transaction, cipher: Cipher, record_id: str, *, reason: str, actor: str) -> str:
    """The plaintext behind a vault item, a secret id or a reference; see ``UserMemory.reveal``."""
    named = find_references(record_id)
    secret_id = named[0].id if named else record_id
    item = get_items(tx, [secret_id]).get(secret_id)
    if item is not None:
        if not isinstance(item, VaultItem) or item.secret_id is None:
            raise NotFoundError(f"item {secret_id} is a {item.kind} item without a secret; `get` shows it")
        secret_id = item.secret_id
    return reveal_secret(tx, cipher, secret_id, reason=reason, actor=actor)


@dataclass(frozen=True, kw_only=True, slots=True)
class RedactRequest:
    """What is to be redacted, and how the vault describes it; see ``UserMemory.redact``."""

    words: str
    caption: str = "secret"
    kind: str = "secret"
    sensitivity: Sensitivity = "high"
    reason: str = ""
    match_case: bool = False


def redact(
    user: str,
    ledger: Ledger,
    projector: Projector,
    media: MediaStore,
    cipher: Cipher,
    request: RedactRequest,
    *,
    find: bool,
) -> RedactReceipt:
    """Take words out of everything the user has stored; see ``UserMemory.redact``.

    The ledger goes first, in one transaction, which also writes down that the rest is due. If that fails or the
    process is killed, :func:`finish_redactions` ends the work: the same call again (it gives the receipt of the first),
    any later redaction, the user's next recall in a new process, or the job in the background.

    Raises:
        InvalidInputError: for words that cannot be redacted, or stand in the caption, kind or reason.
        NotFoundError: they stand nowhere.
    """
    with ledger.write(user, create=False) as tx, media.adding(user_key(user)) as keep:
        redaction, request = _checked(tx, cipher, request, find)
        done = rewrite_everywhere(tx, redaction, _rewrite_media(tx, media, redaction, keep))
        receipt = _recorded(tx, redaction, request, done) if done else _unfinished(tx, redaction)
    finish_redactions(user, ledger, projector, media)
    return receipt


def finish_redactions(user: str, ledger: Ledger, projector: Projector, media: MediaStore) -> bool:
    """Take what the user's redactions took out of the ledger from media, memory, caches, indexes and logs too.

    Returns:
        Whether there was any left to finish. Each step may be done twice, so this may be killed and called again.
    """
    with ledger.read(user) as tx:
        due = _due(tx)
    if not due:
        return False
    projector.let_go(user)
    with ledger.write(user, create=False) as tx:
        media.retain_only(user_key(user), stored_files(tx))
        keep_vectors(tx, _indexed_texts(tx))
    projector.purge(user)
    ledger.checkpoint()
    with ledger.write(user, create=False) as tx:
        for row in due:
            tx.connection.execute(delete(jobs).where(jobs.c.user_id == tx.user_id, jobs.c.id == row.id))
    return True


def _due(tx: Transaction) -> list[Row[Any]]:
    own = (jobs.c.user_id == tx.user_id) & (jobs.c.kind == CLEANUP)
    return tx.all(select(jobs.c.id, jobs.c.payload).where(own))


def _checked(tx: Transaction, cipher: Cipher, request: RedactRequest, find: bool) -> tuple[Redaction, RedactRequest]:
    """The words as they may be redacted, in the vault now, and their description without other secrets."""
    words = request.words
    if not isinstance(words, str) or not words.strip():
        raise InvalidInputError("the words to redact are empty; give them as they stand in the text")
    if len(words) < 2:
        raise InvalidInputError("a single character cannot be redacted: it stands everywhere")
    pattern = whole_words(words, match_case=request.match_case)
    if any(pattern.search(text) for text in (request.caption, request.reason, request.kind)):
        raise InvalidInputError("the caption, kind or reason holds the very words to redact; describe them instead")
    if not tx.user_id:
        raise NotFoundError(f"user {tx.user!r} has stored nothing yet, so there is nothing to redact")
    others = Redactor(None, find)
    near = others.look([request.caption, request.kind])
    caption, kind = others.clean(request.caption, near), others.clean(request.kind, near)
    secret_id = store_secret(tx, cipher, words, kind=kind, caption=caption, sensitivity=request.sensitivity)
    reason = redact_texts(tx, cipher, find, request.reason)[0]
    return Redaction(words, secret_id, caption, request.match_case), replace(request, kind=kind, reason=reason)


def _recorded(
    tx: Transaction, redaction: Redaction, request: RedactRequest, done: Mapping[str, Collection[str]]
) -> RedactReceipt:
    """Write the redaction to the history, give the words a vault item, and say what was done."""
    put = redaction.reference
    steps = get_steps(tx, done.get("steps", ()), forgotten=True)
    receipt = RedactReceipt(
        secret_id=redaction.secret_id,
        reference=put,
        step_ids=tuple(sorted(steps)),
        item_ids=tuple(sorted(done.get("items", ()))),
    )
    changes = [Change(target="step", target_id=step_id) for step_id in receipt.step_ids]
    changes += [Change(target="item", target_id=item_id) for item_id in receipt.item_ids]
    record_operation(tx, "redact", changes, reason=request.reason or "words taken out", apply=False)
    enqueue(tx, CLEANUP, receipt.model_dump(mode="json"))
    if redaction.secret_id not in {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}:
        sources = []
        for step in list(steps.values())[:10]:
            start = step.content.find(put)
            source = Source(step_id=step.id)
            if start >= 0:
                source = Source(step_id=step.id, quote=put, start=start, end=start + len(put))
            sources.append(source)
        item = VaultItem(
            user=tx.user,
            entry_type=request.kind,
            caption=redaction.caption,
            sensitivity=request.sensitivity,
            secret_id=redaction.secret_id,
            sources=tuple(sources),
        )
        record_operation(tx, "add", [item_change(None, item)], actor="user", reason="words redacted")
    return receipt


def _unfinished(tx: Transaction, redaction: Redaction) -> RedactReceipt:
    """The receipt of a redaction of the same words that was not finished."""
    receipts = [RedactReceipt.parse(row.payload) for row in _due(tx)]
    found = next((one for one in receipts if one.secret_id == redaction.secret_id), None)
    if found is None:
        raise NotFoundError(f"the words to redact stand nowhere in what user {tx.user!r} has stored")
    return found


def _rewrite_media(
    tx: Transaction, media: MediaStore, redaction: Redaction, keep: Callable[[bytes], str]
) -> dict[str, str]:
    """Write the user's text files without the words; returns old to new hash. The old files go after the commit.

    Documents that cannot be rewritten go as a whole: their text stays, as items.
    """
    renamed: dict[str, str] = {}
    documents = _documents_holding(tx, redaction)
    for row in tx.all(select(files).where(files.c.user_id == tx.user_id)):
        data = media.get(user_key(tx.user), row.sha256)
        text, encoding = text_of(data, row.mime_type)
        if text is None:
            if row.sha256 in documents:  # a PDF in whose text the words stand: its bytes hold them too
                tx.connection.execute(delete(files).where(files.c.user_id == tx.user_id, files.c.sha256 == row.sha256))
            continue
        if (new := redaction.in_text(text)) == text:
            continue
        written = new.encode(encoding, "xmlcharrefreplace")  # Latin-1 may not have the caption's letters
        sha256 = renamed[row.sha256] = keep(written)
        own = (files.c.user_id == tx.user_id) & (files.c.sha256 == row.sha256)
        held = select(files.c.sha256).where(files.c.user_id == tx.user_id, files.c.sha256 == sha256)
        tx.connection.execute(
            delete(files).where(own)
            if tx.first(held) is not None
            else update(files).where(own).values(sha256=sha256, size=len(written))
        )
    return renamed


def _documents_holding(tx: Transaction, redaction: Redaction) -> set[str]:
    """The hashes of the files whose text, in whatever version of their items, holds the words."""
    own = (items.c.user_id == tx.user_id) & (items.c.kind == "resource")
    found = set()
    for row in tx.all(select(items.c.text, items.c.metadata).where(own)):
        file = row._mapping["metadata"].get("file")
        if isinstance(file, dict) and file.get("sha256") and redaction.edits(row.text):
            found.add(str(file["sha256"]))
    return found


def _indexed_texts(tx: Transaction) -> Iterator[str]:
    yield from (step_document(step).text for _, step in changed_steps(tx, 0))
    yield from (one.text for item in read_items(tx, superseded=True) for one in item_documents(item))
    yield from (page_top(page) for page in read_pages(tx))


def erase(user: str, ledger: Ledger, projector: Projector, media: MediaStore) -> EraseReceipt:
    """Erase a user everywhere; see ``UserMemory.erase``.

    The ledger goes last: killed half way, the user is still known, and erasing again ends the work.
    """
    key = user_key(user)
    with projector.lock(user):
        vectors, documents = projector.drop_user(user)
        with ledger.write(user, create=False) as tx:
            media_files = media.drop_user(key)
            rows = erase_rows(tx) if tx.user_id else {}
        with ledger.write(user, create=False) as tx:  # of a call that kept its files and then found no user to write to
            media_files += media.retain_only(key, stored_files(tx))
        projector.let_go(user)  # while nobody labels or indexes, so that nothing read before is kept again
        ledger.checkpoint()
    return EraseReceipt(
        user_key=key, rows=rows, vectors=vectors, documents=documents, files=media_files, erased_at=utc_now()
    )
