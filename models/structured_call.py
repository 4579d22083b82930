"""`StructuredCall`: messages in, an object of a pydantic schema out; one repair turn, then a typed outcome.

This is the one place of the package that invokes a chat model for a reply to be read by a program. What is done, and
in which order, is written once as a generator of steps; ``invoke`` performs them, ``ainvoke`` awaits them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar, cast

import tenacity
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

from hexamem.errors import ConfigError, InvalidInputError
from hexamem.models.budget import Budget, BudgetRefusal
from hexamem.models.chat_models import model_name, secrets_of
from hexamem.models.replies import (
    Reply,
    echo,
    partial_json,
    problems_of,
    read_reply,
    repair_request,
    without_surrogates,
)
from hexamem.models.reply_form import Method, ReplyForm, message_in, reported_usage
from hexamem.models.retries import Failure, RetryPolicy, classify, without_secrets
from hexamem.models.token_estimate import TokenEstimator
from hexamem.models.usage import Usage, UsageMeter

__all__ = ["CallInput", "Method", "StructuredCall", "StructuredResult"]

T = TypeVar("T", bound=BaseModel)
Messages: TypeAlias = str | Sequence[MessageLikeRepresentation]

_ANSWER = 8_192  # tokens that an answer may take when nothing says otherwise
_SHORTEST = 256  # an answer for which less is left is not asked for
_FRAME = 8  # tokens around each message
_NO_STREAM = "nostream"  # LangGraph's tag: inner replies are not shown as the graph's messages


@dataclass(frozen=True, kw_only=True)
class CallInput:
    """What a ``prepare`` function hands to a `StructuredCall`; what is None falls to the call's own setting.

    Attributes:
        messages: as LangChain takes them: a text, messages, or pairs such as ``("system", "…")``.
        budget: what may be spent.
        usage: the meter that is told what was.
        operation: the operation's name for the meter.
        validate: checks a reply that fits the schema and lists what is wrong with it.
        salvage: makes a value of JSON that does not fit even after the repair turn, or None if it cannot.
        carry: anything; it stands in the result again, since ``finish`` sees nothing else of ``prepare``.
    """

    messages: Messages
    budget: Budget | None = None
    usage: UsageMeter | None = None
    operation: str | None = None
    validate: Callable[..., list[str]] | None = None
    salvage: Callable[[object], BaseModel | None] | None = None
    carry: object = None


@dataclass(frozen=True, kw_only=True)
class StructuredResult(Generic[T]):
    """The outcome of a call. It never raises for what the model or its server did.

    Attributes:
        value: the reply, or None: then the caller's rules do the work.
        degraded: why there is no value, or only a salvaged one; plain sentences that begin with the agent's name.
        usage: what the call cost, repair turn and retries included.
        repaired: whether the value comes from the repair turn.
        carry: what ``CallInput.carry`` held.
        refusal: the budget's, where the last request was not made for it.
    """

    value: T | None
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    repaired: bool = False
    carry: object = None
    refusal: BudgetRefusal | None = None


@dataclass(frozen=True)
class _Step:
    """One thing to do, in its two forms."""

    now: Callable[[], object]
    later: Callable[[], Awaitable[object]]


_Steps: TypeAlias = Generator[_Step, object, object]


class StructuredCall(Runnable[CallInput, StructuredResult[T]], Generic[T]):
    """Asks a chat model for an object of a pydantic schema.

    A reply that does not validate (malformed, truncated or empty, a refusal, no choices, another tool, filtered,
    refused by ``validate``) gets exactly one repair turn, in which the reply and what is wrong with it are sent back.
    Failures on the way are retried by ``retries``, the only policy where the model speaks OpenAI's protocol. After
    that the result has no value and says why in ``degraded``.

    It is a LangChain runnable, so a node is ``prepare | StructuredCall(…) | finish``. ``prepare`` returns messages, a
    `CallInput`, or a `StructuredResult`, which goes to ``finish`` as it is: no call is needed then.

    Args:
        model: the chat model. It is not changed.
        schema: the reply's form, a `ModelReply`.
        agent: who asks, for usage and messages.
        method: how the form is asked for. ``json_schema`` and ``function_calling`` use strict mode. A model that
            knows neither tools nor structured output is asked in words.
        retries: what to do about failures on the way.
        usage: a meter that is told of every request.
        budget: reserved before every request; a request that could exceed it is not made.
        validate: an extra check, ``(value) -> problems``, such as for ids that must exist.
        salvage: makes a value of a reply that still does not fit, ``(json) -> value or None``. It must not raise.
        max_output_tokens: the longest answer. With a token budget it is at most 8,192 tokens, and less where less is
            left. Only models that speak OpenAI's protocol are told.
        estimator: counts tokens before the call; share one among calls of the same model.

    Raises:
        ConfigError: the schema cannot be asked of a model, or a setting cannot work.
    """

    def __init__(
        self,
        model: BaseChatModel,
        schema: type[T],
        *,
        agent: str,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
        usage: UsageMeter | None = None,
        budget: Budget | None = None,
        validate: Callable[[T], list[str]] | None = None,
        salvage: Callable[[object], T | None] | None = None,
        max_output_tokens: int | None = None,
        estimator: TokenEstimator | None = None,
    ) -> None:
        if max_output_tokens is not None and max_output_tokens < 1:
            raise ConfigError(f"max_output_tokens = {max_output_tokens} of {agent}: give at least 1")
        self.agent, self.schema = agent, schema
        self.retries = retries or RetryPolicy()
        self._form = ReplyForm(model, schema, method, agent)
        self._secrets = secrets_of(model)
        self._called = model_name(model)
        self._key_name = next(iter(model.lc_secrets.values()), "the environment")
        self._defaults = CallInput(messages="", usage=usage, budget=budget, validate=validate, salvage=salvage)
        self._max_output = max_output_tokens
        self._estimator = estimator or TokenEstimator()

    # Doing the steps: everything but the awaiting is shared.

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
        with closing(self._exchange(input, config)) as steps:
            answer: object = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    return cast("StructuredResult[T]", end.value)
                try:
                    answer = step.now()
                except Exception as error:  # noqa: BLE001 - the exchange decides, and tells it in `degraded`
                    answer = error

    async def ainvoke(
        self,
        input: CallInput | Messages | StructuredResult[T],
        config: RunnableConfig | None = None,
        **kwargs: object,
    ) -> StructuredResult[T]:
        """As `invoke`, without blocking the event loop."""
        with closing(self._exchange(input, config)) as steps:
            answer: object = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    return cast("StructuredResult[T]", end.value)
                try:
                    answer = await step.later()
                except Exception as error:  # noqa: BLE001 - the exchange decides, and tells it in `degraded`
                    answer = error

    # The exchange.

    def _exchange(
        self, given: CallInput | Messages | StructuredResult[T], config: RunnableConfig | None
    ) -> Generator[_Step, object, StructuredResult[T]]:
        if isinstance(given, StructuredResult):
            return given
        call = self._complete(given)
        messages = self._messages(call.messages)
        config = merge_configs(ensure_config(config), {"tags": [_NO_STREAM]})
        spent, last, reason, refusal = Usage(), Reply(text=""), "", None
        for repaired in (False, True):
            outcome, cost = yield from self._ask(messages, call, config)
            spent += cost
            if isinstance(outcome, Failure | BudgetRefusal) and not getattr(outcome, "unreadable", False):
                refusal = outcome if isinstance(outcome, BudgetRefusal) else None
                told = outcome.reason if isinstance(outcome, BudgetRefusal) else outcome.said
                reason = f"{told}; the reply before it did not fit ({reason})" if repaired else told
                break
            if isinstance(outcome, AIMessage):
                last = read_reply(outcome, self._form.name)
                value, problems = self._value(last, call)
            else:
                last, value, problems = Reply(text=""), None, [cast("Failure", outcome).said]
            if value is not None:
                return StructuredResult(value=value, usage=spent, repaired=repaired, carry=call.carry)
            reason = without_secrets("; ".join(problems[:3]), self._secrets)
            if repaired:
                reason = f"the reply did not fit, nor did its repair: {reason}"
            else:
                messages = [*messages, *self._repair(last, problems)]
        return replace(self._without_value(reason, last, call, spent), refusal=refusal)

    def _complete(self, given: CallInput | Messages) -> CallInput:
        if not isinstance(given, CallInput):
            return replace(self._defaults, messages=given)
        names = ("budget", "usage", "validate", "salvage")
        return replace(given, **{n: getattr(self._defaults, n) for n in names if getattr(given, n) is None})

    def _messages(self, given: Messages) -> list[BaseMessage]:
        plain = [HumanMessage(given)] if isinstance(given, str) else convert_to_messages(given)
        messages = [_encodable(one) for one in plain]
        if not messages or not any(one.content for one in messages):
            raise InvalidInputError(f"The call of {self.agent} has no messages; give at least one with text.")
        return self._form.told(messages)

    def _value(self, reply: Reply, call: CallInput) -> tuple[T | None, list[str]]:
        """The value of a reply, or what is wrong with it."""
        if reply.problem is not None:
            return None, [reply.problem]
        try:
            value = self.schema.model_validate(without_surrogates(reply.data))
        except ValidationError as error:
            return None, problems_of(error)
        problems = list(call.validate(value)) if call.validate is not None else []
        return (None, problems) if problems else (value, [])

    def _repair(self, reply: Reply, problems: list[str]) -> list[BaseMessage]:
        # As text, not as a tool call: a tool call would need an answer of the tool before the next turn.
        said: list[BaseMessage] = [_encodable(AIMessage(echo(reply.text)))] if reply.text.strip() else []
        return [*said, _encodable(HumanMessage(repair_request(problems, self._form.tool)))]

    def _without_value(self, reason: str, last: Reply, call: CallInput, spent: Usage) -> StructuredResult[T]:
        told = f"{self.agent}: {reason}"
        saved: T | None = None
        if call.salvage is not None:
            data = last.data if last.problem is None else partial_json(last.text)
            made = call.salvage(data) if data is not None else None
            if made is not None:
                saved = cast("T", made)
                told += "; what could be used of it was kept"
        return StructuredResult(value=saved, degraded=(told,), usage=spent, carry=call.carry)

    def _ask(
        self, messages: list[BaseMessage], call: CallInput, config: RunnableConfig
    ) -> Generator[_Step, object, tuple[AIMessage | Failure | BudgetRefusal, Usage]]:
        """One turn: requests until one is answered or no further is worth it, with what all of them cost."""
        schema = [] if self._form.in_words else [self._form.schema_text]
        text = "\n".join([*(str(one.text) for one in messages), *schema])
        estimate = cast("int", (yield from _done(_in_thread(partial(self._estimator.estimate, text)))))
        estimate += _FRAME * (len(messages) + 1)
        retrying = self.retries.retrying(call.budget.remaining_seconds() if call.budget else None)
        retrying.begin()
        state = tenacity.RetryCallState(retrying, None, (), {})
        spent = Usage()
        while True:
            action = retrying.iter(state)
            if isinstance(action, tenacity.DoAttempt):
                outcome, cost = yield from self._attempt(messages, text, estimate, call, config)
                spent += cost
                state.set_result(outcome)
            elif isinstance(action, tenacity.DoSleep):
                state.prepare_for_next_attempt()
                seconds = float(action)
                yield from _done(_Step(partial(time.sleep, seconds), partial(asyncio.sleep, seconds)))
            else:
                final = cast("AIMessage | Failure | BudgetRefusal", action)
                if isinstance(final, Failure) and state.attempt_number > 1:
                    final = replace(final, said=f"{final.said} ({state.attempt_number} tries)")
                return final, spent

    def _attempt(
        self, messages: list[BaseMessage], text: str, estimate: int, call: CallInput, config: RunnableConfig
    ) -> Generator[_Step, object, tuple[AIMessage | Failure | BudgetRefusal, Usage]]:
        """One request, paid from the budget."""
        longest, seconds, reservation = self._max_output, None, None
        if call.budget is not None:
            most = self._max_output or _ANSWER
            granted = call.budget.reserve(estimate + min(_SHORTEST, most), up_to=estimate + most)
            if isinstance(granted, BudgetRefusal):
                return granted, Usage()
            reservation = granted
            seconds = call.budget.remaining_seconds()
            if call.budget.limits_tokens():
                longest = granted.tokens - estimate
        runnable = self._form.ask(longest, seconds)
        cost = Usage(calls=1, input_tokens=estimate)  # should the call be cancelled, it may have been charged
        start = time.monotonic()
        try:
            answer = yield _Step(
                partial(runnable.invoke, messages, config), partial(runnable.ainvoke, messages, config)
            )
            seconds_used = time.monotonic() - start
            message = message_in(answer)
            if message is None:
                error = answer if isinstance(answer, Exception) else TypeError("no message")
                failure = classify(error, model=self._called, key_name=self._key_name, secrets=self._secrets)
                cost = Usage() if failure.cost == "nothing" else replace(cost, seconds=seconds_used)
                return failure, cost
            cost = replace((yield from self._cost(message, text, estimate)), seconds=seconds_used)
            return message, cost
        finally:
            if reservation is not None:
                reservation.settle(cost)
            if call.usage is not None and cost.calls:
                call.usage.add(cost, agent=self.agent, operation=call.operation)

    def _cost(self, message: AIMessage, text: str, estimate: int) -> Generator[_Step, object, Usage]:
        """What the model reports, or the offline estimate; a report also corrects the estimator."""
        reported = reported_usage(message)
        if reported is not None:
            yield from _done(_in_thread(partial(self._estimator.observe, text, reported.input_tokens)))
            return reported
        written = read_reply(message, self._form.name).text
        output = cast("int", (yield from _done(_in_thread(partial(self._estimator.estimate, written)))))
        return Usage(calls=1, input_tokens=estimate, output_tokens=output)


def _in_thread(work: Callable[[], object]) -> _Step:
    return _Step(work, partial(asyncio.to_thread, work))


def _done(step: _Step) -> _Steps:
    """Do one of our own steps; what it raises is a fault of ours and is raised."""
    answer = yield step
    if isinstance(answer, Exception):
        raise answer
    return answer


def _encodable(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"content": without_surrogates(message.content)})
