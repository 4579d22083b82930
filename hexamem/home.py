"""A home folder that is open: its lock, its stores, and what had to be repaired in it."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from hexamem.config import Settings
from hexamem.errors import ConfigError, EmbedderMismatchError, HomeInUseError, HomeNotWritableError
from hexamem.intent.label_names import label_types
from hexamem.memory_types.registry import TypeRegistry
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.homes import home_id
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.media import MediaStore
from hexamem.stores.redaction import Redactor, redact_texts
from hexamem.stores.secrets import Cipher, load_key
from hexamem.stores.vectors import VectorIndex, VectorStore
from hexamem.stores.vectors.chroma import ChromaVectorStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Home", "Notices", "embedder_identity"]

_log = logging.getLogger("hexamem")
_WRITABLE = (
    "reading needs that too, for the lock and what is brought up to date; check its permissions, copy it to where it "
    "can be written, or give another with home= (--home)"
)


class Notices:
    """What was repaired, or fell back to a lower tier, since a home was opened: a line each, with the user it concerns.

    Attributes:
        entries: (user, line) in order; the user is None for what concerns the whole home.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[str | None, str]] = []

    def add(self, user: str | None, line: str) -> None:
        """Add a line, and log it as a warning."""
        self.entries.append((user, line))
        _log.warning(line)

    def of(self, user: str, since: int) -> list[str]:
        """The lines of one user from an index of ``entries`` on."""
        return [line for name, line in self.entries[since:] if name == user]


@dataclass(frozen=True, kw_only=True)
class Home:
    """The open stores of a home folder, with the settings under which they are used. Made by :meth:`open`.

    Attributes:
        folder: the folder.
        id: distinguishes its indexes from those of other homes on the same ledger or vector database.
        embedder: makes the vectors that are searched.
        reading_embedder: makes the vectors that labelling and extraction read.
    """

    folder: Path
    id: str
    settings: Settings
    embedder: Embedder
    reading_embedder: Embedder
    ledger: Ledger
    vectors: VectorIndex
    lexical: LexicalStore
    media: MediaStore
    cipher: Cipher
    notices: Notices
    lock: FileLock

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: Settings,
        types: TypeRegistry,
        *,
        embedder: str | Embedder | Embeddings,
        ledger_url: str | None,
        chroma: Any | None,
        vector_store: VectorStore | None,
        check_embedder: bool = True,
    ) -> Home:
        """Lock a folder and open its stores; see :meth:`hexamem.Memory.open`.

        Args:
            check_embedder: False opens a home whose vectors another embedder made, to make them anew.
        """
        opened = ExitStack()
        try:
            lock = _hold(folder)
            opened.callback(lock.release)
            embeds = open_embedder(embedder)
            types_of_labels = frozenset((*label_types("event"), *label_types("entity")))
            ledger = Ledger.open(folder, ledger_url, types_of_labels, types)
            opened.callback(ledger.close)
            mismatch = _other_embedder(ledger, embeds)
            if mismatch and check_embedder:
                raise EmbedderMismatchError(mismatch)
            cipher = Cipher(load_key(folder).key)
            strange_key = _other_key(ledger, cipher)
            lexical = LexicalStore.open(folder / "lexical")
            opened.callback(lexical.close)
            identity = home_id(folder)
            vectors = VectorIndex(
                _vector_store(folder, chroma, vector_store),
                home=identity,
                embedder=embeds.name,
                dimension=embeds.dimension,
                fingerprint=embeds.fingerprint,
            )
            notices = Notices()
            for line in (*vectors.notices, *([strange_key] if strange_key else [])):
                notices.add(None, line)
            # The classifiers are trained on the vectors of the embedders that ship.
            reads = embeds if embeds.name in ("bundled", "static") else open_embedder("bundled")
            return cls(
                folder=folder,
                id=identity,
                settings=settings,
                embedder=embeds,
                reading_embedder=reads,
                ledger=ledger,
                vectors=vectors,
                lexical=lexical,
                media=MediaStore(folder / "media"),
                cipher=cipher,
                notices=notices,
                lock=lock,
            )
        except BaseException:
            opened.close()
            raise

    def close(self) -> None:
        """Close the stores and release the lock. Whatever fails on the way is raised at the end."""
        with ExitStack() as last_to_first:
            last_to_first.callback(self.lock.release)
            last_to_first.callback(self.ledger.close)
            last_to_first.callback(self.lexical.close)
            last_to_first.callback(self.vectors.close)

    def without_secrets(self, user: str, text: str) -> str:
        """A text as a model may see it, without secrets: those it contains and those that the vault knows."""
        redactor = Redactor(None, self.settings.find_secrets)
        near = redactor.scan(text)
        with self.ledger.read(user) as tx:
            (clean,) = replace_known(tx, self.cipher, [redactor.clean(text, near)])
        return clean

    def redacted(self, tx: Transaction, *texts: str) -> list[str]:
        """Texts as they may be written to the ledger: each secret in them is stored in the vault."""
        return redact_texts(tx, self.cipher, self.settings.find_secrets, *texts)


def _hold(folder: Path) -> FileLock:
    """The lock of a home folder, which is made where there is none and must be writable.

    Raises:
        HomeInUseError: if another process holds it, or this one.
        HomeNotWritableError: if it cannot be made or written.
    """
    if folder.exists() and not folder.is_dir():
        raise HomeNotWritableError(f"the home {folder} is a file, not a folder: name the folder of a memory")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # one that exists keeps its mode; `hexamem doctor` reports it
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


def _vector_store(folder: Path, chroma: Any | None, store: VectorStore | None) -> VectorStore:
    """The vector database: in the folder, on a Chroma client, or the one that was given.

    Raises:
        ConfigError: if both a client and a store are given, or the store lacks a method.
    """
    if store is None:
        return ChromaVectorStore(folder / "chroma" if chroma is None else chroma)
    if chroma is not None:
        raise ConfigError("Memory.open: give either chroma= or vector_store=, not both")
    if not isinstance(store, VectorStore):
        raise ConfigError(
            f"Memory.open: vector_store={type(store).__name__} lacks a method of hexamem.VectorStore; check it with "
            "hexamem.testing.check_vector_store"
        )
    return store


def embedder_identity(embedder: Embedder) -> dict[str, str]:
    """The embedder in the rows of a ledger's settings."""
    return {
        "embedder_name": embedder.name,
        "embedder_dimension": str(embedder.dimension),
        "embedder_fingerprint": embedder.fingerprint,
    }


def _other_embedder(ledger: Ledger, embedder: Embedder) -> str | None:
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


def _other_key(ledger: Ledger, cipher: Cipher) -> str | None:
    """What to report if the vault's key is not the one this home was last opened with; memory works all the same."""
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
