"""Recall before a task: what earlier runs have to say about it (ReasoningBank, section 3.1; CFGM, section 3.3).

Runs are what is ranked, so that k counts experiences and not items: a run is as near as its task or the best of its
items, whichever is nearer. Of the k nearest runs the items are shown: those that were learned from it and, where it did
its task, those that it was given. A run of which no model has made any yet is shown by its digest. Below the floor
there is nothing, since most talk has no experience that belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped, digest_of, digest_text, normal_task
from hexamem.experience.similarity import EmbedTexts, nearness
from hexamem.memory_types.experience import Advice, AdvicePart, Experience, Facet, Run, RunStep
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["Include", "Lore", "advise", "advise_on_tool", "with_focus"]

Include = Literal["items", "trajectories", "both"]
_LONGEST = 1_200  # characters of one item's content
_LOOKED_AT = 10  # successful runs among which the shortest are chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Lore:
    """What there is to recall from.

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
        task: what is to be done; a tool's name or an error does as well.
        embed: makes vectors; None where there are none.
        k: from how many earlier runs at most.
        include: items (and digests), abridged successful runs, or both.
        facet: only items of this facet; no digests then.
        same_task: whether runs of the very same task count; an evaluation leaves them out.
    """
    asked = normal_task(task)
    left_out = set() if same_task else {run.id for run in lore.runs if normal_task(run.task) == asked}
    runs = [run for run in lore.runs if run.id not in left_out]
    known = [one for one in lore.experience if one.origin != "focus"]  # those are for exploring only
    items = [one for one in known if not one.run_ids or set(one.run_ids) - left_out]
    texts = [*(run.task for run in runs), *(f"{one.title}. {one.description}" for one in items)]
    scores = nearness(task, texts, embed)
    of_task = {run.id: 1.0 if normal_task(run.task) == asked else s for run, s in zip(runs, scores, strict=False)}
    of_item = dict(zip((one.id for one in items), scores[len(runs) :], strict=True))
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
    """What was learned about a tool: items of the facet "tool" that name it, or are near to it and its error.

    Args:
        left_out: ids of experience that was shown already.
    """
    items = [one for one in lore.experience if one.facet == "tool" and one.origin != "focus" and one.id not in left_out]
    name = re.compile(rf"(?<!\w){re.escape(tool.strip())}(?!\w)", re.I)
    scores = nearness(f"{tool} {error}", [f"{one.title}. {one.description}" for one in items], embed)
    named = [bool(name.search(f"{item.title} {item.description} {item.content}")) for item in items]
    ranked = sorted(zip(named, scores, items, strict=True), key=lambda entry: (not entry[0], -entry[1]))
    chosen = [
        AdvicePart(id=item.id, kind="item", score=score, text=_item_text(item))
        for is_named, score, item in ranked
        if is_named or score >= limits.FLOOR
    ]
    return _advice(_within(chosen, limits.ITEMS, limits.ITEM_TOKENS))


def with_focus(advice: Advice, lore: Lore) -> Advice:
    """An advice with the environment's focus points before it, for an agent that explores."""
    points = [one for one in lore.experience if one.origin == "focus"]
    parts = [AdvicePart(id=one.id, kind="item", score=1.0, text=_item_text(one)) for one in points]
    shown = _within(parts, limits.FOCUS_POINTS, limits.ITEM_TOKENS)
    return _advice([*shown, *advice.parts]).changed(degraded=advice.degraded)


def _advice(parts: Sequence[AdvicePart]) -> Advice:
    return Advice(parts=tuple(parts), text=_fenced(parts), tokens=sum(count_tokens(part.text) for part in parts))


@dataclass(slots=True)
class _Source:
    """What one earlier run has to show: its items, or its digest where it has none; and how near it is."""

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
            # What a run was given, and did its task with, belongs to it too: it was learned before, and held.
            given = [by_id[shown] for shown in run.shown if shown in by_id]
            if given:
                source = sources.setdefault(run.id, _Source(of_task[run.id]))
                source.items += [item for item in given if item not in source.items]
        # Of a distilled run nothing is shown but its items: where there are none, a model found nothing to learn.
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


def _item_text(one: Experience) -> str:
    lines = [f"{clipped(one.title, 160)} — {clipped(one.description, 400)}", one.content.strip()[:_LONGEST]]
    return "\n".join(lines)


def _within(parts: Sequence[AdvicePart], most: int, budget: int) -> list[AdvicePart]:
    """The parts that fit, in order; one that does not is left out whole, so that none says half of what it means."""
    kept: list[AdvicePart] = []
    for part in parts:
        cost = count_tokens(part.text)
        if len(kept) < most and cost <= budget:
            kept.append(part)
            budget -= cost
    return kept


def _trajectories(runs: Sequence[Run], of_task: Mapping[str, float], k: int, lore: Lore) -> list[AdvicePart]:
    """The shortest successful runs of similar tasks, abridged to the budget that they share."""
    done = [run for run in runs if run.outcome is not None and run.outcome.label and lore.lengths.get(run.id)]
    near = sorted((run for run in done if of_task[run.id] >= limits.FLOOR), key=lambda run: -of_task[run.id])
    shortest = sorted(near[:_LOOKED_AT], key=lambda run: (lore.lengths[run.id], -of_task[run.id]))[:k]
    steps = lore.read_steps([run.id for run in shortest]) if shortest else {}
    found = []
    for run in shortest:
        text = abridged_run(run, steps[run.id], limits.TRAJECTORY_TOKENS // len(shortest))
        if text:
            found.append(AdvicePart(id=run.id, kind="trajectory", run_id=run.id, score=of_task[run.id], text=text))
    return found


def _fenced(parts: Sequence[AdvicePart]) -> str:
    """The parts as quoted data: whatever stands in them, none can end the fence or pass for a control token."""
    if not parts:
        return ""
    ((_, text),) = load_prompt("experience_advice").render(experience="\n\n".join(part.text for part in parts))
    return text
