"""Unit vectors of one collection in memory, so that a comparison with many of them needs no database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hexamem.stores.vectors.protocol import FloatArray

__all__ = ["Matrix"]


class Matrix:
    """Rows by id. Not thread-safe.

    Attributes:
        whole: whether it has every record of the collection.
        used: the number of the index's lookup that last used it.
    """

    def __init__(self, dimension: int) -> None:
        self.whole = False
        self.used = 0
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        self._vectors = np.empty((256, dimension), np.float32)

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Memory of the vectors."""
        return self._vectors.nbytes

    def put(self, ids: Sequence[str], vectors: FloatArray) -> None:
        """Add or replace the unit vectors ``(n, d)`` of distinct ids."""
        new = [record_id for record_id in ids if record_id not in self._rows]
        needed = len(self._ids) + len(new)
        if needed > len(self._vectors):
            larger = np.empty((needed + needed // 8, self._vectors.shape[1]), np.float32)
            larger[: len(self._ids)] = self._vectors[: len(self._ids)]
            self._vectors = larger
        self._rows.update(zip(new, range(len(self._ids), needed), strict=True))
        self._ids += new
        self._vectors[[self._rows[record_id] for record_id in ids]] = vectors

    def delete(self, ids: Sequence[str]) -> None:
        """Remove ids; the last row takes the place of each."""
        for record_id in ids:
            row = self._rows.pop(record_id, None)
            if row is None:
                continue
            last = self._ids.pop()
            if last != record_id:
                self._ids[row] = last
                self._rows[last] = row
                self._vectors[row] = self._vectors[len(self._ids)]

    def nearest(self, query: FloatArray, k: int, ids: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """The ``k`` nearest of all rows, or of the rows of some ids, with their cosines, best first.

        Args:
            query: a unit vector.
        """
        names = self._ids
        scores = self._cosines(self._vectors[: len(names)], query)
        if ids is not None:
            rows = [row for record_id in ids if (row := self._rows.get(record_id)) is not None]
            names, scores = [names[row] for row in rows], scores[rows]
        if k < len(names):
            best = np.argpartition(-scores, k - 1)[:k]
            best = best[np.argsort(-scores[best], kind="stable")]
        else:
            best = np.argsort(-scores, kind="stable")
        return [(names[place], float(scores[place])) for place in best.tolist()]

    @staticmethod
    def _cosines(vectors: FloatArray, query: FloatArray) -> npt.NDArray[np.float32]:
        # Not `@`: BLAS would start its threads and take five times longer.
        return np.asarray(np.einsum("ij,j->i", vectors, query))
