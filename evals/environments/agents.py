"""The agents that act in the environment: a scripted one, and a chat model in its place."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.evals.environments.advice_reading import preference, read_hints
from hexamem.evals.environments.office_api import SETUP, Feedback, OfficeApi, Task, forms_in
from hexamem.experience.trouble import TroubleSettings, Turn, trouble_in
from hexamem.models import CallInput, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.run_recorder import RunRecorder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ActionReply", "Agent", "Attempted", "ModelAgent", "ScriptedAgent"]

_REPLIES = 2
"""Consecutive replies of a model without a usable action that end an attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """The result of an attempt: whether the task was done, and in how many actions."""

    done: bool
    steps: int


class Agent(ABC):
    """Attempts tasks; a subclass chooses each action."""

    def __call__(
        self,
        environment: OfficeApi,
        task: Task,
        advice: str = "",
        run: RunRecorder | None = None,
        reflect: bool = False,
        number: int = 1,
    ) -> Attempted:
        """Attempt a task.

        Args:
            advice: the text of the advice; "" for none.
            run: records each action and its reply.
            reflect: whether to reflect in trouble; what ``run.reflect`` returns is further advice.
            number: of the attempt at this task, from 1.
        """
        episode = environment.begin(task)
        past: list[Turn] = []
        texts = [advice] if advice else []
        feedback, reflected = Feedback(), 0
        while len(past) < episode.limit and not feedback.done:
            first, left = episode.first, episode.limit - len(past)
            action, thought = self.choose(task, texts, past, number=number, first=first, left=left)
            if not action:
                break
            feedback = episode.act(action)
            past.append(Turn(action=action, observation=feedback.observation, error=feedback.error))
            if run is None:
                continue
            error = feedback.error or None
            run.step(thought=thought, action=action, observation=feedback.observation, error=error)
            trouble = trouble_in(past[reflected:], TroubleSettings()) if reflect and not feedback.done else None
            if trouble:
                reflected = len(past)  # as in a graph, turns count from the last reflection on
                texts += filter(None, [run.reflect(trouble.error or trouble.summary).text])
        return Attempted(done=feedback.done, steps=len(past))

    @abstractmethod
    def choose(
        self, task: Task, advice: Sequence[str], past: Sequence[Turn], *, number: int, first: str, left: int
    ) -> tuple[str, str]:
        """The next action and the thought behind it; no action gives up.

        Args:
            advice: the texts of advice so far.
            past: the actions so far with their results.
            number: of the attempt.
            first: what the environment shows at the beginning.
            left: number of actions that are left.
        """


class ScriptedAgent(Agent):
    """Takes the actions of an agent without experience, in the order that the advice prefers.

    It reads advice as text and knows nothing else of the memory, and of the environment only its replies. From the second
    attempt at a task on, equally preferred actions are drawn by chance from ``seed``.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def choose(
        self, task: Task, advice: Sequence[str], past: Sequence[Turn], *, number: int, first: str, left: int
    ) -> tuple[str, str]:
        hints = read_hints("\n".join(advice))
        options = _plausible(task.text, past)
        last = (past[-1].error or past[-1].observation) if past else ""
        scores = [preference(option, task.text, last, hints, [turn.action for turn in past]) for option in options]
        best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
        if number > 1 and best:
            return random.Random(f"{self._seed} {task.text} {number} {len(past)}").choice(best), ""
        return best[0] if best else "", ""


def _plausible(task: str, past: Sequence[Turn]) -> list[str]:
    """The actions that an agent without experience would try next, the most plausible first.

    They stand in for the general knowledge of a model: it calls the tool with the usual forms, changes the argument that is
    refused, and tries the setup calls when the state is refused.
    """
    tool, forms = forms_in(task)
    refused: set[str] = set()
    for turn in past:
        if turn.error.startswith("422: "):
            name = turn.error.split()[1]
            refused |= {argument for argument in turn.action.split()[1:] if argument.startswith(f"{name}=")}
    setup = [action for action in SETUP if action not in {turn.action for turn in past}]
    if past and past[-1].error.startswith("409"):
        return setup
    options = [
        [argument for form in several if (argument := f"{name}={form}") not in refused]
        for name, several in forms.items()
    ]
    ranked = sorted(product(*map(enumerate, options)), key=lambda chosen: sum(place for place, _ in chosen))
    return [*(" ".join([tool, *(argument for _, argument in chosen)]) for chosen in ranked), *setup]


class ActionReply(ModelReply):
    """The next turn of an agent in a text environment."""

    thought: str = Field(description="one short sentence")
    action: str = Field(description="one action, written as the list of actions says")


class ModelAgent(Agent):
    """Acts by a chat model.

    Args:
        model: the chat model. It is not changed.
        usage: counts the calls and tokens.

    Attributes:
        degraded: replies that could not be used.
    """

    def __init__(self, model: BaseChatModel, *, usage: UsageMeter | None = None) -> None:
        self._call: StructuredCall[ActionReply] = StructuredCall(model, ActionReply, agent="acting")
        self._usage = usage
        self.degraded: list[str] = []

    def choose(
        self, task: Task, advice: Sequence[str], past: Sequence[Turn], *, number: int, first: str, left: int
    ) -> tuple[str, str]:
        lines = [first]
        for place, turn in enumerate(past, start=1):
            lines += [f"{place}. {turn.action}", f"   {'failed: ' + turn.error if turn.error else turn.observation}"]
        texts = "\n\n".join(advice) or "none"
        messages = load_prompt("environment_agent").render(
            actions=OfficeApi.help, task=task.text, advice=texts, past="\n".join(lines), left=left
        )
        for _ in range(_REPLIES):
            result = self._call.invoke(CallInput(messages=messages, usage=self._usage, operation="act"))
            self.degraded += result.degraded
            if result.value is not None and result.value.action.strip():
                return " ".join(result.value.action.split()), result.value.thought
        return "", ""
