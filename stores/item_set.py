"""The features of a user's items that ranking reads, in memory beside the working set of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, func, select

from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.growing_array import GrowingArray, IntArray, dot_products, quantize
from hexamem.stores.ledger import Transaction, user_key
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import items, sources
from hexamem.stores.streams import holds_documents
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["ItemFacts", "ItemSet", "read_facts"]

_MAX_CHARACTERS = 4_000  # of an item
_MAX_ITEMS = 25_000
"""With more items a user has no set: the vector index returns the nearest, and their words are read."""
_INDEXED_STATUSES = ("active", "superseded")
_BATCH = 2_000

_CHANGED = Prepared(
    select(items.c.id, items.c.text, items.c.status, items.c.change).where(
        of_user(items), items.c.change > bindparam("since"), items.c.change <= bindparam("until")
    )
)
_COUNT = Prepared(select(func.count()).where(of_user(items)))
_CITED = Prepared(
    select(sources.c.item_id, sources.c.step_id)
    .where(of_user(sources), among(sources.c.item_id))
    .order_by(sources.c.item_id, sources.c.position)
)


class ItemFacts(NamedTuple):
    """The features of an item: its words, tokens and vector.

    Attributes:
        stems: number of each stem → its count.
        length: number of words.
        pieces: numbers of its distinct tokens.
        vector: of length 1, ``(dimension,)``; zeros for an item that is not indexed.
        cites: ids of its source steps, in order.
    """

    id: str
    stems: dict[int, int]
    length: int
    pieces: IntArray
    vector: FloatArray
    cites: tuple[str, ...] = ()


def read_facts(
    tx: Transaction,
    texts: Mapping[str, str],
    vectors: Mapping[str, FloatArray],
    steps: WorkingSet,
    embedder: Embedder,
) -> list[ItemFacts]:
    """The facts of items by their texts and vectors, in order."""
    cites: dict[str, list[str]] = {}
    for part in chunks(texts):
        for row in tx.all(_CITED, user=tx.user_id, ids=part):
            cites.setdefault(row.item_id, []).append(row.step_id)
    model = embedder.token_model
    searched = {item_id: searchable(text)[:_MAX_CHARACTERS] for item_id, text in texts.items()}
    tokens = model.tokenize(list(searched.values())) if model is not None and searched else [((), ())] * len(searched)
    facts = []
    for (item_id, text), (numbers, others) in zip(searched.items(), tokens, strict=True):
        stems, length = steps.stems.counted(text)
        bag = steps.tokens.bag(numbers, others) if steps.tokens is not None else np.empty(0, np.int32)
        vector = _unit(vectors.get(item_id), embedder.dimension)
        facts.append(ItemFacts(item_id, stems, length, bag, vector, tuple(cites.get(item_id, ()))))
    return facts


class ItemSet:
    """The facts of all items of a user that are in the indexes, with their vectors as one array.

    Args:
        steps: defines the numbers of stems and tokens; with another set the items are read again.
    """

    def __init__(self, steps: WorkingSet, embedder: Embedder, vectors: VectorIndex) -> None:
        self.steps, self._embedder, self._vectors = steps, embedder, vectors
        self.change = 0
        self.ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._facts: list[ItemFacts | None] = []  # None for an item that is gone
        self._there = GrowingArray(np.bool_)
        self._numbers, self._scales = GrowingArray(np.int8, embedder.dimension), GrowingArray(np.float32)

    @staticmethod
    def fits(tx: Transaction) -> bool:
        """Whether the user's items fit into a set: they are not too many, and none is indexed by passages."""
        row = tx.first(_COUNT, user=tx.user_id)
        return row is not None and int(row[0]) <= _MAX_ITEMS and not holds_documents(tx)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
        return self._numbers.nbytes + self._scales.nbytes + 1_500 * len(self.ids)

    def refresh(self, tx: Transaction, until: int, indexed: int) -> None:
        """Read what changed since the last call.

        Args:
            until: the change number up to which to read.
            indexed: the one up to which vectors are in the index; those of what changed later are computed.
        """
        rows = tx.all(_CHANGED, user=tx.user_id, since=self.change, until=until)
        texts = {row.id: row.text for row in rows if row.status in _INDEXED_STATUSES}
        for row in rows:
            if row.id not in texts and (place := self._row_of.get(row.id)) is not None:
                self._facts[place] = None
                self._there.values[place] = False
                self._numbers.values[place] = 0
        later = {row.id for row in rows if row.change > indexed}
        names = list(texts)
        for start in range(0, len(names), _BATCH):
            part = names[start : start + _BATCH]
            vectors = self._vectors.vectors(user_key(tx.user), "items", [name for name in part if name not in later])
            if new := [name for name in part if name in later]:
                embedded = self._embedder.embed_documents([searchable(texts[name]) for name in new])
                vectors |= zip(new, embedded, strict=True)
            self._put(
                read_facts(tx, {item_id: texts[item_id] for item_id in part}, vectors, self.steps, self._embedder)
            )
        self.change = until

    def _put(self, facts: Sequence[ItemFacts]) -> None:
        if not facts:
            return
        numbers, scales = quantize(np.stack([item.vector for item in facts]))
        for index, item in enumerate(facts):
            place = self._row_of.get(item.id)
            if place is None:
                place = self._row_of[item.id] = len(self.ids)
                self.ids.append(item.id)
                self._facts.append(None)
                self._there.extend([True])
                self._numbers.extend(numbers[index : index + 1])
                self._scales.extend(scales[index : index + 1])
            self._numbers.values[place], self._scales.values[place] = numbers[index], scales[index]
            self._there.values[place] = True
            self._facts[place] = item._replace(vector=np.empty(0, np.float32))

    def facts(self, item_ids: Sequence[str]) -> list[ItemFacts]:
        """The facts of items, in order, without those that are not indexed."""
        placed = [
            (place, facts)
            for place in map(self._row_of.get, item_ids)
            if place is not None and (facts := self._facts[place]) is not None
        ]
        places = [place for place, _ in placed]
        vectors = self._numbers.values[places].astype(np.float32) * self._scales.values[places][:, None]
        return [facts._replace(vector=vector) for (_, facts), vector in zip(placed, vectors, strict=True)]

    def nearest(self, vector: FloatArray, count: int, among: set[str] | None) -> list[tuple[str, float]]:
        """The items nearest to a vector with their cosines, best first; all items are compared.

        Args:
            among: ids of the items to search; None for all.
        """
        if not len(self):
            return []
        cosines = dot_products(self._numbers.values, vector[None])[:, 0] * self._scales.values
        order = np.flatnonzero(self._there.values)
        if among is None and count < len(order):  # with all that are as near as the last
            values = cosines[order]
            order = order[values >= np.partition(values, len(values) - count)[len(values) - count]]
        order = order[np.argsort(-cosines[order], kind="stable")]
        hits: list[tuple[str, float]] = []
        for place in order.tolist():
            if among is None or self.ids[place] in among:
                hits.append((self.ids[place], float(cosines[place])))
                if len(hits) == count:
                    break
        return hits


def _unit(vector: FloatArray | None, dimension: int) -> FloatArray:
    if vector is None:
        return np.zeros(dimension, np.float32)
    return np.asarray(vector / max(float(np.sqrt(vector @ vector)), 1e-9), np.float32)
