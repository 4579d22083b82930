"""Dates made of dates: "two weeks from tomorrow", "Friday next week", "three days before Christmas", 两周前的周五.

Each date that was read stands in the text as one sign, and forms are looked for over words and signs, from the inside
out. What such a form names is one date, or none: "a few days after Easter" is not Easter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hexamem.intent.dates.spans import Anchor, DateSpan, Meant

__all__ = ["LEAVE", "SIGN", "Composed", "Composition", "compose", "with_year"]

_FIRST = 0xE000  # of the private characters that stand for dates
_MOST = 255
SIGN = f"[{chr(_FIRST)}-{chr(_FIRST + _MOST)}]"
"""A date, in the patterns of forms."""
_TAKEN = chr(_FIRST + _MOST + 1)  # stands for what names no date
_PRIVATE = re.compile("[\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class Leave:
    """The dates stand as they are."""


LEAVE = Leave()
Composed = Meant | None | Leave
"""What a form names; None for no date."""
Composition = tuple[
    tuple[str, ...], re.Pattern[str], Callable[[re.Match[str], Callable[[str], DateSpan], Anchor], Composed]
]
"""Words of which one stands (in lower case) in every text, or none for any; the pattern; and its reader, which is given
the date that a group stands for, with its words as the forms read them."""


@dataclass(slots=True)
class _Piece:
    start: int
    end: int
    span: DateSpan | None


def compose(
    text: str, plain: str, spans: Sequence[DateSpan], anchor: Anchor, forms: Sequence[Composition]
) -> list[DateSpan]:
    """The dates with those that belong together made one.

    Args:
        text: as it was said.
        plain: what the forms read, as long as ``text``.
        spans: the dates read so far, in order, none overlapping.
        anchor: the day on which it was said.
        forms: tried in order, until none finds anything.
    """
    lowered = plain.lower()
    forms = [form for form in forms if not form[0] or any(word in lowered for word in form[0])]
    pieces = [_Piece(span.start, span.end, span) for span in spans[:_MOST]]
    if not forms or not pieces or _PRIVATE.search(plain):
        return list(spans)
    for _ in range(2 * len(pieces)):
        if not _compose_once(text, plain, pieces, anchor, forms):
            break
    return [piece.span for piece in pieces if piece.span is not None]


def _compose_once(text: str, plain: str, pieces: list[_Piece], anchor: Anchor, forms: Sequence[Composition]) -> bool:
    """Find the first form that makes one of some dates; whether there was any."""
    reduced, places = _reduced(plain, pieces)
    for _, form, reader in forms:
        for match in form.finditer(reduced):
            inside = [ord(sign) - _FIRST for sign in re.findall(SIGN, match[0])]

            def dated(group: str, match: re.Match[str] = match) -> DateSpan:
                span = pieces[ord(match[group]) - _FIRST].span
                assert span is not None
                return replace(span, text=plain[span.start : span.end])

            try:
                found = reader(match, dated, anchor)
            except (ValueError, OverflowError):  # a day that does not exist
                found = None
            if isinstance(found, Leave):
                continue
            start, end = places[match.start()], places[match.end() - 1] + 1
            last = pieces[inside[-1]]
            end = max(end, last.end)
            span: DateSpan | None = None
            if found is not None:
                first, last_day, precision, told = found
                span = DateSpan(
                    start=start,
                    end=end,
                    text=text[start:end],
                    day=first,
                    last_day=last_day,
                    precision=precision,
                    told=told,
                )
            pieces[inside[0] : inside[-1] + 1] = [_Piece(start, end, span)]
            return True
    return False


def _reduced(plain: str, pieces: Sequence[_Piece]) -> tuple[str, list[int]]:
    """The text with a sign for each date, and where each of its characters stands in the text."""
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for number, piece in enumerate(pieces):
        parts += [plain[done : piece.start], _TAKEN if piece.span is None else chr(_FIRST + number)]
        places += [*range(done, piece.start), piece.start]
        done = piece.end
    parts.append(plain[done:])
    places += range(done, len(plain))
    return "".join(parts), places


def with_year(span: DateSpan, year: int) -> Meant:
    """The same day or month of another year.

    Raises:
        ValueError: there is no such day.
    """
    first = span.day.replace(year=year)
    moved = replace(span, day=first, last_day=span.last_day.replace(year=span.last_day.year + year - span.day.year))
    return moved.day, moved.last_day, span.precision, True
