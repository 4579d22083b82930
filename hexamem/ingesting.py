"""Ingesting: items are extracted from stored steps, batch by batch, by jobs in the background.

``remember`` stores steps and, in the same transaction, queues one job of kind ``manage`` for the user, if none is queued.
The job is due when the conversation has been idle for a while, at once when a batch is full, and on ``flush``. A job
runs the ingest graph over one batch; the items and the end of the job are written in one transaction.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from hexamem.background import JobContext, JobHandlers, JobOutcome, JobRunner
from hexamem.home import Home
from hexamem.memory_types import Remembered, utc_now
from hexamem.model_tier import ModelTier
from hexamem.models import Budget, BudgetRefusal, UsageMeter
from hexamem.paging import Paging
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.jobs import count_jobs, enqueue, parked_payloads, unfinished
from hexamem.stores.ledger.usage import all_usage
from hexamem.stores.projections import Projector

if TYPE_CHECKING:
    import numpy as np
    from langchain_core.runnables import Runnable
    from langgraph.graph.state import CompiledStateGraph
    from numpy.typing import NDArray

    from hexamem.agents.contract import Manager, MetaManager
    from hexamem.graphs.ingest_batches import Waiting
    from hexamem.graphs.ingest_nodes import IngestParts
    from hexamem.graphs.ingest_state import IngestContext
    from hexamem.intent.contract import Embed

MANAGE = "manage"
_KEY = "batch"
_CHARACTERS = 24_000  # of their texts in the prompt of a model, about 6,000 tokens
_EMBEDDED_BATCH = 200  # steps that the embedded reader reads at once: fewer transactions
_NEAR, _NEAR_EMBEDDED = 12, 30  # nearest items of a kind that a manager is shown
_NEAR_TOGETHER = 80  # nearest items of all kinds in the prompt of mode single_call
_SMALL = 30  # a kind with at most so many items is compared whole by the embedded reader
_LEAST_TOKENS = 2_000  # with less budget left, no batch is begun


def _supersedes(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """The bundled cross-encoder's scores; it is loaded when first needed."""
    from hexamem.models.reranker import open_reranker

    return open_reranker().supersedes(pairs)


class Ingesting:
    """Queues and runs the jobs that extract items from stored steps. With mode "off" it does nothing and loads nothing."""

    def __init__(
        self,
        home: Home,
        projector: Projector,
        paging: Paging,
        tier: ModelTier,
        managers: Mapping[str, Runnable[Any, Any]],
        handlers: JobHandlers,
        runner: JobRunner,
        *,
        remember: Callable[[str, Any, str], Remembered],
        wrote: Callable[[str], object],
    ) -> None:
        """Registers the handler of ``manage`` jobs."""
        self._home, self._ledger, self._settings = home, home.ledger, home.settings
        self._projector, self._paging, self._tier = projector, paging, tier
        self._managers, self._runner = managers, runner
        self._remember, self._wrote = remember, wrote
        settings = home.settings
        self.by_model = settings.mode in ("agents", "single_call") and bool(tier.models)
        assert settings.batch_size is not None  # resolved
        self.full = settings.batch_size
        self.characters = _CHARACTERS if self.by_model else None
        self.size = self.full if self.by_model else max(_EMBEDDED_BATCH, self.full)
        self._guard = threading.Lock()
        self._flushing: dict[str, list[int]] = {}  # user → the steps up to which threads are flushing
        if self.on:
            handlers.register(MANAGE, self.run)

    @property
    def on(self) -> bool:
        """Whether items are extracted from steps."""
        return self._settings.mode != "off"

    # ------------------------------------------------------------------ queueing

    def queue(self, tx: Transaction) -> None:
        """Queue a job for the steps that this transaction stores: due at once if a batch is full, else after a rest."""
        if not self.on:
            return
        from hexamem.graphs.ingest_batches import waiting_steps

        waiting = waiting_steps(tx, self.full)
        if any(payload.get("since") == waiting.since for payload in parked_payloads(tx, MANAGE)):
            return  # its next batch failed for good: `flush`, or a retry of the parked job, tries it again
        wait = timedelta() if len(waiting.step_ids) >= self.full else timedelta(seconds=self._settings.batch_idle)
        self._enqueue(tx, utc_now() + wait)

    def _enqueue(self, tx: Transaction, due_at: datetime | None = None) -> None:
        """Queue a job for the next batch of the transaction's user, unless one is queued."""
        from hexamem.graphs.ingest_batches import read_managed

        enqueue(tx, MANAGE, {"since": read_managed(tx)}, key=_KEY, due_at=due_at)

    def hurry(self, user: str) -> None:
        """Make a user's steps that wait for their batch to fill due now."""
        if not self.on:
            return
        from hexamem.graphs.ingest_batches import waiting_steps

        with self._ledger.read(user) as tx:
            waits = bool(tx.user_id) and bool(waiting_steps(tx, 1).step_ids)
        if not waits and not any(kind == MANAGE for kind, _ in count_jobs(self._ledger, user)):
            return
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                self._enqueue(tx)

    @contextmanager
    def flushing(self, user: str) -> Iterator[Callable[[], bool]]:
        """Within this context the steps that a user has now are managed batch after batch, also while the conversation goes
        on. Yields a function that returns whether all of them are managed, and later ones wait."""
        from hexamem.graphs.ingest_batches import last_step, read_managed

        with self._ledger.read(user) as tx:
            until = last_step(tx) if tx.user_id and self.on else 0

        def passed() -> bool:
            with self._ledger.read(user) as tx:
                return self.on and bool(tx.user_id) and read_managed(tx) >= until < last_step(tx)

        with self._guard:
            self._flushing.setdefault(user, []).append(until)
        try:
            self.hurry(user)
            yield passed
        finally:
            with self._guard:
                self._flushing[user].remove(until)
                if not self._flushing[user]:
                    del self._flushing[user]

    def run_due(self, user: str, deadline: float | None) -> bool:
        """Run the due jobs of a user, up to the steps that there are now; returns whether these are done."""
        with self.flushing(user) as passed:
            self._runner.run_due(user, deadline, lambda: (MANAGE,) if passed() else ())
            without = (MANAGE,) if passed() else ()
        return not unfinished(self._ledger, self._runner.clock(), user, without)

    def waiting(self, user: str) -> int:
        """How many steps of a user the managers have not seen."""
        from hexamem.graphs.ingest_batches import count_waiting

        with self._ledger.read(user) as tx:
            return count_waiting(tx) if tx.user_id else 0

    def manage_all(
        self, user: str, progress: Callable[[int], object] = lambda steps: None, *, timeout: float | None = None
    ) -> bool:
        """Manage all waiting steps of a user in this thread; returns whether none is left."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self.on:
            return True
        left = self.waiting(user)
        with self.flushing(user):
            while left and (deadline is None or time.monotonic() < deadline):
                if not self._runner.run_one(user, timeout=-1):
                    break
                before, left = left, self.waiting(user)
                progress(before - left)
        return not left

    def skip(self, user: str) -> None:
        """Extract nothing from the steps that a user has so far: their items were imported with them."""
        from hexamem.graphs.ingest_batches import skip_all

        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                skip_all(tx)

    # ------------------------------------------------------------------ one batch

    def run(self, job: JobContext) -> JobOutcome:
        """Manage the next batch of the job's user, and queue the one after it."""
        from hexamem.graphs.ingest_batches import waiting_steps
        from hexamem.graphs.ingest_state import IngestContext

        user = job.user_name
        job.user.write_recalls()
        idle = timedelta(seconds=self._settings.batch_idle)
        with job.write() as tx:  # a step stored after this queues a job of its own
            waiting = waiting_steps(tx, self.size, self.characters)
            due = waiting.newest + idle if waiting.newest is not None else None
            filling = due is not None and not self._closed(user, waiting) and due > utc_now()
            if not waiting.step_ids or filling:
                job.complete(tx)
                if due is not None:
                    self._enqueue(tx, due)
                return JobOutcome.done()
        refusal = self._refusal()
        if refusal is not None:
            self._notice(user, f"{refusal[0]}; steps wait to be managed")
            return JobOutcome.defer(*refusal)
        finished = False

        def finish(tx: Transaction) -> None:
            nonlocal finished
            finished = True
            job.complete(tx)
            rest = waiting_steps(tx, self.size, self.characters)
            if rest.step_ids:
                now = self._closed(user, rest) or rest.newest is None
                self._enqueue(tx, None if now else cast("datetime", rest.newest) + idle)

        with self.accounted(user) as (budget, usage):
            context = IngestContext(user=user, write=job.write, finish=finish, budget=budget, usage=usage)
            state = self.graph.invoke({"close": True}, context=context)
        if state.get("__interrupt__"):
            return JobOutcome.park(
                "a manager interrupted for an answer, which a background job cannot get: run the batch in a graph with a "
                'checkpointer, memory_graph(memory, manage="now"), or drop the job'
            )
        for line in dict.fromkeys(state.get("degraded") or ()):
            self._notice(user, line)
        if not finished:  # another run managed these steps
            with job.write() as tx:
                finish(tx)
        return JobOutcome.done()

    @contextmanager
    def accounted(self, user: str) -> Iterator[tuple[Budget | None, UsageMeter]]:
        """The budget of one batch, and the meter of its model calls, which are added to the user's usage at the end."""
        budget = self._tier.budget.child(tokens=self._settings.batch_tokens) if self.by_model else None
        with self._tier.metered(user, MANAGE) as usage:
            yield budget, usage

    def _closed(self, user: str, waiting: Waiting) -> bool:
        """Whether the steps that wait are a batch."""
        with self._guard:
            flushing = any(until > waiting.since for until in self._flushing.get(user, ()))
        return flushing or waiting.more or len(waiting.step_ids) >= self.full

    def _refusal(self) -> tuple[str, timedelta] | None:
        """Why the budget does not allow a batch, and how long to wait; None if it does."""
        if not self.by_model:
            return None
        now = utc_now()
        settings = self._settings
        if settings.day_calls is not None or settings.day_tokens is not None:
            midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            rows = all_usage(self._ledger, since=midnight)
            calls = sum(row["calls"] for row in rows)
            tokens = sum(row["input_tokens"] + row["output_tokens"] for row in rows)
            left = midnight + timedelta(days=1) - now
            if settings.day_calls is not None and calls >= settings.day_calls:
                return f"the day's budget of {settings.day_calls:,} model calls is used up", left
            if settings.day_tokens is not None and tokens >= settings.day_tokens:
                return f"the day's budget of {settings.day_tokens:,} tokens is used up", left
        granted = self._tier.budget.reserve(_LEAST_TOKENS)
        if isinstance(granted, BudgetRefusal):
            return granted.reason, timedelta(minutes=10)
        granted.release()
        return None

    def _notice(self, user: str, line: str) -> None:
        entry = user, f"managing of user {user!r}: {line}"
        if entry not in self._home.notices.entries:
            self._home.notices.add(*entry)

    # ------------------------------------------------------------------ the graph

    @cached_property
    def graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled ingest graph, built when first needed."""
        from hexamem.graphs.ingest import ingest_graph

        return ingest_graph(self.parts())

    def parts(self) -> IngestParts:
        """The stores and agents of the graph, by the settings."""
        from hexamem.agents.applying.applier import Applier
        from hexamem.agents.applying.nearest_items import nearest_items
        from hexamem.agents.reader import EmbeddedMetaManager, Reader, embedded_managers
        from hexamem.graphs.ingest_nodes import IngestParts
        from hexamem.graphs.ingest_state import Recorded

        home, settings = self._home, self._settings
        embedder = home.reading_embedder
        # One reader for all, so that a batch is read once. The cross-encoder is too slow for the rates of the static model.
        reader = Reader(embedder, supersedes=_supersedes if embedder.name == "bundled" else None)
        meta, managers = EmbeddedMetaManager(reader), embedded_managers(reader)
        applier = Applier(home.ledger, home.cipher, media=home.media, projector=self._projector)
        agents: dict[str, Any] = {"custom": self._managers}
        if self.by_model:
            agents |= self._model_parts(managers, meta, embedder.embed_documents if settings.labels != "off" else None)
        else:
            agents["without_nearest"] = frozenset(
                kind for kind, manager in managers.items() if not manager.compares and kind not in self._managers
            )
        further = (*agents.get("model_managers", {}), *self._managers)
        agents["always"] = tuple(dict.fromkeys(kind for kind in further if kind not in managers))

        def record(run: IngestContext, messages: Any, thread_id: str) -> Recorded:
            if not messages:
                return Recorded()
            stored = self._remember(run.user, messages, thread_id)
            return Recorded(stored.step_ids, degraded=stored.degraded)

        most, small = (_NEAR, _NEAR) if self.by_model else (_NEAR_EMBEDDED, _SMALL)
        together = _NEAR_TOGETHER if settings.mode == "single_call" and self.by_model else None
        return IngestParts(
            ledger=home.ledger,
            record=record,
            catch_up=self._catch_up,
            nearest=partial(
                nearest_items, home.ledger, home.vectors, home.embedder, most=most, small=small, together=together
            ),
            apply=partial(applier.apply, find_secrets=settings.find_secrets),
            meta_manager=meta,
            managers=managers,
            size=self.size,
            full=self.full,
            characters=self.characters,
            wrote=self._wrote,
            **agents,
        )

    def _model_parts(self, managers: Mapping[str, Manager], meta: MetaManager, embed: Embed | None) -> dict[str, Any]:
        """The agents of the model tier: in mode ``single_call`` one, in mode ``agents`` the meta-manager and the managers."""
        from hexamem.agents.managers.forms import FORMS, form_of

        models, prompts, method = self._tier.models, self._tier.prompts, self._settings.model_method
        custom, types = self._managers, self._ledger.types
        proposed = {kind: memory_type for kind, memory_type in types.items() if memory_type.prompt is not None}
        forms = {kind: FORMS.get(kind) or form_of(memory_type) for kind, memory_type in proposed.items()}
        if self._settings.mode == "single_call":
            from hexamem.agents.single_call import SingleCall

            model = models.of("managers")
            assert model is not None  # by resolved_settings
            forms = {kind: form for kind, form in forms.items() if kind not in custom or kind in FORMS}
            single = SingleCall(model, managers, embed, forms=forms, prompts=prompts, method=method)
            return {"embed": embed, "single_call": single}
        from hexamem.agents.managers.agent import ManagerAgent
        from hexamem.agents.meta_manager import ModelMetaManager

        agents: dict[str, ManagerAgent] = {}
        for kind, form in forms.items():
            model = models.of(form.agent() if kind in FORMS else "managers")
            if model is not None and kind not in custom:
                agents[kind] = ManagerAgent(form, model, managers.get(kind), prompts=prompts)
        parts: dict[str, Any] = {"model_managers": agents}
        if (model := models.of("meta_manager")) is not None:
            further = {
                kind: (types[kind].item.__doc__ or f"items of the type {kind}").strip().partition("\n\n")[0]
                for kind in dict.fromkeys((*agents, *custom))
                if kind not in FORMS
            }
            parts["model_meta_manager"] = ModelMetaManager(model, meta, further=further, prompts=prompts, method=method)
        return parts

    def _catch_up(self, user: str) -> None:
        """Bring the labels and indexes up to the ledger, and the pages if the single call writes their memos."""
        self._projector.catch_up(user)
        if self._settings.mode == "single_call" and self.by_model:
            self._paging.cut(user)
