"""Which words of a label's name come from steps, and what the label is called when those steps are forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from hexamem.intent.label_types import label_types
from hexamem.intent.scope_text import explicit_keys, words_of
from hexamem.memory_types.labels import LabelKind

__all__ = ["LabelWording"]

_NEUTRAL: dict[LabelKind, str] = {"scope": "Scope", "event": "Event", "entity": "Entity"}
_COUNTED = re.compile(r" \(\d+\)$")


class LabelWording:
    """Implements ``Wording`` of ``stores/ledger/wording.py``."""

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text, in a form in which they can be compared."""
        found: set[str] = set()
        for start in range(0, len(text), 2_000):
            found |= words_of(text[start : start + 2_000], most=2_000)
        return frozenset(found)

    def of_name(self, kind: LabelKind, name: str) -> frozenset[str]:
        """The words of a label's name that come from steps: none of a neutral name, of a type that ships, of "Day 2"."""
        bare = _COUNTED.sub("", name)
        if bare == _NEUTRAL[kind] or (explicit_keys(bare) == (bare.casefold(),) and bare.casefold().startswith("day ")):
            return frozenset()
        words = self.telling(bare)
        return words if kind == "scope" else words - _type_words()

    def stand_in(self, kind: LabelKind, name: str, texts: Iterable[str], wider: str | None = None) -> str:
        """Another name for a label.

        Args:
            name: the one that it may not have any more.
            texts: of the steps that carry it; not used, so that a neutral name repeats none of them.
            wider: the name of the type above an event or entity type.
        """
        return wider if wider and kind != "scope" else _NEUTRAL[kind]


@cache
def _type_words() -> frozenset[str]:
    names = [*label_types("event"), *label_types("entity")]
    return frozenset(word for name in names for word in words_of(name))
