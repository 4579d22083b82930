"""The distinct tokens of texts as numbers: what late interaction compares, in a form that is small to keep."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenBag", "joined_bags", "token_bag"]

_SIZE = array("i").itemsize


class TokenBag(NamedTuple):
    """The distinct tokens of a text.

    Attributes:
        pieces: the numbers of its word pieces, ascending, as the bytes of an array of C ints.
        others: its tokens of other scripts, each once.
    """

    pieces: bytes
    others: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pieces) // _SIZE + len(self.others)


def token_bag(pieces: Iterable[int], others: Iterable[str] = ()) -> TokenBag:
    """The bag of a text by all its tokens."""
    return TokenBag(array("i", sorted(set(pieces))).tobytes(), tuple(dict.fromkeys(others)))


def joined_bags(bags: Sequence[TokenBag], pieces: int) -> tuple[NDArray[np.int64], list[str], NDArray[np.int64]]:
    """The distinct tokens of several texts, and which of them each text has.

    Args:
        pieces: how many word pieces there are; their numbers are below it.

    Returns:
        The distinct word pieces, ascending; the distinct other tokens, as they come; and for each token of each text,
        text after text, its place in the one list behind the other.
    """
    flat = np.frombuffer(b"".join([bag.pieces for bag in bags]), np.intc)
    held = np.zeros(pieces, np.bool_)
    held[flat] = True
    used = np.flatnonzero(held)
    place_of = np.empty(pieces, np.int64)
    place_of[used] = np.arange(len(used))
    places = place_of[flat]
    if not any(bag.others for bag in bags):
        return used, [], places
    numbers: dict[str, int] = {}
    parts: list[NDArray[np.int64]] = []
    start = 0
    for bag in bags:
        end = start + len(bag.pieces) // _SIZE
        others = [numbers.setdefault(one, len(used) + len(numbers)) for one in bag.others]
        parts += [places[start:end], np.array(others, np.int64)]
        start = end
    return used, list(numbers), np.concatenate(parts)
