"""The distinct tokens of each row of a working set, by number, for late interaction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.growing_array import GrowingArray, IntArray, PieceVectors, dot_products

__all__ = ["StepTokens"]


class StepTokens:
    """Tokens of rows. Word pieces have the numbers of their model; tokens of other scripts, stored with a vector of two
    bytes per dimension, have higher numbers."""

    def __init__(self, pieces: PieceVectors) -> None:
        self.pieces, self._model = pieces, pieces.model
        self._numbers, self._start, self._count = GrowingArray(np.int32), GrowingArray(np.int64), GrowingArray(np.int32)
        self._frequency: npt.NDArray[np.int32] = np.zeros(pieces.model.pieces, np.int32)
        self._number_of: dict[str, int] = {}  # of tokens of other scripts, from 0
        self._vectors = GrowingArray(np.float16, pieces.model.width)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        arrays = (self._numbers, self._start, self._count, self._vectors)
        return sum(array.nbytes for array in arrays) + self._frequency.nbytes + 100 * len(self._number_of)

    def add(self, texts: Sequence[str]) -> None:
        """Append the tokens of new rows."""
        starts, counts = self._write(texts)
        self._start.extend(starts)
        self._count.extend(counts)

    def replace(self, rows: npt.NDArray[np.int64], texts: Sequence[str]) -> None:
        """Replace the tokens of rows; the former ones stay in memory, without a row."""
        np.subtract.at(self._frequency, self.of(rows)[0], 1)
        self._start.values[rows], self._count.values[rows] = self._write(texts)

    def _write(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Store the tokens of texts; returns where those of each begin, and their number."""
        tokens = self._model.tokenize(texts)
        lists = [[*ids, *self._numbered(others)] if others else ids for ids, others in tokens]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        flat = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum()))
        both = np.unique((np.repeat(np.arange(len(lists)), lengths) << 32) | flat)
        counts = np.bincount(both >> 32, minlength=len(lists))
        distinct = (both & 0xFFFFFFFF).astype(np.int32)
        starts = self._numbers.size + np.cumsum(counts) - counts
        self._numbers.extend(distinct)
        self._widen()
        np.add.at(self._frequency, distinct, 1)
        return starts, counts

    def _widen(self) -> None:
        missing = self._model.pieces + len(self._number_of) - len(self._frequency)
        if missing > 0:
            self._frequency = np.pad(self._frequency, (0, missing))

    def _numbered(self, others: Sequence[str]) -> list[int]:
        """The numbers of tokens of other scripts; unknown ones are added."""
        new = [token for token in dict.fromkeys(others) if token not in self._number_of]
        if new:
            self._vectors.extend(unit_rows(self._model.token_rows(np.empty(0, np.int64), new)))
            self._number_of.update(zip(new, range(len(self._number_of), len(self._number_of) + len(new)), strict=True))
        return [self._model.pieces + self._number_of[token] for token in others]

    def bag(self, ids: Sequence[int], others: Sequence[str]) -> IntArray:
        """The numbers of the distinct tokens of a text that is not a row."""
        numbers = {*ids, *self._numbered(others)} if others else set(ids)
        self._widen()
        return np.fromiter(sorted(numbers), np.int32, len(numbers))

    def of(self, rows: npt.NDArray[np.integer]) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """The numbers of the tokens of rows, concatenated, and the number of tokens of each row."""
        counts = self._count.values[rows].astype(np.int64)
        starts = self._start.values[rows]
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - counts), counts)
        return np.take(self._numbers.values, places), counts

    def known(self, ids: Sequence[int], others: Sequence[str]) -> npt.NDArray[np.int64]:
        """Numbers of the distinct word pieces, then of the other tokens, -1 for an unknown one."""
        base = self._model.pieces
        numbers = (self._number_of.get(token, -1 - base) for token in others)
        return np.array([*dict.fromkeys(ids), *(base + number for number in numbers)], np.int64)

    def frequency(self, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """The number of rows with each token."""
        known = (numbers >= 0) & (numbers < len(self._frequency))
        return np.where(known, self._frequency[np.where(known, numbers, 0)], 0).astype(np.int64)

    def cosines(self, numbers: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of each token with unit vectors ``(n, dimension)``: ``(len(numbers), n)``."""
        own = numbers < self._model.pieces
        if own.all():
            return self.pieces.cosines(numbers, others)
        cosines = np.empty((len(numbers), len(others)), np.float32)
        cosines[own] = self.pieces.cosines(numbers[own], others)
        cosines[~own] = dot_products(self._vectors.values, others, numbers[~own] - self._model.pieces)
        return cosines
