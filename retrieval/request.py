"""One recall in progress: its request, its filters, and the passages of documents that were retrieved."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hexamem.memory_types import MemoryItem, ResourceItem, Where
from hexamem.retrieval.fusion import Ranking
from hexamem.stores.chunking import SHORT, is_passage, item_of, passage_at, span_of
from hexamem.stores.ledger import Transaction, get_items, read_items, select_item_ids, select_step_ids

__all__ = ["RecallFilter", "Request", "Run"]

_PASSAGE_RANK = 60
"""Reciprocal rank fusion's constant (Cormack et al., SIGIR 2009), for the best passage of a document."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """The request of a recall. ``kinds`` may contain "step" and kinds of items; None for all."""

    query: str
    k: int
    kinds: frozenset[str] | None = None
    where: Where | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None


class RecallFilter:
    """The filters of a recall within one transaction, read from the ledger on demand and as narrowly as possible.

    Attributes:
        kinds: the requested kinds; None for all.
        wants_steps: whether steps may be hits.
        narrows_steps: whether only some steps may be hits.
        wants_items: whether items may be hits.
        narrows_items: whether only some items may be hits.
        items: ids of the items that may be hits with their present text; None for all.
        believed: with a belief time, the items as of that time.
        former: those of ``believed`` whose text is no longer in the indexes.
    """

    def __init__(self, tx: Transaction, request: Request) -> None:
        self._tx, self._request = tx, request
        self.kinds = request.kinds
        narrowed = request.where is not None and not request.where.empty
        self.kinds_only = not narrowed and request.as_of is None and request.known_at is None
        self.wants_steps = self.kinds is None or "step" in self.kinds
        self.narrows_steps = self.wants_steps and not self.kinds_only
        self._item_kinds = None if self.kinds is None else [kind for kind in tx.types if kind in self.kinds]
        self.wants_items = self._item_kinds != []
        self.narrows_items = self._item_kinds is not None or not self.kinds_only
        self.believed: dict[str, MemoryItem] = {}
        self.former: dict[str, MemoryItem] = {}
        if request.known_at is not None and self.wants_items:
            self._read_believed(request.known_at)

    @cached_property
    def items(self) -> set[str] | None:
        """The items that may be hits; only needed where too few of the nearest are."""
        request, kinds = self._request, self._item_kinds
        if not self.narrows_items:
            return None
        if not self.wants_items:
            return set()
        if request.known_at is not None:
            return self.believed.keys() - self.former.keys()
        return select_item_ids(self._tx, kinds=kinds, where=request.where, as_of=request.as_of)

    def items_among(self, item_ids: Collection[str]) -> set[str]:
        """Those of the items that may be hits, without reading all that may."""
        if not self.narrows_items:
            return set(item_ids)
        request = self._request
        if not self.wants_items or request.known_at is not None:
            return (self.items or set()).intersection(item_ids)
        where, as_of = request.where, request.as_of
        return select_item_ids(self._tx, kinds=self._item_kinds, where=where, as_of=as_of, among=item_ids)

    def _read_believed(self, known_at: datetime) -> None:
        request = self._request
        then = read_items(self._tx, kinds=self._item_kinds, where=request.where, as_of=request.as_of, known_at=known_at)
        self.believed = {item.id: item for item in then}
        now = get_items(self._tx, self.believed)
        for item_id, item in self.believed.items():
            present = now.get(item_id)
            if present is None or present.text != item.text or present.status not in ("active", "superseded"):
                self.former[item_id] = item

    def steps_among(self, step_ids: Collection[str]) -> set[str]:
        """Those of the steps that may be hits."""
        if not self.narrows_steps:
            return set(step_ids) if self.wants_steps else set()
        request = self._request
        return select_step_ids(self._tx, request.where, request.as_of, request.known_at, among=step_ids)

    @cached_property
    def all_steps(self) -> set[str]:
        """All steps that may be hits; only needed where too few of the nearest are."""
        request = self._request
        if not self.wants_steps:
            return set()
        return select_step_ids(self._tx, request.where, request.as_of, request.known_at)

    def among(self, record_ids: Collection[str]) -> set[str]:
        """Those of the steps and items that may be hits."""
        steps = {record_id for record_id in record_ids if record_id.startswith("step_")}
        items = set(record_ids) - steps
        return self.steps_among(steps) | self.items_among(items)

    def all_ids(self) -> set[str]:
        """All steps and items that may be hits, where items are filtered."""
        return self.all_steps | (self.items or set())


@dataclass(frozen=True, slots=True)
class Run:
    """One recall in progress.

    Attributes:
        key: the key of the user in the indexes.
        former: the items with another text at the belief time, by id.
        vector: the vector of the query, ``(d,)``; None where no signal needs it.
        former_vectors: the vectors of ``former``, ``(n, d)``.
        notes: signal → a remark for ``why``.
        passages: item id → passage id → signal → points.
        unindexed: id → text of steps and items that may not be indexed yet.
        outdated: the steps of which all items are superseded, so far as the ranking has looked.
    """

    tx: Transaction
    request: Request
    filter: RecallFilter
    key: str
    former: dict[str, MemoryItem]
    vector: npt.NDArray[np.float32] | None
    former_vectors: npt.NDArray[np.float32] | None
    notes: dict[str, str] = field(default_factory=dict)
    passages: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    unindexed: Mapping[str, str] = field(default_factory=dict)
    outdated: set[str] = field(default_factory=set)

    def by_document(self, signal: str, ranking: Ranking) -> list[tuple[str, float]]:
        """A ranking with passages replaced by their documents, each at its best passage; records the passages."""
        best: dict[str, float] = {}
        for rank, (record_id, value) in enumerate(ranking, 1):
            if is_passage(record_id):
                points = self.passages.setdefault(item_of(record_id), {}).setdefault(record_id, {})
                points[signal] = max(points.get(signal, 0.0), 1 / (_PASSAGE_RANK + rank))
            best.setdefault(item_of(record_id), value)
        return list(best.items())

    def passage(self, item_id: str) -> str | None:
        """The passage of a document with the most points from all signals."""
        points = self.passages.get(item_id)
        return None if not points else min(points, key=lambda name: (-sum(points[name].values()), span_of(name)))

    def item_text(self, item: MemoryItem) -> str:
        """The text of an item; of a long document its title and best passage."""
        passage_id = None if item.id in self.former else self.passage(item.id)
        if passage_id is None or not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
            return item.text
        return f"{item.title}\n{passage_at(item, span_of(passage_id)).text}"
