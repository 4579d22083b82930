"""One recall under way: what is asked, what may come back, and which passages of documents were seen."""

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
    """What is asked of memory. ``kinds`` may hold "step" and item kinds; None means all."""

    query: str
    k: int
    kinds: frozenset[str] | None = None
    where: Where | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None


class RecallFilter:
    """What a filtered recall may return, for one transaction, read from the ledger as late and as narrowly as possible.

    Attributes:
        kinds: as asked; None for all.
        wants_steps: whether steps may come back at all.
        narrows_steps: whether some steps may not.
        items: ids of the items that may come back in their present words; None for all of them.
        believed: with a belief time, the items as they were believed then.
        former: those of ``believed`` whose words are not in the indexes any more.
    """

    def __init__(self, tx: Transaction, request: Request) -> None:
        self._tx, self._request = tx, request
        self.kinds = request.kinds
        narrowed = request.where is not None and not request.where.empty
        self.kinds_only = not narrowed and request.as_of is None and request.known_at is None
        self.wants_steps = self.kinds is None or "step" in self.kinds
        self.narrows_steps = self.wants_steps and not self.kinds_only
        self._item_kinds = None if self.kinds is None else [kind for kind in tx.types if kind in self.kinds]
        self.believed: dict[str, MemoryItem] = {}
        self.former: dict[str, MemoryItem] = {}
        if request.known_at is not None and self._item_kinds != []:
            self._read_believed(request.known_at)

    @cached_property
    def items(self) -> set[str] | None:
        """The items that may come back, read when first asked for: a search of one kind by words needs it not."""
        request, kinds = self._request, self._item_kinds
        if self.kinds_only and kinds is None:
            return None
        if kinds == []:
            return set()
        if request.known_at is not None:
            return self.believed.keys() - self.former.keys()
        return select_item_ids(self._tx, kinds=kinds, where=request.where, as_of=request.as_of)

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
        """Those of the steps that may come back."""
        if not self.narrows_steps:
            return set(step_ids) if self.wants_steps else set()
        request = self._request
        return select_step_ids(self._tx, request.where, request.as_of, request.known_at, among=step_ids)

    @cached_property
    def all_steps(self) -> set[str]:
        """Every step that may come back: only needed when too few of the nearest may."""
        request = self._request
        if not self.wants_steps:
            return set()
        return select_step_ids(self._tx, request.where, request.as_of, request.known_at)

    def among(self, record_ids: Collection[str]) -> set[str]:
        """Those of the steps and items that may come back."""
        steps = {record_id for record_id in record_ids if record_id.startswith("step_")}
        items = set(record_ids) - steps
        return self.steps_among(steps) | (items if self.items is None else items & self.items)

    def all_ids(self) -> set[str]:
        """Every step and item that may come back, where items are narrowed."""
        return self.all_steps | (self.items or set())


@dataclass(frozen=True, slots=True)
class Run:
    """One recall under way: what is asked, what may come back, and what was seen of it.

    Attributes:
        key: the user's, as the indexes know it.
        former: items that were believed then in other words than now.
        vector: the query's, ``(d,)``; None where no signal needs it.
        former_vectors: of ``former``, ``(n, d)``.
        notes: what to know of a signal in this recall.
        passages: item id → passage id → signal → points.
        unindexed: step id → words of the new steps that the indexes may not hold yet.
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

    def by_document(self, signal: str, ranking: Ranking) -> list[tuple[str, float]]:
        """A ranking with documents in place of their passages, each as good as its best; which one that is, is noted."""
        best: dict[str, float] = {}
        for rank, (record_id, value) in enumerate(ranking, 1):
            if is_passage(record_id):
                points = self.passages.setdefault(item_of(record_id), {}).setdefault(record_id, {})
                points[signal] = max(points.get(signal, 0.0), 1 / (_PASSAGE_RANK + rank))
            best.setdefault(item_of(record_id), value)
        return list(best.items())

    def passage(self, item_id: str) -> str | None:
        """The passage of a document that the signals together rank first."""
        points = self.passages.get(item_id)
        return None if not points else min(points, key=lambda name: (-sum(points[name].values()), span_of(name)))

    def item_text(self, item: MemoryItem) -> str:
        """The text of an item; of a long document its title and the passage that is to be shown."""
        passage_id = None if item.id in self.former else self.passage(item.id)
        if passage_id is None or not isinstance(item, ResourceItem) or len(item.content) <= SHORT:
            return item.text
        return f"{item.title}\n{passage_at(item, span_of(passage_id)).text}"
