"""Merges distilled experience with known experience that says the same, and among itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hexamem.experience import limits
from hexamem.experience.similarity import EmbedTexts, nearness
from hexamem.memory_types.experience import Experience

__all__ = ["Merged", "merge"]

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
