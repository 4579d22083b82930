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
    """A chat model, the agent and operation that its calls are counted under, and what they may spend."""

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
        """Request a reply of a schema; by ``model``, the same with other parameters, if it is given."""
        call = StructuredCall(model or self.model, reply, agent=self.agent, method=self.method)
        terms = {"budget": self.budget, "usage": self.usage, "operation": self.operation}
        return call.invoke(CallInput(messages=messages, validate=validate, **terms))  # type: ignore[arg-type]
