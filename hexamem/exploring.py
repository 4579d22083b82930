"""``user.experience.explore``: memory-aware test-time scaling with the caller's own agent (MaTTS)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from langgraph.errors import GraphBubbleUp

from hexamem.calls import Calls
from hexamem.errors import InvalidInputError
from hexamem.experience.advising import Include, with_focus
from hexamem.experience.exploring import (
    AttemptResult,
    Choice,
    Exploration,
    ExploreMode,
    Tried,
    choose,
    choose_by_model,
    choose_by_rules,
    earlier_text,
    read_result,
)
from hexamem.experience.side_effects import EffectGuard, guarded_tools, has_side_effects
from hexamem.experience.stored import EXPLORATION
from hexamem.experience_runs import UserRuns
from hexamem.memory_types import new_id
from hexamem.memory_types.experience import Advice
from hexamem.run_recorder import RunRecorder

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from hexamem.graphs.experience_recording import RunRecordingHandler

_EARLIER_TOKENS = 2_000  # of the run so far, in a re-examination


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a task, as the caller's agent receives it.

    Attributes:
        run: its recorder. The agent need not finish it; a run that it finished is not re-examined.
        number: from 1: of the parallel attempt, or of the pass over the run.
        task: the caller's text; in the recorded run secrets are removed from it.
        advice: from earlier runs, the same for all attempts; ``advice.text`` is for a prompt.
        earlier: in a re-examination the run so far, with what to examine, for a prompt; "" at the first pass.
        tools: the agent's tools; those with side effects are guarded.
    """

    run: RunRecorder
    number: int
    task: str
    advice: Advice
    earlier: str = ""
    tools: tuple[BaseTool, ...] = ()
    _forbidden: tuple[str, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """Advice and re-examination together, for a prompt."""
        return "\n\n".join(text for text in (self.advice.text, self.earlier) if text)

    def callback(self) -> RunRecordingHandler:
        """A callback that records a graph's run into this attempt, and refuses tools that must not be called in it."""
        from hexamem.graphs.experience_recording import RunRecordingHandler

        return RunRecordingHandler(self.run, forbidden=self._forbidden)


Runner: TypeAlias = "Callable[[Attempt], AttemptResult | bool | float | Awaitable[Any] | None]"
"""The caller's agent: it attempts the task and returns how that ended."""


@dataclass
class Exploring:
    """One exploration of a task; see :meth:`~hexamem.learning.UserExperience.explore` for the arguments."""

    runs: UserRuns
    calls: Calls
    task: str
    runner: Runner
    env: str
    tools: Sequence[BaseTool]
    include: Include
    same_task: bool
    success_from: float

    def __post_init__(self) -> None:
        self._id, self._advice = new_id("exploration"), Advice()
        if self.runs.on:
            advice = self.runs.advice(self.task, self.env, 1, self.include, None, self.same_task)
            self._advice = with_focus(advice, self.runs.lore(self.env))
        self._degraded: list[str] = list(self._advice.degraded)

    def parallel(self, k: int) -> Exploration:
        """Make k attempts at once and choose the best."""
        guard = EffectGuard(fanned_out=k > 1)
        forbidden = tuple(tool.name for tool in self.tools if k > 1 and has_side_effects(tool))
        attempts = [self._attempt(number, guard, forbidden=forbidden) for number in range(1, k + 1)]
        with ThreadPoolExecutor(k, thread_name_prefix="hexamem-explore") as pool:
            futures = [pool.submit(copy_context().run, self._tried, attempt) for attempt in attempts]
            ended = [future.result() for future in futures]
        tried = [result for result in ended if isinstance(result, Tried)]
        errors = [result for result in ended if isinstance(result, Exception)]
        self._degraded += [f"an attempt failed with {type(error).__name__}: it is left unfinished" for error in errors]
        if not tried:
            raise errors[0]
        return self._done("parallel", tried, self._choice(tried), k, guard)

    def sequential(self, k: int) -> Exploration:
        """Make one attempt and have it re-examined up to k times."""
        guard = EffectGuard(fanned_out=False)
        attempt = self._attempt(1, guard)
        passes, result = 0, AttemptResult()
        with ThreadPoolExecutor(1, thread_name_prefix="hexamem-explore") as pool:
            while True:
                before = len(self.runs.steps(attempt.run.id))
                try:
                    returned = pool.submit(copy_context().run, self._call, attempt).result()
                except (GraphBubbleUp, InvalidInputError):
                    raise
                except Exception as error:
                    if passes == 0:
                        raise
                    self._record_error(attempt, error)
                    self._degraded.append(
                        f"a re-examination failed with {type(error).__name__}: the result before it counts"
                    )
                    break
                passes += 1
                if returned != AttemptResult():
                    result = returned
                steps = self.runs.steps(attempt.run.id)
                nothing_done = not any(step.action.strip() for step in steps[before:])
                if result.outcome or passes > k or (passes > 1 and nothing_done):
                    break
                if self._is_finished(attempt):
                    self._degraded.append("the agent finished its run itself: it was not re-examined")
                    break
                attempt.run.step(thought=f"Re-examination {passes} of at most {k}:")
                shown = earlier_text(attempt.run.run, steps, _EARLIER_TOKENS)
                attempt = self._attempt(passes + 1, guard, run=attempt.run, earlier=shown)
        choice = Choice(at=0, by="only", reason="there is one run")
        return self._done("sequential", [self._finished(attempt, result)], choice, passes, guard)

    # -- inside -------------------------------------------------------------------------------------------------

    def _attempt(
        self,
        number: int,
        guard: EffectGuard,
        *,
        forbidden: tuple[str, ...] = (),
        run: RunRecorder | None = None,
        earlier: str = "",
    ) -> Attempt:
        if run is None:
            marks = {EXPLORATION: self._id, "attempt": number}
            begun = self.runs.begin(self.task, self.env, marks, self._advice.ids)
            run = RunRecorder(self.runs, self.calls, begun, self._advice, same_task=self.same_task, queue=False)
        return Attempt(
            run=run,
            number=number,
            task=self.task,
            advice=self._advice,
            earlier=earlier,
            tools=guarded_tools(self.tools, guard),
            _forbidden=forbidden,
        )

    def _call(self, attempt: Attempt) -> AttemptResult:
        returned: Any = self.runner(attempt)
        if inspect.isawaitable(returned):
            returned = asyncio.run(_awaited(returned))
        return read_result(returned, self.success_from)

    def _tried(self, attempt: Attempt) -> Tried | Exception:
        """Run an attempt to its end. An error of its agent is returned, since the other attempts continue."""
        try:
            return self._finished(attempt, self._call(attempt))
        except GraphBubbleUp:  # an interrupt is for the graph around the exploration
            raise
        except Exception as error:  # noqa: BLE001 - the caller's agent may raise anything; `degraded` names it
            if self._is_finished(attempt):
                self._degraded.append(
                    f"an attempt failed with {type(error).__name__} after its run was finished: the run's outcome counts"
                )
                return self._finished(attempt, AttemptResult())
            if not isinstance(error, InvalidInputError):
                self._record_error(attempt, error)
            return error

    def _record_error(self, attempt: Attempt, error: Exception) -> None:
        if not self._is_finished(attempt):
            attempt.run.step(error=f"{type(error).__name__}: {error}")

    def _is_finished(self, attempt: Attempt) -> bool:
        """Whether the agent has finished its run itself: then no more steps can be added."""
        return self.runs.run(attempt.run.id).status == "finished"

    def _finished(self, attempt: Attempt, result: AttemptResult) -> Tried:
        run = self.runs.run(attempt.run.id)
        if run.status != "finished":
            reward = "" if result.reward is None else f"reward {result.reward:g}"
            evidence = "; ".join(text for text in (reward, result.evidence) if text)
            run = attempt.run.finish(result.outcome, evidence=evidence).run
        elif result.outcome is None and run.outcome is not None:
            result = result.changed(outcome=run.outcome.label)
        return Tried(run=run, steps=self.runs.steps(run.id), result=result)

    def _choice(self, tried: Sequence[Tried]) -> Choice:
        choice, among = choose(tried)
        if choice is not None:
            return choice
        with self.runs.distilling.model_for(self.runs.user, "judge", "explore") as model:
            if model is None or not self.runs.on:
                self._degraded.append("no outcome is known and no model compares the attempts: rules chose")
                return choose_by_rules(tried, among)
            choice, degraded = choose_by_model(model, tried, among)
        self._degraded += degraded
        return choice or choose_by_rules(tried, among)

    def _done(
        self, mode: ExploreMode, tried: Sequence[Tried], choice: Choice, passes: int, guard: EffectGuard
    ) -> Exploration:
        best = tried[choice.at].run
        ids = [best.id, *(other.run.id for other in tried if other.run.id != best.id)]
        with self.runs.write() as tx:
            waits = self.runs.distilling.queue(tx, ids, mode)
        return Exploration(
            mode=mode,
            runs=tuple(other.run for other in tried),
            best=best.id,
            chosen_by=choice.by,
            reason=choice.reason,
            passes=passes,
            kept_back=tuple(guard.kept_back),
            distilling=waits,
            degraded=tuple(self._degraded),
        )


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
