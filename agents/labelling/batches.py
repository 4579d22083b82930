"""Reads batches of steps from the ledger for labelers, and writes the labels of a model."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from sqlalchemy import select

from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.page_texts import read_page_slots, write_page_notes
from hexamem.intent.contract import Embed, LabelBatch, LabeledStep, StepView, Vectors
from hexamem.memory_types.times import read_zone
from hexamem.stores.documents import searchable
from hexamem.stores.label_writes import write_labels
from hexamem.stores.ledger import Ledger, Transaction
from hexamem.stores.ledger.labels import (
    PendingStep,
    StepIntent,
    mark_corrected,
    read_label_marks,
    read_labels,
)
from hexamem.stores.ledger.refining import labels_before, open_scopes, steps_around
from hexamem.stores.ledger.schema import steps
from hexamem.stores.vocabulary import Vocabulary

__all__ = ["labeled_step", "read_task", "step_intent", "step_view", "write_task"]

_BEFORE = 6  # steps of context before the batch, and before each step apart from the others
_MOST_SCOPES = 24


def step_view(step: PendingStep, text: str, vector: Vectors) -> StepView:
    """A step of the ledger as the input of a labeler."""
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


def labeled_step(step: StepView, intent: StepIntent) -> LabeledStep:
    """A step with its labels in the ledger."""
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


def step_intent(labeled: LabeledStep) -> StepIntent:
    """The labels of a step in the form of the ledger."""
    return StepIntent(
        step_id=labeled.step.id,
        scope_id=labeled.scope,
        event_ids=tuple(labeled.events),
        entity_ids=tuple(labeled.entities),
        resolved_text=None if labeled.resolved_text == labeled.step.text else labeled.resolved_text,
        summary=labeled.summary,
        antecedents=tuple(labeled.antecedents),
        confidence=labeled.confidence,
        provisional=labeled.provisional,
        tier=labeled.tier,
    )


def read_task(ledger: Ledger, embed: Embed, user: str, step_ids: Collection[str]) -> LabelTask | None:
    """The task of labelling steps anew, with the labels in use before the first of them; None where one of them has no
    labels yet."""
    with ledger.read(user) as tx:
        own = (steps.c.user_id == tx.user_id) & steps.c.id.in_(list(step_ids))
        chosen = [int(row.seq) for row in tx.all(select(steps.c.seq).where(own).order_by(steps.c.seq))]
        window = steps_around(tx, chosen, _BEFORE)
        ids = frozenset(shown.step.id for shown in window if shown.seq in set(chosen))
        if not chosen or ids != set(step_ids):
            return None
        marks, labels, zone = read_label_marks(tx), read_labels(tx), read_zone(tx.timezone)
        used, scopes = labels_before(tx, chosen[0]), open_scopes(tx, chosen[0], _MOST_SCOPES)
        slots = read_page_slots(tx, ids)
    vocabulary = Vocabulary(labels)
    gists: dict[str, str] = {}
    for scope in scopes:
        label_id = vocabulary.canonical(scope.label_id)
        if (label := vocabulary.by_id.get(label_id)) is not None:
            gists[label_id] = label.gist or " · ".join(dict.fromkeys(filter(None, scope.summaries)))
    texts = [searchable(shown.step.index_text) for shown in window]
    vectors = np.asarray(embed(texts), dtype=np.float32)
    return LabelTask(
        window=tuple(
            labeled_step(step_view(shown.step, text, vector), shown.intent)
            for shown, text, vector in zip(window, texts, vectors, strict=True)
        ),
        chosen=ids,
        labels=tuple(labels),
        scopes=gists,
        used=frozenset(vocabulary.with_wider(used)),
        pages=slots,
        zone=zone,
        corrected=marks.corrected,
    )


def write_task(tx: Transaction, task: LabelTask, batch: LabelBatch, *, indexed_elsewhere: bool) -> bool:
    """Write the labels of a model, unless labels or texts were changed since the task was read; whether it was written."""
    if not tx.user_id or read_label_marks(tx).corrected != task.corrected:
        return False
    write_page_notes(tx, batch.pages)
    intents = [step_intent(labeled) for labeled in batch.steps if labeled.tier == "model"]
    write_labels(tx, batch.labels, (), {}, intents, indexed_elsewhere=indexed_elsewhere, by="model")
    mark_corrected(tx)  # so that the embedded labeler is restored with the labels of the model
    return True
