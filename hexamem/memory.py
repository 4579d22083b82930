"""Memory: opens a home's stores once, for all its users."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from hexamem.async_twins import AsyncMemory
from hexamem.background import BackgroundWorker, JobContext, JobHandlers, JobOutcome, JobRunner
from hexamem.calls import Calls, public
from hexamem.config import DEFAULT_HOME, Settings
from hexamem.distilling import Distilling
from hexamem.errors import ConfigError, EmbedderMismatchError, HexamemError
from hexamem.files import MediaReader, MediaReaders
from hexamem.ingesting import Ingesting, check_mode, resolve_mode
from hexamem.intent.contract import Labeler
from hexamem.intent.label_names import label_types
from hexamem.intent.query import QueryFilter
from hexamem.memory_types.registry import DEFAULT_TYPES, MemoryType, TypeRegistry
from hexamem.memory_types.settings import check_settings
from hexamem.memory_types.times import read_zone
from hexamem.model_tier import ModelTier, check_models
from hexamem.models.chat_models import Models
from hexamem.models.encoder import forget_texts
from hexamem.opening import (
    embedder_identity,
    hold_home,
    labelling_of,
    manager_runnables,
    open_vectors,
    other_embedder,
    other_key,
    reading_embedder,
)
from hexamem.paging import Paging
from hexamem.prompts import PromptFolder, PromptLoader, load_prompt
from hexamem.researching import Researching
from hexamem.retrieval import STRATEGIES, Searcher
from hexamem.stores import privacy
from hexamem.stores.embedders import Embedder, open_embedder
from hexamem.stores.homes import home_id
from hexamem.stores.known_secrets import replace_known
from hexamem.stores.ledger import Ledger, check_name
from hexamem.stores.ledger import jobs as job_queue
from hexamem.stores.ledger.jobs import Job
from hexamem.stores.lexical import LexicalStore
from hexamem.stores.media import MediaStore
from hexamem.stores.projections import Progress, Projector
from hexamem.stores.redaction import Redactor
from hexamem.stores.secrets import Cipher, load_key
from hexamem.stores.vectors import VectorIndex, VectorStore

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from hexamem.user import UserMemory

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
        types: the memory types.
        managers: managers of the host, by memory type.
        handlers: who does the jobs of the queue, by kind; see :mod:`hexamem.background`.
        model_tier: what the chat models do, and their budget.
        media_readers: what sees and hears.
        distilling: what makes experience of runs.
        ingesting: what learns items from steps.
        paging: what makes pages of steps.
        researching: what answers questions in rounds.
        reading_embedder: makes the vectors that labelling and extraction read.
    """

    def __init__(self, home: Path, settings: Settings, embedder: Embedder, lock: FileLock, **stores: Any) -> None:
        self.home, self.settings, self.embedder = home, settings, embedder
        self.notices: list[str] = []
        self.noticed: list[tuple[str | None, str]] = []
        self.ledger: Ledger = stores["ledger"]
        self.vectors: VectorIndex = stores["vectors"]
        self.lexical: LexicalStore = stores["lexical"]
        self.media: MediaStore = stores["media"]
        self.cipher: Cipher = stores["cipher"]
        self.types: TypeRegistry = self.ledger.types
        self.managers: Mapping[str, Any] = stores["managers"]
        self._lock = lock
        self._worker: BackgroundWorker | None = None
        self._calls = Calls(f"the memory at {self.home} was closed; open it again with Memory.open({str(self.home)!r})")
        for notice in self.vectors.notices:
            self._notice(None, notice)
        self.reading_embedder = reading_embedder(embedder)
        embed = None if settings.labels == "off" else self.reading_embedder.embed_documents
        self.model_tier = ModelTier(
            self.ledger, settings, stores["models"], stores["prompts"], embed, self._notice, self._look
        )
        self.labelling = labelling_of(self, stores["labeler"])
        self.projector = Projector(
            self.ledger, self.vectors, self.lexical, embedder, self._notice, home_id(home), self.labelling
        )
        self.searcher = Searcher(
            self.ledger,
            self.vectors,
            self.lexical,
            embedder,
            self._query_intent,
            weights=settings.weights,
            folder=home / "ranking",
        )
        self.projector.let_go = self.drop_kept
        self._users: dict[str, UserMemory] = {}
        self._guard = threading.Lock()
        home_key = home_id(home)
        self.handlers = JobHandlers()
        self.handlers.register(privacy.CLEANUP, self._finish_redactions)
        if self.model_tier.handler is not None:
            self.handlers.register(*self.model_tier.handler)
        self.ingesting = Ingesting(self)
        self.paging = Paging(self)
        self.researching = Researching(self)
        self.runner = JobRunner(
            self.ledger,
            self.handlers,
            home_key,
            self.user,
            closing=lambda: self._calls._closer is not None,
            lease=timedelta(seconds=settings.job_lease),
            max_attempts=settings.max_job_attempts,
        )
        job_queue.end_claims(self.ledger, home_key)
        self.media_readers = MediaReaders(self, describe=stores["describe"], transcribe=stores["transcribe"])
        self.distilling = Distilling(self)
        if settings.background:
            self._worker = BackgroundWorker(
                self.projector, self.runner, brought_up=self._refresh, idle=self._tidy, quiet=self._calls.quiet
            )
            self.handlers.registered = self._worker.wake
            # On a shared ledger there may be jobs of a home that died.
            if not self.ledger.embedded or job_queue.next_due(self.ledger, self.handlers.kinds()) is not None:
                self._worker.wake()

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] = DEFAULT_HOME,
        *,
        model: str | BaseChatModel | None = None,
        models: Mapping[str, str | BaseChatModel] | None = None,
        base_url: str | None = None,
        embedder: str | Embedder | Embeddings = "bundled",
        ledger_url: str | None = None,
        chroma: Any | None = None,
        vector_store: VectorStore | None = None,
        settings: Settings | None = None,
        labeler: Callable[[str], Labeler] | None = None,
        prompts: str | os.PathLike[str] | None = None,
        types: Sequence[MemoryType] = DEFAULT_TYPES,
        managers: Mapping[str, Any] | None = None,
        describe: MediaReader | None = None,
        transcribe: MediaReader | None = None,
        _reembed: bool = False,
    ) -> Memory:
        """Open a home folder, creating it where there is none: then for its owner alone (mode 0700).

        Args:
            home: the folder; ``~`` is the user's own.
            model: the chat model of every agent that has none of its own: a name such as ``openai:gpt-5-mini``, or any
                LangChain chat model. What it does is in the settings; without one, the embedded tier does it.
            models: models by agent or group of agents (``intent_labeler``, ``managers``, …).
            base_url: the address of an OpenAI-compatible server, for every model given by name.
            embedder: "bundled" (no download), "static", "minilm", "openai:<model>", or any LangChain ``Embeddings``.
            ledger_url: a SQLAlchemy URL to keep the ledger elsewhere, e.g. ``postgresql+psycopg://…``.
            chroma: a Chroma client (``HttpClient``, ``CloudClient``) to keep the vectors elsewhere. Its collections carry
                the home's id, so that homes may share a server.
            vector_store: another database for the vectors, see :class:`~hexamem.stores.vectors.VectorStore`; not
                together with ``chroma``. It is closed with the memory.
            settings: see :class:`~hexamem.config.Settings`.
            labeler: makes the labeller of a user, given the name; the embedded one when None. Not used with labels "off".
            prompts: a folder with Markdown files that take the place of the shipped prompts of the same name; see
                :class:`~hexamem.prompts.PromptFolder`.
            types: the memory types: the six that ship, and types of the host's own. A home that was opened with further
                types before can be opened without them; their items are then :class:`~hexamem.UnregisteredItem`.
            managers: managers by memory type, in place of ours: each a ``Runnable`` or function from a
                :class:`~hexamem.ManagerInput` to proposals, such as a compiled graph or an agent. It may interrupt where
                the run has a checkpointer (``memory_graph(memory, manage="now")``).
            describe: puts a picture into words, ``describe(data, mime_type) -> text``. Run as a durable job for the
                pictures of messages and files; where it is None they wait until a memory is opened with one.
            transcribe: the same for recordings.

        Raises:
            ConfigError: if the settings name a strategy that there is not, or ask for a model where none is given; if
                a model cannot be opened.
            HomeNotWritableError: if the folder cannot be made or written.
            HomeInUseError: if another process holds it.
            StorageFullError: if the disk is full.
            EmbedderMismatchError: if its vectors were made by another embedder.
            SecretKeyError: if the vault's key is not usable.
            CorruptFileError: if the ledger is damaged or was written by a later version.
        """
        settings = check_settings(settings, Settings, "Memory.open: settings")
        if settings.strategy not in STRATEGIES:
            raise ConfigError(f"Settings.strategy = {settings.strategy!r}: use one of {', '.join(STRATEGIES)}")
        chat_models = Models.open(model, models, base_url=base_url)
        check_models(settings, chat_models)
        settings = replace(settings, mode=resolve_mode(settings.mode, settings.labels, chat_models))
        check_mode(settings.mode, settings.labels, chat_models)
        registry = TypeRegistry(types)
        runnables = manager_runnables(managers, registry)
        load_prompts: PromptLoader = load_prompt if prompts is None else PromptFolder(prompts)
        folder = Path(home).expanduser()
        lock = hold_home(folder)
        opened: list[Any] = []
        try:
            embeds = open_embedder(embedder)
            types_of_labels = frozenset((*label_types("event"), *label_types("entity")))
            ledger = Ledger.open(folder, ledger_url, types_of_labels, registry)
            opened.append(ledger)
            mismatch = other_embedder(ledger, embeds)
            if mismatch and not _reembed:
                raise EmbedderMismatchError(mismatch)
            cipher = Cipher(load_key(folder).key)
            strange_key = other_key(ledger, cipher)
            lexical = LexicalStore.open(folder / "lexical")
            opened.append(lexical)
            vectors = open_vectors(folder, embeds, chroma, vector_store)
            opened.append(vectors)
            memory = cls(
                folder,
                settings,
                embeds,
                lock,
                ledger=ledger,
                vectors=vectors,
                lexical=lexical,
                media=MediaStore(folder / "media"),
                cipher=cipher,
                labeler=labeler,
                describe=describe,
                transcribe=transcribe,
                models=chat_models,
                prompts=load_prompts,
                managers=runnables,
            )
            if strange_key:
                memory._notice(None, strange_key)
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
        from hexamem.user import UserMemory

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

    def _query_intent(self, user: str, query: str) -> QueryFilter:
        """The labels that a question names; a labeller is asked by one at a time, as it labels."""
        if self.labelling is None:
            return QueryFilter()
        embedded = self.labelling.query(user, query)
        return self.model_tier.query(user, query, embedded, self._without_secrets)

    def _without_secrets(self, user: str, query: str) -> str:
        """A question as a model may see it: secrets that it repeats, or tells for the first time, are taken out."""
        redactor = Redactor(None, self.settings.find_secrets)
        near = redactor.look(query)
        with self.ledger.read(user) as tx:
            (known,) = replace_known(tx, self.cipher, [redactor.clean(query, near)])
        return known

    def wrote(self, user: str) -> None:
        """Tell the background thread that a user's ledger or queue has grown; called after each write."""
        if self._worker is not None:
            self._worker.put(user)

    def _look(self) -> None:
        """Let the background thread look at the queue."""
        if self._worker is not None:
            self._worker.wake()

    @public
    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything acknowledged is in the indexes and every due job was run, for all users.

        Jobs that are parked, deferred, in their pause after a failure, run by another process or of a kind without a
        handler are not waited for.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes. A job that runs is not broken off.

        Returns:
            Whether all is done; where not, :meth:`jobs` tells what is left.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for jobs_first in (False, True):  # a job may be to write what is to be indexed
            if jobs_first:
                with ExitStack() as flushed:
                    for name in self.ledger.users():
                        flushed.enter_context(self.ingesting.flushing(name))
                    self.runner.run_due(deadline=deadline)
                    if sum(self.model_tier.hurry(name) for name in self.ledger.users()):
                        self.runner.run_due(deadline=deadline)
            for name in self.ledger.users():
                if deadline is not None and time.monotonic() > deadline:
                    return False
                self.projector.catch_up(name)
                if jobs_first:
                    self._refresh(name)
        return not job_queue.unfinished(self.ledger, self.runner.clock())

    @public
    def jobs(self) -> list[Job]:
        """The jobs of all users that are not done, the first due first. For the home's keeper."""
        return job_queue.list_jobs(self.ledger)

    @public
    def retry_job(self, job_id: str, *, user: str) -> None:
        """Run a job that is parked, deferred or in its pause as soon as possible, with all its attempts again.

        Raises:
            NotFoundError: if the user has no such job. InvalidInputError: if it is running.
        """
        with self.ledger.write(check_name(user, "user"), create=False) as tx:
            job_queue.retry(tx, job_id)
        self.wrote(user)

    @public
    def drop_job(self, job_id: str, *, user: str) -> None:
        """Take a job out of the queue for good, undone.

        Raises:
            NotFoundError: if the user has no such job.
            InvalidInputError: if it is running, or ends what a redaction promised.
        """
        with self.ledger.write(check_name(user, "user"), create=False) as tx:
            job_queue.drop(tx, job_id)
        self.ingesting.drop(user)

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
            memory.ledger.set_settings(embedder_identity(memory.embedder))
        return written

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
                last_to_first.callback(self._worker.stop, self.settings.job_stop)

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refresh(self, user: str) -> None:
        """Have what recalls keep in memory of a user take in what is new, so that the next recall need not."""
        with self.projector.lock(user):  # as dropping does
            self.searcher.refresh(user)

    def _tidy(self, user: str) -> bool:
        """What nobody waits for, when there is nothing else to do, a little at a time; whether there is more."""
        self.paging.tidy(user)
        # Where a call is under way the rest waits for the next write.
        return not self._calls.busy and self.searcher.prepare(user)

    def _finish_redactions(self, job: JobContext) -> JobOutcome:
        privacy.finish_redactions(job.user.name, self.ledger, self.projector, self.media)
        return JobOutcome.done()

    def drop_kept(self, user: str) -> None:
        """Let go of every word of a user that is kept in memory to work faster; it is read again when it is needed.

        Whatever takes words away calls it, once they are out of the ledger: erase, forget, redact (a vault manager's
        too) and undo.
        """
        with self._guard:
            known = self._users.get(user)
        if known is not None:
            try:
                known.write_recalls()  # what was asked, without what is a secret by now
            except HexamemError as error:
                self._notice(user, f"recalls of user {user!r} could not be noted yet: {error}")
        with self.projector.lock(user):  # nobody labels meanwhile, nor keeps what was read before
            if self.labelling is not None:
                self.labelling.drop(user)
            if self.projector.pages is not None:
                self.projector.pages.drop(user)
            self.searcher.drop(user)
            self.ingesting.drop(user)
            self.researching.drop(user)
            self.reading_embedder.forget()
            forget_texts()  # research and the middleware read with it, whatever the embedder is

    def _notice(self, user: str | None, line: str) -> None:
        self.notices.append(line)
        self.noticed.append((user, line))
        _log.warning(line)
