"""Structured calls to the chat model that judges, distils, compares, focuses and reflects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, StructuredResult, UsageMeter

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import MessageLikeRepresentation

__all__ = ["ExperienceModel"]

R = TypeVar("R", bound=ModelReply)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperienceModel:
    """A chat model with what its calls are counted under.

    Attributes:
        model: the chat model. It is not changed.
        agent: name of the agent that asks.
        operation: name of the operation that the calls belong to.
        method: how the form of a reply is requested.
        budget: what may be spent.
        usage: the meter that counts the calls.
    """

    model: BaseChatModel
    agent: str
    operation: str
    method: Method
    budget: Budget | None
    usage: UsageMeter

    def ask(
        self,
        reply: type[R],
        messages: Sequence[MessageLikeRepresentation],
        *,
        model: BaseChatModel | None = None,
        validate: Callable[[R], list[str]] | None = None,
    ) -> StructuredResult[R]:
        """Request a reply.

        Args:
            reply: its schema.
            messages: the prompt.
            model: the same model with other parameters.
            validate: a check beside the schema: value → problems.
        """
        call = StructuredCall(model or self.model, reply, agent=self.agent, method=self.method)
        return call.invoke(
            CallInput(
                messages=messages, budget=self.budget, usage=self.usage, operation=self.operation, validate=validate
            )
        )
