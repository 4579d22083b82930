"""``Memory``: the stores of one home folder, opened once and shared by all its users."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from hexamem.agents.labelling.label_stage import IntentLabeling
from hexamem.arguments import folder_path
from hexamem.background import BackgroundWorker, JobHandlers, JobRunner
from hexamem.calls import Calls, class_in_thread, counted, in_thread
from hexamem.config import DEFAULT_HOME, Settings
from hexamem.distilling import Distilling
from hexamem.errors import ConfigError, CorruptFileError, HexamemError
from hexamem.files import MediaReader, MediaReaders
from hexamem.home import Home, embedder_identity
from hexamem.ingesting import Ingesting
from hexamem.intent.contract import Labeler
from hexamem.intent.query import QueryFilter
from hexamem.memory_types import Remembered
from hexamem.memory_types.registry import DEFAULT_TYPES, MemoryType, TypeRegistry
from hexamem.memory_types.settings import check_settings
from hexamem.memory_types.times import read_zone, shown
from hexamem.model_tier import ModelTier, manager_runnables, resolved_settings
from hexamem.models.chat_models import Models
from hexamem.models.encoder import forget_texts
from hexamem.paging import Paging
from hexamem.prompts import PromptFolder, PromptLoader, load_prompt
from hexamem.recalling import Recalling
from hexamem.redactions import Redactions
from hexamem.researching import Researching
from hexamem.retrieval import Searcher
from hexamem.retrieval.strategies import Scorer, Strategy, strategies_with
from hexamem.stores.embedders import Embedder
from hexamem.stores.ledger import check_name
from hexamem.stores.ledger import jobs as job_queue
from hexamem.stores.ledger.jobs import Job
from hexamem.stores.privacy import remove_files_of_erased
from hexamem.stores.projections import Progress, Projector
from hexamem.stores.vectors import VectorStore
from hexamem.user import UserMemory

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel


class Memory:
    """The stores of one home folder, opened once and shared by all users and threads of a process.

    Open it with :meth:`open`, get a user's memory with :meth:`user`, and :meth:`close` it, or use it as a context
    manager. One process holds a home at a time. Each method has an ``a…`` twin that runs it in a thread:
    ``async with await Memory.aopen(home) as memory``.

    Attributes:
        home: the folder.
        settings: how it behaves.
        ledger, vectors, lexical, media: its stores.
        cipher: encrypts the vault.
        embedder: computes the vectors that are searched.
        reading_embedder: computes the vectors that labelling and extraction read.
        types: the memory types.
        projector, searcher: bring the indexes up to the ledger, and search them.
        handlers, runner: the handlers of queued jobs by kind, and what runs them; see :mod:`hexamem.background`.
        model_tier: what the chat models do, and their budget.
        labelling: labels steps; None with ``Settings.labels = "off"``.
        query_intent: ``(user, question)`` to the labels that the question names.
        redactions, paging, ingesting, distilling, media_readers, recalling, researching: the parts that do this work.
    """

    _check_embedder = True  # False while :meth:`reembed` changes the embedder

    def __init__(
        self,
        home: Home,
        models: Models,
        prompts: PromptLoader,
        managers: Mapping[str, Any],
        strategies: Mapping[str, Strategy],
        labeler: Callable[[str], Labeler] | None,
        describe: MediaReader | None,
        transcribe: MediaReader | None,
    ) -> None:
        """Compose the parts of a memory over an open home. Called by :meth:`open`."""
        settings, notice = home.settings, home.notices.add
        self._home, self.home, self.settings = home, home.folder, settings
        self.ledger, self.vectors, self.lexical = home.ledger, home.vectors, home.lexical
        self.media, self.cipher, self.types = home.media, home.cipher, home.ledger.types
        self.embedder, self.reading_embedder = home.embedder, home.reading_embedder
        self._users: dict[str, UserMemory] = {}
        self._recalls_wait: dict[str, None] = {}  # users whose logged recalls the background thread writes
        self._guard = threading.Lock()
        self._worker: BackgroundWorker | None = None
        closed = f"the memory at {self.home} was closed; open it again with Memory.open({str(self.home)!r})"
        self._calls = Calls(closed, self.home)

        self.handlers = handlers = JobHandlers()
        self.model_tier = tier = ModelTier(home, models, prompts)
        self.labelling = _labelling(home, labeler)
        self.query_intent = self.labelling.query if self.labelling is not None else lambda user, query: QueryFilter()
        self.projector = projector = Projector(
            home.ledger, home.vectors, home.lexical, home.embedder, notice, home.id, home.reach, self.labelling
        )
        projector.on_removal = self.drop_caches
        self.searcher = Searcher(
            home.ledger,
            home.vectors,
            home.lexical,
            home.embedder,
            self.query_intent,
            projector.indexed,
            weights=settings.weights,
        )
        self.runner = JobRunner(
            home.ledger,
            handlers,
            home.id,
            self.user,
            closing=lambda: self._calls.closing,
            lease=timedelta(seconds=settings.job_lease),
            max_attempts=settings.max_job_attempts,
        )
        self.redactions = Redactions(home, projector, handlers)
        self.paging = Paging(home, projector)
        self.ingesting = Ingesting(
            home,
            projector,
            self.paging,
            tier,
            managers,
            handlers,
            self.runner,
            remember=self._remember,
            wrote=self.wrote,
        )
        self.recalling = Recalling(home, projector, self.searcher, self.redactions, strategies)
        self.researching = Researching(
            home, projector, self.searcher, self.paging, tier, self.redactions, self.query_intent
        )
        job_queue.end_claims(home.ledger, home.id, deferred=True)
        remove_files_of_erased(home.ledger, home.media)
        self.media_readers = MediaReaders(home, handlers, self.wrote, describe=describe, transcribe=transcribe)
        self.distilling = Distilling(home, tier, handlers, self.wrote)
        if settings.background:
            self._worker = BackgroundWorker(
                projector,
                self.runner,
                before=self._write_waiting_recalls,
                brought_up=self._refresh,
                idle=self.paging.tidy,
            )
            handlers.registered = self._worker.wake
            # On a shared ledger there may be jobs of a home whose process was killed.
            if not home.ledger.embedded or job_queue.next_due(home.ledger, handlers.kinds()) is not None:
                self._worker.wake()

    @classmethod
    def open(
        cls,
        /,
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
        rankings: Mapping[str, Scorer] | None = None,
        describe: MediaReader | None = None,
        transcribe: MediaReader | None = None,
    ) -> Memory:
        """Open a home folder. One that does not exist is created, readable by its owner alone (mode 0700).

        Args:
            home: the folder; ``~`` is expanded.
            model: the chat model of every agent that has none of its own: a name such as ``openai:gpt-5-mini``, or any
                LangChain chat model. The settings say what it does; without a model, the embedded tier does it.
            models: models by agent or group of agents (``intent_labeler``, ``managers``, …).
            base_url: the address of an OpenAI-compatible server, for every model given by name.
            embedder: "bundled" (no download), "static", "minilm", "openai:<model>", or any LangChain ``Embeddings``.
            ledger_url: a SQLAlchemy URL for a ledger outside the folder, e.g. ``postgresql+psycopg://…``, which several
                homes may share. Its vault has one key, from ``HEXAMEM_VAULT_KEY``.
            chroma: a Chroma client (``HttpClient``, ``CloudClient``) for vectors outside the folder. The names of its
                collections contain the home's id, so that homes may share a server.
            vector_store: another vector database, see :class:`~hexamem.stores.vectors.VectorStore`; not together with
                ``chroma``. It is closed with the memory.
            settings: see :class:`~hexamem.config.Settings`.
            labeler: returns the labeler of a user, given the user's name; the embedded one when None. Not used with
                labels "off".
            prompts: a folder with Markdown files that replace the shipped prompts of the same name; see
                :class:`~hexamem.prompts.PromptFolder`.
            types: the memory types: the six that ship, and types of the host's own. A home that was opened with further
                types before can be opened without them; their items are then :class:`~hexamem.UnregisteredItem`.
            managers: managers by memory type, in place of the shipped ones: each a ``Runnable`` or function from a
                :class:`~hexamem.ManagerInput` to proposals, such as a compiled graph or an agent. It may interrupt where
                the run has a checkpointer (``memory_graph(memory, manage="now")``).
            rankings: rankings of the host's own by name, for ``recall(strategy=name)`` and ``Settings.strategy``: each a
                function from the question and at most 100 hits of ``learned``, best first, to a score for each hit.
            describe: describes a picture, ``describe(data, mime_type) -> text``. Runs as a durable job for the pictures
                of messages and files; where it is None they wait until a memory is opened with one.
            transcribe: the same for recordings.

        Raises:
            ConfigError: if the settings name an unknown strategy, or need a model and none is passed; if a model cannot
                be opened.
            HomeNotWritableError: if the folder cannot be created or written.
            HomeInUseError: if another process holds it.
            StorageFullError: if the disk is full.
            EmbedderMismatchError: if its vectors were computed by another embedder.
            SecretKeyError: if the vault's key is not usable.
            CorruptFileError: if the ledger is damaged or was written by a later version.
        """
        settings = check_settings(settings, Settings, "Memory.open: settings")
        chat_models = Models.open(model, models, base_url=base_url, timeout=settings.model_timeout)
        registry = TypeRegistry(types)
        runnables = manager_runnables(managers, registry)
        strategies = strategies_with(rankings)
        load_prompts: PromptLoader = load_prompt if prompts is None else PromptFolder(prompts)
        opened = Home.open(
            folder_path(home, "home"),
            resolved_settings(settings, chat_models, strategies),
            registry,
            embedder=embedder,
            ledger_url=ledger_url,
            chroma=chroma,
            vector_store=vector_store,
            check_embedder=cls._check_embedder,
        )
        try:
            return cls(opened, chat_models, load_prompts, runnables, strategies, labeler, describe, transcribe)
        except BaseException:
            opened.close()
            raise

    @counted
    def user(self, name: str, *, timezone: str | None = None) -> UserMemory:
        """Everything bound to one user: the same object at each call. The user is registered at the first write.

        Args:
            name: any characters, 1 to 512 bytes in UTF-8.
            timezone: IANA name in which naive times are read, and "last Saturday" is resolved; stored for the user. When
                None, the stored one, else ``Settings.timezone``.

        Raises:
            MissingUserError: for None, an empty or a blank name: a missing user never means all users.
            InvalidInputError: for a name that is too long, or an unknown timezone.
        """
        check_name(name, "user")
        if timezone is not None:
            read_zone(timezone)
        user = self._users.get(name)
        if user is not None and timezone in (None, user.timezone):
            return user
        stored = self.ledger.timezone(name)  # not under the guard: a write waits for the writes of other users
        zone = timezone or stored or self.settings.timezone
        if stored is not None and zone != stored:
            self.ledger.set_timezone(name, zone)
        with self._guard:
            user = self._users.get(name)
            if user is None:
                user = self._users[name] = UserMemory(self, self._home, self._calls, name, zone)
            elif timezone is not None:
                user.timezone = zone
        return user

    @counted
    def users(self) -> list[str]:
        """The names of all users who have stored something, in order of their first write. For administration."""
        return self.ledger.users()

    @property
    def notices(self) -> list[str]:
        """A line for each repair and each fallback since the memory was opened: the newest 1,000."""
        return [line for _, line in self._home.notices.entries]

    def wrote(self, user: str) -> None:
        """Notify the background thread of a write to a user's ledger or queue; called after each write."""
        if self._worker is not None:
            self._worker.put(user)

    @counted
    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything acknowledged is in the indexes and every due job was run, for all users.

        Jobs that are parked, deferred, in their pause after a failure, run by another process or of a kind without a
        handler are not waited for.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes. A running job is not interrupted.

        Returns:
            Whether all is done; where not, :meth:`jobs` lists what is left. A user whose rows in the ledger are damaged is
            not done; the next recall of that user says why.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        finished = True
        for jobs_first in (False, True):  # a job may write what is to be indexed
            for name in self.ledger.users():
                if deadline is not None and time.monotonic() > deadline:
                    return False
                try:
                    if jobs_first:
                        finished = self.ingesting.run_due(name, deadline) and finished
                    self.projector.catch_up(name)
                    if jobs_first:
                        self._refresh(name)
                except CorruptFileError as error:  # a damaged row: the other users' work goes on
                    finished = False
                    self._home.notices.add(name, f"user {name!r} could not be indexed: {error}")
        return finished

    @counted
    def jobs(self) -> list[Job]:
        """The jobs of all users that are not done, the first due first. For administration."""
        return job_queue.list_jobs(self.ledger)

    @counted
    def retry_job(self, job_id: str, *, user: str) -> None:
        """Run a job that is parked, deferred or in its pause as soon as possible, with all its attempts again.

        Raises:
            NotFoundError: if the user has no such job. InvalidInputError: if it is running.
        """
        with self.ledger.write(check_name(user, "user"), create=False) as tx:
            job_queue.retry(tx, job_id)
        self.wrote(user)

    @counted
    def drop_job(self, job_id: str, *, user: str) -> None:
        """Delete a job from the queue without running it.

        Raises:
            NotFoundError: if the user has no such job.
            InvalidInputError: if it is running, or completes a redaction.
        """
        with self.ledger.write(check_name(user, "user"), create=False) as tx:
            job_queue.drop(tx, job_id)

    @counted
    def reindex(self, user: str | None = None, progress: Progress | None = None) -> int:
        """Delete indexes and build them from the ledger, for one user or all; returns how many records were written."""
        names = [check_name(user, "user")] if user is not None else self.ledger.users()
        return sum(self.projector.rebuild(name, progress) for name in names)

    @classmethod
    def reembed(
        cls,
        /,
        home: str | os.PathLike[str] = DEFAULT_HOME,
        *,
        embedder: str | Embedder | Embeddings = "bundled",
        progress: Progress | None = None,
        **options: Any,
    ) -> int:
        """Change the embedder of a home: every vector is computed anew. Returns how many records were written.

        If the process is killed half way, call it again; until it is done, :meth:`open` refuses either embedder.
        """
        unchecked = cast("type[Memory]", type(cls.__name__, (cls,), {"_check_embedder": False}))
        with unchecked.open(home, embedder=embedder, **options) as memory:
            memory.ledger.set_settings({"embedder_fingerprint": f"changing to {memory.embedder.name}"})
            written = memory.reindex(progress=progress)
            memory.ledger.set_settings(embedder_identity(memory.embedder))
        return written

    def close(self) -> None:
        """Finish running calls and release the home. Nothing acknowledged is lost; a second call does nothing.

        Calls that begin from now on raise StoreClosedError; those that run in other threads are waited for, and so is
        another thread that is closing it. Called from inside a call, it closes without waiting for that one. In a fork of
        the process that opened it, it does nothing. An error on
        the way is raised at the end, with everything closed and the home released.
        """
        if not self._calls.begin_closing():
            return
        with ExitStack() as last_to_first:
            last_to_first.callback(self._calls.end_closing)
            last_to_first.callback(self._home.close)
            with self._guard:
                users = list(self._users.values())
            for user in users:
                last_to_first.callback(user.write_recalls)
            if self._worker is not None:
                last_to_first.callback(self._worker.stop, self.settings.job_stop)

    def __enter__(self) -> Memory:
        return self

    async def __aenter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def write_recalls_in_background(self, user: str) -> bool:
        """Have the logged recalls of a user written by the background thread; returns whether there is one."""
        if self._worker is None:
            return False
        self._recalls_wait[user] = None
        self._worker.put(user)
        return True

    def _write_waiting_recalls(self, user: str) -> None:
        if self._recalls_wait.pop(user, ...) is None:
            self.user(user).write_recalls()

    def _refresh(self, user: str) -> None:
        """Update the caches that recalls read, so that the next recall need not."""
        with self.projector.lock(user):  # as in :meth:`drop_caches`
            self.searcher.refresh(user)

    def _remember(self, user: str, messages: Any, thread_id: str) -> Remembered:
        return self.user(user).remember(messages, thread_id=thread_id)

    def drop_caches(self, user: str) -> None:
        """Evict all of a user's texts from the caches; they are read again when needed.

        Called once texts are deleted from the ledger: by erase, forget, redact (a vault manager's too) and undo.
        """
        with self._guard:
            known = self._users.get(user)
        if known is not None:
            try:
                known.write_recalls()  # the queries, without what is a secret by now
            except HexamemError as error:
                self._home.notices.add(user, f"recalls of user {user!r} could not be written yet: {error}")
        with self.projector.lock(user):  # no thread labels meanwhile, nor caches what was read before
            if self.labelling is not None:
                self.labelling.drop(user)
            if self.projector.writer.pages is not None:
                self.projector.writer.pages.drop(user)
            self.searcher.drop(user)
            self.reading_embedder.forget()
            forget_texts()  # research and the middleware use the bundled encoder, whatever the embedder is

    # The twins for asyncio.
    aopen = class_in_thread(open)  # noqa: A003
    auser = in_thread(user)
    ausers = in_thread(users)
    aflush = in_thread(flush)
    ajobs = in_thread(jobs)
    aretry_job = in_thread(retry_job)
    adrop_job = in_thread(drop_job)
    areindex = in_thread(reindex)
    areembed = class_in_thread(reembed)
    aclose = in_thread(close)


def _labelling(home: Home, labeler_of: Callable[[str], Labeler] | None) -> IntentLabeling | None:
    """What labels steps by the settings; None with labels "off"."""
    if home.settings.labels == "off":
        return None
    embedder = home.reading_embedder

    def embedded(user: str) -> Labeler:
        from hexamem.intent.embedded_labeler import EmbeddedLabeler

        return EmbeddedLabeler(user, embedder.embed_documents, embedder.name)

    return IntentLabeling(home.ledger, labeler_of or embedded, embedder.embed_documents, home.notices.add)


def check_memory(memory: object, caller: str) -> None:
    """Check that a graph, middleware or tool gets an open memory, rather than a folder or the memory of one user."""
    if not isinstance(memory, Memory):
        raise ConfigError(
            f"{caller}: memory = {shown(memory)} is of type {type(memory).__name__}; give the Memory that Memory.open "
            "returns: the user comes from the run"
        )
