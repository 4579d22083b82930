"""Where a text is cut into sentences, how long a text is in words, and its beginning up to the end of a clause."""

from __future__ import annotations

import re

__all__ = ["CJK", "SPLIT", "clipped", "size_of"]

SPLIT = re.compile(r"(?<=[.!?…])[\"”'’)]*\s+(?=\S)|(?<=[。！？；])|\n+")
"""What stands between two sentences."""
CJK = re.compile(r"[\u3400-\u9fff]")
_CLAUSE = re.compile(r"[,;，；、—–]")


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
