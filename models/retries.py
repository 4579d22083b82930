"""Which failed requests to a model are retried, when, and the messages that report the others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import tenacity
from pydantic import Field

from hexamem.memory_types.settings import validated_settings

__all__ = ["Failure", "RetryPolicy", "classify", "without_secrets"]

Seconds: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_RETRIED_STATUS = {408, 409, 425, 429}
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing")
_TOO_LONG = re.compile(r"context.length|context window|prompt is too long|maximum context|too many tokens", re.I)
_METHOD = re.compile(r"response_format|json_schema|tool_choice|Invalid schema|tools? (?:is|are) not supported", re.I)
_KEY_LIKE = re.compile(
    r"(?:\b(?:sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9*_\-]{6,}|\bAIza[\w-]{10,}|(?i:bearer|basic)\s+[\w.~+/*=-]{6,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@))"
)
_LONGEST_MESSAGE = 300  # characters
# Errors without a status are recognized by the names of their classes, which fit the clients of all providers:
# (names, message, whether the model may have read its input).
_BY_NAME: tuple[tuple[re.Pattern[str], str, bool], ...] = (
    (re.compile(r"Timeout|TimedOut|DeadlineExceeded"), "the model {} did not answer within its time limit", True),
    (
        re.compile(r"RemoteProtocol|ReadError|WriteError|IncompleteRead|ChunkedEncoding|ConnectionReset|BrokenPipe"),
        "the connection to the model {} broke off",
        True,
    ),
    (
        re.compile(r"ConnectError|ConnectionError|ConnectionRefused|NetworkError|ServiceUnavailable|gaierror"),
        "the model {} could not be reached; check its address and the network",
        False,
    ),
)


@validated_settings
class RetryPolicy:
    """How often and for how long a failed request is retried. The client's own retries are switched off.

    Retried are 408, 409, 425, 429, 5xx, timeouts and broken or refused connections. The wait is the one that the server
    requests in ``Retry-After``, otherwise exponential with jitter.

    Attributes:
        tries: the most requests, including the first.
        total_seconds: no try begins later than this after the first.
        first_wait: upper bound of the first wait, in seconds; it doubles with each try. 0 means no wait.
        longest_wait: upper bound of the exponential wait, in seconds.
        longest_retry_after: where the server requests a longer wait, in seconds, the request is not retried.

    Raises:
        ConfigError: for a value that cannot work.
    """

    tries: Annotated[int, Field(ge=1)] = 4
    total_seconds: Seconds = 90.0
    first_wait: Seconds = 1.0
    longest_wait: Seconds = 20.0
    longest_retry_after: Seconds = 60.0

    def arguments(self, seconds_left: float | None = None) -> dict[str, Any]:
        """The arguments of ``tenacity.Retrying`` and ``AsyncRetrying`` for a function that may return a :class:`Failure`.

        Args:
            seconds_left: the seconds that a budget still allows; None for no limit.
        """
        total = self.total_seconds if seconds_left is None else min(self.total_seconds, seconds_left)
        return {
            "retry": tenacity.retry_if_result(
                lambda outcome: (
                    isinstance(outcome, Failure)
                    and outcome.again
                    and (outcome.retry_after or 0.0) <= self.longest_retry_after
                )
            ),
            "wait": self._wait,
            "stop": tenacity.stop_after_attempt(self.tries) | tenacity.stop_before_delay(max(total, 0.001)),
            "retry_error_callback": lambda state: state.outcome.result() if state.outcome is not None else None,
        }

    def _wait(self, state: tenacity.RetryCallState) -> float:
        outcome = state.outcome.result() if state.outcome is not None else None
        if isinstance(outcome, Failure) and outcome.retry_after is not None:
            return outcome.retry_after
        return tenacity.wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)(state)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A request without a reply.

    Attributes:
        message: what happened and what to do, without secrets.
        again: whether the same request may succeed later.
        retry_after: the wait that the server requests, in seconds.
        cost: what it may have cost: nothing where it was refused, its input where it broke off.
        unreadable: whether the server answered in a form that the client cannot read; a repair turn may help.
    """

    message: str
    again: bool = False
    retry_after: float | None = None
    cost: Literal["nothing", "input"] = "nothing"
    unreadable: bool = False


def classify(error: Exception, *, model: str, key_name: str, secrets: Iterable[str]) -> Failure:
    """Classify an exception of a chat model by its HTTP status, otherwise by the names of its classes.

    Args:
        error: what the model raised.
        model: the name of the model, for the message.
        key_name: the environment variable of its key, for the message.
        secrets: texts that must not be in the message.
    """
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, Mapping) else None
    detail = without_secrets(message if isinstance(message, str) else str(error), secrets)
    status = _status(error)
    if status is not None:
        return _by_status(status, error, model, key_name, detail)
    names = " ".join(_lineage(error))
    for pattern, message_form, charged in _BY_NAME:
        if pattern.search(names):
            return Failure(message=message_form.format(model), again=True, cost="input" if charged else "nothing")
    if isinstance(error, (ValueError, TypeError, LookupError, AttributeError)):
        text = f"the model {model} sent an answer without a readable reply ({type(error).__name__})"
        return Failure(message=text, cost="input", unreadable=True)
    return Failure(message=f"the model {model} failed with {type(error).__name__}: {detail}", cost="input")


def _by_status(status: int, error: Exception, model: str, key_name: str, detail: str) -> Failure:
    wait = _retry_after(error)
    if status == 429 and (_QUOTA.search(detail) or getattr(error, "code", None) == "insufficient_quota"):
        return Failure(message=f"the quota of the key in {key_name} is used up (429)")
    if status == 429:
        wait_text = f"; it asks to wait {wait:g} seconds" if wait else ""
        return Failure(
            message=f"the model {model} is over its rate limit (429){wait_text}", again=True, retry_after=wait
        )
    if status in _RETRIED_STATUS or status >= 500:
        return Failure(message=f"the server of the model {model} failed ({status})", again=True, retry_after=wait)
    # For 401 without the server's text: it often contains the key or a part of it.
    hint = "; the text is too long for it" if _TOO_LONG.search(detail) else ""
    if not hint and _METHOD.search(detail):
        hint = "; another method may work: json_schema, function_calling or json_mode"
    messages = {
        401: f"the model {model} refused the key (401); check the key in {key_name}",
        403: f"the key in {key_name} may not use the model {model} (403): {detail}",
        404: f"there is no model {model} at this address (404); check its name and base_url: {detail}",
    }
    return Failure(message=messages.get(status, f"the model {model} refused the request ({status}){hint}: {detail}"))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text on one line, of at most 300 characters, without keys and whatever looks like one."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[key]")
    text = " ".join(_KEY_LIKE.sub("[key]", text).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    codes = (getattr(error, "status_code", None), getattr(response, "status_code", None), getattr(error, "code", None))
    return next((code for code in codes if type(code) is int and 400 <= code < 600), None)


def _lineage(error: BaseException | None) -> list[str]:
    """The names of the classes of an error and of its causes."""
    names: list[str] = []
    for _ in range(6):
        if error is None:
            break
        names += [kind.__name__ for kind in type(error).__mro__]
        error = error.__cause__ or error.__context__
    return names


def _retry_after(error: Exception) -> float | None:
    """The wait in seconds that the response requests, from ``retry-after-ms`` or ``Retry-After``; None for a date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):
            if math.isfinite(seconds := float(headers.get(name, "nan")) / divisor):
                return max(0.0, seconds)
    return None
