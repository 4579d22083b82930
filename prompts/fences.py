"""Text from outside in a prompt: on one line where a line means something, and unable to pass for one of its tags."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

__all__ = ["OPENING", "lines_of", "one_line", "tag_ahead"]

OPENING = "<\uff1c\u2039\u3008\u276e\ufe64\u27e8\u29fc\u02c2"
"""Characters that look like the beginning of a tag."""
_VARIATIONS = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
_BREAKS = frozenset(map(ord, "\t\n\r\v\f\x1c\x1d\x1e\x85"))
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNWANTED = dict.fromkeys({*_DIRECTIONS, *range(0x20), *range(0x7F, 0xA0)} - _BREAKS)


def lines_of(text: str) -> list[str]:
    """The lines of a text, without marks that change the direction of writing or control a terminal."""
    if text.isascii() and text.isprintable():
        return [text]
    return text.translate(_UNWANTED).splitlines()


def one_line(text: str, joint: str = " ") -> str:
    """A text on one line, without marks as of :func:`lines_of`.

    Args:
        joint: what takes the place of a line break, with the spaces around it.
    """
    return joint.join(line for line in map(str.strip, lines_of(text)) if line)


def tag_ahead(names: Iterable[str]) -> str:
    """A pattern of what follows the opening of a tag: one of the names, however it is written or disguised.

    Between the opening and the name may be spaces, slashes and characters that a reader does not see; between the letters
    of the name such unseen characters. Letters may be wide, or letters of mathematics.
    """
    between, unseen = _classes()
    words = [f"{unseen}*".join(map(_letter, name)) for name in names]
    return rf"{between}*(?:{'|'.join(words)})" if words else ""


@cache
def _classes() -> tuple[str, str]:
    """The character classes of what may stand before a name, and of what is not seen at all."""
    codes = (*range(0x20000), *range(0xE0000, 0xE0080))
    unseen = {chr(code) for code in codes if unicodedata.category(chr(code)) in ("Cf", "Cc")}
    unseen |= {*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0", *map(chr, (*_VARIATIONS, *range(0xE0100, 0xE01F0)))}
    spaces = {chr(code) for code in range(0x3001) if unicodedata.category(chr(code)).startswith("Z")}
    return _class({*unseen, *spaces, *"/\\\uff0f\u2044\u2215\u29f8"}), _class(unseen)


def _class(characters: Iterable[str]) -> str:
    codes = sorted(map(ord, characters))
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return f"[{''.join(f'{re.escape(chr(low))}-{re.escape(chr(high))}' for low, high in ranges)}]"


@cache
def _alike() -> dict[str, str]:
    """Letter → all characters that are forms of it: wide, circled, of mathematics."""
    forms: dict[str, str] = {}
    for code in (*range(0x2100, 0x2150), *range(0x24B6, 0x24EA), *range(0xFF21, 0xFF5B), *range(0x1D400, 0x1D6A4)):
        plain = unicodedata.normalize("NFKC", chr(code)).casefold()
        if len(plain) == 1 and plain.isascii() and plain.isalpha():
            forms[plain] = forms.get(plain, "") + chr(code)
    return forms


def _letter(character: str) -> str:
    if character == "_":
        return r"[_\s]?"
    return f"[{re.escape(character)}{_alike().get(character.casefold(), '')}]"
