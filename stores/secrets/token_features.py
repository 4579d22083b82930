"""Tokens of many texts at once and their hashed attributes, for the tagger of secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "MARGIN", "OF_PLACE", "OF_WORD", "Groups", "Tokens", "attributes_of", "tokenize"]

BITS = 15
MARGIN = 16
"""Empty places around each text: no fewer than the tagger looks to either side."""
_CONTEXT = 12
_PIECE = (
    r"\s\u3005-\u30ff\u3400-\u9fff\uff00-\uffef" r"\"'`“”‘’«»「」『』()\[\]{}<>=:,;|\\/&…—–·•，。；：！？、（）【】"
)
_TOKEN = re.compile(rf"[^{_PIECE}.!?*-](?:[^{_PIECE}]*[^{_PIECE}.!?*-])?|\S")
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_RUNS = re.compile(r"([A-Z]+)|([^\W\d_]+)|(\d+)|(.)", re.DOTALL)

OF_WORD, OF_PLACE = 7, 4
"""Attributes of a token's word (itself, its last part, the end and the beginning of that, form, group of words, kind), and of
its place (joined to its neighbours, from the start, to the end, length of the text)."""


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
        margin(MARGIN)
        if context:
            found = _TOKEN.findall(context[-200:])[-_CONTEXT:]
            margin(len(found) + 1)
            words[-len(found) - 1 :] = [*found, "\n"]
        for match in _TOKEN.finditer(text):
            real.append(len(words))
            words.append(match[0])
            starts.append(match.start())
            ends.append(match.end())
            text_of.append(number)
    margin(MARGIN)
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
    # A word that nobody else writes (a password) must not share its vector with another.
    alone = len(plain) > 1 and not plain.isalpha() and not plain.strip("0").isalpha()
    values = (
        f"#{_form(word)}" if alone else plain,
        tail,
        tail[-4:] if tail.isalpha() else plain[-3:],
        tail[:4],
        _form(word),
        f"g{group}" if group >= 0 else kind,
        kind,
    )
    return np.array(
        [crc32(f"{i}{v}".encode("utf-8", "surrogatepass")) | 1 for i, v in enumerate(values)], np.uint32
    ).tobytes()


def attributes_of(tokens: Tokens, groups: Groups, memo: dict[str, bytes]) -> NDArray[np.int64]:
    """The attributes of every token as rows of a table of vectors, (places, attributes); 0 in a margin."""
    rows = []
    for word in tokens.words:
        row = memo.get(word)
        if row is None:
            row = memo[word] = _attributes(word, groups) if word else bytes(4 * OF_WORD)
        rows.append(row)
    found = np.zeros((len(rows), OF_WORD + OF_PLACE), np.uint32)
    found[:, :OF_WORD] = np.frombuffer(b"".join(rows), np.uint32).reshape(-1, OF_WORD)
    at, places = tokens.real, np.arange(len(tokens.real))
    if len(at):
        glued = tokens.ends[:-1] == tokens.starts[1:]
        texts = tokens.text_of[at]
        first = np.r_[True, texts[1:] != texts[:-1]]
        begin = np.maximum.accumulate(np.where(first, places, 0))
        stop = np.minimum.accumulate(np.where(np.r_[first[1:], True], places, len(at))[::-1])[::-1]
        of_place = (
            glued[at - 1] * 2 + glued[at],
            np.minimum(places - begin, 5),
            np.minimum(stop - places, 5),
            np.minimum(stop - begin, 24) // 2,
        )
        for column, value in enumerate(of_place):
            found[at, OF_WORD + column] = (value.astype(np.uint32) + np.uint32(64 * column + 1)) * np.uint32(0x9E3779B1)
    return np.where(found == 0, 0, (found >> np.uint32(32 - BITS)) | np.uint32(1)).astype(np.int64)
