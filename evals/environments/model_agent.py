"""A chat model as the agent that acts in the environments, in place of the scripted policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.evals.environments.contract import Environment, Feedback, Past, Task
from hexamem.evals.environments.policy import Ended, turns_of
from hexamem.experience.trouble import TroubleSettings, trouble_in
from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt
from hexamem.recording import RunRecorder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["ActionReply", "ModelAgent"]

_FAILURES = 2  # so many turns without a usable reply end an attempt


class ActionReply(ModelReply):
    """The next turn of an agent in a text environment."""

    thought: str = Field(description="one short sentence")
    action: str = Field(description="one action, written as the list of actions says")


class ModelAgent:
    """Acts by a chat model; call it as an :data:`~hexamem.evals.environments.experiment.Agent`.

    Args:
        model: the chat model. It is not changed.
        method: how the reply's form is asked for.
        budget, usage: what may be spent, and the meter that is told what was.

    Attributes:
        degraded: replies that could not be used.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        method: Method = "json_schema",
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> None:
        self._call: StructuredCall[ActionReply] = StructuredCall(model, ActionReply, agent="acting", method=method)
        self._budget, self._usage = budget, usage
        self.degraded: list[str] = []

    def __call__(
        self, environment: Environment, task: Task, advice: str, run: RunRecorder, reflect: bool, number: int
    ) -> Ended:
        """Attempt a task to its end."""
        episode = environment.begin(task)
        past: list[Past] = []
        told = [advice] if advice else []
        back, failures, looked = Feedback(), 0, 0
        while len(past) < episode.limit and not back.done and failures < _FAILURES:
            messages = load_prompt("environment_agent").render(
                actions=environment.help,
                task=task.text,
                advice="\n\n".join(told) or "none",
                past=_written(episode.first, past),
                left=episode.limit - len(past),
            )
            asked = CallInput(messages=messages, budget=self._budget, usage=self._usage, operation="act")
            result = self._call.invoke(asked)
            self.degraded += result.degraded
            if result.value is None or not result.value.action.strip():
                failures += 1
                continue
            action = " ".join(result.value.action.split())
            back = episode.act(action)
            past.append(Past(action=action, observation=back.observation, error=back.error))
            run.step(
                thought=result.value.thought, action=action, observation=back.observation, error=back.error or None
            )
            trouble = trouble_in(turns_of(past[looked:]), TroubleSettings()) if reflect and not back.done else None
            if trouble is not None:
                looked = len(past)  # as in a graph, turns count from the last look back on
                told += [text for text in (run.reflect(trouble.summary).text,) if text]
        return Ended(done=back.done and back.reward >= 1.0, reward=back.reward, steps=len(past), past=past)


def _written(first: str, past: list[Past]) -> str:
    lines = [first]
    for number, one in enumerate(past, start=1):
        lines += [f"{number}. {one.action}", f"   {'failed: ' + one.error if one.error else one.observation}"]
    return "\n".join(lines)
