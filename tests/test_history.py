"""History and undo: every change is kept with its before and after, and goes back the way it came."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, UserMemory
from hexamem.errors import NotFoundError, UndoRefusedError
from hexamem.memory_types import Change, MemoryItem, Operation, SemanticItem, Step, new_id
from hexamem.stores import changing
from hexamem.stores.ledger import (
    Transaction,
    append_steps,
    get_items,
    get_steps,
    history_of,
    item_change,
    record_operation,
    thread_steps,
    undo,
)

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401


def fact(user: UserMemory, summary: str, **more: Any) -> MemoryItem:
    """A semantic item that was added."""
    return user.add({"kind": "semantic", "name": "home", "summary": summary, **more})


def last(user: UserMemory, record_id: str | None = None) -> Operation:
    """The newest operation, of a record or of all."""
    return user.history(record_id)[-1]


def snapshot(item: MemoryItem) -> dict[str, Any]:
    """An item as an operation keeps it."""
    return item.model_dump(mode="json")


# -- what the history tells --------------------------------------------------------------------------------------


def test_an_addition_is_kept_with_who_did_it_and_why(each_user: UserMemory) -> None:
    item = fact_by(each_user, actor="semantic_manager", reason="said so")
    (operation,) = each_user.history()
    assert (operation.kind, operation.actor, operation.reason) == ("add", "semantic_manager", "said so")
    assert operation.changes == (Change(target="item", target_id=item.id, after=snapshot(item)),)
    assert (operation.undoes, operation.undone_by) == (None, None)


def fact_by(user: UserMemory, **told: Any) -> MemoryItem:
    return user.add({"kind": "semantic", "name": "home", "summary": "in Porto"}, **told)


def test_an_edit_is_kept_with_the_item_before_and_after(each_user: UserMemory) -> None:
    old = fact(each_user, "in Porto")
    new = each_user.edit(old.id, summary="in Lisbon", labels=["place"])
    assert last(each_user).changes == (
        Change(target="item", target_id=old.id, before=snapshot(old), after=snapshot(new)),
    )
    assert new.version == 2


def test_a_supersession_is_one_operation_on_both_items(each_user: UserMemory) -> None:
    old = fact(each_user, "in Porto")
    new = each_user.add({"kind": "semantic", "name": "home", "summary": "in Lisbon"}, supersedes=old.id)
    operation = last(each_user)
    assert (operation.kind, [change.target_id for change in operation.changes]) == ("supersede", [old.id, new.id])
    assert each_user.history(old.id)[-1] == each_user.history(new.id)[-1] == operation


def test_history_is_told_oldest_first_and_a_limit_keeps_the_newest(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    for word in ("two", "three", "four"):
        each_user.edit(item.id, summary=word)
    told = each_user.history()
    assert [one.changes[0].after["summary"] for one in told if one.changes[0].after] == ["one", "two", "three", "four"]
    assert each_user.history(limit=2) == told[-2:]
    assert each_user.history(item.id, limit=1) == told[-1:]
    assert [one.seq for one in told] == sorted(one.seq for one in told)


def test_history_of_one_record_leaves_out_the_others(each_user: UserMemory) -> None:
    one, other = fact(each_user, "one"), fact(each_user, "other")
    each_user.edit(one.id, summary="changed")
    assert [operation.kind for operation in each_user.history(one.id)] == ["add", "update"]
    assert [operation.kind for operation in each_user.history(other.id)] == ["add"]


def test_history_of_strange_words_comes_back_exactly(each_user: UserMemory) -> None:
    strange = "\x00 \ud83d\ude00 \ue0f00\ue0f1 我"
    item = fact(each_user, strange, metadata={strange: strange})
    new = each_user.edit(item.id, actor=strange, reason=strange, summary="plain", metadata={})
    operation = last(each_user)
    assert (operation.actor, operation.reason) == (strange, strange)
    assert operation.changes[0].before == {**snapshot(item), "metadata": {strange: strange}}
    each_user.undo(operation.id)
    assert each_user.get(item.id) == item
    assert new.text == "home\nplain"


# -- undo --------------------------------------------------------------------------------------------------------


def test_undo_of_an_addition_takes_the_item_out(each_user: UserMemory) -> None:
    item = fact(each_user, "in Porto")
    (done,) = each_user.undo(last(each_user).id, actor="me")
    assert (done.kind, done.actor, done.changes) == (
        "undo",
        "me",
        (Change(target="item", target_id=item.id, before=snapshot(item)),),
    )
    with pytest.raises(NotFoundError):
        each_user.get(item.id)
    assert each_user.items(superseded=True) == []
    assert each_user.history(item.id)[0].undone_by == done.id


def test_undo_of_an_edit_brings_every_field_back(each_user: UserMemory) -> None:
    told = each_user.remember(["I live in Porto"]).step_ids[0]
    source = {"step_id": told, "quote": "Porto", "start": 10, "end": 15}
    old = fact(
        each_user, "in Porto", sources=[source], labels=["a"], metadata={"b": [1.5, None]}, valid_from="2020-01-01"
    )
    each_user.edit(old.id, summary="in Lisbon", sources=[], labels=[], metadata={}, valid_from=None)
    each_user.undo(last(each_user).id)
    assert each_user.get(old.id) == old


def test_undo_of_a_removal_brings_the_item_back(each_user: UserMemory) -> None:
    item = fact(each_user, "in Porto")
    operation = each_user.remove(item.id)
    assert each_user.items() == []
    each_user.undo(operation.id)
    assert each_user.items() == [item]


def test_undo_of_a_supersession_takes_the_new_item_out_and_revives_the_old_one(each_user: UserMemory) -> None:
    old = fact(each_user, "in Porto")
    each_user.add({"kind": "semantic", "name": "home", "summary": "in Lisbon"}, supersedes=old.id)
    each_user.undo(last(each_user).id)
    assert each_user.items(superseded=True) == [old]


def test_undo_of_a_merge_brings_back_all_that_went_into_it(each_user: UserMemory, each_memory: Memory) -> None:
    one, other = fact(each_user, "in Porto"), fact(each_user, "by the sea")
    merged = SemanticItem(user=each_user.name, name="home", summary="in Porto, by the sea")
    with each_memory.ledger.write(each_user.name) as tx:
        closed = [item_change(item, item.changed(status="merged", superseded_by=merged.id)) for item in (one, other)]
        operation = record_operation(tx, "merge", [*closed, item_change(None, merged)])
    assert each_user.items() == [merged]
    each_user.undo(operation.id)
    assert each_user.items(superseded=True) == [one, other]
    each_user.undo(last(each_user).id)
    assert each_user.items() == [merged]


def test_undo_of_a_step_forgotten_brings_it_back_with_the_items_that_rest_on_it(each_user: UserMemory) -> None:
    told = each_user.remember(["I live in Porto", "By the sea"]).step_ids
    resting = fact(each_user, "in Porto", sources=[{"step_id": told[0]}])
    elsewhere = fact(each_user, "by the sea", sources=[{"step_id": told[0]}, {"step_id": told[1]}])
    operation = each_user.forget([told[0]])
    assert ([step.id for step in each_user.steps()], each_user.items()) == ([told[1]], [elsewhere])
    each_user.undo(operation.id)
    assert ([step.id for step in each_user.steps()], each_user.items()) == (list(told), [resting, elsewhere])


def test_an_operation_that_changed_a_record_twice_goes_back_to_the_first_state(
    each_user: UserMemory, each_memory: Memory
) -> None:
    first = fact(each_user, "one")
    second = first.changed(summary="two", version=2)
    third = first.changed(summary="three", version=3)
    with each_memory.ledger.write(each_user.name) as tx:
        operation = record_operation(tx, "update", [item_change(first, second), item_change(second, third)])
    assert each_user.get(first.id) == third
    each_user.undo(operation.id)
    assert each_user.get(first.id) == first


def test_an_operation_without_changes_can_be_undone(each_user: UserMemory, each_memory: Memory) -> None:
    with each_memory.ledger.write(each_user.name) as tx:
        operation = record_operation(tx, "noop", [], reason="nothing to do")
    (done,) = each_user.undo(operation.id)
    assert done.changes == ()


# -- refusal and cascade -----------------------------------------------------------------------------------------


def test_undo_is_refused_with_the_names_of_the_later_operations(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    removed = each_user.remove(item.id)
    first, second, third = each_user.history()
    with pytest.raises(UndoRefusedError, match="cascade=True") as refused:
        each_user.undo(first.id)
    assert refused.value.blockers == (second.id, third.id)
    assert all(name in str(refused.value) for name in (first.id, second.id, removed.id))
    assert each_user.history() == [first, second, third]


def test_a_cascade_undoes_the_later_operations_newest_first(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    each_user.remove(item.id)
    first, second, third = each_user.history()
    done = each_user.undo(first.id, cascade=True)
    assert [one.undoes for one in done] == [third.id, second.id, first.id]
    assert each_user.items(superseded=True) == []


def test_a_cascade_follows_from_record_to_record(each_user: UserMemory) -> None:
    old = fact(each_user, "in Porto")
    new = each_user.add({"kind": "semantic", "name": "home", "summary": "in Lisbon"}, supersedes=old.id)
    each_user.edit(new.id, summary="in Lisbon, by the river")
    other = fact(each_user, "apart")
    added, superseded, edited, _ = each_user.history()
    with pytest.raises(UndoRefusedError) as refused:
        each_user.undo(added.id)
    assert refused.value.blockers == (superseded.id, edited.id)
    each_user.undo(added.id, cascade=True)
    assert each_user.items(superseded=True) == [other]


def test_operations_on_other_records_do_not_stand_in_the_way(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    operation = last(each_user)
    fact(each_user, "other")
    each_user.undo(operation.id)
    assert item.id not in {one.id for one in each_user.items()}


def test_what_was_undone_does_not_stand_in_the_way(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    each_user.undo(last(each_user).id)
    each_user.undo(each_user.history()[0].id)
    assert each_user.items() == []


def test_an_operation_that_is_undone_is_not_undone_twice(each_user: UserMemory) -> None:
    fact(each_user, "one")
    operation = last(each_user)
    (done,) = each_user.undo(operation.id)
    with pytest.raises(UndoRefusedError, match=f"undone already, by {done.id}; undo that one to redo it"):
        each_user.undo(operation.id)
    assert len(each_user.history()) == 2


def test_an_unknown_operation_is_not_found(each_user: UserMemory, each_memory: Memory) -> None:
    fact(each_user, "one")
    stranger = each_memory.user(f"stranger to {each_user.name}")
    for user, operation_id in ((each_user, new_id("op")), (stranger, last(each_user).id)):
        with pytest.raises(NotFoundError, match="no operation"):
            user.undo(operation_id)


def test_an_edit_before_a_redaction_can_be_undone_and_stays_redacted(each_user: UserMemory) -> None:
    item = fact(each_user, "the gate opens with swordfish")
    each_user.edit(item.id, summary="the gate opens with swordfish twice")
    edited = last(each_user)
    each_user.redact("swordfish", caption="gate word")
    each_user.undo(edited.id)
    assert "opens with {{vault:" in each_user.get(item.id).text  # type: ignore[union-attr]
    assert "swordfish" not in repr(each_user.history())


def test_a_redaction_of_words_near_a_quote_does_not_stop_an_undo(each_user: UserMemory) -> None:
    told = each_user.remember(["The word swordfish opens it. I live in Porto."]).step_ids[0]
    item = fact(each_user, "in Porto", sources=[{"step_id": told, "quote": "Porto", "start": 39, "end": 44}])
    operation = last(each_user)
    each_user.redact("swordfish", caption="gate word")
    source = each_user.get(item.id).sources[0]  # type: ignore[union-attr]
    assert each_user.get(told).content[source.start : source.end] == "Porto"  # type: ignore[union-attr]
    each_user.undo(operation.id)
    assert item.id not in {one.id for one in each_user.items()}


def test_a_redaction_itself_is_not_undone(each_user: UserMemory) -> None:
    fact(each_user, "the gate opens with swordfish")
    each_user.redact("swordfish", caption="gate word")
    (redaction,) = [one for one in each_user.history() if one.kind == "redact"]
    with pytest.raises(UndoRefusedError, match="redaction"):
        each_user.undo(redaction.id, cascade=True)


# -- redo --------------------------------------------------------------------------------------------------------


def test_undo_of_an_undo_redoes_and_so_on(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    new = each_user.edit(item.id, summary="two")
    for depth in range(1, 5):
        each_user.undo(last(each_user).id)
        assert each_user.get(item.id) == (item if depth % 2 else new)
    kinds = [one.kind for one in each_user.history()]
    assert kinds == ["add", "update", "undo", "undo", "undo", "undo"]
    # Whatever holds is undone by nothing: the addition, and of the chain each second one from its end.
    assert [one.undone_by is None for one in each_user.history()] == [True, True, False, True, False, True]


def test_what_was_redone_can_be_undone_by_its_own_name(each_user: UserMemory) -> None:
    fact(each_user, "one")
    operation = last(each_user)
    each_user.undo(operation.id)
    (redone,) = each_user.undo(last(each_user).id)
    (again,) = each_user.undo(operation.id)
    assert again.undoes == redone.id
    assert each_user.items() == []
    with pytest.raises(UndoRefusedError, match="undone already"):
        each_user.undo(redone.id)


def test_a_redo_is_refused_with_the_name_of_what_was_done_since(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    two = each_user.edit(item.id, summary="two")
    each_user.undo(last(each_user).id)
    undone = last(each_user)
    each_user.edit(item.id, summary="three")
    later = last(each_user)
    with pytest.raises(UndoRefusedError) as refused:
        each_user.undo(undone.id)
    assert refused.value.blockers == (later.id,)
    each_user.undo(undone.id, cascade=True)
    assert each_user.get(item.id) == two


def test_a_redo_stands_in_the_way_under_its_own_name(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    each_user.undo(last(each_user).id)
    undone_two = last(each_user)
    three = each_user.edit(item.id, summary="three")
    each_user.undo(last(each_user).id)
    undone_three = last(each_user)
    (redone_two,) = each_user.undo(undone_two.id)
    with pytest.raises(UndoRefusedError) as refused:
        each_user.undo(undone_three.id)
    assert refused.value.blockers == (redone_two.id,)
    each_user.undo(undone_three.id, cascade=True)
    assert each_user.get(item.id) == three


def test_a_redo_of_an_edit_of_an_item_that_is_gone_is_refused(each_user: UserMemory) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    (undone,) = each_user.undo(last(each_user).id)
    (gone,) = each_user.undo(each_user.history()[0].id)
    with pytest.raises(UndoRefusedError, match="no longer fits") as refused:
        each_user.undo(undone.id, cascade=True)
    assert refused.value.blockers == (gone.id,)


# -- any sequence of operations, against a simple oracle ---------------------------------------------------------

State = dict[str, Any]
"""Every record that there is: an item's id with the item, a step's id with its status."""


@dataclass
class Entry:
    """An operation in force: what names it now, when it came into force, and its records before and after."""

    name: str
    origin: str
    seq: int
    before: State
    after: State


@dataclass
class Oracle:
    """What should hold: the operations in force, oldest first, and those undone, by the name of their undo."""

    in_force: list[Entry] = field(default_factory=list)
    undone: dict[str, tuple[int, Entry]] = field(default_factory=dict)

    def later(self, seq: int, left: State, now: State) -> list[Entry] | None:
        """The operations to reverse before one that left these records, oldest first; None if that does not help."""
        found: dict[str, Entry] = {}
        waiting = [(seq, left)]
        while waiting:
            after, changed = waiting.pop()
            for record in (record for record, value in changed.items() if now.get(record) != value):
                since = [entry for entry in self.in_force if entry.seq > after and record in entry.after]
                waiting += [(entry.seq, entry.after) for entry in since if entry.name not in found]
                found.update({entry.name: entry for entry in since})
        later = sorted(found.values(), key=lambda entry: entry.seq)
        without = {**now, **{record: value for entry in reversed(later) for record, value in entry.before.items()}}
        return later if all(without.get(record) == value for record, value in left.items()) else None

    def state(self, start: State) -> State:
        """The records as the operations in force leave them."""
        records = dict(start)
        for entry in self.in_force:
            records.update(entry.after)
        return {record: value for record, value in records.items() if value is not None}


@dataclass
class Play:
    """A history at play in one transaction, checked against the oracle after every operation."""

    tx: Transaction
    cipher: Any
    start: State
    item_ids: list[str] = field(default_factory=list)
    oracle: Oracle = field(default_factory=Oracle)
    told: list[str] = field(default_factory=list)

    def look(self) -> State:
        """The records as the ledger has them."""
        records: State = dict(get_items(self.tx, self.item_ids))
        for step in thread_steps(self.tx, forgotten=True):
            records.update({step.id: step.status, _text(step.id): step.content})
        return records

    def check(self) -> None:
        """The ledger has what the oracle says, and the history only grew."""
        assert self.look() == self.oracle.state(self.start)
        told = [one.id for one in history_of(self.tx)]
        assert told[: len(self.told)] == self.told
        assert {one.id for one in history_of(self.tx) if one.undone_by is None} >= {
            name for entry in self.oracle.in_force for name in (entry.name, entry.origin)
        }
        self.told = told

    def do(self, action: str, pick: int) -> None:
        """One operation on a record, where there is one to do it on."""
        active = [item for item in get_items(self.tx, self.item_ids).values() if item.status == "active"]
        there = [step.id for step in thread_steps(self.tx)]
        was = self.look()
        known = len(history_of(self.tx))
        if action == "add":
            cited = [{"step_id": there[pick % len(there)]}] if there and pick % 2 else []
            self.keep(changing.add_item(self.tx, {**NEW, "sources": cited}, self.cipher))
        elif action == "forget" and there:
            changing.forget_steps(self.tx, [there[pick % len(there)]], None)
        elif action == "forget a part":
            said = [(step.id, word) for step in thread_steps(self.tx) for word in PARTS if word in step.content]
            if said:
                step_id, word = said[pick % len(said)]
                changing.forget_steps(self.tx, None, None, parts={step_id: [word]})
        elif not active:
            return
        elif action == "edit":
            changing.edit_item(self.tx, active[pick % len(active)].id, {"summary": f"words {pick}"}, self.cipher)
        elif action == "remove":
            changing.remove_item(self.tx, active[pick % len(active)].id)
        elif action == "supersede":
            self.keep(changing.add_item(self.tx, NEW, self.cipher, supersedes=active[pick % len(active)].id))
        elif action == "merge" and len(active) > 1:
            into = SemanticItem(user=self.tx.user, name="merged", summary=f"of {len(active)}")
            closed = [item_change(item, item.changed(status="merged")) for item in active[:2]]
            record_operation(self.tx, "merge", [*closed, item_change(None, self.keep(into))])
        for operation in history_of(self.tx)[known:]:
            is_now = self.look()
            touched = {record for record in was.keys() | is_now.keys() if was.get(record) != is_now.get(record)}
            assert touched == {
                _text(change.target_id) if change.target == "text" else change.target_id for change in operation.changes
            }
            before, after = ({record: state.get(record) for record in touched} for state in (was, is_now))
            self.oracle.in_force.append(Entry(operation.id, operation.id, operation.seq, before, after))

    def keep(self, item: MemoryItem) -> MemoryItem:
        self.item_ids.append(item.id)
        return item

    def undo(self, pick: int, by_origin: bool) -> None:
        """Reverse an operation in force; first without cascade, which tells what stands in the way."""
        if not self.oracle.in_force:
            return
        entry = self.oracle.in_force[pick % len(self.oracle.in_force)]
        name = entry.origin if by_origin else entry.name
        later = self.oracle.later(entry.seq, entry.after, self.look())
        assert later is not None
        self.reverse(name, entry.name, later, entry)

    def redo(self, pick: int) -> None:
        """Reverse an undo, where the records still are as it left them once what was done since is reversed."""
        if not self.oracle.undone:
            return
        name = sorted(self.oracle.undone)[pick % len(self.oracle.undone)]
        seq, entry = self.oracle.undone[name]
        later = self.oracle.later(seq, entry.before, self.look())
        if later is None:
            with pytest.raises(UndoRefusedError):
                undo(self.tx, name, cascade=True)
            return
        self.reverse(name, name, later, None)
        del self.oracle.undone[name]
        done = history_of(self.tx)[-1]
        entry.name, entry.seq = done.id, done.seq
        self.oracle.in_force.append(entry)

    def reverse(self, name: str, undoes: str, later: list[Entry], entry: Entry | None) -> None:
        if later:
            with pytest.raises(UndoRefusedError) as refused:
                undo(self.tx, name)
            assert refused.value.blockers == tuple(one.name for one in later)
        done = undo(self.tx, name, cascade=True)
        assert [one.undoes for one in done] == [*(one.name for one in reversed(later)), undoes]
        for operation, gone in zip(done, [*reversed(later), entry], strict=True):
            if gone is not None:
                self.oracle.in_force.remove(gone)
                self.oracle.undone[operation.id] = (operation.seq, gone)


def _text(step_id: str) -> str:
    """What stands for the words of a step, which change by themselves, among the records."""
    return f"words of {step_id}"


PARTS = ("Hi there.", "It rains.")
NEW = {"kind": "semantic", "name": "fact", "summary": "first words"}
MOVES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "add",
                "add",
                "edit",
                "edit",
                "remove",
                "supersede",
                "merge",
                "forget",
                "forget a part",
                "undo",
                "redo",
                "redo",
            ]
        ),
        st.integers(0, 20),
    ),
    min_size=1,
    max_size=14,
)


class Rollback(Exception):
    """Ends an example without leaving anything."""


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
@example(moves=[("add", 0), ("edit", 1), ("undo", 1), ("edit", 2), ("redo", 0), ("redo", 0), ("undo", 0), ("redo", 1)])
@example(moves=[("add", 0), ("edit", 0), ("undo", 0), ("redo", 1), ("redo", 0)])
@example(moves=[("add", 0), ("edit", 0), ("edit", 0), ("undo", 1), ("edit", 1), ("redo", 0)])
@example(moves=[("forget a part", 0), ("forget", 0), ("undo", 0), ("redo", 0), ("forget a part", 1), ("undo", 1)])
@example(moves=[("add", 1), ("forget", 1), ("undo", 1), ("undo", 0), ("redo", 0), ("redo", 0), ("undo", 0)])
def test_any_history_can_be_undone_redone_and_undone_to_nothing(
    each_memory: Memory, moves: list[tuple[str, int]]
) -> None:
    with pytest.raises(Rollback), each_memory.ledger.write("a player") as tx:
        play_through(tx, each_memory.cipher, moves)


def play_through(tx: Transaction, cipher: Any, moves: list[tuple[str, int]]) -> None:
    said = " ".join(PARTS)
    told = [
        Step(user=tx.user, thread_id="t", turn=turn, seq=tx.next_change(), role="user", content=said, index_text=said)
        for turn in range(3)
    ]
    append_steps(tx, told)
    start: State = {step.id: "active" for step in told}
    play = Play(tx, cipher, {**start, **{_text(step.id): said for step in told}})
    for action, pick in moves:
        if action == "undo":
            play.undo(pick, by_origin=bool(pick % 2))
        elif action == "redo":
            play.redo(pick)
        else:
            play.do(action, pick)
        play.check()
    while play.oracle.in_force:
        newest = play.oracle.in_force[-1]
        (done,) = undo(tx, newest.name)
        for change in done.changes:
            found = get_items(tx, [change.target_id]) or get_steps(tx, [change.target_id], forgotten=True)
            assert (change.after is None) == (not found)
        play.oracle.in_force.pop()
        play.check()
    assert play.look() == play.start
    raise Rollback
