"""Making experience of runs with a chat model (ReasoningBank, arXiv 2509.25140, section 3.1; CFGM's contrast tips).

From a success at most three strategies, from a failure at most three lessons by other instructions, and where the same
task has both outcomes at most five items by contrast. A run whose outcome nobody has told is judged first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, Unpack

from pydantic import Field

from hexamem.experience.digest import abridged_run, clipped, normal_task
from hexamem.experience.experience_agent import ExperienceAgent
from hexamem.experience.settings import ExperienceSettings
from hexamem.memory_types.experience import Experience, Facet, Origin, Outcome, Run, RunStep
from hexamem.models import Budget, CallInput, ModelReply, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.experience.experience_agent import AgentOptions

__all__ = [
    "Distilled",
    "DistilledItem",
    "DistilledReply",
    "Distiller",
    "JudgeReply",
    "OutcomeJudge",
    "plan",
    "plan_explored",
]

_RULES = "experience_rules"
_SURE = 0.5
_KNOWN = 12
_KNOWN_TEXT = 400  # characters of each
_DISTIL = "distil"


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
    """Which runs a distilling looks at, and by which instructions."""

    origin: Literal["success", "failure", "contrast"]
    runs: tuple[Run, ...]
    most: int
    explored: Literal["parallel", "sequential"] | None = None

    @property
    def prompt(self) -> str:
        """The name of the prompt."""
        return f"distil_{self.explored or self.origin}"


def plan(run: Run, others: Sequence[Run], settings: ExperienceSettings) -> Plan:
    """How to distil a run that has an outcome.

    Args:
        others: runs of the environment, the newest first. Those of the same task with the other outcome make a contrast.
    """
    assert run.outcome is not None
    asked = normal_task(run.task)
    same = [one for one in others if one.id != run.id and one.outcome is not None and normal_task(one.task) == asked]
    opposite = [one for one in same if one.outcome is not None and one.outcome.label != run.outcome.label]
    if opposite:
        alike = [one for one in same if one not in opposite]
        chosen = [run, opposite[0], *opposite[1:], *alike][: settings.contrasted]
        return Plan(origin="contrast", runs=tuple(chosen), most=settings.from_contrast)
    if run.outcome.label:
        return Plan(origin="success", runs=(run,), most=settings.from_success)
    return Plan(origin="failure", runs=(run,), most=settings.from_failure)


def plan_explored(runs: Sequence[Run], mode: Literal["parallel", "sequential"], settings: ExperienceSettings) -> Plan:
    """How to distil what an exploration brought (MaTTS): parallel runs by self-contrast over all of them, whatever
    their outcomes; a run that was re-examined from all of its notes.

    Args:
        runs: of the same task; the chosen one first.
    """
    label = next((run.outcome.label for run in runs if run.outcome is not None), False)
    if mode == "parallel" and len(runs) > 1:
        return Plan(origin="contrast", runs=tuple(runs), most=settings.from_contrast, explored="parallel")
    if mode == "sequential":
        origin: Literal["success", "failure"] = "success" if label else "failure"
        return Plan(origin=origin, runs=tuple(runs[:1]), most=settings.from_refined, explored="sequential")
    return plan(runs[0], (), settings)


class OutcomeJudge(ExperienceAgent[JudgeReply]):
    """Says of a run whether it did its task, at temperature 0 where the model has one; unsure means that it did not."""

    name = "judge"
    reply = JudgeReply

    def __init__(self, model: BaseChatModel, **options: Unpack[AgentOptions]) -> None:
        super().__init__(model, **options)
        self._as_it_is: StructuredCall[JudgeReply] | None = None
        if "temperature" in type(model).model_fields:
            self._as_it_is, exact = self._call, model.model_copy(update={"temperature": 0.0})
            self._call = self._asking(self.reply, exact)

    def judge(
        self,
        run: Run,
        steps: Sequence[RunStep],
        settings: ExperienceSettings,
        *,
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> tuple[Outcome | None, StructuredResult[JudgeReply]]:
        """The outcome of a run; None where the model gave no usable reply."""
        messages = load_prompt("outcome_judge").render(
            task=run.task,
            evidence=run.evidence or "none",
            run=abridged_run(run, steps, settings.run_tokens, thoughts=True) or "no step was recorded",
        )
        asked = CallInput(messages=messages, budget=budget, usage=usage, operation=_DISTIL)
        result = self._call.invoke(asked)
        if result.value is None and self._as_it_is is not None and "temperature" in " ".join(result.degraded):
            self._call, self._as_it_is = self._as_it_is, None  # reasoning models take no temperature
            result = self._call.invoke(asked)
        said = result.value
        if said is None:
            return None, result
        sure = said.confidence >= _SURE
        reason = said.reason if sure or not said.success else f"unsure, which counts as a failure: {said.reason}"
        label = said.success and sure
        return Outcome(label=label, source="judge", confidence=said.confidence, reason=reason[:500]), result


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """What runs teach: ``items``, and ``corrects``: the id of the known item that one of them (by its id) completes or
    puts right."""

    items: Sequence[Experience]
    corrects: Mapping[str, str]


class Distiller(ExperienceAgent[DistilledReply]):
    """Makes experience of runs with a chat model."""

    name = "distiller"
    reply = DistilledReply

    def distil(
        self,
        planned: Plan,
        steps: Mapping[str, Sequence[RunStep]],
        known: Sequence[Experience],
        settings: ExperienceSettings,
        *,
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> tuple[Distilled | None, StructuredResult[DistilledReply]]:
        """What the planned runs teach, at most ``planned.most`` items; None where the model gave no usable reply.

        Args:
            steps: of each run, by its id.
            known: experience of the environment, the nearest first.
        """
        known = known[:_KNOWN]
        share = settings.run_tokens * (2 if len(planned.runs) > 1 else 1) // len(planned.runs)
        shown = [abridged_run(run, steps.get(run.id, ()), share, thoughts=True) for run in planned.runs]
        first = planned.runs[0]
        messages = distiller_prompt(planned.prompt).render(
            task=first.task,
            runs="\n\n".join(shown),
            known="\n".join(_known_text(number, one) for number, one in enumerate(known, start=1)) or "nothing",
            most=planned.most,
        )
        result = self._call.invoke(CallInput(messages=messages, budget=budget, usage=usage, operation=_DISTIL))
        if result.value is None:
            return None, result
        origin: Origin = planned.origin
        run_ids = tuple(run.id for run in planned.runs)
        items: list[Experience] = []
        corrects: dict[str, str] = {}
        for one in result.value.items:
            if len(items) == planned.most or not (
                one.title.strip() and one.description.strip() and one.content.strip()
            ):
                continue
            items.append(_experience(one, first, origin, one.facet, run_ids))
            if 1 <= one.corrects <= len(known) and known[one.corrects - 1].id not in corrects.values():
                corrects[items[-1].id] = known[one.corrects - 1].id
        return Distilled(items=items, corrects=corrects), result


def _known_text(number: int, one: Experience) -> str:
    return f"{number}. {one.title}: {one.description}\n   {clipped(one.content, _KNOWN_TEXT)}"


def _experience(one: DistilledItem, run: Run, origin: Origin, facet: Facet, run_ids: tuple[str, ...]) -> Experience:
    return Experience(
        user=run.user,
        environment=run.environment,
        title=one.title.strip(),
        description=one.description.strip(),
        content=one.content.strip(),
        facet=facet,
        origin=origin,
        run_ids=run_ids,
    )


@cache
def distiller_prompt(name: str) -> Prompt:
    """The prompt of one way of distilling: its own instructions, followed by the rules that all share."""
    own, shared = load_prompt(name), load_prompt(_RULES)
    told = "\n\n".join(text for prompt in (own, shared) for role, text in prompt.sections if role == "system")
    rest = tuple((role, text) for role, text in shared.sections if role != "system")
    return Prompt(name, shared.inputs, shared.values, (("system", told), *rest))
