"""The dense index: one Chroma collection a user and part, cosine similarity.

It is a projection of the ledger: whatever is lost here is rebuilt from there, and it says what was lost
(:meth:`VectorStore.suspects`, :attr:`VectorStore.lost_all`, :attr:`VectorStore.notices`). Text is never stored here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hexamem.errors import ConfigError, EmbedderMismatchError, InvalidInputError
from hexamem.stores.vectors.cache import VectorCache, unit_rows
from hexamem.stores.vectors.engine import EmbeddedChroma
from hexamem.stores.vectors.names import PARTS, Part, collection_name, user_and_part
from hexamem.stores.vectors.settings import VectorSettings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

    from hexamem.stores.vectors.remote import RemoteChroma

__all__ = ["Metadata", "Part", "VectorSettings", "VectorStore"]

Metadata = Mapping[str, str | int | float | bool | Sequence[str] | None]

_EMBEDDER, _DIMENSION, _FINGERPRINT = "hexamem:embedder", "hexamem:dimension", "hexamem:fingerprint"
_FETCH = 2000


@dataclass
class VectorStore:
    """Vectors of every user; each call names one user and one part. Thread-safe. Made by :meth:`open`."""

    _engine: EmbeddedChroma | RemoteChroma
    _embedder_name: str
    _dimension: int
    _fingerprint: str
    _settings: VectorSettings
    _cache: VectorCache | None
    _fitting: set[str] = field(default_factory=set)
    _sizes: dict[str, int] = field(default_factory=dict)
    _asked: dict[str, int] = field(default_factory=dict)  # how often a collection was queried; -1: too large to scan

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        embedder_name: str,
        dimension: int,
        fingerprint: str,
        client: ClientAPI | None = None,
        settings: VectorSettings | None = None,
    ) -> VectorStore:
        """Open the store in a folder (embedded, without telemetry), or on a client of a Chroma server.

        Opening loads no collection. Look at :meth:`suspects` and :attr:`lost_all` next, and rebuild those.

        Args:
            path: folder of the embedded database, made when missing; ``None`` with ``client``. One process at a
                time may have it open.
            embedder_name: name of the embedder whose vectors are stored, for messages.
            dimension: length of its vectors.
            fingerprint: changes whenever the embedder's vectors would.
            client: an ``HttpClient`` or ``CloudClient`` instead of a folder.

        Raises:
            ConfigError: neither or both of ``path`` and ``client``, or a setting that cannot work.
            HomeNotWritableError: the folder cannot be made or written.
            HomeInUseError: another process holds the database.
        """
        if (path is None) == (client is None):
            raise ConfigError("The vector store needs either a folder or a Chroma client, and exactly one of them.")
        if dimension < 1:
            raise ConfigError(f"dimension={dimension} of the embedder {embedder_name!r} must be at least 1.")
        settings = settings or VectorSettings()
        engine: EmbeddedChroma | RemoteChroma
        if path is not None:
            engine = EmbeddedChroma(path, max_loaded=settings.max_loaded, min_free_bytes=settings.min_free_bytes)
            cache = VectorCache(dimension, settings.cache_bytes) if settings.cache_bytes else None
        else:
            from hexamem.stores.vectors.remote import RemoteChroma

            assert client is not None
            engine, cache = RemoteChroma(client), None
        return cls(engine, embedder_name, dimension, fingerprint, settings, cache)

    @property
    def notices(self) -> list[str]:
        """One clear line for everything that was found wrong."""
        return list(self._engine.notices)

    @property
    def lost_all(self) -> bool:
        """Whether the database was missing or unreadable on open: every user's vectors must be rebuilt."""
        return self._engine.lost_all

    # -------------------------------------------------------------------------------------------------------- writing

    def upsert(
        self, user_key: str, part: Part, ids: Sequence[str], vectors: np.ndarray, metadatas: Sequence[Metadata]
    ) -> None:
        """Add records, or replace their vectors and the metadata that is named; all are found when this returns.

        Args:
            ids: n distinct ids.
            vectors: ``(n, d)``, finite; of any length, only directions count.
            metadatas: n mappings; each key costs about a tenth of the speed of adding, a list as much as its values.
                A list is stored as an array, so that ``{"labels": {"$contains": …}}`` finds it. ``None`` and an
                empty list take away an earlier value; keys that are not named keep theirs.

        Raises:
            InvalidInputError: shapes, numbers or ids are not as said; nothing was stored.
            EmbedderMismatchError: the collection holds vectors of another embedder.
            CorruptFileError: the collection must be reset and rebuilt first.
            StorageFullError, HomeNotWritableError: nothing of the current batch was stored.
        """
        name = collection_name(user_key, part)
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.shape != (len(ids), self._dimension) or len(metadatas) != len(ids):
            raise InvalidInputError(
                f"upsert into {part} needs vectors of shape ({len(ids)}, {self._dimension}) and {len(ids)} metadatas "
                f"for {len(ids)} ids, not {vectors.shape} and {len(metadatas)}."
            )
        if not np.isfinite(vectors).all():
            bad = ids[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
            raise InvalidInputError(f"The vector of {bad!r} holds NaN or infinity; embed its text again.")
        if len(set(ids)) < len(ids):
            raise InvalidInputError(f"upsert into {part} names an id twice; name each of the {len(ids)} once.")
        prepared: list[Any] = [_storable(metadata) for metadata in metadatas]
        if not len(ids):
            return
        if name not in self._sizes and isinstance(self._engine, EmbeddedChroma) and self._engine.metadata(name) is None:
            # It is made here: what is in it need not be counted. A server's may be made by another process meanwhile.
            self._sizes.setdefault(name, 0)
        for batch in _slices(len(ids), self._settings.batch_size):
            chosen = list(ids[batch])

            def write(collection: ChromaCollection, batch: slice = batch, chosen: list[str] = chosen) -> None:
                collection.upsert(ids=chosen, embeddings=vectors[batch], metadatas=prepared[batch])
                if self._cache is not None:  # nobody else writes to the collection while it is lent
                    self._cache.written(name, chosen, unit_rows(vectors[batch]))

            self._write(name, chosen, write, expected=len(ids))
        self._grow(name, len(ids))

    def describe(self, user_key: str, part: Part, ids: Sequence[str], metadatas: Sequence[Metadata]) -> None:
        """Replace the metadata that is named, of records that are there; their vectors stay. Others are passed over.

        Args:
            ids: n distinct ids.
            metadatas: n mappings, as in :meth:`upsert`.

        Raises:
            CorruptFileError, StorageFullError, HomeNotWritableError, EmbedderMismatchError: as :meth:`upsert`.
        """
        name = collection_name(user_key, part)
        prepared: list[Any] = [_storable(metadata) for metadata in metadatas]
        for batch in _slices(len(ids), self._settings.batch_size):
            chosen = list(ids[batch])

            def write(collection: ChromaCollection, batch: slice = batch, chosen: list[str] = chosen) -> None:
                collection.update(ids=chosen, metadatas=prepared[batch])

            self._write(name, chosen, write, moved=False)

    def delete(self, user_key: str, part: Part, ids: Sequence[str]) -> None:
        """Delete records by id; ids that do not exist are fine.

        Their bytes stay in free pages until :meth:`drop_user` or a later write goes over them.
        """
        name = collection_name(user_key, part)
        unique = list(dict.fromkeys(ids))
        for batch in _slices(len(unique), self._settings.batch_size):
            chosen = unique[batch]

            def write(collection: ChromaCollection, chosen: list[str] = chosen) -> None:
                collection.delete(ids=chosen)
                if self._cache is not None:
                    self._cache.written(name, chosen, None)

            self._write(name, chosen, write)

    def reset(self, user_key: str, part: Part) -> None:
        """Empty the collection, without loading it, so that it can be rebuilt; it is then no suspect any more."""
        self._drop([collection_name(user_key, part)], vacuum=False)

    def drop_user(self, user_key: str) -> None:
        """Erase everything of the user from the disk: records, metadata, vectors, queue, free pages.

        The database is rewritten without it (``VACUUM``, during which other calls wait; it needs as much free disk again), and
        databases that were moved aside as damaged are deleted. On a server, only what a client can reach is deleted.
        """
        self._drop([collection_name(user_key, part) for part in PARTS], vacuum=True)

    # -------------------------------------------------------------------------------------------------------- reading

    def query(self, user_key: str, part: Part, vector: np.ndarray, k: int) -> list[tuple[str, float]]:
        """The ``k`` nearest records as (id, cosine similarity in [-1, 1]), best first; fewer when there are fewer.

        Approximate: in 100,000 records about one in a hundred of the true 100 nearest is missing. A small collection
        that is asked again is compared as a whole, exactly, in less time than its graph takes. Raises as :meth:`upsert`.
        """
        name = collection_name(user_key, part)
        query = self._query_vector(vector, k)
        with self._engine.using(name) as collection:
            if collection is None:
                return []
            self._require_fit(collection)
            scanned = self._scanned(collection, name, query, k)
            if scanned is not None:
                return scanned
            if k > 1000:
                k = min(k, collection.count())
            if k == 0:
                return []
            found = collection.query(query_embeddings=query[None, :], n_results=k, include=["distances"])
        distances = found["distances"]
        assert distances is not None
        return [(item, _similarity(1.0 - d)) for item, d in zip(found["ids"][0], distances[0], strict=True)]

    def query_among(
        self, user_key: str, part: Part, vector: np.ndarray, ids: Collection[str], k: int
    ) -> list[tuple[str, float]]:
        """As :meth:`query`, among these ids only, and **exact**: a filter that selected them never costs recall.

        Ids that do not exist are passed over. Vectors are fetched by id (20 to 40 µs each) and kept in a bounded
        cache, from which 20,000 take about 12 ms.
        """
        name = collection_name(user_key, part)
        query = unit_rows(self._query_vector(vector, k)[None, :])[0]
        unique = list(dict.fromkeys(ids))
        cache = self._cache or VectorCache(self._dimension, self._dimension * 4 * (2 * len(unique) + 256))
        # Taken before anything is read: a change in between makes the fetched vectors too old to keep.
        version = cache.version(name)
        missing = cache.missing(name, unique)
        found: list[str] = []
        scores: list[np.ndarray] = []
        for batch in _slices(len(missing), _FETCH):
            got, rows = self._fetch(name, missing[batch])
            rows = unit_rows(rows)
            found += got
            scores.append(rows @ query)
            cache.add(name, version, got, rows)
        absent = set(missing)
        cached, products = cache.similarities(name, query, [item for item in unique if item not in absent])
        # The cache may have let go of some in the meantime.
        seen = absent.union(cached)
        late = [item for item in unique if item not in seen]
        for batch in _slices(len(late), _FETCH):
            got, rows = self._fetch(name, late[batch])
            found += got
            scores.append(unit_rows(rows) @ query)
        found += cached
        scores.append(products)
        total = np.concatenate(scores)
        best = np.argsort(-total, kind="stable")[:k]
        return [(found[int(i)], _similarity(float(total[i]))) for i in best]

    def vectors(self, user_key: str, part: Part, ids: Collection[str]) -> dict[str, np.ndarray]:
        """The stored vectors ``(d,)`` float32 of those ids that exist."""
        name = collection_name(user_key, part)
        unique = list(dict.fromkeys(ids))
        found: dict[str, np.ndarray] = {}
        for batch in _slices(len(unique), _FETCH):
            found.update(zip(*self._fetch(name, unique[batch]), strict=True))
        return found

    def count(self, user_key: str, part: Part) -> int:
        """How many records there are; 0 without a collection."""
        with self._engine.using(collection_name(user_key, part)) as collection:
            return 0 if collection is None else int(collection.count())

    def ids(self, user_key: str, part: Part) -> set[str]:
        """The ids of all records."""
        with self._engine.using(collection_name(user_key, part)) as collection:
            return set() if collection is None else set(collection.get(include=[])["ids"])

    def let_go(self, user_key: str) -> None:
        """Keep nothing of the user in memory; what is on disk stays."""
        if self._cache is not None:
            for part in PARTS:
                self._cache.discard(collection_name(user_key, part))

    # ------------------------------------------------------------------------------------------------------- condition

    def suspects(self) -> list[tuple[str, Part]]:
        """Collections that may be damaged, after an unclean stop or by their files: :meth:`reset` and rebuild each.

        Until then every other call on one raises :class:`~hexamem.errors.CorruptFileError`, since loading it could
        crash the process. Checks the files of every collection once, loads none.
        """
        return [user_and_part(name) for name in self._engine.suspects()]

    def check_fingerprint(self, user_key: str | None = None) -> None:
        """Compare the embedder that each collection was made with (of one user, or of all) with the one that is open.

        Raises:
            EmbedderMismatchError: names both, the first collection that differs, and what to do.
        """
        names = self._engine.names() if user_key is None else [collection_name(user_key, part) for part in PARTS]
        for name in names:
            self._require_same(name, self._engine.metadata(name))

    def close(self) -> None:
        """Close the database; later calls raise :class:`~hexamem.errors.StoreClosedError`. A second call is fine."""
        self._engine.close()

    # --------------------------------------------------------------------------------------------------------- inside

    def _write(
        self,
        name: str,
        ids: Sequence[str],
        write: Callable[[ChromaCollection], None],
        expected: int | None = None,
        *,
        moved: bool = True,
    ) -> None:
        """Change a collection; ``moved``: vectors change."""
        create = None if expected is None else self._creation(expected)
        cache = self._cache if moved else None
        if cache is not None:
            cache.discard(name, ids)
        try:
            with self._engine.using(name, create=create, writing=True) as collection:
                if collection is not None:
                    self._require_fit(collection)
                    write(collection)
        except BaseException:  # how far it came is not known
            self._sizes.pop(name, None)
            if cache is not None:
                cache.discard(name, ids)
            raise

    def _creation(self, expected: int) -> dict[str, Any]:
        settings = self._settings
        return {
            "metadata": {
                _EMBEDDER: self._embedder_name,
                _DIMENSION: self._dimension,
                _FINGERPRINT: self._fingerprint,
            },
            "configuration": {
                "hnsw": {
                    "space": "cosine",
                    "ef_search": settings.ef_search,
                    "ef_construction": settings.ef_construction,
                    "max_neighbors": settings.max_neighbors,
                    "sync_threshold": self._threshold(expected),
                }
            },
        }

    def _threshold(self, size: int) -> int:
        return self._settings.sync_large if size >= self._settings.large_from else self._settings.sync_small

    def _grow(self, name: str, added: int) -> None:
        """Give a collection that has become large the longer interval; it takes effect when it is loaded again."""
        before = self._sizes.get(name)
        if before is not None and (before >= self._settings.large_from or before + added < self._settings.large_from):
            self._sizes[name] = before + added
            return
        with self._engine.using(name, writing=True) as collection:
            if collection is None:
                return
            self._sizes[name] = size = int(collection.count())
            wanted = self._threshold(size)
            hnsw = (collection.configuration_json or {}).get("hnsw") or {}
            if hnsw.get("sync_threshold", wanted) >= wanted:
                return
            collection.modify(configuration={"hnsw": {"sync_threshold": wanted}})
        self._engine.restart()

    def _drop(self, names: list[str], *, vacuum: bool) -> None:
        try:
            self._engine.drop(names, vacuum=vacuum)
        finally:
            for name in names:
                self._fitting.discard(name)
                self._sizes.pop(name, None)
                self._asked.pop(name, None)
                if self._cache is not None:
                    self._cache.discard(name)

    def _fetch(self, name: str, ids: list[str]) -> tuple[list[str], np.ndarray]:
        with self._engine.using(name) as collection:
            if collection is None:
                return [], np.empty((0, self._dimension), np.float32)
            self._require_fit(collection)
            got = collection.get(ids=ids, include=["embeddings"])
        rows = np.asarray(got["embeddings"], dtype=np.float32).reshape(len(got["ids"]), self._dimension)
        return list(got["ids"]), rows

    def _scanned(
        self, collection: ChromaCollection, name: str, query: np.ndarray, k: int
    ) -> list[tuple[str, float]] | None:
        """The nearest by a comparison with everything; None where the collection is large, or asked for the first time."""
        cache, most = self._cache, self._settings.scanned
        asked = self._asked.get(name, 0)
        if cache is None or asked < 0:
            return None
        self._asked[name] = asked + 1
        if not asked:
            return None
        version = cache.version(name)
        lacking = cache.lacking(name)
        if lacking is None or lacking or cache.size(name) > most:
            count = collection.count()
            if count > most:  # it has grown
                self._asked[name] = -1
                cache.discard(name)
            if count > most or not cache.has_room(name, count):
                return None
            known = None if lacking is None or len(lacking) > most // 4 else lacking
            got = collection.get(ids=known, include=["embeddings"])
            rows = np.asarray(got["embeddings"], dtype=np.float32).reshape(len(got["ids"]), self._dimension)
            cache.add(name, version, got["ids"], unit_rows(rows))
            cache.complete(name, version, known)
        found = cache.nearest(name, unit_rows(query[None, :])[0], k)
        return None if found is None else [(item, _similarity(score)) for item, score in found]

    def _query_vector(self, vector: np.ndarray, k: int) -> np.ndarray:
        vector = np.asarray(vector, dtype=np.float32)
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise InvalidInputError(
                f"A query needs a finite vector of shape ({self._dimension},), not {vector.shape}; "
                f"embed it with {self._embedder_name!r}."
            )
        if k < 1:
            raise InvalidInputError(f"k={k}: ask for at least one record.")
        return vector

    def _require_fit(self, collection: ChromaCollection) -> None:
        if collection.name not in self._fitting:
            self._require_same(collection.name, collection.metadata)
            self._fitting.add(collection.name)

    def _require_same(self, name: str, metadata: Mapping[str, Any] | None) -> None:
        if metadata is None:
            return
        stored = (metadata.get(_EMBEDDER), metadata.get(_DIMENSION), metadata.get(_FINGERPRINT))
        opened = (self._embedder_name, self._dimension, self._fingerprint)
        if stored != opened:
            raise EmbedderMismatchError(
                f"Collection {name} was made with embedder {stored[0]!r} ({stored[1]} dimensions, fingerprint "
                f"{stored[2]}), but {opened[0]!r} ({opened[1]} dimensions, fingerprint {opened[2]}) is open. "
                "Open the memory with the first, or run `hexamem reembed`."
            )


def _storable(metadata: Metadata) -> dict[str, Any] | None:
    """Chroma's form: ``None`` takes a value away, an empty list is refused there, and so is an empty mapping."""
    stored: dict[str, Any] = {}
    for key, value in metadata.items():
        many = isinstance(value, Sequence) and not isinstance(value, str)
        stored[key] = (list(value) or None) if many else value  # type: ignore[arg-type]
    return stored or None


def _slices(total: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, total, size))


def _similarity(value: float) -> float:
    return max(-1.0, min(1.0, float(value)))
