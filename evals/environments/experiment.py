"""The gain by experience, end to end: tasks one after another, without memory and with several forms of advice.

Each task is recalled for, attempted, recorded, finished with the environment's outcome and distilled before the next one
begins, as in ReasoningBank's streaming setting (arXiv 2509.25140, section 4). No two tasks are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hexamem.config import Settings
from hexamem.evals.environments.advice_reading import RuleDistiller
from hexamem.evals.environments.agents import Agent, Attempted, ScriptedAgent
from hexamem.evals.environments.office_api import OfficeApi, Task
from hexamem.experience.advising import Include
from hexamem.exploring import Attempt
from hexamem.memory import Memory
from hexamem.stores.ledger.usage import usage_totals

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["ARMS", "Arm", "Outcome", "compare", "run_arm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of doing the tasks.

    Attributes:
        memory: whether advice is recalled and runs are learned from.
        include: as for ``user.experience.recall``.
        distil: whether runs are distilled; otherwise digests are shown.
        reflect: whether the agent reflects in trouble.
        explore: how each task is explored, with three attempts; None for a single attempt.
    """

    name: str
    memory: bool = True
    include: Include = "items"
    distil: bool = True
    reflect: bool = False
    explore: Literal["parallel", "sequential"] | None = None


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm(name="off", memory=False),
        Arm(name="digests", distil=False),
        Arm(name="items"),
        Arm(name="trajectories", include="trajectories", distil=False),
        Arm(name="both", include="both"),
        Arm(name="both + reflection", include="both", reflect=True),
        Arm(name="MaTTS parallel", explore="parallel"),
        Arm(name="MaTTS sequential", explore="sequential"),
    )
}
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of an arm.

    Attributes:
        success: share of the tasks that were done.
        steps: actions per task, mean; a failed task counts with all of its actions.
        done: whether each task was done, in order.
        attempts: total number of attempts.
        learned: experiences that are active at the end.
        advised: share of the tasks that had advice.
        judged: share of the runs on which the judge agrees with the environment; None without ``judge``.
        usage: of each agent whose model the memory called: calls, input tokens and output tokens.
    """

    arm: str
    success: float
    steps: float
    done: tuple[bool, ...] = field(repr=False)
    attempts: int = 0
    learned: int = 0
    advised: float = 0.0
    judged: float | None = None
    usage: Mapping[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)

    def as_json(self) -> dict[str, Any]:
        """JSON-ready, without the single tasks."""
        return {name: value for name, value in asdict(self).items() if name != "done"}


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of one task; ``run`` is the id of the run that counts."""

    attempted: Attempted
    attempts: int
    advised: bool
    run: str


def run_arm(
    arm: Arm,
    home: Path,
    *,
    count: int = 60,
    seed: int = 0,
    agent: Agent | None = None,
    models: Mapping[str, Any] | None = None,
    judge: bool = False,
    progress: Callable[[str], object] = lambda line: None,
) -> Outcome:
    """Do the tasks in one way, in a memory of its own.

    Args:
        home: a new folder for the memory.
        count: of tasks.
        seed: of the environment and its tasks.
        agent: attempts the tasks; the scripted agent when None.
        models: of the memory, as for ``Memory.open``; the rule distiller when None.
        judge: whether outcomes are left to the memory's judge.
        progress: called with a line for each task.
    """
    agent = agent or ScriptedAgent(seed)
    environment = OfficeApi(seed)
    distil = arm.distil and arm.memory
    judge = judge and distil and arm.explore is None
    memory_models = dict(models or {"distiller": RuleDistiller(), "judge": RuleDistiller()}) if distil else None
    settings = Settings(
        background=False, mode="off", labels="off", pages=False, find_secrets=False, experience=arm.memory
    )
    results: list[_Result] = []
    with Memory.open(home, models=memory_models, settings=settings) as memory:
        user = memory.user("agent")
        for task in environment.tasks(count):
            attempt = _single_attempt if arm.explore is None else _exploration
            result = attempt(user, arm, agent, environment, task, judge)
            label = "done" if result.attempted.done else "failed"
            progress(f"{arm.name}, task {task.number}: {label} in {result.attempted.steps} steps")
            user.flush()
            results.append(result)
        labels = {run.id: run.outcome.label if run.outcome else None for run in user.experience.runs()}
        learned = len(user.experience.items())
        usage = _usage(memory, user)
    attempted = [result.attempted for result in results]
    agreed = [labels[result.run] == result.attempted.done for result in results] if judge else []
    return Outcome(
        arm=arm.name,
        success=sum(each.done for each in attempted) / count,
        steps=sum(each.steps for each in attempted) / count,
        done=tuple(each.done for each in attempted),
        attempts=sum(result.attempts for result in results),
        learned=learned,
        advised=sum(result.advised for result in results) / count,
        judged=sum(agreed) / count if judge else None,
        usage=usage,
    )


def compare(arms: Sequence[Arm], folder: Path, **options: Any) -> list[Outcome]:
    """Several arms over the same tasks, each in a memory of its own below ``folder``; options as of :func:`run_arm`."""
    return [run_arm(arm, folder / f"arm{number}", **options) for number, arm in enumerate(arms)]


def _single_attempt(
    user: UserMemory, arm: Arm, agent: Agent, environment: OfficeApi, task: Task, judge: bool
) -> _Result:
    run = user.experience.start(
        task.text, env=environment.name, k=1, include=arm.include, recall=arm.memory, same_task=False
    )
    attempted = agent(environment, task, run.advice.text, run, arm.reflect, 1)
    run.finish(None if judge else attempted.done)
    return _Result(attempted, 1, bool(run.advice.text), run.id)


def _exploration(user: UserMemory, arm: Arm, agent: Agent, environment: OfficeApi, task: Task, judge: bool) -> _Result:
    """Several attempts, of which the best counts."""
    assert arm.explore is not None
    by_run: dict[str, Attempted] = {}

    def runner(attempt: Attempt) -> bool:
        by_run[attempt.run.id] = agent(environment, task, attempt.text, attempt.run, arm.reflect, attempt.number)
        return by_run[attempt.run.id].done

    explored = user.experience.explore(
        task.text, runner, _ATTEMPTS, mode=arm.explore, env=environment.name, include=arm.include, same_task=False
    )
    best = explored.best_run
    return _Result(by_run[best.id], explored.passes, bool(best.shown), best.id)


def _usage(memory: Memory, user: UserMemory) -> dict[str, tuple[int, int, int]]:
    totals: dict[str, tuple[int, int, int]] = {}
    with memory.ledger.read(user.name) as tx:
        for row in usage_totals(tx):
            calls, read, written = totals.get(row["agent"], (0, 0, 0))
            totals[row["agent"]] = (calls + row["calls"], read + row["input_tokens"], written + row["output_tokens"])
    return totals
