"""Advice for a task from earlier runs (ReasoningBank, section 3.1; CFGM, section 3.3).

Runs are ranked, so that k counts runs and not items: the score of a run is the better of its task's and its best item's.
Of the k best runs the items are shown: those that were learned from the run and, if it did its task, those that it was
shown. A run that is not distilled yet is shown by its digest. Runs below a threshold are not shown, since no experience
bears on most messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped, digest_of, digest_text, normal_task
from hexamem.experience.merging import EmbedTexts, nearness
from hexamem.memory_types.experience import Advice, AdvicePart, Experience, Facet, Run, RunStep
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["Include", "Lore", "advise", "advise_on_tool", "with_focus"]

Include = Literal["items", "trajectories", "both"]
_LONGEST = 1_200  # characters of one item's content
_NEAREST = 10  # successful runs among which the shortest are chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Lore:
    """The runs and experience from which advice is recalled.

    Attributes:
        runs: finished runs of the environment, the newest first.
        experience: active experience of the environment, or promoted.
        lengths: how many steps each run has.
        read_steps: reads the steps of runs by id.
    """

    runs: Sequence[Run]
    experience: Sequence[Experience]
    lengths: Mapping[str, int]
    read_steps: Callable[[Sequence[str]], Mapping[str, Sequence[RunStep]]]


def advise(
    task: str,
    lore: Lore,
    embed: EmbedTexts | None,
    *,
    k: int = 1,
    include: Include = "items",
    facet: Facet | None = None,
    same_task: bool = True,
) -> Advice:
    """The advice of earlier runs for a task.

    Args:
        task: the task; or a tool's name, or an error.
        embed: computes vectors; None to compare words alone.
        k: from how many earlier runs at most.
        include: items (and digests), abridged successful runs, or both.
        facet: only items of this facet; no digests then.
        same_task: whether runs of the very same task count; an evaluation leaves them out.
    """
    normal = normal_task(task)
    left_out = set() if same_task else {run.id for run in lore.runs if normal_task(run.task) == normal}
    runs = [run for run in lore.runs if run.id not in left_out]
    known = [item for item in lore.experience if item.origin != "focus"]  # those are for exploring only
    items = [item for item in known if not item.run_ids or set(item.run_ids) - left_out]
    texts = [*(run.task for run in runs), *(f"{item.title}. {item.description}" for item in items)]
    scores = nearness(task, texts, embed)
    of_task = {run.id: 1.0 if normal_task(run.task) == normal else s for run, s in zip(runs, scores, strict=False)}
    of_item = dict(zip((item.id for item in items), scores[len(runs) :], strict=True))
    parts: list[AdvicePart] = []
    if include != "trajectories":
        parts += _item_parts(runs, items, of_task, of_item, k, facet, lore)
    if include != "items":
        parts += _trajectories(runs, of_task, k, lore)
    return _advice(parts)


def advise_on_tool(
    tool: str,
    error: str,
    lore: Lore,
    embed: EmbedTexts | None,
    *,
    left_out: Collection[str] = (),
) -> Advice:
    """Advice on a tool: items of the facet "tool" that name it, or are near to it and its error.

    Args:
        left_out: ids of experience that was shown already.
    """
    items = [
        item for item in lore.experience if item.facet == "tool" and item.origin != "focus" and item.id not in left_out
    ]
    name = re.compile(rf"(?<!\w){re.escape(tool.strip())}(?!\w)", re.I)
    scores = nearness(f"{tool} {error}", [f"{item.title}. {item.description}" for item in items], embed)
    named = [bool(name.search(f"{item.title} {item.description} {item.content}")) for item in items]
    ranked = sorted(zip(named, scores, items, strict=True), key=lambda entry: (not entry[0], -entry[1]))
    chosen = [
        AdvicePart(id=item.id, kind="item", score=score, text=_item_text(item))
        for is_named, score, item in ranked
        if is_named or score >= limits.FLOOR
    ]
    return _advice(_within(chosen, limits.ITEMS, limits.ITEM_TOKENS))


def with_focus(advice: Advice, lore: Lore) -> Advice:
    """An advice after the environment's focus points, for an agent that explores."""
    points = [point for point in lore.experience if point.origin == "focus"]
    parts = [AdvicePart(id=point.id, kind="item", score=1.0, text=_item_text(point)) for point in points]
    shown = _within(parts, limits.FOCUS_POINTS, limits.ITEM_TOKENS)
    return _advice([*shown, *advice.parts]).changed(degraded=advice.degraded)


def _advice(parts: Sequence[AdvicePart]) -> Advice:
    return Advice(parts=tuple(parts), text=_fenced(parts), tokens=sum(count_tokens(part.text) for part in parts))


@dataclass(slots=True)
class _Source:
    """The items of one earlier run (without any its digest is shown), and its score."""

    score: float
    items: list[Experience] = field(default_factory=list)


def _item_parts(
    runs: Sequence[Run],
    items: Sequence[Experience],
    of_task: Mapping[str, float],
    of_item: Mapping[str, float],
    k: int,
    facet: Facet | None,
    lore: Lore,
) -> list[AdvicePart]:
    learned = {run_id for item in items for run_id in item.run_ids}
    if facet is not None:
        items = [item for item in items if item.facet == facet]
    sources: dict[str, _Source] = {}
    for item in items:
        # An item belongs to the nearest of its runs; without one in this environment it is a source of its own.
        nearest = max(
            (run_id for run_id in item.run_ids if run_id in of_task), key=of_task.__getitem__, default=item.id
        )
        source = sources.setdefault(nearest, _Source(of_task.get(nearest, 0.0)))
        source.items.append(item)
        source.score = max(source.score, of_item[item.id])
    by_id = {item.id: item for item in items}
    for run in runs:
        if run.distilled and run.outcome is not None and run.outcome.label:
            # What a successful run was shown belongs to it too: it was learned before, and proved right.
            shown_items = [by_id[shown] for shown in run.shown if shown in by_id]
            if shown_items:
                source = sources.setdefault(run.id, _Source(of_task[run.id]))
                source.items += [item for item in shown_items if item not in source.items]
        # A distilled run is shown by its items only: without any, the model had nothing to learn.
        undistilled = facet is None and not run.distilled and run.id not in learned
        if undistilled and (run.outcome is not None or lore.lengths.get(run.id)):
            sources[run.id] = _Source(of_task[run.id])
    near = sorted(
        (name for name in sources if sources[name].score >= limits.FLOOR), key=lambda name: -sources[name].score
    )
    chosen = near[:k]
    digested = [name for name in chosen if not sources[name].items]
    steps = lore.read_steps(digested) if digested else {}
    runs_by_id = {run.id: run for run in runs}
    parts: dict[str, AdvicePart] = {}
    for name in chosen:
        source = sources[name]
        if not source.items:
            text = digest_text(digest_of(runs_by_id[name], steps.get(name, ())))
            parts[name] = AdvicePart(id=name, kind="digest", run_id=name, score=source.score, text=text)
        run_id = name if name in runs_by_id else ""
        for item in sorted(source.items, key=lambda item: -of_item[item.id]):
            text = _item_text(item)
            parts.setdefault(item.id, AdvicePart(id=item.id, kind="item", run_id=run_id, score=source.score, text=text))
    return _within(list(parts.values()), limits.ITEMS, limits.ITEM_TOKENS)


def _item_text(item: Experience) -> str:
    lines = [f"{clipped(item.title, 160)} — {clipped(item.description, 400)}", item.content.strip()[:_LONGEST]]
    return "\n".join(lines)


def _within(parts: Sequence[AdvicePart], most: int, budget: int) -> list[AdvicePart]:
    """The parts that fit into the budget, in order; one that does not is left out, not cut."""
    chosen: list[AdvicePart] = []
    for part in parts:
        cost = count_tokens(part.text)
        if len(chosen) < most and cost <= budget:
            chosen.append(part)
            budget -= cost
    return chosen


def _trajectories(runs: Sequence[Run], of_task: Mapping[str, float], k: int, lore: Lore) -> list[AdvicePart]:
    """The shortest successful runs of similar tasks, abridged to a shared budget."""
    done = [run for run in runs if run.outcome is not None and run.outcome.label and lore.lengths.get(run.id)]
    near = sorted((run for run in done if of_task[run.id] >= limits.FLOOR), key=lambda run: -of_task[run.id])
    shortest = sorted(near[:_NEAREST], key=lambda run: (lore.lengths[run.id], -of_task[run.id]))[:k]
    steps = lore.read_steps([run.id for run in shortest]) if shortest else {}
    parts = []
    for run in shortest:
        text = abridged_run(run, steps[run.id], limits.TRAJECTORY_TOKENS // len(shortest))
        if text:
            parts.append(AdvicePart(id=run.id, kind="trajectory", run_id=run.id, score=of_task[run.id], text=text))
    return parts


def _fenced(parts: Sequence[AdvicePart]) -> str:
    """The parts as delimited data; their contents can neither end the delimiters nor pass for control tokens."""
    if not parts:
        return ""
    ((_, text),) = load_prompt("experience_advice").render(experience="\n\n".join(part.text for part in parts))
    return text
