"""Which failed requests to a model are sent again, when, and the words in which the others are reported."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import tenacity
from pydantic import Field

from hexamem.memory_types.settings import validated_settings

__all__ = ["Failure", "RetryPolicy", "classify", "without_secrets"]

Seconds: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]

_AGAIN = {408, 409, 425, 429}
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing")
_LONG = re.compile(r"context.length|context window|prompt is too long|maximum context|too many tokens", re.I)
_METHOD = re.compile(r"response_format|json_schema|tool_choice|Invalid schema|tools? (?:is|are) not supported", re.I)
_KEY_LIKE = re.compile(
    r"(?:\b(?:sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9*_\-]{6,}|\bAIza[\w-]{10,}|(?i:bearer|basic)\s+[\w.~+/*=-]{6,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@))"
)
_LONGEST = 300
# Errors without a status, by the names of their classes, which serve every provider's client: what happened, and
# whether the model may have read its input by then.
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
    """How often and how long a request is sent again. It is the only policy: the client's own retries are off.

    Retried are 408, 409, 425, 429, 5xx, timeouts and broken or refused connections. The wait is what the server asks
    for in ``Retry-After``, else exponential with jitter.

    Attributes:
        tries: requests in all, the first included.
        total_seconds: no further try begins later than this after the first.
        first_wait: upper bound of the first wait, in seconds; it doubles with each try. 0 waits not at all.
        longest_wait: upper bound of any wait that is not asked for by the server.
        longest_retry_after: a server that asks for more than this many seconds is not asked again.

    Raises:
        ConfigError: for a value that cannot work.
    """

    tries: Annotated[int, Field(ge=1)] = 4
    total_seconds: Seconds = 90.0
    first_wait: Seconds = 1.0
    longest_wait: Seconds = 20.0
    longest_retry_after: Seconds = 60.0

    def arguments(self, seconds_left: float | None = None) -> dict[str, Any]:
        """The policy as arguments of ``tenacity.Retrying`` and ``AsyncRetrying``, for functions that return a
        :class:`Failure` or something else.

        Args:
            seconds_left: what a budget still allows, if that is less.
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
    """A request that brought no reply.

    Attributes:
        said: what happened and what to do, in words, without secrets.
        again: whether the same request may succeed later.
        retry_after: seconds for which the server asks, if it does.
        cost: what it may have cost: nothing when it was turned away, its input when it broke off on the way.
        unreadable: the server did answer, in a form that the client cannot read; a repair turn may help.
    """

    said: str
    again: bool = False
    retry_after: float | None = None
    cost: Literal["nothing", "input"] = "nothing"
    unreadable: bool = False


def classify(error: Exception, *, model: str, key_name: str, secrets: Iterable[str]) -> Failure:
    """What an exception of a chat model means, by its status, else by the names of its classes.

    Args:
        error: what the model raised.
        model: how the model is called in messages.
        key_name: the environment variable of its key.
        secrets: texts that must never be shown.
    """
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, Mapping) else None
    detail = without_secrets(message if isinstance(message, str) else str(error), secrets)
    status = _status(error)
    if status is not None:
        return _by_status(status, error, model, key_name, detail)
    names = " ".join(_lineage(error))
    for pattern, words, charged in _BY_NAME:
        if pattern.search(names):
            return Failure(said=words.format(model), again=True, cost="input" if charged else "nothing")
    if isinstance(error, (ValueError, TypeError, LookupError, AttributeError)):
        what = f"the model {model} sent an answer without a readable reply ({type(error).__name__})"
        return Failure(said=what, cost="input", unreadable=True)
    return Failure(said=f"the model {model} failed with {type(error).__name__}: {detail}", cost="input")


def _by_status(status: int, error: Exception, model: str, key_name: str, detail: str) -> Failure:
    wait = _retry_after(error)
    if status == 429 and (_QUOTA.search(detail) or getattr(error, "code", None) == "insufficient_quota"):
        return Failure(said=f"the quota of the key in {key_name} is used up (429)")
    if status == 429:
        asked = f"; it asks to wait {wait:g} seconds" if wait else ""
        return Failure(said=f"the model {model} is over its rate limit (429){asked}", again=True, retry_after=wait)
    if status in _AGAIN or status >= 500:
        return Failure(said=f"the server of the model {model} failed ({status})", again=True, retry_after=wait)
    # The server's own words about a wrong key often hold the key or parts of it.
    hint = "; the text is too long for it" if _LONG.search(detail) else ""
    if not hint and _METHOD.search(detail):
        hint = "; another method may work: json_schema, function_calling or json_mode"
    words = {
        401: f"the model {model} refused the key (401); check the key in {key_name}",
        403: f"the key in {key_name} may not use the model {model} (403): {detail}",
        404: f"there is no model {model} at this address (404); check its name and base_url: {detail}",
    }
    return Failure(said=words.get(status, f"the model {model} refused the request ({status}){hint}: {detail}"))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text on one line, at most 300 characters, with keys and everything that looks like one taken out."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[key]")
    text = " ".join(_KEY_LIKE.sub("[key]", text).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    codes = (getattr(error, "status_code", None), getattr(response, "status_code", None), getattr(error, "code", None))
    return next((code for code in codes if type(code) is int and 400 <= code < 600), None)


def _lineage(error: BaseException | None) -> list[str]:
    """The names of the classes of an error and of the errors behind it."""
    names: list[str] = []
    for _ in range(6):
        if error is None:
            break
        names += [kind.__name__ for kind in type(error).__mro__]
        error = error.__cause__ or error.__context__
    return names


def _retry_after(error: Exception) -> float | None:
    """Seconds for which the response asks, from ``retry-after-ms`` or ``Retry-After`` as seconds or a date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / divisor
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, OverflowError, OSError):
                continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    return None
