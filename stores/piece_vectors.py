"""The vectors of an embedder's word pieces, one byte per dimension, shared by all working sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray, TokenModel
from hexamem.stores.growing_array import dot_products, quantize

__all__ = ["PieceVectors"]

_TINY = 1e-9


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
        self._inverse[numbers] = 1 / np.maximum(lengths, _TINY)  # last: it marks the piece as read
