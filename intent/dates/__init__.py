"""Dates in words, resolved to days in the user's calendar."""

from hexamem.intent.dates.relative import find_dates
from hexamem.intent.dates.spans import DateSpan

__all__ = ["DateSpan", "find_dates"]
