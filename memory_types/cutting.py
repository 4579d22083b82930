"""A text without some of its parts, each with a mark in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hexamem.errors import InvalidInputError

__all__ = ["FORGOTTEN", "MARKS", "is_cut_from", "trimmed", "without_parts"]

FORGOTTEN = "[forgotten]"
"""What stands in the place of what was forgotten."""

_SHORT = "[…]"
MARKS = (FORGOTTEN, _SHORT)
"""The marks, of which the short one stands where the other has no room."""
_FILL = re.compile(r"(\[forgotten\]|\[…\]) +")
_MARK = re.compile(r"(?:\[forgotten\]|\[…\]) *")


def without_parts(text: str, parts: Iterable[str]) -> str:
    """The text with a mark in place of each part, filled up with spaces: what is left keeps its places.

    Args:
        parts: as they stand in the text, every time they do. One may be given twice, stand in another or overlap it: what
            they cover together is one part then.

    Raises:
        InvalidInputError: for a part that does not stand there, or is shorter than any mark.
    """
    spans: list[tuple[int, int]] = []
    for part in dict.fromkeys(parts):
        if len(part.strip()) < len(_SHORT) or part not in text:
            raise InvalidInputError(
                f"part {part!r} does not stand in the message: give words of at least {len(_SHORT)} characters exactly "
                "as they stand there"
            )
        spans += [(found.start(), found.end()) for found in re.finditer(re.escape(part), text)]
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
