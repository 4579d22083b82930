"""English numbers as they stand in dates: "two", "twenty-five", "half a", "the third"."""

from __future__ import annotations

import re

__all__ = ["COUNT", "ONES", "ORDINAL", "TENS", "number", "ordinal"]

ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
"""Numbers in words, from one and from twenty."""
_TO_NINTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_TO_NINETEENTH = ("tenth", "eleventh", "twelfth", *(f"{name}th" for name in ONES[12:]))
_ORDINALS = (
    *_TO_NINTH,
    *_TO_NINETEENTH,
    "twentieth",
    *(f"twenty-{name}" for name in _TO_NINTH),
    "thirtieth",
    "thirty-first",
)
_NUMBERS = {
    **{name: float(value) for value, name in enumerate(ONES, 1)},
    **{name: float(10 * value) for value, name in enumerate(TENS, 2)},
    **{f"{tens} {one}": 10.0 * value + ones for value, tens in enumerate(TENS, 2) for ones, one in enumerate(ONES[:9], 1)},
    **{"a": 1.0, "an": 1.0, "the": 1.0, "a couple of": 2.0, "a half": 0.5, "half a": 0.5, "one and a half": 1.5},
}  # fmt: skip
COUNT = (
    rf"(?:a couple of|half an?|one and a half|\d{{1,4}}|(?:{'|'.join(TENS)})(?:[\s-](?:{'|'.join(ONES[:9])})\b)?"
    rf"|{'|'.join(sorted(ONES, key=len, reverse=True))}|an?)"
)
"""A count of days, weeks and so on."""
ORDINAL = rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True)).replace('-', '[ -]')})"
"""The day of a month in words."""


def number(text: str) -> float:
    """The value of what :data:`COUNT` finds, or of "the".

    Raises:
        KeyError: it is no number.
    """
    text = re.sub(r"[\s-]+", " ", text.lower().strip())
    return float(text) if text.isdecimal() else _NUMBERS["half a" if text == "half an" else text]


def ordinal(text: str) -> int:
    """The value of what :data:`ORDINAL` finds, 1 to 31.

    Raises:
        ValueError: it is no ordinal.
    """
    return _ORDINALS.index(text.lower().strip().replace(" ", "-")) + 1
