"""The summary of an event: the words that were said, with days in place of "next Friday"."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

from ....intent.dates.month_parts import part_of_month
from ....intent.dates.relative import find_dates
from ....intent.dates.spans import DateSpan, Prefer
from .tense import done_on

__all__ = ["in_days"]


def in_days(summary: str, text: str, when: DateSpan, at: int, said_at: datetime, zone: tzinfo, prefer: Prefer) -> str:
    """A summary with the days that its words for dates mean.

    Args:
        summary: begins with ``text``, the words that were said.
        when: the day of the event; ``at`` is where its words stand in ``text``.
        said_at, zone, prefer: by which other dates are resolved.
    """
    iso = when.iso.split(" ")[0] if when.last_day == when.day else when.shown
    if 0 <= at <= len(text) and text[at : at + len(when.text)] == when.text:
        before = text[:at]
        if when.precision == "day" and when.text.isascii():
            before = re.sub(r"\b[Aa]t\s$", "", before)  # "at Christmas" is on a day
        rest = summary[at + len(when.text) :]
        summary = before + _shown(when, iso, before) + (" " if rest[:1].isdecimal() else "") + rest
    others = find_dates(summary, said_at, zone, prefer=prefer)
    if (done := done_on(summary)) is not None:
        past = {one.start: one for one in find_dates(summary, said_at, zone, prefer="past") if one.start in done}
        others = tuple(past.get(one.start, one) for one in others)
    for other in reversed(others):
        if (
            other.precision == "day"
            and other.iso.split(" ")[0] not in (iso, other.text)
            and not other.text[:4].isdigit()
        ):
            summary = summary[: other.start] + other.iso.split(" ")[0] + summary[other.end :]
    return summary


def _shown(when: DateSpan, iso: str, before: str) -> str:
    """The day as it stands in place of its words, with the preposition that fits what is before it."""
    english = when.text.isascii()
    if when.precision == "month":
        part = part_of_month(when.text)
        if part and not english:
            return f"{iso}{part}"
        if english or re.match(r"(?:in|by|on|since|from|until)\s", when.text, re.IGNORECASE):
            return f"in {part}{iso}"
        return iso
    if not english:
        return iso
    if when.precision == "week":
        return f"in the week of {when.day.isoformat()}"
    led = re.search(
        r"\b(?:on|by|until|till|from|to|for|of|before|after|since|between|and|the|in|my|our|your|their|its)\s$",
        before,
        re.IGNORECASE,
    )
    return iso if led or when.precision != "day" else f"on {iso}"
