"""Resolved texts and summaries of steps, put away while a step is forgotten whose words they hold.

A reference is resolved in the words of an earlier step, and a model may tell of it in a summary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Row, func, select, update

from hexamem.stores.ledger.hidden_rows import Hidden, drop_hidden, read_hidden, write_hidden
from hexamem.stores.ledger.label_changes import touch_steps
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.schema import intents, steps
from hexamem.stores.ledger.step_rows import WITH_INTENT
from hexamem.stores.ledger.wording import SAID, Said, said_text

__all__ = ["drop_texts", "hide_own_texts", "hide_texts", "settle_texts", "show_texts"]

_NEAR, _REACH = 2_000, 30  # steps whose texts by a model are looked through: of the same scopes, and right behind


def hide_texts(tx: Transaction, step_ids: Collection[str], said: Said, label_ids: Collection[str]) -> None:
    """Put away the texts of other steps that hold words of these; the indexes take those in again.

    Args:
        step_ids: the forgotten steps.
        said: what they say.
        label_ids: the labels that they carry, the wider ones, and every alias of these.
    """
    given = set(step_ids)
    found: dict[str, set[str]] = {}
    own = (intents.c.user_id == tx.user_id) & intents.c.antecedents.is_not(None)
    for row in tx.all(select(intents.c.step_id, intents.c.antecedents).where(own)):
        if by := given & set(row.antecedents):
            found[row.step_id] = by
    if tx.wording is not None and said.rows:
        telling = tx.wording.telling
        for row in _told_by_models(tx, said, label_ids):
            told = telling(f"{row.resolved_text or ''}\n{row.summary or ''}") - telling(said_text(row))
            if by := said.saying(told):
                found[row.id] = found.get(row.id, set()) | by
    others = {step_id: by for step_id, by in found.items() if step_id not in given}
    for step_id, by in others.items():
        _hide_text(tx, step_id, by)
    touch_steps(tx, others)


def _told_by_models(tx: Transaction, said: Said, label_ids: Collection[str]) -> Iterator[Row[Any]]:
    """Steps behind the forgotten ones, in their scopes or their threads, whose texts a model wrote.

    Those that are forgotten themselves too: they may be restored before these.
    """
    first = min(int(row.seq) for row in said.rows)
    base = (
        select(*SAID, intents.c.resolved_text, intents.c.summary)
        .join(intents, WITH_INTENT)
        .where(steps.c.user_id == tx.user_id, intents.c.tier != "embedded")
        .order_by(steps.c.seq)
    )
    for part in chunks(label_ids):
        yield from tx.all(base.where(intents.c.scope_id.in_(part), steps.c.seq > first).limit(_NEAR))
    ends: dict[str, int] = {}
    for row in said.rows:
        ends[row.thread_id] = max(ends.get(row.thread_id, 0), int(row.seq))
    for thread_id, last in ends.items():
        near = (steps.c.thread_id == thread_id) & steps.c.seq.between(first, last + _REACH)
        yield from tx.all(base.where(near).limit(_NEAR))


def hide_own_texts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Put away the resolved texts and summaries of steps themselves, of which a part was taken out."""
    for step_id in step_ids:
        _hide_text(tx, step_id, {step_id})
    touch_steps(tx, step_ids)


def _hide_text(tx: Transaction, step_id: str, by: set[str]) -> None:
    row = read_hidden(tx, "intent", [step_id]).get(step_id)
    if row is not None:
        row.by |= by
        write_hidden(tx, row)
        return
    own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == step_id)
    held = tx.first(select(intents.c.resolved_text, intents.c.summary).where(own))
    if held is None:
        return
    kept = {"resolved_text": held.resolved_text, "summary": held.summary or ""}
    write_hidden(tx, Hidden("intent", step_id, by, kept))
    tx.connection.execute(update(intents).where(own).values(resolved_text=None, summary=""))


def show_texts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Bring back the texts of other steps that steps which were restored held back, unless others do."""
    touched = set()
    for row in read_hidden(tx, "intent").values():
        if row.by.isdisjoint(step_ids):
            continue
        row.by.difference_update(step_ids)
        touched.add(row.target_id)
        if row.by:
            write_hidden(tx, row)
        else:
            _show_text(tx, row)
    touch_steps(tx, touched)


def _show_text(tx: Transaction, row: Hidden) -> None:
    drop_hidden(tx, "intent", row.target_id)
    own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == row.target_id)
    tx.connection.execute(
        update(intents)
        .where(own, intents.c.resolved_text.is_(None), func.coalesce(intents.c.summary, "") == "")
        .values(**row.kept)
    )


def settle_texts(tx: Transaction, step_ids: Collection[str]) -> None:
    """After intents were written as history has them: put away again what is made of forgotten words."""
    for step_id, row in read_hidden(tx, "intent", step_ids).items():
        own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == step_id)
        held = tx.first(select(intents.c.resolved_text, intents.c.summary).where(own))
        drop_hidden(tx, "intent", step_id)
        if held is not None and {"resolved_text": held.resolved_text, "summary": held.summary or ""} == row.kept:
            _hide_text(tx, step_id, row.by)


def drop_texts(tx: Transaction, step_ids: Collection[str]) -> None:
    """Let go for good what is put away of the texts of these steps: they were redacted."""
    for one in read_hidden(tx, "intent", step_ids):
        drop_hidden(tx, "intent", one)
