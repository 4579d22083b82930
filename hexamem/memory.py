"""Memory: opens a home's stores once, for all its users."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from .async_twins import AsyncMemory
from .calls import Calls, public
from .config import DEFAULT_HOME, Settings
from .errors import ConfigError, EmbedderMismatchError, HomeInUseError, HomeNotWritableError
from .memory_types.times import read_zone
from .retrieval import STRATEGIES, Searcher
from .stores.embedders import Embedder, open_embedder
from .stores.homes import home_id
from .stores.ledger import Ledger, check_name
from .stores.lexical import LexicalStore
from .stores.media import MediaStore
from .stores.projections import Progress, Projector
from .stores.secrets import Cipher, load_key
from .stores.vectors import VectorStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from .user import UserMemory

__all__ = ["Memory"]

_log = logging.getLogger("hexamem")


class Memory(AsyncMemory):
    """The stores of one home folder, opened once and shared by all users and threads of a process.

    Open it with :meth:`open`, get a user's memory with :meth:`user`, and :meth:`close` it, or use it as a context
    manager. One process holds a home at a time. Each method has an ``a…`` twin that runs it in a thread:
    ``async with await Memory.aopen(home) as memory``.

    Attributes:
        home: the folder.
        settings: how it behaves.
        embedder: what makes the vectors.
        notices: one clear line for each thing that had to be repaired since it was opened.
        noticed: the same, each with the user whose index it was; None for what concerns the whole home.
    """

    def __init__(self, home: Path, settings: Settings, embedder: Embedder, lock: FileLock, **stores: Any) -> None:
        self.home, self.settings, self.embedder = home, settings, embedder
        self.notices: list[str] = []
        self.noticed: list[tuple[str | None, str]] = []
        self.ledger: Ledger = stores["ledger"]
        self.vectors: VectorStore = stores["vectors"]
        self.lexical: LexicalStore = stores["lexical"]
        self.media: MediaStore = stores["media"]
        self.cipher: Cipher = stores["cipher"]
        self._lock = lock
        self._calls = Calls(f"the memory at {self.home} was closed; open it again with Memory.open({str(self.home)!r})")
        for notice in self.vectors.notices:
            self._notice(None, notice)
        self.projector = Projector(self.ledger, self.vectors, self.lexical, embedder, self._notice, home_id(home))
        self.searcher = Searcher(self.ledger, self.vectors, self.lexical, embedder)
        self._users: dict[str, UserMemory] = {}
        self._guard = threading.Lock()
        self._worker: _Worker | None = _Worker(self.projector) if settings.background else None

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] = DEFAULT_HOME,
        *,
        embedder: str | Embedder | Embeddings = "bundled",
        ledger_url: str | None = None,
        chroma: Any | None = None,
        settings: Settings | None = None,
        _reembed: bool = False,
    ) -> Memory:
        """Open a home folder, creating it where there is none: then for its owner alone (mode 0700).

        Args:
            home: the folder; ``~`` is the user's own.
            embedder: "bundled" (no download), "minilm", "openai:<model>", or any LangChain ``Embeddings``.
            ledger_url: a SQLAlchemy URL to keep the ledger elsewhere, e.g. ``postgresql+psycopg://…``.
            chroma: a Chroma client (``HttpClient``, ``CloudClient``) to keep the vectors elsewhere.
            settings: see :class:`~hexamem.config.Settings`.

        Raises:
            ConfigError: if the settings name a strategy that there is not.
            HomeNotWritableError: if the folder cannot be made or written.
            HomeInUseError: if another process holds it.
            StorageFullError: if the disk is full.
            EmbedderMismatchError: if its vectors were made by another embedder.
            SecretKeyError: if the vault's key is not usable.
            CorruptFileError: if the ledger is damaged or was written by a later version.
        """
        settings = settings or Settings()
        if settings.strategy not in STRATEGIES:
            raise ConfigError(f"Settings.strategy = {settings.strategy!r}: use one of {', '.join(STRATEGIES)}")
        folder = Path(home).expanduser()
        lock = _hold(folder)
        opened: list[Any] = []
        try:
            model = open_embedder(embedder)
            ledger = Ledger.open(folder, ledger_url)
            opened.append(ledger)
            mismatch = _other_embedder(ledger, model)
            if mismatch and not _reembed:
                raise EmbedderMismatchError(mismatch)
            cipher = Cipher(load_key(folder).key)
            other_key = _other_key(ledger, cipher)
            lexical = LexicalStore.open(folder / "lexical")
            opened.append(lexical)
            vectors = VectorStore.open(
                None if chroma is not None else folder / "chroma",
                embedder_name=model.name,
                dimension=model.dimension,
                fingerprint=model.fingerprint,
                client=chroma,
            )
            opened.append(vectors)
            memory = cls(
                folder,
                settings,
                model,
                lock,
                ledger=ledger,
                vectors=vectors,
                lexical=lexical,
                media=MediaStore(folder / "media"),
                cipher=cipher,
            )
            if other_key:
                memory._notice(None, other_key)
            return memory
        except BaseException:
            for store in reversed(opened):
                store.close()
            lock.release()
            raise

    @public
    def user(self, name: str, *, timezone: str | None = None) -> UserMemory:
        """Everything bound to one user: the same object at each call. The user is registered at the first write.

        Args:
            name: any characters, 1 to 512 bytes in UTF-8.
            timezone: IANA name in which naive times are read, and "last Saturday" is resolved; kept for the user from
                now on, wherever it is in use. When None, the one kept, else ``Settings.timezone``.

        Raises:
            MissingUserError: for None, an empty or a blank name: a missing user never means all users.
            InvalidInputError: for a name that is too long, or an unknown timezone.
        """
        from .user import UserMemory

        check_name(name, "user")
        if timezone is not None:
            read_zone(timezone)
        with self._guard:
            found = self._users.get(name)
            if found is not None and timezone in (None, found.timezone):
                return found
            kept = self.ledger.timezone(name)
            zone = timezone or kept or self.settings.timezone
            if found is None:
                found = UserMemory(self, name, zone)
            if kept is not None and zone != kept:
                self.ledger.set_timezone(name, zone)
            found.timezone = zone
            self._users[name] = found
        return found

    @public
    def users(self) -> list[str]:
        """The names of all users who have stored something, in order of arrival. For the home's keeper."""
        return self.ledger.users()

    def wrote(self, user: str) -> None:
        """Tell the background thread that a user's ledger has grown; called after each write."""
        if self._worker is not None:
            self._worker.put(user)

    @public
    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything acknowledged is in the indexes, for all users.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.

        Returns:
            Whether it was finished in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for name in self.ledger.users():
            if deadline is not None and time.monotonic() > deadline:
                return False
            self.projector.catch_up(name)
        return True

    @public
    def reindex(self, user: str | None = None, progress: Progress | None = None) -> int:
        """Throw indexes away and build them from the ledger, for one user or all; returns the records written."""
        names = [check_name(user, "user")] if user is not None else self.ledger.users()
        return sum(self.projector.rebuild(name, progress) for name in names)

    @classmethod
    def reembed(
        cls,
        home: str | os.PathLike[str] = DEFAULT_HOME,
        *,
        embedder: str | Embedder | Embeddings = "bundled",
        progress: Progress | None = None,
        **options: Any,
    ) -> int:
        """Give a home another embedder: every vector is made anew. Returns the records written.

        Killed half way it is simply called again; until it is through, :meth:`open` with either embedder says so.
        """
        with cls.open(home, embedder=embedder, _reembed=True, **options) as memory:
            memory.ledger.set_settings({"embedder_fingerprint": f"changing to {memory.embedder.name}"})
            written = memory.reindex(progress=progress)
            memory.ledger.set_settings(_identity(memory.embedder))
        return written

    def check_open(self) -> None:
        """Raise StoreClosedError after :meth:`close`."""
        self._calls.check()

    def close(self) -> None:
        """Finish what runs and release the home. What was acknowledged stays; twice is fine.

        Calls that begin from now on raise StoreClosedError; those that run in other threads are waited for, and so is
        another thread that is closing it. Called from inside a call, it closes without waiting for that one. Whatever
        fails on the way is raised at the end, with everything closed and the home released.
        """
        if not self._calls.begin_closing():
            return
        with ExitStack() as last_to_first:
            last_to_first.callback(self._calls.end_closing)
            last_to_first.callback(self._lock.release)
            last_to_first.callback(self.ledger.close)
            last_to_first.callback(self.lexical.close)
            last_to_first.callback(self.vectors.close)
            with self._guard:
                users = list(self._users.values())
            for user in users:
                last_to_first.callback(user.write_recalls)
            if self._worker is not None:
                last_to_first.callback(self._worker.stop)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _notice(self, user: str | None, line: str) -> None:
        self.notices.append(line)
        self.noticed.append((user, line))
        _log.warning(line)


def _hold(folder: Path) -> FileLock:
    """The lock of a home, made writable."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)  # one that is there keeps its mode; `hexamem doctor` tells of it
        lock = FileLock(folder / ".lock", timeout=0, thread_local=False)  # any thread may close what another opened
        lock.acquire()
    except Timeout:
        raise HomeInUseError(
            f"the home {folder} is held by another process: close it there, or give another home"
        ) from None
    except OSError as error:
        raise HomeNotWritableError(
            f"the home {folder} cannot be written ({error.strerror or error}): check its permissions, or give another with home= (--home)"
        ) from None
    if not os.access(folder, os.W_OK):
        lock.release()
        raise HomeNotWritableError(
            f"the home {folder} is read-only: check its permissions, or give another with home= (--home)"
        )
    return lock


def _identity(embedder: Embedder) -> dict[str, str]:
    return {
        "embedder_name": embedder.name,
        "embedder_dimension": str(embedder.dimension),
        "embedder_fingerprint": embedder.fingerprint,
    }


def _other_embedder(ledger: Ledger, embedder: Embedder) -> str | None:
    """Why this home's vectors do not fit the embedder; a new home takes the embedder as its own."""
    known = ledger.settings()
    if "embedder_fingerprint" not in known:
        ledger.set_settings(_identity(embedder))
        return None
    if known["embedder_fingerprint"] == embedder.fingerprint:
        return None
    return (
        f"the home {ledger.place} was indexed with embedder {known.get('embedder_name')!r} "
        f"({known['embedder_fingerprint'][:16]}), not with {embedder.name!r} ({embedder.fingerprint[:16]}): "
        f"open it with the first, or make its vectors anew with `hexamem reembed --embedder {embedder.name}`"
    )


def _other_key(ledger: Ledger, cipher: Cipher) -> str | None:
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


class _Worker:
    """One thread that brings users' indexes up after writes. An error there is left for the next recall to meet."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._pending: set[str] = set()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = False

    def put(self, user: str) -> None:
        """Ask for a user to be brought up; asked twice before it ran, it runs once."""
        with self._guard:
            if user in self._pending or self._stopping:
                return
            self._pending.add(user)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hexamem-projector", daemon=True)
                self._thread.start()
        self._queue.put(user)

    def stop(self) -> None:
        """Finish the user at hand and end; what is left is caught up on the next open."""
        with self._guard:
            self._stopping = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (user := self._queue.get()) is not None:
            with self._guard:
                self._pending.discard(user)
                if self._stopping:
                    continue
            try:
                self._projector.catch_up(user)
            except Exception as error:  # noqa: BLE001 - the edge of a thread: the ledger is safe, recall meets it again
                _log.warning("the indexes of a user could not be brought up in the background: %s", error)
