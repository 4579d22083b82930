"""What the planner, the integrator and the reflector share: a prompt, and one structured call on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, UsageMeter
from hexamem.prompts import load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["ResearchAgent"]

R = TypeVar("R", bound=ModelReply)


class _Task(Protocol):
    @property
    def budget(self) -> Budget | None: ...
    @property
    def usage(self) -> UsageMeter | None: ...


class ResearchAgent(Generic[R]):
    """A chat model's part in research. It keeps nothing between calls.

    Args:
        model: the chat model.
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
        self, model: BaseChatModel, *, method: Method = "json_schema", retries: RetryPolicy | None = None
    ) -> None:
        self._prompt = load_prompt(self.name)
        self.call: StructuredCall[R] = StructuredCall(
            model, self.reply, agent=self.name, method=method, retries=retries
        )

    def _ask(self, task: _Task, carry: object, **given: object) -> CallInput:
        """The call for a task, with what the prompt takes."""
        messages = self._prompt.render(**given)
        return CallInput(messages=messages, budget=task.budget, usage=task.usage, operation="research", carry=carry)
