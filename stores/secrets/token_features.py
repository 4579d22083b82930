"""Hashed features of the tokens of many texts at once, for the tagger of secrets.

A token has attributes: its word, its form, the group of words of like meaning that it belongs to, its place. A feature is a
combination of attributes of the token and its neighbours, hashed into one table of weights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "Groups", "Tokens", "features", "table", "tokenize"]

BITS = 19
LEFT, RIGHT = 12, 8
_PIECE = r"\s\u3005-\u30ff\u3400-\u9fff\uff00-\uffef" r"\"'`“”‘’«»「」『』()\[\]{}<>=:,;|\\/&…—–·•，。；：！？、（）【】"
_TOKEN = re.compile(rf"[^{_PIECE}.!?*-](?:[^{_PIECE}]*[^{_PIECE}.!?*-])?|\S")
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_RUNS = re.compile(r"([A-Z]+)|([^\W\d_]+)|(\d+)|(.)", re.DOTALL)

# The attributes of a token: seven of its word, four of its place; the last is always 0.
_WORD, _TAIL, _SUFFIX, _PREFIX, _FORM, _GROUP, _KIND, _GLUE, _START, _STOP, _SIZE, _NOTHING = range(12)
_OF_WORD = 7


class Tokens(NamedTuple):
    """The tokens of some texts, one after another, with a margin of empty places around each text."""

    words: list[str]
    starts: NDArray[np.int64]  # characters in the text; -1 and -2 in a margin
    ends: NDArray[np.int64]
    text_of: NDArray[np.int64]
    real: NDArray[np.int64]  # places of tokens that may be secrets


def tokenize(texts: Sequence[str], before: Sequence[str]) -> Tokens:
    """Cut texts into tokens: words with the signs inside them, single signs, single ideographs.

    Args:
        before: for each text what was written before it, or an empty text; its last tokens are context.
    """
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    text_of: list[int] = []
    real: list[int] = []

    def margin(size: int) -> None:
        words.extend([""] * size)
        starts.extend([-1] * size)
        ends.extend([-2] * size)
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
    return Tokens(words, *(np.array(part, np.int64) for part in (starts, ends, text_of, real)))


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


def _attributes(word: str, groups: Groups) -> bytes:
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


# A feature combines up to three (offset, attribute) of a token and its neighbours.
_TEMPLATES: tuple[tuple[tuple[int, int], ...], ...] = (
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
    ((-1, _WORD), (0, _SUFFIX)),
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
    *[((0, a), (0, _KIND)) for a in (_GLUE, _START, _STOP, _SIZE)],
    ((0, _START), (0, _STOP), (0, _KIND)),
    *[((0, _GLUE), (0, _KIND), (o, a)) for a in (_WORD, _KIND) for o in (-1, 1)],
)
# Then, without regard to the distance, the words, tails and groups on each side, alone and with the kind of the token.
_BAGS = tuple(
    ((side * distance, attribute), *(((0, _KIND),) if with_kind else ()))
    for attribute in (_WORD, _TAIL, _GROUP)
    for side, most in ((-1, LEFT), (1, RIGHT))
    for with_kind in (False, True)
    for distance in range(1, most + 1)
)
_ALL = (*_TEMPLATES, *_BAGS)
_SLOTS = 3
_PADDED = [(*template, *[(0, _NOTHING)] * (_SLOTS - len(template))) for template in _ALL]
_OFFSETS = np.array([[offset for offset, _ in template] for template in _PADDED]).T
_COLUMNS = np.array([[attribute for _, attribute in template] for template in _PADDED]).T


def _salts() -> NDArray[np.uint32]:
    names = [str(number) for number in range(len(_TEMPLATES))]
    names += [f"bag {attribute} {offset > 0} {len(rest)}" for (offset, attribute), *rest in _BAGS]
    return np.array([crc32(name.encode()) for name in names], np.uint32)


_SALTS = _salts()


def _mixed(value: NDArray[np.uint32], other: NDArray[np.uint32]) -> NDArray[np.uint32]:
    value = (value ^ other) * np.uint32(0x9E3779B1)
    value ^= value >> np.uint32(15)
    return value


def table(tokens: Tokens, groups: Groups, memo: dict[str, bytes]) -> NDArray[np.uint32]:
    """The attributes of every token, (places, attributes); zeros in a margin."""
    rows = []
    for word in tokens.words:
        row = memo.get(word)
        if row is None:
            row = memo[word] = _attributes(word, groups) if word else bytes(4 * _OF_WORD)
        rows.append(row)
    found = np.zeros((len(rows), _NOTHING + 1), np.uint32)
    found[:, :_OF_WORD] = np.frombuffer(b"".join(rows), np.uint32).reshape(-1, _OF_WORD)
    at, places = tokens.real, np.arange(len(tokens.real))
    if not len(at):
        return found
    glued = tokens.ends[:-1] == tokens.starts[1:]
    texts = tokens.text_of[at]
    first = np.r_[True, texts[1:] != texts[:-1]]
    begin = np.maximum.accumulate(np.where(first, places, 0))
    stop = np.minimum.accumulate(np.where(np.r_[first[1:], True], places, len(at))[::-1])[::-1]
    found[at, _GLUE] = glued[at - 1] * 2 + glued[at] + 1
    found[at, _START] = np.minimum(places - begin, 5) + 1
    found[at, _STOP] = np.minimum(stop - places, 5) + 1
    found[at, _SIZE] = np.minimum(stop - begin, 24) // 2 + 1
    return found


def features(at: NDArray[np.int64], attributes_of: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Places in the table of weights of the tokens ``at``, (tokens, features); 0 is no feature."""
    value = np.broadcast_to(_SALTS, (len(at), len(_SALTS)))
    for offsets, columns in zip(_OFFSETS, _COLUMNS, strict=True):
        value = _mixed(value, attributes_of[at[:, None] + offsets, columns])
    value = (value >> np.uint32(32 - BITS)) | np.uint32(1)
    bags = slice(len(_TEMPLATES), None)
    empty = attributes_of[at[:, None] + _OFFSETS[0, bags], _COLUMNS[0, bags]] == 0
    value[:, bags][empty] = 0
    return value
