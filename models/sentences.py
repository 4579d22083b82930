"""Sentences: where a text is cut into them, how long one is in words, and its beginning up to the end of a clause."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from syntok import segmenter

__all__ = ["CJK", "clipped", "size_of", "split_sentences"]

_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|(?<![。！？…；])[。！？…；]+[”’）」』]*|\n+")
_LIST_NUMBER = re.compile(r"\s*\d{1,2}\.$")
_SPACE = re.compile(r"\s*")
_BEFORE, _AFTER = 30, 20
"""Characters before and after a point that decide whether it is the end of a sentence."""
_MOST_POINTS = 1_000
"""Points of a text that are checked, at 0.2 ms each; in a longer text every further one ends a sentence."""

CJK = re.compile(r"[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[,;，；、—–]")


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text, as the characters from and to, without surrounding space; blank ones are left out.

    They are found as they are requested.
    """
    start = 0
    points = ((number, match.end()) for number, match in enumerate(_END.finditer(text)))
    lower = text.islower()
    ends = (end for number, end in points if number >= _MOST_POINTS or _ends_sentence(text, end, lower))
    for end in itertools.chain(ends, [len(text)]):
        part = text[start:end]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        start = end


def _ends_sentence(text: str, end: int, lower: bool) -> bool:
    """Whether a sentence ends here, where the characters would permit it: not in "Dr. Weber", nor after the "1." of a list.

    A sentence begins with no lowercase letter, unless the text has no others (``lower``). Text on both sides is limited, so
    that the time is linear.
    """
    if text[end - 1] in "。！？；\n":
        return True
    line = text.rfind("\n", max(0, end - _BEFORE), end) + 1
    before = text[line or max(0, end - _BEFORE) : end]
    if (line or end <= _BEFORE) and _LIST_NUMBER.fullmatch(before):
        return False
    following = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    after = text[following : following + _AFTER]
    window = f"{before} {after.capitalize() if lower else after}"
    return any(tokens[0].offset == len(before) + 1 for paragraph in segmenter.analyze(window) for tokens in paragraph)


def size_of(text: str) -> float:
    """Words of a text; a Chinese character counts as half a word."""
    if text.isascii():
        return text.count(" ") + 1.0
    han = len(CJK.findall(text))
    return han / 2 + (text.count(" ") + 1 if han * 2 < len(text) else text.count(" ") / 2)


def clipped(text: str, most: float) -> str:
    """The beginning of a sentence up to the end of a clause, no longer than so many words."""
    if CJK.search(text) and not text.isascii() and size_of(text) > text.count(" ") + 1:
        cut = text[: int(most * 2)]
    else:
        cut = " ".join(text.split()[: int(most)])
    ends = [match.start() for match in _CLAUSE.finditer(cut) if match.start() > len(cut) * 0.55]
    return (cut[: ends[-1]] if ends else cut).rstrip(" ,;，；、-–—…") + " …"
