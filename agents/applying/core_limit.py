"""The limit of a core block: compacted by dropping what it says twice; what is still too much moves, nothing is lost."""

from __future__ import annotations

from typing import NamedTuple

from ... import lazy_re as re
from ...intent.phrases.sentence_splitting import SentenceSplitter
from ...stores.secrets import find_references

__all__ = ["Fitted", "fit_into"]

_UNITS = SentenceSplitter(re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])"))


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
    lines = [re.sub(r"[^\S\n]+", " ", line).strip() for line in value.split("\n")]
    seen: set[str] = set()
    units: list[tuple[str, str]] = []  # what joins it to the one before, its text
    for line in lines:
        glue = "\n"
        for unit in (part.strip() for part in _UNITS.split(line)):
            key = unit.casefold().strip(" .!?。！？；;,，-*•")
            if not key or key in seen:
                continue
            seen.add(key)
            units.append((glue, unit))
            glue = "" if unit[-1] in "。！？；" else " "
    kept, over = "", list[str]()
    for glue, unit in units:
        longer = f"{kept}{glue}{unit}" if kept else unit
        if not over and len(longer) <= limit:
            kept = longer
        elif not kept:
            at = _cut(unit, limit)
            kept, rest = unit[:at].rstrip(), unit[at:].lstrip()
            over += [rest] if rest else []
        else:
            over.append(unit)
    return Fitted(kept, tuple(over))


def _cut(text: str, limit: int) -> int:
    """Where to cut a text so that its first part has at most ``limit`` characters."""
    at = limit
    for found in find_references(text):
        if found.start < at < found.end:
            at = found.start
    if at == len(text) or at == 0:
        return at
    blank = text.rfind(" ", 0, at + 1)
    inside = any(found.start < blank < found.end for found in find_references(text))
    return blank if blank > at // 2 and not inside else at
