"""Which words of a label's name come from steps: if those steps are forgotten, the label gets a neutral name."""

from __future__ import annotations

from functools import cache

from hexamem.intent.label_types import label_types
from hexamem.intent.scope_text import explicit_keys, words_of
from hexamem.memory_types.labels import LabelKind

__all__ = ["LabelWording"]


class LabelWording:
    """Implements ``Wording`` of ``stores/ledger/wording.py``."""

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text, in a form in which they can be compared."""
        found: set[str] = set()
        for start in range(0, len(text), 2_000):
            found |= words_of(text[start : start + 2_000], most=2_000)
        return frozenset(found)

    def of_name(self, kind: LabelKind, name: str) -> frozenset[str]:
        """The words of a label's name that come from steps: none of a type that ships, none of "Day 2"."""
        if explicit_keys(name) == (name.casefold(),) and name.casefold().startswith("day "):
            return frozenset()
        words = self.telling(name)
        return words if kind == "scope" else words - _type_words()


@cache
def _type_words() -> frozenset[str]:
    names = [*label_types("event"), *label_types("entity")]
    return frozenset(word for name in names for word in words_of(name))
