"""The model tier of labelling as durable work: a call gives a batch of steps their contextual intent (STITCH, section 3).

The paper asks a model once a cue and step: scope, event, entities, coreference. Here one call of 8 to 20 steps gives
all of them. Where a part of a reply cannot be kept, the label that the step had stays.

The embedded labeler labels in the write path, so that recall works at once. Its steps wait in the ledger under a job of
kind ``label``; each run of the job makes one batch: read, call, write. Labels, the mark of how far the model has come,
what the call cost and the end of the job are written in one transaction, so a killed process resumes where it was.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hexamem.agents.contract import Job, WorkOutcome
from hexamem.agents.labelling.batches import ReadTask, read_task, write_task
from hexamem.agents.labelling.reading import AGENT, LabelReading
from hexamem.agents.labelling.schemas import BatchLabels, salvaged_labels
from hexamem.agents.page_texts import PageTexts
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types import utc_now
from hexamem.models import Budget, BudgetRefusal, CallInput, Reservation, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
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

    from hexamem.models import Method, RetryPolicy

__all__ = ["KIND", "LabelRefining", "RefiningSettings"]

KIND = "label"
_FULL, _REST = "full", "rest"  # keys: a batch is full; what is left is to be labelled though it is not
_CALLS = 2  # of a batch: one, and its repair


@dataclass(frozen=True, slots=True, kw_only=True)
class RefiningSettings:
    """How the model tier labels.

    Attributes:
        batch: steps in one call.
        below: only steps of which the classifiers are less sure than this; all when None.
        wait: seconds after which what is left is labelled, though it fills no batch.
        tokens: what one batch may cost, repair included; no limit when None.
        method: how the reply's form is asked for.
    """

    batch: int = 12
    below: float | None = None
    wait: float = 600.0
    tokens: int | None = None
    method: Method = "json_schema"


class LabelBudget(Budget):
    """What one batch may spend; it remembers what was refused.

    Attributes:
        refused: the latest refusal.
        own: whether it was this budget that refused, and not the one that pays for it.
    """

    refused: BudgetRefusal | None = None
    own = False

    def reserve(self, tokens: int, *, up_to: int | None = None) -> Reservation | BudgetRefusal:
        """As :meth:`Budget.reserve`."""
        granted = super().reserve(tokens, up_to=up_to)
        if isinstance(granted, BudgetRefusal):
            self.refused = granted
            above = self.parent.reserve(tokens) if self.parent is not None else None
            self.own = not isinstance(above, BudgetRefusal)
            if isinstance(above, Reservation):
                above.release()
        return granted


class LabelRefining:
    """Labels by model what the embedded labeler labelled. Safe to call from several threads; of one user by one at a time.

    Args:
        ledger: where steps are read and labels written.
        model: the chat model.
        embed: makes the vectors that labelling sees.
        notices: receives the user and one clear line for what fell back.
        settings: how.
        budget: what all batches together may spend.
        retries: what to do about failures of requests.
    """

    def __init__(
        self,
        ledger: Ledger,
        model: BaseChatModel,
        embed: Embed,
        notices: Callable[[str, str], None],
        settings: RefiningSettings | None = None,
        *,
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._ledger, self._embed, self._notices = ledger, embed, notices
        self.settings = settings or RefiningSettings()
        self.budget, self._prompt = budget, load_prompt(AGENT)
        self._call = StructuredCall(
            model, BatchLabels, agent=AGENT, method=self.settings.method, retries=retries, salvage=salvaged_labels
        )
        self._told: set[tuple[str, str]] = set()
        self._guard = threading.Lock()

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
        mark_provisional(tx, step_ids, True, self.settings.below)
        waiting = len(steps_to_refine(tx, since, self.settings.batch, self.settings.below))
        if waiting >= self.settings.batch:
            enqueue(tx, KIND, {"rest": False}, key=_FULL)
        elif waiting:
            due = utc_now() + timedelta(seconds=self.settings.wait)
            enqueue(tx, KIND, {"rest": True}, key=_REST, due_at=due)
        else:
            set_refined(tx, max(since, latest_seq(tx)))  # nothing up to here is to be looked at again

    def hurry(self, user: str) -> bool:
        """Make what waits for its batch to fill due now, when the jobs that are due have been run; whether it did."""
        with self._ledger.read(user) as tx:
            since = read_refined(tx) if tx.user_id else None
            if since is None:
                return False
            left = len(steps_to_refine(tx, since, self.settings.batch, self.settings.below))
            if not left or (left >= self.settings.batch and has_job(tx, KIND)):
                return False  # full batches that are left wait for something else than steps
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                enqueue(tx, KIND, {"rest": True}, key=_REST)
        return True

    # ------------------------------------------------------------------ one batch

    def run(self, user: str, job: Job, *, rest: bool, last: bool = False) -> WorkOutcome:
        """Label one batch with one call, and one more where the reply does not fit, and queue the next.

        From the third attempt on the batch is halved each time: it may be too long for the model.

        Args:
            rest: whether a batch may be smaller than the settings say.
            last: whether no further attempt follows; then one step that brought no answer is passed over.
        """
        usage = UsageMeter(KIND)
        size = 1 if last and job.attempt > 1 else max(1, self.settings.batch >> max(0, job.attempt - 2))
        while True:
            read = self._read(user, size, rest or job.attempt > 1)
            if read is None:
                with job.write() as tx:
                    job.complete(tx)
                return WorkOutcome()
            budget = LabelBudget(calls=_CALLS, tokens=self.settings.tokens, parent=self.budget)
            reading = LabelReading(user, read.task, self._embed, self._prompt)
            result = self._call.invoke(
                CallInput(
                    messages=reading.messages(),
                    budget=budget,
                    usage=usage,
                    operation=KIND,
                    validate=reading.problems,
                )
            )
            if result.value is not None or result.usage.output_tokens:  # a reply that is no use is an answer too
                batch = reading.labelled(result.value, result.degraded)
                if not self._write(read, batch, reading.notes(result.value), usage, job, rest):
                    continue  # labels were corrected, or text was redacted, while the model read it
                for line in batch.degraded:
                    self._tell(user, line)
                return WorkOutcome()
            refusal, reason = budget.refused, next(iter(result.degraded), f"{AGENT}: no reply came")
            if refusal is not None and not budget.own:
                self._tell(user, f"{refusal.reason}; the embedded labels stay until there is more")
                self._keep_usage(usage, job)
                return WorkOutcome(status="waits", reason=refusal.reason)
            if refusal is not None and len(read.task.chosen) > 1:
                size = len(read.task.chosen) // 2
                continue
            self._tell(user, f"{reason}; the embedded labels stay")
            if refusal is None and not last:
                self._keep_usage(usage, job)
            else:
                self._pass_over(read, usage, job)
            if refusal is not None:  # one step that costs more than a batch may
                with job.write() as tx:
                    job.complete(tx)
                    self._queue_next(tx, rest)
                return WorkOutcome(reason=reason)
            return WorkOutcome(status="failed", reason=_for_the_queue(reason))

    def _read(self, user: str, size: int, rest: bool) -> ReadTask | None:
        """The next batch; None where there is none, or it is not full."""
        wanted = size if rest else self.settings.batch

        def chosen(tx: Transaction) -> list[int]:
            since = read_refined(tx)
            found = [] if since is None else steps_to_refine(tx, since, wanted, self.settings.below)[:size]
            return found if rest or len(found) >= min(wanted, size) else []

        # Of single steps here and there no memo can be made.
        return read_task(self._ledger, self._embed, user, chosen, pages=self.settings.below is None)

    def _write(
        self,
        read: ReadTask,
        batch: LabelBatch,
        pages: Mapping[str, PageTexts],
        usage: UsageMeter,
        job: Job,
        rest: bool,
    ) -> bool:
        """Write a batch, unless labels or texts were changed meanwhile: it is then labelled anew."""
        with job.write() as tx:
            add_usage(tx, usage.drain())
            if not write_task(tx, read, batch, pages, indexed_elsewhere=not self._ledger.embedded):
                return False
            mark_provisional(tx, [one.step.id for one in batch.steps if one.tier == "embedded"], False)
            set_refined(tx, read.reached)
            job.complete(tx)
            self._queue_next(tx, rest)
        return True

    def _pass_over(self, read: ReadTask, usage: UsageMeter, job: Job) -> None:
        """Leave what no answer came for with its labels for good, so that it does not hold up what follows."""
        with job.write() as tx:
            add_usage(tx, usage.drain())
            if read_label_marks(tx).corrected == read.marks.corrected:
                set_refined(tx, read.reached)
                mark_provisional(tx, read.task.chosen, False)

    def _queue_next(self, tx: Transaction, rest: bool) -> None:
        since = read_refined(tx) or 0
        if rest and steps_to_refine(tx, since, 1, self.settings.below):
            enqueue(tx, KIND, {"rest": True}, key=_REST)
        elif not rest:
            self.queue(tx)

    def _keep_usage(self, usage: UsageMeter, job: Job) -> None:
        rows = usage.drain()
        if rows:
            with job.write() as tx:
                add_usage(tx, rows)

    def _tell(self, user: str, line: str) -> None:
        told = f"labelling of user {user!r}: {line}"
        with self._guard:
            if (user, told) in self._told:
                return
            if len(self._told) > 1_000:
                self._told.clear()
            self._told.add((user, told))
        self._notices(user, told)

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user."""
        with self._guard:
            self._told = {one for one in self._told if one[0] != user}


def _for_the_queue(reason: str) -> str:
    """Why a call failed, without what a server said of it: that may repeat the prompt, and a job's error is kept."""
    status = re.search(r"\((\d{3})\)", reason)
    return f"the model gave no reply{f' ({status[1]})' if status else ''}; the memory's notices tell more"
