"""Checks of the texts in a labelling reply: they may only contain words and numbers that the model has read."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from hexamem.intent.contract import LabeledStep
from hexamem.intent.scope_text import han_number

__all__ = ["Wording", "antecedents_of", "gist_fits", "one_line", "resolved_fits", "scripts_of", "summary_fits"]

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+(?:['’.,:][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST_LINE = 2_000
_REFERENCE = re.compile(r"\{\{vault:[^{}]*\}\}")
_LOST_SHARE, _LOST_WORDS = 0.4, 2  # a resolved text may replace this share of the words, or this number
_KNOWN_SHARE = 0.75  # the least share of known words among those that it adds
_LONGEST_SUMMARY, _LONGEST_GIST = 400, 800
_DATED = re.compile(r"(?<!\d)([12]\d{3})(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?![\d-])")
"""A year, or an ISO month or day, which a model derives from "yesterday" or "from January"."""
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
"""A clock time, which a step may contain in words: "half past two", 下午三点半."""
_QUARTERS = ("00", "15", "30", "45")
_HAN_NUMBER = re.compile(r"[二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]")


class Wording:
    """The words, numbers and scripts in the input of a model, with which its reply is compared.

    Args:
        texts: the input of the model.

    Attributes:
        counts: the numbers without leading zeros, including those in Han characters.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: set[str] = set()
        self.numbers: set[str] = set()
        self.counts: set[str] = set()
        self.scripts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add another text."""
        self.words.update(_words(text))
        self.numbers.update(_NUMBER.findall(text))
        numbers = [*_NUMBER.findall(text), *(str(han_number(number)) for number in _HAN_NUMBER.findall(text))]
        self.counts.update(number.lstrip("0") or "0" for number in numbers)
        self.scripts |= scripts_of(text)


def scripts_of(text: str) -> set[str]:
    """The scripts of a text's letters, by the first word of their Unicode names (``LATIN``, ``CJK``, ``CYRILLIC``)."""
    letters = {character for character in text if character.isalpha()}
    return {unicodedata.name(letter, "?").split(" ", 1)[0].split("-", 1)[0] for letter in letters}


def one_line(text: str) -> str:
    """The first 2,000 characters of a text on one line, without control characters."""
    return " ".join(_CONTROL.sub(" ", text[:_LONGEST_LINE]).split())


def resolved_fits(text: str, resolved: str, known: Wording) -> bool:
    """Whether a resolved text is acceptable: it retains most words of the text and adds mostly known ones.

    Args:
        known: the input of the model, including the text.
    """
    if not resolved.strip() or len(resolved) > 2 * len(text) + 300:
        return False
    if sorted(_REFERENCE.findall(resolved)) != sorted(_REFERENCE.findall(text)):
        return False
    before, after = Counter(_words(text)), Counter(_words(resolved))
    if sum((before - after).values()) > max(_LOST_WORDS, _LOST_SHARE * sum(before.values())):
        return False
    if any(number not in after for number in before if number[0].isdecimal()):
        return False  # a number is no reference to resolve
    if any(number not in known.numbers for number in _NUMBER.findall(resolved)):
        return False
    added = list((after - before).elements())
    return sum(word in known.words for word in added) >= _KNOWN_SHARE * len(added)


def summary_fits(text: str, summary: str, known: Wording) -> bool:
    """Whether a summary of a text is acceptable: in its script, not too long, without unknown numbers."""
    if not any(character.isalnum() for character in summary) or len(summary) > _LONGEST_SUMMARY:
        return False
    if set(_REFERENCE.findall(summary)) - set(_REFERENCE.findall(text)):
        return False
    # A text in two scripts may have a summary in one of them.
    shared = scripts_of(summary) & (scripts_of(text) or known.scripts)
    return bool(shared) and _numbers_known(summary, known)


def gist_fits(gist: str, known: Wording) -> bool:
    """Whether a gist is acceptable: in known scripts, not too long, without unknown numbers."""
    if not gist or len(gist) > _LONGEST_GIST or not scripts_of(gist) <= known.scripts:
        return False
    return _numbers_known(gist, known)


def _numbers_known(text: str, known: Wording) -> bool:
    """Whether all numbers of a text are known, or derived: dates within a year of a known one, and clock times in 12-hour
    form or in words."""
    hours = {int(count) % 12 for count in known.counts}

    def without_date(match: re.Match[str]) -> str:
        near = any(str(int(match[1]) + by) in known.numbers for by in (-1, 0, 1))
        return " " if near else match[0]

    def without_clock_time(match: re.Match[str]) -> str:
        derived = int(match[1]) % 12 in hours and (match[2] in _QUARTERS or str(int(match[2])) in known.counts)
        return " " if derived else match[0]

    rest = _CLOCK.sub(without_clock_time, _DATED.sub(without_date, text))
    return all(number in known.numbers or number in known.counts for number in _NUMBER.findall(rest))


def antecedents_of(step: LabeledStep, resolved: str, earlier: Iterable[LabeledStep]) -> tuple[str, ...]:
    """Ids of the latest earlier steps that contain the words which a resolved text adds; at most 5, in order.

    Args:
        earlier: the oldest first.
    """
    own = set(_words(step.step.text))
    added = {word for word in _words(resolved) if word not in own and (len(word) > 3 or not word.isascii())}
    antecedents: list[str] = []
    for candidate in reversed(list(earlier)):
        shared = added & set(_words(candidate.resolved_text))
        if shared:
            added -= shared
            antecedents.append(candidate.step.id)
    return tuple(reversed(antecedents[:5]))


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]
