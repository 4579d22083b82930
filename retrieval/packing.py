"""What hits say in a prompt: their lines, which of these fit into a token budget, and the order in which they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from itertools import pairwise

from hexamem.memory_types import Hit
from hexamem.memory_types.local_time import day_alone, in_zone
from hexamem.models.tokens import count_each

__all__ = [
    "distinct_hits",
    "fuller_hits",
    "hit_line",
    "hit_text",
    "item_text",
    "line_costs",
    "pack",
    "pack_lines",
    "tells_day",
]

_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]")
_BREAK = re.compile(r"[^\S\n]*\n\s*")
_NUMBER = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_TITLED = frozenset({"procedural", "resource"})
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def pack(hits: Sequence[Hit], token_budget: int | None) -> tuple[str, int]:
    """The hits as lines with local time and speaker, in the order of :func:`pack_lines`, and the count of their tokens."""
    lines = [hit_line(hit) for hit in hits]
    costs = line_costs(lines)
    chosen = pack_lines(hits, costs, token_budget)
    return "\n".join([lines[index] for index in chosen]), sum(costs[index] for index in chosen)


def line_costs(lines: Sequence[str]) -> list[int]:
    """What lines cost in tokens, with one for the end of each."""
    return [count + 1 for count in count_each(lines)]


def pack_lines(hits: Sequence[Hit], costs: Sequence[int], room: int | None, most: int | None = None) -> list[int]:
    """The places of the hits that go into a prompt, in the order in which they are read.

    The best hits get the room first; one that does not fit whole is left out, and smaller ones after it may still
    go in. An item that another hit says in full (:func:`fuller_hits`) leaves its place to that one. What is chosen stands
    in the order in which it was said, an item behind the step that it was learned from: what was said later
    holds, whatever day it tells of. An item that cites nothing stands by its own time.

    Args:
        hits: the best first. costs: of each, in tokens.
        room: for all of them; None for no bound.
        most: how many hits at most; None for no bound.
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
        for one in (*others, index):
            if room is None or used + costs[one] <= room:
                chosen.add(one)
                used += costs[one]
                break
    return sorted(chosen, key=lambda index: (*_said(hits[index]), index))


def distinct_hits(hits: Sequence[Hit], most: int | None = None) -> list[Hit]:
    """The best hits, best first, without items that another one says in full."""
    return [hits[index] for index in sorted(pack_lines(hits, [0] * len(hits), None, most))]


def _said(hit: Hit) -> tuple[bool, datetime, int | float, bool, datetime]:
    moment = hit.said_at or hit.occurred_at
    number = float("inf") if hit.seq is None else hit.seq
    return moment is not None, moment or _LONG_AGO, number, hit.kind != "step", hit.occurred_at or _LONG_AGO


def fuller_hits(hits: Sequence[Hit]) -> dict[int, tuple[int, ...]]:
    """The places of the items that say nothing beside another hit: those of the hits that say all of it.

    That is a step that the item was learned from, or another item of the same step, that has all its words; days
    count by their parts, so that "her birthday is on 14 December" says nothing beside "her birthday is on
    2026-12-14". What is no longer believed is news, and takes no other's place.
    """
    by_step: dict[str, list[int]] = {}
    for index, hit in enumerate(hits):
        if hit.kind != "page" and not hit.superseded:
            for step_id in {one.step_id for one in hit.sources}:
                by_step.setdefault(step_id, []).append(index)
    own_words, words = _reader(hits, own=True), _reader(hits, own=False)
    found: dict[int, tuple[int, ...]] = {}
    for index, hit in enumerate(hits):
        if hit.kind in ("step", "page") or hit.superseded:
            continue
        beside = {one for source in hit.sources for one in by_step.get(source.step_id, ())} - {index}
        if beside:
            own = own_words(index)
            if fuller := tuple(one for one in sorted(beside) if own <= words(one)):
                found[index] = fuller
    return found


def _reader(hits: Sequence[Hit], *, own: bool) -> Callable[[int], frozenset[str]]:
    """Reads the words of a hit once: what it has to say itself where ``own``, else all that it says of others."""

    @cache
    def read(index: int) -> frozenset[str]:
        said = hit_text(hits[index])
        if own and hits[index].kind in _TITLED and hits[index].place is None:
            said = said.partition("\n")[2] or said  # a title adds nothing to a text that stands there whole
        return frozenset(_words(said, singly=not own))

    return read


def _words(text: str, *, singly: bool) -> Iterator[str]:
    """Words; of Chinese each two characters, and where ``singly`` each one too. Days also by their parts."""
    for word in _WORD.findall(text.casefold()):
        if len(word) == 1 or not _HAN.match(word):
            yield word
            continue
        yield from map("".join, pairwise(word))
        if singly:
            yield from word
    for written in _DAY.findall(text):
        try:
            day = date(*map(int, written))
        except ValueError:
            continue
        yield from (str(day.month), str(day.day), *f"{day:%B %b %A}".casefold().split(), *"年月日号")


def tells_day(text: str, day: date) -> bool:
    """Whether a text names a day of the calendar: as a date, or by its month and number."""
    if day.isoformat() in text:
        return True
    month = {one.casefold() for one in (f"{day:%B}", f"{day:%b}")}
    named = f"{day.month}月" in text or not month.isdisjoint(_WORD.findall(text.casefold()))
    return named and any(int(one) == day.day for one in _NUMBER.findall(text))


def _tells_month(text: str, day: str) -> bool:
    """Whether a day is the first of a month or year that a text names without a day: "in March 2026", "2026-03", 2026年."""
    year, month, first = (*day.split("-"), "")[:3]
    if first != "01":
        return False
    name = f"{date(int(year), int(month), 1):%B}"
    coarse = rf"(?<![\d-]){year}-{month}(?!-?\d)|(?<!\d ){name} (?:of )?{year}|{year}年{int(month)}月(?!\d)"
    if month == "01":
        coarse += rf"|\b(?:in|since|from|until|of) {year}\b(?!-)|{year}年(?!\d)"
    return re.search(coarse, text) is not None


def hit_text(hit: Hit) -> str:
    """What a hit says, as :func:`item_text` words an item; of a document the passage that was found."""
    return hit.text if hit.kind == "step" or hit.place is not None else item_text(hit.kind, hit.text)


def item_text(kind: str, text: str) -> str:
    """What an item says to a reader, without what only a search needs: a name or label that its text repeats, the type of an
    event or secret.

    Args:
        kind: of the item. text: of it, all fields that are searched, as ``MemoryItem.text``.
    """
    if kind == "vault":
        return text.partition("\n")[0]
    if kind == "core":
        label, _, value = text.partition("\n")
        return value if value.casefold().startswith(label.casefold()) else f"{label}: {value}" if value else label
    if kind == "semantic":
        name, _, rest = text.partition("\n")
        return rest if name.casefold() in rest.casefold() else text
    if kind == "episodic" and text.count("\n") >= 2:
        said, actor, _ = text.rsplit("\n", 2)
        return said if actor == "user" or actor.casefold() in said.casefold() else f"{said} ({actor})"
    return text


def hit_line(hit: Hit, zone: tzinfo | None = None) -> str:
    """A hit as it stands in a prompt, in one line: when it was said, who or what it is, and its text.

    The brackets tell when it was said (of what cites nothing, when it was learned); the day of an event stands behind its
    kind, "(episodic, on 2027-03-14)", unless the text names it. Lines of a text are set apart by " / "; those of a document
    are kept, set in.

    Args:
        zone: by whose clock; None for the offset that the hit bears.
    """
    text = hit_text(hit).strip()
    text = text.replace("\n", "\n  ") if hit.kind == "resource" else _BREAK.sub(" / ", text)
    when, what = "", str(hit.kind)
    if hit.occurred_at is not None:
        clock = zone or hit.occurred_at.tzinfo or UTC
        own = _moment(hit.occurred_at, clock, hit.kind)
        if hit.kind in ("step", "page") or (hit.said_at is None and hit.kind != "episodic"):
            when = f"[{own}] "
        else:
            said = "" if hit.said_at is None else _moment(hit.said_at, clock, "step")
            when = f"[{said}] " if said else ""
            if own != said and not all(one in text for one in own.split()) and not _tells_month(text, own):
                what = f"{hit.kind}, {'on' if hit.kind == 'episodic' else 'from'} {own}"
    who = f"{hit.speaker}: " if hit.speaker else f"({what}) "
    return f"{when}{who}{text}{' (no longer believed)' if hit.superseded else ''}"


def _moment(moment: datetime, zone: tzinfo, kind: str) -> str:
    local = in_zone(moment, zone)
    return f"{local:%Y-%m-%d}" if day_alone(local, kind) else f"{local:%Y-%m-%d %H:%M}"
