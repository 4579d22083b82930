"""A bounded working set of vectors, so that an exact search among ids does not fetch the same vectors twice.

Fetching from Chroma costs 20 µs a vector and more; a product with a cached one less than 1 µs. Rows are unit length, so a product
is a cosine. Only an embedded store may use it: it has the collections to itself and tells the cache of every change.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

__all__ = ["VectorCache", "unit_rows"]


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows of ``(n, d)`` to length 1; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: np.ndarray = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return scaled


class _Block:
    """The cached rows of one collection."""

    def __init__(self, dimension: int) -> None:
        self.rows: dict[str, int] = {}
        self.matrix = np.empty((256, dimension), np.float32)
        self.used = 0

    def add(self, ids: Sequence[str], vectors: np.ndarray) -> None:
        if self.used + len(ids) > len(self.matrix):
            grown = np.empty((max(2 * len(self.matrix), self.used + len(ids)), self.matrix.shape[1]), np.float32)
            grown[: self.used] = self.matrix[: self.used]
            self.matrix = grown
        self.matrix[self.used : self.used + len(ids)] = vectors
        self.rows.update(zip(ids, range(self.used, self.used + len(ids)), strict=True))
        self.used += len(ids)


class VectorCache:
    """Unit vectors by collection and id, within a budget of bytes; the collection used longest ago leaves first.

    Thread-safe. A change is told by :meth:`discard`, before and after it is written; vectors that were fetched before
    a change are not taken in (:meth:`version`).

    Args:
        dimension: length of the vectors.
        budget: bytes for all collections together; 0 caches nothing.
    """

    def __init__(self, dimension: int, budget: int) -> None:
        self._dimension = dimension
        self._budget = budget
        self._blocks: OrderedDict[str, _Block] = OrderedDict()
        self._versions: dict[str, int] = {}
        self._lock = threading.Lock()

    def version(self, name: str) -> int:
        """How often the collection was changed; hand it to :meth:`add` with what was fetched after this call."""
        with self._lock:
            return self._versions.get(name, 0)

    def missing(self, name: str, ids: Iterable[str]) -> list[str]:
        """Those of ``ids`` that are not cached."""
        with self._lock:
            block = self._blocks.get(name)
            return list(ids) if block is None else [item for item in ids if item not in block.rows]

    def add(self, name: str, version: int, ids: Sequence[str], vectors: np.ndarray) -> None:
        """Take in unit vectors ``(n, d)`` fetched at ``version``; nothing happens if a change came in between."""
        with self._lock:
            if version != self._versions.get(name, 0) or not len(ids):
                return
            block = self._blocks.setdefault(name, _Block(self._dimension))
            fresh = [position for position, item in enumerate(ids) if item not in block.rows]
            block.add([ids[position] for position in fresh], vectors[fresh])
            self._blocks.move_to_end(name)
            while sum(block.matrix.nbytes for block in self._blocks.values()) > self._budget:
                self._blocks.popitem(last=False)

    def similarities(self, name: str, query: np.ndarray, ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Cosines of the unit vector ``query`` ``(d,)`` with those of ``ids`` that are cached: (found ids, cosines)."""
        with self._lock:
            block = self._blocks.get(name)
            if block is None:
                return [], np.empty(0, np.float32)
            self._blocks.move_to_end(name)
            found = [item for item in ids if item in block.rows]
            rows = np.fromiter((block.rows[item] for item in found), np.int64, len(found))
            if len(rows) * 4 > block.used:
                return found, (block.matrix[: block.used] @ query)[rows]
            return found, block.matrix[rows] @ query

    def discard(self, name: str, ids: Iterable[str] | None = None) -> None:
        """Forget these vectors (``None``: all of the collection), because they are being changed."""
        with self._lock:
            self._versions[name] = self._versions.get(name, 0) + 1
            block = self._blocks.get(name)
            if block is None:
                return
            if ids is None:
                del self._blocks[name]
                return
            for item in ids:
                block.rows.pop(item, None)
            if len(block.rows) * 2 < block.used and block.used > 256:
                del self._blocks[name]
