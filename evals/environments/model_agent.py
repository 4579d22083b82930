"""A chat model as the agent that acts in the environment, in place of the scripted policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.evals.environments.office_api import Feedback, OfficeApi, Task
from hexamem.evals.environments.policy import Attempted
from hexamem.experience.trouble import TroubleSettings, Turn, trouble_in
from hexamem.models import CallInput, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.run_recorder import RunRecorder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ActionReply", "ModelAgent"]

_FAILURES = 2
"""Turns without a usable reply that end an attempt."""


class ActionReply(ModelReply):
    """The next turn of an agent in a text environment."""

    thought: str = Field(description="one short sentence")
    action: str = Field(description="one action, written as the list of actions says")


class ModelAgent:
    """Acts by a chat model; call it as an :data:`~hexamem.evals.environments.experiment.Agent`.

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

    def __call__(
        self, environment: OfficeApi, task: Task, advice: str, run: RunRecorder, reflect: bool, number: int
    ) -> Attempted:
        """Attempt a task to its end."""
        episode = environment.begin(task)
        past: list[Turn] = []
        advices = [advice] if advice else []
        feedback, failures, reflected = Feedback(), 0, 0
        while len(past) < episode.limit and not feedback.done and failures < _FAILURES:
            messages = load_prompt("environment_agent").render(
                actions=environment.help,
                task=task.text,
                advice="\n\n".join(advices) or "none",
                past=_written(episode.first, past),
                left=episode.limit - len(past),
            )
            result = self._call.invoke(CallInput(messages=messages, usage=self._usage, operation="act"))
            self.degraded += result.degraded
            if result.value is None or not result.value.action.strip():
                failures += 1
                continue
            action = " ".join(result.value.action.split())
            feedback = episode.act(action)
            past.append(Turn(action=action, observation=feedback.observation, error=feedback.error))
            run.step(
                thought=result.value.thought,
                action=action,
                observation=feedback.observation,
                error=feedback.error or None,
            )
            if not reflect or feedback.done:
                continue
            if trouble := trouble_in(past[reflected:], TroubleSettings()):
                reflected = len(past)  # as in a graph, turns count from the last reflection on
                advices += [text for text in (run.reflect(trouble.summary).text,) if text]
        return Attempted(done=feedback.done, steps=len(past))


def _written(first: str, past: Sequence[Turn]) -> str:
    lines = [first]
    for number, turn in enumerate(past, start=1):
        lines += [f"{number}. {turn.action}", f"   {'failed: ' + turn.error if turn.error else turn.observation}"]
    return "\n".join(lines)
