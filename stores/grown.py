"""Arrays that grow at their end, and vectors of one byte a dimension: what a working set is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray

__all__ = ["Arrays", "Grown", "IntArray", "hash_of", "packed_names", "quantised", "short_products", "unpacked_names"]

IntArray = npt.NDArray[np.int32]
Arrays = dict[str, npt.NDArray[Any]]
"""The state of a part of a working set by name, as it is kept in a file."""


_PART = 256


class Grown:
    """An array that grows at its end, at amortised constant cost."""

    def __init__(self, dtype: npt.DTypeLike, width: int = 0) -> None:
        self._data = np.zeros((64, width) if width else 64, dtype)
        self.size = 0

    @property
    def values(self) -> npt.NDArray[Any]:
        """The rows there are, as a view."""
        return self._data[: self.size]

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return int(self._data.nbytes)

    def extend(self, rows: npt.ArrayLike) -> None:
        """Add rows behind the last."""
        new = np.asarray(rows, dtype=self._data.dtype)
        end = self.size + len(new)
        if end > len(self._data):
            grown = np.zeros((max(end, len(self._data) * 3 // 2), *self._data.shape[1:]), self._data.dtype)
            grown[: self.size] = self.values
            self._data = grown
        self._data[self.size : end] = new
        self.size = end

    def replace(self, rows: npt.NDArray[Any]) -> None:
        """Hold these rows and no others.

        Raises:
            ValueError: they are of another type or width.
        """
        if rows.dtype != self._data.dtype or rows.shape[1:] != self._data.shape[1:]:
            raise ValueError(f"{rows.dtype}{rows.shape} does not fit {self._data.dtype}{self._data.shape}")
        self._data = rows if rows.flags.writeable and rows.flags.c_contiguous else rows.copy()
        self.size = len(rows)


def quantised(vectors: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Unit vectors as one byte a dimension and a scale a row: ``vector ≈ bytes * scale``."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-9).astype(np.float32)
    return np.rint(vectors * (127.0 / peaks)[:, None]).astype(np.int8), (peaks / 127.0).astype(np.float32)


def short_products(
    rows: npt.NDArray[np.int8] | npt.NDArray[np.float16],
    others: FloatArray,
    chosen: npt.NDArray[np.integer] | None = None,
) -> FloatArray:
    """The products of vectors of few bytes with some others, float32 ``(n, len(others))``.

    In parts that fit the processor's cache, and so small that BLAS uses one thread: on a busy machine its threads wait
    for each other, many times as long.

    Args:
        chosen: the rows that are compared; all where None.
    """
    count = len(rows) if chosen is None else len(chosen)
    columns = np.ascontiguousarray(others.T, np.float32)
    found = np.empty((count, columns.shape[1]), np.float32)
    part = np.empty((_PART, rows.shape[1]), np.float32)
    for start in range(0, count, _PART):
        taken = rows[start : start + _PART] if chosen is None else np.take(rows, chosen[start : start + _PART], axis=0)
        part[: len(taken)] = taken
        np.matmul(part[: len(taken)], columns, out=found[start : start + _PART])
    return found


def hash_of(text: str) -> int:
    """A number of 64 bits that stands for a text: what is kept in a file holds no words."""
    words = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little", signed=True)


def packed_names(names: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Ids as an array of bytes, one behind the other.

    Raises:
        ValueError: one of them holds a line break.
    """
    joined = "\n".join(names)
    if joined.count("\n") > max(0, len(names) - 1):
        raise ValueError("an id holds a line break")
    return np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)


def unpacked_names(packed: npt.NDArray[np.uint8]) -> list[str]:
    """The names of :func:`packed_names`; none of them may have been empty."""
    return packed.tobytes().decode("utf-8", "surrogatepass").split("\n") if len(packed) else []
