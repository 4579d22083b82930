"""Taking together what says the same: with what is known, and with what was distilled beside it."""

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
    """What becomes of distilled items: ``new`` ones, known ones (by id) that ``again`` were learned from runs, and known
    ones (by id) ``instead`` of which another text stands from now on."""

    new: tuple[Experience, ...]
    again: Mapping[str, tuple[str, ...]]
    instead: Mapping[str, Experience] = field(default_factory=dict)


def merge(
    made: Sequence[Experience],
    known: Sequence[Experience],
    embed: EmbedTexts | None,
    *,
    corrects: Mapping[str, str] | None = None,
) -> Merged:
    """Take what says the same as a known item, or as one before it, together with that one.

    Two items that differ in a negation, or of which each names what the other does not (a tool, an argument, a place, a
    code), are never the same, however alike their other words are: what one tool needs first another may not.

    Args:
        corrects: the id of a known item whose place a made one (by its id) takes. What a person promoted keeps its text,
            and so does one that is about something else: a model may have miscounted.
    """
    new: list[Experience] = []
    again: dict[str, tuple[str, ...]] = {}
    instead: dict[str, Experience] = {}
    by_id = {one.id: one for one in known}
    for one in made:
        old = by_id.get((corrects or {}).get(one.id, ""))
        if old is not None and old.id not in instead and _may_replace(one, old, embed):
            instead[old.id] = one.changed(run_ids=tuple(dict.fromkeys([*old.run_ids, *one.run_ids])))
            continue
        others = [other for other in (*known, *new) if _may_be_the_same(one, other)]
        near = nearness(_whole(one), [_whole(other) for other in others], embed)
        best = max(range(len(others)), key=near.__getitem__, default=None)
        if best is None or near[best] < limits.SAME:
            new.append(one)
        elif all(others[best] is not other for other in new):
            runs = again.get(others[best].id, others[best].run_ids)
            again[others[best].id] = tuple(dict.fromkeys([*runs, *one.run_ids]))
    return Merged(new=tuple(new), again=again, instead=instead)


def _may_replace(one: Experience, old: Experience, embed: EmbedTexts | None) -> bool:
    if old.environment != one.environment:
        return False
    return nearness(_whole(one), [_whole(old)], embed)[0] >= limits.CORRECTED


def _whole(one: Experience) -> str:
    return f"{one.title}. {one.description} {one.content}"


def _may_be_the_same(one: Experience, other: Experience) -> bool:
    a, b = _names(one), _names(other)
    return _negations(one) == _negations(other) and (a <= b or b <= a)


def _names(one: Experience) -> frozenset[str]:
    """``log_hours``, ``chest 2``, ``E42``, and what stands in code quotes."""
    return frozenset(name.casefold().strip("`") for name in _NAME.findall(_whole(one)))


def _negations(one: Experience) -> int:
    return len(_NEGATION.findall(_whole(one)))
