"""Memory-aware test-time scaling, the parts without a model (MaTTS; ReasoningBank, arXiv 2509.25140, section 3.2).

Parallel: several attempts at a task under the same advice, the best of which is chosen, and what their contrast teaches.
Sequential: one attempt that is looked at again, and what the corrections teach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from pydantic import Field

from hexamem.errors import InvalidInputError
from hexamem.experience.digest import abridged_run
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import Run, RunStep
from hexamem.prompts import load_prompt

__all__ = [
    "AttemptResult",
    "Choice",
    "ChosenBy",
    "Exploration",
    "ExploreMode",
    "Tried",
    "choose",
    "choose_by_rules",
    "earlier_text",
    "read_result",
]

ExploreMode = Literal["parallel", "sequential"]
ChosenBy = Literal["reward", "outcome", "judge", "rules", "only"]
MODES = get_args(ExploreMode)


class AttemptResult(Record):
    """What the caller's agent says of an attempt.

    Attributes:
        outcome: whether the task was done; None where nobody knows.
        reward: the environment's, the higher the better; without an outcome, 1 or more is a success.
        evidence: what that rests on.
    """

    outcome: bool | None = None
    reward: float | None = Field(default=None, allow_inf_nan=False)
    evidence: str = ""

    @property
    def done(self) -> bool | None:
        """Whether the task was done, by the outcome or else the reward."""
        if self.outcome is not None or self.reward is None:
            return self.outcome
        return self.reward >= 1.0


class Exploration(Record):
    """What an exploration brought.

    Attributes:
        mode: how the task was explored.
        runs: the attempts in order, as they ended; one where it was sequential.
        best: the id of the one that was chosen.
        chosen_by: by the environment's reward, the outcomes, the judge's comparison, or rules; "only" for a single run.
        reason: why, in a sentence.
        passes: how often the run was gone through, re-examinations with it; of parallel attempts, how many there are.
        kept_back: calls of tools with side effects that were not made.
        distilling: why no experience is made of it yet; "" where that is queued.
        degraded: what could not be done as asked.
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
        """The run that was chosen."""
        return next(run for run in self.runs if run.id == self.best)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attempt, with what its agent said of it."""

    run: Run
    steps: Sequence[RunStep]
    result: AttemptResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which attempt is the best one, by what, and why."""

    at: int
    by: ChosenBy
    reason: str


def read_result(value: object) -> AttemptResult:
    """What a runner gave back: an :class:`AttemptResult`, an outcome, a reward, or None.

    Raises:
        InvalidInputError: for anything else.
    """
    if isinstance(value, AttemptResult):
        return value
    if value is None or isinstance(value, bool):
        return AttemptResult(outcome=value)
    if isinstance(value, int | float) and isfinite(value):
        return AttemptResult(reward=float(value))
    raise InvalidInputError(
        f"the runner gave back {type(value).__name__}; give True or False (whether the task was done), a reward, None, "
        "or an AttemptResult"
    )


def choose(tried: Sequence[Tried]) -> tuple[Choice | None, list[int]]:
    """The best attempt by the environment's reward, else by outcomes.

    Returns:
        The choice, or None with the attempts between which neither decides. Among those of equal reward or outcome
        the shortest is taken where the environment has told how they ended.
    """
    if len(tried) == 1:
        return Choice(at=0, by="only", reason="there is one attempt"), [0]
    rewards = [one.result.reward for one in tried]
    if all(one is not None for one in rewards):
        best = max(one for one in rewards if one is not None)
        at = _shortest(tried, [n for n, one in enumerate(rewards) if one == best])
        return Choice(at=at, by="reward", reason=f"the highest reward, {best:g}"), [at]
    done = [n for n, one in enumerate(tried) if one.result.done]
    if done:
        at = _shortest(tried, done)
        return Choice(at=at, by="outcome", reason="it did its task in the fewest steps"), done
    open_ = [n for n, one in enumerate(tried) if one.result.done is None] or list(range(len(tried)))
    if len(open_) == 1:
        return Choice(at=open_[0], by="outcome", reason="the others failed"), open_
    return None, open_


def choose_by_rules(tried: Sequence[Tried], among: Sequence[int]) -> Choice:
    """The attempt with the fewest errors, and of these the shortest: what is left where nobody can compare."""

    def errors(at: int) -> tuple[bool, int, int]:
        steps = tried[at].steps
        return (not steps, sum(bool(step.error) for step in steps), len(steps))

    at = min(among, key=errors)
    return Choice(at=at, by="rules", reason="it has the fewest errors, then the fewest steps")


def earlier_text(run: Run, steps: Sequence[RunStep], budget: int) -> str:
    """What a re-examination is given: the run so far, fenced off, and what to look at."""
    shown = abridged_run(run, steps, budget, thoughts=True) or "no step was recorded"
    ((_, text),) = load_prompt("reexamine").render(earlier=shown)
    return text


def _shortest(tried: Sequence[Tried], among: Sequence[int]) -> int:
    return min(among, key=lambda at: len(tried[at].steps))
