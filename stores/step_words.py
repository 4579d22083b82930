"""The stems of each row of a working set: numbers of stems, and for each stem its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from hexamem.stores.growing_array import GrowingArray, IntArray
from hexamem.stores.lexical.records import make_stemmer
from hexamem.stores.lexical.tokens import tokenize_document, tokenize_query

__all__ = ["StepWords"]

_UNSORTED_SHARE = 0.1  # of the words that may be outside of the sorted postings
_MIN_UNSORTED = 4_096
_SHORT = 1 << 16


class StepWords:
    """The stems of rows.

    Attributes:
        length: number of words of each row, stop words included.
        total: number of words of all rows.
    """

    def __init__(self) -> None:
        self._stemmer = make_stemmer()
        self._stem_of: dict[str, int] = {}  # word → number of its stem
        self._number_of: dict[str, int] = {}
        self._length = GrowingArray(np.float32)
        self.total = 0
        # The rows of each stem, each row as often as it has the stem; the latest words are not sorted in yet.
        self._rows: IntArray = np.empty(0, np.int32)
        self._starts: npt.NDArray[np.int64] = np.zeros(1, np.int64)
        self._late_stems, self._late_rows = GrowingArray(np.int32), GrowingArray(np.int32)

    @property
    def length(self) -> npt.NDArray[np.float32]:
        return self._length.values

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        growing = (self._length, self._late_stems, self._late_rows)
        arrays = sum(array.nbytes for array in growing) + self._rows.nbytes + self._starts.nbytes
        return arrays + 100 * len(self._number_of) + 120 * len(self._stem_of)

    def add(self, texts: Sequence[str]) -> None:
        """Append the words of new rows."""
        rows = np.arange(self._length.size, self._length.size + len(texts))
        self._length.extend(np.zeros(len(texts), np.float32))
        self._write(rows, texts)

    def replace(self, rows: npt.NDArray[np.int64], texts: Sequence[str]) -> None:
        """Replace the words of rows."""
        self.sort()
        stays = ~np.isin(self._rows, rows)
        stems, others = self._stems()[stays], self._rows[stays]
        self.total = len(others)
        self._write(rows, texts)
        stems = np.concatenate([stems, self._late_stems.values])
        others = np.concatenate([others, self._late_rows.values])
        order = np.argsort(others, kind="stable")
        self._set(stems[order], others[order])

    def _write(self, rows: npt.NDArray[np.int64], texts: Sequence[str]) -> None:
        streams = [tokenize_document(text).stemmed for text in texts]
        stem_of = self._stem_of
        new = list({word for words in streams for word in words if word not in stem_of})
        if new:
            # One call for all, since a call is slow and the analyzer is fast. A stem contains no space.
            for word, stem in zip(new, self._stemmer.analyze(" ".join(new)), strict=True):
                stem_of[word] = self._number(stem)
        lengths = np.fromiter(map(len, streams), np.int64, len(streams))
        numbers = map(stem_of.__getitem__, chain.from_iterable(streams))
        self._late_stems.extend(np.fromiter(numbers, np.int32, int(lengths.sum())))
        self._late_rows.extend(np.repeat(rows, lengths))
        self._length.values[rows] = lengths
        self.total += int(lengths.sum())

    def _number(self, stem: str) -> int:
        return self._number_of.setdefault(stem, len(self._number_of))

    def known(self, question: str) -> list[tuple[str, int]]:
        """The distinct stems of a question, without its question words, with their numbers; -1 for an unknown stem."""
        words = tokenize_query(question).stemmed
        stems = list(dict.fromkeys(self._stemmer.analyze(" ".join(words)))) if words else []
        return [(stem, self._number_of.get(stem, -1)) for stem in stems]

    def counted(self, text: str) -> tuple[dict[int, int], int]:
        """The count of each stem, by number, in a text that is not a row, and its number of words."""
        words = tokenize_document(text).stemmed
        # The words of such a text are not stored; its stems are numbered, since a later row may have them.
        numbers = {word: self._stem_of.get(word, -1) for word in words}
        missing = [word for word, number in numbers.items() if number < 0]
        if missing:
            for word, stem in zip(missing, self._stemmer.analyze(" ".join(missing)), strict=True):
                numbers[word] = self._number(stem)
        return Counter(numbers[word] for word in words), len(words)

    def rows_holding(self, number: int) -> IntArray:
        """The rows with a stem, ascending, each as often as it has the stem."""
        self.prepare()
        known = number + 1 < len(self._starts)
        early = self._rows[self._starts[number] : self._starts[number + 1]] if known else self._rows[:0]
        if not self._late_stems.size:
            return early
        late = self._late_rows.values[self._late_stems.values == number]
        return np.concatenate([early, late]) if len(late) else early

    def prepare(self) -> None:
        """Sort the latest words into the postings when they are many."""
        if self._late_stems.size > max(_MIN_UNSORTED, int(_UNSORTED_SHARE * len(self._rows))):
            self.sort()

    def sort(self) -> None:
        """Sort the latest words into the postings."""
        stems = np.concatenate([self._stems(), self._late_stems.values])
        self._set(stems, np.concatenate([self._rows, self._late_rows.values]))

    def _stems(self) -> IntArray:
        """The stem of each word of the postings."""
        return np.repeat(np.arange(len(self._starts) - 1, dtype=np.int32), np.diff(self._starts))

    def _set(self, stems: IntArray, rows: IntArray) -> None:
        """Set the postings to words whose rows are ascending."""
        few = len(self._number_of) <= _SHORT  # numbers of 16 bits are sorted by their digits, many times as fast
        self._rows = rows[np.argsort(stems.astype(np.uint16) if few else stems, kind="stable")]
        counts = np.bincount(stems, minlength=len(self._number_of))
        self._starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        self._late_stems, self._late_rows = GrowingArray(np.int32), GrowingArray(np.int32)
