"""The directions of an embedder's word pieces, one byte a dimension, for all working sets that use it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray, TokenModel
from hexamem.stores.growing_array import dot_products, quantize

__all__ = ["PieceVectors"]

_TINY = 1e-9


class PieceVectors:
    """Safe to use from several threads. A piece is read from the model when it is first compared.

    Attributes:
        model: whose pieces these are.
    """

    def __init__(self, model: TokenModel) -> None:
        self.model = model
        self._bytes = np.zeros((model.pieces, model.width), np.int8)
        self._inverse = np.zeros(model.pieces, np.float32)  # of the lengths; 0 for one that was not read yet

    def cosines(self, numbers: npt.NDArray[np.integer], others: FloatArray) -> FloatArray:
        """The cosine of each piece with each of some unit vectors ``(n, dimension)``: ``(len(numbers), n)``."""
        inverse = self._inverse[numbers]
        if not inverse.all():
            self._read(np.unique(numbers[inverse == 0]))
            inverse = self._inverse[numbers]
        found = dot_products(self._bytes, others, numbers)
        found *= inverse[:, None]
        return found

    def _read(self, numbers: npt.NDArray[np.integer]) -> None:
        rows, _ = quantize(self.model.token_rows(numbers, ()))
        self._bytes[numbers] = rows
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float32))
        self._inverse[numbers] = 1 / np.maximum(lengths, _TINY)  # last: it says that the piece is there
