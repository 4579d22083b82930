"""Reads and writes a user's runs and experience for the calls of ``user.experience``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

from langgraph.errors import GraphBubbleUp

from hexamem.arguments import check_choice, check_count
from hexamem.distilling import Distilling
from hexamem.errors import HexamemError, InvalidInputError
from hexamem.experience import limits
from hexamem.experience.advising import Include, Lore, advise
from hexamem.experience.digest import digest_of
from hexamem.experience.merging import EmbedTexts
from hexamem.experience.stored import read_experience, retire_hurting, retire_mistaken
from hexamem.home import Home
from hexamem.memory_types import utc_now
from hexamem.memory_types.experience import Advice, Facet, Outcome, OutcomeSource, Run, RunReceipt, RunStep
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.runs import (
    add_run,
    count_run_steps,
    get_run,
    read_run_steps,
    read_runs,
    set_run,
)
from hexamem.stores.redaction import Redactor, strings_in
from hexamem.stores.vault_writes import store_in_vault

OFF = "experience is switched off by Settings.experience: runs are recorded, and nothing is recalled or learned"
T = TypeVar("T")
_SOURCES = tuple(source for source in get_args(OutcomeSource) if source != "judge")
_MOST_K = 20


class UserRuns:
    """Reads and writes the runs of one user. Secrets are removed before anything is written."""

    def __init__(
        self, home: Home, distilling: Distilling, wrote: Callable[[str], object], user: str, timezone: str
    ) -> None:
        """Created for each :class:`~hexamem.learning.UserExperience`."""
        self.home, self.distilling, self.user = home, distilling, user
        self.on = home.settings.experience
        self._wrote, self._timezone = wrote, timezone

    # -- the ledger ---------------------------------------------------------------------------------------------

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A read transaction of the user."""
        with self.home.ledger.read(self.user) as tx:
            yield tx

    @contextmanager
    def write(self, *, create: bool = False, wakes: bool = True) -> Iterator[Transaction]:
        """A write transaction of the user."""
        with self.home.ledger.write(self.user, create=create, timezone=self._timezone) as tx:
            yield tx
        if wakes:
            self._wrote(self.user)

    def run(self, run_id: str) -> Run:
        """A run by its id."""
        with self.read() as tx:
            return get_run(tx, run_id)

    def steps(self, run_id: str) -> tuple[RunStep, ...]:
        """The steps of a run in order; errors as :meth:`run`."""
        with self.read() as tx:
            get_run(tx, run_id)
            return tuple(read_run_steps(tx, [run_id])[run_id])

    # -- recording ----------------------------------------------------------------------------------------------

    def begin(self, task: str, env: str, metadata: Mapping[str, Any], shown: tuple[str, ...]) -> Run:
        """Store a new run. ``shown`` are the ids of the advice that it was shown."""
        clean = self.prepared({"task": task, "environment": env, "metadata": dict(metadata)}, "the task")
        with self.write(create=True, wakes=False) as tx:
            run = Run(user=self.user, shown=shown, **clean(tx))
            add_run(tx, run)
        return run

    def finish(
        self,
        run_id: str,
        outcome: bool | None,
        evidence: str,
        source: OutcomeSource,
        *,
        again: bool = False,
        queue: bool = True,
    ) -> RunReceipt:
        """See :meth:`~hexamem.run_recorder.RunRecorder.finish`."""
        if outcome is not None and not isinstance(outcome, bool):
            raise InvalidInputError(f"outcome = {outcome!r}: pass True, False, or None if it is unknown")
        check_choice(source, "source", _SOURCES)
        clean = self.prepared({"evidence": evidence}, "the evidence")
        with self.write() as tx:
            run = get_run(tx, run_id)
            if run.status == "finished" and not again:
                raise InvalidInputError(f"run {run_id} is finished already; set its outcome with decide()")
            label = None if outcome is None else Outcome(label=outcome, source=source)
            finished = run.changed(
                status="finished",
                outcome=label,
                evidence=clean(tx)["evidence"] or run.evidence,
                finished_at=run.finished_at or utc_now(),
                distilled=run.distilled and run.outcome is not None and run.outcome.label == outcome,
            )
            set_run(tx, finished)
            if run.distilled and not finished.distilled:
                retire_mistaken(tx, run_id)
            if label is not None and not label.label:
                retire_hurting(tx, finished.shown)
            waits = "" if finished.distilled or not queue else self.distilling.queue(tx, [run_id])
            steps = read_run_steps(tx, [run_id])[run_id]
        return RunReceipt(run=finished, digest=digest_of(finished, steps), distilling=waits)

    def add_shown(self, run_id: str, ids: Sequence[str]) -> None:
        """Record that experience and runs were shown to an unfinished run."""
        if not ids:
            return
        with self.write(wakes=False) as tx:
            run = get_run(tx, run_id)
            if run.status != "finished" and not set(ids) <= set(run.shown):
                set_run(tx, run.changed(shown=tuple(dict.fromkeys([*run.shown, *ids]))))

    def prepared(self, values: dict[str, Any], what: str) -> Callable[[Transaction], dict[str, Any]]:
        """Find the secrets in values to be written: outside of a transaction, since millions of characters take seconds."""
        settings, cipher = self.home.settings, self.home.cipher
        texts = strings_in(values)
        size, limit = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts), settings.max_message_bytes
        if size > limit:
            raise InvalidInputError(f"{what} has {size:,} bytes; the limit is {limit:,}: shorten it")
        redactor = Redactor(None, settings.find_secrets)
        secrets = redactor.scan(values)

        def clean(tx: Transaction) -> dict[str, Any]:
            redactor.store = store_in_vault(tx, cipher)
            if settings.find_secrets:
                redactor.add_known(find_known(tx, cipher, texts))
            return dict(redactor.clean(values, secrets))

        return clean

    # -- recalling ----------------------------------------------------------------------------------------------

    def advice(self, task: str, env: str, k: int, include: Include, facet: Facet | None, same_task: bool) -> Advice:
        """See :meth:`~hexamem.learning.UserExperience.recall`."""
        check_count(k, "k", _MOST_K)
        check_choice(include, "include", get_args(Include))
        check_choice(facet, "facet", (*get_args(Facet), None))
        lore = self.lore(env)
        if not lore.runs and not lore.experience:
            return Advice()
        query = self.home.without_secrets(self.user, task)
        options: dict[str, Any] = {"k": k, "include": include, "facet": facet, "same_task": same_task}
        advice, degraded = self.with_vectors(lambda embed: advise(query, lore, embed, **options))
        return advice.changed(degraded=degraded) if degraded else advice

    def lore(self, env: str) -> Lore:
        """The runs and experience of an environment."""

        def read_steps(run_ids: Any) -> Mapping[str, list[RunStep]]:
            with self.read() as tx:
                return read_run_steps(tx, run_ids)

        with self.read() as tx:
            runs = read_runs(tx, env, finished=True, limit=limits.MOST_RUNS)
            experience = read_experience(tx, env)
            lengths = count_run_steps(tx, [run.id for run in runs])
        return Lore(runs=runs, experience=experience, lengths=lengths, read_steps=read_steps)

    def with_vectors(self, work: Callable[[EmbedTexts | None], T]) -> tuple[T, tuple[str, ...]]:
        """The result of ``work`` with vectors and no reason; if the embedder fails, without vectors and the reason."""
        try:
            return work(self.distilling.embed_for(self.user)), ()
        except (HexamemError, GraphBubbleUp):
            raise
        except Exception as error:  # noqa: BLE001 - a remote embedder may raise anything; `degraded` names it
            fallback = f"the embedder failed ({type(error).__name__}): texts were compared by words alone"
            return work(None), (fallback,)
