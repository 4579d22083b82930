"""The arrays of a working set: arrays that grow at their end, and vectors of one byte per dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray, TokenModel

__all__ = ["Column", "GrowingArray", "IntArray", "PieceVectors", "dot_products", "quantize"]

IntArray = npt.NDArray[np.int32]

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


class Column:
    """The :class:`GrowingArray` ``_name`` of an instance, read as an array under ``name``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: object, owner: type | None = None) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = getattr(instance, self._name).values
        return values


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


class PieceVectors:
    """Vectors of word pieces, read from the model when first compared. Thread-safe.

    Attributes:
        model: the model of the pieces.
    """

    def __init__(self, model: TokenModel) -> None:
        self.model = model
        self._bytes = np.zeros((model.pieces, model.width), np.int8)
        self._inverse = np.zeros(model.pieces, np.float32)  # of the lengths; 0 for a piece that was not read yet

    def cosines(self, numbers: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of each piece with unit vectors ``(n, dimension)``: ``(len(numbers), n)``."""
        inverse = self._inverse[numbers]
        if not inverse.all():
            self._read(np.unique(numbers[inverse == 0]))
            inverse = self._inverse[numbers]
        products = dot_products(self._bytes, others, numbers)
        products *= inverse[:, None]
        return products

    def _read(self, numbers: npt.NDArray[np.integer]) -> None:
        rows, _ = quantize(self.model.token_rows(numbers, ()))
        self._bytes[numbers] = rows
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float32))
        self._inverse[numbers] = 1 / np.maximum(lengths, 1e-9)  # last: it marks the piece as read
