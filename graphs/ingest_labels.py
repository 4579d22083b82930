"""Labels that come with the one call of a batch: what the labeller is shown of its steps, and writing what it made.

The rules have labelled the steps before; what a model says of them is a revision, as in the ``label`` jobs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select

from hexamem.agents.labelling.intent_labeler import _by_own_name, _by_path, _intent, _labeled, _view
from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.page_notes import PageTexts, write_page_notes
from hexamem.agents.page_slots import read_page_slots
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types.times import read_zone
from hexamem.stores.documents import searchable
from hexamem.stores.labelling import write_labels
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import LabelMarks, mark_corrected, read_label_marks, read_labels
from hexamem.stores.ledger.refining import labels_before, open_scopes, steps_around
from hexamem.stores.ledger.schema import steps
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["TaskOfBatch", "read_label_task", "write_label_batch"]

_BEFORE, _SCOPES = 6, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOfBatch:
    """A labelling task, with the marks and names of the labels when it was read."""

    task: LabelTask
    marks: LabelMarks
    names: dict[str, str]


def read_label_task(ledger: Ledger, embed: Embed, user: str, step_ids: Collection[str]) -> TaskOfBatch | None:
    """The task of labelling these steps, as of the first of them; None where one has no labels by rules yet."""
    with ledger.read(user) as tx:
        if not tx.user_id or not step_ids:
            return None
        own = select(steps.c.seq).where(steps.c.user_id == tx.user_id, steps.c.id.in_(list(step_ids)))
        chosen = sorted(int(row.seq) for row in tx.all(own))
        if not chosen:
            return None
        marks = read_label_marks(tx)
        try:
            window = steps_around(tx, chosen, _BEFORE)
        except KeyError:  # a step without an intent
            return None
        stored = read_labels(tx)
        used = labels_before(tx, chosen[0])
        scopes = open_scopes(tx, chosen[0], _SCOPES)
        pages = read_page_slots(tx, step_ids)
        zone = read_zone(tx.timezone)
    ids = {one.step.id for one in window if one.seq in set(chosen)}
    if ids != set(step_ids):
        return None
    labels = _by_path(stored)
    vocabulary = Vocabulary(stored)
    carried = {one for label_id in used for one in (vocabulary.canonical(label_id), *vocabulary.above(label_id))}
    gists: dict[str, str] = {}
    for scope in scopes:
        own_id = vocabulary.canonical(scope.label_id)
        label = vocabulary.by_id.get(own_id)
        if label is not None:
            gist = label.gist if not scope.ahead else ""  # else it may tell of steps to come
            gists[own_id] = gist or " · ".join(dict.fromkeys(filter(None, scope.summaries)))
    texts = [searchable(one.step.index_text) for one in window]
    vectors = np.asarray(embed(texts), dtype=np.float32)
    views = [
        _labeled(_view(one.step, text, vector), one.intent)
        for one, text, vector in zip(window, texts, vectors, strict=True)
    ]
    task = LabelTask(
        window=tuple(views),
        chosen=frozenset(ids),
        labels=tuple(labels),
        scopes=gists,
        used=frozenset(carried),
        pages=pages,
        zone=zone,
    )
    return TaskOfBatch(task=task, marks=marks, names={one.id: one.name for one in labels})


def write_label_batch(
    ledger: Ledger, user: str, read: TaskOfBatch, made: LabelBatch, pages: Mapping[str, PageTexts] = {}
) -> str | None:
    """Write what a model made of labels and pages, unless a person corrected labels or text was redacted meanwhile.

    Returns:
        Why nothing was written; None where it was.
    """
    revised: Sequence[object] = [one for one in made.steps if one.tier == "model"]
    if not revised and not pages:
        return None
    with ledger.write(user, create=False) as tx:
        if not tx.user_id or read_label_marks(tx).corrected != read.marks.corrected:
            return "labels were corrected meanwhile, so those of the model were left out"
        write_page_notes(tx, pages)
        if revised:
            _write(tx, read, made, indexed_elsewhere=not ledger.embedded)
    return None


def _write(tx: Transaction, read: TaskOfBatch, made: LabelBatch, *, indexed_elsewhere: bool) -> None:
    write_labels(
        tx,
        _by_own_name(made.labels, read.names),
        (),
        {},
        [_intent(one) for one in made.steps if one.tier == "model"],
        indexed_elsewhere=indexed_elsewhere,
        by="model",
    )
    mark_corrected(tx)  # the embedded labeler goes on from what the model made of it
