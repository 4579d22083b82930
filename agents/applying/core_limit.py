"""The limit of a core block: repeated sentences are dropped, and what still has no room is moved to another item."""

from __future__ import annotations

import re
from typing import NamedTuple

from hexamem.stores.secrets import find_references

__all__ = ["Fitted", "fit_into"]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")


class Fitted(NamedTuple):
    """A block within its limit, and the parts that had no room, in their order."""

    value: str
    overflow: tuple[str, ...]


def fit_into(value: str, limit: int) -> Fitted:
    """Bring a block within its limit of characters. The same block always gives the same result.

    Blanks are joined and sentences or lines that repeat an earlier one exactly are dropped. If that is not enough, the
    block keeps its first sentences and lines, as many as fit, and the rest overflows. Only a sentence that is longer
    than a whole block is cut, between words, and never inside a reference to a secret.

    Args:
        value: the text of the block.
        limit: characters, at least 1.
    """
    if len(value) <= limit:
        return Fitted(value, ())
    seen: set[str] = set()
    sentences: list[tuple[str, str]] = []  # the separator before it, its text
    for line in value.split("\n"):
        separator = "\n"
        for part in _SENTENCE_END.split(re.sub(r"\s+", " ", line)):
            sentence = part.strip()
            key = sentence.casefold().strip(" .!?。！？；;,，-*•")
            if not key or key in seen:
                continue
            seen.add(key)
            sentences.append((separator, sentence))
            separator = "" if sentence[-1] in "。！？；" else " "
    block, overflow = "", list[str]()
    for separator, sentence in sentences:
        longer = f"{block}{separator}{sentence}" if block else sentence
        if not overflow and len(longer) <= limit:
            block = longer
        elif not block:
            at = _cut(sentence, limit)
            block, rest = sentence[:at].rstrip(), sentence[at:].lstrip()
            overflow += [rest] if rest else []
        else:
            overflow.append(sentence)
    return Fitted(block, tuple(overflow))


def _cut(text: str, limit: int) -> int:
    """Where to cut a text so that its first part has at most ``limit`` characters."""
    references = find_references(text)
    at = next((found.start for found in references if found.start < limit < found.end), limit)
    if at == len(text) or at == 0:
        return at
    blank = text.rfind(" ", 0, at + 1)
    inside = any(found.start < blank < found.end for found in references)
    return blank if blank > at // 2 and not inside else at
