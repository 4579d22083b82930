"""The hour of a day as it is told: which half of the day "at 7" means, by the words beside it, or that nothing tells it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time

__all__ = ["Hour", "HourWords", "half_by_words", "nearest_hour", "read_hour"]

_EARLIEST = 6  # o'clock: an hour told without am or pm is not one of the night
_FIRST_OF_WORK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """A time of day that is told.

    Attributes:
        face: as the words have it: 7:00 of "at 7", 15:30 of "15:30".
        clock: the time of day; None where nothing tells which half of the day is meant.
        sure: whether words tell the half, and no kind of event or form of the hour only makes it likely.
        words: that tell it, "at 7".
    """

    face: time
    clock: time | None
    sure: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HourWords:
    """Words of a language beside an hour by which its half of the day is known.

    Attributes:
        early, late: that name the half: "in the morning", "tonight". night: of late hours alone, "at night".
        journeys: of what begins at any hour, by night too: a flight, getting up, a shift. parting: of who leaves or comes.
        evenings: of what is in the evening. feasts: in the evening or afternoon. noons: of what is about noon.
        work: of what is held from eight to six.
    """

    early: re.Pattern[str]
    late: re.Pattern[str]
    night: re.Pattern[str]
    journeys: re.Pattern[str]
    parting: re.Pattern[str]
    evenings: re.Pattern[str]
    feasts: re.Pattern[str]
    noons: re.Pattern[str]
    work: re.Pattern[str]


def half_by_words(hour: int, beside: str, around: str, words: HourWords) -> tuple[bool | None, bool]:
    """Whether a bare hour from 1 to 12 is one of the morning, None where nothing tells; and whether words name the half.

    Args:
        beside: the words right at the hour, which come first. around: those of its sentence.
    """
    for text in (beside, around):
        if words.night.search(text):
            return (False, True) if 5 <= hour <= 11 else (None, False)  # "Friday night at 1" is of which day?
        early, late = words.early.search(text) is not None, words.late.search(text) is not None
        if early != late:
            return early and hour != 12, True
    return _by_kind(hour, around, words), False


def _by_kind(hour: int, around: str, words: HourWords) -> bool | None:
    """Whether an hour is one of the morning, by what it is the hour of."""
    if hour == 12:
        return False
    if words.journeys.search(around):
        return None
    if words.evenings.search(around):
        return False
    if words.feasts.search(around):
        return False if hour < 10 else None
    if words.noons.search(around):
        return hour >= 9 if hour < 5 or hour >= 9 else None
    if words.work.search(around):
        return None if hour == _FIRST_OF_WORK - 1 else hour >= _FIRST_OF_WORK
    return False if hour < _EARLIEST and not words.parting.search(around) else None


def read_hour(hour: int, minute: int, morning: bool | None, *, sure: bool, words: str) -> Hour:
    """An hour of the clock face with the half of the day that is known.

    Raises:
        ValueError: there is no such time of day.
    """
    face = time(hour % 24, minute)
    clock = None if morning is None else time(hour % 12 + (0 if morning else 12), minute)
    return Hour(face=face, clock=clock, sure=sure, words=words)


def nearest_hour(face: time, before: time) -> time | None:
    """Of the two hours that a clock may show, the one nearer to the hour before; None where both are as near.

    What was at seven in the evening and is now "at 8" is at eight in the evening.
    """
    hours = [time(hour, face.minute) for hour in (face.hour % 12, face.hour % 12 + 12) if hour >= _EARLIEST]
    apart = [abs(_minutes(one) - _minutes(before)) for one in hours]
    if len(hours) == 2 and apart[0] == apart[1]:
        return None
    return hours[apart.index(min(apart))]


def _minutes(clock: time) -> int:
    return clock.hour * 60 + clock.minute
