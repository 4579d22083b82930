"""Dates that are less exact than a day: ``2024-W37``, ``2024-09``, ``2024-summer``, ``2024``.

An item's time is the first day; ``metadata["precision"]`` says how exact it is, so that no reader takes it for a day.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Literal, NamedTuple, TypeAlias, get_args

__all__ = ["PRECISION", "CoarseDate", "Precision", "precision_of", "read_coarse_date", "shown_date"]

Precision: TypeAlias = Literal["week", "month", "season", "year"]
PRECISION = "precision"
"""The key in an item's metadata."""
_FORM = re.compile(r"([12]\d{3})(?:-(?:w(\d{1,2})|(spring|summer|autumn|fall|winter)|(\d{1,2})))?", re.IGNORECASE)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NAMES = {month: name for name, month in _SEASONS.items() if name != "fall"}


class CoarseDate(NamedTuple):
    """The first day of a period, and its length."""

    day: date
    precision: Precision


def read_coarse_date(text: str) -> CoarseDate | None:
    """The period that a text is, of the northern hemisphere where it is a season; None for anything else."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        return None
    year, week, season, month = int(match[1]), match[2], match[3], match[4]
    try:
        if week is not None:
            return CoarseDate(date.fromisocalendar(year, int(week), 1), "week")
        if season is not None:
            return CoarseDate(date(year, _SEASONS[season.lower()], 1), "season")
        if month is not None:
            return CoarseDate(date(year, int(month), 1), "month")
    except ValueError:  # there is no such week or month
        return None
    return CoarseDate(date(year, 1, 1), "year")


def precision_of(value: object) -> Precision | None:
    """The precision in an item's metadata; None for a day, and for what a user wrote there instead."""
    return value if value in get_args(Precision) else None  # type: ignore[return-value]


def shown_date(moment: date | datetime, precision: Precision | None) -> str:
    """A day or period for readers: ``2024-09-09``, ``week of 2024-09-09``, ``2024-09``, ``summer 2024``, ``2024``."""
    if precision is None:
        return f"{moment:%Y-%m-%d}"
    if precision == "week":
        return f"week of {moment:%Y-%m-%d}"
    if precision == "month":
        return f"{moment:%Y-%m}"
    if precision == "season":
        return f"{_NAMES.get(moment.month, f'{moment:%B}')} {moment:%Y}"
    return f"{moment:%Y}"
