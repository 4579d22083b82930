"""Which failures of a model request are worth another try, when, and how the others are told."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import tenacity

from hexamem.errors import ConfigError

__all__ = ["Failure", "RetryPolicy", "classify", "without_secrets"]

_TIMEOUTS = re.compile(r"Timeout|TimedOut|DeadlineExceeded")
_CUTS = re.compile(
    r"RemoteProtocolError|ReadError|WriteError|IncompleteRead|ChunkedEncodingError|ConnectionReset|BrokenPipe"
)
_UNREACHED = re.compile(r"ConnectError|ConnectionError|ConnectionRefused|NetworkError|ServiceUnavailable|gaierror")
_AGAIN = {408, 409, 425, 429}
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing")
_LONG = re.compile(
    r"context_length_exceeded|context length|context window|prompt is too long|maximum context|too many tokens", re.I
)
_METHOD = re.compile(r"response_format|json_schema|tool_choice|Invalid schema|tools? (?:is|are) not supported", re.I)
_KEY_LIKE = re.compile(
    r"(?:\b(?:sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9*_\-]{6,}|\bAIza[\w-]{10,}|(?i:bearer|basic)\s+[\w.~+/*=-]{6,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@))"
)
_LONGEST = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    """How often and how long a request is tried again. It is the only policy: the client's own retries are off.

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

    tries: int = 4
    total_seconds: float = 90.0
    first_wait: float = 1.0
    longest_wait: float = 20.0
    longest_retry_after: float = 60.0

    def __post_init__(self) -> None:
        if isinstance(self.tries, bool) or not isinstance(self.tries, int) or self.tries < 1:
            raise ConfigError(f"RetryPolicy.tries = {self.tries!r}: give a whole number of at least 1")
        for name in ("total_seconds", "first_wait", "longest_wait", "longest_retry_after"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigError(f"RetryPolicy.{name} = {value!r}: give seconds of at least 0")

    def retrying(self, seconds_left: float | None = None) -> tenacity.Retrying:
        """tenacity's form of it, for outcomes that are a `Failure` or something else.

        Args:
            seconds_left: what a budget still allows, if that is less.
        """
        total = self.total_seconds if seconds_left is None else min(self.total_seconds, seconds_left)
        return tenacity.Retrying(
            retry=tenacity.retry_if_result(self._worth_it),
            wait=self._wait,
            stop=tenacity.stop_after_attempt(self.tries) | tenacity.stop_before_delay(max(total, 0.001)),
            retry_error_callback=_last_outcome,
        )

    def _worth_it(self, outcome: object) -> bool:
        return (
            isinstance(outcome, Failure) and outcome.again and (outcome.retry_after or 0.0) <= self.longest_retry_after
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        outcome = state.outcome.result() if state.outcome is not None else None
        if isinstance(outcome, Failure) and outcome.retry_after is not None:
            return outcome.retry_after
        return tenacity.wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)(state)


def _last_outcome(state: tenacity.RetryCallState) -> object:
    return state.outcome.result() if state.outcome is not None else None


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
    """What an exception of a chat model means. Works by status and name, so it serves every provider's client.

    Args:
        error: what the model raised.
        model: how the model is called in messages.
        key_name: the environment variable of its key.
        secrets: texts that must never be shown.
    """
    status = _status(error)
    detail = without_secrets(_message(error), secrets)
    if status is not None:
        return _by_status(status, error, model, key_name, detail)
    names = " ".join(one.__name__ for one in _lineage(error))
    seconds = "within its time limit"
    if _TIMEOUTS.search(names):
        return Failure(said=f"the model {model} did not answer {seconds}", again=True, cost="input")
    if _CUTS.search(names):
        return Failure(said=f"the connection to the model {model} broke off", again=True, cost="input")
    if _UNREACHED.search(names):
        return Failure(said=f"the model {model} could not be reached; check its address and the network", again=True)
    if isinstance(error, (ValueError, TypeError, LookupError, AttributeError)):
        what = f"the model {model} sent an answer without a readable reply ({type(error).__name__})"
        return Failure(said=what, cost="input", unreadable=True)
    return Failure(said=f"the model {model} failed with {type(error).__name__}: {detail}", cost="input")


def _by_status(status: int, error: Exception, model: str, key_name: str, detail: str) -> Failure:
    wait = _retry_after(error)
    if status == 401:
        # The server's own words often hold the key or parts of it.
        return Failure(said=f"the model {model} refused the key (401); check the key in {key_name}")
    if status == 403:
        return Failure(said=f"the key in {key_name} may not use the model {model} (403): {detail}")
    if status == 404:
        return Failure(said=f"there is no model {model} at this address (404); check its name and base_url: {detail}")
    if status == 429:
        if _QUOTA.search(detail) or getattr(error, "code", None) == "insufficient_quota":
            return Failure(said=f"the quota of the key in {key_name} is used up (429)")
        asked = f"; it asks to wait {wait:g} seconds" if wait else ""
        return Failure(said=f"the model {model} is over its rate limit (429){asked}", again=True, retry_after=wait)
    if status in _AGAIN or status >= 500:
        return Failure(said=f"the server of the model {model} failed ({status})", again=True, retry_after=wait)
    hint = ""
    if _LONG.search(detail):
        hint = "; the text is too long for it"
    elif _METHOD.search(detail):
        hint = "; another method may work: json_schema, function_calling or json_mode"
    return Failure(said=f"the model {model} refused the request ({status}){hint}: {detail}")


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text on one line, at most 300 characters, with keys and everything that looks like one taken out."""
    for one in sorted(secrets, key=len, reverse=True):
        if one:
            text = text.replace(one, "[key]")
    text = " ".join(_KEY_LIKE.sub("[key]", text).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _message(error: Exception) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping) and isinstance(body.get("message"), str):
        return str(body["message"])
    return str(error)


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    for value in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _lineage(error: Exception) -> list[type]:
    """The types of an error and of the errors behind it."""
    types: list[type] = []
    current: BaseException | None = error
    for _ in range(6):
        if current is None:
            break
        types += type(current).__mro__
        current = current.__cause__ or current.__context__
    return types


def _retry_after(error: Exception) -> float | None:
    """Seconds for which the response asks, from ``retry-after-ms`` or ``Retry-After`` as seconds or a date."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / divisor
        except ValueError:
            parsed = email.utils.parsedate_tz(value)
            if parsed is None:
                continue
            try:
                seconds = email.utils.mktime_tz(parsed) - time.time()
            except (ValueError, OverflowError, OSError):
                continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    return None
