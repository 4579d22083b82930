"""The question of a research, with the time that it names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, tzinfo

from hexamem.intent.dates import find_dates
from hexamem.memory_types.local_time import in_utc

__all__ = ["ROLES", "Question", "read_question"]

_LONGEST = 2_000  # characters
ROLES = ("user", "assistant", "system", "tool")
"""The speakers of steps without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question in the forms in which it is searched.

    Attributes:
        text: the question; of a long one the beginning.
        undated: the same without dates in digits, since the text of a step seldom contains its own date.
        since: the beginning of the time that it names.
        until: the end of that time.
    """

    text: str
    undated: str
    since: datetime | None = None
    until: datetime | None = None


def read_question(text: str, now: datetime, zone: tzinfo) -> Question:
    """Find the time that a question names.

    Args:
        now: when it is asked, with a timezone.
        zone: the user's timezone.
    """
    text = " ".join(text[:_LONGEST].split())
    dates = find_dates(text, now, zone, prefer="past")
    undated = text
    for date in reversed(dates):
        if any(map(str.isdigit, date.text)):
            undated = f"{undated[: date.start]} {undated[date.end :]}"
    since = until = None
    if dates:
        since = in_utc(datetime.combine(min(date.day for date in dates), time.min, tzinfo=zone))
        until = in_utc(datetime.combine(max(date.last_day for date in dates), time.max, tzinfo=zone))
    return Question(
        text=text,
        undated=" ".join(undated.split()) if any(map(str.isalnum, undated)) else text,
        since=since,
        until=until,
    )
