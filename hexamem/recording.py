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
        """End the run, and queue what it teaches.

        Args:
            outcome: whether the task was done; None where nobody knows: a model judges it, where there is one.
            evidence: what that rests on, such as a reward or the output of a test.
            source: who says so: the "environment", a "test" or the "user".

        Raises:
            InvalidInputError: if it is finished already.
            NotFoundError: if it was forgotten.
        """
        return self._runs.finish(self.id, outcome, evidence, source, queue=self._queue)

    afinish = in_thread(finish)

    @public
    def reflect(self, error: str = "") -> Reflection:
        """Look back at the run where it is stuck, and say what to do otherwise (CFGM: KIE and KIR).

        The key information of the situation is put against similar runs that did their task, and against what is known
        of the error. With a model that takes up to two calls, at most three times a recorder, and none where nothing was
        learned and no run was done yet. Without one, or beyond that, rules read off what those runs did at the same
        error, with the same tool, and next. What it rests on counts as given to the run.

        Args:
            error: what went wrong; where it is left out, what the recorded steps show.

        Returns:
            The reflection; ``text`` is for a prompt, fenced off as material, and "" where nobody knows better.

        Raises:
            InvalidInputError: where neither the error nor a step says what went wrong.
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
        """What was learned about a tool that is about to be called or has failed; no LLM call. It counts as given.

        Args:
            tool: its name.
            error: how it failed, if it did.

        Returns:
            Items of the facet "tool" that name it or are near; without those that the run was given before.
        """
        from hexamem.reflecting import tool_advice

        if not check_text(tool, "tool").strip():
            raise InvalidInputError(f"tool = {tool!r} is blank; give its name")
        check_text(error, "error")
        return tool_advice(self._runs, self.id, tool, error, same_task=self._same_task)

    atool_advice = in_thread(tool_advice)
