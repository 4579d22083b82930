"""What the planner, the integrator and the reflector share: a prompt, and one structured call on it."""

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

_QUESTION = 2_000  # characters
R = TypeVar("R", bound=ModelReply)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTask:
    """What every task of research states.

    Attributes:
        claims: found in earlier rounds.
        number: of the round.
        asked: what was searched in earlier rounds, beside the question.
        zone: the user's.
    """

    question: Question
    claims: tuple[Claim, ...]
    number: int
    asked: tuple[str, ...] = ()
    zone: tzinfo
    budget: Budget | None = None
    usage: UsageMeter | None = None


class ResearchAgent(Generic[R]):
    """A chat model's part in research. It keeps nothing between calls.

    Args:
        model: the chat model.
        prompts: loads the prompt.
        method: how the reply's form is asked for.
        retries: what to do about failures on the way.

    Attributes:
        name: of the agent, and of its prompt.
        reply: the form of its reply.
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

    def _ask(self, task: ResearchTask, carry: object, **given: object) -> CallInput:
        """The call for a task, with what the prompt takes."""
        given["question"] = task.question.text[:_QUESTION]
        messages = self._prompt.render(**given)
        return CallInput(messages=messages, budget=task.budget, usage=task.usage, operation="research", carry=carry)
