"""The gain by experience, end to end: tasks one after another, with memory and without, with the right one and another's.

Each task is recalled for, attempted, recorded, finished by the environment's word and distilled before the next one
begins, as in ReasoningBank's streaming setting (arXiv 2509.25140, section 4). No two tasks are the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hexamem.config import Settings
from hexamem.evals.environments import household, office_api, shop
from hexamem.evals.environments.contract import Environment, Feedback, Prior, Task
from hexamem.evals.environments.distiller import RuleDistiller
from hexamem.evals.environments.policy import Ended, act_out
from hexamem.experience.advising import Include
from hexamem.exploring import Attempt
from hexamem.memory import Memory
from hexamem.recording import RunRecorder
from hexamem.stores.ledger.usage import usage_totals

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["ARMS", "ENVIRONMENTS", "Agent", "Arm", "Outcome", "compare", "run_arm", "scripted_agent", "tasks_of"]

ENVIRONMENTS: Mapping[str, tuple[Callable[[int], Environment], Prior]] = {
    "household": (household.Household, household.prior),
    "shop": (shop.Shop, shop.prior),
    "office-api": (office_api.OfficeApi, office_api.prior),
}
"""The environments with what an agent without experience would do in them."""

Agent = Callable[[Environment, Task, str, RunRecorder, bool, int], Ended]
"""Attempts a task: (environment, task, advice, recorder, whether to reflect in trouble, number of the attempt)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of doing the tasks.

    Attributes:
        name: of the arm.
        memory: "off", "on", "shuffled": each task gets what was recalled for a task of another environment, or
            "random": for any earlier task of its own environment.
        include: as for ``user.experience.recall``.
        k: from how many earlier runs advice comes.
        distil: whether runs are distilled; without, digests are shown.
        reflect: whether the agent reflects in trouble.
        explore: how each task is explored, if it is, with three attempts.
    """

    name: str
    memory: Literal["off", "on", "shuffled", "random"] = "on"
    include: Include = "items"
    k: int = 1
    distil: bool = True
    reflect: bool = False
    explore: Literal["parallel", "sequential"] | None = None


ARMS: Mapping[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm(name="off", memory="off"),
        Arm(name="digests", distil=False),
        Arm(name="items"),
        Arm(name="items, k = 3", k=3),
        Arm(name="trajectories", include="trajectories", distil=False),
        Arm(name="both", include="both"),
        Arm(name="both, k = 3", include="both", k=3),
        Arm(name="items + reflection", reflect=True),
        Arm(name="both + reflection", include="both", reflect=True),
        Arm(name="shuffled items", memory="shuffled"),
        Arm(name="shuffled both", memory="shuffled", include="both"),
        Arm(name="random both", memory="random", include="both"),
        Arm(name="off, best of 3", memory="off", explore="parallel"),
        Arm(name="MaTTS parallel", explore="parallel"),
        Arm(name="MaTTS sequential", explore="sequential"),
    )
}
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an arm went.

    Attributes:
        success: share of the tasks that were done.
        steps: actions a task, mean; a task that was not done counts with all that it had.
        by_environment: (success, steps) of each.
        done: whether each task was done, in order.
        attempts: attempts that were made in all.
        learned: experience that was active in the end.
        advised: share of the tasks that had advice.
        judged: share of the runs that the judge labelled as the environment would have; None where it was not asked.
        usage: of each agent whose model the memory called: calls, tokens read and tokens written.
    """

    arm: str
    success: float
    steps: float
    by_environment: Mapping[str, tuple[float, float]]
    done: tuple[bool, ...] = field(repr=False)
    attempts: int = 0
    learned: int = 0
    advised: float = 0.0
    judged: float | None = None
    usage: Mapping[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)

    def as_json(self) -> dict[str, Any]:
        """As a mapping of JSON values, without the single tasks."""
        return {name: value for name, value in asdict(self).items() if name != "done"}


def tasks_of(count: int, seed: int, environments: Sequence[str] | None = None) -> list[tuple[Environment, Task]]:
    """So many tasks, the environments in turn; all environments when None."""
    names = [name for name in ENVIRONMENTS if environments is None or name in environments]
    made = [ENVIRONMENTS[name][0](seed) for name in names]
    rounds = zip(*(environment.tasks(-(-count // len(made))) for environment in made), strict=True)
    return [pair for tasks in rounds for pair in zip(made, tasks, strict=True)][:count]


def scripted_agent(seed: int) -> Agent:
    """The scripted policy as an agent. From the second attempt at a task on, attempts differ by chance."""

    def attempt(
        environment: Environment, task: Task, advice: str, run: RunRecorder, reflect: bool, number: int
    ) -> Ended:
        def record(action: str, back: Feedback) -> None:
            run.step(action=action, observation=back.observation, error=back.error or None)

        return act_out(
            environment,
            task,
            ENVIRONMENTS[environment.name][1],
            advice,
            record=record,
            reflect=(lambda error: run.reflect(error).text) if reflect else None,
            chance=random.Random(f"{seed} {task.text} {number}") if number > 1 else None,
        )

    return attempt


@dataclass(frozen=True, slots=True)
class _Result:
    """How one task went; ``run`` is the id of the run that counts."""

    task: Task
    ended: Ended
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
    environments: Sequence[str] | None = None,
    judged: bool = False,
    at_once: int = 1,
    progress: Callable[[str], object] = lambda line: None,
) -> Outcome:
    """Do the tasks in one way, in a memory of its own.

    Args:
        home: a new folder for the memory.
        count: of tasks.
        seed: of the environments and their tasks.
        agent: attempts tasks; the scripted policy when None.
        models: of the memory, as for ``Memory.open``; the rule distiller when None.
        environments: names of those that count; all when None.
        judged: whether the outcomes are kept from the memory, so that its judge decides.
        at_once: so many tasks are done at once where there is no memory: they do not depend on each other there.
        progress: receives a line for each task.
    """
    agent = agent or scripted_agent(seed)
    distils = arm.distil and arm.memory != "off"
    judged = judged and distils and arm.explore is None
    given = dict(models or {"distiller": RuleDistiller(), "judge": RuleDistiller()}) if distils else None
    plain: dict[str, Any] = {"background": False, "mode": "off", "labels": "off", "pages": False, "find_secrets": False}
    settings = Settings(**plain, experience=arm.memory != "off")
    with Memory.open(home, models=given, settings=settings) as memory:
        user = memory.user("agent")
        chance = random.Random(f"shuffled {seed}")
        advised: dict[str, list[str]] = {}  # environment → the advice of its tasks so far

        def attempted(environment: Environment, task: Task) -> _Result:
            if arm.explore is not None:
                result = _explored(user, arm, agent, environment, task)
            else:
                result = _done_once(user, arm, agent, environment, task, advised, chance, judged)
            how = "done" if result.ended.done else "failed"
            progress(f"{arm.name}, {task.environment} {task.number}: {how} in {result.ended.steps} steps")
            if arm.memory != "off":
                user.flush()
            return result

        together = at_once if arm.memory == "off" and arm.explore is None else 1
        with ThreadPoolExecutor(together) as pool:
            results = list(pool.map(lambda pair: attempted(*pair), tasks_of(count, seed, environments)))
        outcomes = {run.id: run.outcome for run in user.experience.runs()}
        right = [(found := outcomes[one.run]) is not None and found.label == one.ended.done for one in results]
        learned = len(user.experience.items())
        usage: dict[str, tuple[int, int, int]] = {}
        with memory.ledger.read(user.name) as tx:
            for row in usage_totals(tx):
                calls, read, written = usage.get(row["agent"], (0, 0, 0))
                tokens = (read + row["input_tokens"], written + row["output_tokens"])
                usage[row["agent"]] = (calls + row["calls"], *tokens)
    names = dict.fromkeys(one.task.environment for one in results)
    success, steps = _means(results)
    return Outcome(
        arm=arm.name,
        success=success,
        steps=steps,
        by_environment={name: _means([one for one in results if one.task.environment == name]) for name in names},
        done=tuple(one.ended.done for one in results),
        attempts=sum(one.attempts for one in results),
        learned=learned,
        advised=sum(one.advised for one in results) / len(results),
        judged=sum(right) / len(right) if judged else None,
        usage=usage,
    )


def _done_once(
    user: UserMemory,
    arm: Arm,
    agent: Agent,
    environment: Environment,
    task: Task,
    advised: dict[str, list[str]],
    chance: random.Random,
    judged: bool,
) -> _Result:
    """One attempt, with what the memory advises for this task or, where that is shuffled or random, for another one."""
    run = user.experience.start(
        task.text, env=environment.name, k=arm.k, include=arm.include, recall=arm.memory != "off", same_task=False
    )
    advice = run.advice.text
    advised.setdefault(environment.name, []).append(advice)
    if arm.memory in ("shuffled", "random"):
        names = [name for name in ENVIRONMENTS if (name == environment.name) == (arm.memory == "random")]
        others = [text for name in names for text in advised.get(name, ()) if text]
        advice = chance.choice(others) if others else ""
    ended = agent(environment, task, advice, run, arm.reflect, 1)
    if judged:
        run.finish(None)
    else:
        run.finish(ended.done, evidence=f"reward {ended.reward:g}")
    return _Result(task, ended, 1, bool(advice), run.id)


def _explored(user: UserMemory, arm: Arm, agent: Agent, environment: Environment, task: Task) -> _Result:
    """Several attempts, of which one is chosen."""
    assert arm.explore is not None
    ends: dict[str, Ended] = {}

    def runner(attempt: Attempt) -> bool:
        # A re-examination reads the run so far as it reads advice: what failed in it, and what did not.
        ends[attempt.run.id] = agent(environment, task, attempt.text, attempt.run, arm.reflect, attempt.number)
        return ends[attempt.run.id].done

    explored = user.experience.explore(
        task.text, runner, _ATTEMPTS, mode=arm.explore, env=environment.name, include=arm.include, same_task=False
    )
    best = explored.best_run
    return _Result(task, ends[best.id], explored.passes, bool(best.shown), best.id)


def _means(results: Sequence[_Result]) -> tuple[float, float]:
    """The share of tasks that were done, and the steps of a task."""
    ends = [one.ended for one in results]
    return sum(end.done for end in ends) / len(ends), sum(end.steps for end in ends) / len(ends)


def compare(arms: Sequence[Arm], folder: Path, **options: Any) -> list[Outcome]:
    """Several arms over the same tasks, each in a memory of its own below ``folder``; options as of :func:`run_arm`."""
    return [run_arm(arm, folder / f"arm{number}", **options) for number, arm in enumerate(arms)]
