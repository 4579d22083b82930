"""The distinct tokens of texts as numbers, remembered, since recalls compare questions with the same texts again."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenBags"]

_MOST_TOKENS = 1_000_000  # remembered at most, 4 bytes each: some 30,000 turns of a conversation
_MOST_TEXTS = 50_000


class TokenBags:
    """Texts as sorted arrays of the numbers of their distinct tokens. Thread-safe.

    Word pieces have the numbers that the tokenizer gives them; tokens of other scripts get numbers above these, as
    they come. A text is remembered by a digest, not by its words.

    Args:
        pieces: how many word pieces there are.
        tokenize: word-piece ids (without unknown ones) and other tokens of each text; slow, so asked once a text.
    """

    def __init__(
        self, pieces: int, tokenize: Callable[[Sequence[str]], Sequence[tuple[Sequence[int], Sequence[str]]]]
    ) -> None:
        self._pieces, self._tokenize = pieces, tokenize
        self._lock = threading.Lock()
        self._clear()

    def of(self, texts: Sequence[str]) -> tuple[list[NDArray[np.int32]], list[str]]:
        """The bag of each text, and the tokens of which ``pieces``, ``pieces + 1``, … are the numbers."""
        digests = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            if self._size > _MOST_TOKENS or len(self._bags) > _MOST_TEXTS:
                self._clear()
            new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._bags}
            if new:
                for digest, (ids, tokens) in zip(new, self._tokenize(list(new.values())), strict=True):
                    bag = np.array(sorted({*ids, *map(self._number, tokens)}), dtype=np.int32)
                    self._bags[digest] = bag
                    self._size += len(bag)
            return [self._bags[digest] for digest in digests], self._tokens

    def _number(self, token: str) -> int:
        number = self._numbers.get(token)
        if number is None:
            number = self._numbers[token] = self._pieces + len(self._tokens)
            self._tokens.append(token)
        return number

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._bags: dict[bytes, NDArray[np.int32]] = {}
        self._numbers: dict[str, int] = {}
        self._tokens: list[str] = []
        self._size = 0
