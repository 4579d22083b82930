"""What the rules read and return: a text in its forms, candidates, and the public :class:`SecretSpan`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Candidate", "SecretSpan", "Sensitivity", "TextForms"]

Sensitivity = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretSpan:
    """One secret in a text: characters ``start`` to ``end``, the value alone without the words around it.

    ``caption`` describes the secret for people and for search; it contains neither the plaintext nor a word of it.
    """

    start: int
    end: int
    kind: str
    caption: str
    sensitivity: Sensitivity


class Candidate(NamedTuple):
    """A rule's proposal. Of two that overlap the higher ``priority`` wins, then the longer one.

    ``noun`` is the bare name of the kind. ``caption`` (default: the noun) may contain words of the text ("password of
    the wifi") and is used when they reveal nothing; with ``fixed`` it comes from a table and holds no word of the text.
    """

    start: int
    end: int
    kind: str
    noun: str
    sensitivity: Sensitivity
    priority: int
    caption: str = ""
    fixed: bool = False


_FULL_WIDTH = re.compile(r"[\uff03-\uff5e\u3000\u00a0]")
# Full-width letters, digits and marks that link or bracket a value, one to one; sentence marks are unchanged: they end it.
_TO_ASCII = {0x3000: " ", 0x00A0: " "} | {
    c: chr(c - 0xFEE0) for c in range(0xFF03, 0xFF5F) if chr(c) not in "，；？！．"
}


class TextForms:
    """A text in three forms of equal length, so that an offset means the same in each.

    ``raw`` as given; ``norm`` with full-width characters as ASCII; ``low`` is ``norm`` in lower case.
    """

    __slots__ = ("low", "norm", "raw")

    def __init__(self, text: str) -> None:
        self.raw = text
        if text.isascii():
            self.norm = text
            self.low = text.lower()
            return
        self.norm = text.translate(_TO_ASCII) if _FULL_WIDTH.search(text) else text
        low = self.norm.lower()
        if len(low) != len(text):  # a few letters grow in lower case (U+0130): they are left as they are
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.norm)
        self.low = low
