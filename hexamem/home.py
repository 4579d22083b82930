"""An open home folder: its lock, its stores, and what was repaired in it."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from hexamem.config import Settings
from hexamem.errors import (
    ConfigError,
    CorruptFileError,
    EmbedderMismatchError,
    HomeInUseError,
    HomeNotWritableError,
    SecretKeyError,
)
from hexamem.intent.label_names import label_types
from hexamem.memory_types.registry import TypeRegistry
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.homes import home_id
from hexamem.stores.index_reach import IndexReach
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.vault import has_secrets
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.media import MediaStore
from hexamem.stores.redaction import Redactor, redact_texts
from hexamem.stores.secrets import Cipher, load_key
from hexamem.stores.vectors import VectorIndex, VectorStore
from hexamem.stores.vectors.chroma import ChromaVectorStore
from hexamem.stores.vectors.client import disk_errors

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_log = logging.getLogger("hexamem")
_MOST_NOTICES = 1_000
_WRITABLE = (
    "reading needs write access too, for the lock and the indexes; check its permissions, copy it to a writable place, "
    "or name another folder with home= (--home)"
)


class Notices:
    """Repairs and fallbacks since a home was opened: a line each, with the user it concerns; the newest are stored.

    Attributes:
        count: how many there were.
    """

    def __init__(self) -> None:
        self.entries: deque[tuple[str | None, str]] = deque(maxlen=_MOST_NOTICES)
        self.count = 0

    def add(self, user: str | None, line: str) -> None:
        """Add a line, and log it as a warning."""
        self.entries.append((user, line))
        self.count += 1
        _log.warning(line)

    def of(self, user: str, since: int) -> list[str]:
        """The lines of one user that were added after there were ``since`` lines."""
        new = islice(reversed(self.entries), max(0, self.count - since))
        return [line for name, line in new if name == user][::-1]


@dataclass(frozen=True, kw_only=True)
class Home:
    """The open stores of a home folder and the settings. Created by :meth:`open`."""

    folder: Path  # the folder
    id: str  # distinguishes its indexes from those of other homes on the same ledger or vector database
    settings: Settings
    embedder: Embedder  # computes the vectors that are searched
    reading_embedder: Embedder  # computes the vectors that labelling and extraction read
    ledger: Ledger
    vectors: VectorIndex
    lexical: LexicalStore
    media: MediaStore
    reach: IndexReach
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
        """Lock a folder and open its stores; see :meth:`hexamem.Memory.open`."""
        with disk_errors(folder), ExitStack() as opened:
            lock = _hold(folder)
            opened.callback(lock.release)
            if ledger_url is None:
                _check_ledger(folder)
            searched_by = open_embedder(embedder)
            types_of_labels = frozenset((*label_types("event"), *label_types("entity")))
            ledger = Ledger.open(folder, ledger_url, types_of_labels, types)
            opened.callback(ledger.close)
            stored = ledger.settings()
            mismatch = _other_embedder(ledger, stored, searched_by)
            if mismatch and check_embedder:
                raise EmbedderMismatchError(mismatch)
            cipher, other_key = _open_cipher(folder if ledger_url is None else None, ledger, stored)
            if other_key and ledger_url is not None:
                raise SecretKeyError(other_key)
            lexical = LexicalStore.open(folder / "lexical")
            opened.callback(lexical.close)
            identity = home_id(folder)
            vectors = VectorIndex(
                _vector_store(folder, chroma, vector_store),
                home=identity,
                embedder=searched_by.name,
                dimension=searched_by.dimension,
                fingerprint=searched_by.fingerprint,
            )
            notices = Notices()
            for line in (*ledger.notices, *vectors.notices, *([other_key] if other_key else [])):
                notices.add(None, line)
            # The classifiers are trained on the vectors of the embedders that ship.
            ships = searched_by.name in ("bundled", "static")
            home = cls(
                folder=folder,
                id=identity,
                settings=settings,
                embedder=searched_by,
                reading_embedder=searched_by if ships else open_embedder("bundled"),
                ledger=ledger,
                vectors=vectors,
                lexical=lexical,
                media=MediaStore(folder / "media"),
                reach=IndexReach(folder / "reached"),
                cipher=cipher,
                notices=notices,
                lock=lock,
            )
            opened.pop_all()
        return home

    def close(self) -> None:
        """Close the stores and release the lock. An error on the way is raised at the end."""
        with ExitStack() as last_to_first:
            last_to_first.callback(self.lock.release)
            last_to_first.callback(self.ledger.close)
            last_to_first.callback(self.lexical.close)
            last_to_first.callback(self.vectors.close)

    def without_secrets(self, user: str, text: str) -> str:
        """A text as a model may see it, without secrets: those it contains and those that the vault knows."""
        redactor = Redactor(None, self.settings.find_secrets)
        secrets = redactor.scan(text)
        with self.ledger.read(user) as tx:
            (clean,) = replace_known(tx, self.cipher, [redactor.clean(text, secrets)])
        return clean

    def redacted(self, tx: Transaction, *texts: str) -> list[str]:
        """Texts as they may be written to the ledger: each secret in them is stored in the vault."""
        return redact_texts(tx, self.cipher, self.settings.find_secrets, *texts)


def _hold(folder: Path) -> FileLock:
    """Lock a home folder, creating it if it does not exist."""
    if folder.exists() and not folder.is_dir():
        raise HomeNotWritableError(f"the home {folder} is a file, not a folder: name the folder of a memory")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # the mode of an existing folder is only reported, by `hexamem doctor`
        lock = FileLock(folder / ".lock", timeout=0, thread_local=False)  # any thread may close what another opened
        lock.acquire()
    except Timeout:
        raise HomeInUseError(
            f"the home {folder} is open already, here or in another process, such as a chat, a notebook or a server: close it "
            "there, or name another home; homes of several processes can share a ledger on PostgreSQL (ledger_url=, --ledger)"
        ) from None
    except OSError as error:
        raise HomeNotWritableError(
            f"the home {folder} cannot be written ({error.strerror or error}): {_WRITABLE}"
        ) from None
    if not os.access(folder, os.W_OK):
        lock.release()
        raise HomeNotWritableError(f"the home {folder} is read-only: {_WRITABLE}")
    return lock


def _check_ledger(folder: Path) -> None:
    """Refuse a home whose ledger is gone, rather than create an empty one beside what was derived from the old one."""
    ledger = folder / "ledger.sqlite3"
    if (folder / "home.id").is_file() and not (ledger.exists() and (ledger.is_dir() or ledger.stat().st_size)):
        raise CorruptFileError(
            f"the home {folder} was opened before, and {ledger} is {'empty' if ledger.exists() else 'gone'}: put a backup "
            "of that file there, or name its database with ledger_url=; to begin anew, name another folder "
            "with home= (--home) and import an export there"
        )


def _vector_store(folder: Path, chroma: Any | None, store: VectorStore | None) -> VectorStore:
    """The vector database: Chroma in the folder, Chroma behind the client, or the store."""
    if store is None:
        return ChromaVectorStore(folder / "chroma" if chroma is None else chroma)
    if chroma is not None:
        raise ConfigError("Memory.open: pass either chroma= or vector_store=, not both")
    if not isinstance(store, VectorStore):
        raise ConfigError(
            f"Memory.open: vector_store={type(store).__name__} lacks a method of hexamem.VectorStore; check it with "
            "hexamem.testing.check_vector_store"
        )
    return store


def embedder_identity(embedder: Embedder) -> dict[str, str]:
    """An embedder's identity, as rows of a ledger's settings."""
    return {
        "embedder_name": embedder.name,
        "embedder_dimension": str(embedder.dimension),
        "embedder_fingerprint": embedder.fingerprint,
    }


def _other_embedder(ledger: Ledger, stored: Mapping[str, str], embedder: Embedder) -> str | None:
    """Why this home's vectors do not fit the embedder; in a new home the embedder is written to the settings."""
    if "embedder_fingerprint" not in stored:
        ledger.set_settings(embedder_identity(embedder))
        return None
    if stored["embedder_fingerprint"] == embedder.fingerprint:
        return None
    return (
        f"the home {ledger.place} was indexed with embedder {stored.get('embedder_name')!r} "
        f"({stored['embedder_fingerprint'][:16]}), not with {embedder.name!r} ({embedder.fingerprint[:16]}): "
        f"open it with the first, or compute its vectors anew with `hexamem reembed --embedder {embedder.name}`"
    )


def _open_cipher(folder: Path | None, ledger: Ledger, stored: Mapping[str, str]) -> tuple[Cipher, str | None]:
    """The cipher of the vault, and what to report if its key is not the one the secrets were encrypted with.

    Args:
        folder: where a key file is read or made; None for a shared ledger.
    """
    key_id = stored.get("vault_key_id")
    if folder is not None and not has_secrets(ledger):
        key_id = None
    # A key made in place of a lost one would be overwritten when that one is restored.
    cipher = Cipher(load_key(folder, create=key_id is None).key)
    if key_id is None:
        ledger.set_settings({"vault_key_id": cipher.key_id})
    if key_id in (None, cipher.key_id):
        return cipher, None
    return cipher, (
        f"the vault's key is {cipher.key_id}, but the secrets of {ledger.place} were encrypted with {key_id}: they cannot "
        "be revealed until HEXAMEM_VAULT_KEY or the file vault.key holds that key again"
    )
