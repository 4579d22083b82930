"""Checks of the texts in a labelling reply: replaced words may only be replaced by words that the model was shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from hexamem.intent.contract import LabeledStep

__all__ = ["antecedents_of", "fits", "one_line", "replaced", "words_of"]

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+(?:['’.,:][^\W_]+)*")
_REFERENCE = re.compile(r"\{\{vault:[^{}]*\}\}")
_SPACED = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that separates words by spaces."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST_LINE = 2_000
_KNOWN_WORDS = 0.6  # of the words of a meaning, so many occur in what the model was shown
_LONGEST_MEANING = 120  # characters by which it may be longer than the words that it replaces


def one_line(text: str) -> str:
    """The first 2,000 characters of a text on one line, without control characters."""
    return " ".join(_CONTROL.sub(" ", text[:_LONGEST_LINE]).split())


def replaced(text: str, replacements: Iterable[tuple[str, str]], known: Set[str]) -> tuple[str, int]:
    """A text with words that refer to something replaced by what they refer to, and how many replacements were refused.

    A replacement is refused by itself, without the others: where its words do not occur in the text outside references
    to secrets, or its meaning has a number, or mostly words, that the model was not shown.

    Args:
        replacements: pairs of words of the text and their meaning.
        known: the words that the model was shown, those of the text included.
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


def _meaning_fits(words: str, meaning: str, known: Set[str]) -> bool:
    if not meaning.strip() or "{{" in meaning or len(meaning) > len(words) + _LONGEST_MEANING:
        return False
    added = words_of(meaning)
    shown = [word for word in added if word in known]
    if any(word[0].isdecimal() and word not in known for word in added):
        return False
    return len(shown) >= _KNOWN_WORDS * len(added)


def fits(text: str, longest: int) -> bool:
    """Whether a text of a reply can be stored: neither empty nor longer than so many characters."""
    return 0 < len(text) <= longest


def antecedents_of(step: LabeledStep, resolved: str, earlier: Iterable[LabeledStep]) -> tuple[str, ...]:
    """Ids of the latest earlier steps that contain the words which a resolved text adds; at most 5, in order.

    Args:
        earlier: the oldest first.
    """
    own = set(words_of(step.step.text))
    added = {word for word in words_of(resolved) if word not in own and (len(word) > 3 or not word.isascii())}
    antecedents: list[str] = []
    for candidate in reversed(list(earlier)):
        shared = added & set(words_of(candidate.resolved_text))
        if shared:
            added -= shared
            antecedents.append(candidate.step.id)
    return tuple(reversed(antecedents[:5]))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; each character of Chinese and Japanese text is one."""
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]
