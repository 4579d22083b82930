"""A Chroma server behind the vector store: the same few calls as the embedded one, without files to care for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError

from hexamem.errors import StoreClosedError
from hexamem.stores.vectors.names import PREFIX

__all__ = ["RemoteChroma"]

_PAGE = 1000


class RemoteChroma:
    """A client that was given: HTTP, cloud, or in memory. The server looks after damage, eviction and durability.

    Attributes:
        notices: always empty.
        lost_all: always false.
    """

    def __init__(self, client: ClientAPI) -> None:
        self._client: ClientAPI | None = client
        self.notices: list[str] = []
        self.lost_all = False

    def names(self) -> list[str]:
        """Names of our collections on the server."""
        client = self._open_client()
        found: list[str] = []
        while page := client.list_collections(limit=_PAGE, offset=len(found)):
            found.extend(collection.name for collection in page)
        return sorted(name for name in found if name.startswith(PREFIX))

    def metadata(self, name: str) -> Mapping[str, Any] | None:
        """The collection's own metadata; ``None`` when there is no such collection."""
        with self.using(name) as collection:
            return None if collection is None else dict(collection.metadata or {})

    def suspects(self) -> list[str]:
        """Nothing: damage is the server's affair."""
        return []

    @contextmanager
    def using(
        self, name: str, *, create: Mapping[str, Any] | None = None, writing: bool = False
    ) -> Iterator[Collection | None]:
        """Lend the collection for one call; ``None`` when it does not exist and ``create`` is not given.

        It is looked up each time, since another client may drop and make it again.
        """
        client = self._open_client()
        if create is not None:
            yield client.get_or_create_collection(name, embedding_function=None, **dict(create))
            return
        try:
            collection = client.get_collection(name, embedding_function=None)
        except NotFoundError:
            yield None
            return
        yield collection

    def restart(self) -> None:
        """Nothing: settings take effect when the server loads the collection again."""

    def drop(self, names: Iterable[str], *, vacuum: bool) -> None:
        """Delete collections. Their records go first, since a local server keeps the array values of the others.

        Bytes that the server keeps in free pages or backups are out of reach; ``vacuum`` is the server's affair too.
        """
        client = self._open_client()
        for name in names:
            with self.using(name) as collection:
                if collection is None:
                    continue
                while ids := collection.get(limit=_PAGE, include=[])["ids"]:
                    collection.delete(ids=ids)
                client.delete_collection(name)

    def close(self) -> None:
        """Let go of the client; whoever made it closes it."""
        self._client = None

    def _open_client(self) -> ClientAPI:
        if self._client is None:
            raise StoreClosedError("The vector store is closed; open it again.")
        return self._client
