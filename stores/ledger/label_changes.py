"""Writing labels and intents: in bulk by labelling, and by changes that the history records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from hexamem.memory_types import Change, utc_now
from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.labels import StepIntent, get_intents
from hexamem.stores.ledger.ledger import Transaction, chunks
from hexamem.stores.ledger.prepared import Prepared, among, of_user
from hexamem.stores.ledger.schema import intents, labelings, labels, scopes, steps

__all__ = [
    "add_intents",
    "apply_intents",
    "apply_labels",
    "insert_labels",
    "intent_change",
    "label_change",
    "label_conflict",
    "label_state",
    "set_gists",
    "settle_intents",
    "touch_steps",
    "within",
]


_ADD = Prepared(insert(labels))
_ADD_GIST = Prepared(insert(scopes))
_ADD_INTENT, _ADD_LABELING = Prepared(insert(intents)), Prepared(insert(labelings))
_SAME = ("step_id", "scope_id", "event_ids", "resolved_text", "summary", "confidence", "tier", "provisional")
_DROP_GISTS = Prepared(delete(scopes).where(of_user(scopes), among(scopes.c.label_id)))


def insert_labels(tx: Transaction, new: Sequence[Label]) -> None:
    """Insert new labels with their gists."""
    if not new:
        return
    rows = [
        {
            **label.model_dump(include={"id", "kind", "name", "parent_id", "alias_of", "pinned", "created_at"}),
            **{"user_id": tx.user_id, "within": within(label.kind, label.parent_id)},
            **{"made_from": None, "undone": False, "change": 0},  # no step carries it yet
        }
        for label in new
    ]
    tx.run_many(_ADD, rows)
    set_gists(tx, {label.id: label.gist for label in new if label.gist})


def within(kind: str, parent_id: str | None) -> str:
    """In which a label's name is unique: the parent of a scope; everywhere for other kinds, as ``""``."""
    return (parent_id or "") if kind == "scope" else ""


def set_gists(tx: Transaction, gists: Mapping[str, str]) -> None:
    """Replace the gists of scopes, by label id."""
    for part in chunks(gists):
        tx.run(_DROP_GISTS, user=tx.user_id, ids=part)
    rows = [{"user_id": tx.user_id, "label_id": label_id, "gist": gist} for label_id, gist in gists.items() if gist]
    tx.run_many(_ADD_GIST, rows)


def add_intents(tx: Transaction, new: Sequence[StepIntent]) -> None:
    """Write the intents of steps that have none yet, in bulk."""
    if not new:
        return
    user_id = tx.user_id
    rows = [
        {
            "user_id": user_id,
            **{name: getattr(intent, name) for name in _SAME},
            "entity_ids": intent.entity_ids or None,
            "antecedents": intent.antecedents or None,
        }
        for intent in new
    ]
    tx.run_many(_ADD_INTENT, rows)
    carried = [
        {"user_id": user_id, "target_id": intent.step_id, "label_id": label_id, "target": "step"}
        for intent in new
        for label_id in intent.label_ids
    ]
    tx.run_many(_ADD_LABELING, carried)


def touch_steps(tx: Transaction, step_ids: Collection[str]) -> None:
    """Give steps new change numbers, so that every index reads them again."""
    if not step_ids:
        return
    first = tx.next_change(len(step_ids))
    for offset, step_id in enumerate(sorted(step_ids)):
        tx.update(steps, step_id, change=first + offset)


# -- changes, which the history records -------------------------------------------------------------------------------


def label_state(tx: Transaction, label_id: str) -> dict[str, Any] | None:
    """A label as recorded in the history: without its gist, which is derived from the steps."""
    row = tx.first(select(labels).where(tx.own(labels), labels.c.id == label_id))
    if row is None or row.undone:
        return None
    return {name: row._mapping[name] for name in ("kind", "name", "parent_id", "alias_of", "made_from", "pinned")}


def label_change(label_id: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Change:
    """The change of one label, from states."""
    return Change(target="label", target_id=label_id, before=before, after=after)


def intent_change(before: StepIntent, after: StepIntent) -> Change:
    """The change of the labels of one step."""
    return Change(target="intent", target_id=before.step_id, before=before.snapshot, after=after.snapshot)


def label_conflict(tx: Transaction, restored: Mapping[str, Mapping[str, Any] | None]) -> str | None:
    """Why labels cannot be restored to these states, in words; None if they can.

    Another label may have the name now, or be an alias or a child of one that would be removed.

    Args:
        restored: label id → its state; None for one whose creation is undone.
    """
    if not restored:
        return None
    rows = tx.all(select(labels).where(tx.own(labels), labels.c.undone.is_(False)))
    others = [row for row in rows if row.id not in restored]
    names = {row.id: row.name for row in rows}
    for label_id, state in restored.items():
        for other in others:
            if state is None:
                if label_id in (other.alias_of, other.parent_id):
                    return f"label {other.name!r} ({other.id}) depends on {names.get(label_id, label_id)!r} now"
            elif state["alias_of"] is None and other.alias_of is None:
                place = (state["kind"], within(state["kind"], state["parent_id"]), state["name"])
                if place == (other.kind, other.within, other.name):
                    return f"another {other.kind} label is called {other.name!r} now ({other.id})"
    return None


def apply_labels(tx: Transaction, new_changes: Sequence[Change]) -> None:
    """Apply changes to labels. One whose creation is undone retains its row, as an alias of its origin."""
    final = {change.target_id: change for change in new_changes if change.target == "label"}
    if not final:
        return
    number = tx.next_change(len(final)) - 1
    # All names are released first, since two labels may swap theirs.
    for label_id in final:
        tx.update(labels, label_id, undone=True)
    for label_id, change in final.items():
        number += 1
        state = change.after
        if state is None:
            tx.update(labels, label_id, undone=True, change=number)
            continue
        values = {**state, "within": within(state["kind"], state["parent_id"]), "undone": False, "change": number}
        if tx.update(labels, label_id, **values) == 0:
            row = {"user_id": tx.user_id, "id": label_id, "created_at": utc_now(), **values}
            tx.connection.execute(insert(labels).values(**row))


def apply_intents(tx: Transaction, new_changes: Sequence[Change]) -> None:
    """Apply changes to the intents of steps; the indexes read these steps again."""
    final = {
        change.target_id: change.after
        for change in new_changes
        if change.target == "intent" and change.after is not None
    }
    if not final:
        return
    before = get_intents(tx, final)
    tx.delete(labelings, target_id=final)
    tx.delete(intents, step_id=final)
    add_intents(tx, [_intent_from(step_id, state, before.get(step_id)) for step_id, state in final.items()])
    touch_steps(tx, final)


def settle_intents(tx: Transaction, settled: Sequence[StepIntent]) -> None:
    """Write the derived texts of labelled steps and the confidence of their labels, which have no history."""
    if settled:
        names = ("resolved_text", "summary", "antecedents", "confidence", "provisional")
        own = tx.own(intents) & (intents.c.step_id == bindparam("of_step"))
        rows = [{"of_step": intent.step_id, **{name: getattr(intent, name) for name in names}} for intent in settled]
        tx.connection.execute(update(intents).where(own), rows)


def _intent_from(step_id: str, state: Mapping[str, Any], before: StepIntent | None) -> StepIntent:
    """The intent with the labels of a recorded state; its texts stay."""
    lists = {name: tuple(state[name]) for name in ("event_ids", "entity_ids")}
    return replace(
        before or StepIntent(step_id=step_id, scope_id="", event_ids=()), **{**state, **lists}, provisional=False
    )
