"""The model tier of labelling as durable work: a call gives a batch of steps their contextual intent (STITCH, section 3).

The paper asks a model once a cue and step: scope, event, entities, coreference. Here one call of 8 to 20 steps gives
all of them. Where a part of a reply cannot be used, the label that the step had stays.

The embedded labeler labels in the write path, so that recall works at once. Its steps wait in the ledger under a job of
kind ``label``; each run of the job makes one batch: read, call, write. Labels, the mark of how far the model has come,
what the call cost and the end of the job are written in one transaction, so a killed process resumes where it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from hexamem.agents.contract import Job, WorkOutcome
from hexamem.agents.labelling.batches import read_task, write_task
from hexamem.agents.labelling.reading import AGENT, LabelReading
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
_KEY = "next"  # one job a user waits at a time
_CALLS = 2  # of a batch: one, and its repair


class LabelRefining:
    """Labels by model what the embedded labeler labelled. Safe to call from several threads; of one user by one at a time.

    Args:
        ledger: where steps are read and labels written.
        model: the chat model.
        embed: makes the vectors that labelling sees.
        notices: receives the user and one clear line for what fell back.
        batch: steps in one call.
        below: only steps of which the classifiers are less sure than this, 0 to 1; all when None.
        wait: seconds after which what is left is labelled, though it fills no batch.
        tokens: what one batch may cost, its repair included; no limit when None.
        method: how the reply's form is asked for.
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
        self._budget, self._prompt = budget, prompts(AGENT)
        self._call = StructuredCall(model, BatchLabels, agent=AGENT, method=method, salvage=_salvaged)

    # ------------------------------------------------------------------ queueing

    def queue(self, tx: Transaction, step_ids: Sequence[str] = ()) -> None:
        """Queue what waits for the model, in the transaction in which steps were labelled.

        Args:
            step_ids: the steps just labelled. Those from before the model tier was first used keep their labels.
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
            set_refined(tx, max(since, latest_seq(tx)))  # nothing up to here is to be looked at again

    def hurry(self, user: str) -> bool:
        """Make what waits for its batch to fill due now, when the jobs that are due have been run; whether it did."""
        with self._ledger.read(user) as tx:
            since = read_refined(tx) if tx.user_id else None
            if since is None:
                return False
            left = len(steps_to_refine(tx, since, self._batch, self._below))
            if not left or (left >= self._batch and has_job(tx, KIND)):
                return False  # full batches that are left wait for something else than steps
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                enqueue(tx, KIND, {}, key=_KEY)
        return True

    # ------------------------------------------------------------------ one batch

    def run(self, user: str, job: Job, *, last: bool = False) -> WorkOutcome:
        """Label one batch with one call, and one more where the reply does not fit, and queue the next.

        From the third attempt on the batch is halved each time: it may be too long for the model.

        Args:
            last: whether no further attempt follows; then one step that brought no answer is passed over.
        """
        usage = UsageMeter(KIND)
        size = 1 if last and job.attempt > 1 else max(1, self._batch >> max(0, job.attempt - 2))
        while True:
            # Of single steps here and there no memo can be made.
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
            if result.value is not None or result.usage.output_tokens:  # a reply that is no use is an answer too
                batch = reading.labelled(result.value, result.degraded)
                if not self._write(task, batch, usage, job):
                    continue  # labels were corrected, or text was redacted, while the model read it
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
                if refusal is not None:  # one step that costs more than a batch may
                    job.complete(tx)
                    self.queue(tx)
            if refusal is not None:
                return WorkOutcome(reason=reason)
            return WorkOutcome(status="failed", reason=_for_the_queue(reason))

    def _next(self, tx: Transaction, size: int) -> list[int]:
        """The ``seq`` of the steps of the next batch."""
        since = read_refined(tx)
        return [] if since is None else steps_to_refine(tx, since, size, self._below)

    def _write(self, task: LabelTask, batch: LabelBatch, usage: UsageMeter, job: Job) -> bool:
        """Write a batch, unless labels or texts were changed meanwhile: it is then labelled anew."""
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
        """Leave what no answer came for with its labels for good, so that it does not hold up what follows."""
        if read_label_marks(tx).corrected == task.corrected:
            set_refined(tx, task.reached)
            mark_provisional(tx, task.chosen, False)

    def _notice(self, user: str, line: str) -> None:
        self._notices(user, f"labelling of user {user!r}: {line}")


def _salvaged(data: object) -> BatchLabels | None:
    labels = salvaged_labels(data)
    return labels if labels.steps else None


def _for_the_queue(reason: str) -> str:
    """Why a call failed, without what a server said of it: that may repeat the prompt, and a job's error is stored."""
    status = re.search(r"\((\d{3})\)", reason)
    return f"the model gave no reply{f' ({status[1]})' if status else ''}; the memory's notices tell more"
