"""The distinct tokens of texts as numbers, for late interaction, in a compact form."""

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
    """The bag of a text with these tokens."""
    return TokenBag(array("i", sorted(set(pieces))).tobytes(), tuple(dict.fromkeys(others)))


def joined_bags(bags: Sequence[TokenBag], pieces: int) -> tuple[NDArray[np.int64], list[str], NDArray[np.int64]]:
    """The distinct tokens of several texts, and the tokens of each text as indices of these.

    Args:
        pieces: number of word pieces of the model.

    Returns:
        The distinct word pieces, ascending; the distinct other tokens, in order of occurrence; and for each token of each
        text, concatenated, its index in the word pieces followed by the other tokens.
    """
    flat = np.frombuffer(b"".join([bag.pieces for bag in bags]), np.intc)
    present = np.zeros(pieces, np.bool_)
    present[flat] = True
    used = np.flatnonzero(present)
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
        others = [numbers.setdefault(token, len(used) + len(numbers)) for token in bag.others]
        parts += [places[start:end], np.array(others, np.int64)]
        start = end
    return used, list(numbers), np.concatenate(parts)
