"""Labels and intents written into the ledger: in bulk by labelling, and by the changes that history keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from hexamem.memory_types import Change, utc_now
from hexamem.memory_types.labels import Label
from hexamem.stores.ledger.labels import StepIntent, get_intents, mark_altered
from hexamem.stores.ledger.ledger import Transaction, chunks, insert_rows
from hexamem.stores.ledger.prepared import Prepared
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
]


_ADD = Prepared(insert(labels))
_ADD_GIST = Prepared(insert(scopes))
_DROP_GISTS = Prepared(
    delete(scopes).where(scopes.c.user_id == bindparam("user"), scopes.c.label_id.in_(bindparam("ids", expanding=True)))
)


def insert_labels(tx: Transaction, new: Sequence[Label], *, made_from: str | None = None) -> None:
    """Write labels that are not there yet, gists included."""
    if not new:
        return
    rows = [
        {
            "user_id": tx.user_id,
            "id": one.id,
            "kind": one.kind,
            "name": one.name,
            "parent_id": one.parent_id,
            "within": _within(one.kind, one.parent_id),
            "alias_of": one.alias_of,
            "made_from": made_from,
            "pinned": one.pinned,
            "undone": False,
            "change": 0,  # no step has it yet
            "created_at": one.created_at,
        }
        for one in new
    ]
    tx.run_many(_ADD, rows)
    set_gists(tx, {one.id: one.gist for one in new if one.gist})


def _within(kind: str, parent_id: str | None) -> str:
    return (parent_id or "") if kind == "scope" else ""


def set_gists(tx: Transaction, gists: Mapping[str, str]) -> None:
    """Write what scopes are about so far."""
    if not gists:
        return
    for part in chunks(gists):
        tx.run(_DROP_GISTS, user=tx.user_id, ids=part)
    tx.run_many(
        _ADD_GIST, [{"user_id": tx.user_id, "label_id": one, "gist": gist} for one, gist in gists.items() if gist]
    )


def add_intents(tx: Transaction, new: Sequence[StepIntent]) -> None:
    """Write the intents of steps that have none yet, in bulk."""
    if not new:
        return
    user_id = tx.user_id
    rows = [
        (
            user_id,
            one.step_id,
            one.scope_id,
            one.event_ids,
            one.entity_ids or None,
            one.resolved_text,
            one.summary,
            one.antecedents or None,
            one.confidence,
            one.tier,
            one.provisional,
        )
        for one in new
    ]
    insert_rows(tx.connection, intents, _INTENT_COLUMNS, rows)
    carried = [(user_id, one.step_id, label_id, "step") for one in new for label_id in one.label_ids]
    insert_rows(tx.connection, labelings, ("user_id", "target_id", "label_id", "target"), carried)


_INTENT_COLUMNS = (
    *("user_id", "step_id", "scope_id", "event_ids", "entity_ids", "resolved_text", "summary"),
    *("antecedents", "confidence", "tier", "provisional"),
)


def touch_steps(tx: Transaction, step_ids: Collection[str]) -> None:
    """Give steps new change numbers, so that every index takes them in again."""
    if not step_ids:
        return
    first = tx.next_change(len(step_ids))
    for offset, step_id in enumerate(sorted(step_ids)):
        own = (steps.c.user_id == tx.user_id) & (steps.c.id == step_id)
        tx.connection.execute(update(steps).where(own).values(change=first + offset))


# -- changes, which history keeps -------------------------------------------------------------------------------------


def label_state(tx: Transaction, label_id: str) -> dict[str, Any] | None:
    """A label in the form that changes keep: without its gist, which follows what is said."""
    row = tx.first(select(labels).where(labels.c.user_id == tx.user_id, labels.c.id == label_id))
    if row is None or row.undone:
        return None
    return {name: row._mapping[name] for name in ("kind", "name", "parent_id", "alias_of", "made_from", "pinned")}


def label_change(label_id: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Change:
    """The change of one label, from states."""
    return Change(target="label", target_id=label_id, before=before, after=after)


def intent_change(before: StepIntent, after: StepIntent) -> Change:
    """The change of what one step was given."""
    return Change(target="intent", target_id=before.step_id, before=before.snapshot, after=after.snapshot)


def label_conflict(tx: Transaction, restored: Mapping[str, Mapping[str, Any] | None]) -> str | None:
    """Why labels cannot be brought to these states, in words: a name is another's now, or others hang on one that goes.

    Args:
        restored: label id → its state; None for one whose making is undone.
    """
    if not restored:
        return None
    rows = tx.all(select(labels).where(labels.c.user_id == tx.user_id, labels.c.undone.is_(False)))
    others = [row for row in rows if row.id not in restored]
    names = {row.id: row.name for row in rows}
    for label_id, state in restored.items():
        for other in others:
            if state is None:
                if label_id in (other.alias_of, other.parent_id):
                    return f"label {other.name!r} ({other.id}) hangs on {names.get(label_id, label_id)!r} now"
            elif state["alias_of"] is None and other.alias_of is None:
                place = (state["kind"], _within(state["kind"], state["parent_id"]), state["name"])
                if place == (other.kind, other.within, other.name):
                    return f"another {other.kind} label is called {other.name!r} now ({other.id})"
    return None


def apply_labels(tx: Transaction, made: Sequence[Change]) -> None:
    """Bring labels to what the changes leave. One whose making is undone keeps its row, which stands for its origin."""
    final = {change.target_id: change for change in made if change.target == "label"}
    if not final:
        return
    number = tx.next_change(len(final)) - 1
    # Names that are given up first: two labels may trade theirs.
    for label_id in final:
        own = (labels.c.user_id == tx.user_id) & (labels.c.id == label_id)
        tx.connection.execute(update(labels).where(own).values(undone=True))
    for label_id, change in final.items():
        number += 1
        own = (labels.c.user_id == tx.user_id) & (labels.c.id == label_id)
        state = change.after
        if state is None:
            tx.connection.execute(update(labels).where(own).values(undone=True, change=number))
            continue
        values = {**state, "within": _within(state["kind"], state["parent_id"]), "undone": False, "change": number}
        if tx.connection.execute(update(labels).where(own).values(**values)).rowcount == 0:
            row = {"user_id": tx.user_id, "id": label_id, "created_at": utc_now(), **values}
            tx.connection.execute(insert(labels).values(**row))
    mark_altered(tx, number)


def apply_intents(tx: Transaction, made: Sequence[Change]) -> None:
    """Bring the intents of steps to what the changes leave; the indexes take these steps in again."""
    final = {c.target_id: c.after for c in made if c.target == "intent" and c.after is not None}
    if not final:
        return
    held = get_intents(tx, final)
    for part in chunks(final):
        own = (labelings.c.user_id == tx.user_id) & (labelings.c.target == "step")
        tx.connection.execute(delete(labelings).where(own, labelings.c.target_id.in_(part)))
        tx.connection.execute(delete(intents).where(intents.c.user_id == tx.user_id, intents.c.step_id.in_(part)))
    add_intents(tx, [_intent_from(step_id, state, held.get(step_id)) for step_id, state in final.items()])
    touch_steps(tx, final)


def settle_intents(tx: Transaction, settled: Sequence[StepIntent]) -> None:
    """Write the texts of labelled steps and how sure labelling is of them: no change that anybody would undo."""
    if settled:
        names = ("resolved_text", "summary", "antecedents", "confidence", "provisional")
        own = (intents.c.user_id == tx.user_id) & (intents.c.step_id == bindparam("of_step"))
        rows = [{"of_step": one.step_id, **{name: getattr(one, name) for name in names}} for one in settled]
        tx.connection.execute(update(intents).where(own), rows)


def _intent_from(step_id: str, state: Mapping[str, Any], held: StepIntent | None) -> StepIntent:
    """The intent with the labels that a change keeps; its texts stay."""
    lists = {name: tuple(state[name]) for name in ("event_ids", "entity_ids")}
    return replace(
        held or StepIntent(step_id=step_id, scope_id="", event_ids=()), **{**state, **lists}, provisional=False
    )
