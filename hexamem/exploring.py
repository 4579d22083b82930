"""``user.experience.explore``: memory-aware test-time scaling with the caller's own agent; and its focus points."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hexamem.arguments import check_text, check_texts
from hexamem.errors import InvalidInputError
from hexamem.experience.advising import Include, with_focus
from hexamem.experience.as_items import EXPLORATION, item_values
from hexamem.experience.care import ACTOR, read_experience
from hexamem.experience.exploring import (
    MODES,
    AttemptResult,
    Choice,
    Exploration,
    ExploreMode,
    Tried,
    choose,
    choose_by_rules,
    earlier_text,
    read_result,
)
from hexamem.experience.focusing import Focus
from hexamem.experience.side_effects import EffectGuard, guarded_tools, has_side_effects
from hexamem.memory_types import new_id
from hexamem.memory_types.experience import Advice, Experience
from hexamem.recording import RunRecorder
from hexamem.stores.changing import add_item
from hexamem.stores.ledger.usage import keep_usage

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from hexamem.graphs.experience_recording import RunRecordingHandler
    from hexamem.learning import UserExperience
    from hexamem.models import UsageMeter

__all__ = ["Attempt", "Runner", "explore", "focus"]

_SHOWN = 2_000  # tokens of the run so far, in a re-examination
NO_MODEL = "focus points need a model: open the memory with model='openai:…' (or models={'experience': …})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a task, as the caller's agent is given it.

    Attributes:
        run: what records it. The agent need not finish it; one that it has finished is not looked at again.
        number: from 1: which of the parallel attempts, or which time the run is gone through.
        task: what is to be done, as the caller gave it; in the record secrets are taken out of it.
        advice: what earlier runs have to say, the same for all attempts; ``advice.text`` is for a prompt.
        earlier: in a re-examination the run so far, with what to look at, for a prompt; "" at the first time.
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
        return "\n\n".join(one for one in (self.advice.text, self.earlier) if one)

    def callback(self) -> RunRecordingHandler:
        """A callback that records a graph's run into this attempt, and refuses tools that must not be called in it."""
        from hexamem.graphs.experience_recording import RunRecordingHandler

        return RunRecordingHandler(self.run, forbidden=self._forbidden)


Runner: TypeAlias = "Callable[[Attempt], AttemptResult | bool | float | Awaitable[Any] | None]"
"""The caller's agent: it attempts the task and says how that ended."""


def explore(
    experience: UserExperience,
    task: str,
    runner: Runner,
    k: int,
    mode: ExploreMode,
    *,
    env: str,
    tools: Sequence[BaseTool],
    include: Include,
    same_task: bool,
) -> Exploration:
    """See :meth:`~hexamem.learning.UserExperience.explore`."""
    if mode not in MODES:
        raise InvalidInputError(f"mode = {mode!r}: use one of {', '.join(MODES)}")
    if not callable(runner):
        raise InvalidInputError(f"runner is {type(runner).__name__}; give a function that takes an attempt")
    advice = _advice(experience, task, env, include, same_task)
    one = _Exploring(experience, task, runner, env, tools, advice, same_task)
    return one.parallel(k) if mode == "parallel" else one.sequential(k)


def _advice(experience: UserExperience, task: str, env: str, include: Include, same_task: bool) -> Advice:
    if not experience._user.memory.settings.experience:
        return Advice()
    found = experience._recall.advice(task, env, 1, include, None, same_task)
    return with_focus(found, experience._recall.lore(env), experience._distilling.settings)


class _Exploring:
    """One exploration while it is made."""

    def __init__(
        self,
        experience: UserExperience,
        task: str,
        runner: Runner,
        env: str,
        tools: Sequence[BaseTool],
        advice: Advice,
        same_task: bool,
    ) -> None:
        self._experience, self._task, self._runner, self._env = experience, task, runner, env
        self._tools, self._advice, self._same_task = tuple(tools), advice, same_task
        self._id = new_id("exploration")
        self._degraded: list[str] = list(advice.degraded)

    def parallel(self, k: int) -> Exploration:
        guard = EffectGuard(fanned_out=k > 1)
        attempts = [self._attempt(number, guard, fanned_out=k > 1) for number in range(1, k + 1)]
        with ThreadPoolExecutor(k, thread_name_prefix="hexamem-explore") as pool:
            waiting = [pool.submit(copy_context().run, self._tried, attempt) for attempt in attempts]
            ended = [one.result() for one in waiting]
        tried = [one for one in ended if isinstance(one, Tried)]
        errors = [one for one in ended if isinstance(one, Exception)]
        self._degraded += [f"an attempt failed with {type(one).__name__}: it is left unfinished" for one in errors]
        if not tried:
            raise errors[0]
        choice = self._choice(tried)
        return self._done("parallel", tried, choice, k, guard)

    def sequential(self, k: int) -> Exploration:
        guard = EffectGuard(fanned_out=False)
        attempt = self._attempt(1, guard, fanned_out=False)
        passes, result = 0, AttemptResult()
        with ThreadPoolExecutor(1, thread_name_prefix="hexamem-explore") as pool:
            while True:
                before = len(self._experience.steps(attempt.run.id))
                try:
                    said = pool.submit(copy_context().run, self._call, attempt).result()
                except Exception as error:
                    if passes == 0 or isinstance(error, InvalidInputError):
                        raise
                    if not self._is_finished(attempt):
                        attempt.run.step(error=f"{type(error).__name__}: {error}")
                    self._degraded.append(
                        f"a re-examination failed with {type(error).__name__}: what was before it counts"
                    )
                    break
                passes += 1
                if said != AttemptResult():
                    result = said
                steps = self._experience.steps(attempt.run.id)
                nothing_done = not any(step.action.strip() for step in steps[before:])
                if result.done or passes > k or (passes > 1 and nothing_done):
                    break
                if self._is_finished(attempt):
                    self._degraded.append("the agent finished its run itself: it was not looked at again")
                    break
                attempt.run.step(thought=f"Re-examination {passes} of at most {k}:")
                shown = earlier_text(attempt.run.run, steps, _SHOWN)
                attempt = self._attempt(passes + 1, guard, fanned_out=False, run=attempt.run, earlier=shown)
        tried = self._finished(attempt, result)
        return self._done("sequential", [tried], Choice(at=0, by="only", reason="there is one run"), passes, guard)

    # -- inside -------------------------------------------------------------------------------------------------

    def _attempt(
        self,
        number: int,
        guard: EffectGuard,
        *,
        fanned_out: bool,
        run: RunRecorder | None = None,
        earlier: str = "",
    ) -> Attempt:
        marks = {EXPLORATION: self._id, "attempt": number}
        recorder = run or self._experience._begin(
            self._task, self._env, marks, self._advice, same_task=self._same_task, queue=False
        )
        return Attempt(
            run=recorder,
            number=number,
            task=self._task,
            advice=self._advice,
            earlier=earlier,
            tools=guarded_tools(self._tools, guard),
            _forbidden=tuple(one.name for one in self._tools if fanned_out and has_side_effects(one)),
        )

    def _call(self, attempt: Attempt) -> AttemptResult:
        said: Any = self._runner(attempt)
        if inspect.isawaitable(said):
            said = asyncio.run(_awaited(said))
        return read_result(said)

    def _tried(self, attempt: Attempt) -> Tried | Exception:
        """An attempt to its end; what its agent raised is told, since the others go on."""
        try:
            try:
                result = self._call(attempt)
            except Exception as error:
                if self._is_finished(attempt):
                    told = f"an attempt failed with {type(error).__name__} after its run was finished: that counts"
                    self._degraded.append(told)
                    return self._finished(attempt, AttemptResult())
                if not isinstance(error, InvalidInputError):
                    attempt.run.step(error=f"{type(error).__name__}: {error}")
                raise
            return self._finished(attempt, result)
        except Exception as error:  # noqa: BLE001 - the caller's agent may raise anything; it is told in `degraded`
            return error

    def _is_finished(self, attempt: Attempt) -> bool:
        """Whether the agent has finished its run itself: then no step goes into it any more."""
        return self._experience._run(attempt.run.id).status == "finished"

    def _finished(self, attempt: Attempt, result: AttemptResult) -> Tried:
        run = self._experience._run(attempt.run.id)
        if run.status != "finished":
            run = attempt.run.finish(result.done, evidence=_evidence(result)).run
        elif result.outcome is None and result.reward is None and run.outcome is not None:
            result = result.changed(outcome=run.outcome.label)
        return Tried(run=run, steps=self._experience.steps(run.id), result=result)

    def _choice(self, tried: Sequence[Tried]) -> Choice:
        choice, among = choose(tried)
        if choice is not None:
            return choice
        memory, settings = self._experience._user.memory, self._experience._distilling.settings
        model = memory.model_tier.models.of("judge") if memory.settings.experience else None
        if model is None:
            self._degraded.append("nobody told how the attempts ended and no model compares them: rules chose")
            return choose_by_rules(tried, among)
        from hexamem.experience.comparing import RunComparer
        from hexamem.models import UsageMeter

        usage = UsageMeter("explore")
        comparer = RunComparer(model, method=memory.settings.model_method, budget=memory.model_tier.budget, usage=usage)
        choice, why = comparer.best(tried, among, settings)
        _book(self._experience, usage)
        self._degraded += why
        return choice or choose_by_rules(tried, among)

    def _done(
        self, mode: ExploreMode, tried: Sequence[Tried], choice: Choice, passes: int, guard: EffectGuard
    ) -> Exploration:
        user, best = self._experience._user, tried[choice.at].run
        ids = [best.id, *(one.run.id for one in tried if one.run.id != best.id)]
        with user.memory.ledger.write(user.name, create=False) as tx:
            waits = self._experience._distilling.queue_explored(tx, ids, mode)
        user.memory.wrote(user.name)
        return Exploration(
            mode=mode,
            runs=tuple(one.run for one in tried),
            best=best.id,
            chosen_by=choice.by,
            reason=choice.reason,
            passes=passes,
            kept_back=tuple(guard.kept_back),
            distilling=waits,
            degraded=tuple(self._degraded),
        )


def focus(experience: UserExperience, env: str, examples: Sequence[str]) -> Focus:
    """See :meth:`~hexamem.learning.UserExperience.focus`."""
    user, memory = experience._user, experience._user.memory
    texts = [check_text(one, "an example").strip() for one in check_texts(examples, "examples")]
    texts = [memory._without_secrets(user.name, one) for one in texts if one]
    if not texts:
        raise InvalidInputError("examples holds no text; give the texts of some tasks of the environment")

    def points() -> tuple[Experience, ...]:
        with memory.ledger.read(user.name) as tx:
            return tuple(one for one in read_experience(tx, env) if one.origin == "focus")

    known = points()
    models = memory.model_tier.models
    model = models.of("experience") or models.of("distiller")
    if model is None or not memory.settings.experience:
        from hexamem.learning import OFF

        return Focus(points=known, degraded=(OFF if model is not None else NO_MODEL,))
    from hexamem.experience.focusing import Focuser
    from hexamem.experience.merging import merge
    from hexamem.models import UsageMeter

    usage = UsageMeter("focus")
    focuser = Focuser(model, method=memory.settings.model_method, budget=memory.model_tier.budget, usage=usage)
    made, degraded = focuser.focus(user.name, env, texts, experience._distilling.settings)
    new: tuple[Experience, ...] = ()
    if made:
        merged, told = experience._recall.with_vectors(
            lambda embed: merge(made, known, embed, experience._distilling.settings)
        )
        new, degraded = merged.new, (*degraded, *told)
    with memory.ledger.write(user.name, timezone=user.timezone) as tx:
        for one in new:
            reason = f"a focus point from {len(texts)} example{'' if len(texts) == 1 else 's'}"
            find = memory.settings.find_secrets
            add_item(tx, item_values(one), memory.cipher, actor=ACTOR, reason=reason, find=find)
    memory.wrote(user.name)
    _book(experience, usage)
    return Focus(points=points(), degraded=tuple(degraded))


def _book(experience: UserExperience, usage: UsageMeter) -> None:
    """Write down what models cost."""
    keep_usage(experience._user.memory.ledger, experience._user.name, usage.drain())


def _evidence(result: AttemptResult) -> str:
    told = "" if result.reward is None else f"reward {result.reward:g}"
    return "; ".join(one for one in (told, result.evidence) if one)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
