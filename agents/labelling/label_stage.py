"""Labelling as a stage of the write path: labels new steps with the user's labeler and writes them to the ledger.

It runs before the steps are indexed, so that text and labels are indexed together. If a labeler fails, the steps are
indexed without labels, and labelling is retried later.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from hexamem.agents.labelling.batches import labeled_step, step_intent, step_view
from hexamem.errors import HexamemError
from hexamem.intent.contract import RECENT, Embed, LabelBatch, Labeler, StepView
from hexamem.intent.query import QueryFilter
from hexamem.stores.documents import searchable, with_speaker
from hexamem.stores.label_writes import write_labels
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.labels import (
    LabelMarks,
    PendingStep,
    read_label_marks,
    read_labels,
    recent_steps,
    set_labelled,
    unlabelled_steps,
)

__all__ = ["IntentLabeling"]

_ATTEMPTS = 3


@dataclass(slots=True)
class _Restored:
    """A user's labeler, the ids of all labels that it knows, and the revision of the ledger's labels that it has."""

    labeler: Labeler
    label_ids: set[str]
    marks: LabelMarks


class IntentLabeling:
    """Labels the steps of users. Thread-safe, with one call a user at a time.

    A user's labeler is cached between batches. It is restored from the ledger after it was evicted, or after a person, an
    undo, an import or another process changed labels.

    Args:
        ledger: where steps are read and labels written.
        make: user → a new labeler.
        embed: embeds the texts of steps.
        notices: called with the user and one line for each failure or fallback.
        batch: the most steps of one call of a labeler.
        cached_users: the most labelers in the cache; the least recently used are evicted.
    """

    def __init__(
        self,
        ledger: Ledger,
        make: Callable[[str], Labeler],
        embed: Embed,
        notices: Callable[[str, str], None],
        *,
        batch: int = 1_000,
        cached_users: int = 64,
    ) -> None:
        self._ledger, self._make, self._embed, self._notices = ledger, make, embed, notices
        self._batch, self._cached_users = batch, cached_users
        self._cached: OrderedDict[str, _Restored] = OrderedDict()
        self._failures: dict[str, int] = {}
        self._guard = threading.Lock()
        self._locks: dict[str, threading.RLock] = {}

    def _lock(self, user: str) -> threading.RLock:
        """Held while the user's labeler is used or dropped. Acquire it inside the lock of the indexes, never around it."""
        with self._guard:
            return self._locks.setdefault(user, threading.RLock())

    def waiting(self, user: str) -> bool:
        """Whether a batch of the user failed and will be retried."""
        return user in self._failures

    def query(self, user: str, text: str) -> QueryFilter:
        """The labels that a question names (``F_q`` of STITCH); none with a labeler without ``query``."""
        with self._lock(user):
            try:
                restored = self._restored(user)
                query = getattr(restored.labeler, "query", None) if restored is not None else None
                asked = QueryFilter() if query is None else query(text)
                if not isinstance(asked, QueryFilter):
                    raise TypeError(f"the labeler's query() returned {type(asked).__name__}, not a QueryFilter")
            except Exception as error:  # noqa: BLE001 - a host's labeler may raise anything; the question is answered without it
                # Without the error's message, which may repeat the question.
                self._notices(user, f"labels of questions of user {user!r} could not be read ({type(error).__name__})")
                return QueryFilter()
            return asked

    def drop(self, user: str) -> None:
        """Evict the user's labeler, after a query in progress has ended."""
        with self._lock(user):
            self._cache(user, None)
            self._failures.pop(user, None)

    def start_over(self, user: str) -> None:
        """Label again all steps without labels, such as those of a batch that was given up."""
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                set_labelled(tx, 0)

    def label(self, user: str) -> int:
        """Label the steps of the user that have no labels at the time of the call; returns their number.

        If the labeler raises, there is a notice, and later calls retry the batch, up to three tries. Then it is given up,
        and its steps have no labels until :meth:`start_over`.
        """
        done, until = 0, -1
        with self._lock(user):
            while True:
                with self._ledger.read(user) as tx:
                    if not tx.user_id:
                        return done
                    until = tx.change if until < 0 else until
                    marks = read_label_marks(tx)
                    pending = unlabelled_steps(tx, marks.reached, self._batch)
                    reached = pending[-1].change if len(pending) == self._batch else tx.change
                if not pending or marks.reached >= until:
                    return done
                try:
                    restored = self._restored(user)
                    if restored is None or restored.marks != marks:
                        continue  # another process labelled or corrected meanwhile
                    batch = restored.labeler.label(self._views(pending))
                    _check(batch, pending, user, restored.label_ids)
                except Exception as error:  # noqa: BLE001 - a host's labeler may raise anything; the steps are stored and indexed
                    if not self._failed(user, error, reached, len(pending)):
                        return done
                    continue
                for line in batch.degraded:
                    self._notices(user, f"labelling of user {user!r}: {line}")
                try:
                    written = self._write(user, batch, pending, reached, restored)
                except HexamemError as error:
                    if (
                        type(error) is not HexamemError
                    ):  # a full disk, a lock, a damaged file: not a fault of the labeler
                        raise
                    if not self._failed(user, error, reached, len(pending)):
                        return done
                    continue
                if written:
                    done += len(pending)
                    self._failures.pop(user, None)

    def _views(self, pending: Sequence[PendingStep]) -> list[StepView]:
        texts = [searchable(step.index_text) for step in pending]
        indexed = [with_speaker(step.name, text) for step, text in zip(pending, texts, strict=True)]
        vectors = np.asarray(self._embed(indexed), dtype=np.float32)
        return [step_view(step, text, vector) for step, text, vector in zip(pending, texts, vectors, strict=True)]

    def _restored(self, user: str) -> _Restored | None:
        """The user's labeler, from the cache or the ledger; None for an unknown user."""
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return None
            marks = read_label_marks(tx)
            with self._guard:
                cached = self._cached.get(user)
            if cached is None or cached.marks != marks:
                cached, labels, recent = None, read_labels(tx), recent_steps(tx, RECENT)
        if cached is None:
            labeler = self._make(user)
            if labels:
                steps = [step for pairs in recent.values() for step, _ in pairs]
                views = {view.id: view for view in self._views(steps)} if steps else {}
                labeler.restore(
                    labels,
                    {
                        scope: [labeled_step(views[step.id], intent) for step, intent in pairs]
                        for scope, pairs in recent.items()
                    },
                )
            cached = _Restored(labeler, {label.id for label in labels}, marks)
        self._cache(user, cached)
        return cached

    def _cache(self, user: str, restored: _Restored | None) -> None:
        with self._guard:
            self._cached.pop(user, None)
            if restored is not None:
                self._cached[user] = restored
            while len(self._cached) > self._cached_users:
                self._cached.popitem(last=False)

    def _write(
        self, user: str, batch: LabelBatch, pending: Sequence[PendingStep], reached: int, restored: _Restored
    ) -> bool:
        """Write a batch, unless labels were changed since it was read; whether it was written."""
        self._cache(user, None)  # if the write fails, the labeler is ahead of the ledger
        with self._ledger.write(user, create=False) as tx:
            if not tx.user_id or read_label_marks(tx) != restored.marks:
                return False
            write_labels(
                tx,
                tuple({label.id: label for label in batch.labels}.values()),
                [step_intent(labeled) for labeled in batch.steps],
                {step.id: step.change for step in pending},
                [step_intent(labeled) for labeled in {revised.step.id: revised for revised in batch.revised}.values()],
                indexed_elsewhere=not self._ledger.embedded,
            )
            set_labelled(tx, reached)
        restored.marks = restored.marks._replace(reached=reached)
        restored.label_ids.update(label.id for label in batch.labels)
        self._cache(user, restored)
        return True

    def _failed(self, user: str, error: Exception, reached: int, steps: int) -> bool:
        """Record a failure; whether the batch was given up, so that the next one can be labelled."""
        self._cache(user, None)  # the labeler may have processed a part of the batch
        tries = self._failures[user] = self._failures.get(user, 0) + 1
        subject = f"{steps:,} step{'' if steps == 1 else 's'} of user {user!r} could not be labelled"
        reason = type(error).__name__  # not its message, which may repeat a text
        if tries < _ATTEMPTS:
            self._notices(user, f"{subject} and will be tried again ({reason})")
            return False
        self._failures.pop(user, None)
        self._notices(user, f"{subject} in {tries} tries and stay without labels until a reindex ({reason})")
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                set_labelled(tx, reached)
        return True


def _check(batch: LabelBatch, pending: Sequence[PendingStep], user: str, stored: Collection[str]) -> None:
    """Check the result of a labeler.

    Raises:
        ValueError: its steps are not those of the input, or a label is missing, unknown or another user's.
    """
    labelled, expected = [labeled.step.id for labeled in batch.steps], [step.id for step in pending]
    if labelled != expected:
        raise ValueError(
            f"the labeler returned {len(labelled)} labelled steps for {len(expected)}, or in another order"
        )
    known = {*stored, *(label.id for label in batch.labels)}
    for labeled in (*batch.steps, *batch.revised):
        if not labeled.scope or not labeled.events:
            raise ValueError("the labeler left out the scope or the event type of a step, which each must have")
        if unknown := {labeled.scope, *labeled.events, *labeled.entities} - known:
            raise ValueError(f"the labeler gave step {labeled.step.id} the label {min(unknown)}, which it never made")
    foreign = next((label for label in batch.labels if label.user != user), None)
    if foreign is not None:
        raise ValueError(f"the labeler made the label {foreign.id} for another user, {foreign.user!r}")
