"""A cache of the working sets of the users who recalled last: built at the first recall of a user, then updated.

New steps are appended, and texts whose references were resolved are replaced. When words are gone (a step was forgotten
or redacted), the set is built again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Select, Text, and_, bindparam, func, select, type_coerce

from hexamem.stores.documents import searchable
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.growing_array import PieceVectors
from hexamem.stores.item_set import ItemSet
from hexamem.stores.label_set import LabelSet
from hexamem.stores.ledger import Transaction, user_key
from hexamem.stores.ledger.columns import decode_text
from hexamem.stores.ledger.prepared import of_user
from hexamem.stores.ledger.schema import intents
from hexamem.stores.ledger.schema import steps as steps_table
from hexamem.stores.memory_use import release_memory
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import StepFacts, WorkingSet

__all__ = ["WorkingSetCache"]

_USERS = 32
_BYTES = 400_000_000
_LARGE = 20_000  # steps: building so large a set leaves much memory free


@dataclass(slots=True)
class _Entry:
    registered: int
    change: int = 0
    steps: WorkingSet | None = None
    items: ItemSet | None = None
    labels: LabelSet | None = None
    complete: bool = False  # whether items and labels were read with the steps
    guard: threading.RLock = field(default_factory=threading.RLock)


class WorkingSetCache:
    """Working sets by user. Thread-safe.

    Args:
        vectors: the index from which the vectors of a slow embedder are read.
        embedder: the embedder of the vectors and tokens.
        indexed: the change number up to which the index is written, as a transaction sees it. What changed later is
            embedded, or with an embedder that is paid left out until it is indexed.
        users: maximum number of users.
        max_bytes: maximum memory of all sets together; the set in use is never evicted.
    """

    def __init__(
        self,
        vectors: VectorIndex,
        embedder: Embedder,
        indexed: Callable[[Transaction], int],
        *,
        users: int = _USERS,
        max_bytes: int = _BYTES,
    ) -> None:
        self._vectors, self._embedder, self._indexed = vectors, embedder, indexed
        self._users, self._max_bytes = users, max_bytes
        model = embedder.token_model
        self._pieces = None if model is None else PieceVectors(model)
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, tx: Transaction) -> tuple[WorkingSet, ItemSet | None]:
        """The user's active steps and items as the transaction sees them, or later where another thread read a later state;
        with a paid embedder as they are indexed.

        The items are None where there are very many, or documents, which are indexed by passages.
        """
        entry = self._entry_of(tx)
        with entry.guard:
            if entry.steps is None or entry.change < tx.change or not entry.complete:
                indexed = self._indexed(tx)
                until = min(tx.change, indexed) if self._embedder.paid else tx.change
                if entry.complete and entry.steps is not None and until < entry.change:
                    return entry.steps, entry.items  # the index is being built anew
                entry.complete = False
                if entry.steps is None or not self._update(tx, entry.steps, entry.change, until, indexed):
                    entry.steps = self._build(tx, until, indexed)
                entry.change = until
                entry.items = self._items(tx, entry, indexed)
                self.labels(tx, entry.steps)
                entry.complete = True
                self._evict(tx.user)
            return entry.steps, entry.items

    def labels(self, tx: Transaction, steps: WorkingSet) -> LabelSet:
        """The labels of a set that :meth:`of` returned, as the transaction sees them."""
        with self._guard:
            entry = self._entries.get(tx.user)
        with entry.guard if entry is not None else nullcontext():
            if entry is None or entry.steps is not steps:
                labels = LabelSet(steps)
                labels.refresh(tx, tx.change)
                return labels
            if entry.labels is None or entry.labels.steps is not steps:
                entry.labels = LabelSet(steps)
            # Steps stored since the set was read have no row yet: their labels are read once they have one.
            entry.labels.refresh(tx, min(tx.change, entry.change))
            return entry.labels

    def holds(self, user: str) -> bool:
        """Whether a user's steps are in memory."""
        with self._guard:
            entry = self._entries.get(user)
        return entry is not None and entry.steps is not None

    @contextmanager
    def using(self, user: str) -> Iterator[None]:
        """No other thread changes the user's set inside this context."""
        with self._guard:
            entry = self._entries.get(user)
        with entry.guard if entry is not None else nullcontext():
            yield

    def drop(self, user: str) -> None:
        """Remove the sets of a user."""
        with self._guard:
            self._entries.pop(user, None)

    def _items(self, tx: Transaction, entry: _Entry, indexed: int) -> ItemSet | None:
        assert entry.steps is not None
        if not ItemSet.fits(tx):
            return None
        items = entry.items
        if items is None or items.steps is not entry.steps:
            items = ItemSet(entry.steps, self._embedder, self._vectors)
        items.refresh(tx, entry.change, indexed)
        return items

    def _entry_of(self, tx: Transaction) -> _Entry:
        with self._guard:
            entry = self._entries.get(tx.user)
            if entry is None or entry.registered != tx.registered:
                entry = self._entries[tx.user] = _Entry(tx.registered)
            self._entries.move_to_end(tx.user)
            return entry

    def _evict(self, user: str) -> None:
        """Evict the least recently used sets."""
        with self._guard:
            sizes = {
                name: sum(part.nbytes for part in (entry.steps, entry.items, entry.labels) if part is not None)
                for name, entry in self._entries.items()
            }
            total = sum(sizes.values())
            for name, size in sizes.items():
                if name != user and (total > self._max_bytes or len(self._entries) > self._users):
                    del self._entries[name]
                    total -= size

    def _build(self, tx: Transaction, until: int, indexed: int) -> WorkingSet:
        steps = WorkingSet(self._embedder.dimension, self._pieces)
        for batch in _read_steps(tx, 0, until):
            steps.add(batch, self._vectors_of(tx.user, batch, indexed))
        if len(steps) >= _LARGE:
            release_memory()
        return steps

    def _update(self, tx: Transaction, steps: WorkingSet, since: int, until: int, indexed: int) -> bool:
        """Add new steps, and replace texts whose references were resolved; False if the set must be built again, since a
        step is gone, has come back, or has other words: no trace of the former ones may stay."""
        for batch in _read_steps(tx, since, until):
            states = [steps.compare(step) for step in batch]
            if any(
                state == "changed" or not (step.active or state == "new")
                for step, state in zip(batch, states, strict=True)
            ):
                return False
            new = [step for step, state in zip(batch, states, strict=True) if state == "new" and step.active]
            if new and new[0].seq < steps.last_seq:
                return False
            resolved = [step for step, state in zip(batch, states, strict=True) if state == "resolved"]
            steps.replace(resolved, self._vectors_of(tx.user, resolved, indexed))
            steps.add(new, self._vectors_of(tx.user, new, indexed))
        return True

    def _vectors_of(self, user: str, new: Sequence[StepFacts], indexed: int) -> FloatArray:
        """Vectors of length 1; for a slow embedder those of what is indexed are read from the index."""
        if not new:
            return np.empty((0, self._embedder.dimension), np.float32)
        if not self._embedder.slow:
            return self._embedder.embed_documents([step.embedded for step in new])
        stored = self._vectors.vectors(user_key(user), "steps", [step.id for step in new if step.change <= indexed])
        later = [step for step in new if step.change > indexed]
        if later:
            vectors = self._embedder.embed_documents([step.embedded for step in later])
            stored |= zip([step.id for step in later], vectors, strict=True)
        missing = np.zeros(self._embedder.dimension, np.float32)
        return unit_rows(np.stack([stored.get(step.id, missing) for step in new]))


# ------------------------------------------------------------------------------------------------------------ reading

_STEPS_AT_ONCE = 4_000
_MICROS = 1_000_000

# Columns are read without their SQLAlchemy types, whose conversion costs more than the rows.
_EVERY = (
    select(
        steps_table.c.id,
        steps_table.c.status,
        steps_table.c.turn,
        steps_table.c.seq,
        steps_table.c.role,
        steps_table.c.offset_minutes,
        steps_table.c.change,
        steps_table.c.media.is_not(None),
        type_coerce(steps_table.c.occurred_at, BigInteger),
        type_coerce(steps_table.c.thread_id, Text),
        type_coerce(steps_table.c.name, Text),
        type_coerce(func.coalesce(steps_table.c.index_text, steps_table.c.content), Text),
        type_coerce(intents.c.resolved_text, Text),
    )
    .outerjoin(intents, and_(intents.c.user_id == steps_table.c.user_id, intents.c.step_id == steps_table.c.id))
    .where(of_user(steps_table))
    .order_by(steps_table.c.seq)
)
_ACTIVE = _EVERY.where(steps_table.c.status == "active", steps_table.c.change <= bindparam("until"))
_CHANGED = _EVERY.where(steps_table.c.change > bindparam("since"), steps_table.c.change <= bindparam("until"))


def _read_steps(tx: Transaction, since: int, until: int) -> Iterator[list[StepFacts]]:
    """The steps whose change number is above ``since`` and at most ``until``, in the order of storage, in batches; only
    active ones from 0 on."""
    statement: Select[Any] = _CHANGED if since else _ACTIVE
    values = {"user": tx.user_id, "until": until, **({"since": since} if since else {})}
    result = tx.connection.execute(statement, values, execution_options={"yield_per": _STEPS_AT_ONCE})
    for rows in result.partitions():
        yield [_read(*row) for row in rows]


def _read(
    step_id: str,
    status: str,
    turn: int,
    seq: int,
    role: str,
    offset: int,
    change: int,
    pictured: bool,
    micros: int,
    thread: str,
    name: str | None,
    content: str,
    resolved: str | None,
) -> StepFacts:
    content = decode_text(content)
    text = plain = searchable(content)
    if resolved is not None:
        # The stored text and the words that replace its references; the resolved text is embedded.
        plain = decode_text(resolved)
        known = set(text.split())
        text = " ".join([text, *(word for word in plain.split() if word not in known)])
    speaker = decode_text(name) if name else ""
    return StepFacts(
        id=step_id,
        thread_id=decode_text(thread),
        turn=turn,
        speaker=speaker or role,
        role=role,
        text=text,
        content=content,
        seconds=micros // _MICROS,
        offset_minutes=offset,
        pictured=bool(pictured),
        seq=seq,
        embedded=f"{searchable(speaker)}: {plain}" if speaker else plain,
        active=status == "active",
        change=change,
    )
