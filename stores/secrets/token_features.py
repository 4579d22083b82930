"""Tokens of texts and their features, for the tagger of secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BUCKETS",
    "MARGIN",
    "PLACES",
    "TokenizedTexts",
    "position_rows",
    "select_segments",
    "tokenize",
    "touch_rows",
    "word_features",
]

BUCKETS = 2**14
"""Rows of the table of hashed features."""
MARGIN = 8
"""Empty places between segments: as far as a layer of the network looks to either side."""
PLACES = 48
"""Rows of the table of place features."""
_CONTEXT_TOKENS = 12
_CONTEXT_CHARACTERS = 200
_SEGMENT_TOKENS = 48
_IDEOGRAPH = r"\u3005-\u30ff\u3400-\u9fff"
# Marks that separate a value from what names it; the marks inside a word ("blue-fish.42") belong to it.
_SEPARATOR = (
    rf"\s{_IDEOGRAPH}\uff00-\uffef"
    r"\"'`“”‘’«»„「」『』()\[\]{}<>=:,;|\\/&…—–·•，。；：！？、（）【】\u200b-\u200f\u202a-\u202e"
)
_TOKEN = re.compile(rf"[^{_SEPARATOR}.!?*-](?:[^{_SEPARATOR}]*[^{_SEPARATOR}.!?*-])?|\S")
_CASED = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])")
_RUNS = re.compile(r"([A-Z]+)|([^\W\d_]+)|(\d+)|(.)", re.DOTALL)
_JOINT = re.compile(r"[-_.+@/]")
_LONGEST = 64


class TokenizedTexts(NamedTuple):
    """The tokens of some texts, one text after another with margins between them.

    A text of more than 48 tokens is in several segments; the last tokens of a segment are the context of the next.

    Attributes:
        words: of every place; empty in a margin.
        segment_of: of every place; -1 in a margin.
        places: of the tokens to be tagged, in ``words``; context is not tagged.
        lengths: tokens to be tagged of each segment.
        text_of: of each token to be tagged.
        starts, ends: its characters in its text.
        glued: whether it touches the token before it.
    """

    words: list[str]
    segment_of: NDArray[np.int64]
    places: NDArray[np.int64]
    lengths: list[int]
    text_of: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    glued: NDArray[np.bool_]


def tokenize(texts: Sequence[str], before: Sequence[str]) -> TokenizedTexts:
    """Cut texts into tokens: words with the marks inside them, single marks, single ideographs.

    Args:
        before: for each text the message before it, or an empty text.
    """
    words: list[str] = []
    segment_of: list[int] = []
    places: list[int] = []
    lengths: list[int] = []
    text_of: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    segment = -1
    for number, (text, context) in enumerate(zip(texts, before, strict=True)):
        preceding = _TOKEN.findall(context[-_CONTEXT_CHARACTERS:])[-_CONTEXT_TOKENS:]
        matches = list(_TOKEN.finditer(text))
        for begin, end in _segments(text, matches):
            segment += 1
            if words:
                words += [""] * MARGIN
                segment_of += [-1] * MARGIN
            if preceding:
                words += [*preceding, "\n"]
            places += range(len(words), len(words) + end - begin)
            lengths.append(end - begin)
            for match in matches[begin:end]:
                words.append(match[0])
                text_of.append(number)
                starts.append(match.start())
                ends.append(match.end())
            preceding = words[-min(_CONTEXT_TOKENS, end - begin) :]
            segment_of += [segment] * (len(words) - len(segment_of))
    segments, tagged, numbers, firsts, lasts = (
        np.array(column, np.int64) for column in (segment_of, places, text_of, starts, ends)
    )
    glued = np.zeros(len(places), bool)
    glued[1:] = (firsts[1:] == lasts[:-1]) & (numbers[1:] == numbers[:-1])
    return TokenizedTexts(words, segments, tagged, lengths, numbers, firsts, lasts, glued)


def select_segments(tokens: TokenizedTexts, segments: NDArray[np.int64]) -> tuple[TokenizedTexts, NDArray[np.bool_]]:
    """The tokens of some segments alone, and which of the tokens to be tagged they are.

    Args:
        segments: in order.
    """
    if len(segments) == len(tokens.lengths):
        return tokens, np.ones(len(tokens.places), bool)
    rows = np.flatnonzero(tokens.segment_of >= 0)
    begins = rows[np.searchsorted(tokens.segment_of[rows], segments)].tolist()
    ends = (rows[np.searchsorted(tokens.segment_of[rows], segments, side="right") - 1] + 1).tolist()
    words: list[str] = []
    segment_of: list[int] = []
    moves = np.zeros(len(tokens.lengths), np.int64)
    for number, (segment, begin, end) in enumerate(zip(segments.tolist(), begins, ends, strict=True)):
        if words:
            words += [""] * MARGIN
            segment_of += [-1] * MARGIN
        moves[segment] = len(words) - begin
        words += tokens.words[begin:end]
        segment_of += [number] * (end - begin)
    of_tagged = tokens.segment_of[tokens.places]
    kept = np.isin(of_tagged, segments)
    selected = TokenizedTexts(
        words=words,
        segment_of=np.array(segment_of, np.int64),
        places=tokens.places[kept] + moves[of_tagged[kept]],
        lengths=[tokens.lengths[segment] for segment in segments.tolist()],
        text_of=tokens.text_of[kept],
        starts=tokens.starts[kept],
        ends=tokens.ends[kept],
        glued=tokens.glued[kept],
    )
    return selected, kept


def _segments(text: str, matches: Sequence[re.Match[str]]) -> list[tuple[int, int]]:
    """First and last token of each segment: as many whole lines as fit, or a part of a long line."""
    segments: list[tuple[int, int]] = []
    begin = 0
    while len(matches) - begin > _SEGMENT_TOKENS:
        end = begin + _SEGMENT_TOKENS
        for at in range(end, begin + _SEGMENT_TOKENS // 2, -1):
            if "\n" in text[matches[at - 1].end() : matches[at].start()]:
                end = at
                break
        segments.append((begin, end))
        begin = end
    if begin < len(matches):
        segments.append((begin, len(matches)))
    return segments


def _form(word: str) -> str:
    """Runs of like characters, with the number of digits up to 9."""
    parts = []
    for upper, lower, digits, _other in _RUNS.findall(word[:24]):
        if digits:
            parts.append(f"0{min(len(digits), 9)}")
        elif upper:
            parts.append("X" if len(upper) == 1 else "XX")
        elif lower:
            parts.append("x" if len(lower) < 3 else "xx")
        else:
            parts.append(_other)
    return "".join(parts)


def _class(word: str, known: bool) -> str:
    """What a token is, coarsely."""
    if word.isdigit():
        return f"digits{min(len(word), 9)}"
    if len(word) == 1:
        return "letter" if word.isalpha() and word.isascii() else "han" if word.isalpha() else "mark"
    script = "" if word.isascii() else "other-"
    if word.isalpha():
        case = "lower" if word.islower() else "upper" if word.isupper() else "title" if word.istitle() else "mixed"
        return f"{script}{case}-{'known' if known else 'unknown'}"
    digits, letters = sum(map(str.isdigit, word)), sum(map(str.isalpha, word))
    if not letters:
        return f"number{min(digits, 9)}" if digits else "marks"
    if digits:
        size = "short" if len(word) < 5 else "middle" if len(word) < 16 else "long"
        return f"{script}mixed-{size}-{'plain' if word.isalnum() else 'odd'}"
    if all(part.isalpha() for part in _JOINT.split(word)):
        return "joined-" + ("@" if "@" in word else "_" if "_" in word else "." if "." in word else "-")
    return script + "odd-letters"


def word_features(word: str, known: bool) -> list[int]:
    """Rows of the table of hashed features that describe a word; their vectors are added up.

    Args:
        known: whether the word is in the vocabulary. Others also have the features of their parts.
    """
    lower = word[:_LONGEST].lower()
    plain = re.sub(r"\d", "0", lower)
    letters = [part.lower() for part in _CASED.findall(word[:_LONGEST])]
    tail = letters[-1] if letters else plain
    values = [f"f{_form(word)}", f"c{_class(word, known)}", f"s{plain[-3:]}", f"p{plain[:3]}"]
    if known or plain.isalpha() or len(plain) == 1:
        values.append(f"w{plain}")
    if not known:
        values += [f"t{tail}", f"h{letters[0] if letters else ''}", f"l{min(len(word), 40) // 3}"]
        marked = f"<{plain[:12]}>"
        values += [f"g{marked[at : at + 3]}" for at in range(len(marked) - 2)]
        values += [f"m{mark}" for mark in set(plain) if not mark.isalnum()]
    return [crc32(value.encode("utf-8", "surrogatepass")) % BUCKETS for value in values]


def position_rows(length: int) -> NDArray[np.int64]:
    """For each token of a segment four rows of the table of place features.

    They say how far it is from the beginning and the end of its segment, how long that is, and that it is no context.
    """
    at = np.arange(length)
    size = np.full(length, 16 + min(length, 47) // 2)
    return np.stack([4 + np.minimum(at, 5), 10 + np.minimum(length - at, 5), size, np.full(length, 40)], 1)


def touch_rows(glued: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each token the row of the table of place features that says whether it touches its neighbours.

    Args:
        glued: whether a token touches the one before it.
    """
    rows = glued * 2
    rows[:-1] += glued[1:]
    return rows
