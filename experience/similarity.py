"""How near texts are to a task: the cosine of their vectors and the words that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hexamem.stores.lexical.tokens import tokenize_query

__all__ = ["EmbedTexts", "nearness"]

EmbedTexts = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, (n, dimension)."""

_DENSE = 0.7  # against words; on a dozen tasks of four environments and everyday chat, neither alone parts the two


def nearness(query: str, texts: Sequence[str], embed: EmbedTexts | None) -> list[float]:
    """How near each text is to the query, from 0 to 1; 1 for the very same text.

    Args:
        embed: makes the vectors; None where there are none: words alone decide then.
    """
    if not texts:
        return []
    words = _words(query)
    overlap = [_shared(words, _words(text)) for text in texts]
    if embed is None:
        return overlap
    vectors = embed([query, *texts])
    cosines = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
    mixed = _DENSE * cosines + (1.0 - _DENSE) * np.array(overlap)
    return [float(min(1.0, max(0.0, score))) for score in mixed]


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    """The words in both, over the geometric mean of how many each has; 0 without words."""
    if not first or not second:
        return 0.0
    return float(len(first & second) / (len(first) * len(second)) ** 0.5)


def _words(text: str) -> frozenset[str]:
    # The plural alone is taken off: what counts here is the thing, and a stemmer would need the language.
    stems = tokenize_query(text).stemmed
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in stems)
