"""What all rules of reference share: the steps a reference may point to, what was found, and how it is put in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ... import lazy_re as re
from ..phrases.analysis import Analysis, NounPhrase
from .cues import words

__all__ = ["COUNTS", "PLACES", "VAGUE", "Found", "Source", "cased", "display", "opening", "put"]


@dataclass(frozen=True, slots=True)
class Source:
    """An earlier step that a reference may point to; ``weight`` falls with its distance."""

    id: str
    speaker: str
    weight: float
    analysis: Analysis
    text: str
    kinds: Mapping[str, str]
    """Name in lower case → its kind, where another step told it."""
    near: bool = True
    """Whether it was said just now, rather than before much else was said in its thread."""
    lately: bool = True
    """Whether it was said within a day of the step that refers."""


@dataclass(frozen=True, slots=True)
class Found:
    """Characters ``start`` to ``end`` shall become ``text``, after the ``name`` found in the step ``source``."""

    start: int
    end: int
    source: str
    text: str
    name: str
    confidence: float


PLACES = frozenset({"lodging", "food", "shop", "sight", "place"})
COUNTS = words("two three four five six seven eight nine ten")


VAGUE = frozenset(["place", "spot", "location", "venue", "room", "area"])
"""Nouns that say too little to look for what they stand for by their words."""
_CONTRACTION = re.compile(r"['’](re|ve|ll)\b", re.IGNORECASE)
_FULL = {"re": "are", "ve": "have", "ll": "will"}


def display(phrase: NounPhrase, default: str = "") -> str:
    """The phrase with the article that it was, or is now, named with."""
    if phrase.determiner in ("the", "this", "that"):
        return f"the {phrase.text}"
    if phrase.name:
        # "a Weight Watchers meeting" is "the …" from then on; a plain name has no article.
        common = phrase.determiner in ("a", "an") and phrase.text[0].isupper() and phrase.text.split()[-1].islower()
        return f"the {phrase.text}" if common else phrase.text
    if phrase.determiner in COUNTS:
        return f"the {phrase.determiner} {phrase.text}"
    return f"{default or 'the '}{phrase.text}"


def cased(shown: str, text: str, start: int) -> str:
    """With a capital where it takes the place of a word that opens a sentence with one."""
    opens = start == 0 or text[:start].rstrip(" \"'“*")[-1:] in (".", "!", "?", "\n", "")
    return shown[:1].upper() + shown[1:] if opens and text[start : start + 1].isupper() else shown


def opening(found: Found | None, text: str) -> Found | None:
    """With a capital where it opens a sentence."""
    return found and Found(
        found.start, found.end, found.source, cased(found.text, text, found.start), found.name, found.confidence
    )


def put(
    best: tuple[NounPhrase, Source, float] | None, text: str, start: int, end: int, *, possessive: bool, speaker: str
) -> Found | None:
    """The replacement by the best candidate, as whoever speaks now would call it; nothing where that cannot be told."""
    if best is None:
        return None
    phrase, source, confidence = best
    if phrase.determiner == "our" and source.speaker.casefold() != speaker.casefold():
        return None  # "our" may include who speaks now
    if phrase.determiner in ("my", "our"):
        same = source.speaker.casefold() == speaker.casefold()
        shown = f"{phrase.determiner} {phrase.text}" if same else f"{source.speaker}'s {phrase.text}"
    elif phrase.determiner in ("your", "his", "her", "their", "its"):
        return None  # whose it is, is itself unknown
    elif phrase.kind == "person" and phrase.name and not phrase.determiner:
        shown = phrase.text
    else:
        shown = display(phrase)
    if possessive:
        shown += "'" if shown.endswith("s") else "'s"
    contracted = _CONTRACTION.match(text, end)
    if contracted and not possessive:  # "they're" → "the tests are"
        shown, end = f"{shown} {_FULL[contracted[1].lower()]}", contracted.end()
    return Found(start, end, source.id, cased(shown, text, start), phrase.text, confidence)
