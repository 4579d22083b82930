"""Checks of the texts in a labelling reply: they may only contain words and numbers that the model has read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set

from hexamem.intent.contract import LabeledStep

__all__ = ["Wording", "antecedents_of", "gist_fits", "one_line", "replaced", "scripts_of"]

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+(?:['’.,:][^\W_]+)*")
_NUMBER = re.compile(r"\d{1,18}")
_REFERENCE = re.compile(r"\{\{vault:[^{}]*\}\}")
_SPACED = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that separates words by spaces."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST_LINE = 2_000
_KNOWN_WORDS = 0.6  # of the words of a meaning, so many occur in what the model was shown
_LONGEST_MEANING = 120  # characters by which it may be longer than the words that it replaces
_LONGEST_GIST = 800
_DATED = re.compile(r"(?<!\d)([12]\d{3})(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?![\d-])")
"""A year, or an ISO month or day, which a model derives from "yesterday" or "from January"."""


class Wording:
    """The words, numbers and scripts in the input of a model, with which its reply is compared.

    Args:
        texts: the input of the model.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: set[str] = set()
        self.numbers: set[int] = set()
        self.scripts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add another text."""
        self.words.update(_words(text))
        self.numbers.update(map(int, _NUMBER.findall(text)))
        self.scripts |= scripts_of(text)


def scripts_of(text: str) -> set[str]:
    """The scripts of a text's letters, by the first word of their Unicode names (``LATIN``, ``CJK``, ``CYRILLIC``)."""
    letters = {character for character in text if character.isalpha()}
    return {unicodedata.name(letter, "?").split(" ", 1)[0].split("-", 1)[0] for letter in letters}


def one_line(text: str) -> str:
    """The first 2,000 characters of a text on one line, without control characters."""
    return " ".join(_CONTROL.sub(" ", text[:_LONGEST_LINE]).split())


def replaced(text: str, replacements: Iterable[tuple[str, str]], known: Wording) -> tuple[str, int]:
    """A text with words that refer to something replaced by what they refer to, and how many replacements were refused.

    A replacement is refused by itself, without the others: where its words do not occur in the text outside references
    to secrets, or its meaning has a number or mostly words that the model was not shown.

    Args:
        replacements: pairs of words of the text and their meaning.
        known: what the model could read, the text included.
    """
    refused, spans = 0, list[tuple[int, int, str]]()
    taken = [match.span() for match in _REFERENCE.finditer(text)]
    for words, meaning in replacements:
        free = (
            match.span()
            for match in _occurrences(words, text)
            if all(match.end() <= begin or end <= match.start() for begin, end in taken)
        )
        span = next(free, None) if _meaning_fits(words, meaning, known) else None
        if span is None:
            refused += 1
        else:
            taken.append(span)
            spans.append((*span, meaning))
    for begin, end, meaning in sorted(spans, reverse=True):
        text = text[:begin] + meaning + text[end:]
    return text, refused


def _occurrences(words: str, text: str) -> Iterable[re.Match[str]]:
    """Where whole words occur in a text, case aside."""
    if not words:
        return ()
    begin = f"(?<!{_SPACED})" if re.match(_SPACED, words[0]) else ""
    end = f"(?!{_SPACED})" if re.match(_SPACED, words[-1]) else ""
    return re.finditer(begin + re.escape(words) + end, text, re.IGNORECASE)


def _meaning_fits(words: str, meaning: str, known: Wording) -> bool:
    if not meaning.strip() or "{{" in meaning or len(meaning) > len(words) + _LONGEST_MEANING:
        return False
    if not scripts_of(meaning) <= known.scripts or not _numbers_known(meaning, known):
        return False
    added = [word for word in _words(meaning) if not word[0].isdecimal()]
    return sum(word in known.words for word in added) >= _KNOWN_WORDS * len(added)


def gist_fits(gist: str, scripts: Set[str]) -> bool:
    """Whether a gist is acceptable: in scripts that the model was shown, and not too long."""
    return bool(gist) and len(gist) <= _LONGEST_GIST and scripts_of(gist) <= scripts


def _numbers_known(text: str, known: Wording) -> bool:
    """Whether all numbers of a text are known, or of a date within a year of a known one."""

    def without_date(match: re.Match[str]) -> str:
        near = any(int(match[1]) + by in known.numbers for by in (-1, 0, 1))
        return " " if near else match[0]

    return all(int(number) in known.numbers for number in _NUMBER.findall(_DATED.sub(without_date, text)))


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
