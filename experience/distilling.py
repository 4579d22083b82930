"""Distils experience from runs with a chat model (ReasoningBank, arXiv 2509.25140, section 3.1; CFGM's contrast tips).

From a success at most three strategies, from a failure at most three lessons by other instructions, and if the same task
has both outcomes at most five items by contrast. A run with an unknown outcome is judged first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import Field

from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped, normal_task
from hexamem.experience.model_calls import ExperienceModel
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import Experience, Outcome, Run, RunStep
from hexamem.models import ModelReply, StructuredResult
from hexamem.models.tokens import count_tokens
from hexamem.prompts import Prompt, load_prompt

__all__ = [
    "Distilled",
    "DistilledItem",
    "DistilledReply",
    "Focus",
    "FocusReply",
    "JudgeReply",
    "distil",
    "focus_points",
    "judge_outcome",
    "plan",
    "plan_explored",
]

_RULES = "experience_rules"
_SURE = 0.5
_KNOWN = 12
_KNOWN_TEXT = 400  # characters of each


class JudgeReply(ModelReply):
    """Whether the agent did its task."""

    success: bool = Field(description="true only if the run shows that the task was done; false where unsure")
    confidence: float = Field(ge=0.0, le=1.0, description="how sure the label is")
    reason: str = Field(description="one short sentence")


class DistilledItem(ModelReply):
    """One thing to learn."""

    title: str = Field(description="a few words that name the strategy")
    description: str = Field(description="one sentence: when to use it and when not")
    content: str = Field(description="one to three sentences: what to do or to avoid, and why")
    facet: Literal["tool", "environment", "observation"]
    corrects: int = Field(default=0, description="number of the known item whose place it takes; 0 for none")


class DistilledReply(ModelReply):
    """What the runs teach, the most useful first."""

    items: list[DistilledItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The runs to distil together, and by which instructions."""

    origin: Literal["success", "failure", "contrast"]
    runs: tuple[Run, ...]
    most: int
    explored: Literal["parallel", "sequential"] | None = None

    @property
    def prompt(self) -> str:
        """The name of the prompt."""
        return f"distil_{self.explored or self.origin}"


def plan(run: Run, others: Sequence[Run]) -> Plan:
    """How to distil a run that has an outcome.

    Args:
        others: runs of the environment, the newest first. Those of the same task with the other outcome make a contrast.
    """
    assert run.outcome is not None
    task = normal_task(run.task)
    same = [
        other
        for other in others
        if other.id != run.id and other.outcome is not None and normal_task(other.task) == task
    ]
    opposite = [other for other in same if other.outcome is not None and other.outcome.label != run.outcome.label]
    if opposite:
        alike = [other for other in same if other not in opposite]
        chosen = [run, opposite[0], *opposite[1:], *alike][: limits.CONTRASTED]
        return Plan(origin="contrast", runs=tuple(chosen), most=limits.FROM_CONTRAST)
    if run.outcome.label:
        return Plan(origin="success", runs=(run,), most=limits.FROM_SUCCESS)
    return Plan(origin="failure", runs=(run,), most=limits.FROM_FAILURE)


def plan_explored(runs: Sequence[Run], mode: Literal["parallel", "sequential"]) -> Plan:
    """How to distil an exploration (MaTTS): parallel runs by self-contrast over all of them, whatever their outcomes; a
    re-examined run as a whole.

    Args:
        runs: of the same task; the chosen one first.
    """
    label = next((run.outcome.label for run in runs if run.outcome is not None), False)
    if mode == "parallel" and len(runs) > 1:
        return Plan(origin="contrast", runs=tuple(runs), most=limits.FROM_CONTRAST, explored="parallel")
    if mode == "sequential":
        origin: Literal["success", "failure"] = "success" if label else "failure"
        return Plan(origin=origin, runs=tuple(runs[:1]), most=limits.FROM_REFINED, explored="sequential")
    return plan(runs[0], ())


def judge_outcome(
    model: ExperienceModel, run: Run, steps: Sequence[RunStep]
) -> tuple[Outcome | None, StructuredResult[JudgeReply]]:
    """Whether a run did its task, at temperature 0 where the model has one; unsure means that it did not.

    Returns:
        The outcome, None if the reply was not usable; and the result of the call.
    """
    messages = load_prompt("outcome_judge").render(
        task=run.task,
        evidence=run.evidence or "none",
        run=abridged_run(run, steps, limits.RUN_TOKENS, thoughts=True) or "no step was recorded",
    )
    chat = model.model
    exact = chat.model_copy(update={"temperature": 0.0}) if "temperature" in type(chat).model_fields else None
    result = model.ask(JudgeReply, messages, model=exact)
    if result.value is None and exact is not None and "temperature" in " ".join(result.degraded):
        result = model.ask(JudgeReply, messages)  # reasoning models take no temperature
    reply = result.value
    if reply is None:
        return None, result
    sure = reply.confidence >= _SURE
    reason = reply.reason if sure or not reply.success else f"unsure, which counts as a failure: {reply.reason}"
    label = reply.success and sure
    return Outcome(label=label, source="judge", confidence=reply.confidence, reason=reason[:500]), result


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """The experience distilled from runs.

    Attributes:
        items: new experience.
        corrects: id of an item → id of the known experience that it completes or corrects.
    """

    items: Sequence[Experience]
    corrects: Mapping[str, str]


def distil(
    model: ExperienceModel,
    planned: Plan,
    steps: Mapping[str, Sequence[RunStep]],
    known: Sequence[Experience],
) -> tuple[Distilled | None, StructuredResult[DistilledReply]]:
    """Distil the planned runs into at most ``planned.most`` items.

    Args:
        steps: of each run, by its id.
        known: experience of the environment, the nearest first.

    Returns:
        The experience, None if the reply was not usable; and the result of the call.
    """
    known = known[:_KNOWN]
    tokens = limits.RUN_TOKENS * (2 if len(planned.runs) > 1 else 1) // len(planned.runs)
    shown = [abridged_run(run, steps.get(run.id, ()), tokens, thoughts=True) for run in planned.runs]
    first = planned.runs[0]
    listed = [
        f"{number}. {other.title}: {other.description}\n   {clipped(other.content, _KNOWN_TEXT)}"
        for number, other in enumerate(known, start=1)
    ]
    messages = distiller_prompt(planned.prompt).render(
        task=first.task, runs="\n\n".join(shown), known="\n".join(listed) or "nothing", most=planned.most
    )
    result = model.ask(DistilledReply, messages)
    if result.value is None:
        return None, result
    complete = [
        item for item in result.value.items if item.title.strip() and item.description.strip() and item.content.strip()
    ]
    items: list[Experience] = []
    corrects: dict[str, str] = {}
    for reply in complete[: planned.most]:
        item = Experience(
            user=first.user,
            environment=first.environment,
            title=reply.title.strip(),
            description=reply.description.strip(),
            content=reply.content.strip(),
            facet=reply.facet,
            origin=planned.origin,
            run_ids=tuple(run.id for run in planned.runs),
        )
        items.append(item)
        if 1 <= reply.corrects <= len(known) and known[reply.corrects - 1].id not in corrects.values():
            corrects[item.id] = known[reply.corrects - 1].id
    return Distilled(items=items, corrects=corrects), result


@cache
def distiller_prompt(name: str) -> Prompt:
    """The prompt of one way of distilling: its own instructions, followed by the rules that all share."""
    own, shared = load_prompt(name), load_prompt(_RULES)
    system = "\n\n".join(text for prompt in (own, shared) for role, text in prompt.sections if role == "system")
    rest = tuple((role, text) for role, text in shared.sections if role != "system")
    return Prompt(name, shared.inputs, shared.values, (("system", system), *rest))


_EXAMPLE_TOKENS = 3_000


class Focus(Record):
    """The focus points of an environment; ``degraded`` says why there are no new ones, if there are none."""

    points: tuple[Experience, ...] = ()
    degraded: tuple[str, ...] = ()


class FocusPoint(ModelReply):
    """One guiding principle."""

    title: str = Field(description="a few words")
    description: str = Field(description="one sentence: in which situations it matters")
    principle: str = Field(description="one or two sentences: what to look at or to find out, and why")


class FocusReply(ModelReply):
    """What to look at while exploring an environment, the most useful first."""

    points: list[FocusPoint]


def focus_points(
    model: ExperienceModel, user: str, environment: str, examples: Sequence[str]
) -> tuple[list[Experience], tuple[str, ...]]:
    """Derive focus points from examples.

    Args:
        examples: texts, shown up to 3,000 tokens together; one that does not fit is left out, the first one cut.

    Returns:
        At most ``limits.FOCUS_POINTS``, and what was degraded; none where no reply could be used.
    """
    shown: list[str] = []
    left, short = _EXAMPLE_TOKENS, 0
    for example in examples:
        cost = count_tokens(example)
        if cost > left:
            short += 1
            if shown:
                continue
        shown.append(example[: len(example) * min(left, cost) // max(cost, 1)].strip())
        left -= min(cost, left)
    cut = f"focus: {short} of {len(examples)} examples were cut or left out, since they are long"
    messages = load_prompt("focus_points").render(
        environment=environment or "not named", examples="\n\n".join(shown), most=limits.FOCUS_POINTS
    )
    result = model.ask(FocusReply, messages)
    points = [
        Experience(
            user=user,
            environment=environment,
            title=point.title.strip(),
            description=point.description.strip(),
            content=point.principle.strip(),
            origin="focus",
        )
        for point in (result.value.points if result.value is not None else ())
        if point.title.strip() and point.description.strip() and point.principle.strip()
    ]
    return points[: limits.FOCUS_POINTS], (*((cut,) if short else ()), *result.degraded)
