"""Duplicates: whether two items state the same fact.

A fact stored twice does little harm; two facts taken for one lose one of them. So in doubt both items stay.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from hexamem.intent.contract import Embed, Vectors
from hexamem.memory_types import (
    CoreItem,
    EpisodicItem,
    MemoryItem,
    ProceduralItem,
    ResourceItem,
    SemanticItem,
    Source,
    VaultItem,
)

__all__ = ["SAME_FACT", "FactComparer", "fold", "join_sources", "statement_of"]

SAME_FACT = 0.99
"""The cosine from which two texts with the same numbers and names state the same fact.

Of 25 pairs that differ in one decisive word ("not", "before" and "after", "buy" and "sell") the highest was 0.984 with
the bundled encoder; the best of 15 paraphrases had 0.986. A lower threshold merges contradictions.
"""

_MARKS = ".,;:!?…。，；：！？、\"'“”‘’()（）*•"


def fold(text: str) -> str:
    """A text without letter case, width, spacing, and punctuation at the ends of words."""
    words = (word.strip(_MARKS) for word in unicodedata.normalize("NFKC", text).casefold().split())
    return " ".join(word for word in words if word)


def join_sources(first: Sequence[Source], second: Iterable[Source]) -> tuple[Source, ...]:
    """All sources of both, without quotes that lie within another quote of the same step."""
    joined = list(first)
    for source in second:
        if not any(_covers(other, source) for other in joined):
            joined.append(source)
    return tuple(joined)


def _covers(outer: Source, inner: Source) -> bool:
    if outer.step_id != inner.step_id:
        return False
    if outer.start is None or outer.end is None or inner.start is None or inner.end is None:
        return outer.quote == inner.quote
    return outer.start <= inner.start and inner.end <= outer.end


def statement_of(item: MemoryItem) -> str:
    """The part of an item's text that states the fact, without the label or name that it belongs to."""
    match item:
        case CoreItem():
            return item.value
        case SemanticItem() | EpisodicItem():
            return item.summary
        case ProceduralItem():
            return "\n".join((item.summary, *item.steps))
        case VaultItem():
            return item.caption
        case _:
            return item.text


class FactComparer:
    """Compares items and texts; texts are embedded only where their words do not decide, each of them once.

    Args:
        embed: n texts → ``(n, d)`` unit rows.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Vectors] = {}
        self._exact: dict[str, tuple[str, ...]] = {}

    def same_text(self, known: str, new: str) -> bool:
        """Whether two texts state the same: equal words, or the same numbers and names and a cosine of at least
        ``SAME_FACT``.
        """
        if fold(known) == fold(new):
            return True
        for text in (known, new):
            if text not in self._exact:
                self._exact[text] = _exact_words(text)
        if self._exact[known] != self._exact[new]:
            return False
        missing = [text for text in (known, new) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embed(missing), strict=True))
        return float(self._vectors[known] @ self._vectors[new]) >= SAME_FACT

    def same_item(self, known: MemoryItem, new: MemoryItem, zone: tzinfo) -> bool:
        """Whether two items of one kind state the same fact about the same thing, and of the same time.

        The thing is the label of a core item, the name of a semantic item, the day of an event in the user's zone, the
        content of a resource, and the secret of a vault item.
        """
        if known.kind != new.kind or _subject(known, zone) != _subject(new, zone):
            return False
        if new.valid_from and known.valid_to and new.valid_from >= known.valid_to:
            return False
        if isinstance(new, ResourceItem) or (isinstance(new, VaultItem) and new.secret_id):
            return True
        return self.same_text(statement_of(known), statement_of(new))

    def find(self, known: Iterable[MemoryItem], new: MemoryItem, zone: tzinfo) -> MemoryItem | None:
        """The first active item that states the same as the new one."""
        others = (item for item in known if item.id != new.id and item.status == "active")
        return next((item for item in others if self.same_item(item, new, zone)), None)


def _subject(item: MemoryItem, zone: tzinfo) -> object:
    match item:
        case CoreItem():
            return fold(item.label)
        case SemanticItem():
            return fold(item.name)
        case EpisodicItem():
            return item.occurred_at.astimezone(zone).date()
        case ResourceItem():
            return item.content.split() or [fold(item.title)]
        case VaultItem():
            return item.secret_id or fold(item.entry_type)
        case ProceduralItem():
            return len(item.steps)
        case _:
            return None


def _exact_words(text: str) -> tuple[str, ...]:
    """The words for which no other may stand, in order: those with a digit, with a capital (names), and those of a script
    without capitals, in which names cannot be distinguished by their form.
    """
    words = (word.strip(_MARKS) for word in unicodedata.normalize("NFKC", text).split())
    return tuple(word.casefold() for word in words if any(_is_exact(character) for character in word))


def _is_exact(character: str) -> bool:
    return character.isdigit() or (
        character.isalpha() and (character.isupper() or character.lower() == character.upper())
    )
