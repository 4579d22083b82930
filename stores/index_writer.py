"""Writes documents to the keyword index and the vector index of a user."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from hexamem.memory_types.times import to_micros
from hexamem.stores.chunking import is_passage, item_of
from hexamem.stores.documents import Document
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import Ledger, user_key
from hexamem.stores.lexical import LexicalDocument, LexicalStore
from hexamem.stores.memory_use import release_memory
from hexamem.stores.vector_cache import embed_texts
from hexamem.stores.vectors import Part, VectorIndex

__all__ = [
    "PAGES",
    "RECORDS",
    "TARGETS",
    "IndexWriter",
    "PageSource",
    "Streams",
    "Target",
    "keyword_index",
    "searched_words",
]

_PARALLEL = 500  # documents from which both indexes are written in parallel
_WRITES_TO_RELEASE, _SECONDS_TO_RELEASE = 4, 1.0
"""Small writes, and seconds, after which free memory is released: each write leaves some in the indexes' threads."""
Streams = tuple[Part, ...]
RECORDS: Streams = ("steps", "items")
"""The streams that share a keyword index, and are up to date before a recall."""
PAGES: Streams = ("pages",)


def keyword_index(user: str, streams: Streams) -> str:
    """The name of the keyword index of these streams of a user."""
    return f"{user_key(user)}.pages" if streams == PAGES else user_key(user)


@dataclass(frozen=True, slots=True)
class Target:
    """An index of a stream."""

    index: Literal["lexical", "vectors"]
    stream: Part

    @property
    def name(self) -> str:
        """Under which its progress is stored."""
        return f"{self.index}.{self.stream}"

    @property
    def group(self) -> Streams:
        """The streams that share its keyword index."""
        return PAGES if self.stream == "pages" else RECORDS


TARGETS = tuple(Target(index, stream) for index in ("lexical", "vectors") for stream in (*RECORDS, *PAGES))


class PageSource(Protocol):
    """Creates the pages that are indexed."""

    def assign(self, user: str) -> None:
        """Assign the user's steps to pages."""
        ...

    def vectors_of(self, user: str, page_ids: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors ``(n, d)`` of pages."""
        ...

    def drop(self, user: str) -> None:
        """Evict what is in memory of a user."""
        ...


class IndexWriter:
    """Writes the documents of a home's users.

    Attributes:
        pages: makes the vectors of pages.
        preserved: by user and id: vectors of unchanged texts that are written again.
    """

    def __init__(self, ledger: Ledger, vectors: VectorIndex, lexical: LexicalStore, embedder: Embedder) -> None:
        self._ledger, self._vectors, self._lexical, self._embedder = ledger, vectors, lexical, embedder
        self.pages: PageSource | None = None
        self.preserved: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
        self._writes, self._released = 0, time.monotonic()  # since free memory was last released

    def rename(self, user: str, renamed: list[Document]) -> None:
        """Replace the metadata of the stored vectors of steps."""
        key = user_key(user)
        vectors = self._vectors.vectors(key, "steps", [document.id for document in renamed])
        known = [document for document in renamed if document.id in vectors]
        if known:
            rows = np.stack([vectors[document.id] for document in known])
            metadatas = [document.metadata for document in known]
            self._vectors.upsert(key, "steps", [document.id for document in known], rows, metadatas)

    def write(self, user: str, lacking: dict[Target, list[Document]]) -> None:
        """Write to both indexes, in parallel for many documents: tokenizing and embedding share the cores."""
        if len(lacking) < 2 or max(map(len, lacking.values())) < _PARALLEL:
            for target, documents in lacking.items():
                self._write_one(user, target, documents)
            self._writes += 1
            if self._writes >= _WRITES_TO_RELEASE and time.monotonic() - self._released >= _SECONDS_TO_RELEASE:
                self._writes, self._released = 0, time.monotonic()
                release_memory()
            return
        first, *rest = lacking.items()
        with ThreadPoolExecutor(1, "hexamem-index") as pool:  # only one more thread, since each needs memory
            parallel = pool.submit(self._write_one, user, *first)
            for target, documents in rest:
                self._write_one(user, target, documents)
            parallel.result()
        release_memory()

    def _write_one(self, user: str, target: Target, documents: list[Document]) -> None:
        key = user_key(user)
        gone = [document.id for document in documents if not document.active]
        gone += self._former_passages(key, target, documents)
        active = [document for document in documents if document.active]
        if target.index == "lexical":
            name = keyword_index(user, target.group)
            if gone:
                self._lexical.delete(name, gone)
            if active:
                self._lexical.upsert(name, [_lexical(document) for document in active])
            return
        if gone:
            self._vectors.delete(key, target.stream, gone)
        if active:
            ids, metadatas = [document.id for document in active], [document.metadata for document in active]
            self._vectors.upsert(key, target.stream, ids, self._vectors_of(user, target.stream, active), metadatas)

    def _former_passages(self, key: str, target: Target, documents: list[Document]) -> list[str]:
        """The indexed passages of items that are written again, except passages that are written too."""
        written = {document.id for document in documents}
        anew = {document.id for document in documents if document.kind == "resource" and not is_passage(document.id)}
        if not anew:
            return []
        indexed = self._lexical.ids(key) if target.index == "lexical" else self._vectors.ids(key, target.stream)
        return [record_id for record_id in indexed - written if is_passage(record_id) and item_of(record_id) in anew]

    def _vectors_of(self, user: str, stream: Part, documents: list[Document]) -> npt.NDArray[np.float32]:
        if stream == "pages" and self.pages is not None:
            return self.pages.vectors_of(user, [document.id for document in documents])
        stored = self.preserved.get(user, {})
        new = [document.text for document in documents if document.id not in stored]
        if len(new) == len(documents):
            return embed_texts(self._ledger, user, self._embedder, new)
        fresh = iter(embed_texts(self._ledger, user, self._embedder, new)) if new else iter(())
        return np.stack([stored[document.id] if document.id in stored else next(fresh) for document in documents])


def searched_words(document: Document) -> str:
    """The text of the keyword index."""
    return f"{document.text}\n{document.also}" if document.also else document.text


def _lexical(document: Document) -> LexicalDocument:
    return LexicalDocument(
        id=document.id,
        text=searched_words(document),
        kind=document.kind,
        thread_id=document.thread_id,
        speaker=document.speaker,
        occurred_at=to_micros(document.occurred_at),
        label_ids=document.label_ids,
    )
