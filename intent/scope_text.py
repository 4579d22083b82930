"""What scopes compare of texts beside vectors: explicit keys such as ``PROJ-41`` and ``day 2``, and words."""

from __future__ import annotations

import re

__all__ = ["explicit_keys", "first_key", "han_number", "words_of"]

_MOST_WORDS = 120
_TICKET = re.compile(r"(?<![\w-])(?!(?i:day)-)([A-Za-z][A-Za-z0-9]{1,9}-\d{1,6})(?![\w-])|(?<![\w&#])#(\d{1,6})\b")
_DAY = re.compile(r"\bday[ -]?(\d{1,3})\b|第([0-9一二两三四五六七八九十]{1,3})天", re.IGNORECASE)
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W_]+(?:['’._/-][^\W_]+)*")
_HAN_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2}


def explicit_keys(text: str) -> tuple[str, ...]:
    """The ticket ids and numbered days of a text, in one spelling: ``proj-41``, ``#1187``, ``day 2``."""
    return tuple(dict.fromkeys(key for key, _ in _keys(text)))


def first_key(text: str) -> str | None:
    """The first ticket id or numbered day as it is written."""
    return min(((written.start(), written[0]) for _, written in _keys(text)), default=(0, None))[1]


def _keys(text: str) -> list[tuple[str, re.Match[str]]]:
    tickets = [((match[1] or f"#{match[2]}").casefold(), match) for match in _TICKET.finditer(text[:4000])]
    days = [(f"day {han_number(match[1] or match[2])}", match) for match in _DAY.finditer(text[:4000])]
    return [*tickets, *days]


def han_number(digits: str) -> int:
    """The value of a number up to 99 in digits or Han characters."""
    if digits.isdecimal():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    return (_HAN_DIGITS.get(tens, 1) * 10 if ten else 0) + _HAN_DIGITS.get(ones, 0)


def words_of(text: str, most: int = _MOST_WORDS) -> frozenset[str]:
    """The words of a text in lower case, and the pairs of its Han characters."""
    words: set[str] = set()
    for run in _WORD.findall(text[:2000])[:most]:
        if "\u3400" <= run[0] <= "\u9fff":
            words.update([run[place : place + 2] for place in range(len(run) - 1)] or [run])
        else:
            words.add(run.casefold())
    return frozenset(words)
