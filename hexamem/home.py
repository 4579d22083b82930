"""What opening a home takes: its lock, the embedder and the key that it was used with before, and what labels its steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from hexamem.agents.labelling.intent_labeler import IntentLabeling
from hexamem.errors import ConfigError, HomeInUseError, HomeNotWritableError
from hexamem.intent.contract import Labeler
from hexamem.memory_types.registry import TypeRegistry
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.homes import home_id
from hexamem.stores.ledger import Ledger
from hexamem.stores.secrets import Cipher
from hexamem.stores.vectors import VectorIndex, VectorStore
from hexamem.stores.vectors.chroma import ChromaVectorStore

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from hexamem.memory import Memory

__all__ = [
    "embedder_identity",
    "hold_home",
    "labelling_of",
    "manager_runnables",
    "open_vectors",
    "other_embedder",
    "other_key",
    "reading_embedder",
]


_WRITABLE = (
    "reading needs that too, for the lock and what is brought up to date; check its permissions, copy it to where it "
    "can be written, or give another with home= (--home)"
)


def hold_home(folder: Path) -> FileLock:
    """The lock of a home folder, which is made where there is none and must be writable.

    Raises:
        HomeInUseError: if another process holds it, or this one.
        HomeNotWritableError: if it cannot be made or written.
    """
    if folder.exists() and not folder.is_dir():
        raise HomeNotWritableError(f"the home {folder} is a file, not a folder: name the folder of a memory")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # one that is there keeps its mode; `hexamem doctor` tells of it
        lock = FileLock(folder / ".lock", timeout=0, thread_local=False)  # any thread may close what another opened
        lock.acquire()
    except Timeout:
        raise HomeInUseError(
            f"the home {folder} is open already, here or in another process: close it there, or give another home"
        ) from None
    except OSError as error:
        raise HomeNotWritableError(
            f"the home {folder} cannot be written ({error.strerror or error}): {_WRITABLE}"
        ) from None
    if not os.access(folder, os.W_OK):
        lock.release()
        raise HomeNotWritableError(f"the home {folder} is read-only: {_WRITABLE}")
    return lock


def open_vectors(home: Path, embedder: Embedder, chroma: Any | None, store: VectorStore | None) -> VectorIndex:
    """The vectors of a home: in its folder, on a Chroma client, or in a store that was given.

    Raises:
        ConfigError: if both a client and a store are given, or the store lacks a method.
    """
    if store is not None and chroma is not None:
        raise ConfigError("Memory.open: give either chroma= or vector_store=, not both")
    if store is None:
        store = ChromaVectorStore(home / "chroma" if chroma is None else chroma)
    elif not isinstance(store, VectorStore):
        raise ConfigError(
            f"Memory.open: vector_store={type(store).__name__} lacks a method of hexamem.VectorStore; check it with "
            "hexamem.testing.check_vector_store"
        )
    return VectorIndex(
        store,
        home=home_id(home),
        embedder=embedder.name,
        dimension=embedder.dimension,
        fingerprint=embedder.fingerprint,
    )


def reading_embedder(embedder: Embedder) -> Embedder:
    """The embedder whose vectors labelling and extraction read: the home's own if it ships, since their classifiers are
    trained for those; else the bundled one."""
    return embedder if embedder.name in ("bundled", "static") else open_embedder("bundled")


def manager_runnables(managers: Mapping[str, Any] | None, types: TypeRegistry) -> dict[str, Runnable[Any, Any]]:
    """Managers as runnables.

    Raises:
        ConfigError: one is for a type that there is not, or can be no runnable.
    """
    if not managers:
        return {}
    from langchain_core.runnables.base import coerce_to_runnable

    runnables: dict[str, Runnable[Any, Any]] = {}
    for kind, manager in managers.items():
        if kind not in types:
            raise ConfigError(f"managers: there is no memory type {kind!r}; there are {', '.join(types)}")
        try:
            runnables[kind] = coerce_to_runnable(manager)
        except TypeError:
            raise ConfigError(
                f"managers[{kind!r}] = {manager!r}: give a Runnable or a function that takes a ManagerInput"
            ) from None
    return runnables


def labelling_of(memory: Memory, make: Callable[[str], Labeler] | None) -> IntentLabeling | None:
    """What labels steps by the settings; None with labels "off"."""
    if memory.settings.labels == "off":
        return None
    reads = memory.reading_embedder

    def embedded(user: str) -> Labeler:
        from hexamem.intent.embedded_labeler import EmbeddedLabeler

        return EmbeddedLabeler(user, reads.embed_documents, reads.name)

    return IntentLabeling(
        memory.ledger,
        make or embedded,
        reads.embed_documents,
        memory._notice,
        queue=memory.model_tier.queue,
        queued=memory.model_tier.queued,
    )


def embedder_identity(embedder: Embedder) -> dict[str, str]:
    """The embedder in the rows of a ledger's settings."""
    return {
        "embedder_name": embedder.name,
        "embedder_dimension": str(embedder.dimension),
        "embedder_fingerprint": embedder.fingerprint,
    }


def other_embedder(ledger: Ledger, embedder: Embedder) -> str | None:
    """Why this home's vectors do not fit the embedder; a new home takes the embedder as its own."""
    known = ledger.settings()
    if "embedder_fingerprint" not in known:
        ledger.set_settings(embedder_identity(embedder))
        return None
    if known["embedder_fingerprint"] == embedder.fingerprint:
        return None
    return (
        f"the home {ledger.place} was indexed with embedder {known.get('embedder_name')!r} "
        f"({known['embedder_fingerprint'][:16]}), not with {embedder.name!r} ({embedder.fingerprint[:16]}): "
        f"open it with the first, or make its vectors anew with `hexamem reembed --embedder {embedder.name}`"
    )


def other_key(ledger: Ledger, cipher: Cipher) -> str | None:
    """What to say if the vault's key is not the one this home was last opened with; memory works all the same."""
    known = ledger.settings().get("vault_key_id")
    if known == cipher.key_id:
        return None
    if known is None:
        ledger.set_settings({"vault_key_id": cipher.key_id})
        return None
    return (
        f"the vault's key is {cipher.key_id}, the secrets of {ledger.place} were encrypted with {known}: they cannot be "
        "revealed until HEXAMEM_VAULT_KEY or the file vault.key holds that key again; new ones are kept under this one"
    )
