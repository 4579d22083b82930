"""The working sets of the users who were asked for last: made when a recall first needs one, kept up to date.

New steps are added; steps that are told anew, by other labels, take their places again. When words are taken away (a
step is forgotten or redacted) the steps that changed leave memory at once, with all that only they held.

Where there is a folder, each user's set is kept in a file there too (:mod:`.working_set_file`), and a new process goes
on from it. The file goes at once when words are taken away, and is written again after a later recall.
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
from hexamem.stores.grown import Arrays, packed_names, unpacked_names
from hexamem.stores.item_set import ItemSet
from hexamem.stores.label_set import LabelSet
from hexamem.stores.ledger import Ledger, Transaction, user_key
from hexamem.stores.lexical.tokens import ANALYSIS_VERSION
from hexamem.stores.memory_use import give_back
from hexamem.stores.piece_vectors import PieceVectors
from hexamem.stores.projections import holds_documents
from hexamem.stores.step_facts import ReadStep, changed_ids, count_steps, read_speakers, read_steps
from hexamem.stores.vectors import VectorIndex
from hexamem.stores.working_set import WorkingSet
from hexamem.stores.working_set_file import read_arrays, remove_arrays, write_arrays

__all__ = ["KeptWorkingSets"]

_FORMAT = 4
"""Raised with every change of what is taken in of a step or item, or of how it is written."""
_USERS = 32
_BYTES = 400_000_000
_LEAST, _SHARE = 256, 16

_ADDED = 4_000  # at a time
_LARGE = 20_000  # steps of a set whose making and writing leaves much memory free

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Kept:
    registered: int
    change: int = 0
    steps: WorkingSet | None = None
    items: ItemSet | None = None
    labels: LabelSet | None = None
    settled: bool = False  # whether all was read that goes with the steps
    written: int = -1  # the change number that the file holds; -1 where there is none
    guard: threading.RLock = field(default_factory=threading.RLock)


class KeptWorkingSets:
    """Working sets by user. Safe to use from several threads.

    Args:
        vectors: the index from which vectors are read; it must be up to the ledger.
        embedder: whose vectors and tokens these are.
        folder: where they are kept from one process to the next; None to keep them in memory alone.
        labelled: whether the labels of steps will be asked for.
        least: so many changes since the last writing, and one for every sixteen steps, are worth writing a file.
        users: of how many users they are kept in memory.
        size: bytes that all may take together there; the one in use is always kept.
    """

    def __init__(
        self,
        vectors: VectorIndex,
        embedder: Embedder,
        folder: Path | None = None,
        *,
        labelled: bool = True,
        least: int = _LEAST,
        users: int = _USERS,
        size: int = _BYTES,
    ) -> None:
        self._vectors, self._embedder, self._folder = vectors, embedder, folder
        self._labelled, self._least, self._users, self._size = labelled, least, users, size
        model = embedder.token_model
        self._pieces = None if model is None else PieceVectors(model)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._guard = threading.Lock()
        self._files = threading.Lock()

    def of(self, tx: Transaction) -> tuple[WorkingSet, ItemSet | None]:
        """The user's active steps and items, at least as the transaction sees them; a later state where another thread
        saw one. No items where there are very many, or documents, which are indexed by passages."""
        kept = self._entry(tx)
        with kept.guard:
            loaded = kept.steps is None and self._load(tx, kept)
            if kept.steps is None or kept.change < tx.change or not kept.settled:
                kept.settled = False
                if kept.steps is not None:
                    self._bring_up(tx, kept)
                if kept.steps is None or (loaded and len(kept.steps) != count_steps(tx)):
                    self._remove(kept, tx.user)
                    kept.steps = self._made(tx)
                kept.change = tx.change
                kept.items = self._items(tx, kept)
                if self._labelled:
                    self.labels(tx, kept.steps)
                kept.settled = True
                self._bound(tx.user)
            return kept.steps, kept.items

    def labels(self, tx: Transaction, steps: WorkingSet) -> LabelSet:
        """The labels of the steps of a set that :meth:`of` gave, as the transaction sees them."""
        with self._guard:
            kept = self._kept.get(tx.user)
        with kept.guard if kept is not None else nullcontext():
            if kept is None or kept.steps is not steps:
                labels = LabelSet(steps)
                labels.refresh(tx, tx.change)
                return labels
            if kept.labels is None or kept.labels.steps is not steps:
                kept.labels = LabelSet(steps)
            # Steps that came since the set was read have no row yet: their labels are read again once they have one.
            kept.labels.refresh(tx, min(tx.change, kept.change))
            return kept.labels

    def holds(self, user: str) -> bool:
        """Whether a user's steps are in memory."""
        with self._guard:
            kept = self._kept.get(user)
        return kept is not None and kept.steps is not None

    @contextmanager
    def using(self, user: str) -> Iterator[None]:
        """While it lasts nothing is added to the user's set by another thread."""
        with self._guard:
            kept = self._kept.get(user)
        with kept.guard if kept is not None else nullcontext():
            yield

    def drop(self, user: str, ledger: Ledger | None = None) -> None:
        """Forget what is kept of a user that the ledger may not hold any more, in memory and on disk.

        Args:
            ledger: tells which steps changed since they were read: these alone go from memory, and all items. Without
                it everything does, as where the set is in use at this moment.
        """
        with self._guard:
            kept = self._kept.get(user)
        if kept is None or ledger is None or not self._let_go(ledger, user, kept):
            with self._guard:
                self._kept.pop(user, None)
        if self._folder is not None:
            with self._files:  # whoever was writing is through, and finds that it was dropped before writing again
                remove_arrays(self._path(user))

    def _let_go(self, ledger: Ledger, user: str, kept: _Kept) -> bool:
        """Take the steps that changed since out of a set, and all items; False where that cannot be done at once."""
        if not kept.guard.acquire(blocking=False):
            return False
        try:
            kept.written = -1
            with ledger.read(user) as tx:
                if kept.steps is None or tx.registered != kept.registered or not kept.change:
                    return False
                changed = changed_ids(tx, kept.change)
            gone = [row for one in changed if (row := kept.steps.row_of.get(one)) is not None]
            if 2 * len(gone) > len(kept.steps):
                return False
            kept.items, kept.settled = None, False
            # Where no step is gone as well: a word may have been an item's alone.
            _take(kept, np.delete(np.arange(len(kept.steps)), gone))
        finally:
            kept.guard.release()
        return True

    def _remove(self, kept: _Kept, user: str) -> None:
        """Let go of a set that does not agree with the ledger any more, and of its file."""
        kept.steps = kept.items = kept.labels = None
        kept.written = -1
        if self._folder is not None:
            try:
                with self._files:
                    remove_arrays(self._path(user))
            except HomeNotWritableError as error:  # it is refused again by the next process
                _log.warning("%s", error)

    def _items(self, tx: Transaction, kept: _Kept) -> ItemSet | None:
        assert kept.steps is not None
        if holds_documents(tx) or not ItemSet.fits(tx):
            return None
        items = kept.items
        if items is None or items.steps is not kept.steps:
            items = ItemSet(kept.steps, self._embedder, self._vectors)
        items.refresh(tx, tx.change)
        return items

    def _entry(self, tx: Transaction) -> _Kept:
        with self._guard:
            kept = self._kept.get(tx.user)
            if kept is None or kept.registered != tx.registered:
                kept = self._kept[tx.user] = _Kept(tx.registered)
            self._kept.move_to_end(tx.user)
            return kept

    def _bound(self, user: str) -> None:
        """Let go of those not asked for the longest."""
        with self._guard:
            sizes = {
                name: sum(each.nbytes for each in (one.steps, one.items, one.labels) if each is not None)
                for name, one in self._kept.items()
            }
            total = sum(sizes.values())
            for name, size in sizes.items():
                if name != user and (total > self._size or len(self._kept) > self._users):
                    del self._kept[name]
                    total -= size

    # ------------------------------------------------------------------------------------------------------ the ledger

    def _made(self, tx: Transaction) -> WorkingSet:
        made = WorkingSet(self._embedder.dimension, self._pieces)
        for batch in read_steps(tx):
            self._add(tx.user, made, batch)
        return made

    def _bring_up(self, tx: Transaction, kept: _Kept) -> None:
        """Take in what changed: new steps behind the others, and in their places those that are told anew or back again;
        without those that are gone. Where that is most of them, the set is let go of."""
        steps = kept.steps
        assert steps is not None
        gone: list[int] = []
        new: list[ReadStep] = []
        for batch in read_steps(tx, kept.change):
            for one in batch:
                facts, row = one.facts, steps.row_of.get(one.facts.id)
                if row is not None and one.active and steps.unchanged(facts):
                    continue
                if row is not None:
                    gone.append(row)
                if one.active:
                    new.append(one)
        if 2 * len(gone) > len(steps):
            self._remove(kept, tx.user)
            return
        if gone:
            steps = _take(kept, np.delete(np.arange(len(steps)), gone))
        for start in range(0, len(new), _ADDED):
            self._add(tx.user, steps, new[start : start + _ADDED])
        stored = steps.array("seq").values
        if (stored[1:] < stored[:-1]).any():
            _take(kept, np.argsort(stored, kind="stable"))

    def _add(self, user: str, to: WorkingSet, new: Sequence[ReadStep]) -> None:
        if new:
            to.add([one.facts for one in new], self._vectors_of(user, new))

    def _vectors_of(self, user: str, new: Sequence[ReadStep]) -> FloatArray:
        """Vectors of length 1, from the index where to make them costs more than to read them."""
        if not self._embedder.slow:
            return self._embedder.embed_documents([one.embedded for one in new])
        found = self._vectors.vectors(user_key(user), "steps", [one.facts.id for one in new])
        nothing = np.zeros(self._embedder.dimension, np.float32)
        rows = np.stack([found.get(one.facts.id, nothing) for one in new])
        return unit_rows(rows)

    # ------------------------------------------------------------------------------------------------------- the files

    def _path(self, user: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{user_key(user)}.safetensors"

    def save(self, ledger: Ledger, user: str) -> bool:
        """Write a user's set into its file where that is worth it; whether it was.

        To be called outside of any transaction, after recalls. Not written is a set that is behind the ledger, so that
        what was taken out of there meanwhile cannot come back; and one of which a file cannot hold the ids.
        """
        with self._guard:
            kept = self._kept.get(user)
        if self._folder is None or kept is None or kept.steps is None:
            return False
        if kept.change - max(0, kept.written) < max(self._least, len(kept.steps) // _SHARE):
            return False
        with kept.guard, self._files:
            with ledger.read(user) as tx:
                if (tx.registered, tx.change) != (kept.registered, kept.change) or self._kept.get(user) is not kept:
                    return False
            try:
                about, arrays = _packed(kept)
                write_arrays(self._path(user), self._about(kept) | about, arrays)
            except (OSError, ValueError) as error:
                _log.warning("what ranking needs of user %r is made anew by the next process: %s", user, error)
                kept.written = kept.change  # not tried again at once
                return False
            kept.written = kept.change
        if len(kept.steps) >= _LARGE:
            give_back()
        return True

    def _about(self, kept: _Kept) -> dict[str, Any]:
        """What a file must agree with."""
        return {
            "format": [_FORMAT, ANALYSIS_VERSION, self._embedder.dimension, self._embedder.token_model is not None],
            "embedder": self._embedder.fingerprint,
            "registered": kept.registered,
        }

    def _load(self, tx: Transaction, kept: _Kept) -> bool:
        """Take over the user's file, if there is one that fits; whether there was."""
        if self._folder is None:
            return False
        path = self._path(tx.user)
        try:
            read = read_arrays(path)
            if read is None:
                return False
            about, arrays = read
            wanted = self._about(kept)
            if {name: about.get(name) for name in wanted} != wanted or not 0 < about["change"] <= tx.change:
                raise CorruptFileError(f"{path} belongs to another state of the home")
            self._unpack(tx, kept, about, arrays)
        except (CorruptFileError, KeyError, TypeError, ValueError, IndexError) as error:
            _log.warning("what ranking needs of user %r is made anew: %s", tx.user, error)
            self._remove(kept, tx.user)
            return False
        return True

    def _unpack(self, tx: Transaction, kept: _Kept, about: dict[str, Any], arrays: Arrays) -> None:
        ids = unpacked_names(arrays["ids"])
        speakers = read_speakers(tx, [ids[row] for row in arrays["named_by"].tolist()])
        steps = WorkingSet(self._embedder.dimension, self._pieces)
        steps.restore(ids, speakers, arrays)
        if about["items"]:
            items = ItemSet(steps, self._embedder, self._vectors)
            items.restore(_part(arrays, "item."), about["items"])
            kept.items = items
        if about["labels"]:
            labels = LabelSet(steps)
            labels.restore(_part(arrays, "label."), about["labels"])
            kept.labels = labels
        kept.steps, kept.change, kept.written = steps, about["change"], about["change"]


def _take(kept: _Kept, rows: npt.NDArray[np.int64]) -> WorkingSet:
    """Put a set of these rows alone, in this order, in place of one, which a recall under way may still read."""
    before, items, labels = kept.steps, kept.items, kept.labels
    assert before is not None
    items = items if items is not None and items.steps is before else None
    state = {"stems": np.empty(0, np.int32), "pieces": np.empty(0, np.int32)} if items is None else items.state()
    made, stems, tokens = before.taken(rows, state["stems"], state["pieces"])
    state.update(stems=stems[state["stems"]], pieces=tokens[state["pieces"]])
    kept.labels = labels.taken(made, rows) if labels is not None and labels.steps is before else None
    kept.items = None if items is None else items.renumbered(made, state)
    kept.steps = made
    return made


def _packed(kept: _Kept) -> tuple[dict[str, Any], Arrays]:
    """What goes into a file: the change numbers, and every array."""
    assert kept.steps is not None
    arrays = {**kept.steps.state(), "ids": packed_names(kept.steps.ids)}
    about = {"change": kept.change, "items": 0, "labels": 0}
    for name, one in (("item", kept.items), ("label", kept.labels)):
        if one is not None and one.steps is kept.steps:
            about[f"{name}s"] = one.change
            arrays.update((f"{name}.{key}", array) for key, array in one.state().items())
    return about, arrays


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
