"""Days of the year that have a name: those of one date, and Easter and what counts from it. No lunar calendar."""

from __future__ import annotations

from datetime import date, timedelta

from dateutil.easter import easter

from hexamem.intent.dates.spans import Anchor

__all__ = ["CHINESE_HOLIDAYS", "ENGLISH_HOLIDAYS", "holiday_near", "holiday_of"]

_FIXED = {
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
    "圣诞节": (12, 25),
    "平安夜": (12, 24),
    "元旦": (1, 1),
    "情人节": (2, 14),
    "愚人节": (4, 1),
    "儿童节": (6, 1),
    "教师节": (9, 10),
}
_FROM_EASTER = {"good friday": -2, "easter sunday": 0, "easter monday": 1, "ash wednesday": -46, "palm sunday": -7}
ENGLISH_HOLIDAYS = tuple(name for name in (*_FIXED, *_FROM_EASTER) if name.isascii())
CHINESE_HOLIDAYS = tuple(name for name in _FIXED if not name.isascii())


def holiday_of(name: str, year: int) -> date:
    """That day in a year; ``name`` is one of the two lists, with a straight apostrophe."""
    if name in _FROM_EASTER:
        return easter(year) + timedelta(days=_FROM_EASTER[name])
    return date(year, *_FIXED[name])


def holiday_near(name: str, anchor: Anchor, which: str = "") -> date:
    """The one that is meant: the last of a report, the next of a plan, else the nearest.

    Args:
        which: "last", "next" or "this" where it was said; "this" is that of the year.
    """
    today = anchor.today
    days = [holiday_of(name, today.year + step) for step in (-1, 0, 1)]
    if which == "this":
        return days[1]
    if which == "last":
        return max(day for day in days if day < today)
    if which == "next":
        return min(day for day in days if day > today)
    if anchor.prefer == "past":
        return max(day for day in days if day <= today)
    if anchor.prefer == "future":
        return min(day for day in days if day >= today)
    return min(days, key=lambda day: abs((day - today).days))
