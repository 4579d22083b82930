"""The default vector store: one Chroma collection for each part of an owner, embedded or on a server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hexamem.errors import EmbedderMismatchError, StoreClosedError, VectorServerError
from hexamem.stores.vectors.client import http_status
from hexamem.stores.vectors.embedded import EmbeddedChroma
from hexamem.stores.vectors.protocol import LIST_KEYS, METADATA_KEYS, PARTS, FloatArray, Metadata, Part

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

__all__ = ["ChromaVectorStore", "collection_name"]

_FINGERPRINT = "hexamem:fingerprint"
_BATCH = 1_000  # other calls wait for a batch, 0.4 s; Chroma takes 5,461 at most
_FETCH = 2_000
_MAX_WAIT = 60.0  # seconds for an answer of a server
# ef_search of 1,200: a recall of 0.99 at 100 of 100,000 records in 2 ms; a higher ef_construction makes adding 45% slower
# for 0.004 more. Chroma writes the list of all ids at each sync, and replays what is pending when loading.
_HNSW = {"space": "cosine", "ef_search": 1_200, "ef_construction": 40, "max_neighbors": 16, "sync_threshold": 300}


def collection_name(owner: str, part: Part) -> str:
    """The name of a collection: ``hexamem.<home>.<user hash>.<part>``."""
    return f"hexamem.{owner}.{part}"


class _Client(Protocol):
    """Access to the collections: :class:`EmbeddedChroma` or :class:`_ServerChroma`."""

    notices: list[str]

    def using(
        self, name: str, *, create: Mapping[str, Any] | None = None, writing: bool = False
    ) -> AbstractContextManager[ChromaCollection | None]: ...

    def metadata(self, name: str) -> Mapping[str, Any] | None: ...

    def drop(self, names: Sequence[str], *, erase: bool) -> None: ...

    def close(self) -> None: ...


class ChromaVectorStore:
    """A :class:`~hexamem.stores.vectors.protocol.VectorStore` on Chroma.

    Texts are not stored here, but the metadata contain the names of labels, speakers and threads.

    Args:
        place: a folder, created when missing, for one process at a time; or a Chroma client (``HttpClient``,
            ``CloudClient``), which is not closed with the store.
        max_loaded, min_free_bytes: of a folder, see :class:`~hexamem.stores.vectors.embedded.EmbeddedChroma`.

    Raises:
        HomeNotWritableError: the folder cannot be created or written.
        HomeInUseError: another process has opened its database.
    """

    def __init__(self, place: Path | ClientAPI, *, max_loaded: int = 64, min_free_bytes: int = 64 << 20) -> None:
        self._chroma: _Client
        if isinstance(place, Path):
            self._chroma = EmbeddedChroma(place, max_loaded=max_loaded, min_free_bytes=min_free_bytes)
        else:
            self._chroma = _ServerChroma(place)

    @property
    def notices(self) -> list[str]:
        """One line for each problem that was found when the store was opened, or since."""
        return self._chroma.notices

    def upsert(
        self,
        owner: str,
        part: Part,
        ids: Sequence[str],
        vectors: FloatArray,
        metadatas: Sequence[Metadata],
        *,
        fingerprint: str,
    ) -> None:
        """See :meth:`VectorStore.upsert`.

        Raises:
            EmbedderMismatchError: the collection was created with another fingerprint.
            CorruptFileError, StorageFullError, HomeNotWritableError: not all batches were stored.
        """
        name = collection_name(owner, part)
        create = {"metadata": {_FINGERPRINT: fingerprint}, "configuration": {"hnsw": _HNSW}}
        # Chroma merges new metadata into those of a record: None removes a key.
        complete: list[Any] = [dict.fromkeys(METADATA_KEYS, None) | dict(metadata) for metadata in metadatas]
        for batch in _slices(len(ids), _BATCH):
            with self._chroma.using(name, create=create, writing=True) as collection:
                assert collection is not None
                stored = (collection.metadata or {}).get(_FINGERPRINT)
                if stored != fingerprint:
                    raise EmbedderMismatchError(f"Collection {name} was created with {stored}, not with {fingerprint}.")
                collection.upsert(ids=list(ids[batch]), embeddings=vectors[batch], metadatas=complete[batch])

    def delete(self, owner: str, part: Part, ids: Sequence[str] | None) -> None:
        """See :meth:`VectorStore.delete`. The bytes of single records stay in free pages until :meth:`drop_user`."""
        name = collection_name(owner, part)
        if ids is None:
            self._chroma.drop([name], erase=False)
            return
        for batch in _slices(len(ids), _BATCH):
            with self._chroma.using(name, writing=True) as collection:
                if collection is not None:
                    collection.delete(ids=list(ids[batch]))

    def query(
        self,
        owner: str,
        part: Part,
        vector: FloatArray,
        k: int,
        *,
        any_of: Mapping[str, Collection[str]] | None = None,
    ) -> list[tuple[str, float]]:
        """See :meth:`VectorStore.query`: about one in a hundred of the true 100 nearest in 100,000 is missing."""
        where = None if any_of is None else _where(any_of)
        if any_of is not None and where is None:
            return []
        with self._chroma.using(collection_name(owner, part)) as collection:
            if collection is None:
                return []
            if k > 1000:
                k = min(k, collection.count())
            if k == 0:
                return []
            answer = collection.query(query_embeddings=vector[None, :], n_results=k, where=where, include=["distances"])
        distances = answer["distances"]
        assert distances is not None
        return [(record_id, 1.0 - distance) for record_id, distance in zip(answer["ids"][0], distances[0], strict=True)]

    def get(self, owner: str, part: Part, ids: Sequence[str] | None) -> dict[str, FloatArray]:
        """See :meth:`VectorStore.get`: 20 to 40 µs a vector."""
        name = collection_name(owner, part)
        batches = [None] if ids is None else [list(ids[batch]) for batch in _slices(len(ids), _FETCH)]
        vectors: dict[str, FloatArray] = {}
        for batch in batches:
            with self._chroma.using(name) as collection:
                if collection is None:
                    return {}
                answer = collection.get(ids=batch, include=["embeddings"])
            vectors.update(zip(answer["ids"], np.asarray(answer["embeddings"], dtype=np.float32), strict=True))
        return vectors

    def ids(self, owner: str, part: Part) -> set[str]:
        """See :meth:`VectorStore.ids`."""
        with self._chroma.using(collection_name(owner, part)) as collection:
            return set() if collection is None else set(collection.get(include=[])["ids"])

    def count(self, owner: str, part: Part) -> int:
        """See :meth:`VectorStore.count`."""
        with self._chroma.using(collection_name(owner, part)) as collection:
            return 0 if collection is None else int(collection.count())

    def drop_user(self, owner: str) -> None:
        """See :meth:`VectorStore.drop_user`.

        An embedded database is rewritten without the owner (``VACUUM``, during which other calls wait; it needs as much
        free disk again). On a server only what a client can reach is deleted.
        """
        self._chroma.drop([collection_name(owner, part) for part in PARTS], erase=True)

    def fingerprint(self, owner: str, part: Part) -> str | None:
        """See :meth:`VectorStore.fingerprint`. Loads nothing."""
        metadata = self._chroma.metadata(collection_name(owner, part))
        return None if metadata is None else metadata.get(_FINGERPRINT)

    def close(self) -> None:
        """See :meth:`VectorStore.close`."""
        self._chroma.close()


class _ServerChroma:
    """A given client: the server handles damage, eviction and durability."""

    def __init__(self, client: ClientAPI) -> None:
        self._client: ClientAPI | None = client
        self.notices: list[str] = []
        _limit_waiting(client)

    @contextmanager
    def using(
        self, name: str, *, create: Mapping[str, Any] | None = None, writing: bool = False
    ) -> Iterator[ChromaCollection | None]:
        """The collection; it is looked up each time, since another client may drop it and create it again."""
        from httpx import TransportError

        if self._client is None:
            raise StoreClosedError("The vector store is closed; open it again.")
        try:
            yield self._collection(self._client, name, create)
        except TransportError as error:
            raise VectorServerError(
                f"The Chroma server cannot be reached ({error or type(error).__name__}); start it again, or check its address."
            ) from error
        except Exception as error:
            if not _is_refusal(error):
                raise
            status = http_status(error)
            answer = " ".join(filter(None, [str(status or ""), _first_line(error)]))
            raise VectorServerError(
                f"The Chroma server, or a proxy before it, refuses the client's token ({answer}); give the client the right one."
                if status in (401, 403)
                else f"The Chroma server, or a proxy before it, failed ({answer}); check both."
            ) from error

    @staticmethod
    def _collection(client: ClientAPI, name: str, create: Mapping[str, Any] | None) -> ChromaCollection | None:
        from chromadb.errors import NotFoundError

        if create is not None:
            return client.get_or_create_collection(name, embedding_function=None, **create)
        try:
            return client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None

    def metadata(self, name: str) -> Mapping[str, Any] | None:
        """The collection's own metadata."""
        with self.using(name) as collection:
            return None if collection is None else collection.metadata or {}

    def drop(self, names: Sequence[str], *, erase: bool) -> None:
        """Delete collections, and their records first: a local server would not delete the array values of those."""
        for name in names:
            with self.using(name) as collection:
                if collection is None or self._client is None:
                    continue
                while ids := collection.get(limit=_FETCH, include=[])["ids"]:
                    collection.delete(ids=ids)
                self._client.delete_collection(name)

    def close(self) -> None:
        """Release the client."""
        self._client = None


def _limit_waiting(client: ClientAPI) -> None:
    """Let a client of HTTP without a limit, which is Chroma's default, not wait for ever for a server that hangs."""
    from httpx import Client, Timeout

    session = getattr(getattr(client, "_server", None), "_session", None)
    if isinstance(session, Client) and session.timeout == Timeout(None):
        session.timeout = Timeout(_MAX_WAIT)


def _is_refusal(error: Exception) -> bool:
    """Whether the server failed or refused the client, rather than what it was asked for.

    An answer that is not Chroma's own, such as a proxy's 401 or 502, is raised by the client as a bare ``Exception``.
    """
    from chromadb.errors import AuthorizationError, ChromaAuthError, InternalError, RateLimitError

    refused = (AuthorizationError, ChromaAuthError, InternalError, RateLimitError, JSONDecodeError)
    return type(error) is Exception or isinstance(error, refused)


def _first_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 120 else text[:119] + "…"


def _where(any_of: Mapping[str, Collection[str]]) -> dict[str, Any] | None:
    """The filter as Chroma's ``where``, whose ``$or`` needs at least two conditions."""
    conditions: list[dict[str, Any]] = []
    for key, values in any_of.items():
        if key in LIST_KEYS:
            conditions += [{key: {"$contains": value}} for value in sorted(values)]
        elif values:
            conditions.append({key: {"$in": sorted(values)}})
    if len(conditions) > 1:
        return {"$or": conditions}
    return conditions[0] if conditions else None


def _slices(total: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, total, size))
