"""The gain by experience, end to end: tasks one after another, with memory and without, with the right one and another's.

Each task is recalled for, attempted, recorded, finished by the environment's word and distilled before the next one
begins, as in ReasoningBank's streaming setting (arXiv 2509.25140, section 4). No two tasks are the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...config import Settings
from ...experience.advising import Include
from ...exploring import Attempt
from ...memory import Memory
from ...recording import RunRecorder
from ...stores.ledger.usage import usage_totals
from . import household, office_api, shop
from .contract import Environment, Feedback, Prior, Task
from .distiller import RuleDistiller
from .policy import Ended, act_out

if TYPE_CHECKING:
    from ...models import UsageRow

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
        memory: "off", "on", "shuffled": each task is given what was recalled for a task of another environment, or
            "random": for any earlier task of its own environment.
        include: as for ``user.experience.recall``.
        k: from how many earlier runs advice comes.
        distil: whether runs are distilled; without, digests stand in.
        reflect: whether the agent reflects in trouble.
        explore: how each task is explored, if it is; with ``attempts``.
    """

    name: str
    memory: Literal["off", "on", "shuffled", "random"] = "on"
    include: Include = "items"
    k: int = 1
    distil: bool = True
    reflect: bool = False
    explore: Literal["parallel", "sequential"] | None = None
    attempts: int = 3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an arm went.

    Attributes:
        success: share of the tasks that were done.
        steps: actions a task, mean; a task that was not done counts with all that it was given.
        by_environment: (success, steps) of each.
        done: whether each task was done, in order.
        attempts: attempts that were made in all.
        learned: experience that was active in the end.
        advised: share of the tasks that were given advice.
        judged: share of the runs of which the judge said what the environment would have; None where it was not asked.
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


def tasks_of(count: int, seed: int) -> list[tuple[Environment, Prior, Task]]:
    """So many tasks, the environments in turn."""
    made = [(make(seed), prior) for make, prior in ENVIRONMENTS.values()]
    each = -(-count // len(made))
    lists = [(environment, prior, environment.tasks(each)) for environment, prior in made]
    mixed = [(environment, prior, tasks[at]) for at in range(each) for environment, prior, tasks in lists]
    return mixed[:count]


def scripted_agent(seed: int) -> Agent:
    """The scripted policy as an agent. From the second attempt at a task on, attempts differ by chance."""
    priors = {name: prior for name, (_, prior) in ENVIRONMENTS.items()}

    def attempt(
        environment: Environment, task: Task, advice: str, run: RunRecorder, reflect: bool, number: int
    ) -> Ended:
        def record(action: str, back: Feedback) -> None:
            run.step(action=action, observation=back.observation, error=back.error or None)

        return act_out(
            environment,
            task,
            priors[environment.name],
            advice,
            record=record,
            reflect=(lambda error: run.reflect(error).text) if reflect else None,
            chance=random.Random(f"{seed} {task.text} {number}") if number > 1 else None,
        )

    return attempt


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
    progress: Callable[[str], object] | None = None,
) -> Outcome:
    """Do the tasks in one way, in a memory of its own.

    Args:
        home: a new folder for the memory.
        count: of tasks.
        seed: of the environments and their tasks.
        agent: attempts tasks; the scripted policy when None.
        models: of the memory, as for ``Memory.open``; the rule distiller when None.
        environments: names of those that count; all when None.
        judged: whether the memory is not told how a task ended, so that its judge says.
        at_once: so many tasks are done at once where there is no memory: they do not depend on each other there.
        progress: told how each task went.
    """
    acts = agent or scripted_agent(seed)
    distils = arm.distil and arm.memory != "off"
    asks = judged and distils and arm.explore is None
    given = dict(models or {"distiller": RuleDistiller(), "judge": RuleDistiller()}) if distils else None
    plain: dict[str, Any] = {"background": False, "mode": "off", "labels": "off", "pages": False, "find_secrets": False}
    settings = Settings(**plain, experience=arm.memory != "off")
    tell = progress or (lambda said: None)
    ended: list[tuple[Task, Ended]] = []
    advised, attempts, agreed = 0, 0, 0
    with Memory.open(home, models=given, settings=settings) as memory:
        user = memory.user("agent")
        chance = random.Random(f"shuffled {seed}")
        texts: dict[str, list[str]] = {name: [] for name in ENVIRONMENTS}

        def alone(environment: Environment, task: Task) -> tuple[Task, Ended]:
            run = user.experience.start(task.text, env=environment.name, recall=False)
            result = acts(environment, task, "", run, arm.reflect, 1)
            run.finish(result.done, evidence=f"reward {result.reward:g}")
            tell(_told(task, result))
            return task, result

        chosen = _chosen(count, seed, environments)
        if arm.memory == "off" and arm.explore is None and at_once > 1:
            with ThreadPoolExecutor(at_once) as pool:
                ended = list(pool.map(lambda one: alone(one[0], one[2]), chosen))
            attempts, chosen = len(ended), []
        for environment, _, task in chosen:
            if arm.explore is not None:
                result, made, given_any = _explored(user, arm, environment, task, acts)
                attempts += made
                advised += given_any
                ended.append((task, result))
                user.flush()
                continue
            run = user.experience.start(
                task.text,
                env=environment.name,
                k=arm.k,
                include=arm.include,
                recall=arm.memory != "off",
                same_task=False,
            )
            advice = run.advice.text
            texts[environment.name].append(advice)
            if arm.memory in ("shuffled", "random"):
                own = arm.memory == "random"
                others = [
                    one for name, held in texts.items() if (name == environment.name) == own for one in held if one
                ]
                advice = chance.choice(others) if others else ""
            advised += bool(advice)
            result = acts(environment, task, advice, run, arm.reflect, 1)
            run.finish(None if asks else result.done, evidence="" if asks else f"reward {result.reward:g}")
            attempts += 1
            ended.append((task, result))
            tell(_told(task, result))
            user.flush()
            if asks:
                said = next(one.outcome for one in user.experience.runs(environment.name) if one.id == run.id)
                agreed += said is not None and said.label == result.done
        learned = len(user.experience.items())
        with memory.ledger.read(user.name) as tx:
            usage = _by_agent(usage_totals(tx))
    found = _outcome(arm, ended, attempts, learned, advised)
    return replace(found, judged=agreed / len(ended) if asks else None, usage=usage)


def _by_agent(rows: Iterable[UsageRow]) -> dict[str, tuple[int, int, int]]:
    found: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        calls, read, written = found.get(row["agent"], (0, 0, 0))
        found[row["agent"]] = (calls + row["calls"], read + row["input_tokens"], written + row["output_tokens"])
    return found


def _told(task: Task, result: Ended) -> str:
    return f"  {task.environment} {task.number}: {'done' if result.done else 'failed'} in {result.steps} steps"


def _chosen(count: int, seed: int, environments: Sequence[str] | None) -> list[tuple[Environment, Prior, Task]]:
    if environments is None:
        return tasks_of(count, seed)
    every = tasks_of(count * len(ENVIRONMENTS), seed)
    return [one for one in every if one[0].name in environments][:count]


def _explored(user: Any, arm: Arm, environment: Environment, task: Task, acts: Agent) -> tuple[Ended, int, bool]:
    """A task explored: how the attempt that was chosen went, how many were made, and whether there was advice."""
    results: dict[str, Ended] = {}

    def runner(attempt: Attempt) -> bool:
        # A re-examination reads the run so far as it reads advice: what failed in it, and what did not.
        result = acts(environment, task, attempt.text, attempt.run, arm.reflect, attempt.number)
        results[attempt.run.id] = result
        return result.done

    found = user.experience.explore(
        task.text, runner, arm.attempts, mode=arm.explore, env=environment.name, include=arm.include, same_task=False
    )
    return results[found.best], found.passes, bool(found.best_run.shown)


def _outcome(arm: Arm, ended: Sequence[tuple[Task, Ended]], attempts: int, learned: int, advised: int) -> Outcome:
    names = list(dict.fromkeys(task.environment for task, _ in ended))
    parts = {name: [one for task, one in ended if task.environment == name] for name in names}

    def means(of: Sequence[Ended]) -> tuple[float, float]:
        return sum(one.done for one in of) / len(of), sum(one.steps for one in of) / len(of)

    success, steps = means([one for _, one in ended])
    return Outcome(
        arm=arm.name,
        success=success,
        steps=steps,
        by_environment={name: means(of) for name, of in parts.items()},
        done=tuple(one.done for _, one in ended),
        attempts=attempts,
        learned=learned,
        advised=advised / len(ended),
    )


def compare(
    arms: Sequence[Arm],
    folder: Path,
    *,
    count: int = 60,
    seed: int = 0,
    progress: Callable[[str], object] | None = None,
    **options: Any,
) -> list[Outcome]:
    """Several arms over the same tasks, each in a memory of its own below ``folder``."""
    found = []
    for number, arm in enumerate(arms):
        if progress is not None:
            progress(f"{arm.name}: {count} tasks")
        found.append(run_arm(arm, folder / f"arm{number}", count=count, seed=seed, progress=progress, **options))
    return found
