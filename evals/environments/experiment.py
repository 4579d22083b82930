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
    from hexamem.models import UsageRow
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
    with Memory.open(home, models=given, settings=settings) as memory:
        user = memory.user("agent")
        doing = _Doing(user, arm, acts, asks, random.Random(f"shuffled {seed}"), progress or (lambda said: None))
        chosen = [(environment, task) for environment, _, task in _chosen(count, seed, environments)]
        went: list[_Went] = []
        agreed = 0
        if arm.memory == "off" and arm.explore is None and at_once > 1:
            with ThreadPoolExecutor(at_once) as pool:
                went = list(pool.map(lambda one: doing.once(*one), chosen))
        else:
            for environment, task in chosen:
                do = doing.once if arm.explore is None else doing.explored
                went.append(do(environment, task))
                user.flush()
                agreed += asks and _judged_right(user, went[-1])
        learned = len(user.experience.items())
        with memory.ledger.read(user.name) as tx:
            usage = _by_agent(usage_totals(tx))
    found = _outcome(arm, went, learned)
    return replace(found, judged=agreed / len(went) if asks else None, usage=usage)


@dataclass(frozen=True, slots=True)
class _Went:
    """How one task went; ``run`` is the id of its run, empty where several were made."""

    task: Task
    ended: Ended
    attempts: int
    advised: bool
    run: str = ""


@dataclass(frozen=True, slots=True)
class _Doing:
    """Does tasks in the way of an arm.

    Attributes:
        asks: whether the memory's judge says how a run ended.
        texts: environment → the advice given there so far, of which other tasks are given some where it is shuffled.
    """

    user: UserMemory
    arm: Arm
    acts: Agent
    asks: bool
    chance: random.Random
    tell: Callable[[str], object]
    texts: dict[str, list[str]] = field(default_factory=dict)

    def once(self, environment: Environment, task: Task) -> _Went:
        """One attempt, with what the memory advises."""
        arm = self.arm
        run = self.user.experience.start(
            task.text, env=environment.name, k=arm.k, include=arm.include, recall=arm.memory != "off", same_task=False
        )
        advice = run.advice.text
        self.texts.setdefault(environment.name, []).append(advice)
        if arm.memory in ("shuffled", "random"):
            advice = self._of_another(environment.name)
        result = self.acts(environment, task, advice, run, arm.reflect, 1)
        if self.asks:
            run.finish(None)
        else:
            run.finish(result.done, evidence=f"reward {result.reward:g}")
        how = "done" if result.done else "failed"
        self.tell(f"  {task.environment} {task.number}: {how} in {result.steps} steps")
        return _Went(task, result, 1, bool(advice), run.id)

    def explored(self, environment: Environment, task: Task) -> _Went:
        """Several attempts, of which one is chosen."""
        arm = self.arm
        assert arm.explore is not None
        results: dict[str, Ended] = {}

        def runner(attempt: Attempt) -> bool:
            # A re-examination reads the run so far as it reads advice: what failed in it, and what did not.
            result = self.acts(environment, task, attempt.text, attempt.run, arm.reflect, attempt.number)
            results[attempt.run.id] = result
            return result.done

        found = self.user.experience.explore(
            task.text,
            runner,
            arm.attempts,
            mode=arm.explore,
            env=environment.name,
            include=arm.include,
            same_task=False,
        )
        return _Went(task, results[found.best], found.passes, bool(found.best_run.shown))

    def _of_another(self, environment: str) -> str:
        """What was advised for another task: of this environment where it is random, of the others where it is shuffled."""
        own = self.arm.memory == "random"
        others = [
            one for name in ENVIRONMENTS if (name == environment) == own for one in self.texts.get(name, ()) if one
        ]
        return self.chance.choice(others) if others else ""


def _judged_right(user: UserMemory, went: _Went) -> bool:
    """Whether the memory's judge says of a run what the environment would have."""
    said = next(one.outcome for one in user.experience.runs(went.task.environment) if one.id == went.run)
    return said is not None and said.label == went.ended.done


def _by_agent(rows: Iterable[UsageRow]) -> dict[str, tuple[int, int, int]]:
    found: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        calls, read, written = found.get(row["agent"], (0, 0, 0))
        found[row["agent"]] = (calls + row["calls"], read + row["input_tokens"], written + row["output_tokens"])
    return found


def _chosen(count: int, seed: int, environments: Sequence[str] | None) -> list[tuple[Environment, Prior, Task]]:
    if environments is None:
        return tasks_of(count, seed)
    every = tasks_of(count * len(ENVIRONMENTS), seed)
    return [one for one in every if one[0].name in environments][:count]


def _outcome(arm: Arm, went: Sequence[_Went], learned: int) -> Outcome:
    names = list(dict.fromkeys(one.task.environment for one in went))
    parts = {name: [one.ended for one in went if one.task.environment == name] for name in names}

    def means(of: Sequence[Ended]) -> tuple[float, float]:
        return sum(one.done for one in of) / len(of), sum(one.steps for one in of) / len(of)

    success, steps = means([one.ended for one in went])
    return Outcome(
        arm=arm.name,
        success=success,
        steps=steps,
        by_environment={name: means(of) for name, of in parts.items()},
        done=tuple(one.ended.done for one in went),
        attempts=sum(one.attempts for one in went),
        learned=learned,
        advised=sum(one.advised for one in went) / len(went),
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
