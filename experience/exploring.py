"""Memory-aware test-time scaling: results and the choice between them (MaTTS; ReasoningBank, arXiv 2509.25140, 3.2).

Parallel: several attempts at a task with the same advice; the best is chosen, and experience is distilled by contrast.
Sequential: one attempt that is re-examined; experience is distilled from its corrections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from pydantic import Field

from hexamem.errors import InvalidInputError
from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped
from hexamem.experience.model_calls import ExperienceModel
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import Run, RunStep
from hexamem.models import ModelReply
from hexamem.prompts import load_prompt

__all__ = [
    "AttemptResult",
    "BestRunReply",
    "Choice",
    "ChosenBy",
    "Exploration",
    "ExploreMode",
    "Tried",
    "choose",
    "choose_by_model",
    "choose_by_rules",
    "earlier_text",
    "read_result",
]

ExploreMode = Literal["parallel", "sequential"]
ChosenBy = Literal["reward", "outcome", "judge", "rules", "only"]
MODES = get_args(ExploreMode)


class AttemptResult(Record):
    """What the caller's agent returns for an attempt.

    Attributes:
        outcome: whether the task was done; None if unknown. Without it the reward decides: see
            ``success_from`` of :meth:`~hexamem.learning.UserExperience.explore`.
        reward: the environment's, the higher the better.
        evidence: what the outcome rests on.
    """

    outcome: bool | None = None
    reward: float | None = Field(default=None, allow_inf_nan=False)
    evidence: str = ""


class BestRunReply(ModelReply):
    """Which of the runs did the task best."""

    best: int = Field(description="the number of the run, counted from 1")
    reason: str = Field(description="one short sentence")


class Exploration(Record):
    """The result of an exploration.

    Attributes:
        mode: how the task was explored.
        runs: the attempts in order, as they ended; a single one in sequential mode.
        best: the id of the chosen run.
        chosen_by: by the environment's reward, the outcomes, the judge's comparison, or rules; "only" for a single run.
        reason: why, in a sentence.
        passes: the passes over the run, re-examinations included; in parallel mode the number of attempts.
        kept_back: calls of tools with side effects that were not made.
        distilling: why it is not distilled yet; "" if that is queued.
        degraded: a line for each failure and fallback.
    """

    mode: ExploreMode
    runs: tuple[Run, ...]
    best: str
    chosen_by: ChosenBy
    reason: str = ""
    passes: int = 1
    kept_back: tuple[str, ...] = ()
    distilling: str = ""
    degraded: tuple[str, ...] = ()

    @property
    def best_run(self) -> Run:
        """The chosen run."""
        return next(run for run in self.runs if run.id == self.best)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attempt, with the result that its agent returned."""

    run: Run
    steps: Sequence[RunStep]
    result: AttemptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which attempt is the best one, by what, and why."""

    at: int
    by: ChosenBy
    reason: str


def read_result(value: object, success_from: float) -> AttemptResult:
    """The result of a runner, which may return an :class:`AttemptResult`, an outcome, a reward, or None.

    Args:
        success_from: the lowest reward that is a success if there is no outcome.

    Raises:
        InvalidInputError: for anything else.
    """
    if isinstance(value, AttemptResult):
        result = value
    elif value is None or isinstance(value, bool):
        result = AttemptResult(outcome=value)
    elif isinstance(value, int | float) and isfinite(value):
        result = AttemptResult(reward=float(value))
    else:
        raise InvalidInputError(
            f"the runner returned {type(value).__name__}; return True or False (whether the task was done), a reward, "
            "None, or an AttemptResult"
        )
    if result.outcome is None and result.reward is not None:
        return result.changed(outcome=result.reward >= success_from)
    return result


def choose(tried: Sequence[Tried]) -> tuple[Choice | None, list[int]]:
    """The best attempt by the environment's reward, else by outcomes.

    Returns:
        The choice, or None with the attempts between which neither decides. Among attempts of equal reward, or that
        did the task, the shortest is chosen.
    """
    if len(tried) == 1:
        return Choice(at=0, by="only", reason="there is one attempt"), [0]
    rewards = [attempt.result.reward for attempt in tried]
    if all(reward is not None for reward in rewards):
        best = max(reward for reward in rewards if reward is not None)
        at = _shortest(tried, [index for index, reward in enumerate(rewards) if reward == best])
        return Choice(at=at, by="reward", reason=f"the highest reward, {best:g}"), [at]
    done = [index for index, attempt in enumerate(tried) if attempt.result.outcome]
    if done:
        at = _shortest(tried, done)
        return Choice(at=at, by="outcome", reason="it did its task in the fewest steps"), done
    undecided = [index for index, attempt in enumerate(tried) if attempt.result.outcome is None] or list(
        range(len(tried))
    )
    if len(undecided) == 1:
        return Choice(at=undecided[0], by="outcome", reason="the others failed"), undecided
    return None, undecided


def choose_by_model(
    model: ExperienceModel, tried: Sequence[Tried], among: Sequence[int]
) -> tuple[Choice | None, tuple[str, ...]]:
    """The best attempt by a model that compares them (best of n; ReasoningBank, appendix A).

    Args:
        among: indexes of the attempts to compare.

    Returns:
        The choice, None if the reply was not usable; and what was degraded.
    """
    tokens = 2 * limits.RUN_TOKENS // len(among)
    shown = []
    for number, attempt in enumerate((tried[index] for index in among), start=1):
        evidence = f"\n   evidence: {clipped(attempt.run.evidence, 300)}" if attempt.run.evidence else ""
        shown.append(f"Run {number}. {abridged_run(attempt.run, attempt.steps, tokens, thoughts=True)}{evidence}")
    messages = load_prompt("best_run").render(task=tried[among[0]].run.task, runs="\n\n".join(shown), most=len(among))

    def problems(reply: BestRunReply) -> list[str]:
        in_range = 1 <= reply.best <= len(among)
        return [] if in_range else [f"best = {reply.best}: give a number from 1 to {len(among)}"]

    result = model.ask(BestRunReply, messages, validate=problems)
    if result.value is None:
        return None, result.degraded
    choice = Choice(at=among[result.value.best - 1], by="judge", reason=clipped(result.value.reason, 300))
    return choice, result.degraded


def choose_by_rules(tried: Sequence[Tried], among: Sequence[int]) -> Choice:
    """The attempt with the fewest errors, and of these the shortest."""

    def errors(at: int) -> tuple[bool, int, int]:
        steps = tried[at].steps
        return (not steps, sum(bool(step.error) for step in steps), len(steps))

    at = min(among, key=errors)
    return Choice(at=at, by="rules", reason="it has the fewest errors, then the fewest steps")


def earlier_text(run: Run, steps: Sequence[RunStep], budget: int) -> str:
    """The prompt of a re-examination: the run so far, delimited as data, and what to examine."""
    shown = abridged_run(run, steps, budget, thoughts=True) or "no step was recorded"
    ((_, text),) = load_prompt("reexamine").render(earlier=shown)
    return text


def _shortest(tried: Sequence[Tried], among: Sequence[int]) -> int:
    return min(among, key=lambda index: len(tried[index].steps))
