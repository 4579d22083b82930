"""How near texts are to each other, and the merging of distilled experience with known experience that says the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.experience import limits
from hexamem.memory_types.experience import Experience
from hexamem.stores.lexical.tokens import tokenize_query

__all__ = ["EmbedTexts", "Merged", "merge", "nearness"]

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


_NAME = re.compile(r"`[^`\n]+`|\b\w*[^\W_]_\w+|\b[^\W\d_]+ \d+\b|\b[A-Z]+-?\d+\b")
_NEGATION = re.compile(r"\b(?:not|no|never|don't|avoid|without|cannot|can't|doesn't)\b|[不别勿莫]", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of :func:`merge`.

    Attributes:
        new: distilled items to add.
        again: id of a known item → the ids of its runs, those included from which it was learned again.
        instead: id of a known item → the distilled one that replaces its text.
    """

    new: tuple[Experience, ...]
    again: Mapping[str, tuple[str, ...]]
    instead: Mapping[str, Experience] = field(default_factory=dict)


def merge(
    distilled: Sequence[Experience],
    known: Sequence[Experience],
    embed: EmbedTexts | None,
    *,
    corrects: Mapping[str, str] | None = None,
) -> Merged:
    """Merge distilled items with known items, or earlier distilled ones, that say the same.

    Two items that differ in a negation, or of which each names what the other does not (a tool, an argument, a place, a
    code), are never the same, however alike their other words are: what one tool needs first another may not.

    Args:
        corrects: id of a distilled item → id of the known item that it replaces. A promoted item is not replaced, nor one
            that is about something else: the model may have given a wrong number.
    """
    new: list[Experience] = []
    again: dict[str, tuple[str, ...]] = {}
    instead: dict[str, Experience] = {}
    by_id = {item.id: item for item in known}
    for item in distilled:
        old = by_id.get((corrects or {}).get(item.id, ""))
        if old is not None and old.id not in instead and _may_replace(item, old, embed):
            instead[old.id] = item.changed(run_ids=tuple(dict.fromkeys([*old.run_ids, *item.run_ids])))
            continue
        others = [other for other in (*known, *new) if _may_be_the_same(item, other)]
        near = nearness(_whole(item), [_whole(other) for other in others], embed)
        best = max(range(len(others)), key=near.__getitem__, default=None)
        if best is None or near[best] < limits.SAME:
            new.append(item)
        elif all(others[best] is not other for other in new):
            runs = again.get(others[best].id, others[best].run_ids)
            again[others[best].id] = tuple(dict.fromkeys([*runs, *item.run_ids]))
    return Merged(new=tuple(new), again=again, instead=instead)


def _may_replace(item: Experience, old: Experience, embed: EmbedTexts | None) -> bool:
    if old.environment != item.environment:
        return False
    return nearness(_whole(item), [_whole(old)], embed)[0] >= limits.CORRECTED


def _whole(item: Experience) -> str:
    return f"{item.title}. {item.description} {item.content}"


def _may_be_the_same(first: Experience, second: Experience) -> bool:
    first_names, second_names = _names(first), _names(second)
    return _negations(first) == _negations(second) and (first_names <= second_names or second_names <= first_names)


def _names(item: Experience) -> frozenset[str]:
    """``log_hours``, ``chest 2``, ``E42``, and text in code quotes."""
    return frozenset(name.casefold().strip("`") for name in _NAME.findall(_whole(item)))


def _negations(item: Experience) -> int:
    return len(_NEGATION.findall(_whole(item)))
