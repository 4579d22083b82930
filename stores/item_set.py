"""What ranking needs to know of a user's items, in memory beside the working set of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, func, select

from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.grown import Arrays, Grown, IntArray, packed_names, quantised, short_products, unpacked_names
from hexamem.stores.ledger import Transaction, user_key
from hexamem.stores.ledger.ledger import chunks
from hexamem.stores.ledger.prepared import Prepared
from hexamem.stores.ledger.schema import items, sources
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet

__all__ = ["ItemFacts", "ItemSet", "read_facts"]

_COMPARED = 4_000  # characters of an item
_MOST = 25_000
"""Of more items a user's set is not kept: the vector index gives the nearest, and their words are read."""
_KEPT_STATUSES = ("active", "superseded")
_BATCH = 2_000

_CHANGED = Prepared(
    select(items.c.id, items.c.text, items.c.status).where(
        items.c.user_id == bindparam("user"), items.c.change > bindparam("since")
    )
)
_COUNT = Prepared(select(func.count()).where(items.c.user_id == bindparam("user")))
_CITED = Prepared(
    select(sources.c.item_id, sources.c.step_id)
    .where(sources.c.user_id == bindparam("user"), sources.c.item_id.in_(bindparam("ids", expanding=True)))
    .order_by(sources.c.item_id, sources.c.position)
)


class ItemFacts(NamedTuple):
    """What is compared of a record that is no step: its words, tokens and vector.

    Attributes:
        stems: number of each stem → how often it holds it.
        length: how many words it has.
        pieces: numbers of its distinct tokens.
        vector: of length 1, ``(dimension,)``; zeros for one that is in no index.
        cites: ids of the steps it points at, the first one first.
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
    said = {one: searchable(text)[:_COMPARED] for one, text in texts.items()}
    tokens = model.tokenize(list(said.values())) if model is not None and said else [((), ())] * len(said)
    made = []
    for (item_id, text), (numbers, others) in zip(said.items(), tokens, strict=True):
        stems, length = steps.counted(text)
        bag = steps.bag(numbers, others) if model is not None else np.empty(0, np.int32)
        vector = _unit(vectors.get(item_id), embedder.dimension)
        made.append(ItemFacts(item_id, stems, length, bag, vector, tuple(cites.get(item_id, ()))))
    return made


class _Stored:
    """Facts as they lie in a file; those of one item are made when they are asked for."""

    def __init__(self, state: Arrays, count: int) -> None:
        self._lengths, self._stems, self._counts = state["lengths"], state["stems"], state["stem_counts"]
        self._pieces, self._cites = state["pieces"], unpacked_names(state["cites"])
        self._ends = {name: [0, *np.cumsum(state[f"{name}_of"]).tolist()] for name in ("stems", "pieces", "cites")}
        sizes = {"stems": len(self._stems), "pieces": len(self._pieces), "cites": len(self._cites)}
        if any(self._ends[name][-1] != size or len(self._ends[name]) != count + 1 for name, size in sizes.items()):
            raise ValueError("the parts of the items do not fit them")

    def facts(self, item_id: str, place: int) -> ItemFacts:
        """Those of one, without its vector."""
        (stems, pieces, cites) = (slice(*self._ends[name][place : place + 2]) for name in ("stems", "pieces", "cites"))
        counts = dict(zip(self._stems[stems].tolist(), self._counts[stems].tolist(), strict=True))
        nothing = np.empty(0, np.float32)
        return ItemFacts(
            item_id, counts, int(self._lengths[place]), self._pieces[pieces], nothing, tuple(self._cites[cites])
        )


class ItemSet:
    """The facts of all items of a user that are in the indexes, with their vectors as one array.

    Args:
        steps: whose numbers of stems and tokens the facts use; with another set the items are read anew.
    """

    def __init__(self, steps: WorkingSet, embedder: Embedder, vectors: VectorIndex) -> None:
        self.steps, self._embedder, self._vectors = steps, embedder, vectors
        self.change = 0
        self.ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._facts: list[ItemFacts | None] = []  # None for one that is still as stored, or gone
        self._stored: _Stored | None = None
        self._settled = 0  # up to which place there is none left as stored
        self._there = Grown(np.bool_)
        self._numbers, self._scales = Grown(np.int8, embedder.dimension), Grown(np.float32)

    @staticmethod
    def fits(tx: Transaction) -> bool:
        """Whether the user's items are few enough to be kept."""
        row = tx.first(_COUNT, user=tx.user_id)
        return row is not None and int(row[0]) <= _MOST

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes, in bytes."""
        return self._numbers.nbytes + self._scales.nbytes + 1_500 * len(self.ids)

    def refresh(self, tx: Transaction, change: int) -> None:
        """Take in what changed since the last time; ``change`` is the ledger's change number now."""
        rows = tx.all(_CHANGED, user=tx.user_id, since=self.change)
        texts = {row.id: row.text for row in rows if row.status in _KEPT_STATUSES}
        for row in rows:
            if row.id not in texts and (place := self._row_of.get(row.id)) is not None:
                self._facts[place] = None
                self._there.values[place] = False
                self._numbers.values[place] = 0
        names = list(texts)
        for start in range(0, len(names), _BATCH):
            part = names[start : start + _BATCH]
            vectors = self._vectors.vectors(user_key(tx.user), "items", part)
            self._put(read_facts(tx, {one: texts[one] for one in part}, vectors, self.steps, self._embedder))
        self.change = change

    def _put(self, facts: Sequence[ItemFacts]) -> None:
        if not facts:
            return
        numbers, scales = quantised(np.stack([one.vector for one in facts]))
        for index, one in enumerate(facts):
            place = self._row_of.get(one.id)
            if place is None:
                place = self._row_of[one.id] = len(self.ids)
                self.ids.append(one.id)
                self._facts.append(None)
                self._there.extend([True])
                self._numbers.extend(numbers[index : index + 1])
                self._scales.extend(scales[index : index + 1])
            self._numbers.values[place], self._scales.values[place] = numbers[index], scales[index]
            self._there.values[place] = True
            self._facts[place] = one._replace(vector=np.empty(0, np.float32))

    def facts(self, item_ids: Sequence[str]) -> list[ItemFacts]:
        """The facts of items, in order; without those that are in no index."""
        places = [
            place for one in item_ids if (place := self._row_of.get(one)) is not None and self._there.values[place]
        ]
        vectors = self._numbers.values[places].astype(np.float32) * self._scales.values[places][:, None]
        made = []
        for place, vector in zip(places, vectors, strict=True):
            one = self._fact(place)
            made.append(ItemFacts(one.id, one.stems, one.length, one.pieces, vector, one.cites))
        return made

    def _fact(self, place: int) -> ItemFacts:
        found = self._facts[place]
        if found is None:
            assert self._stored is not None
            found = self._facts[place] = self._stored.facts(self.ids[place], place)
        return found

    def settle(self, most: int) -> None:
        """Make the facts of so many more items that are still as they lay in the file."""
        while self._settled < len(self.ids) and most:
            if self._facts[self._settled] is None and self._there.values[self._settled]:
                self._fact(self._settled)
                most -= 1
            self._settled += 1

    def renumbered(self, steps: WorkingSet, state: Arrays) -> ItemSet:
        """The same items by what :meth:`state` gave, with the numbers that stems and tokens have in other steps."""
        made = ItemSet(steps, self._embedder, self._vectors)
        made.restore(state, self.change)
        return made

    def nearest(self, vector: FloatArray, count: int, among: set[str] | None) -> list[tuple[str, float]]:
        """The items nearest to a vector with their cosines, best first: all of them compared, exactly but for rounding.

        Args:
            among: ids of those that may come back; None for all.
        """
        if not len(self):
            return []
        found = short_products(self._numbers.values, vector[None])[:, 0] * self._scales.values
        order = np.flatnonzero(self._there.values)
        if among is None and count < len(order):  # with all that are as near as the last of them
            values = found[order]
            order = order[values >= np.partition(values, len(values) - count)[len(values) - count]]
        order = order[np.argsort(-found[order], kind="stable")]
        hits: list[tuple[str, float]] = []
        for place in order.tolist():
            if among is None or self.ids[place] in among:
                hits.append((self.ids[place], float(found[place])))
                if len(hits) == count:
                    break
        return hits

    # ----------------------------------------------------------------------------------------------------------- files

    def state(self) -> Arrays:
        """Everything but the change number, as arrays; without what is gone."""
        places = np.flatnonzero(self._there.values)
        facts = [self._fact(place) for place in places.tolist()]
        counts = [len(one.stems) for one in facts]
        return {
            "ids": packed_names([one.id for one in facts]),
            "numbers": self._numbers.values[places],
            "scales": self._scales.values[places],
            "lengths": np.array([one.length for one in facts], np.int32),
            "stems": np.fromiter(chain.from_iterable(one.stems for one in facts), np.int32, sum(counts)),
            "stem_counts": np.fromiter(chain.from_iterable(one.stems.values() for one in facts), np.int32, sum(counts)),
            "stems_of": np.array(counts, np.int32),
            "pieces": np.concatenate([np.empty(0, np.int32), *(one.pieces for one in facts)]),
            "pieces_of": np.array([len(one.pieces) for one in facts], np.int32),
            "cites": packed_names([cited for one in facts for cited in one.cites]),
            "cites_of": np.array([len(one.cites) for one in facts], np.int32),
        }

    def restore(self, state: Arrays, change: int) -> None:
        """Take over, empty as it is, what :meth:`state` gave at a change number.

        Raises:
            ValueError, KeyError: it was not that.
        """
        self.ids = unpacked_names(state["ids"])
        self._row_of = {one: place for place, one in enumerate(self.ids)}
        self._facts = [None] * len(self.ids)
        self._there.extend(np.ones(len(self.ids), bool))
        self._numbers.replace(state["numbers"])
        self._scales.replace(state["scales"])
        self._stored = _Stored(state, len(self.ids))
        if {len(self._row_of), self._numbers.size, self._scales.size, len(state["lengths"])} != {len(self.ids)}:
            raise ValueError("the arrays of the items are not of one length")
        self.change = change


def _unit(vector: FloatArray | None, dimension: int) -> FloatArray:
    if vector is None:
        return np.zeros(dimension, np.float32)
    return np.asarray(vector / max(float(np.sqrt(vector @ vector)), 1e-9), np.float32)
