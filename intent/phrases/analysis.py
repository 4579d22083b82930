"""Noun phrases, list items, times and questions of one step, by rules: what later references may point back to.

Linear in the length of the text, which is capped.
"""

from __future__ import annotations

from functools import cached_property

from .chinese import chinese_phrases
from .english import MAX_PHRASES, english_phrases
from .mentions import HAS_CJK, ListItem, NounPhrase, TimeMention, find_items, find_times, mask

__all__ = ["Analysis", "ListItem", "NounPhrase", "TimeMention", "analyse", "mask"]


class Analysis:
    """What one step offers to later references, each worked out when first asked for, in order of the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The analysed part of the step's text, secrets masked."""

    @cached_property
    def phrases(self) -> tuple[NounPhrase, ...]:
        """Its noun phrases."""
        phrases = english_phrases(self.text)
        if HAS_CJK.search(self.text):
            phrases = sorted([*phrases, *chinese_phrases(self.text)], key=lambda phrase: phrase.start)
        return tuple(_with_list_kinds(phrases[:MAX_PHRASES], self.items))

    @cached_property
    def named_kinds(self) -> dict[str, str]:
        """Its names in lower case → their kinds, where they are known."""
        return {phrase.text.casefold(): phrase.kind for phrase in self.phrases if phrase.name and phrase.kind}

    @cached_property
    def items(self) -> tuple[ListItem, ...]:
        """The items of its list; empty where it has none of two or more."""
        return find_items(self.text)

    @cached_property
    def times(self) -> tuple[TimeMention, ...]:
        """The days and times of day in it."""
        return find_times(self.text)

    @cached_property
    def question(self) -> str:
        """Its last question, or nothing."""
        end = max(self.text.rfind("?"), self.text.rfind("？"))
        if end < 0:
            return ""
        start = max(self.text.rfind(mark, 0, end) for mark in ".!?。！？\n")
        asked = self.text[start + 1 : end + 1].strip()
        return asked if 2 < len(asked) <= 240 else ""

    def about(self, phrase: NounPhrase) -> str:
        """What is said of a name: the text from it up to the next name of its rank, at most to the end of its line."""
        later = (
            other.start
            for other in self.phrases
            if other.name and other.role != "oblique" and other.start > phrase.start
        )
        end = min(next(later, len(self.text)), phrase.start + 240)
        line = self.text.find("\n", phrase.start, end)
        return self.text[phrase.start : line if line >= 0 else end]


def analyse(text: str, limit: int = 4000) -> Analysis:
    """What the first ``limit`` characters of a text offer to later references. Any text goes; none raises."""
    return Analysis(mask(text[:limit]))


def _with_list_kinds(phrases: list[NounPhrase], items: tuple[ListItem, ...]) -> list[NounPhrase]:
    """What stands in one list is of one kind: where one item's name tells it, the others are that too."""
    if not items:
        return phrases
    names = [item.text.casefold().removeprefix("the ") for item in items]
    told = {phrase.kind for phrase in phrases if phrase.name and phrase.kind and phrase.text.casefold() in names}
    told = told - {"place"} or told  # "Blackfriars House" may be any of the more exact kinds
    if len(told) != 1:
        return phrases
    kind = told.pop()
    return [
        phrase._replace(kind=kind)
        if phrase.name and phrase.kind in ("", "place") and phrase.text.casefold() in names
        else phrase
        for phrase in phrases
    ]
