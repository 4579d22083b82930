"""ChromaStore: LangGraph's ``BaseStore`` on Chroma, for ``compile(store=…)``, langmem and deepagents."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
)

from hexamem.errors import EmbedderMismatchError, InvalidInputError, StoreClosedError
from hexamem.memory_types import new_id
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.store_rows import (
    Write,
    field_paths,
    fields_of,
    filter_of,
    item_digest,
    minutes_of,
    namespace_matches,
    record_ids,
    where_of,
)
from hexamem.stores.vectors.client import close_client, make_writable, open_client

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["ChromaStore"]

_OF_TEXTS = ("of", "prefixes", "indexed", "revision")  # the metadata of records of further texts
_BATCH = 2_000
_EF_SEARCH = 1_200  # exact for small stores, nearly exact for large ones


class ChromaStore(BaseStore):
    """A persistent LangGraph store: values, namespaces, filters, time to live and semantic search in one collection.

    It works without a key or download: texts are embedded by the bundled embedder. Each item is one record with its value
    as JSON, and one record more for each further text that is indexed; an item's score is that of its best text, as
    cosine similarity. Values are returned as decoded from JSON. Thread-safe; ``a…`` methods run in a thread.

    Only namespaces separate users: put the user's id into the namespace, as langmem's ``("memories", "{user_id}")`` does.
    Values belong to the host: they are not searched for secrets, and ``UserMemory.recall`` does not read them.

    Args:
        place: a folder, created when missing, for one process at a time, such as ``memory.home / "store"``; or
            a Chroma client.
        index: LangGraph's index configuration: ``fields`` (the whole value by default) and ``embed``, used in
            place of ``embedder``; ``dims`` is checked. ``False`` indexes nothing.
        embedder: "bundled", "static", "minilm", "openai:<model>" or any LangChain ``Embeddings``.
        ttl: LangGraph's configuration of the time to live, in minutes. Expired items are not returned, and are
            deleted by :meth:`sweep_ttl`, which writes call every ``sweep_interval_minutes``.
        collection: the name of the collection.
        clock: the time in seconds.

    Raises:
        EmbedderMismatchError: the collection was created with another embedder.
        HomeNotWritableError: the folder cannot be written.
    """

    supports_ttl = True

    def __init__(
        self,
        place: str | os.PathLike[str] | Any,
        *,
        index: IndexConfig | bool | None = None,
        embedder: str | Embedder | Embeddings = "bundled",
        ttl: TTLConfig | None = None,
        collection: str = "hexamem.store",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.ttl_config = ttl
        self._clock, self._lock = clock, threading.RLock()
        self._own = isinstance(place, str | os.PathLike)
        self._swept = clock()
        self._listed: set[str] = set()  # namespaces that are known to have their record
        config: Mapping[str, Any] = index if isinstance(index, Mapping) else {}
        chosen = ensure_embeddings(config["embed"]) if config.get("embed") is not None else embedder
        self._embedder: Embedder | None = open_embedder(chosen) if index is not False else None
        dims = config.get("dims")
        if dims and self._embedder is not None and dims != self._embedder.dimension:
            raise InvalidInputError(
                f"index = {{'dims': {dims}}}: embedder {self._embedder.name!r} makes vectors of {self._embedder.dimension}"
            )
        self._fields = field_paths(config.get("fields") or ["$"])
        self._client: Any
        if self._own:
            folder = Path(place).expanduser()
            make_writable(folder)
            self._client = open_client(folder, capacity=4)
        else:
            self._client = place
        try:
            self._open(collection)
        except BaseException:
            self.close()
            raise

    def _open(self, name: str) -> None:
        made_by = self._embedder.fingerprint if self._embedder is not None else "none"
        self._dimension = self._embedder.dimension if self._embedder is not None else 1
        self._records: Any = self._client.get_or_create_collection(
            name,
            metadata={"embedder": made_by},
            configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH}},
            embedding_function=None,
        )
        stored = (self._records.metadata or {}).get("embedder")
        if stored != made_by:
            raise EmbedderMismatchError(
                f"the store's collection {name!r} was created with another embedder (fingerprint {stored}, now {made_by}): "
                "open it with that one, or give collection= another name"
            )

    def close(self) -> None:
        """Close a store that was opened by its folder, after running calls; a second call does nothing."""
        with self._lock:
            client, self._client = self._client, None
            if self._own and client is not None:
                close_client(client)

    def __enter__(self) -> ChromaStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> ChromaStore:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _check_open(self) -> None:
        if self._client is None:
            raise StoreClosedError("the ChromaStore was closed before this call; open it again")

    # ------------------------------------------------------------------ the contract

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations: reads see the state before the batch; of several writes to one key the last counts.

        Raises:
            InvalidInputError: a value is not JSON, a time to live is not a number of minutes above 0, an operator of a
                filter is unknown, or a limit or offset is negative; nothing of the batch is written.
            StoreClosedError: after :meth:`close`.
        """
        listed = list(ops)
        writes = {(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        with self._lock:
            self._check_open()
            prepared = self._prepare(list(writes.values()))
            results: list[Result] = []
            for op in listed:
                if isinstance(op, GetOp):
                    results.append(self._get(op))
                elif isinstance(op, SearchOp):
                    results.append(self._search(op))
                elif isinstance(op, ListNamespacesOp):
                    results.append(self._namespaces(op))
                elif isinstance(op, PutOp):
                    results.append(None)
                else:
                    raise InvalidInputError(f"{type(op).__name__} is no operation of a store")
            self._write(prepared)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As :meth:`batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Delete expired items; returns their number."""
        with self._lock:
            self._check_open()
            self._swept = self._clock()
            where = {"$and": [{"expires": {"$gt": 0.0}}, {"expires": {"$lte": self._swept}}]}
            rows = self._rows(where)
            self._delete([record_id for row in rows for record_id in record_ids(row)])
        return len(rows)

    # ------------------------------------------------------------------ writing

    def _prepare(self, ops: Sequence[PutOp]) -> list[Write]:
        """The records to write: everything that may fail, before the first write."""
        writes: list[Write] = []
        texts: list[str] = []
        for op in ops:
            of = item_digest(op.namespace, op.key)
            if op.value is None:
                writes.append(Write(of, None, 0, 0))
                continue
            try:
                value = json.dumps(dict(op.value), allow_nan=False)
            except (TypeError, ValueError) as error:
                raise InvalidInputError(f"the value of {op.key!r} in {op.namespace!r} is not JSON: {error}") from None
            minutes = minutes_of(op)
            own = self._texts(op)
            row = {
                "of": of,
                "n": 0,
                "key": json.dumps(op.key),
                "namespace": json.dumps(op.namespace),
                "prefixes": [json.dumps(op.namespace[:depth]) for depth in range(1, len(op.namespace) + 1)],
                "value": value,
                "ttl": minutes,
                "expires": self._clock() + minutes * 60 if minutes else 0.0,
                "revision": new_id("put"),
            }
            writes.append(Write(of, row, len(texts), len(texts) + len(own)))
            texts += own
        if texts:
            assert self._embedder is not None
            vectors = np.asarray(self._embedder.embed_documents(texts), dtype=np.float32)
            # A text without a word that the embedder knows has a zero vector, and is not indexed.
            known = np.any(vectors, axis=1)
            spans = [slice(write.begin, write.end) for write in writes]
            writes = [
                write._replace(vectors=vectors[span][known[span]]) for write, span in zip(writes, spans, strict=True)
            ]
        return writes

    def _texts(self, op: PutOp) -> list[str]:
        if self._embedder is None or op.index is False or op.value is None:
            return []
        paths = self._fields if op.index is None else field_paths(op.index)
        texts = [text for path in paths for text in get_text_at_path(op.value, path)]
        return [text for text in dict.fromkeys(texts) if text.strip()]

    def _write(self, writes: Sequence[Write]) -> None:
        if not writes:
            return
        before = self._mains([write.of for write in writes])
        now = datetime.fromtimestamp(self._clock(), UTC).isoformat()
        blank = np.eye(1, self._dimension, dtype=np.float32)
        ids: list[str] = []
        vectors: list[Any] = []
        rows: list[dict[str, Any]] = []
        for name in dict.fromkeys(write.row["namespace"] for write in writes if write.row is not None):
            if name not in self._listed:  # a record for each namespace, so that listing them reads no items
                ids.append(f"namespace.{item_digest((), name)}")
                vectors.append(blank[0])
                rows.append({"of": "namespace", "n": -1, "namespace": name, "indexed": False})
        for write in writes:
            if write.row is None:
                continue
            created = before[write.of]["created"] if write.of in before else now
            texts = len(write.vectors)
            main = {**write.row, "created": created, "updated": now, "indexed": bool(texts), "texts": texts}
            for n, vector in enumerate(write.vectors if len(write.vectors) else blank):
                ids.append(f"{write.of}.{n}")
                vectors.append(vector)
                rows.append(main if n == 0 else {**{name: main[name] for name in _OF_TEXTS}, "n": n})
        for part in range(0, len(ids), _BATCH):
            some = slice(part, part + _BATCH)
            self._records.upsert(ids=ids[some], embeddings=np.asarray(vectors[some]), metadatas=rows[some])
        written = set(ids)  # all records of deleted items, and former further texts of changed ones
        self._delete(
            [record_id for row in before.values() for record_id in record_ids(row) if record_id not in written]
        )
        self._listed.update(row["namespace"] for row in rows if row["n"] == -1)
        sweep = (self.ttl_config or {}).get("sweep_interval_minutes")
        if sweep and self._clock() - self._swept >= sweep * 60:
            self.sweep_ttl()

    # ------------------------------------------------------------------ reading

    def _get(self, op: GetOp) -> Item | None:
        of = item_digest(op.namespace, op.key)
        row = self._mains([of]).get(of)
        if row is None or self._expired(row):
            return None
        self._refresh([row], op.refresh_ttl)
        return Item(**fields_of(row))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        meets = filter_of(op.filter)
        for name, value in (("limit", op.limit), ("offset", op.offset)):
            if value < 0:
                raise InvalidInputError(f"{name} = {value} of a search: give 0 or more")
        wanted = op.offset + op.limit
        if op.query and self._embedder is not None:
            hits = self._nearest(op, wanted, meets)
            if len(hits) < wanted:  # then items without indexed texts
                hits += [(row, None) for row in self._matching(op, meets, {"indexed": False})]
        else:
            hits = [(row, None) for row in self._matching(op, meets)]
        page = hits[op.offset : op.offset + op.limit]
        self._refresh([row for row, _ in page], op.refresh_ttl)
        return [SearchItem(**fields_of(row), score=score) for row, score in page]

    def _nearest(
        self, op: SearchOp, wanted: int, meets: Callable[[Mapping[str, Any]], bool]
    ) -> list[tuple[dict[str, Any], float | None]]:
        """Items by their best text, at least ``wanted`` if there are: the number of neighbours grows until they suffice."""
        assert self._embedder is not None
        assert op.query
        vector = np.asarray(self._embedder.embed_query(op.query), dtype=np.float32)
        if not vector.any():
            return []
        where = where_of(op.namespace_prefix, {"indexed": True})
        most = max(32, 2 * wanted)
        while True:
            near = self._records.query(
                query_embeddings=[vector], n_results=most, where=where, include=["metadatas", "distances"]
            )
            rows, distances = near["metadatas"][0], near["distances"][0]
            scanned = len(rows) < most
            if scanned:  # Chroma's graph may miss some of many similar vectors; so few are compared exactly
                rows, distances = self._compare_all(vector, where)
            mains = {row["of"]: row for row in rows if row["n"] == 0}
            mains |= self._mains([row["of"] for row in rows if row["of"] not in mains])
            best: dict[str, float] = {}
            for row, distance in zip(rows, distances, strict=True):
                main = mains.get(row["of"])
                if main is not None and main["revision"] == row["revision"]:
                    best[row["of"]] = max(best.get(row["of"], -2.0), 1.0 - float(distance))
            ranked = sorted(best, key=lambda of: (-best[of], of))
            hits: list[tuple[dict[str, Any], float | None]] = [
                (mains[of], best[of]) for of in ranked if self._meets(mains[of], meets)
            ]
            if len(hits) >= wanted or scanned:
                return hits
            most *= 4

    def _compare_all(self, vector: Any, where: dict[str, Any]) -> tuple[list[dict[str, Any]], list[float]]:
        rows: list[dict[str, Any]] = []
        distances: list[float] = []
        for got in self._pages(where, "embeddings"):
            vectors = np.asarray(got["embeddings"], dtype=np.float32)
            lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
            distances += (1.0 - (vectors @ vector) / lengths).tolist()
            rows += got["metadatas"]
        return rows, distances

    def _matching(
        self, op: SearchOp, meets: Callable[[Mapping[str, Any]], bool], *extra: dict[str, Any]
    ) -> list[dict[str, Any]]:
        rows = self._rows(where_of(op.namespace_prefix, {"n": 0}, *extra))
        return sorted((row for row in rows if self._meets(row, meets)), key=lambda row: (row["created"], row["of"]))

    def _meets(self, row: Mapping[str, Any], meets: Callable[[Mapping[str, Any]], bool]) -> bool:
        return not self._expired(row) and meets(json.loads(row["value"]))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = (tuple(json.loads(row["namespace"])) for row in self._rows({"n": -1}))
        wanted = sorted(
            namespace
            for namespace in known
            if all(namespace_matches(condition, namespace) for condition in op.match_conditions or ())
        )
        listed: list[tuple[str, ...]] = []
        for namespace in wanted:
            shown = namespace if op.max_depth is None else namespace[: op.max_depth]
            if len(listed) >= op.offset + op.limit:
                break
            if shown not in listed[-1:] and self._has_items(namespace):
                listed.append(shown)
        return listed[op.offset : op.offset + op.limit]

    def _has_items(self, namespace: Sequence[str]) -> bool:
        """Whether a namespace has an item that has not expired."""
        lasting = {"$or": [{"expires": {"$lte": 0.0}}, {"expires": {"$gt": self._clock()}}]}
        where = {"$and": [{"namespace": json.dumps(namespace)}, {"n": 0}, lasting]}
        return bool(self._records.get(where=where, include=[], limit=1)["ids"])

    def _delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _BATCH):
            self._records.delete(ids=ids[start : start + _BATCH])

    def _mains(self, digests: Sequence[str]) -> dict[str, dict[str, Any]]:
        rows: dict[str, dict[str, Any]] = {}
        ids = [f"{of}.0" for of in dict.fromkeys(digests)]
        for start in range(0, len(ids), _BATCH):
            got = self._records.get(ids=ids[start : start + _BATCH], include=["metadatas"])
            rows.update({row["of"]: row for row in got["metadatas"]})
        return rows

    def _rows(self, where: dict[str, Any]) -> list[dict[str, Any]]:
        return [row for got in self._pages(where) for row in got["metadatas"]]

    def _pages(self, where: dict[str, Any], *more: str) -> Iterator[Any]:
        """The records that meet a condition, in batches."""
        offset = 0
        while True:
            got = self._records.get(where=where, include=["metadatas", *more], limit=_BATCH, offset=offset)
            if got["ids"]:
                yield got
            if len(got["ids"]) < _BATCH:
                return
            offset += _BATCH

    def _expired(self, row: Mapping[str, Any]) -> bool:
        return bool(row["expires"]) and row["expires"] <= self._clock()

    def _refresh(self, rows: Sequence[Mapping[str, Any]], wanted: bool) -> None:
        """Restart the time to live of items that were read."""
        limited = [row for row in rows if wanted and row["ttl"]]
        if limited:
            ends = [{"expires": self._clock() + row["ttl"] * 60} for row in limited]
            self._records.update(ids=[f"{row['of']}.0" for row in limited], metadatas=ends)
