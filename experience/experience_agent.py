"""What the judge, the distiller, the comparer, the focuser and the reflector share: a chat model, and structured calls on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypedDict, TypeVar, Unpack

from hexamem.models import Budget, Method, ModelReply, StructuredCall, UsageMeter

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["AgentOptions", "ExperienceAgent"]

R = TypeVar("R", bound=ModelReply)
S = TypeVar("S", bound=ModelReply)


class AgentOptions(TypedDict, total=False):
    """What an agent may be given beside its model: see :class:`ExperienceAgent`."""

    method: Method
    retries: RetryPolicy | None
    budget: Budget | None
    usage: UsageMeter | None


class ExperienceAgent(Generic[R]):
    """A chat model's part in learning from experience. It keeps nothing between calls.

    Args:
        model: the chat model. It is not changed.
        method: how the reply's form is asked for.
        retries: what to do about failures of requests.
        budget, usage: what may be spent, and the meter that is told what was, where a call says nothing else.

    Attributes:
        name: under which its calls are counted.
        reply: the form of its reply.
    """

    name: ClassVar[str]
    reply: type[R]

    def __init__(self, model: BaseChatModel, **options: Unpack[AgentOptions]) -> None:
        self._model, self._options = model, options
        self._call: StructuredCall[R] = self._asking(self.reply)

    def _asking(self, reply: type[S], model: BaseChatModel | None = None) -> StructuredCall[S]:
        """A call for a reply of another form, or to the model with other settings."""
        return StructuredCall(self._model if model is None else model, reply, agent=self.name, **self._options)
