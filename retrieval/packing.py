"""Hits as lines of a prompt: their texts, which of them fit into a token budget, and their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import pairwise

from hexamem.memory_types import Hit
from hexamem.memory_types.coarse_dates import shown_date
from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.models.tokens import count_each
from hexamem.prompts.fences import lines_of, one_line

__all__ = [
    "distinct_hits",
    "fuller_hits",
    "hit_line",
    "hit_text",
    "item_text",
    "line_costs",
    "pack",
    "pack_lines",
    "with_attached",
]

_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_TITLED = frozenset({"procedural", "resource"})
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def pack(hits: Sequence[Hit], token_budget: int | None) -> tuple[str, int]:
    """The hits as lines with local time and speaker, in the order of :func:`pack_lines`, and their tokens."""
    hits = with_attached(hits)
    lines = [hit_line(hit) for hit in hits]
    costs = line_costs(lines)
    chosen = pack_lines(hits, costs, token_budget)
    return "\n".join([lines[index] for index in chosen]), sum(costs[index] for index in chosen)


def with_attached(hits: Iterable[Hit]) -> list[Hit]:
    """The hits, each followed by those attached to it: what they have in common is shown once by :func:`pack_lines`."""
    return [each for hit in hits for each in (hit, *hit.attached)]


def line_costs(lines: Sequence[str]) -> list[int]:
    """The tokens of lines, each with one for its end."""
    return [count + 1 for count in count_each(lines)]


def pack_lines(hits: Sequence[Hit], costs: Sequence[int], room: int | None, most: int | None = None) -> list[int]:
    """The indices of the hits that fit into a prompt, in the order of their lines.

    The best hits are chosen first; one that does not fit is left out, and later ones that fit are still chosen. An item
    whose content another hit contains (:func:`fuller_hits`) is replaced by that hit. The lines are in the order in which
    they were stated, an item after its source step, so that later statements come last. An item without sources is placed
    by its own time.

    Args:
        hits: the best first.
        costs: the tokens of each.
        room: the most tokens of all; None for no bound.
        most: the most hits; None for no bound.
    """
    fuller = fuller_hits(hits)
    chosen: set[int] = set()
    used = 0
    for index in range(len(hits)):
        if len(chosen) == most:
            break
        others = fuller.get(index, ())
        if index in chosen or not chosen.isdisjoint(others):
            continue
        for candidate in (*others, index):
            if room is None or used + costs[candidate] <= room:
                chosen.add(candidate)
                used += costs[candidate]
                break
    return sorted(chosen, key=lambda index: (*_line_order(hits[index]), index))


def distinct_hits(hits: Sequence[Hit], most: int | None = None) -> list[Hit]:
    """The best hits, best first, without items whose content another hit contains."""
    return [hits[index] for index in sorted(pack_lines(hits, [0] * len(hits), None, most))]


def _line_order(hit: Hit) -> tuple[bool, datetime, int | float, bool, datetime]:
    moment = hit.said_at or hit.occurred_at
    number = float("inf") if hit.seq is None else hit.seq
    return moment is not None, moment or _LONG_AGO, number, hit.kind != "step", hit.occurred_at or _LONG_AGO


def fuller_hits(hits: Sequence[Hit]) -> dict[int, tuple[int, ...]]:
    """Index of an item → indices of the hits that contain all of its content.

    Such a hit is a source step of the item, or another item of the same step, that has all its words. Superseded hits are
    neither replaced nor replace others.
    """
    by_step: dict[str, list[int]] = {}
    for index, hit in enumerate(hits):
        if hit.kind != "page" and not hit.superseded:
            for step_id in {source.step_id for source in hit.sources}:
                by_step.setdefault(step_id, []).append(index)
    own_words, words = _reader(hits, own=True), _reader(hits, own=False)
    fuller: dict[int, tuple[int, ...]] = {}
    for index, hit in enumerate(hits):
        if hit.kind in ("step", "page") or hit.superseded:
            continue
        beside = {other for source in hit.sources for other in by_step.get(source.step_id, ())} - {index}
        if beside:
            own = own_words(index)
            if containing := tuple(other for other in sorted(beside) if own <= words(other)):
                fuller[index] = containing
    return fuller


def _reader(hits: Sequence[Hit], *, own: bool) -> Callable[[int], frozenset[str]]:
    """A cached function from the index of a hit to its words.

    Args:
        own: whether these are the words that another hit must contain, or those in which others may be contained.
    """

    @cache
    def read(index: int) -> frozenset[str]:
        text = hit_text(hits[index])
        if own and hits[index].kind in _TITLED and hits[index].place is None:
            text = text.partition("\n")[2] or text  # without the title
        return frozenset(_words(text, singly=not own))

    return read


def _words(text: str, *, singly: bool) -> Iterator[str]:
    """Words; of Chinese text pairs of characters, and with ``singly`` single ones too."""
    for word in _WORD.findall(text.casefold()):
        if len(word) == 1 or not _HAN.match(word):
            yield word
            continue
        yield from map("".join, pairwise(word))
        if singly:
            yield from word


def hit_text(hit: Hit) -> str:
    """The text of a hit in a prompt: of an item :func:`item_text`, of a document the passage."""
    return hit.text if hit.kind == "step" or hit.place is not None else item_text(hit.kind, hit.text)


def item_text(kind: str, text: str) -> str:
    """The text of an item for a reader, without parts that only searches need: a name or label that is repeated, the type
    of an event or secret.

    Args:
        kind: the memory type of the item.
        text: all searched fields, as ``MemoryItem.text``.
    """
    if kind == "vault":
        return text.partition("\n")[0]
    if kind == "core":
        label, _, value = text.partition("\n")
        return value if value.casefold().startswith(label.casefold()) else f"{label}: {value}" if value else label
    if kind == "semantic":
        name, _, rest = text.partition("\n")
        return rest if name == "user" or name.casefold() in rest.casefold() else text
    if kind == "episodic" and text.count("\n") >= 2:
        event, actor, _ = text.rsplit("\n", 2)
        return event if actor == "user" or actor.casefold() in event.casefold() else f"{event} ({actor})"
    return text


def hit_line(hit: Hit, zone: tzinfo | None = None) -> str:
    """A hit as one line of a prompt: its time, the speaker or kind, and the text.

    The time in brackets is that of the statement, or when it was stored where there is no source. The day of an event follows its kind,
    "(episodic, on 2027-03-14)", unless the text contains it. Lines of a text are joined by " / "; those of a document are
    indented.

    Args:
        zone: the timezone of times; None for the offset of the hit.
    """
    text = hit_text(hit).strip()
    text = "\n  ".join(lines_of(text)) if hit.kind == "resource" else one_line(text, " / ")
    when, what = "", str(hit.kind)
    if hit.occurred_at is not None:
        clock = zone or hit.occurred_at.tzinfo or UTC
        own = _moment(hit.occurred_at, clock, hit.kind)
        if hit.precision is not None:
            own = shown_date(in_zone(hit.occurred_at, clock), hit.precision)
        if hit.kind in ("step", "page") or (hit.said_at is None and hit.kind != "episodic"):
            when = f"[{own}] "
        else:
            stated = "" if hit.said_at is None else _moment(hit.said_at, clock, "step")
            when = f"[{stated}] " if stated else ""
            if own != stated and not all(part in text for part in own.split()):
                at = "from" if hit.kind != "episodic" else "in" if hit.precision else "on"
                what = f"{hit.kind}, {at} {own}"
    who = f"{one_line(hit.speaker)}: " if hit.speaker else f"({what}) "
    return f"{when}{who}{text}{' (no longer believed)' if hit.superseded else ''}"


def _moment(moment: datetime, zone: tzinfo, kind: str) -> str:
    local = in_zone(moment, zone)
    return f"{local:%Y-%m-%d}" if day_alone(local, kind) else f"{local:%Y-%m-%d %H:%M}"
