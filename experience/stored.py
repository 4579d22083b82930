"""Stored experience, procedural items of the entry type ``experience``: reads it with its counts, retires what hurts, and removes
what was learned from forgotten runs.

An item has the title as summary, and as steps the description (when to use it and when not) and the content;
``metadata["experience"]`` holds its environment, facet, origin and runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from hexamem.experience import limits
from hexamem.memory_types.experience import Experience, ExperienceStats, Facet, Origin, Run
from hexamem.memory_types.items import ProceduralItem
from hexamem.memory_types.operations import Operation
from hexamem.stores.changing import remove_item
from hexamem.stores.ledger import Transaction, history_of, undo
from hexamem.stores.ledger.runs import delete_runs, read_experience_items, read_runs

__all__ = [
    "ACTOR",
    "ENTRY_TYPE",
    "EXPLORATION",
    "REPLACED",
    "Uses",
    "experience_of",
    "forget_runs",
    "item_values",
    "metadata_of",
    "read_experience",
    "replaced",
    "retire_hurting",
    "retire_mistaken",
    "stats_of",
    "uses_of",
]

ENTRY_TYPE = "experience"
EXPLORATION = "exploration"
"""In the metadata of a run: the id of the exploration that it is an attempt of."""
_KEY = "experience"


class Uses(NamedTuple):
    """How many runs were shown something, and how many of those did their task or failed."""

    retrieved: int = 0
    helped: int = 0
    hurt: int = 0


def uses_of(runs: Iterable[Run]) -> dict[str, Uses]:
    """The uses of everything that runs were shown, by its id. Counted from the stored runs, so without forgotten ones.

    The attempts of one exploration count as one run, which did its task if one of them did: else a single task that is
    too hard would count as often against what was known as it was tried.
    """
    shown: Counter[str] = Counter()
    helped: Counter[str] = Counter()
    hurt: Counter[str] = Counter()
    attempts_by_task: dict[str, list[Run]] = {}
    for run in runs:
        attempts_by_task.setdefault(str(run.metadata.get(EXPLORATION) or run.id), []).append(run)
    for attempts in attempts_by_task.values():
        ids = {shown_id for run in attempts for shown_id in run.shown}
        shown.update(ids)
        ended = [run.outcome.label for run in attempts if run.outcome is not None]
        if ended:
            (helped if any(ended) else hurt).update(ids)
    return {shown_id: Uses(shown[shown_id], helped[shown_id], hurt[shown_id]) for shown_id in shown}


def metadata_of(experience: Experience) -> dict[str, Any]:
    """The metadata of the item of an experience."""
    own = {
        "environment": experience.environment,
        "facet": experience.facet,
        "origin": experience.origin,
        "runs": list(experience.run_ids),
    }
    return {_KEY: own}


def item_values(experience: Experience) -> dict[str, Any]:
    """The fields of the item of an experience, without an id, which the item creates."""
    return {
        "kind": "procedural",
        "entry_type": ENTRY_TYPE,
        "summary": experience.title,
        "steps": (experience.description, experience.content),
        "tree_path": (ENTRY_TYPE, *([experience.environment] if experience.environment else [])),
        "metadata": metadata_of(experience),
    }


def replaced(metadata: Mapping[str, Any], experience: Experience) -> dict[str, Any]:
    """The fields to change so that an item with this metadata has the text of another experience."""
    values = item_values(experience)
    changed = {name: values[name] for name in ("summary", "steps")}
    return {**changed, "metadata": {**metadata, **values["metadata"]}}


def experience_of(item: ProceduralItem, uses: Mapping[str, Uses]) -> Experience:
    """The experience in an item. A person may have edited the item, so invalid values are replaced by defaults."""
    stored = item.metadata.get(_KEY)
    own: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
    used = uses.get(item.id, Uses())
    description, *content = item.steps
    runs = own.get("runs")
    return Experience(
        id=item.id,
        user=item.user,
        environment=str(own.get("environment", "")),
        title=item.summary,
        description=description or item.summary,
        content="\n".join(content) or description or item.summary,
        facet=own["facet"] if own.get("facet") in get_args(Facet) else "environment",
        origin=own["origin"] if own.get("origin") in get_args(Origin) else "success",
        run_ids=tuple(map(str, runs)) if isinstance(runs, list) else (),
        retrieved=used.retrieved,
        helped=used.helped,
        hurt=used.hurt,
        status="active" if item.status == "active" else "retired",
        created_at=item.created_at,
    )


ACTOR = "experience"
"""The actor in the history of what is learned and retired without a person."""
REPLACED = "completed or put right by another run"
"""The reason of an update that replaced the text of an experience."""


def read_experience(tx: Transaction, environment: str | None = None, *, retired: bool = False) -> list[Experience]:
    """The user's experience with its counts, oldest first.

    Args:
        environment: experience of this environment and promoted experience; all when None.
        retired: whether retired experience is included.
    """
    items = read_experience_items(tx, ENTRY_TYPE, removed=retired)
    uses = uses_of(read_runs(tx)) if items else {}
    learned = [experience_of(item, uses) for item in items]
    return [experience for experience in learned if environment is None or experience.environment in ("", environment)]


def retire_hurting(tx: Transaction, shown: Collection[str]) -> list[Operation]:
    """Retire those of these experiences that hurt: many runs that were shown it failed, and hardly any did their task.

    One that was retired before and restored by ``undo`` stays active: a person has decided.
    """
    operations: list[Operation] = []
    for experience in read_experience(tx):
        if (
            experience.id not in shown
            or experience.hurt < limits.RETIRE_AFTER
            or experience.hurt < 4 * experience.helped
        ):
            continue
        if any(operation.actor == ACTOR and operation.kind == "remove" for operation in history_of(tx, experience.id)):
            continue
        reason = f"{experience.hurt} of {experience.retrieved} runs that were given it failed, {experience.helped} did their task"
        operations.append(remove_item(tx, experience.id, actor=ACTOR, reason=reason))
    return operations


def retire_mistaken(tx: Transaction, run_id: str) -> list[Operation]:
    """Retire what was learned from this run alone, and undo its corrections of other experience: its outcome was
    replaced by the other one."""
    taken_back = _take_back(tx, {run_id})
    mistaken = [experience for experience in read_experience(tx) if experience.run_ids == (run_id,)]
    reason = "the outcome of the run that it was learned from was put right"
    return [*taken_back, *(remove_item(tx, experience.id, actor=ACTOR, reason=reason) for experience in mistaken)]


def _take_back(tx: Transaction, run_ids: Collection[str]) -> list[Operation]:
    """Undo the latest changes of text that came from these runs; a change that later ones build on stays."""
    operations: list[Operation] = []
    for experience in read_experience(tx):
        if len(experience.run_ids) < 2 or not set(experience.run_ids) & set(run_ids):
            continue
        last = history_of(tx, experience.id, limit=1)[0]
        if last.actor == ACTOR and last.reason == REPLACED and experience.run_ids[-1] in run_ids:
            operations += undo(tx, last.id, actor=ACTOR)
    return operations


def forget_runs(tx: Transaction, run_ids: Collection[str]) -> tuple[int, int]:
    """Delete runs physically, remove the experience that was learned from them alone, and undo their corrections.

    Returns:
        How many runs were deleted, and how many experiences removed.
    """
    deleted = set(run_ids)
    _take_back(tx, deleted)
    unsupported = [
        experience for experience in read_experience(tx) if experience.run_ids and set(experience.run_ids) <= deleted
    ]
    for experience in unsupported:
        remove_item(tx, experience.id, reason="the runs that it was learned from were forgotten")
    return delete_runs(tx, deleted), len(unsupported)


def stats_of(env: str | None, runs: Sequence[Run], learned: Sequence[Experience], waits: str) -> ExperienceStats:
    """The counts of an environment.

    Args:
        env: its name; None for all.
        runs: of it.
        learned: of it, retired experience among it.
        waits: why nothing is distilled; "" where something is.
    """
    judged = [run for run in runs if run.outcome is not None]
    done = [run for run in runs if run.status == "finished"]
    waiting = [run for run in done if not run.distilled]

    def ended(with_advice: bool) -> tuple[int, int]:
        chosen = [run.outcome for run in judged if bool(run.shown) == with_advice]
        return sum(outcome.label for outcome in chosen if outcome is not None), len(chosen)

    return ExperienceStats(
        environment=env,
        runs=len(runs),
        unfinished=len(runs) - len(done),
        succeeded=sum(run.outcome.label for run in judged if run.outcome),
        failed=sum(not run.outcome.label for run in judged if run.outcome),
        unjudged=sum(run.outcome is None for run in done),
        undistilled=len(waiting),
        active=sum(experience.status == "active" for experience in learned),
        retired=sum(experience.status == "retired" for experience in learned),
        with_advice=ended(True),
        without_advice=ended(False),
        waiting=waits if waiting else "",
    )
