"""The base of planner, integrator and reflector: one prompt and one structured call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Generic, TypeVar

from hexamem.agents.research_question import Question
from hexamem.memory_types.research import Claim
from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import PromptLoader, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["ResearchAgent", "ResearchTask"]

_LONGEST_QUESTION = 2_000  # characters
R = TypeVar("R", bound=ModelReply)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTask:
    """The input that all agents of research share.

    Attributes:
        claims: those of earlier rounds.
        number: the round, counted from 1.
        asked: the queries of earlier rounds, without the question.
        zone: the user's timezone.
        budget: what the call may spend; None for no limit.
        usage: the meter to which its cost is added.
    """

    question: Question
    claims: tuple[Claim, ...]
    number: int
    asked: tuple[str, ...] = ()
    zone: tzinfo
    budget: Budget | None = None
    usage: UsageMeter | None = None


class ResearchAgent(Generic[R]):
    """An agent of research: a prompt and a structured call. It stores nothing between calls.

    Args:
        model: the chat model.
        prompts: loads the prompt.
        method: how the schema of the reply is sent.
        retries: which failed requests are retried, and when.

    Attributes:
        name: the name of the agent and of its prompt.
        reply: the schema of its reply.
        call: the structured call, for ``prepare | call | finish``.
    """

    name: str
    reply: type[R]

    def __init__(
        self,
        model: BaseChatModel,
        *,
        prompts: PromptLoader = load_prompt,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self._prompt = prompts(self.name)
        self.call: StructuredCall[R] = StructuredCall(
            model, self.reply, agent=self.name, method=method, retries=retries
        )

    def _ask(self, task: ResearchTask, carry: object, **inputs: object) -> CallInput:
        """The call for a task; ``inputs`` are those of the prompt besides the question."""
        inputs["question"] = task.question.text[:_LONGEST_QUESTION]
        messages = self._prompt.render(**inputs)
        return CallInput(messages=messages, budget=task.budget, usage=task.usage, operation="research", carry=carry)
