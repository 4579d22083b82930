"""A batch of labelled steps as a model is asked about it, read from the ledger, and writing what the model made of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select

from hexamem.agents.labelling.intent_labeler import _by_own_name, _by_path, _intent, _labeled, _view
from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.page_texts import PageTexts, read_page_slots, write_page_notes
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types.times import read_zone
from hexamem.stores.documents import searchable
from hexamem.stores.labelling import write_labels
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import LabelMarks, mark_corrected, read_label_marks, read_labels
from hexamem.stores.ledger.refining import labels_before, open_scopes, steps_around
from hexamem.stores.ledger.schema import steps
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["ReadTask", "read_label_task", "read_task", "write_label_batch", "write_task"]

_BEFORE = 6  # steps shown before the batch, and before each step that stands apart
_SCOPES = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """A labelling task as it was read.

    Attributes:
        marks: by which it is seen whether it is still right.
        names: of all labels, scopes by path.
        reached: ``seq`` of its last step.
    """

    task: LabelTask
    marks: LabelMarks
    names: dict[str, str]
    reached: int


def read_task(
    ledger: Ledger, embed: Embed, user: str, choose: Callable[[Transaction], Sequence[int]], *, pages: bool = True
) -> ReadTask | None:
    """The task of labelling steps anew, with what was known before the first of them; None where none is chosen.

    Args:
        choose: gives the ``seq`` of the steps, in order.
        pages: whether headers and memos of their pages are asked for as well.

    Raises:
        KeyError: where a chosen step has no labels yet.
    """
    with ledger.read(user) as tx:
        chosen = choose(tx) if tx.user_id else ()
        if not chosen:
            return None
        marks, stored, zone = read_label_marks(tx), read_labels(tx), read_zone(tx.timezone)
        window = steps_around(tx, chosen, _BEFORE)
        used, scopes = labels_before(tx, chosen[0]), open_scopes(tx, chosen[0], _SCOPES)
        ids = {one.step.id for one in window if one.seq in set(chosen)}
        slots = read_page_slots(tx, ids) if pages else ()
    labels, vocabulary = _by_path(stored), Vocabulary(stored)
    gists: dict[str, str] = {}
    for scope in scopes:
        own = vocabulary.canonical(scope.label_id)
        if (label := vocabulary.by_id.get(own)) is not None:
            gists[own] = label.gist or " · ".join(dict.fromkeys(filter(None, scope.summaries)))
    texts = [searchable(one.step.index_text) for one in window]
    vectors = np.asarray(embed(texts), dtype=np.float32)
    task = LabelTask(
        window=tuple(
            _labeled(_view(one.step, text, vector), one.intent)
            for one, text, vector in zip(window, texts, vectors, strict=True)
        ),
        chosen=frozenset(ids),
        labels=tuple(labels),
        scopes=gists,
        used=frozenset(vocabulary.with_wider(used)),
        pages=slots,
        zone=zone,
    )
    return ReadTask(task=task, marks=marks, names={one.id: one.name for one in labels}, reached=chosen[-1])


def write_task(
    tx: Transaction, read: ReadTask, made: LabelBatch, pages: Mapping[str, PageTexts], *, indexed_elsewhere: bool
) -> bool:
    """Write what a model made of labels and pages, unless labels or texts were changed since they were read."""
    if not tx.user_id or read_label_marks(tx).corrected != read.marks.corrected:
        return False
    write_page_notes(tx, pages)
    write_labels(
        tx,
        _by_own_name(made.labels, read.names),
        (),
        {},
        [_intent(one) for one in made.steps if one.tier == "model"],
        indexed_elsewhere=indexed_elsewhere,
        by="model",
    )
    mark_corrected(tx)  # the embedded labeler continues from what the model made of it
    return True


def read_label_task(ledger: Ledger, embed: Embed, user: str, step_ids: Collection[str]) -> ReadTask | None:
    """The task of labelling these steps and no others; None where one has no labels yet."""

    def chosen(tx: Transaction) -> list[int]:
        own = (steps.c.user_id == tx.user_id) & steps.c.id.in_(list(step_ids))
        return sorted(int(row.seq) for row in tx.all(select(steps.c.seq).where(own)))

    try:
        read = read_task(ledger, embed, user, chosen)
    except KeyError:
        return None
    return read if read is not None and read.task.chosen == set(step_ids) else None


def write_label_batch(
    ledger: Ledger, user: str, read: ReadTask, made: LabelBatch, pages: Mapping[str, PageTexts]
) -> str | None:
    """As :func:`write_task`, in a transaction of its own; returns why nothing was written, None where it was."""
    if not pages and not any(one.tier == "model" for one in made.steps):
        return None
    with ledger.write(user, create=False) as tx:
        if not write_task(tx, read, made, pages, indexed_elsewhere=not ledger.embedded):
            return "labels were corrected meanwhile, so those of the model were left out"
    return None
