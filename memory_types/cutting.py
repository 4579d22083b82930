"""A text without some of its parts, each with a mark in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hexamem.errors import InvalidInputError

__all__ = ["FORGOTTEN", "MARKS", "is_cut_from", "trimmed", "without_parts"]

FORGOTTEN = "[forgotten]"
"""The mark in place of what was forgotten."""

_SHORT = "[…]"
MARKS = (FORGOTTEN, _SHORT)
"""The marks; the short one is for parts that are shorter than the other."""
_FILL = re.compile(r"(\[forgotten\]|\[…\]) +")
_MARK = re.compile(r"(?:\[forgotten\]|\[…\]) *")


def without_parts(text: str, parts: Iterable[str]) -> str:
    """The text with a mark in place of each part, padded with spaces, so that the rest has the same offsets.

    Args:
        parts: words of the text; each of their occurrences is cut. Parts that overlap are cut as one.

    Raises:
        InvalidInputError: for a part that is not in the text, or is shorter than any mark.
    """
    spans: list[tuple[int, int]] = []
    for part in dict.fromkeys(parts):
        if len(part.strip()) < len(_SHORT) or part not in text:
            raise InvalidInputError(
                f"part {part!r} is not in the message: name words of at least {len(_SHORT)} characters exactly as they "
                "are written there"
            )
        spans += [match.span() for match in re.finditer(re.escape(part), text)]
    covered: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if covered and start < covered[-1][1]:
            covered[-1] = covered[-1][0], max(end, covered[-1][1])
        else:
            covered.append((start, end))
    for start, end in covered:
        mark = FORGOTTEN if end - start >= len(FORGOTTEN) else _SHORT
        text = f"{text[:start]}{mark.ljust(end - start)}{text[end:]}"
    return text


def trimmed(text: str) -> str:
    """The text as it is shown: its marks without the spaces that fill them up."""
    return _FILL.sub(r"\1 ", text).rstrip() if any(mark in text for mark in MARKS) else text


def is_cut_from(cut: str, whole: str) -> bool:
    """Whether a text is another one with marks in place of parts of it."""
    if len(cut) != len(whole):
        return False
    end = 0
    for mark in _MARK.finditer(cut):
        if cut[end : mark.start()] != whole[end : mark.start()]:
            return False
        end = mark.end()
    return end > 0 and cut[end:] == whole[end:]
