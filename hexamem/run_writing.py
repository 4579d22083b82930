"""How runs are written to the ledger: begun, step by step, and finished, with secrets taken out before anything is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from hexamem.arguments import check_text
from hexamem.errors import InvalidInputError
from hexamem.experience.care import retire_hurting, retire_mistaken
from hexamem.experience.digest import digest_of
from hexamem.memory_types import utc_now
from hexamem.memory_types.experience import Outcome, OutcomeSource, Run, RunReceipt, RunStep
from hexamem.stores.known_secrets import find_known
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.runs import add_run, append_run_step, get_run, read_run_steps, set_run
from hexamem.stores.redaction import Redactor, keep_in_vault

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["Looked", "RunWriting"]

_SOURCES = tuple(one for one in get_args(OutcomeSource) if one != "judge")


class Looked(NamedTuple):
    """What is to be written, and what was found in it."""

    values: dict[str, Any]
    texts: list[str]
    redactor: Redactor
    near: frozenset[str]


class RunWriting:
    """Writes the runs of one user."""

    def __init__(self, user: UserMemory) -> None:
        self._user = user

    def begin(self, task: str, env: str, metadata: Mapping[str, Any], shown: tuple[str, ...]) -> Run:
        """A run that is new. ``shown`` are the ids of what it was given."""
        looked = self.look({"task": task, "environment": env, "metadata": dict(metadata)}, "the task")
        with self._user.memory.ledger.write(self._user.name, timezone=self._user.timezone) as tx:
            run = Run(user=self._user.name, shown=shown, **self.clean(tx, looked))
            add_run(tx, run)
        return run

    def step(self, run_id: str, values: Mapping[str, str | None]) -> RunStep:
        """See :meth:`~hexamem.recording.RunRecorder.step`."""
        for name, value in values.items():
            if value is not None:
                check_text(value, name)
        if not any(value and value.strip() for value in values.values()):
            raise InvalidInputError("the step is empty: give a thought, an action, an observation or an error")
        looked = self.look(dict(values), "the step")
        with self._user.memory.ledger.write(self._user.name, create=False) as tx:
            if get_run(tx, run_id).status == "finished":
                raise InvalidInputError(f"run {run_id} is finished and takes no more steps; start another run")
            said = self.clean(tx, looked)
            return append_run_step(tx, RunStep(run_id=run_id, position=0, **said))

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
        """See :meth:`~hexamem.recording.RunRecorder.finish`.

        Args:
            again: whether a run that is finished may be decided once more.
            queue: whether what the run teaches is asked for.
        """
        check_text(run_id, "run_id")
        check_text(evidence, "evidence")
        if outcome is not None and not isinstance(outcome, bool):
            raise InvalidInputError(f"outcome = {outcome!r}: give True, False, or None where nobody knows yet")
        if source not in _SOURCES:
            raise InvalidInputError(f"source = {source!r}: use one of {', '.join(_SOURCES)}")
        learning = self._user.memory.distilling
        looked = self.look({"evidence": evidence}, "the evidence")
        with self._user.memory.ledger.write(self._user.name, create=False) as tx:
            run = get_run(tx, run_id)
            if run.status == "finished" and not again:
                raise InvalidInputError(f"run {run_id} is finished already; say how it ended with decide()")
            said = self.clean(tx, looked)["evidence"]
            label = None if outcome is None else Outcome(label=outcome, source=source)
            new = run.changed(
                status="finished",
                outcome=label,
                evidence=said or run.evidence,
                finished_at=run.finished_at or utc_now(),
                distilled=run.distilled and run.outcome is not None and run.outcome.label == outcome,
            )
            set_run(tx, new)
            if run.distilled and not new.distilled:
                retire_mistaken(tx, run_id)
            if label is not None and not label.label:
                retire_hurting(tx, new.shown)
            waits = "" if new.distilled or not queue else learning.queue(tx, run_id)
            steps = read_run_steps(tx, [run_id])[run_id]
        self._user.memory.wrote(self._user.name)
        return RunReceipt(run=new, digest=digest_of(new, steps), distilling=waits)

    def look(self, values: dict[str, Any], what: str) -> Looked:
        """Find the secrets in what is to be written. It takes seconds for millions of characters, while others write."""
        memory = self._user.memory
        limit = memory.settings.max_message_bytes
        texts = list(_strings(values))
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if size > limit:
            raise InvalidInputError(f"{what} has {size:,} bytes; the limit is {limit:,}: shorten what came back")
        redactor = Redactor(None, memory.settings.find_secrets)
        return Looked(values, texts, redactor, redactor.look(values))

    def clean(self, tx: Transaction, looked: Looked) -> dict[str, Any]:
        """The values without secrets, as they may be written; each secret is kept in the vault."""
        memory, redactor = self._user.memory, looked.redactor
        redactor.keep = keep_in_vault(tx, memory.cipher)
        if memory.settings.find_secrets:
            redactor.know(find_known(tx, memory.cipher, looked.texts))
        return dict(redactor.clean(looked.values, looked.near))


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for part in pair for text in _strings(part)]
    return [text for part in value for text in _strings(part)] if isinstance(value, list | tuple) else []
