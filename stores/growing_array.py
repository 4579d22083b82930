"""The arrays of a working set: arrays that grow at their end, and vectors of one byte per dimension."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray

__all__ = ["Arrays", "GrowingArray", "IntArray", "dot_products", "hash_text", "pack_ids", "quantize", "unpack_ids"]

IntArray = npt.NDArray[np.int32]
Arrays = dict[str, npt.NDArray[Any]]
"""Arrays by name: the state of a part of a working set, as a file holds it."""

_ROWS_AT_ONCE = 256


class GrowingArray:
    """An array that grows at its end, at amortised constant cost."""

    def __init__(self, dtype: npt.DTypeLike, width: int = 0) -> None:
        self._data = np.zeros((64, width) if width else 64, dtype)
        self.size = 0

    @property
    def values(self) -> npt.NDArray[Any]:
        """The rows, as a view."""
        return self._data[: self.size]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return int(self._data.nbytes)

    def extend(self, rows: npt.ArrayLike) -> None:
        """Append rows."""
        new = np.asarray(rows, dtype=self._data.dtype)
        end = self.size + len(new)
        if end > len(self._data):
            larger = np.zeros((max(end, len(self._data) * 3 // 2), *self._data.shape[1:]), self._data.dtype)
            larger[: self.size] = self.values
            self._data = larger
        self._data[self.size : end] = new
        self.size = end

    def replace(self, rows: npt.NDArray[Any]) -> None:
        """Replace all rows.

        Raises:
            ValueError: the rows are of another type or width.
        """
        if rows.dtype != self._data.dtype or rows.shape[1:] != self._data.shape[1:]:
            raise ValueError(f"{rows.dtype}{rows.shape} does not fit {self._data.dtype}{self._data.shape}")
        self._data = rows if rows.flags.writeable and rows.flags.c_contiguous else rows.copy()
        self.size = len(rows)


def quantize(vectors: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Unit vectors as one byte per dimension and one scale per row: ``vector ≈ bytes * scale``."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-9).astype(np.float32)
    return np.rint(vectors * (127.0 / peaks)[:, None]).astype(np.int8), (peaks / 127.0).astype(np.float32)


def dot_products(
    rows: npt.NDArray[np.int8] | npt.NDArray[np.float16],
    others: FloatArray,
    chosen: npt.NDArray[np.integer] | None = None,
) -> FloatArray:
    """The dot products of quantized rows with other vectors, float32 ``(n, len(others))``.

    In blocks that fit the processor's cache and are so small that BLAS uses one thread: on a busy machine its threads
    wait for each other, many times as long.

    Args:
        rows: ``(m, dimension)``.
        others: ``(k, dimension)``.
        chosen: indices of the rows to compare; None for all.
    """
    count = len(rows) if chosen is None else len(chosen)
    columns = np.ascontiguousarray(others.T, np.float32)
    products = np.empty((count, columns.shape[1]), np.float32)
    floats = np.empty((_ROWS_AT_ONCE, rows.shape[1]), np.float32)
    for start in range(0, count, _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        narrow = rows[block] if chosen is None else np.take(rows, chosen[block], axis=0)
        floats[: len(narrow)] = narrow
        np.matmul(floats[: len(narrow)], columns, out=products[block])
    return products


def hash_text(text: str) -> int:
    """A 64-bit hash of a text: the files of working sets contain no words."""
    words = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little", signed=True)


def pack_ids(ids: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Ids as one array of bytes, separated by line breaks.

    Raises:
        ValueError: an id contains a line break.
    """
    joined = "\n".join(ids)
    if joined.count("\n") > max(0, len(ids) - 1):
        raise ValueError("an id contains a line break")
    return np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)


def unpack_ids(packed: npt.NDArray[np.uint8]) -> list[str]:
    """The ids of :func:`pack_ids`; none of them may have been empty."""
    return packed.tobytes().decode("utf-8", "surrogatepass").split("\n") if len(packed) else []
