"""Splits long documents into passages of about 250 tokens, and describes the place of a passage.

A passage is a span of the item's content, and its index record has only the item's id and that span. The ledger has no
copy of it: to rewrite, redact, supersede or erase the item does the same to its passages. Places are read from the
content too: form feeds separate pages, Markdown headings sections, and each line of a table is a row.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hexamem.memory_types import MemoryItem, ResourceItem
from hexamem.stores.secrets import find_references

__all__ = [
    "SHORT",
    "Passage",
    "chunk_spans",
    "headings",
    "indexed_passages",
    "is_passage",
    "item_of",
    "passage_at",
    "passage_id",
    "span_of",
]

_PASSAGE = 250
"""Maximum tokens of a passage: more blur an embedding that is the mean of its words, fewer lose context."""
SHORT = 400
"""An item of at most so many tokens, or characters, is indexed whole."""
_MIN_SECTION = 40
"""A section of fewer tokens is joined with the next."""
_MARK = "#"  # occurs in no item id
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_HEADING_OR_FENCE = re.compile(r"^(?:(#{1,6})[ \t]+(\S.*?)[ \t]*#*[ \t]*|(```|~~~).*)$", re.MULTILINE)
_WITH_HEADINGS = frozenset({"markdown", "html", "docx"})
_TABLES = frozenset({"csv"})
# From wide to narrow: paragraphs, lines, sentences, words.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n[ \t]*\n\s*", r"\n", r"(?<=[.!?…])\s+|(?<=[。！？；])", r"\s+"))
Span = tuple[int, int]


class Passage(NamedTuple):
    """A passage to display: ``text`` verbatim, ``place`` such as "page 40", or ""."""

    text: str
    place: str


def passage_id(item_id: str, span: Span) -> str:
    """The id of the index record of a passage."""
    return f"{item_id}{_MARK}{span[0]}-{span[1]}"


def is_passage(record_id: str) -> bool:
    """Whether the index record is a passage of an item, not a whole step or item."""
    return _MARK in record_id and not record_id.startswith("step_")


def item_of(record_id: str) -> str:
    """The id of the passage's item; any other id unchanged."""
    return record_id.partition(_MARK)[0] if is_passage(record_id) else record_id


def span_of(record_id: str) -> Span:
    """The span of a passage in the item's content."""
    start, _, end = record_id.partition(_MARK)[2].partition("-")
    return int(start), int(end)


def chunk_spans(item: MemoryItem) -> list[Span]:
    """The passages of a long resource in order, as spans of its content; none for any other item."""
    if not isinstance(item, ResourceItem):
        return []
    text = item.content
    if len(text) <= SHORT or _tokens(text) <= SHORT:
        return []
    if item.resource_type in _TABLES:
        first = text.find("\n") + 1
        limit = max(_PASSAGE - _tokens(text[:first]), _PASSAGE // 3)  # each passage begins with the header
        spans: Iterable[Span] = _packed(text, [(first, len(text))], limit)
    elif "\f" in text:
        spans = (span for page in _pages(text) for span in _packed(text, [page], _PASSAGE))
    elif item.resource_type in _WITH_HEADINGS:
        spans = (span for section in _sections(text) for span in _packed(text, [section], _PASSAGE))
    else:
        spans = _packed(text, [(0, len(text))], _PASSAGE)
    return list(_around_references(text, spans))


def passage_at(item: ResourceItem, span: Span) -> Passage:
    """A passage with its place."""
    text, (start, end) = item.content, span
    words = text[start:end].strip("\f\n\r ")
    if item.resource_type in _TABLES:
        header = text.partition("\n")[0]
        first = text.count("\n", 0, start)
        last = first + text[start:end].rstrip("\n").count("\n")
        return Passage(f"{header}\n{words}", f"rows {first}–{last}" if last > first else f"row {first}")
    if "\f" in text:
        return Passage(words, f"page {text.count(chr(12), 0, start) + 1}")
    if item.resource_type in _WITH_HEADINGS:
        path = _path_at(_heading_paths(text), end)
        return Passage(words, f"section {path}" if path else "")
    first = text.count("\n", 0, start) + 1
    last = first + text[start:end].rstrip().count("\n")
    return Passage(words, f"lines {first}–{last}" if last > first else f"line {first}")


def indexed_passages(item: ResourceItem) -> Iterator[tuple[Span, str]]:
    """Each passage with its indexed text: the title, the headings above it (or the header), and its own text."""
    text = item.content
    header = text.partition("\n")[0] if item.resource_type in _TABLES else ""
    paths = _heading_paths(text) if item.resource_type in _WITH_HEADINGS else []
    for start, end in chunk_spans(item):
        above = header or _path_at(paths, end)
        yield (start, end), "\n".join(part for part in (item.title, above, text[start:end].strip("\f\n\r ")) if part)


def _tokens(text: str) -> float:
    """An estimate of the number of tokens: one per four letters, one per character of scripts without spaces."""
    if text.isascii():
        return len(text) / 4
    return len(text) / 4 + 0.75 * len(_UNSPACED.findall(text))


def _pages(text: str) -> Iterator[Span]:
    start = 0
    for page in text.split("\f"):
        if page.strip():
            yield start, start + len(page)
        start += len(page) + 1


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """(offset, level, words) of the Markdown headings outside of fenced code."""
    fence = ""
    for match in _HEADING_OR_FENCE.finditer(text):
        if match[3]:
            fence = match[3] if not fence else "" if match[3] == fence else fence
        elif not fence:
            yield match.start(), len(match[1]), match[2]


def _sections(text: str) -> Iterator[Span]:
    """The sections, each with its heading; a short one is joined with the next."""
    start = 0
    for place in [*(place for place, _, _ in headings(text)), len(text)]:
        if place == len(text) or _tokens(text[start:place]) >= _MIN_SECTION:
            if text[start:place].strip():
                yield start, place
            start = place


def _heading_paths(text: str) -> list[tuple[int, str]]:
    """The offset of each heading, and it after those above it, from the highest level to the lowest."""
    paths: list[tuple[int, str]] = []
    path: list[tuple[int, str]] = []
    for place, level, words in headings(text):
        path = [*((wider, name) for wider, name in path if wider < level), (level, words)]
        paths.append((place, " › ".join(name for _, name in path)))
    return paths


def _path_at(paths: list[tuple[int, str]], end: int) -> str:
    """The last path that begins before an offset."""
    before = bisect_left(paths, (end,))
    return paths[before - 1][1] if before else ""


def _packed(text: str, spans: Iterable[Span], limit: float) -> Iterator[Span]:
    """Joins pieces into passages of at most ``limit`` tokens."""
    for whole in spans:
        start: int | None = None
        end, size = 0, 0.0
        for piece in _pieces(text, whole, limit, 0):
            weight = _tokens(text[piece[0] : piece[1]])
            if start is not None and size + weight > limit:
                yield start, end
                start = None
            if start is None:
                start, size = piece[0], 0.0
            end, size = piece[1], size + weight
        if start is not None and text[start:end].strip():
            yield start, end


def _pieces(text: str, span: Span, limit: float, level: int) -> Iterator[Span]:
    """Splits a span into pieces of at most ``limit`` tokens, at the widest breaks possible."""
    start, end = span
    if _tokens(text[start:end]) <= limit:
        if text[start:end].strip():
            yield span
        return
    if level == len(_BREAKS):  # one very long word
        size = max(1, int(limit))
        yield from ((at, min(at + size, end)) for at in range(start, end, size))
        return
    at = start
    for match in _BREAKS[level].finditer(text, start, end):
        if match.end() > at:
            yield from _pieces(text, (at, match.end()), limit, level + 1)
            at = match.end()
    if at < end:
        yield from _pieces(text, (at, end), limit, level + 1)


def _around_references(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Moves the spans so that none begins or ends within a vault reference."""
    references = [(reference.start, reference.end) for reference in find_references(text)]
    at = 0

    def outside(place: int) -> int:
        nonlocal at
        while at < len(references) and references[at][1] <= place:
            at += 1
        return references[at][1] if at < len(references) and references[at][0] < place else place

    for start, end in spans:
        moved = outside(start), outside(end)
        if moved[1] > moved[0]:
            yield moved
