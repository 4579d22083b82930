"""Experience as procedural items, in which it is stored.

An item of entry type ``experience`` has the title as summary, and as steps the description (when to use it and when
not) and the content; ``metadata["experience"]`` holds its environment, facet, origin and runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

from hexamem.memory_types.experience import Experience, Facet, Origin, Run
from hexamem.memory_types.items import ProceduralItem

__all__ = ["ENTRY_TYPE", "EXPLORATION", "Uses", "experience_of", "item_values", "metadata_of", "replaced", "uses_of"]

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
