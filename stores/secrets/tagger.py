"""The tagger: secrets that only the words around them reveal, found by logistic regression over hashed features.

A text is cut into tokens; each token has attributes (its word, its form, the group of words of like meaning that it
belongs to), and a feature is a combination of attributes of the token and its neighbours, hashed into one table of
weights. Features and scores are computed for many texts at once. ``scripts/train_secrets.py`` trains the weights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "Tokens", "features", "tokenize"]

BITS = 19
LEFT, RIGHT = 12, 8
_PIECE = r"\s\u3005-\u30ff\u3400-\u9fff\uff00-\uffef" r"\"'`“”‘’«»「」『』()\[\]{}<>=:,;|\\/&…—–·•，。；：！？、（）【】"
_TOKEN = re.compile(rf"[^{_PIECE}.!?*-](?:[^{_PIECE}]*[^{_PIECE}.!?*-])?|\S")
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_RUNS = re.compile(r"([A-Z]+)|([^\W\d_]+)|(\d+)|(.)", re.DOTALL)

ATTRIBUTES = ("word", "tail", "suffix", "prefix", "form", "group", "kind")
_WORD, _TAIL, _SUFFIX, _PREFIX, _FORM, _GROUP, _KIND = range(len(ATTRIBUTES))


class Tokens(NamedTuple):
    """The tokens of some texts, one after another, with a margin of empty places around each text."""

    words: list[str]
    starts: list[int]  # characters in the text; -1 in a margin
    ends: list[int]
    text_of: list[int]
    real: NDArray[np.int64]  # places of tokens that may be secrets


def tokenize(texts: Sequence[str], before: Sequence[str]) -> Tokens:
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    text_of: list[int] = []
    real: list[int] = []

    def margin(size: int) -> None:
        words.extend([""] * size)
        starts.extend([-1] * size)
        ends.extend([-1] * size)
        text_of.extend([-1] * size)

    for number, (text, context) in enumerate(zip(texts, before, strict=True)):
        margin(LEFT)
        if context:
            found = _TOKEN.findall(context[-200:])[-LEFT + 1 :]
            margin(len(found) + 1)
            words[-len(found) - 1 :] = [*found, "\n"]
        for match in _TOKEN.finditer(text):
            real.append(len(words))
            words.append(match[0])
            starts.append(match.start())
            ends.append(match.end())
            text_of.append(number)
    margin(max(LEFT, RIGHT))
    return Tokens(words, starts, ends, text_of, np.array(real, np.int64))


def _form(word: str) -> str:
    """The form of a word: runs of like characters, with their lengths up to 9."""
    parts = []
    for upper, lower, digits, other in _RUNS.findall(word[:24]):
        if digits:
            parts.append(f"0{min(len(digits), 9)}")
        elif upper:
            parts.append("X" if len(upper) == 1 else "XX")
        elif lower:
            parts.append("x" if len(lower) < 3 else "xx")
        else:
            parts.append(other)
    return "".join(parts)


def _kind(word: str, known: bool) -> str:
    """What a token is, coarsely: the class that features of the neighbourhood are combined with."""
    if word.isdigit():
        return f"digits{min(len(word), 9)}"
    if len(word) == 1:
        return "letter" if word.isalpha() and word.isascii() else "han" if word.isalpha() else "sign"
    if word.isalpha():
        case = "lower" if word.islower() else "upper" if word.isupper() else "title" if word.istitle() else "mixed"
        return f"{case}-{'known' if known else 'unknown'}"
    digits = sum(map(str.isdigit, word))
    letters = sum(map(str.isalpha, word))
    if not letters:
        return f"number{min(digits, 9)}" if digits else "signs"
    if digits:
        odd = any(not c.isalnum() for c in word)
        size = "short" if len(word) < 5 else "middle" if len(word) < 16 else "long"
        return f"mixed-{size}-{'odd' if odd else 'plain'}"
    joined = re.split(r"[-_.+@/]", word)
    if all(part.isalpha() for part in joined):
        return "joined-" + ("@" if "@" in word else "_" if "_" in word else "." if "." in word else "-")
    return "odd-letters"


class Groups(NamedTuple):
    """Words by hash, and the group of words of like meaning that each belongs to."""

    hashes: NDArray[np.uint32]
    numbers: NDArray[np.uint16]

    def of(self, word: str) -> int:
        key = crc32(word.encode("utf-8", "surrogatepass"))
        at = int(np.searchsorted(self.hashes, key))
        return int(self.numbers[at]) if at < len(self.hashes) and self.hashes[at] == key else -1


def attributes(word: str, groups: Groups) -> bytes:
    lower = word.lower()
    plain = re.sub(r"\d", "0", lower)[:24]
    parts = _PARTS.findall(word[:64])
    tail = parts[-1].lower() if parts else plain
    group = groups.of(lower)
    if group < 0 and tail != lower:
        group = groups.of(tail)
    kind = _kind(word, groups.of(lower) >= 0)
    values = (
        plain,
        tail,
        tail[-4:] if tail.isalpha() else plain[-3:],
        tail[:4],
        _form(word),
        f"g{group}" if group >= 0 else kind,
        kind,
    )
    return np.array([crc32(f"{i}{v}".encode("utf-8", "surrogatepass")) | 1 for i, v in enumerate(values)], np.uint32).tobytes()


# Each feature: (offset, attribute) of one or more tokens.
_TEMPLATES: list[tuple[tuple[int, int], ...]] = [
    *[((0, a),) for a in range(7)],
    *[((o, _WORD),) for o in (-6, -5, -4, -3, -2, -1, 1, 2, 3, 4)],
    *[((o, _TAIL),) for o in (-3, -2, -1, 1, 2)],
    *[((o, _GROUP),) for o in (-4, -3, -2, -1, 1, 2, 3)],
    *[((o, _KIND),) for o in (-3, -2, -1, 1, 2, 3)],
    *[((o, _SUFFIX),) for o in (-2, -1, 1)],
    *[((o, _FORM),) for o in (-1, 1)],
    *[((o, _WORD), (0, _KIND)) for o in (-4, -3, -2, -1, 1, 2, 3)],
    *[((o, _TAIL), (0, _KIND)) for o in (-2, -1, 1)],
    *[((o, _GROUP), (0, _KIND)) for o in (-3, -2, -1, 1, 2)],
    ((-1, _WORD), (0, _GROUP)),
    ((-1, _WORD), (0, _FORM)),
    ((1, _WORD), (0, _GROUP)),
    ((-2, _WORD), (-1, _WORD)),
    ((-3, _WORD), (-2, _WORD)),
    ((-1, _WORD), (1, _WORD)),
    ((1, _WORD), (2, _WORD)),
    ((-2, _WORD), (-1, _WORD), (0, _KIND)),
    ((-3, _WORD), (-2, _WORD), (-1, _WORD)),
    ((-2, _TAIL), (-1, _TAIL), (0, _KIND)),
    ((-2, _GROUP), (-1, _GROUP), (0, _KIND)),
    ((-1, _KIND), (0, _KIND), (1, _KIND)),
    ((-2, _KIND), (-1, _KIND), (0, _KIND)),
    ((-1, _GROUP), (0, _GROUP)),
    ((0, _GROUP), (1, _GROUP)),
    ((0, _SUFFIX), (-1, _WORD)),
]
_BAGS: list[tuple[int, int]] = [(a, side) for a in (_WORD, _TAIL, _GROUP) for side in (-1, 1)]


def _mix(value: NDArray[np.uint32], other: NDArray[np.uint32] | np.uint32) -> NDArray[np.uint32]:
    mixed = (value ^ other) * np.uint32(0x9E3779B1)
    return mixed ^ (mixed >> np.uint32(15))


def features(tokens: Tokens, table: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Indices into the weights, (real tokens, features); index 0 is no feature."""
    at = tokens.real
    columns: list[NDArray[np.uint32]] = []

    def salt() -> NDArray[np.uint32]:
        return np.full(len(at), len(columns) * 2654435761 % 2**32, np.uint32)

    def push(value: NDArray[np.uint32]) -> None:
        columns.append((value >> np.uint32(32 - BITS)) | np.uint32(1))

    for template in _TEMPLATES:
        value = salt()
        for offset, attribute in template:
            value = _mix(value, table[at + offset, attribute])
        push(value)
    starts, ends = np.array(tokens.starts), np.array(tokens.ends)
    glued_left = (starts[at] == ends[at - 1]).astype(np.uint32)
    glued_right = (ends[at] == starts[at + 1]).astype(np.uint32)
    glue = glued_left * 2 + glued_right + 1
    kind = table[at, _KIND]
    texts = np.array(tokens.text_of)[at]
    first = np.r_[True, texts[1:] != texts[:-1]] if len(at) else np.zeros(0, bool)
    begin = np.maximum.accumulate(np.where(first, np.arange(len(at)), 0))
    last = np.r_[first[1:], True] if len(at) else first
    stop = np.minimum.accumulate(np.where(last, np.arange(len(at)), len(at))[::-1])[::-1]
    from_start = np.minimum(np.arange(len(at)) - begin, 5).astype(np.uint32) + 1
    to_end = np.minimum(stop - np.arange(len(at)), 5).astype(np.uint32) + 1
    size = np.minimum(stop - begin, 24).astype(np.uint32) // 2 + 1
    for number in (glue, from_start, to_end, size, from_start * 32 + to_end):
        push(_mix(_mix(salt(), number), kind))
    for attribute in (_WORD, _KIND):
        push(_mix(_mix(_mix(salt(), glue), kind), table[at - 1, attribute]))
        push(_mix(_mix(_mix(salt(), glue), kind), table[at + 1, attribute]))
    bag = salt()
    for attribute, side in _BAGS:
        for with_kind in (False, True):
            base = _mix(bag, np.uint32(attribute * 8 + side + 2 + 4 * with_kind))
            if with_kind:
                base = _mix(base, kind)
            for distance in range(1, (LEFT if side < 0 else RIGHT) + 1):
                other = table[at + side * distance, attribute]
                value = _mix(base, other)
                columns.append(np.where(other == 0, np.uint32(0), (value >> np.uint32(32 - BITS)) | np.uint32(1)))
    return np.stack(columns, 1)


def attribute_table(words: Sequence[str], groups: Groups, memo: dict[str, bytes]) -> NDArray[np.uint32]:
    rows = []
    for word in words:
        row = memo.get(word)
        if row is None:
            row = memo[word] = attributes(word, groups) if word else bytes(4 * len(ATTRIBUTES))
        rows.append(row)
    return np.frombuffer(b"".join(rows), np.uint32).reshape(-1, len(ATTRIBUTES))
