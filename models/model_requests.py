"""Requests to one chat model, reserved in a budget, retried after temporary failures and counted.

A failure of the model or its server is returned, not raised. Structured calls and the tool-calling managers share this
class, so that there is one retry policy.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import tenacity
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langgraph.errors import GraphBubbleUp

from hexamem.models.budget import Budget, BudgetRefusal
from hexamem.models.chat_models import model_name, secrets_of, speaks_openai
from hexamem.models.replies import message_in, reported_usage, written_text
from hexamem.models.retries import Failure, RetryPolicy, classify
from hexamem.models.tokens import count_tokens
from hexamem.models.usage import Usage, UsageMeter

__all__ = ["ModelRequests", "Outcome", "Terms"]

Outcome: TypeAlias = AIMessage | Failure | BudgetRefusal
Limits: TypeAlias = dict[str, Any]

_FACTOR = 1.2  # on the count of the bundled tokenizer, since each model has its own
_LONGEST_ANSWER = 8_192  # tokens reserved for an answer under a token budget, or what is left of it
_SHORTEST_ANSWER = 256  # tokens; where less is left, no request is sent


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What limits a request and what counts its cost.

    Attributes:
        budget: what may be spent; None for no limit.
        usage: the meter to which the cost is added.
        operation: the name under which the meter counts it.
    """

    budget: Budget | None = None
    usage: UsageMeter | None = None
    operation: str | None = None


@dataclass
class _Attempt:
    limits: Limits = field(default_factory=dict)
    answer: object = None
    outcome: Outcome | None = None


class ModelRequests:
    """Sends requests to one chat model.

    Args:
        model: the chat model. It is not changed.
        agent: the name of the agent that sends them, for usage and messages.
        retries: which failures are retried, and when.

    Attributes:
        secrets: the model's API keys, which are removed from messages.
    """

    def __init__(self, model: BaseChatModel, *, agent: str, retries: RetryPolicy | None = None) -> None:
        self.agent, self.secrets = agent, secrets_of(model)
        self._retries = retries or RetryPolicy()
        self._model_name, self._key_name = model_name(model), next(iter(model.lc_secrets.values()), "the environment")
        self._takes_limits, self._timeout = speaks_openai(model), getattr(model, "request_timeout", None)

    def send(
        self, request: Callable[[Limits], object], text: str, messages: int, terms: Terms
    ) -> tuple[Outcome, Usage]:
        """Send a request, and send it again as the retry policy allows.

        Args:
            request: sends it once, with keyword arguments for the model that limit the answer.
            text: the whole input of the model, from which its tokens are estimated.
            messages: the number of messages in it.

        Returns:
            The model's message, or the reason why there is none, and the cost of all tries.
        """
        estimate, spent = _estimated(text, messages), [Usage()]

        def send_once() -> Outcome:
            with self._paid(estimate, terms, spent) as attempt:
                if attempt.outcome is None:
                    attempt.answer = request(attempt.limits)
            return cast("Outcome", attempt.outcome)

        retrying = tenacity.Retrying(**self._policy(terms))
        return _with_tries(retrying(send_once), retrying), sum(spent, Usage())

    async def asend(
        self, request: Callable[[Limits], Awaitable[object]], text: str, messages: int, terms: Terms
    ) -> tuple[Outcome, Usage]:
        """As :meth:`send`, without blocking the event loop."""
        estimate, spent = await asyncio.to_thread(_estimated, text, messages), [Usage()]

        async def send_once() -> Outcome:
            with self._paid(estimate, terms, spent) as attempt:
                if attempt.outcome is None:
                    attempt.answer = await request(attempt.limits)
            return cast("Outcome", attempt.outcome)

        retrying = tenacity.AsyncRetrying(**self._policy(terms))
        return _with_tries(await retrying(send_once), retrying), sum(spent, Usage())

    def _policy(self, terms: Terms) -> dict[str, Any]:
        return self._retries.arguments(terms.budget.remaining_seconds() if terms.budget else None)

    @contextmanager
    def _paid(self, estimate: int, terms: Terms, spent: list[Usage]) -> Iterator[_Attempt]:
        """Reserve one request before it is sent; afterwards read its answer, or what it raised, and settle its cost."""
        attempt, reservation, longest, seconds = _Attempt(), None, None, None
        if terms.budget is not None:
            granted = terms.budget.reserve(estimate + _SHORTEST_ANSWER, up_to=estimate + _LONGEST_ANSWER)
            if isinstance(granted, BudgetRefusal):
                attempt.outcome = granted
                yield attempt
                return
            reservation, seconds = granted, terms.budget.remaining_seconds()
            longest = granted.tokens - estimate if terms.budget.limits_tokens() else None
        if self._takes_limits:
            attempt.limits = {} if longest is None else {"max_tokens": longest}
            if seconds is not None and (not isinstance(self._timeout, int | float) or seconds < self._timeout):
                attempt.limits["timeout"] = max(seconds, 0.001)
        cost = Usage(calls=1, input_tokens=estimate)  # if cancelled, it may have been charged
        start = time.monotonic()
        try:
            try:
                yield attempt
            except GraphBubbleUp:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a client raises becomes a Failure
                attempt.answer = error
            attempt.outcome, cost = self._read(attempt.answer, replace(cost, seconds=time.monotonic() - start))
        finally:
            spent.append(cost)
            if reservation is not None:
                reservation.settle(cost)
            if terms.usage is not None and cost.calls:
                terms.usage.add(cost, agent=self.agent, operation=terms.operation)

    def _read(self, answer: object, cost: Usage) -> tuple[Outcome, Usage]:
        message = message_in(answer)
        if message is None:
            error = answer if isinstance(answer, Exception) else TypeError("no message")
            failure = classify(error, model=self._model_name, key_name=self._key_name, secrets=self.secrets)
            return failure, Usage() if failure.cost == "nothing" else cost
        reported = reported_usage(message)
        if reported is None:
            return message, replace(cost, output_tokens=_estimated(written_text(message)))
        return message, replace(reported, seconds=cost.seconds)


def _estimated(text: str, messages: int = 0) -> int:
    """The estimated tokens of a text and of the frames of messages, rather too many than too few."""
    return round(_FACTOR * count_tokens(text)) + 8 * (messages + 1)


def _with_tries(outcome: Outcome, retrying: tenacity.BaseRetrying) -> Outcome:
    tries = int(retrying.statistics.get("attempt_number", 1))
    if isinstance(outcome, Failure) and tries > 1:
        return replace(outcome, message=f"{outcome.message} ({tries} tries)")
    return outcome
