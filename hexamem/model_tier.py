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
    """Refuse settings that ask for a model where there is none.

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
    """What models do for a memory. With the settings as they are by default it does nothing and loads nothing.

    Attributes:
        models: which model each agent uses.
        prompts: loads the prompt of each agent.
        budget: what all of them may spend while the memory is open.
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
        """See :class:`ModelTier`.

        Args:
            prompts: loads the prompts of the agents.
            embed: makes the vectors that labelling sees; None where nothing is labelled.
            notices: receives the user and one clear line for what fell back.
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
        """The kind of jobs that it does, and who does them."""
        if self.refining is None:
            return None
        from hexamem.agents.labelling.refining import KIND

        return KIND, self._run

    def queue(self, tx: Transaction, step_ids: Sequence[str]) -> None:
        """Queue what follows from steps that were just labelled, in the same transaction."""
        if self.refining is not None:
            self.refining.queue(tx, step_ids)

    def queued(self) -> None:
        """Say that a transaction with :meth:`queue` was committed."""
        if self.refining is not None:
            self._queued()

    def hurry(self, user: str) -> bool:
        """Make what waits for a batch to fill due now; whether there is anything to run."""
        return self.refining is not None and self.refining.hurry(user)

    def query(
        self, user: str, text: str, embedded: QueryFilter, without_secrets: Callable[[str, str], str]
    ) -> QueryFilter:
        """The labels that a question names, by model where the settings say so.

        Args:
            text: the question as it was asked.
            embedded: what the embedded labeler makes of it.
            without_secrets: gives (user, question) as a model may see it; only called where a model is.
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
        """What models add to one recall; without models it adds nothing and says so."""
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
        job.user.memory.paging.cut(job.user.name)  # the reply that labels steps speaks of their pages too
        outcome = self.refining.run(job.user.name, job, last=job.attempt >= self._settings.max_job_attempts)
        if outcome.status == "waits":
            return JobOutcome.defer(outcome.reason)
        if outcome.status == "failed":
            return JobOutcome.retry(outcome.reason)
        return JobOutcome.done()
