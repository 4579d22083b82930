"""The working sets of the users who were asked for last: built when a recall first needs one, kept up to date.

New steps are added. Anything else that happens to a step (it is forgotten, redacted, told anew by other labels) drops
the set, so that no word of it stays in memory; the next recall that needs one builds it again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import and_, bindparam, select

from .documents import searchable
from .embedders import Embedder
from .item_set import ItemSet
from .ledger import Transaction, user_key
from .ledger.labels import LabelVersion, label_version
from .ledger.schema import intents, steps
from .projections import holds_documents
from .vectors import VectorStore
from .working_set import StepFacts, WorkingSet

__all__ = ["KeptWorkingSets"]

_USERS = 32
_BYTES = 400_000_000
_BATCH = 4_000

_CHANGED = (
    select(
        *(steps.c[name] for name in ("id", "change", "thread_id", "turn", "role", "name", "content", "index_text")),
        *(steps.c[name] for name in ("occurred_at", "offset_minutes", "status")),
        steps.c.media.is_not(None).label("pictured"),
        intents.c.resolved_text,
    )
    .outerjoin(intents, and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id))
    .where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since"))
    .order_by(steps.c.seq)
)


@dataclass(slots=True)
class _Kept:
    registered: int
    change: int = 0
    steps: WorkingSet | None = None
    items: ItemSet | None = None
    guard: threading.RLock = field(default_factory=threading.RLock)


class KeptWorkingSets:
    """Working sets by user. Safe to use from several threads.

    Args:
        vectors: the index from which vectors are read; it must be up to the ledger.
        embedder: whose vectors and tokens these are.
        users: of how many users they are kept.
        size: bytes that all may take together; the one in use is always kept.
    """

    def __init__(self, vectors: VectorStore, embedder: Embedder, *, users: int = _USERS, size: int = _BYTES) -> None:
        self._vectors, self._embedder, self._users, self._size = vectors, embedder, users, size
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction) -> tuple[WorkingSet, ItemSet | None]:
        """The user's active steps and items, at least as the transaction sees them; a later state where another thread
        saw one. No items where there are very many, or documents, which are indexed by passages."""
        version = label_version(tx)
        kept = self._entry(tx.user, version)
        with kept.guard:
            if kept.steps is None or kept.change < version.change:
                grown = None if kept.steps is None else self._grown(tx, kept.steps, kept.change)
                kept.steps = grown if grown is not None else self._built(tx)
                kept.items = self._items(tx, kept, version.change)
                kept.change = version.change
                self._bound(tx.user)
            return kept.steps, kept.items

    @contextmanager
    def using(self, user: str) -> Iterator[None]:
        """While it lasts nothing is added to the user's set by another thread."""
        with self._guard:
            kept = self._kept.get(user)
        with kept.guard if kept is not None else nullcontext():
            yield

    def drop(self, user: str) -> None:
        """Forget what is kept of a user."""
        with self._guard:
            self._kept.pop(user, None)

    def _items(self, tx: Transaction, kept: _Kept, change: int) -> ItemSet | None:
        assert kept.steps is not None
        if holds_documents(tx) or not ItemSet.fits(tx):
            return None
        items = kept.items
        if items is None or items.steps is not kept.steps:
            items = ItemSet(kept.steps, self._embedder, self._vectors)
        items.refresh(tx, change)
        return items

    def _entry(self, user: str, version: LabelVersion) -> _Kept:
        with self._guard:
            kept = self._kept.get(user)
            if kept is None or kept.registered != version.registered:
                kept = self._kept[user] = _Kept(version.registered)
            self._kept.move_to_end(user)
            return kept

    def _bound(self, user: str) -> None:
        """Let go of those not asked for the longest."""
        with self._guard:
            sizes = {
                name: sum(each.nbytes for each in (one.steps, one.items) if each is not None)
                for name, one in self._kept.items()
            }
            total = sum(sizes.values())
            for name, size in sizes.items():
                if name != user and (total > self._size or len(self._kept) > self._users):
                    del self._kept[name]
                    total -= size

    def _built(self, tx: Transaction) -> WorkingSet:
        made = WorkingSet(self._embedder.dimension, self._embedder.token_model)
        facts = [one for status, one in _changed(tx, 0) if status == "active"]
        self._add(tx.user, made, facts)
        return made

    def _grown(self, tx: Transaction, steps: WorkingSet, since: int) -> WorkingSet | None:
        """The set with what is new; None where something else changed."""
        new: list[StepFacts] = []
        last: dict[str, int] = {}
        for status, one in _changed(tx, since):
            known = one.id in steps.row_of
            if (known and (status != "active" or not steps.unchanged(one))) or (
                not known and status == "active" and (not steps.appends(one) or last.get(one.thread_id, -1) >= one.turn)
            ):
                return None
            if not known and status == "active":
                new.append(one)
                last[one.thread_id] = one.turn
        self._add(tx.user, steps, new)
        return steps

    def _add(self, user: str, to: WorkingSet, facts: Sequence[StepFacts]) -> None:
        key = user_key(user)
        for start in range(0, len(facts), _BATCH):
            part = facts[start : start + _BATCH]
            found = self._vectors.vectors(key, "steps", [one.id for one in part])
            nothing = np.zeros(self._embedder.dimension, np.float32)
            to.add(part, np.stack([_unit(found.get(one.id, nothing)) for one in part]))


def _changed(tx: Transaction, since: int) -> list[tuple[str, StepFacts]]:
    """Status and facts of the steps whose change number is above ``since``, as they were stored."""
    return [
        (
            row.status,
            StepFacts(
                id=row.id,
                thread_id=row.thread_id,
                turn=row.turn,
                speaker=row.name or row.role,
                role=row.role,
                text=_text(row.content if row.index_text is None else row.index_text, row.resolved_text),
                said=row.content if row.index_text is None else row.index_text,
                occurred_at=row.occurred_at,
                offset_minutes=row.offset_minutes,
                pictured=bool(row.pictured),
            ),
        )
        for row in tx.all(_CHANGED, user=tx.user_id, since=since)
    ]


def _text(said: str, resolved: str | None) -> str:
    """What is searched of a step: what was said, and the words by which its references were resolved."""
    said = searchable(said)
    if resolved is None:
        return said
    known = set(said.split())
    return " ".join([said, *(word for word in resolved.split() if word not in known)])


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 1e-9 else vector
