"""The state of one recall, and how the passages of a document count for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexamem.memory_types import MemoryItem
from hexamem.retrieval.fusion import Ranking
from hexamem.retrieval.permit import Permit, Request
from hexamem.stores.chunking import is_passage, item_of, span_of
from hexamem.stores.ledger import Transaction

__all__ = ["Run"]

_PASSAGE_RANK = 60
"""Reciprocal rank fusion's constant (Cormack et al., SIGIR 2009), for the best passage of a document."""


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
    permit: Permit
    key: str
    former: dict[str, MemoryItem]
    vector: npt.NDArray[np.float32] | None
    former_vectors: npt.NDArray[np.float32] | None
    notes: dict[str, str] = field(default_factory=dict)
    passages: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    unindexed: Mapping[str, str] = field(default_factory=dict)

    def whole(self, signal: str, found: Ranking) -> list[tuple[str, float]]:
        """A ranking with documents in place of their passages, each as good as its best; which one that is, is noted."""
        best: dict[str, float] = {}
        for rank, (record_id, value) in enumerate(found, 1):
            if is_passage(record_id):
                points = self.passages.setdefault(item_of(record_id), {}).setdefault(record_id, {})
                points[signal] = max(points.get(signal, 0.0), 1 / (_PASSAGE_RANK + rank))
            best.setdefault(item_of(record_id), value)
        return list(best.items())

    def passage(self, item_id: str) -> str | None:
        """The passage of a document that the signals together rank first."""
        found = self.passages.get(item_id)
        return None if not found else min(found, key=lambda one: (-sum(found[one].values()), span_of(one)))
