"""The model tier of labelling as durable jobs: one call labels a batch of steps with their contextual intent (STITCH, 3).

The paper makes a call for each step and cue: scope, event, entities, coreference. Here one call labels 8 to 20 steps with
all of them. Where a part of a reply is not usable, the step retains its label.

The embedded labeler labels in the write path, so that recall works at once. A job of kind ``label`` then relabels its
steps; each run is one batch: read, call, write. Labels, the position that the model has reached, the cost of the call and
the end of the job are written in one transaction, so that a killed process can resume.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from hexamem.agents.contract import Job, WorkOutcome
from hexamem.agents.labelling.batches import read_task, write_task
from hexamem.agents.labelling.reading import AGENT, RULES, LabelReading
from hexamem.agents.labelling.schemas import BatchLabels, salvaged_labels
from hexamem.agents.labelling.task import LabelTask
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types import utc_now
from hexamem.models import Budget, CallInput, StructuredCall, UsageMeter
from hexamem.prompts import PromptLoader, load_prompt
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.labels import read_label_marks
from hexamem.stores.ledger.refining import (
    first_seq,
    has_job,
    latest_seq,
    mark_provisional,
    read_refined,
    set_refined,
    steps_to_refine,
)
from hexamem.stores.ledger.usage import add_usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method

__all__ = ["KIND", "LabelRefining"]

KIND = "label"
_KEY = "next"  # the same for all jobs, so that at most one is queued for a user
_CALLS = 2  # for a batch: one, and its repair turn


class LabelRefining:
    """Relabels with a chat model what the embedded labeler labelled. Thread-safe, with one call a user at a time.

    Args:
        ledger: where steps are read and labels written.
        model: the chat model.
        embed: embeds the texts of steps and labels.
        notices: called with the user and one line for each fallback.
        batch: steps in one call.
        below: only steps whose confidence by the classifiers is below this, 0 to 1; None for all steps.
        wait: seconds after which an incomplete batch is labelled.
        tokens: the most tokens of one batch, including its repair turn; None for no limit.
        method: how the schema of the reply is sent.
        budget: what all batches together may spend.
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        embed: Embed,
        notices: Callable[[str, str], None],
        *,
        batch: int,
        below: float | None,
        wait: float,
        tokens: int | None,
        method: Method,
        budget: Budget,
        prompts: PromptLoader = load_prompt,
    ) -> None:
        self._ledger, self._embed, self._notices = ledger, embed, notices
        self._batch, self._below, self._wait, self._tokens = batch, below, wait, tokens
        self._budget, own = budget, prompts(AGENT)
        self._prompt = own.with_system(f"{own.system}\n\n{prompts(RULES).system}")
        self._call = StructuredCall(model, BatchLabels, agent=AGENT, method=method, salvage=_salvaged)

    # ------------------------------------------------------------------ queueing

    def queue(self, tx: Transaction, step_ids: Sequence[str] = ()) -> None:
        """Queue a job for the next batch, in the transaction in which steps were labelled.

        Args:
            step_ids: the steps just labelled. Steps from before the model tier was first used are not relabelled.
        """
        since = read_refined(tx)
        if since is None:
            first = first_seq(tx, step_ids)
            if first is None:
                return
            set_refined(tx, since := first - 1)
        mark_provisional(tx, step_ids, True, self._below)
        waiting = len(steps_to_refine(tx, since, self._batch, self._below))
        if waiting:
            due = utc_now() + timedelta(seconds=0 if waiting >= self._batch else self._wait)
            enqueue(tx, KIND, {}, key=_KEY, due_at=due)
        else:
            set_refined(tx, max(since, latest_seq(tx)))  # all steps up to here are done

    def hurry(self, user: str) -> bool:
        """Make the job of an incomplete batch due now, after all due jobs have been run; whether there was one."""
        with self._ledger.read(user) as tx:
            since = read_refined(tx) if tx.user_id else None
            if since is None:
                return False
            waiting = len(steps_to_refine(tx, since, self._batch, self._below))
            if not waiting or (waiting >= self._batch and has_job(tx, KIND)):
                return False  # the job of a full batch is not waiting for steps
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                enqueue(tx, KIND, {}, key=_KEY)
        return True

    # ------------------------------------------------------------------ one batch

    def run(self, user: str, job: Job, *, last: bool = False) -> WorkOutcome:
        """Label one batch with one call, and a repair turn where the reply is invalid, and queue the next batch.

        From the third attempt on the batch is halved each time, since it may be too long for the model.

        Args:
            last: whether this is the last attempt; then a single step without a reply is skipped.
        """
        usage = UsageMeter(KIND)
        size = 1 if last and job.attempt > 1 else max(1, self._batch >> max(0, job.attempt - 2))
        while True:
            # No memo can be written from single unconnected steps.
            task = read_task(self._ledger, self._embed, user, partial(self._next, size=size), pages=self._below is None)
            if task is None:
                with job.write() as tx:
                    job.complete(tx)
                return WorkOutcome()
            reading = LabelReading(user, task, self._embed, self._prompt)
            result = self._call.invoke(
                CallInput(
                    messages=reading.messages(),
                    budget=self._budget.child(calls=_CALLS, tokens=self._tokens),
                    usage=usage,
                    operation=KIND,
                    validate=reading.problems,
                )
            )
            if result.value is not None or result.usage.output_tokens:  # even an unusable reply ends the batch
                batch = reading.labelled(result.value, result.degraded)
                if not self._write(task, batch, usage, job):
                    continue  # labels were corrected, or text was redacted, during the call
                for line in batch.degraded:
                    self._notice(user, line)
                return WorkOutcome()
            refusal, reason = result.refusal, next(iter(result.degraded), f"{AGENT}: no reply came")
            if refusal is not None and not refusal.own:
                self._notice(user, f"{refusal.reason}; the embedded labels stay until there is more")
                with job.write() as tx:
                    add_usage(tx, usage.drain())
                return WorkOutcome(status="waits", reason=refusal.reason)
            if refusal is not None and len(task.chosen) > 1:
                size = len(task.chosen) // 2
                continue
            self._notice(user, f"{reason}; the embedded labels stay")
            with job.write() as tx:
                add_usage(tx, usage.drain())
                if last or refusal is not None:
                    self._pass_over(tx, task)
                if refusal is not None:  # one step that costs more than the limit of a batch
                    job.complete(tx)
                    self.queue(tx)
            if refusal is not None:
                return WorkOutcome(reason=reason)
            return WorkOutcome(status="failed", reason=_stored_reason(reason))

    def _next(self, tx: Transaction, size: int) -> list[int]:
        """The ``seq`` of the steps of the next batch."""
        since = read_refined(tx)
        return [] if since is None else steps_to_refine(tx, since, size, self._below)

    def _write(self, task: LabelTask, batch: LabelBatch, usage: UsageMeter, job: Job) -> bool:
        """Write a batch, unless labels or texts were changed since it was read; whether it was written."""
        with job.write() as tx:
            add_usage(tx, usage.drain())
            if not write_task(tx, task, batch, indexed_elsewhere=not self._ledger.embedded):
                return False
            mark_provisional(tx, [labeled.step.id for labeled in batch.steps if labeled.tier == "embedded"], False)
            set_refined(tx, task.reached)
            job.complete(tx)
            self.queue(tx)
        return True

    def _pass_over(self, tx: Transaction, task: LabelTask) -> None:
        """Skip steps without a reply, which retain their labels, so that later steps are not blocked."""
        if read_label_marks(tx).corrected == task.corrected:
            set_refined(tx, task.reached)
            mark_provisional(tx, task.chosen, False)

    def _notice(self, user: str, line: str) -> None:
        self._notices(user, f"labelling of user {user!r}: {line}")


def _salvaged(data: object) -> BatchLabels | None:
    labels = salvaged_labels(data)
    return labels if labels.steps else None


def _stored_reason(reason: str) -> str:
    """The reason of a failed call without the server's text, which may repeat the prompt: a job's error is stored."""
    status = re.search(r"\((\d{3})\)", reason)
    return f"the model gave no reply{f' ({status[1]})' if status else ''}; the memory's notices tell more"
