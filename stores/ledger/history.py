"""The history of operations, and undo.

Every change of an item, and every forgotten step, is an operation with the record before and after. An undo is an
operation itself: it is listed in the history and can be undone in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, bindparam, insert, select

from hexamem.errors import NotFoundError, UndoRefusedError
from hexamem.memory_types import Change, MemoryItem, Operation, OperationKind
from hexamem.stores.ledger.items import get_items, write_items
from hexamem.stores.ledger.label_changes import apply_intents, apply_labels, label_conflict, label_state
from hexamem.stores.ledger.labels import get_intents, mark_corrected
from hexamem.stores.ledger.ledger import Transaction
from hexamem.stores.ledger.prepared import Prepared, of_user
from hexamem.stores.ledger.schema import changes, operations
from hexamem.stores.ledger.schema import steps as steps_table
from hexamem.stores.ledger.steps import set_step_status

__all__ = ["get_operation", "history_of", "item_change", "record_operation", "record_operations", "undo"]

_RecordId = tuple[str, str]
"""A target and its id."""
_State = dict[str, Any] | None
"""A record as changes contain it; None where it did not exist."""


def item_change(before: MemoryItem | None, after: MemoryItem | None) -> Change:
    """The change of one item, from records."""
    item = after or before
    if item is None:
        raise ValueError("a change needs a before or an after")
    return Change(
        target="item",
        target_id=item.id,
        before=_snapshot(before) if before else None,
        after=_snapshot(after) if after else None,
    )


def _snapshot(item: MemoryItem) -> dict[str, Any]:
    # Metadata is JSON already; pydantic would replace a lone surrogate in one of its keys.
    return {**item.model_dump(mode="json", exclude={"metadata"}), "metadata": item.metadata}


_OPERATION, _CHANGES = Prepared(insert(operations)), Prepared(insert(changes))
_COLUMNS = {"id", "seq", "kind", "actor", "reason", "undoes", "created_at"}


def record_operation(
    tx: Transaction,
    kind: OperationKind,
    new_changes: Sequence[Change],
    *,
    actor: str = "user",
    reason: str = "",
    undoes: str | None = None,
    apply: bool = True,
) -> Operation:
    """Apply the changes to items, steps, labels and intents and write the operation, all in this transaction.

    ``apply=False`` only writes it: for a redaction, whose rows are rewritten already and whose changes contain no text.
    """
    if apply:
        _apply(tx, new_changes)
    operation = Operation(
        user=tx.user,
        seq=tx.next_change(),
        kind=kind,
        actor=actor,
        reason=reason,
        changes=tuple(new_changes),
        undoes=undoes,
    )
    _write(tx, [operation])
    return operation


def record_operations(tx: Transaction, planned: Sequence[tuple[Operation, Sequence[MemoryItem]]]) -> None:
    """Write operations on items, each with the items after it, in order, all in this transaction.

    Args:
        planned: each builds on those before it; their ``seq`` is set here.
    """
    if planned:
        write_items(tx, list({item.id: item for _, after in planned for item in after}.values()))
        first = tx.next_change(len(planned))
        _write(tx, [operation.model_copy(update={"seq": first + at}) for at, (operation, _) in enumerate(planned)])


def _write(tx: Transaction, new: Sequence[Operation]) -> None:
    user_id = tx.user_id
    tx.run_many(
        _OPERATION,
        [{"user_id": user_id, "undone_by": None, **operation.model_dump(include=_COLUMNS)} for operation in new],
    )
    rows = [
        {
            "user_id": user_id,
            "operation_id": operation.id,
            "position": position,
            "target": change.target,
            "target_id": change.target_id,
            "before": change.before,
            "after": change.after,
        }
        for operation in new
        for position, change in enumerate(operation.changes)
    ]
    tx.run_many(_CHANGES, rows)


def _apply(tx: Transaction, new_changes: Sequence[Change]) -> None:
    written = [
        tx.types.restore(change.after) for change in new_changes if change.target == "item" and change.after is not None
    ]
    if written:
        write_items(tx, written)
    # The row of an undone addition stays, with a new change number by which the indexes notice it.
    undone = [
        tx.types.restore(change.before)
        for change in new_changes
        if change.target == "item" and change.after is None and change.before
    ]
    if undone:
        write_items(tx, undone, status="undone")
    for status in ("active", "forgotten"):
        step_ids = [
            change.target_id
            for change in new_changes
            if change.target == "step" and change.after is not None and change.after["status"] == status
        ]
        if step_ids:
            set_step_status(tx, step_ids, status)
    apply_labels(tx, new_changes)
    apply_intents(tx, new_changes)


_BY_ID = Prepared(select(operations).where(of_user(operations), operations.c.id == bindparam("operation")))


def get_operation(tx: Transaction, operation_id: str) -> Operation:
    """One operation with its changes.

    Raises:
        NotFoundError: if this user has no such operation.
    """
    row = tx.first(_BY_ID, user=tx.user_id, operation=operation_id)
    if row is None:
        raise NotFoundError(f"no operation {operation_id!r} for user {tx.user!r}; `history` lists them")
    return _records(tx, [row])[0]


_CHANGES_OF = Prepared(
    select(changes)
    .where(of_user(changes), changes.c.operation_id == bindparam("operation"))
    .order_by(changes.c.position)
)


def _records(tx: Transaction, rows: Sequence[Row[Any]]) -> list[Operation]:
    return [
        Operation(
            user=tx.user,
            changes=tuple(
                Change(target=change.target, target_id=change.target_id, before=change.before, after=change.after)
                for change in tx.all(_CHANGES_OF, user=tx.user_id, operation=row.id)
            ),
            **{name: row._mapping[name] for name in (*_COLUMNS, "undone_by")},
        )
        for row in rows
    ]


def history_of(tx: Transaction, target_id: str | None = None, limit: int | None = None) -> list[Operation]:
    """The operations on one record, or all of the user, oldest first; with ``limit`` only the newest."""
    statement = select(operations).where(tx.own(operations))
    if target_id is not None:
        changing = select(changes.c.operation_id).where(tx.own(changes), changes.c.target_id == target_id)
        statement = statement.where(operations.c.id.in_(changing))
    rows = tx.all(statement.order_by(operations.c.seq.desc()).limit(limit))
    return _records(tx, rows[::-1])


def undo(tx: Transaction, operation_id: str, *, cascade: bool = False, actor: str = "user") -> list[Operation]:
    """Reverse an operation; returns the undo operations in order.

    With ``cascade`` the later operations that build on it are reversed first, newest first. Of an operation that was
    undone and redone the redo is reversed, and ``undoes`` is the id of the redo.

    Raises:
        NotFoundError: if this user has no such operation.
        UndoRefusedError: if it was undone already, is a redaction, or later operations build on it (their ids are in
            ``blockers``) and ``cascade`` is not set.
    """
    operation = get_operation(tx, operation_id)
    if operation.undone_by is not None:
        raise UndoRefusedError(
            f"operation {operation_id} was undone already, by {operation.undone_by}; undo that one to redo it"
        )
    if operation.kind == "redact":
        raise UndoRefusedError(
            f"operation {operation_id} is a redaction, which does not store the words that it removed; `reveal` shows them"
        )
    operation = _last_form(tx, operation)
    blockers = _built_on(tx, operation)
    _check_fit(tx, [*reversed(blockers), operation])
    if blockers and not cascade:
        listed = "; ".join(f"{later.id} ({later.kind} at {later.created_at:%Y-%m-%d %H:%M})" for later in blockers)
        raise UndoRefusedError(
            f"operation {operation_id} ({operation.kind}) cannot be undone alone, later ones build on it: {listed}. "
            "Undo those first, or pass cascade=True",
            tuple(later.id for later in blockers),
        )
    order = (*reversed(blockers), operation)
    _check_labels(tx, order)
    return [_reverse(tx, to_reverse, actor) for to_reverse in order]


def _check_labels(tx: Transaction, order: Sequence[Operation]) -> None:
    """Refuse to reverse the operations if labels would then share a name, or depend on one that is removed."""
    restored = {
        target_id: state
        for operation in order
        for (target, target_id), state in _states_before(operation).items()
        if target == "label"
    }
    conflict = label_conflict(tx, restored)
    if conflict is not None:
        raise UndoRefusedError(
            f"operation {order[-1].id} ({order[-1].kind}) cannot be undone: {conflict}. "
            "Rename, merge or move that one first",
            (),
        )


def _last_form(tx: Transaction, operation: Operation) -> Operation:
    """The last of the chain operation, undo, redo, undo of the redo …: the only one of them that can be reversed."""
    while row := tx.first(select(operations.c.id).where(tx.own(operations), operations.c.undoes == operation.id)):
        operation = get_operation(tx, row.id)
    return operation


def _built_on(tx: Transaction, operation: Operation) -> list[Operation]:
    """Every later operation in effect that builds on this one, directly or through another, oldest first."""
    later: dict[str, Operation] = {}
    frontier = [operation]
    while frontier:
        earlier = frontier.pop()
        for record, state in _states_after(earlier).items():
            if _state(tx, record) == state:
                continue
            for other in _in_effect(_history_of_record(tx, record)):
                if other.seq > earlier.seq and other.id not in later:
                    later[other.id] = other
                    frontier.append(other)
    return sorted(later.values(), key=lambda other: other.seq)


def _in_effect(history: Sequence[Operation]) -> list[Operation]:
    """The operations in effect, each in its last form; an operation and its undo cancel out.

    A redaction replaced the words in the history too, so nothing builds on it.
    """
    by_id = {operation.id: operation for operation in history}
    reversed_ids = {operation.undoes for operation in history}
    in_effect: list[Operation] = []
    for operation in history:
        if operation.id in reversed_ids or operation.kind == "redact":
            continue
        undone, origin = False, operation
        while origin.undoes is not None and origin.undoes in by_id:
            undone, origin = not undone, by_id[origin.undoes]
        if not undone:
            in_effect.append(operation)
    return in_effect


def _check_fit(tx: Transaction, order: Sequence[Operation]) -> None:
    """Refuse to reverse the operations in this order unless each record then is in the state after its operation.

    It may not be: the redo of an edit needs the item that was edited, and the edits before it.
    """
    states: dict[_RecordId, _State] = {}
    for operation in order:
        for record, after in _states_after(operation).items():
            if (states[record] if record in states else _state(tx, record)) != after:
                history = _history_of_record(tx, record)
                later = [other for other in history if other.seq > operation.seq]
                culprit = ([other for other in later if _states_before(other).get(record) == after] or history)[-1]
                raise UndoRefusedError(
                    f"operation {operation.id} ({operation.kind}) no longer fits: {record[1]} was changed since by "
                    f"{culprit.id} ({culprit.kind}); undo that one first",
                    (culprit.id,),
                )
        states.update(_states_before(operation))


def _history_of_record(tx: Transaction, record: _RecordId) -> list[Operation]:
    """The operations on this record: a step and its intent have the same id."""
    return [
        operation
        for operation in history_of(tx, record[1])
        if any((change.target, change.target_id) == record for change in operation.changes)
    ]


def _states_after(operation: Operation) -> dict[_RecordId, _State]:
    """The records after the operation: of several changes of one the last counts."""
    return {(change.target, change.target_id): change.after for change in operation.changes}


def _states_before(operation: Operation) -> dict[_RecordId, _State]:
    """The records before the operation: of several changes of one the first counts."""
    return {(change.target, change.target_id): change.before for change in reversed(operation.changes)}


def _state(tx: Transaction, record: _RecordId) -> _State:
    """The present state of a record, as changes contain it; None where it does not exist."""
    target, target_id = record
    if target == "step":
        own = tx.own(steps_table) & (steps_table.c.id == target_id)
        row = tx.first(select(steps_table.c.status).where(own))
        return None if row is None else {"status": row.status}
    if target == "label":
        return label_state(tx, target_id)
    if target == "intent":
        intent = get_intents(tx, [target_id]).get(target_id)
        return None if intent is None else intent.snapshot
    item = get_items(tx, [target_id]).get(target_id)
    return None if item is None else _snapshot(item)


def _reverse(tx: Transaction, operation: Operation, actor: str) -> Operation:
    swapped = [
        Change(target=change.target, target_id=change.target_id, before=change.after, after=change.before)
        for change in reversed(operation.changes)
    ]
    done = record_operation(tx, "undo", swapped, actor=actor, reason=f"undo of {operation.kind}", undoes=operation.id)
    _mark(tx, operation.id, done.id)
    if any(change.target in ("label", "intent") for change in swapped):
        mark_corrected(tx)
    return done


def _mark(tx: Transaction, operation_id: str, undone_by: str | None) -> None:
    """Set by what an operation is undone (None: in effect again), and the contrary for the operation that it undid."""
    tx.update(operations, operation_id, undone_by=undone_by)
    row = tx.first(_BY_ID, user=tx.user_id, operation=operation_id)
    if row is not None and row.undoes is not None:
        _mark(tx, row.undoes, operation_id if undone_by is None else None)
