"""Revealing secrets, redacting words and erasing users."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, select, update

from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import Change, EraseReceipt, RedactReceipt, Sensitivity, Source, VaultItem, utc_now
from hexamem.stores.documents import item_documents, page_top, step_document
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
from hexamem.stores.media import MediaStore, adding_before, stored_files, text_of
from hexamem.stores.projections import Projector
from hexamem.stores.redaction import Redactor, redact_texts
from hexamem.stores.secrets import Cipher, find_references
from hexamem.stores.vector_cache import prune_vectors

__all__ = ["CLEANUP", "RedactRequest", "erase", "finish_redactions", "redact", "remove_files_of_erased", "reveal"]

CLEANUP = "redact_cleanup"
"""The job of :func:`finish_redactions`: what a redaction removed from the ledger is still in files and indexes."""


def reveal(tx: Transaction, cipher: Cipher, record_id: str, *, reason: str, actor: str) -> str:
    """The plaintext of a vault item, a secret id or a reference; see ``UserMemory.reveal``."""
    references = find_references(record_id)
    secret_id = references[0].id if references else record_id
    item = get_items(tx, [secret_id]).get(secret_id)
    if item is not None:
        if not isinstance(item, VaultItem) or item.secret_id is None:
            raise NotFoundError(f"item {secret_id} is a {item.kind} item without a secret; `get` shows it")
        secret_id = item.secret_id
    return reveal_secret(tx, cipher, secret_id, reason=reason, actor=actor)


@dataclass(frozen=True, kw_only=True, slots=True)
class RedactRequest:
    """The words to redact, and their description in the vault; see ``UserMemory.redact``."""

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
    """Replace words in everything the user has stored; see ``UserMemory.redact``.

    The ledger is rewritten first, in one transaction, which also enqueues the rest of the work. If that is interrupted,
    :func:`finish_redactions` completes it: in a repeated call (which returns the receipt of the first one), in any later
    redaction, in the user's next recall in a new process, or in the background.

    Raises:
        InvalidInputError: for words that cannot be redacted, or occur in the caption, kind or reason.
        NotFoundError: if they occur nowhere.
    """
    with adding_before(media, ledger, user) as put, ledger.write(user, create=False) as tx:
        redaction, request = _checked(tx, cipher, request, find)
        rewritten = rewrite_everywhere(tx, redaction, _rewrite_media(tx, media, redaction, put))
        receipt = _recorded(tx, redaction, request, rewritten) if rewritten else _unfinished(tx, redaction)
    finish_redactions(user, ledger, projector, media)
    return receipt


def finish_redactions(user: str, ledger: Ledger, projector: Projector, media: MediaStore) -> bool:
    """Remove what the user's redactions removed from the ledger from media, caches, indexes and logs too.

    Each step is idempotent, so an interrupted call is repeated.

    Returns:
        Whether there was anything to do.
    """
    with ledger.read(user) as tx:
        due = _due(tx)
    if not due:
        return False
    projector.on_removal(user)
    with ledger.write(user, create=False) as tx:
        media.retain_only(user_key(user), stored_files(tx))
        prune_vectors(tx, _indexed_texts(tx))
    projector.purge(user)
    ledger.checkpoint()
    with ledger.write(user, create=False) as tx:
        tx.delete(jobs, id=[row.id for row in due])
    return True


def _due(tx: Transaction) -> list[Row[Any]]:
    own = tx.own(jobs) & (jobs.c.kind == CLEANUP)
    return tx.all(select(jobs.c.id, jobs.c.payload).where(own))


def _checked(tx: Transaction, cipher: Cipher, request: RedactRequest, find: bool) -> tuple[Redaction, RedactRequest]:
    """Store the words in the vault; returns the redaction, and the request with a description without other secrets."""
    words = request.words
    if not isinstance(words, str) or not words.strip():
        raise InvalidInputError("the words to redact are empty; pass them as they are written in the text")
    if len(words) < 2:
        raise InvalidInputError("a single character cannot be redacted: it occurs everywhere")
    pattern = whole_words(words, match_case=request.match_case)
    if any(pattern.search(text) for text in (request.caption, request.reason, request.kind)):
        raise InvalidInputError("the caption, kind or reason contains the words to redact; describe them instead")
    if not tx.user_id:
        raise NotFoundError(f"user {tx.user!r} has stored nothing yet, so there is nothing to redact")
    others = Redactor(None, find)
    near = others.scan([request.caption, request.kind])
    caption, kind = others.clean(request.caption, near), others.clean(request.kind, near)
    secret_id = store_secret(tx, cipher, words, kind=kind, caption=caption, sensitivity=request.sensitivity)
    reason = redact_texts(tx, cipher, find, request.reason)[0]
    return Redaction(words, secret_id, caption, request.match_case), replace(request, kind=kind, reason=reason)


def _recorded(
    tx: Transaction, redaction: Redaction, request: RedactRequest, rewritten: Mapping[str, Collection[str]]
) -> RedactReceipt:
    """Write the redaction to the history, and add a vault item for the words.

    Args:
        rewritten: the ids of the rewritten rows, by table.
    """
    quote = redaction.reference
    steps = get_steps(tx, rewritten.get("steps", ()), forgotten=True)
    receipt = RedactReceipt(
        secret_id=redaction.secret_id,
        reference=quote,
        step_ids=tuple(sorted(steps)),
        item_ids=tuple(sorted(rewritten.get("items", ()))),
    )
    changes = [Change(target="step", target_id=step_id) for step_id in receipt.step_ids]
    changes += [Change(target="item", target_id=item_id) for item_id in receipt.item_ids]
    record_operation(tx, "redact", changes, reason=request.reason or "words taken out", apply=False)
    enqueue(tx, CLEANUP, receipt.model_dump(mode="json"))
    if redaction.secret_id not in {getattr(item, "secret_id", None) for item in read_items(tx, kinds=["vault"])}:
        sources = []
        for step in list(steps.values())[:10]:
            start = step.content.find(quote)
            span: dict[str, Any] = {"quote": quote, "start": start, "end": start + len(quote)} if start >= 0 else {}
            sources.append(Source(step_id=step.id, **span))
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
    """The receipt of an unfinished redaction of the same words."""
    receipts = [RedactReceipt.parse(row.payload) for row in _due(tx)]
    receipt = next((receipt for receipt in receipts if receipt.secret_id == redaction.secret_id), None)
    if receipt is None:
        raise NotFoundError(f"the words to redact occur nowhere in what user {tx.user!r} has stored")
    return receipt


def _rewrite_media(
    tx: Transaction, media: MediaStore, redaction: Redaction, put: Callable[[bytes], str]
) -> dict[str, str]:
    """Write the user's text files without the words; returns old → new hash. The old files are deleted after the commit.

    Other documents that contain the words are deleted; their texts stay, in items.
    """
    renamed: dict[str, str] = {}
    documents = _documents_holding(tx, redaction)
    for row in tx.all(select(files).where(tx.own(files))):
        data = media.get(user_key(tx.user), row.sha256)
        text, encoding = text_of(data, row.mime_type)
        if text is None:
            if row.sha256 in documents:  # a PDF, say, whose text contains the words: its bytes do too
                tx.delete(files, sha256=[row.sha256])
            continue
        if (new := redaction.in_text(text)) == text:
            continue
        written = new.encode(encoding, "xmlcharrefreplace")  # Latin-1 may lack letters of the caption
        sha256 = renamed[row.sha256] = put(written)
        own = tx.own(files) & (files.c.sha256 == row.sha256)
        existing = select(files.c.sha256).where(tx.own(files), files.c.sha256 == sha256)
        if tx.first(existing) is not None:
            tx.delete(files, sha256=[row.sha256])
        else:
            tx.connection.execute(update(files).where(own).values(sha256=sha256, size=len(written)))
    return renamed


def _documents_holding(tx: Transaction, redaction: Redaction) -> set[str]:
    """The hashes of the files whose text, in any version of their items, contains the words."""
    own = tx.own(items) & (items.c.kind == "resource")
    hashes = set()
    for row in tx.all(select(items.c.text, items.c.metadata).where(own)):
        file = row._mapping["metadata"].get("file")
        if isinstance(file, dict) and file.get("sha256") and redaction.edits(row.text):
            hashes.add(str(file["sha256"]))
    return hashes


def _indexed_texts(tx: Transaction) -> Iterator[str]:
    yield from (step_document(step).text for _, step in changed_steps(tx, 0))
    yield from (document.text for item in read_items(tx, superseded=True) for document in item_documents(item))
    yield from (page_top(page) for page in read_pages(tx))


def erase(user: str, ledger: Ledger, projector: Projector, media: MediaStore) -> EraseReceipt:
    """Erase a user everywhere; see ``UserMemory.erase``.

    The indexes are erased first, since they can be built again from the ledger, and files last. So after an interruption
    the user is there as before, and a repeated call erases them; or is gone, and what is left of their files is removed
    when the home is opened: :func:`remove_files_of_erased`.
    """
    key = user_key(user)
    with projector.lock(user):
        vectors, documents = projector.drop_user(user)
        media.mark_erased(key)
        with ledger.write(user, create=False) as tx:
            rows = erase_rows(tx) if tx.user_id else {}
        try:
            with ledger.write(user, create=False) as tx:  # a user who has begun anew meanwhile may have files again
                media_files = media.retain_only(key, stored_files(tx)) if tx.user_id else media.drop_user(key)
            media.unmark_erased(key)
        finally:
            projector.on_removal(user)  # while nobody labels or indexes, so that nothing read before is cached again
            ledger.checkpoint()
    return EraseReceipt(
        user_key=key, rows=rows, vectors=vectors, documents=documents, files=media_files, erased_at=utc_now()
    )


def remove_files_of_erased(ledger: Ledger, media: MediaStore) -> None:
    """Remove the files of users whose erasure was interrupted after their rows. Use it before the home takes calls.

    A user who is merely not in the ledger is left alone: the home may be opened with another ledger.
    """
    if keys := media.marked_erased():
        present = {user_key(name) for name in ledger.users()}
        for key in keys:
            if key not in present:
                media.drop_user(key)
            media.unmark_erased(key)
        ledger.checkpoint()
