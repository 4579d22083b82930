"""The vectors of one home: a vector store behind checks of arguments and a cache of matrices in memory."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from hexamem.errors import EmbedderMismatchError, InvalidInputError, MissingUserError, StoreClosedError
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.vectors.protocol import PARTS, FloatArray, Metadata, Part, VectorStore

__all__ = ["VectorIndex"]

_RECENT = 256  # a matrix used in the last so many lookups counts as in use
_USER_KEY = re.compile(r"[0-9a-f]{8,128}")


class _Matrix:
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
    def _cosines(vectors: FloatArray, query: FloatArray) -> FloatArray:
        # Not `@`: BLAS would start its threads and take five times longer.
        return np.asarray(np.einsum("ij,j->i", vectors, query))


class _State:
    """The state of one part of one user."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.queries = 0
        self.checked = False
        self.large = False


class VectorIndex:
    """A :class:`VectorStore` bound to one home and one embedder. Thread-safe.

    A small collection is read into memory at its second query and compared there exactly; a search among ids is always
    exact. A home is open in one process at a time and owners contain the home's id, so no other process changes what is
    in memory.

    Args:
        store: the vectors.
        home: the home's id.
        embedder: the name of the embedder, for messages; ``dimension`` and ``fingerprint`` are its own.
        matrix_rows: maximum records of a collection in memory: comparing 10,000 of 384 dimensions takes 1 ms, a query of
            Chroma's graph 2 ms.
        matrix_bytes: maximum memory of all matrices; the least recently used is evicted first.
    """

    def __init__(
        self,
        store: VectorStore,
        *,
        home: str,
        embedder: str,
        dimension: int,
        fingerprint: str,
        matrix_rows: int = 12_000,
        matrix_bytes: int = 64 << 20,
    ) -> None:
        self.store = store
        self._home, self._embedder, self._dimension, self._fingerprint = home, embedder, dimension, fingerprint
        self._matrix_rows, self._matrix_bytes = matrix_rows, matrix_bytes
        self._guard = threading.Lock()
        self._states: dict[tuple[str, Part], _State] = {}
        self._matrices: OrderedDict[tuple[str, Part], _Matrix] = OrderedDict()
        self._lookups = 0
        self._closed = False

    @property
    def notices(self) -> list[str]:
        """One line for each problem that was found when the store was opened."""
        return list(getattr(self.store, "notices", ()))

    # -------------------------------------------------------------------------------------------------------- writing

    def upsert(
        self, user_key: str, part: Part, ids: Sequence[str], vectors: FloatArray, metadatas: Sequence[Metadata]
    ) -> None:
        """Add or replace records; searches find them when this returns.

        Args:
            ids: n distinct ids.
            vectors: ``(n, d)``, finite; their lengths do not matter.
            metadatas: n mappings, as in :meth:`VectorStore.upsert`; empty lists are left out.

        Raises:
            InvalidInputError: wrong shapes, numbers that are not finite, or an id twice; nothing was stored.
            EmbedderMismatchError: the collection holds vectors of another embedder.
            CorruptFileError: the collection must be reset and rebuilt first.
            StorageFullError, HomeNotWritableError: not all of it was stored.
        """
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.shape != (len(ids), self._dimension) or len(metadatas) != len(ids):
            raise InvalidInputError(
                f"upsert into {part} needs vectors of shape ({len(ids)}, {self._dimension}) and {len(ids)} metadatas "
                f"for {len(ids)} ids, not {vectors.shape} and {len(metadatas)}."
            )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise InvalidInputError(
                f"The vector of {ids[int(np.argmin(finite))]!r} contains NaN or infinity; embed its text again."
            )
        if len(set(ids)) < len(ids):
            raise InvalidInputError(f"upsert into {part} has an id twice; pass each of the {len(ids)} once.")
        with self._locked(user_key, part) as (owner, state):
            self._check_fingerprint(owner, part, state)
            if not len(ids):
                return
            cleaned = [{key: value for key, value in row.items() if value not in ([], ())} for row in metadatas]
            with self._updating(owner, part) as matrix:
                self.store.upsert(owner, part, ids, vectors, cleaned, fingerprint=self._fingerprint)
                if matrix is not None:
                    matrix.put(ids, unit_rows(vectors))

    def delete(self, user_key: str, part: Part, ids: Sequence[str]) -> None:
        """Delete records by id; unknown ids are ignored."""
        unique = list(dict.fromkeys(ids))
        with self._locked(user_key, part) as (owner, _):
            if unique:
                with self._updating(owner, part) as matrix:
                    self.store.delete(owner, part, unique)
                    if matrix is not None:
                        matrix.delete(unique)

    def reset(self, user_key: str, part: Part) -> None:
        """Delete all records of a collection, damaged or not, so that it can be rebuilt."""
        with self._locked(user_key, part) as (owner, state):
            self._drop_state(owner, part, state)
            self.store.delete(owner, part, None)

    def drop_user(self, user_key: str) -> None:
        """Erase all data of the user, from the disk too: see :meth:`VectorStore.drop_user`."""
        for part in PARTS:
            with self._locked(user_key, part) as (owner, state):
                self._drop_state(owner, part, state)
        self.store.drop_user(owner)

    # -------------------------------------------------------------------------------------------------------- reading

    def query(
        self,
        user_key: str,
        part: Part,
        vector: FloatArray,
        k: int,
        *,
        any_of: Mapping[str, Collection[str]] | None = None,
    ) -> list[tuple[str, float]]:
        """The ``k`` nearest records as (id, cosine similarity in [-1, 1]), best first; fewer when there are fewer.

        Args:
            any_of: only records whose metadata has one of these values: see :meth:`VectorStore.query`. For steps:
                ``scope``, ``events`` and ``entities`` by name.

        Raises:
            InvalidInputError: the vector has another shape or is not finite, or ``k`` is below 1.
            EmbedderMismatchError, CorruptFileError: as :meth:`upsert`.
        """
        query = self._query_vector(vector, k)
        with self._locked(user_key, part) as (owner, state):
            self._check_fingerprint(owner, part, state)
            matrix = None if any_of is not None else self._whole(owner, part, state)
            if matrix is not None:
                return _similarities(matrix.nearest(query, k))
            return _similarities(self.store.query(owner, part, query, k, any_of=any_of))

    def query_among(
        self, user_key: str, part: Part, vector: FloatArray, ids: Collection[str], k: int
    ) -> list[tuple[str, float]]:
        """As :meth:`query`, among these ids only, and **exact**. Unknown ids are ignored."""
        query = self._query_vector(vector, k)
        unique = list(dict.fromkeys(ids))
        with self._locked(user_key, part) as (owner, state):
            self._check_fingerprint(owner, part, state)
            matrix = self._whole(owner, part, state)
            if matrix is None:
                matrix = self._matrices.get((owner, part)) or _Matrix(self._dimension)
                self._fetch(owner, part, matrix, [record_id for record_id in unique if record_id not in matrix])
            return _similarities(matrix.nearest(query, k, unique))

    def vectors(self, user_key: str, part: Part, ids: Collection[str]) -> dict[str, FloatArray]:
        """The stored vectors ``(d,)`` of those ids that exist."""
        unique = list(dict.fromkeys(ids))
        with self._locked(user_key, part) as (owner, state):
            self._check_fingerprint(owner, part, state)
            return self.store.get(owner, part, unique) if unique else {}

    def count(self, user_key: str, part: Part) -> int:
        """The number of records."""
        with self._locked(user_key, part) as (owner, _):
            return self.store.count(owner, part)

    def ids(self, user_key: str, part: Part) -> set[str]:
        """The ids of all records."""
        with self._locked(user_key, part) as (owner, _):
            return self.store.ids(owner, part)

    def evict(self, user_key: str) -> None:
        """Evict the user's matrices from memory."""
        with self._guard:
            for part in PARTS:
                self._matrices.pop((self._owner(user_key), part), None)

    def close(self) -> None:
        """Close the store; later calls raise :class:`~hexamem.errors.StoreClosedError`. A second call is fine."""
        if not self._closed:
            self._closed = True
            self._matrices.clear()
            self.store.close()

    # --------------------------------------------------------------------------------------------------------- inside

    def _owner(self, user_key: str) -> str:
        return f"{self._home}.{user_key}"

    @contextmanager
    def _locked(self, user_key: str, part: Part) -> Iterator[tuple[str, _State]]:
        """Check the arguments and lock one part of one user for one call."""
        if not user_key:
            raise MissingUserError("The vector store was called without a user key.")
        if not _USER_KEY.fullmatch(user_key):
            raise InvalidInputError(
                f"user_key={user_key!r} is not a hash of 8 to 128 hexadecimal digits in lower case."
            )
        if part not in PARTS:
            raise InvalidInputError(f"part={part!r} is none of {', '.join(PARTS)}.")
        if self._closed:
            raise StoreClosedError("The vector store is closed; open the memory again.")
        owner = self._owner(user_key)
        with self._guard:
            state = self._states.setdefault((owner, part), _State())
        with state.lock:
            yield owner, state

    @contextmanager
    def _updating(self, owner: str, part: Part) -> Iterator[_Matrix | None]:
        """The matrix to update with a change; evicted if the change fails, perhaps halfway."""
        try:
            yield self._matrices.get((owner, part))
        except BaseException:
            with self._guard:
                self._matrices.pop((owner, part), None)
            raise
        self._evict_oldest()

    def _drop_state(self, owner: str, part: Part, state: _State) -> None:
        state.checked, state.large, state.queries = False, False, 0
        with self._guard:
            self._matrices.pop((owner, part), None)

    def _whole(self, owner: str, part: Part, state: _State) -> _Matrix | None:
        """The whole collection in memory; None if it is too large, or at its first query."""
        state.queries += 1
        matrix = self._matrices.get((owner, part))
        whole = matrix is not None and matrix.whole
        if state.large or state.queries < 2:
            return None
        if (len(matrix) if whole and matrix else self.store.count(owner, part)) > self._matrix_rows:
            state.large = True
            with self._guard:
                self._matrices.pop((owner, part), None)
            return None
        if matrix is None or not whole:
            if not self._has_room(owner, part):
                return None
            matrix = _Matrix(self._dimension)
            self._fetch(owner, part, matrix, None)
            matrix.whole = True
        with self._guard:
            self._lookups += 1
            matrix.used = self._lookups
            if (owner, part) in self._matrices:
                self._matrices.move_to_end((owner, part))
        return matrix

    def _has_room(self, owner: str, part: Part) -> bool:
        """Whether a collection checked beside those in use, which would otherwise evict each other."""
        wanted = self.store.count(owner, part) * self._dimension * 4
        with self._guard:
            busy = [
                matrix.nbytes
                for key, matrix in self._matrices.items()
                if key != (owner, part) and self._lookups - matrix.used < _RECENT
            ]
        return sum(busy) + wanted <= self._matrix_bytes

    def _fetch(self, owner: str, part: Part, matrix: _Matrix, ids: list[str] | None) -> None:
        if ids == []:
            return
        fetched = self.store.get(owner, part, ids)
        if fetched:
            matrix.put(list(fetched), unit_rows(np.stack(list(fetched.values()))))
        with self._guard:
            self._matrices[owner, part] = matrix
        self._evict_oldest()

    def _evict_oldest(self) -> None:
        with self._guard:
            while sum(matrix.nbytes for matrix in self._matrices.values()) > self._matrix_bytes:
                self._matrices.popitem(last=False)

    def _query_vector(self, vector: FloatArray, k: int) -> FloatArray:
        vector = np.asarray(vector, dtype=np.float32)
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise InvalidInputError(
                f"A query needs a finite vector of shape ({self._dimension},), not {vector.shape}; "
                f"embed it with {self._embedder!r}."
            )
        if k < 1:
            raise InvalidInputError(f"k={k}: ask for at least one record.")
        return np.asarray(unit_rows(vector[None, :])[0])

    def _check_fingerprint(self, owner: str, part: Part, state: _State) -> None:
        if state.checked:
            return
        stored = self.store.fingerprint(owner, part)
        if stored not in (None, self._fingerprint):
            raise EmbedderMismatchError(
                f"The {part} of {owner} were embedded with fingerprint {stored}, but {self._embedder!r} "
                f"({self._dimension} dimensions, fingerprint {self._fingerprint}) is open. Open the memory with the "
                "former embedder, or run `hexamem reembed`."
            )
        state.checked = True


def _similarities(scored: list[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(record_id, max(-1.0, min(1.0, score))) for record_id, score in scored]
