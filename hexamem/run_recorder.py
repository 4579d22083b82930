"""``user.experience.start(…)``: a run that is being recorded, and looked back at where it is stuck."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hexamem.arguments import check_text
from hexamem.calls import Calls, in_thread, public
from hexamem.errors import InvalidInputError
from hexamem.experience_runs import UserRuns
from hexamem.memory_types.experience import Advice, OutcomeSource, Run, RunReceipt, RunStep

if TYPE_CHECKING:
    from hexamem.experience.reflecting import Reflection

__all__ = ["RunRecorder"]

_MOST_ASKED = 3  # times that a model looks back at a run


class RunRecorder:
    """A run that is being recorded. Made by :meth:`UserExperience.start`; safe to use from several threads.

    Attributes:
        id: of the run.
        run: as it was when it began.
        advice: what earlier runs have to say about its task.
    """

    def __init__(
        self, runs: UserRuns, calls: Calls, run: Run, advice: Advice, *, same_task: bool = True, queue: bool = True
    ) -> None:
        self._runs, self._calls, self._same_task, self._queue = runs, calls, same_task, queue
        self.run, self.advice, self.id = run, advice, run.id
        self._asked = 0  # how often a model was asked to reflect
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"RunRecorder({self.id!r})"

    @public
    def step(self, *, thought: str = "", action: str = "", observation: str = "", error: str | None = None) -> RunStep:
        """Write one turn of the agent to the ledger, at once and without an LLM call.

        Args:
            thought, action, observation: what it thought and did, and what came back; any may be left out.
            error: what went wrong, if something did.

        Raises:
            InvalidInputError: for a step without anything in it, or a run that is finished.
            NotFoundError: if the run was forgotten.
        """
        values = {"thought": thought, "action": action, "observation": observation, "error": error}
        return self._runs.add_step(self.id, values)

    astep = in_thread(step)

    @public
    def finish(
        self, outcome: bool | None = None, *, evidence: str = "", source: OutcomeSource = "environment"
    ) -> RunReceipt:
        """End the run, and queue its distilling.

        Args:
            outcome: whether the task was done; None if unknown: a model judges it, if there is one.
            evidence: for the outcome, such as a reward or the output of a test.
            source: of the outcome: the "environment", a "test" or the "user".

        Raises:
            InvalidInputError: if it is finished already.
            NotFoundError: if it was forgotten.
        """
        return self._runs.finish(self.id, outcome, evidence, source, queue=self._queue)

    afinish = in_thread(finish)

    @public
    def reflect(self, error: str = "") -> Reflection:
        """Reflect on a run that is stuck, and advise what to do next (CFGM: KIE and KIR).

        The key information of the situation is compared with similar successful runs and with experience on the error.
        With a model that takes up to two calls, at most three times per recorder, and none without experience and
        successful runs. Without a model, or beyond that, rules collect what those runs did after the same error, with
        the same tool, and next. The runs and experience used count as shown to the run.

        Args:
            error: what went wrong; when empty, what the recorded steps show.

        Returns:
            The reflection; ``text`` is for a prompt, delimited as data, and "" if there is no advice.

        Raises:
            InvalidInputError: if neither the error nor a step says what went wrong.
            NotFoundError: if the run was forgotten.
        """
        from hexamem.reflecting import reflect

        check_text(error, "error")
        return reflect(self._runs, self.id, error, same_task=self._same_task, may_ask=self._may_ask)

    areflect = in_thread(reflect)

    def _may_ask(self) -> bool:
        """Whether a model may be asked once more; counts it."""
        with self._guard:
            self._asked += 1
            return self._asked <= _MOST_ASKED

    @public
    def tool_advice(self, tool: str, error: str = "") -> Advice:
        """Advice on a tool that is about to be called or has failed, without an LLM call. It counts as shown to the run.

        Args:
            tool: its name.
            error: its error, if it failed.

        Returns:
            Items of the facet "tool" that name it or are near; without those that the run was shown before.
        """
        from hexamem.reflecting import tool_advice

        if not check_text(tool, "tool").strip():
            raise InvalidInputError(f"tool = {tool!r} is blank; pass its name")
        check_text(error, "error")
        return tool_advice(self._runs, self.id, tool, error, same_task=self._same_task)

    atool_advice = in_thread(tool_advice)
