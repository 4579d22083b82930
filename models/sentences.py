"""Sentences: where a text is cut into them, how long one is in words, and its beginning up to the end of a clause."""

from __future__ import annotations

import re

__all__ = ["CJK", "SPLIT", "clipped", "size_of", "split_sentences"]

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s+[^\sa-z])|[。！？…]+[”’）」』]*|\n+")

SPLIT = re.compile(r"(?<=[.!?…])[\"”'’)]*\s+(?=\S)|(?<=[。！？；])|\n+")
"""The space between two sentences."""
CJK = re.compile(r"[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[,;，；、—–]")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text, as the characters from and to, without surrounding space; blank ones are left out."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        part = text[start:end]
        if part.strip():
            spans.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        start = end
    return spans


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
