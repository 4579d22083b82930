"""Whose birthday a text tells: everybody has one, so that another day for it puts the first right."""

from __future__ import annotations

from datetime import date

from .... import lazy_re as re
from .people import KIN_PATTERN, KIN_ZH_PATTERN
from .words import HAN, KIN, NAME, PARTNERS

__all__ = ["other_birthday", "whose_birthday"]

_BIRTHDAY = re.compile(
    rf"\b(?i:(?P<own>my)|my\s(?:\w+\s)?(?P<kin>{KIN_PATTERN})(?:\s(?-i:{NAME}))?['’]s|(?-i:(?P<name>{NAME}))['’]s)\s(?i:birthday(?:['’]s|\s(?:is|falls)))\b"
    rf"|(?P<zh>我的?|我的?(?:{KIN_ZH_PATTERN})的?|[小老阿][{HAN}]的?)生日(?:其实|应该|才|就|实际上)*[是在]"
)
_ONE_ONLY = PARTNERS | frozenset(["my", "mother", "mum", "mom", "mam", "father", "dad", "papa", "boss", "twin"])
_PUT_RIGHT = re.compile(r"\b(?:actually|sorry|wrong|mistake|correction|not?|in fact)\b|其实|应该", re.IGNORECASE)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-(\d\d-\d\d)(?!\d)")


def whose_birthday(text: str) -> str:
    """Whose birthday a text says to be on a day, folded: ``my``, ``sister``, ``petra``; empty where it says so of nobody."""
    match = _BIRTHDAY.search(text)
    if match is None:
        return ""
    return (match["own"] or match["kin"] or match["name"] or match["zh"].removesuffix("的")).casefold()


def other_birthday(told: str, day: date, said: str) -> bool:
    """Whether an event that was told is the birthday of the same person as what is said, on another day of the year.

    Args:
        told: the event, with its day as ISO day. day: that is said now. said: the words that say so.
    """
    known = _ISO_DAY.search(told)
    whose = whose_birthday(said) if known else ""
    if not known or not whose or whose != whose_birthday(told) or known[1] == f"{day:%m-%d}":
        return False
    # Of sisters and friends one may have several: only words that put it right tell that it is the same.
    return whose not in KIN or whose in _ONE_ONLY or _PUT_RIGHT.search(said) is not None
