"""The model tier of a memory: what its chat models do by the settings, and the budget that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hexamem.background import JobContext, JobOutcome
from hexamem.config import Settings
from hexamem.errors import ConfigError
from hexamem.intent.contract import Embed
from hexamem.intent.query import QueryFilter
from hexamem.models import Budget
from hexamem.stores.ledger import Ledger, Transaction

if TYPE_CHECKING:
    from hexamem.agents.full_recall import FullRecall
    from hexamem.agents.labelling.query_labeler import ModelQueryLabeler
    from hexamem.agents.labelling.refining import LabelRefining
    from hexamem.models import Models
    from hexamem.prompts import PromptLoader

__all__ = ["ModelTier", "check_models"]

_AGENT = "intent_labeler"


def check_models(settings: Settings, models: Models) -> None:
    """Check that there is a model for each setting that needs one.

    Raises:
        ConfigError: naming the setting.
    """
    if settings.memos == "model" and models.of("memorizer") is None:
        raise ConfigError(
            "Settings.memos = 'model' needs a model: open the memory with model='openai:…' (or "
            "models={'memorizer': …}), or choose 'embedded'"
        )
    if models.of(_AGENT) is not None:
        return
    for name in ("labels", "query_intent"):
        if getattr(settings, name) in ("model", "uncertain"):
            raise ConfigError(
                f"Settings.{name} = {getattr(settings, name)!r} needs a model: open the memory with "
                f"model='openai:…' (or models={{'{_AGENT}': …}}), or choose 'embedded'"
            )


class ModelTier:
    """The chat models of a memory: they refine labels, read questions and rerank. Without a model nothing is loaded.

    Attributes:
        models: which model each agent uses.
        prompts: loads the prompt of each agent.
        budget: shared by all of them while the memory is open.
        refining: refines labels in the background; None unless the settings ask for it.
    """

    def __init__(
        self,
        ledger: Ledger,
        settings: Settings,
        models: Models,
        prompts: PromptLoader,
        embed: Embed | None,
        notices: Callable[[str, str], None],
        queued: Callable[[], None],
    ) -> None:
        """Created by :class:`hexamem.Memory`.

        Args:
            embed: computes the vectors that labelling reads; None with labels "off".
            notices: called with the user and a line for each fallback.
            queued: called when jobs were queued.
        """
        self.models, self.prompts, self._settings, self._queued = models, prompts, settings, queued
        self.budget = Budget(calls=settings.budget_calls, tokens=settings.budget_tokens)
        self._ledger, self._notices = ledger, notices
        self._query: ModelQueryLabeler | None = None
        self.refining: LabelRefining | None = None
        model = models.of(_AGENT) if models else None
        if model is None or embed is None or settings.labels not in ("model", "uncertain"):
            return
        from hexamem.agents.labelling.refining import LabelRefining

        self.refining = LabelRefining(
            ledger,
            model,
            embed,
            notices,
            batch=settings.label_batch,
            below=settings.label_below if settings.labels == "uncertain" else None,
            wait=settings.label_wait,
            tokens=settings.label_tokens,
            method=settings.model_method,
            budget=self.budget,
            prompts=prompts,
        )

    @property
    def handler(self) -> tuple[str, Callable[[JobContext], JobOutcome]] | None:
        """The kind and the handler of its jobs; None without them."""
        if self.refining is None:
            return None
        from hexamem.agents.labelling.refining import KIND

        return KIND, self._run

    def queue(self, tx: Transaction, step_ids: Sequence[str]) -> None:
        """Queue the refining of steps that were just labelled, in the same transaction."""
        if self.refining is not None:
            self.refining.queue(tx, step_ids)

    def queued(self) -> None:
        """Called when a transaction with :meth:`queue` was committed."""
        if self.refining is not None:
            self._queued()

    def hurry(self, user: str) -> bool:
        """Make steps that wait for their batch to fill due now; returns whether there is anything to run."""
        return self.refining is not None and self.refining.hurry(user)

    def query(
        self, user: str, text: str, embedded: QueryFilter, without_secrets: Callable[[str, str], str]
    ) -> QueryFilter:
        """The labels that a question names, by a model if the settings ask for it.

        Args:
            text: the question.
            embedded: the result of the embedded labeler.
            without_secrets: ``(user, question)`` to the question without secrets; only called if there is a model.
        """
        model = self.models.of(_AGENT) if self._settings.query_intent == "model" else None
        if model is None:
            return embedded
        if self._query is None:
            from hexamem.agents.labelling.query_labeler import ModelQueryLabeler

            self._query = ModelQueryLabeler(
                self._ledger,
                model,
                self._notices,
                method=self._settings.model_method,
                budget=self.budget,
                prompts=self.prompts,
            )
        return self._query.query(user, without_secrets(user, text), embedded)

    def full_recall(self) -> FullRecall:
        """The model calls of one recall; without models it makes none and reports that in ``degraded``."""
        from hexamem.agents.full_recall import FullRecall

        return FullRecall(
            self._ledger,
            self.models.of("planner") if self.models else None,
            self.models.of("integrator") if self.models else None,
            method=self._settings.model_method,
            budget=self.budget,
            prompts=self.prompts,
        )

    def _run(self, job: JobContext) -> JobOutcome:
        assert self.refining is not None
        job.user.memory.paging.cut(job.user.name)  # the reply that labels steps writes the memos of their pages too
        outcome = self.refining.run(job.user.name, job, last=job.attempt >= self._settings.max_job_attempts)
        if outcome.status == "waits":
            return JobOutcome.defer(outcome.reason)
        if outcome.status == "failed":
            return JobOutcome.retry(outcome.reason)
        return JobOutcome.done()
