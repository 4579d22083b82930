"""The durable job ``distil``: a finished run is distilled into experience. Without a model it waits until there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hexamem.background import JobContext, JobHandlers, JobOutcome
from hexamem.experience.merging import EmbedTexts, nearness
from hexamem.experience.stored import (
    ACTOR,
    REPLACED,
    item_values,
    metadata_of,
    read_experience,
    replaced,
    retire_hurting,
)
from hexamem.home import Home
from hexamem.memory_types.experience import Experience, Outcome, Run, RunStep
from hexamem.model_tier import ModelTier
from hexamem.stores.changing import add_item, edit_item
from hexamem.stores.ledger import Transaction, get_items, history_of
from hexamem.stores.ledger.jobs import enqueue
from hexamem.stores.ledger.runs import read_run_steps, read_runs, set_run
from hexamem.stores.media_texts import NEVER, make_due
from hexamem.stores.vector_cache import embed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hexamem.experience.merging import Merged
    from hexamem.experience.model_calls import ExperienceModel
    from hexamem.models import StructuredResult

KIND = "distil"
WAITS = "distilling waits for a model: open the memory with model='openai:…' (or models={'distiller': …, 'judge': …})"
_OWN_MODEL = ("distiller", "judge")  # agents that may have a model of their own
SWITCHED_OFF = "distilling waits: it is switched off by Settings.experience"


class Distilling:
    """Runs the ``distil`` jobs of a home. No model code is loaded until one runs."""

    def __init__(self, home: Home, tier: ModelTier, handlers: JobHandlers, wrote: Callable[[str], object]) -> None:
        self._home, self._ledger, self._settings = home, home.ledger, home.settings
        self._tier, self._wrote = tier, wrote
        handlers.register(KIND, self.run)
        if self.ready:
            make_due(home.ledger, {KIND})

    @property
    def ready(self) -> bool:
        """Whether there is a model to distil with, and distilling is not switched off."""
        return not self.waits

    @property
    def waits(self) -> str:
        """Why nothing is distilled; "" if runs are distilled."""
        if not self._settings.experience:
            return SWITCHED_OFF
        models = self._tier.models
        return WAITS if models.of("distiller") is None or models.of("judge") is None else ""

    def queue(self, tx: Transaction, run_ids: Sequence[str], mode: str | None = None) -> str:
        """Queue the distilling of a run, or of those of an exploration, the chosen run first; returns why it waits, or ""."""
        payload = {"run": run_ids[0], "runs": list(run_ids), "mode": mode}
        enqueue(tx, KIND, payload, key=run_ids[0], due_at=None if self.ready else NEVER)
        return self.waits

    def embed_for(self, user: str) -> EmbedTexts:
        """A function that computes vectors for a user."""
        return lambda texts: embed_texts(self._ledger, user, self._home.embedder, texts)

    @contextmanager
    def model_for(self, user: str, agent: str, operation: str = KIND) -> Iterator[ExperienceModel | None]:
        """The chat model of an agent, or None; its usage is added to the user's at the end."""
        models = self._tier.models
        model = models.of(agent) if agent in _OWN_MODEL else models.of("experience") or models.of("distiller")
        if model is None:
            yield None
            return
        from hexamem.experience.model_calls import ExperienceModel

        # Its usage is stored in a transaction of its own: after a job's end, its transaction accepts no writes.
        with self._tier.metered(user, operation) as usage:
            yield ExperienceModel(
                model=model,
                agent=agent,
                operation=operation,
                method=self._settings.model_method,
                budget=self._tier.budget,
                usage=usage,
            )

    def run(self, job: JobContext) -> JobOutcome:
        """Judge a run whose outcome is unknown, and distil it; the experience and the job's end are one transaction."""
        if not self.ready:  # queued by a memory that had a model
            with job.write() as tx:
                job.complete(tx)
                enqueue(tx, KIND, job.payload, key=str(job.payload["run"]), due_at=NEVER)
            return JobOutcome.done()
        judged: list[Run] = []
        for run in self._read(job):
            if run.distilled or run.status != "finished":
                continue  # done by another attempt
            known: Run | None = run
            if run.outcome is None:
                outcome, result = self._judged(job, run)
                if outcome is None:
                    return _unusable("judge", result)
                known = self._decided(job, run.id, outcome)
            if known is not None and known.outcome is not None:
                judged.append(known)
        return self._distilled(job, judged) if judged else JobOutcome.done()

    def _read(self, job: JobContext) -> list[Run]:
        """The runs of a job that were not forgotten since, in its order."""
        run_ids: list[str] = job.payload["runs"]
        with self._ledger.read(job.user_name) as tx:
            runs = {run.id: run for run in read_runs(tx)}
        return [runs[run_id] for run_id in run_ids if run_id in runs]

    def _judged(self, job: JobContext, run: Run) -> tuple[Outcome | None, StructuredResult[Any]]:
        from hexamem.experience.distilling import judge_outcome

        with self._ledger.read(job.user_name) as tx:
            steps = read_run_steps(tx, [run.id])[run.id]
        with self.model_for(job.user_name, "judge") as model:
            assert model is not None
            outcome, result = judge_outcome(model, run, steps)
        if outcome is None and result.usage.calls and job.attempt >= self._settings.max_job_attempts:
            outcome = Outcome(
                label=False,
                source="judge",
                confidence=0.0,
                reason="the judge's reply was not usable; an unknown outcome counts as a failure",
            )
        return outcome, result

    def _decided(self, job: JobContext, run_id: str, outcome: Outcome) -> Run | None:
        """Write a judge's outcome, unless another was written meanwhile."""
        with job.write() as tx:
            run = next((run for run in read_runs(tx) if run.id == run_id), None)
            if run is not None and run.outcome is None:
                (reason,) = self._home.redacted(tx, outcome.reason)
                run = run.changed(outcome=outcome.changed(reason=reason))
                set_run(tx, run)
                retire_hurting(tx, run.shown)
        return run

    def _distilled(self, job: JobContext, runs: Sequence[Run]) -> JobOutcome:
        from hexamem.experience.distilling import distil, plan, plan_explored
        from hexamem.experience.merging import merge

        run = runs[0]
        with self._ledger.read(job.user_name) as tx:
            if job.payload.get("mode") is not None:
                planned = plan_explored(runs, job.payload["mode"])
            else:
                planned = plan(run, read_runs(tx, run.environment, finished=True))
            steps: dict[str, list[RunStep]] = read_run_steps(tx, [planned_run.id for planned_run in planned.runs])
            known = [item for item in read_experience(tx, run.environment) if item.origin != "focus"]
        embed = self.embed_for(job.user_name)
        nearest = _nearest(run.task, known, embed)
        with self.model_for(job.user_name, "distiller") as model:
            assert model is not None
            distilled, result = distil(model, planned, steps, nearest)
        if distilled is None:
            return _unusable("distiller", result)
        merged = merge(distilled.items, known, embed, corrects=distilled.corrects)
        with job.write() as tx:
            current = {stored.id: stored for stored in read_runs(tx)}
            # Nothing is learned from a run forgotten meanwhile; one with another outcome by now has another job.
            if all(used.id in current and current[used.id].outcome == used.outcome for used in runs):
                self._write(tx, merged)
                for used in runs:
                    set_run(tx, current[used.id].changed(distilled=True))
            job.complete(tx)
        self._wrote(job.user_name)
        return JobOutcome.done()

    def _write(self, tx: Transaction, merged: Merged) -> None:
        cipher, find = self._home.cipher, self._settings.find_secrets
        for experience in merged.new:
            self._add(tx, experience)
        known = {stored.id: stored for stored in read_experience(tx)}  # as it is now: a person may have retired some
        for item_id, experience in merged.instead.items():
            # What a person edited or retired stays as it is: the new experience is added beside it.
            if item_id in known and all(operation.actor == ACTOR for operation in history_of(tx, item_id)):
                runs = tuple(dict.fromkeys([*known[item_id].run_ids, *experience.run_ids]))
                fields = replaced(get_items(tx, [item_id])[item_id].metadata, experience.changed(run_ids=runs))
                edit_item(tx, item_id, fields, cipher, actor=ACTOR, reason=REPLACED, find=find)
            else:
                self._add(tx, experience)
        items = get_items(tx, known.keys() & merged.again.keys())
        for item_id, item in items.items():
            runs = tuple(dict.fromkeys([*known[item_id].run_ids, *merged.again[item_id]]))
            if runs != known[item_id].run_ids:
                fields = {"metadata": {**item.metadata, **metadata_of(known[item_id].changed(run_ids=runs))}}
                edit_item(tx, item_id, fields, cipher, actor=ACTOR, reason="learned again", find=find)

    def _add(self, tx: Transaction, experience: Experience) -> None:
        count = len(experience.run_ids)
        reason = f"distilled from {count} run{'' if count == 1 else 's'} ({experience.origin})"
        find = self._settings.find_secrets
        add_item(tx, item_values(experience), self._home.cipher, actor=ACTOR, reason=reason, find=find)


def _nearest(task: str, known: Sequence[Experience], embed: EmbedTexts) -> list[Experience]:
    scores = nearness(task, [f"{experience.title}. {experience.description}" for experience in known], embed)
    return [known[index] for index in sorted(range(len(known)), key=lambda index: -scores[index])]


def _unusable(agent: str, result: StructuredResult[Any]) -> JobOutcome:
    if not result.usage.calls:
        return JobOutcome.defer(
            f"the {agent} could not be called: the budget is used up, or its server does not answer"
        )
    return JobOutcome.retry(f"the {agent}'s reply was not usable")
