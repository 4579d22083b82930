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


_LATELY = 256
"""Lookups for which a collection counts as in use."""


def _cosines(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Products of unit rows with a unit vector. Not by ``@``: BLAS wakes its threads for it, and takes five times longer."""
    return np.asarray(np.einsum("ij,j->i", rows, query))


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows of ``(n, d)`` to length 1; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: np.ndarray = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return scaled


def _spacious(count: int) -> int:
    """For how many rows there is room where so many stand: some more come at a constant cost each."""
    return max(256, count + count // 8)


class _Block:
    """The cached rows of one collection; ``lacking``: the ids that are missing of the whole, None where it is a part."""

    def __init__(self, dimension: int) -> None:
        self.rows: dict[str, int] = {}
        self.ids: list[str] = []
        self.matrix = np.empty((_spacious(0), dimension), np.float32)
        self.used = 0
        self.lacking: set[str] | None = None
        self.touched = 0

    def add(self, ids: Sequence[str], vectors: np.ndarray) -> None:
        if self.used + len(ids) > len(self.matrix):
            grown = np.empty((_spacious(self.used + len(ids)), self.matrix.shape[1]), np.float32)
            grown[: self.used] = self.matrix[: self.used]
            self.matrix = grown
        self.matrix[self.used : self.used + len(ids)] = vectors
        self.rows.update(zip(ids, range(self.used, self.used + len(ids)), strict=True))
        self.ids += ids
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
        self._lookups = 0
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
            self._touch(name, block)
            self._bound()

    def _bound(self) -> None:
        while sum(block.matrix.nbytes for block in self._blocks.values()) > self._budget:
            self._blocks.popitem(last=False)

    def has_room(self, name: str, count: int) -> bool:
        """Whether so many vectors fit beside the collections that were asked lately: they would push each other out."""
        with self._lock:
            busy = [
                block.matrix.nbytes
                for other, block in self._blocks.items()
                if other != name and self._lookups - block.touched < _LATELY
            ]
            return sum(busy) + _spacious(count) * self._dimension * 4 <= self._budget

    def size(self, name: str) -> int:
        """How many vectors of the collection are cached."""
        with self._lock:
            block = self._blocks.get(name)
            return 0 if block is None else len(block.rows)

    def lacking(self, name: str) -> list[str] | None:
        """What the cache lacks of a collection that it holds as a whole; None where it holds a part or nothing."""
        with self._lock:
            block = self._blocks.get(name)
            return None if block is None or block.lacking is None else list(block.lacking)

    def complete(self, name: str, version: int, known: Sequence[str] | None = None) -> None:
        """Tell that everything of a collection was added, as it was at ``version``.

        Args:
            known: the ids that were lacking and have been looked up since; None where all of it was read.
        """
        with self._lock:
            block = self._blocks.get(name)
            if block is None or version != self._versions.get(name, 0):
                return
            block.lacking = set() if known is None or block.lacking is None else block.lacking.difference(known)

    def nearest(self, name: str, query: np.ndarray, k: int) -> list[tuple[str, float]] | None:
        """The ``k`` nearest of the whole collection with their cosines, exact; None where the cache lacks any of it."""
        with self._lock:
            block = self._blocks.get(name)
            if block is None or block.lacking is None or block.lacking:
                return None
            self._touch(name, block)
            scores = _cosines(block.matrix[: block.used], query)
            spare = block.used - len(block.rows)  # rows of vectors that were replaced
            count = min(k + spare, block.used)
            best = np.argpartition(-scores, count - 1)[:count] if count else np.empty(0, np.int64)
            best = best[np.argsort(-scores[best], kind="stable")]
            found = [(block.ids[row], float(scores[row]), row) for row in best.tolist()]
            return [(one, score) for one, score, row in found if block.rows.get(one) == row][:k]

    def similarities(self, name: str, query: np.ndarray, ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Cosines of the unit vector ``query`` ``(d,)`` with those of ``ids`` that are cached: (found ids, cosines)."""
        with self._lock:
            block = self._blocks.get(name)
            if block is None:
                return [], np.empty(0, np.float32)
            self._touch(name, block)
            found = [item for item in ids if item in block.rows]
            rows = np.fromiter((block.rows[item] for item in found), np.int64, len(found))
            if len(rows) * 4 > block.used:
                return found, _cosines(block.matrix[: block.used], query)[rows]
            return found, _cosines(block.matrix[rows], query)

    def _touch(self, name: str, block: _Block) -> None:
        self._lookups += 1
        block.touched = self._lookups
        self._blocks.move_to_end(name)

    def written(self, name: str, ids: Sequence[str], vectors: np.ndarray | None) -> None:
        """Tell that these vectors were replaced by unit vectors ``(n, d)``, or (None) deleted: a whole collection stays whole.

        Only from where no other change of the collection can come in between.
        """
        self.discard(name, ids)
        with self._lock:
            block = self._blocks.get(name)
            if block is None or block.lacking is None:
                return
            block.lacking.difference_update(ids)
            if vectors is not None:
                block.add(ids, vectors)
                self._bound()

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
            changed = set(ids)
            for item in changed:
                row = block.rows.pop(item, None)
                if row is not None:
                    block.ids[row] = ""
            if block.lacking is not None:
                block.lacking |= changed
            if len(block.rows) * 2 < block.used and block.used > 256:
                del self._blocks[name]
