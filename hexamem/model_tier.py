"""The model tier of a memory: what its chat models do by the settings, and the budget that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hexamem.background import JobContext, JobHandlers, JobOutcome
from hexamem.config import Settings
from hexamem.errors import ConfigError, HexamemError
from hexamem.home import Home
from hexamem.intent.query import QueryFilter
from hexamem.memory_types.registry import TypeRegistry
from hexamem.models import Budget, UsageMeter
from hexamem.retrieval.strategies import Strategy
from hexamem.stores.ledger.usage import store_usage

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

    from hexamem.agents.full_recall import FullRecall
    from hexamem.agents.labelling.query_labeler import ModelQueryLabeler
    from hexamem.agents.labelling.refining import LabelRefining
    from hexamem.models import Models
    from hexamem.prompts import PromptLoader

__all__ = ["ModelTier", "manager_runnables", "resolved_settings"]

_LABELER = "intent_labeler"
_BATCH, _SINGLE_CALL_BATCH = 10, 30  # steps that are read together
_MANAGERS = ("core", "episodic", "semantic", "procedural", "resource", "vault")


def resolved_settings(settings: Settings, models: Models, strategies: Mapping[str, Strategy]) -> Settings:
    """The settings with their mode and batch size resolved.

    Mode "auto" is "embedded" without a model for the managers, otherwise "single_call", or "agents" if ``labels`` needs a
    model too.

    Raises:
        ConfigError: for an unknown strategy, a setting that needs a model where there is none, or labels that are asked of
            a model twice.
    """
    if settings.strategy not in strategies:
        raise ConfigError(f"Settings.strategy = {settings.strategy!r}: use one of {', '.join(strategies)}")
    by_model = settings.labels in ("model", "uncertain")
    mode: Any = settings.mode
    if mode == "auto":
        mode = "embedded" if models.of("managers") is None else "agents" if by_model else "single_call"
    settings = replace(
        settings, mode=mode, batch_size=settings.batch_size or (_SINGLE_CALL_BATCH if mode == "single_call" else _BATCH)
    )
    agents = ("managers", "meta_manager", *(f"{kind}_manager" for kind in _MANAGERS))
    for name, agent, needed in (
        ("labels", _LABELER, by_model),
        ("query_intent", _LABELER, settings.query_intent == "model"),
        ("mode", "managers", mode == "single_call" or (mode == "agents" and not any(map(models.of, agents)))),
    ):
        if needed and models.of(agent) is None:
            raise ConfigError(
                f"Settings.{name} = {getattr(settings, name)!r} needs a model: open the memory with model='openai:…' (or "
                f"models={{{agent!r}: …}}), or choose 'embedded'"
            )
    if mode == "single_call" and by_model:
        raise ConfigError(
            f"Settings.mode = 'single_call' labels steps in its one call, so labels = {settings.labels!r} would pay for it "
            "twice: leave labels at 'embedded', or choose mode 'agents'"
        )
    return settings


def manager_runnables(managers: Mapping[str, Any] | None, types: TypeRegistry) -> dict[str, Runnable[Any, Any]]:
    """Managers as runnables.

    Raises:
        ConfigError: for an unknown memory type, or a manager that cannot be a runnable.
    """
    if not managers:
        return {}
    from langchain_core.runnables.base import coerce_to_runnable

    runnables: dict[str, Runnable[Any, Any]] = {}
    for kind, manager in managers.items():
        if kind not in types:
            raise ConfigError(f"managers: there is no memory type {kind!r}; use one of {', '.join(types)}")
        try:
            runnables[kind] = coerce_to_runnable(manager)
        except TypeError:
            raise ConfigError(
                f"managers[{kind!r}] = {manager!r}: pass a Runnable or a function that takes a ManagerInput"
            ) from None
    return runnables


class ModelTier:
    """The chat models of a memory: they refine labels, read questions and rerank. Without a model nothing is loaded.

    Attributes:
        models: which model each agent uses.
        prompts: loads the prompt of each agent.
        budget: shared by all of them while the memory is open.
        refining: refines labels in the background; None unless the settings ask for it.
    """

    def __init__(
        self, home: Home, models: Models, prompts: PromptLoader, handlers: JobHandlers, queued: Callable[[], None]
    ) -> None:
        """Created by :class:`hexamem.Memory`; registers the handler of its jobs.

        Args:
            queued: called when jobs were queued.
        """
        settings = home.settings
        self.models, self.prompts, self._home, self.queued = models, prompts, home, queued
        self.budget = Budget(calls=settings.budget_calls, tokens=settings.budget_tokens)
        self._query: ModelQueryLabeler | None = None
        self.refining: LabelRefining | None = None
        model = models.of(_LABELER)
        if model is None or settings.labels not in ("model", "uncertain"):
            return
        from hexamem.agents.labelling.refining import KIND, LabelRefining

        self.refining = LabelRefining(
            home.ledger,
            model,
            home.reading_embedder.embed_documents,
            home.notices.add,
            batch=settings.label_batch,
            below=settings.label_below if settings.labels == "uncertain" else None,
            wait=settings.label_wait,
            tokens=settings.label_tokens,
            method=settings.model_method,
            budget=self.budget,
            prompts=prompts,
        )
        handlers.register(KIND, self._refine)

    def hurry(self, user: str) -> bool:
        """Make steps that wait for their batch to fill due now; returns whether there is anything to run."""
        return self.refining is not None and self.refining.hurry(user)

    @contextmanager
    def metered(self, user: str, operation: str) -> Iterator[UsageMeter]:
        """A meter of model calls. What it holds at the end is added to the user's usage; a failure of that is a notice."""
        meter = UsageMeter(operation)
        try:
            yield meter
        finally:
            try:
                if rows := meter.drain():
                    store_usage(self._home.ledger, user, rows)
            except HexamemError as error:
                self._home.notices.add(user, f"the usage of this {operation} could not be stored: {error}")

    def query(self, user: str, text: str, embedded: QueryFilter) -> QueryFilter:
        """The labels that a question names, by a model if the settings ask for it.

        Args:
            text: the question.
            embedded: the result of the embedded labeler.
        """
        home = self._home
        model = self.models.of(_LABELER) if home.settings.query_intent == "model" else None
        if model is None:
            return embedded
        if self._query is None:
            from hexamem.agents.labelling.query_labeler import ModelQueryLabeler

            self._query = ModelQueryLabeler(
                home.ledger,
                model,
                home.notices.add,
                method=home.settings.model_method,
                budget=self.budget,
                prompts=self.prompts,
            )
        return self._query.query(user, home.without_secrets(user, text), embedded)

    def full_recall(self) -> FullRecall:
        """The model calls of one recall; without models it makes none and reports that in ``degraded``."""
        from hexamem.agents.full_recall import FullRecall

        return FullRecall(
            self._home.ledger,
            self.models.of("planner"),
            self.models.of("integrator"),
            method=self._home.settings.model_method,
            budget=self.budget,
            prompts=self.prompts,
        )

    def _refine(self, job: JobContext) -> JobOutcome:
        assert self.refining is not None
        job.user.memory.paging.cut(job.user.name)  # the reply that labels steps writes the memos of their pages too
        last = job.attempt >= self._home.settings.max_job_attempts
        return JobOutcome.of_work(self.refining.run(job.user.name, job, last=last))
