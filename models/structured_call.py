"""`StructuredCall`: messages in, an object of a pydantic schema out; one repair turn, then a typed outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    MessageLikeRepresentation,
    convert_to_messages,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from pydantic import BaseModel, ValidationError

from hexamem.errors import InvalidInputError
from hexamem.models.budget import BudgetRefusal
from hexamem.models.model_requests import ModelRequests, Outcome, Terms
from hexamem.models.replies import Reply, clip, problems_of, read_reply, without_surrogates
from hexamem.models.reply_form import Method, ReplyForm
from hexamem.models.retries import Failure, RetryPolicy, without_secrets
from hexamem.models.usage import Usage

__all__ = ["CallInput", "Method", "StructuredCall", "StructuredResult"]

T = TypeVar("T", bound=BaseModel)
Messages: TypeAlias = str | Sequence[MessageLikeRepresentation]

_NO_STREAM = "nostream"  # LangGraph's tag: inner replies are not shown as the graph's messages
_MOST_PROBLEMS, _LONGEST_ECHO = 12, 12_000


@dataclass(frozen=True, kw_only=True)
class CallInput(Terms):
    """The input of a `StructuredCall`, as a ``prepare`` function returns it.

    Attributes:
        messages: in a form that LangChain accepts: a text, messages, or pairs such as ``("system", "…")``.
        validate: checks a reply that fits the schema and lists its problems, such as ids that do not exist.
        partly: whether a reply that fits the schema is used after the repair turn although ``validate`` lists problems.
        carry: any value; it is copied into the result, from which ``finish`` reads it.
    """

    messages: Messages
    validate: Callable[..., list[str]] | None = None
    partly: bool = False
    carry: object = None


@dataclass(frozen=True, kw_only=True)
class StructuredResult(Generic[T]):
    """The outcome of a call. It never raises for what the model or its server did.

    Attributes:
        value: the reply; None where the caller falls back to its rules.
        degraded: why there is no value, or only a part of it is usable; plain sentences that begin with the agent's name.
        usage: the cost of the call, including the repair turn and retries.
        repaired: whether the value is from the repair turn.
        carry: ``CallInput.carry``.
        refusal: the budget's refusal, where the last request was not sent because of it.
    """

    value: T | None
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    repaired: bool = False
    carry: object = None
    refusal: BudgetRefusal | None = None


class StructuredCall(Runnable[CallInput, StructuredResult[T]], Generic[T]):
    """Asks a chat model for an object of a pydantic schema.

    For a reply that does not validate (malformed, truncated or empty, a refusal, no choices, another tool, filtered,
    refused by ``validate``) there is exactly one repair turn, in which the reply and its problems are sent back. Failed
    requests are retried by ``retries``, the only policy where the model speaks OpenAI's protocol. After that the result
    has no value, and ``degraded`` names the reason.

    It is a LangChain runnable, so a node is ``prepare | StructuredCall(…) | finish``. ``prepare`` returns messages, a
    `CallInput`, or, where no call is needed, a `StructuredResult`, which is passed on to ``finish``.

    Args:
        model: the chat model. It is not changed.
        schema: the schema of the reply, a `ModelReply`.
        agent: the name of the agent that makes the call, for usage and messages.
        method: how the schema is sent. ``json_schema`` and ``function_calling`` use strict mode. For a model with
            neither tools nor structured output the schema is part of the prompt.
        retries: which failed requests are retried, and when.

    Raises:
        ConfigError: the schema cannot be sent to a model, or a setting cannot work.
    """

    def __init__(
        self,
        model: BaseChatModel,
        schema: type[T],
        *,
        agent: str,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self.agent, self.schema = agent, schema
        self._form = ReplyForm(model, schema, method, agent)
        self._requests = ModelRequests(model, agent=agent, retries=retries)

    def invoke(
        self,
        input: CallInput | Messages | StructuredResult[T],
        config: RunnableConfig | None = None,
        **kwargs: object,
    ) -> StructuredResult[T]:
        """Make the call and wait for its outcome.

        Raises:
            InvalidInputError: there are no messages.
        """
        if isinstance(input, StructuredResult):
            return input
        exchange, config = self._begin(input), _quiet(config)
        while exchange.result is None:
            messages = exchange.messages

            def request(limits: dict[str, object], messages: list[BaseMessage] = messages) -> object:
                return self._form.bound(limits).invoke(messages, config)

            exchange.take(*self._requests.send(request, exchange.text, len(messages), exchange.call))
        return exchange.result

    async def ainvoke(
        self,
        input: CallInput | Messages | StructuredResult[T],
        config: RunnableConfig | None = None,
        **kwargs: object,
    ) -> StructuredResult[T]:
        """As `invoke`, without blocking the event loop."""
        if isinstance(input, StructuredResult):
            return input
        exchange, config = self._begin(input), _quiet(config)
        while exchange.result is None:
            messages = exchange.messages

            async def request(limits: dict[str, object], messages: list[BaseMessage] = messages) -> object:
                return await self._form.bound(limits).ainvoke(messages, config)

            exchange.take(*await self._requests.asend(request, exchange.text, len(messages), exchange.call))
        return exchange.result

    def _begin(self, given: CallInput | Messages) -> _Exchange[T]:
        call = given if isinstance(given, CallInput) else CallInput(messages=given)
        plain = [HumanMessage(call.messages)] if isinstance(call.messages, str) else convert_to_messages(call.messages)
        messages = [_encodable(message) for message in plain]
        if not any(message.content for message in messages):
            raise InvalidInputError(f"The call of {self.agent} has no messages; give at least one with text.")
        clean = partial(without_secrets, secrets=self._requests.secrets)
        messages = self._form.put_into(messages)
        return _Exchange(self.agent, self.schema, self._form, call, messages, clean)


@dataclass
class _Exchange(Generic[T]):
    """One call in progress: the messages to send next, and the result once there is one."""

    agent: str
    schema: type[T]
    form: ReplyForm
    call: CallInput
    messages: list[BaseMessage]
    clean: Callable[[str], str]
    spent: Usage = field(default_factory=Usage)
    reason: str = ""
    last: Reply = field(default_factory=lambda: Reply(text=""))
    result: StructuredResult[T] | None = None

    @property
    def text(self) -> str:
        schema = [] if self.form.in_words else [self.form.schema_text]
        return "\n".join([*(str(message.text) for message in self.messages), *schema])

    def take(self, outcome: Outcome, cost: Usage) -> None:
        """Read the outcome of a request: set the result, or add the repair turn to the messages."""
        self.spent += cost
        in_repair = bool(self.reason)
        if isinstance(outcome, BudgetRefusal) or (isinstance(outcome, Failure) and not outcome.unreadable):
            why = outcome.reason if isinstance(outcome, BudgetRefusal) else outcome.message
            self._end(f"{why}; the reply before it did not fit ({self.reason})" if in_repair else why, outcome)
            return
        value, problems = None, [outcome.message] if isinstance(outcome, Failure) else []
        self.last = read_reply(outcome, self.form.name) if isinstance(outcome, AIMessage) else Reply(text="")
        if not problems:
            value, problems = self._value(self.last)
        if value is not None and not problems:
            self.result = StructuredResult(value=value, usage=self.spent, repaired=in_repair, carry=self.call.carry)
            return
        self.reason = self.clean("; ".join(problems[:3]))
        if in_repair:
            self._end(
                f"the reply did not fit, nor did its repair: {self.reason}", value=value if self.call.partly else None
            )
        else:
            self.messages = [*self.messages, *self._repair(problems)]

    def _value(self, reply: Reply) -> tuple[T | None, list[str]]:
        """The value of a reply that fits the schema, and the problems of the reply."""
        if reply.problem is not None:
            return None, [reply.problem]
        try:
            value = self.schema.model_validate(without_surrogates(reply.data))
        except ValidationError as error:
            return None, problems_of(error)
        problems = list(self.call.validate(value)) if self.call.validate is not None else []
        return value, problems

    def _repair(self, problems: list[str]) -> list[BaseMessage]:
        # As text, not as a tool call: that would need a tool message before the next turn.
        shown = problems[:_MOST_PROBLEMS]
        if len(problems) > len(shown):
            shown.append(f"and {len(problems) - len(shown)} more of the kind")
        tool = self.form.tool
        how = f"by calling the tool {tool} once" if tool else "as one JSON object and nothing else"
        lines = "\n".join(f"- {problem}" for problem in shown)
        text = (
            f"Your reply cannot be used:\n{lines}\nSend the whole reply again in the required form, corrected, {how}."
        )
        echo = [_encodable(AIMessage(clip(self.last.text, _LONGEST_ECHO)))] if self.last.text.strip() else []
        return [*echo, _encodable(HumanMessage(text))]

    def _end(self, reason: str, outcome: object = None, value: T | None = None) -> None:
        """Set a result without a value, or with one of which only a part is usable."""
        self.result = StructuredResult(
            value=value,
            degraded=(f"{self.agent}: {reason}{'; a part of it was used' if value is not None else ''}",),
            usage=self.spent,
            carry=self.call.carry,
            refusal=outcome if isinstance(outcome, BudgetRefusal) else None,
        )


def _quiet(config: RunnableConfig | None) -> RunnableConfig:
    return merge_configs(ensure_config(config), {"tags": [_NO_STREAM]})


def _encodable(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"content": without_surrogates(message.content)})
