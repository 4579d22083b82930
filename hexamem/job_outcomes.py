"""How a job's attempt ended: what its handler returns or raises, and errors in words that hold nothing of the user's."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from hexamem.errors import HexamemError
from hexamem.stores.redaction import Redactor

__all__ = ["JobError", "JobLostError", "JobOutcome", "in_words", "without_secrets"]


class JobError(HexamemError):
    """What a handler raises to say in words why it failed.

    The message is kept with the job and shown: it holds no words of the user, no secret, nothing of a prompt. Of any
    other exception only the name, its class's own description and the place are kept.
    """


class JobLostError(HexamemError, RuntimeError):
    """The job is no longer this handler's: its claim ended, its user was erased, or the memory was closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """What became of an attempt. Made by one of :meth:`done`, :meth:`retry`, :meth:`defer`, :meth:`park`.

    Attributes:
        reason: why, in words that hold nothing of the user's.
        wait: how long until the next look; None leaves it to the backoff.
    """

    status: Literal["done", "retry", "deferred", "parked"]
    reason: str = ""
    wait: timedelta | None = None

    @classmethod
    def done(cls) -> JobOutcome:
        """It is done; the job goes."""
        return cls(status="done")

    @classmethod
    def retry(cls, reason: str, wait: timedelta | None = None) -> JobOutcome:
        """It failed and may succeed later: tried again after a growing pause, parked after the last attempt."""
        return cls(status="retry", reason=reason, wait=wait)

    @classmethod
    def defer(cls, reason: str, wait: timedelta = timedelta(minutes=10)) -> JobOutcome:
        """It cannot run yet (no model is set, the budget is used up): it waits, and no attempt is counted."""
        return cls(status="deferred", reason=reason, wait=wait)

    @classmethod
    def park(cls, reason: str) -> JobOutcome:
        """It cannot succeed as it is: parked at once, until somebody retries or drops it."""
        return cls(status="parked", reason=reason)


def in_words(error: BaseException) -> str:
    """An error in words that come from the program: its own message may repeat what a user said."""
    if isinstance(error, JobError):
        return str(error)
    kind = type(error)
    said = (kind.__doc__ or "").strip().split("\n", 1)[0][:120]
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [line for _, line in traceback.walk_tb(error.__traceback__)]
    names = [str(frame.f_globals.get("__name__", "?")) for frame in frames]
    own = [number for number, name in enumerate(names) if name.split(".")[0] == "hexamem" and number] or [
        len(names) - 1
    ]
    place = f" (at {names[own[-1]]}, line {lines[own[-1]]})" if names else ""
    return f"{kind.__name__}{': ' + said if said else ''}{place}"


def without_secrets(text: str) -> str:
    """A text without the secrets that are detected in it."""
    redactor = Redactor(None)
    near: Any = redactor.look(text)
    return str(redactor.clean(text, near))
