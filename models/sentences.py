"""Split text into sentences: at end marks followed by a space, at Chinese end marks, and at line breaks."""

from __future__ import annotations

import re

__all__ = ["split_sentences"]

_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s+[^\sa-z])|[。！？…]+[”’）」』]*|\n+")


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
