"""Labelling as a stage of the write path: steps without an intent go through a user's labeller into the ledger.

It runs before the steps are indexed, so that indexes take in text and labels at once. A labeller that fails holds up
nothing: the steps are indexed without labels, and labelled at a later try.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexamem.errors import HexamemError
from hexamem.intent.contract import RECENT, Embed, LabelBatch, LabeledStep, Labeler, StepView
from hexamem.intent.query import QueryFilter
from hexamem.memory_types.labels import Label
from hexamem.stores.documents import searchable, with_speaker
from hexamem.stores.labelling import write_labels
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import (
    LabelMarks,
    PendingStep,
    StepIntent,
    read_label_marks,
    read_labels,
    recent_steps,
    set_labelled,
    unlabelled_steps,
)
from hexamem.stores.vocabulary import SEPARATOR

__all__ = ["IntentLabeling"]

_BATCH = 1_000
_KEPT_USERS = 64
_ATTEMPTS = 3
_TOLD = 1_000


@dataclass(slots=True)
class _Kept:
    """A user's labeller, the names that it knows labels by (id → name), and the marks when it was last up to date."""

    labeler: Labeler
    names: dict[str, str]
    marks: LabelMarks


class IntentLabeling:
    """Labels what users have stored. Safe to call from several threads; of one user by one at a time.

    A user's labeller is kept between batches, those of the latest :data:`_KEPT_USERS` users. One that was let go, or
    whose labels were changed by a person, an undo, an import or another process, is restored from the ledger.

    Args:
        ledger: where steps are read and labels written.
        make: a new labeller for a user of this name.
        embed: makes the vectors that labellers see.
        notices: receives the user and one clear line for each failure, and for what fell back.
        batch: steps given to a labeller at once, at most.
        queue: queues what follows from a batch, given its step ids, in the transaction that writes its labels.
        queued: called after that was committed.
    """

    def __init__(
        self,
        ledger: Ledger,
        make: Callable[[str], Labeler],
        embed: Embed,
        notices: Callable[[str, str], None],
        *,
        batch: int = _BATCH,
        kept_users: int = _KEPT_USERS,
        queue: Callable[[Transaction, Sequence[str]], None] | None = None,
        queued: Callable[[], None] | None = None,
    ) -> None:
        self._queue, self._queued = queue, queued
        self._ledger, self._make, self._embed, self._notices = ledger, make, embed, notices
        self._batch, self._kept_users = batch, kept_users
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._failures: dict[str, int] = {}
        self._told: set[tuple[str, str]] = set()
        self._guard = threading.Lock()
        self._turns: dict[str, threading.RLock] = {}

    def _turn(self, user: str) -> threading.RLock:
        """Held while the user's labeller is asked or dropped. It may be taken under the lock of the indexes, not around it."""
        with self._guard:
            return self._turns.setdefault(user, threading.RLock())

    def waiting(self, user: str) -> bool:
        """Whether a batch of the user failed and is to be tried again."""
        return user in self._failures

    def query(self, user: str, text: str) -> QueryFilter:
        """The labels that a question names (STITCH's ``F_q``); none with a labeller that does not read questions."""
        with self._turn(user):
            return self._query(user, text)

    def _query(self, user: str, text: str) -> QueryFilter:
        with self._ledger.read(user) as tx:
            if not tx.user_id:
                return QueryFilter()
            marks = read_label_marks(tx)
            kept = self._up_to_date(user, marks)
            known = _known(tx) if kept is None else None
        try:
            if kept is None:
                kept = self._restored(user, known, marks)
                self._keep(user, kept)
            ask = getattr(kept.labeler, "query", None)
            found = QueryFilter() if ask is None else ask(text)
            if not isinstance(found, QueryFilter):
                raise TypeError(f"the labeller's query() gave {type(found).__name__}, not a QueryFilter")
        except Exception as error:  # noqa: BLE001 - a labeller of whatever making: the question is answered without it
            # Without the error's words: they may repeat the question.
            self._tell(user, f"labels of questions of user {user!r} could not be read ({type(error).__name__})")
            return QueryFilter()
        return found

    def _keep(self, user: str, kept: _Kept) -> None:
        with self._guard:
            self._kept[user] = kept
            while len(self._kept) > self._kept_users:
                self._kept.popitem(last=False)

    def drop(self, user: str) -> None:
        """Forget what is kept in memory of a user; a question that is being read is waited for, and keeps nothing."""
        with self._turn(user), self._guard:
            self._kept.pop(user, None)
            self._failures.pop(user, None)
            self._told = {one for one in self._told if one[0] != user}

    def start_over(self, user: str) -> None:
        """Look again at every step that has no labels yet, such as those of a batch that was given up."""
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                set_labelled(tx, 0)

    def label(self, user: str) -> int:
        """Label the user's steps that have no labels yet; returns how many were.

        A labeller that raises is noticed, and its batch tried again by later calls, three times in all. Then it is
        given up: its steps stay without labels until :meth:`start_over`.
        """
        with self._turn(user):
            return self._label(user)

    def _label(self, user: str) -> int:
        done = 0
        while True:
            with self._ledger.read(user) as tx:
                if not tx.user_id:
                    return done
                marks = read_label_marks(tx)
                pending = unlabelled_steps(tx, marks.reached, self._batch)
                reached = pending[-1].change if len(pending) == self._batch else tx.change
                kept = self._up_to_date(user, marks)
                known = _known(tx) if pending and kept is None else None
            if not pending:
                return done
            try:
                if kept is None:
                    kept = self._restored(user, known, marks)
                views = self._views(pending)
                batch = kept.labeler.label(views)
                _check(batch, pending, user, kept.names)
            except Exception as error:  # noqa: BLE001 - a labeller of whatever making: the steps are stored and indexed
                if not self._failed(user, error, reached, len(pending)):
                    return done
                continue
            for line in batch.degraded:
                self._tell(user, f"labelling of user {user!r}: {line}")
            try:
                written = self._write(user, batch, pending, marks, reached, kept)
            except HexamemError as error:
                if type(error) is not HexamemError:  # a full disk, a lock, a damaged file: not the labeller's doing
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
        return [_view(step, text, vector) for step, text, vector in zip(pending, texts, vectors, strict=True)]

    def _up_to_date(self, user: str, marks: LabelMarks) -> _Kept | None:
        with self._guard:
            kept = self._kept.get(user)
            if kept is None or kept.marks != marks:
                return None
            self._kept.move_to_end(user)
            return kept

    def _restored(self, user: str, known: _Known | None, marks: LabelMarks) -> _Kept:
        labels, recent = known if known is not None else ([], {})
        labels = _by_path(labels)
        labeler = self._make(user)
        if labels:
            steps = [step for pairs in recent.values() for step, _ in pairs]
            views = {view.id: view for view in self._views(steps)} if steps else {}
            labeler.restore(
                labels,
                {
                    scope: [_labeled(views[step.id], intent) for step, intent in pairs]
                    for scope, pairs in recent.items()
                },
            )
        return _Kept(labeler, {one.id: one.name for one in labels}, marks)

    def _write(
        self,
        user: str,
        batch: LabelBatch,
        pending: Sequence[PendingStep],
        marks: LabelMarks,
        reached: int,
        kept: _Kept,
    ) -> bool:
        """Write a batch, unless labels were changed meanwhile by anything else: it is then labelled anew."""
        with self._guard:
            self._kept.pop(user, None)  # if the writing fails, the labeller knows more than the ledger
        with self._ledger.write(user, create=False) as tx:
            if not tx.user_id or read_label_marks(tx) != marks:
                return False
            write_labels(
                tx,
                _by_own_name(tuple({one.id: one for one in batch.labels}.values()), kept.names),
                [_intent(one) for one in batch.steps],
                {step.id: step.change for step in pending},
                [_intent(one) for one in {one.step.id: one for one in batch.revised}.values()],
                indexed_elsewhere=not self._ledger.embedded,
            )
            set_labelled(tx, reached)
            if self._queue is not None:
                self._queue(tx, [step.id for step in pending])
        if self._queued is not None:
            self._queued()
        kept.marks = marks._replace(reached=reached)
        kept.names.update((one.id, one.name) for one in batch.labels)
        self._keep(user, kept)
        return True

    def _failed(self, user: str, error: Exception, reached: int, steps: int) -> bool:
        """Note a failure; whether the batch was given up, so that the next one can be labelled."""
        with self._guard:
            self._kept.pop(user, None)  # it may have taken in half of the batch
            tries = self._failures[user] = self._failures.get(user, 0) + 1
        what = f"{steps:,} step{'' if steps == 1 else 's'} of user {user!r} could not be labelled"
        why = f"{type(error).__name__}: {error}"
        if tries < _ATTEMPTS:
            self._notices(user, f"{what} and will be tried again ({why})")
            return False
        self._failures.pop(user, None)
        self._notices(user, f"{what} in {tries} tries and stay without labels until a reindex ({why})")
        with self._ledger.write(user, create=False) as tx:
            if tx.user_id:
                set_labelled(tx, reached)
        return True

    def _tell(self, user: str, line: str) -> None:
        with self._guard:
            if (user, line) in self._told:
                return
            if len(self._told) >= _TOLD:
                self._told.clear()
            self._told.add((user, line))
        self._notices(user, line)


_Known = tuple[list[Label], dict[str, list[tuple[PendingStep, StepIntent]]]]


def _known(tx: Transaction) -> _Known:
    return read_labels(tx), recent_steps(tx, RECENT)


def _by_path(labels: Sequence[Label]) -> list[Label]:
    """The labels as labellers know them: a scope under another by its whole path, so that its name is its own alone."""
    by_id = {one.id: one for one in labels}

    def path(label: Label, below: tuple[str, ...] = ()) -> str:
        parent = by_id.get(label.parent_id or "")
        if parent is None or parent.id in below or parent.id == label.id:
            return label.name
        return f"{path(parent, (*below, label.id))}{SEPARATOR}{label.name}"

    return [
        one.model_copy(update={"name": path(one)}) if one.kind == "scope" and one.parent_id else one for one in labels
    ]


def _by_own_name(labels: Sequence[Label], known: Mapping[str, str]) -> list[Label]:
    """The labels as the ledger keeps them: a scope under another by its own name, so that a path follows a renaming."""
    names = {**known, **{one.id: one.name for one in labels}}
    found = []
    for one in labels:
        above = names.get(one.parent_id or "") if one.kind == "scope" else None
        if above is not None and one.name.startswith(above + SEPARATOR) and len(one.name) > len(above + SEPARATOR):
            found.append(one.model_copy(update={"name": one.name[len(above + SEPARATOR) :]}))
        else:
            found.append(one)
    return found


def _view(step: PendingStep, text: str, vector: np.ndarray) -> StepView:
    return StepView(
        id=step.id,
        thread_id=step.thread_id,
        turn=step.turn,
        role=step.role,
        speaker=step.speaker,
        text=text,
        occurred_at=step.occurred_at,
        vector=vector,
    )


def _labeled(step: StepView, intent: StepIntent) -> LabeledStep:
    return LabeledStep(
        step=step,
        scope=intent.scope_id,
        events=intent.event_ids,
        entities=intent.entity_ids,
        resolved_text=step.text if intent.resolved_text is None else intent.resolved_text,
        summary=intent.summary,
        antecedents=intent.antecedents,
        confidence=intent.confidence,
        provisional=intent.provisional,
        tier=intent.tier,
    )


def _intent(one: LabeledStep) -> StepIntent:
    return StepIntent(
        step_id=one.step.id,
        scope_id=one.scope,
        event_ids=tuple(one.events),
        entity_ids=tuple(one.entities),
        resolved_text=None if one.resolved_text == one.step.text else one.resolved_text,
        summary=one.summary,
        antecedents=tuple(one.antecedents),
        confidence=one.confidence,
        provisional=one.provisional,
        tier=one.tier,
    )


def _check(batch: LabelBatch, pending: Sequence[PendingStep], user: str, stored: Mapping[str, str]) -> None:
    """Refuse what does not answer the question: it would be stored under wrong steps, or under no label."""
    given, asked = [one.step.id for one in batch.steps], [step.id for step in pending]
    if given != asked:
        raise ValueError(f"the labeller gave {len(given)} labelled steps for {len(asked)}, or in another order")
    if any(not one.scope or not one.events for one in (*batch.steps, *batch.revised)):
        raise ValueError("the labeller left out the scope or the event type of a step, which each must have")
    known = stored.keys() | {one.id for one in batch.labels}
    for one in (*batch.steps, *batch.revised):
        unknown = {one.scope, *one.events, *one.entities} - known
        if unknown:
            raise ValueError(f"the labeller gave step {one.step.id} the label {min(unknown)}, which it never made")
    foreign = next((one for one in batch.labels if one.user != user), None)
    if foreign is not None:
        raise ValueError(f"the labeller gave the label {foreign.id} of another user")
