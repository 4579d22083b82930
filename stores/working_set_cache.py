"""A cache of the working sets of the users who recalled last: built at the first recall of a user, then updated.

New steps are appended; changed steps are replaced. When words are removed (a step is forgotten or redacted), the steps
that changed are removed from memory at once, with everything that only they contained.

With a folder, the set of each user is also stored in a file (:mod:`.working_set_file`), from which a new process
continues. The file is removed at once when words are removed, and written again after a later recall.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.errors import CorruptFileError, HomeNotWritableError
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.embedders.late_interaction import unit_rows
from hexamem.stores.expected_counts import holds_documents
from hexamem.stores.growing_array import Arrays, pack_ids, unpack_ids
from hexamem.stores.item_set import ItemSet
from hexamem.stores.label_set import LabelSet
from hexamem.stores.ledger import Ledger, Transaction, user_key
from hexamem.stores.lexical.tokens import ANALYSIS_VERSION
from hexamem.stores.memory_use import release_memory
from hexamem.stores.piece_vectors import PieceVectors
from hexamem.stores.step_facts import ReadStep, changed_ids, count_steps, read_speakers, read_steps
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet
from hexamem.stores.working_set_file import read_arrays, remove_arrays, write_arrays

__all__ = ["WorkingSetCache"]

_FORMAT = 4
"""Increased with every change of what a set holds of a step or item, or of how it is written."""
_USERS = 32
_BYTES = 400_000_000
_MIN_CHANGES, _SHARE = 256, 16
_BATCH = 4_000
_LARGE = 20_000  # steps: building or writing so large a set leaves much memory free

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    registered: int
    change: int = 0
    steps: WorkingSet | None = None
    items: ItemSet | None = None
    labels: LabelSet | None = None
    complete: bool = False  # whether items and labels were read with the steps
    written: int = -1  # the change number of the file; -1 without a file
    guard: threading.RLock = field(default_factory=threading.RLock)


class WorkingSetCache:
    """Working sets by user. Thread-safe.

    Args:
        vectors: the index from which vectors are read; it must be up to date with the ledger.
        embedder: the embedder of the vectors and tokens.
        folder: where the sets are stored between processes; None to hold them in memory only.
        labelled: whether the labels of steps will be needed.
        min_changes: a file is written after this many changes, and one for every sixteen steps, since the last.
        users: maximum number of users in memory.
        max_bytes: maximum memory of all sets together; the set in use is never evicted.
    """

    def __init__(
        self,
        vectors: VectorIndex,
        embedder: Embedder,
        folder: Path | None = None,
        *,
        labelled: bool = True,
        min_changes: int = _MIN_CHANGES,
        users: int = _USERS,
        max_bytes: int = _BYTES,
    ) -> None:
        self._vectors, self._embedder, self._folder = vectors, embedder, folder
        self._labelled, self._min_changes, self._users, self._max_bytes = labelled, min_changes, users, max_bytes
        model = embedder.token_model
        self._pieces = None if model is None else PieceVectors(model)
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._guard = threading.Lock()
        self._files = threading.Lock()

    def of(self, tx: Transaction) -> tuple[WorkingSet, ItemSet | None]:
        """The user's active steps and items as the transaction sees them, or later where another thread read a later state.

        The items are None where there are very many, or documents, which are indexed by passages.
        """
        entry = self._entry_of(tx)
        with entry.guard:
            loaded = entry.steps is None and self._load(tx, entry)
            if entry.steps is None or entry.change < tx.change or not entry.complete:
                entry.complete = False
                if entry.steps is not None:
                    self._update(tx, entry)
                if entry.steps is None or (loaded and len(entry.steps) != count_steps(tx)):
                    self._remove(entry, tx.user)
                    entry.steps = self._build(tx)
                entry.change = tx.change
                entry.items = self._items(tx, entry)
                if self._labelled:
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

    def drop(self, user: str, ledger: Ledger | None = None) -> None:
        """Remove what the ledger may not contain any more, from memory and disk.

        Args:
            ledger: shows which steps changed since they were read: only these, and all items, are removed from memory.
                Without it, or while another thread uses the set, the whole set is removed.
        """
        with self._guard:
            entry = self._entries.get(user)
        if entry is None or ledger is None or not self._remove_changed(ledger, user, entry):
            with self._guard:
                self._entries.pop(user, None)
        if self._folder is not None:
            with self._files:  # a thread that is writing finishes first, and does not write a dropped set again
                remove_arrays(self._path(user))

    def _remove_changed(self, ledger: Ledger, user: str, entry: _Entry) -> bool:
        """Remove all items and the steps that changed from a set; False where that is not possible at once."""
        if not entry.guard.acquire(blocking=False):
            return False
        try:
            entry.written = -1
            with ledger.read(user) as tx:
                if entry.steps is None or tx.registered != entry.registered or not entry.change:
                    return False
                changed = changed_ids(tx, entry.change)
            gone = [row for step_id in changed if (row := entry.steps.row_of.get(step_id)) is not None]
            if 2 * len(gone) > len(entry.steps):
                return False
            entry.items, entry.complete = None, False
            # Also where no step is gone: a word may have been in an item only.
            _replace_steps(entry, np.delete(np.arange(len(entry.steps)), gone))
        finally:
            entry.guard.release()
        return True

    def _remove(self, entry: _Entry, user: str) -> None:
        """Remove a set that does not agree with the ledger any more, and its file."""
        entry.steps = entry.items = entry.labels = None
        entry.written = -1
        if self._folder is not None:
            try:
                with self._files:
                    remove_arrays(self._path(user))
            except HomeNotWritableError as error:  # the next process refuses the file too
                _log.warning("%s", error)

    def _items(self, tx: Transaction, entry: _Entry) -> ItemSet | None:
        assert entry.steps is not None
        if holds_documents(tx) or not ItemSet.fits(tx):
            return None
        items = entry.items
        if items is None or items.steps is not entry.steps:
            items = ItemSet(entry.steps, self._embedder, self._vectors)
        items.refresh(tx, tx.change)
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

    # ------------------------------------------------------------------------------------------------------ the ledger

    def _build(self, tx: Transaction) -> WorkingSet:
        steps = WorkingSet(self._embedder.dimension, self._pieces)
        for batch in read_steps(tx):
            self._add(tx.user, steps, batch)
        return steps

    def _update(self, tx: Transaction, entry: _Entry) -> None:
        """Apply the changes of the ledger: add new steps, replace changed ones, remove those that are gone.

        A set of which most steps are gone is removed.
        """
        steps = entry.steps
        assert steps is not None
        gone: list[int] = []
        new: list[ReadStep] = []
        for batch in read_steps(tx, entry.change):
            for step in batch:
                row = steps.row_of.get(step.facts.id)
                if row is not None and step.active and steps.unchanged(step.facts):
                    continue
                if row is not None:
                    gone.append(row)
                if step.active:
                    new.append(step)
        if 2 * len(gone) > len(steps):
            self._remove(entry, tx.user)
            return
        if gone:
            steps = _replace_steps(entry, np.delete(np.arange(len(steps)), gone))
        for start in range(0, len(new), _BATCH):
            self._add(tx.user, steps, new[start : start + _BATCH])
        stored = steps.array("seq").values
        if (stored[1:] < stored[:-1]).any():
            _replace_steps(entry, np.argsort(stored, kind="stable"))

    def _add(self, user: str, to: WorkingSet, new: Sequence[ReadStep]) -> None:
        if new:
            to.add([step.facts for step in new], self._vectors_of(user, new))

    def _vectors_of(self, user: str, new: Sequence[ReadStep]) -> FloatArray:
        """Vectors of length 1; for a slow embedder they are read from the index."""
        if not self._embedder.slow:
            return self._embedder.embed_documents([step.embedded for step in new])
        stored = self._vectors.vectors(user_key(user), "steps", [step.facts.id for step in new])
        missing = np.zeros(self._embedder.dimension, np.float32)
        return unit_rows(np.stack([stored.get(step.facts.id, missing) for step in new]))

    # ------------------------------------------------------------------------------------------------------- the files

    def _path(self, user: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{user_key(user)}.safetensors"

    def save(self, ledger: Ledger, user: str) -> bool:
        """Write a user's set to its file after enough changes; returns whether it was written.

        Call it outside of any transaction, after recalls. A set that is behind the ledger is not written, so that
        removed words cannot return; nor is one whose ids a file cannot contain.
        """
        with self._guard:
            entry = self._entries.get(user)
        if self._folder is None or entry is None or entry.steps is None:
            return False
        if entry.change - max(0, entry.written) < max(self._min_changes, len(entry.steps) // _SHARE):
            return False
        with entry.guard, self._files:
            with ledger.read(user) as tx:
                if (tx.registered, tx.change) != (entry.registered, entry.change) or self._entries.get(
                    user
                ) is not entry:
                    return False
            try:
                about, arrays = _packed(entry)
                write_arrays(self._path(user), self._about(entry) | about, arrays)
            except (OSError, ValueError) as error:
                _log.warning("the working set of user %r is built again by the next process: %s", user, error)
                entry.written = entry.change  # not tried again at once
                return False
            entry.written = entry.change
        if len(entry.steps) >= _LARGE:
            release_memory()
        return True

    def _about(self, entry: _Entry) -> dict[str, Any]:
        """What the description of a file must contain to be used."""
        return {
            "format": [_FORMAT, ANALYSIS_VERSION, self._embedder.dimension, self._embedder.token_model is not None],
            "embedder": self._embedder.fingerprint,
            "registered": entry.registered,
        }

    def _load(self, tx: Transaction, entry: _Entry) -> bool:
        """Load the user's file; returns whether there is a valid one."""
        if self._folder is None:
            return False
        path = self._path(tx.user)
        try:
            read = read_arrays(path)
            if read is None:
                return False
            about, arrays = read
            wanted = self._about(entry)
            if {name: about.get(name) for name in wanted} != wanted or not 0 < about["change"] <= tx.change:
                raise CorruptFileError(f"{path} belongs to another state of the home")
            self._unpack(tx, entry, about, arrays)
        except (CorruptFileError, KeyError, TypeError, ValueError, IndexError) as error:
            _log.warning("the working set of user %r is built again: %s", tx.user, error)
            self._remove(entry, tx.user)
            return False
        return True

    def _unpack(self, tx: Transaction, entry: _Entry, about: dict[str, Any], arrays: Arrays) -> None:
        ids = unpack_ids(arrays["ids"])
        speakers = read_speakers(tx, [ids[row] for row in arrays["named_by"].tolist()])
        steps = WorkingSet(self._embedder.dimension, self._pieces)
        steps.restore(ids, speakers, arrays)
        if about["items"]:
            items = ItemSet(steps, self._embedder, self._vectors)
            items.restore(_with_prefix(arrays, "item."), about["items"])
            entry.items = items
        if about["labels"]:
            labels = LabelSet(steps)
            labels.restore(_with_prefix(arrays, "label."), about["labels"])
            entry.labels = labels
        entry.steps, entry.change, entry.written = steps, about["change"], about["change"]


def _replace_steps(entry: _Entry, rows: npt.NDArray[np.int64]) -> WorkingSet:
    """Replace a set by one of these rows, in this order; a running recall may still read the former."""
    before, items, labels = entry.steps, entry.items, entry.labels
    assert before is not None
    items = items if items is not None and items.steps is before else None
    state = {"stems": np.empty(0, np.int32), "pieces": np.empty(0, np.int32)} if items is None else items.state()
    steps, stems, tokens = before.subset(rows, state["stems"], state["pieces"])
    state.update(stems=stems[state["stems"]], pieces=tokens[state["pieces"]])
    entry.labels = labels.subset(steps, rows) if labels is not None and labels.steps is before else None
    entry.items = None if items is None else items.renumbered(steps, state)
    entry.steps = steps
    return steps


def _packed(entry: _Entry) -> tuple[dict[str, Any], Arrays]:
    """The content of a file: the change numbers, and every array."""
    assert entry.steps is not None
    arrays = {**entry.steps.state(), "ids": pack_ids(entry.steps.ids)}
    about = {"change": entry.change, "items": 0, "labels": 0}
    for name, part in (("item", entry.items), ("label", entry.labels)):
        if part is not None and part.steps is entry.steps:
            about[f"{name}s"] = part.change
            arrays.update((f"{name}.{key}", array) for key, array in part.state().items())
    return about, arrays


def _with_prefix(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
