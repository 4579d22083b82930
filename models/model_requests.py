"""Requests to one chat model: reserved in a budget, sent again after passing failures, counted, and never raising for
what the model or its server did.

Structured calls and the tool-calling managers send through the same class, so there is one policy of retries.
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
from hexamem.models.token_estimate import TokenEstimator
from hexamem.models.usage import Usage, UsageMeter

__all__ = ["ModelRequests", "Outcome", "Terms"]

Outcome: TypeAlias = AIMessage | Failure | BudgetRefusal
Limits: TypeAlias = dict[str, Any]

_ANSWER = 8_192  # tokens that an answer may take under a token budget, and less where less is left
_SHORTEST = 256  # an answer for which less is left is not asked for


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a request is made under.

    Attributes:
        budget: what may be spent. usage: the meter that counts it. operation: its name for the meter.
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
        agent: who asks, for usage and messages.
        retries: what to do about failures on the way.

    Attributes:
        secrets: the model's keys, which no message may show.
    """

    def __init__(self, model: BaseChatModel, *, agent: str, retries: RetryPolicy | None = None) -> None:
        self.agent, self.secrets = agent, secrets_of(model)
        self._retries = retries or RetryPolicy()
        self._called, self._key_name = model_name(model), next(iter(model.lc_secrets.values()), "the environment")
        self._takes_limits, self._timeout = speaks_openai(model), getattr(model, "request_timeout", None)
        self._estimator = TokenEstimator()

    def send(
        self, request: Callable[[Limits], object], text: str, messages: int, terms: Terms
    ) -> tuple[Outcome, Usage]:
        """Send a request until it is answered or no further try is worth it.

        Args:
            request: sends it once, with keyword arguments that limit the answer.
            text: what the model reads, to estimate tokens by.
            messages: how many messages it is in.

        Returns:
            The model's message or why there is none, and what all tries cost.
        """
        estimate, spent = self._estimate(text, messages), [Usage()]

        def attempt() -> Outcome:
            with self._paid(text, estimate, terms, spent) as one:
                if one.outcome is None:
                    try:
                        one.answer = request(one.limits)
                    except GraphBubbleUp:
                        raise
                    except Exception as error:  # noqa: BLE001 - whatever a client raises becomes a Failure
                        one.answer = error
            return cast("Outcome", one.outcome)

        retrying = tenacity.Retrying(**self._policy(terms))
        return _with_tries(retrying(attempt), retrying), sum(spent, Usage())

    async def asend(
        self, request: Callable[[Limits], Awaitable[object]], text: str, messages: int, terms: Terms
    ) -> tuple[Outcome, Usage]:
        """As :meth:`send`, without blocking the event loop."""
        estimate, spent = await asyncio.to_thread(self._estimate, text, messages), [Usage()]

        async def attempt() -> Outcome:
            with self._paid(text, estimate, terms, spent) as one:
                if one.outcome is None:
                    try:
                        one.answer = await request(one.limits)
                    except GraphBubbleUp:
                        raise
                    except Exception as error:  # noqa: BLE001 - whatever a client raises becomes a Failure
                        one.answer = error
            return cast("Outcome", one.outcome)

        retrying = tenacity.AsyncRetrying(**self._policy(terms))
        return _with_tries(await retrying(attempt), retrying), sum(spent, Usage())

    def _policy(self, terms: Terms) -> dict[str, Any]:
        return self._retries.arguments(terms.budget.remaining_seconds() if terms.budget else None)

    def _estimate(self, text: str, messages: int) -> int:
        return self._estimator.estimate(text) + 8 * (messages + 1)  # with the frame of each message

    @contextmanager
    def _paid(self, text: str, estimate: int, terms: Terms, spent: list[Usage]) -> Iterator[_Attempt]:
        """One request: reserved before it, its outcome read and its cost settled after it."""
        one, reservation, longest, seconds = _Attempt(), None, None, None
        if terms.budget is not None:
            granted = terms.budget.reserve(estimate + _SHORTEST, up_to=estimate + _ANSWER)
            if isinstance(granted, BudgetRefusal):
                one.outcome = granted
                yield one
                return
            reservation, seconds = granted, terms.budget.remaining_seconds()
            longest = granted.tokens - estimate if terms.budget.limits_tokens() else None
        if self._takes_limits:  # those that speak OpenAI's protocol
            one.limits = {} if longest is None else {"max_tokens": longest}
            if seconds is not None and (not isinstance(self._timeout, int | float) or seconds < self._timeout):
                one.limits["timeout"] = max(seconds, 0.001)
        cost = Usage(calls=1, input_tokens=estimate)  # should the call be cancelled, it may have been charged
        start = time.monotonic()
        try:
            yield one
            one.outcome, cost = self._read(one.answer, text, replace(cost, seconds=time.monotonic() - start))
        finally:
            spent.append(cost)
            if reservation is not None:
                reservation.settle(cost)
            if terms.usage is not None and cost.calls:
                terms.usage.add(cost, agent=self.agent, operation=terms.operation)

    def _read(self, answer: object, text: str, cost: Usage) -> tuple[Outcome, Usage]:
        message = message_in(answer)
        if message is None:
            error = answer if isinstance(answer, Exception) else TypeError("no message")
            failure = classify(error, model=self._called, key_name=self._key_name, secrets=self.secrets)
            return failure, Usage() if failure.cost == "nothing" else cost
        reported = reported_usage(message)
        if reported is None:
            return message, replace(cost, output_tokens=self._estimator.estimate(written_text(message)))
        self._estimator.observe(text, reported.input_tokens)
        return message, replace(reported, seconds=cost.seconds)


def _with_tries(outcome: Outcome, retrying: tenacity.BaseRetrying) -> Outcome:
    tries = int(retrying.statistics.get("attempt_number", 1))
    if isinstance(outcome, Failure) and tries > 1:
        return replace(outcome, said=f"{outcome.said} ({tries} tries)")
    return outcome
