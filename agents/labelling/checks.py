"""What of a model's labels may be kept: names that are names, texts that say what was said and nothing else."""

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
_LOST_WORDS, _LEAST_LOST = 0.4, 2  # a resolved text replaces at most so many of the words, but always so few
_KNOWN_WORDS = 0.75  # of the words that it adds, so many occur in the material
_LONGEST_SUMMARY, _LONGEST_GIST = 400, 800
_DATED = re.compile(r"(?<!\d)([12]\d{3})(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?![\d-])")
"""A year, or an ISO month or day: what a model works out from "yesterday" or "from January"."""
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
"""An hour by the clock, which a step may say in words: "half past two", 下午三点半."""
_QUARTERS = ("00", "15", "30", "45")
_HAN_NUMBER = re.compile(r"[二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]")


class Wording:
    """The words that a prompt showed, to compare what a model writes with; ``counts`` are its numbers without
    leading zeros, those in Han characters too.

    Args:
        texts: everything that the model could read.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: set[str] = set()
        self.numbers: set[str] = set()
        self.counts: set[str] = set()
        self.scripts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in another text."""
        self.words.update(_words(text))
        self.numbers.update(_NUMBER.findall(text))
        numbers = [*_NUMBER.findall(text), *(str(han_number(one)) for one in _HAN_NUMBER.findall(text))]
        self.counts.update(number.lstrip("0") or "0" for number in numbers)
        self.scripts |= scripts_of(text)


def scripts_of(text: str) -> set[str]:
    """The scripts of a text's letters, by the first word of their Unicode names (``LATIN``, ``CJK``, ``CYRILLIC``)."""
    letters = {character for character in text if character.isalpha()}
    return {unicodedata.name(one, "?").split(" ", 1)[0].split("-", 1)[0] for one in letters}


def one_line(text: str) -> str:
    """The beginning of a text on one line, without control characters: more of it than any line may have."""
    return " ".join(_CONTROL.sub(" ", text[:_LONGEST_LINE]).split())


def resolved_fits(text: str, resolved: str, known: Wording) -> bool:
    """Whether a resolved text may stand for the text: it keeps most of its words and adds only words said before.

    Args:
        known: what the model could read, the text included.
    """
    if not resolved.strip() or len(resolved) > 2 * len(text) + 300:
        return False
    if sorted(_REFERENCE.findall(resolved)) != sorted(_REFERENCE.findall(text)):
        return False
    before, after = Counter(_words(text)), Counter(_words(resolved))
    if sum((before - after).values()) > max(_LEAST_LOST, _LOST_WORDS * sum(before.values())):
        return False
    if any(number not in after for number in before if number[0].isdecimal()):
        return False  # a number is never what a reference stands for
    if any(number not in known.numbers for number in _NUMBER.findall(resolved)):
        return False
    added = list((after - before).elements())
    return sum(word in known.words for word in added) >= _KNOWN_WORDS * len(added)


def summary_fits(text: str, summary: str, known: Wording) -> bool:
    """Whether a line may stand as the summary of a text: in its script, not too long, with no number of its own."""
    if not any(character.isalnum() for character in summary) or len(summary) > _LONGEST_SUMMARY:
        return False
    if set(_REFERENCE.findall(summary)) - set(_REFERENCE.findall(text)):
        return False
    # What is in two scripts may be summed up in one of them.
    shared = scripts_of(summary) & (scripts_of(text) or known.scripts)
    return bool(shared) and _numbers_known(summary, known)


def gist_fits(gist: str, known: Wording) -> bool:
    """Whether a line may stand as the gist of a scope."""
    if not gist or len(gist) > _LONGEST_GIST or not scripts_of(gist) <= known.scripts:
        return False
    return _numbers_known(gist, known)


def _numbers_known(text: str, known: Wording) -> bool:
    """Whether a text holds no number that was not said, apart from dates within a year of one that was, and hours that
    are said by the other half of the day or in words."""
    hours = {int(count) % 12 for count in known.counts}

    def worked_out(match: re.Match[str]) -> str:
        near = any(str(int(match[1]) + by) in known.numbers for by in (-1, 0, 1))
        return " " if near else match[0]

    def by_the_clock(match: re.Match[str]) -> str:
        said = int(match[1]) % 12 in hours and (match[2] in _QUARTERS or str(int(match[2])) in known.counts)
        return " " if said else match[0]

    left = _CLOCK.sub(by_the_clock, _DATED.sub(worked_out, text))
    return all(number in known.numbers or number in known.counts for number in _NUMBER.findall(left))


def antecedents_of(step: LabeledStep, resolved: str, earlier: Iterable[LabeledStep]) -> tuple[str, ...]:
    """Ids of the earlier steps from which the words come that a resolved text adds, each word's latest one.

    Args:
        earlier: oldest first.
    """
    own = set(_words(step.step.text))
    added = {word for word in _words(resolved) if word not in own and (len(word) > 3 or not word.isascii())}
    found: list[str] = []
    for one in reversed(list(earlier)):
        said = added & set(_words(one.resolved_text))
        if said:
            added -= said
            found.append(one.step.id)
    return tuple(reversed(found[:5]))


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]
