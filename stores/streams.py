"""What the indexes contain: the documents that each stream has in the ledger, and how many there must be."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sqlalchemy import BigInteger, ColumnElement, Table, bindparam, exists, func, select

from hexamem.stores.chunking import SHORT, chunk_spans
from hexamem.stores.documents import Document, item_documents, page_document, step_document
from hexamem.stores.ledger import Transaction, changed_items, changed_steps, get_items, get_steps
from hexamem.stores.ledger.labels import get_intents, read_labels, steps_renamed
from hexamem.stores.ledger.pages import changed_pages, last_page_change, page_steps
from hexamem.stores.ledger.prepared import Prepared, of_user
from hexamem.stores.ledger.schema import items, pages, steps
from hexamem.stores.vectors import Part
from hexamem.stores.vocabulary import Vocabulary

__all__ = [
    "changed_documents",
    "count_mismatch",
    "count_passages",
    "expected_count",
    "holds_documents",
    "last_change",
    "renamed_documents",
]

_BATCH, _PAGES = 5_000, 500


def last_change(tx: Transaction, stream: Part) -> int:
    """The last change number of a stream; pages have numbers of their own."""
    return last_page_change(tx) if stream == "pages" else tx.change


def changed_documents(tx: Transaction, stream: Part, since: int) -> tuple[list[tuple[int, Document]], int]:
    """Documents whose change number is above ``since``, lowest first, and up to which number these are all."""
    limit = _PAGES if stream == "pages" else _BATCH
    if stream == "steps":
        changed = [(change, step_document(step)) for change, step in changed_steps(tx, since, limit)]
    elif stream == "items":
        items_since = changed_items(tx, since, limit)
        changed = [(change, document) for change, item in items_since for document in item_documents(item)]
    else:
        batch = changed_pages(tx, since, limit)
        steps_of = page_steps(tx, batch)
        changed = [(page.change, page_document(page, steps_of[page.id])) for page in batch]
    described = _described(tx, [document for _, document in changed])
    reached = changed[-1][0] if len(changed) >= limit else last_change(tx, stream)
    return [(change, document) for (change, _), document in zip(changed, described, strict=True)], reached


def renamed_documents(tx: Transaction, since: int) -> list[Document]:
    """Steps that have not changed since, but whose labels were renamed or merged."""
    renamed = steps_renamed(tx, since)
    if not renamed:
        return []
    intents = get_intents(tx, renamed)
    documents = [
        step_document(step)._replace(label_ids=intents[step.id].label_ids) for step in get_steps(tx, renamed).values()
    ]
    return _described(tx, documents)


def _described(tx: Transaction, documents: Sequence[Document]) -> list[Document]:
    """The documents with their metadata."""
    carried = {label_id for document in documents if document.kind == "step" for label_id in document.label_ids}
    vocabulary = Vocabulary(read_labels(tx, carried) if carried else ())
    return [document.with_metadata(vocabulary) for document in documents]


_DOCUMENT = Prepared(
    select(items.c.id).where(of_user(items), items.c.kind == "resource", func.length(items.c.text) > SHORT).limit(1)
)
_DOCUMENTS = Prepared(
    select(items.c.id).where(
        of_user(items),
        items.c.kind == "resource",
        items.c.status.in_(["active", "superseded"]),
        items.c.change <= bindparam("upto"),
        func.length(items.c.text) > SHORT,
    )
)


def _counting(table: Table, indexed: ColumnElement[bool], *counted: ColumnElement[bool]) -> tuple[Prepared, Prepared]:
    """Statements that count the records up to a change number, and those that changed after it."""
    own = select(func.count()).where(of_user(table), *counted)
    reached = bindparam("upto", type_=BigInteger)
    return Prepared(own.where(table.c.change <= reached, indexed)), Prepared(own.where(table.c.change > reached))


_HAS_STEPS = exists().where(
    steps.c.user_id == pages.c.user_id,
    steps.c.thread_id == pages.c.thread_id,
    steps.c.turn.between(pages.c.first_turn, pages.c.last_turn),
    steps.c.status == "active",
)
_COUNTED = {
    "steps": _counting(steps, steps.c.status == "active"),
    "items": _counting(items, items.c.status.in_(["active", "superseded"])),
    "pages": _counting(pages, _HAS_STEPS, pages.c.closed.is_(True)),
}


def expected_count(tx: Transaction, stream: Part, done: int) -> tuple[int, int]:
    """The least and the greatest number of records in an index that is written up to change number ``done``.

    The difference are the records that changed since: a process that was killed may have written some of them.
    """
    low, since = (tx.first(statement, user=tx.user_id, upto=done) for statement in _COUNTED[stream])
    least = int(low[0]) if low else 0
    most = least + (int(since[0]) if since else 0)
    if stream != "items":
        return least, most
    passages = count_passages(tx, upto=done)
    # Of a document that changed since, an index may have any number of passages, also of its former content.
    return least + passages, most + passages if most == least or not _resources_since(tx, done) else sys.maxsize


def count_passages(tx: Transaction, upto: int | None = None) -> int:
    """The number of passages of the user's long documents in an index written up to change ``upto``; None: to the last."""
    ids = [row.id for row in tx.all(_DOCUMENTS, user=tx.user_id, upto=sys.maxsize if upto is None else upto)]
    # One document in memory at a time.
    return sum(len(chunk_spans(item)) for item_id in ids for item in get_items(tx, [item_id]).values())


def holds_documents(tx: Transaction) -> bool:
    """Whether the user has a document that is indexed by passages."""
    return tx.first(_DOCUMENT, user=tx.user_id) is not None


def _resources_since(tx: Transaction, done: int) -> bool:
    own = tx.own(items) & (items.c.kind == "resource") & (items.c.change > done)
    return tx.first(select(items.c.id).where(own).limit(1)) is not None


def count_mismatch(count: int, least: int, most: int) -> str | None:
    """What is wrong with the number of records of an index; None if it is in the expected range."""
    if least <= count <= most:
        return None
    return f"it holds {count:,} of {least:,} records" if least == most else f"it holds {count:,} records of {most:,}"
