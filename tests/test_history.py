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
from hexamem.stores.forgetting import forget_records
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


def test_every_change_is_kept_with_who_did_it_why_and_the_item_before_and_after(each_user: UserMemory) -> None:
    old = each_user.add(
        {"kind": "semantic", "name": "home", "summary": "in Porto"}, actor="semantic_manager", reason="said so"
    )
    new = each_user.edit(old.id, summary="in Lisbon", labels=["place"])
    other = fact(each_user, "in Rome")
    next_ = each_user.add({"kind": "semantic", "name": "home", "summary": "in Bern"}, supersedes=old.id)
    added, edited, _, superseded = each_user.history()
    assert (added.kind, added.actor, added.reason) == ("add", "semantic_manager", "said so")
    assert added.changes == (Change(target="item", target_id=old.id, after=snapshot(old)),)
    assert edited.changes == (Change(target="item", target_id=old.id, before=snapshot(old), after=snapshot(new)),)
    assert (superseded.kind, [one.target_id for one in superseded.changes]) == ("supersede", [old.id, next_.id])
    assert (added.undoes, added.undone_by, new.version) == (None, None, 2)
    assert each_user.history(old.id) == [added, edited, superseded]
    assert [one.kind for one in each_user.history(other.id)] == ["add"]
    assert each_user.history(limit=2) == each_user.history()[-2:]
    assert each_user.history(old.id, limit=1) == [superseded]
    assert [one.seq for one in each_user.history()] == sorted(one.seq for one in each_user.history())


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


def test_undo_brings_every_field_and_source_of_an_item_back_and_is_an_operation_itself(each_user: UserMemory) -> None:
    told = each_user.remember(["I live in Porto"]).step_ids[0]
    source = {"step_id": told, "quote": "Porto", "start": 10, "end": 15}
    old = fact(
        each_user, "in Porto", sources=[source], labels=["a"], metadata={"b": [1.5, None]}, valid_from="2020-01-01"
    )
    each_user.edit(old.id, summary="in Lisbon", sources=[], labels=[], metadata={}, valid_from=None)
    edited = last(each_user)
    (done,) = each_user.undo(edited.id, actor="me")
    assert (done.kind, done.actor, done.undoes) == ("undo", "me", edited.id)
    assert each_user.get(old.id) == old
    with pytest.raises(UndoRefusedError, match=f"undone already, by {done.id}; undo that one to redo it"):
        each_user.undo(edited.id)
    (redone,) = each_user.undo(done.id)
    each_user.undo(edited.id)  # by its own name
    with pytest.raises(UndoRefusedError, match="undone already"):
        each_user.undo(redone.id)
    # Whatever holds is undone by nothing: the addition, and of the chain each second one from its end.
    assert [one.undone_by is None for one in each_user.history()] == [True, False, True, False, True]


def test_an_operation_that_changed_a_record_twice_goes_back_to_the_first_state_and_one_without_changes_too(
    each_user: UserMemory, each_memory: Memory
) -> None:
    first = fact(each_user, "one")
    second, third = first.changed(summary="two", version=2), first.changed(summary="three", version=3)
    with each_memory.ledger.write(each_user.name) as tx:
        operation = record_operation(tx, "update", [item_change(first, second), item_change(second, third)])
        nothing = record_operation(tx, "noop", [], reason="nothing to do")
    assert each_user.get(first.id) == third
    each_user.undo(operation.id)
    assert each_user.get(first.id) == first
    assert each_user.undo(nothing.id)[0].changes == ()


def test_a_refusal_names_the_operations_in_the_way_and_an_unknown_one_is_not_found(
    each_user: UserMemory, each_memory: Memory
) -> None:
    item = fact(each_user, "one")
    each_user.edit(item.id, summary="two")
    each_user.remove(item.id)
    first, second, third = each_user.history()
    with pytest.raises(UndoRefusedError, match="cascade=True") as refused:
        each_user.undo(first.id)
    assert all(name in str(refused.value) for name in (first.id, second.id, third.id))
    (undone,) = each_user.undo(third.id)
    each_user.undo(second.id)
    each_user.undo(first.id)
    with pytest.raises(UndoRefusedError, match="no longer fits"):
        each_user.undo(undone.id, cascade=True)
    stranger = each_memory.user(f"stranger to {each_user.name}")
    for user, operation_id in ((each_user, new_id("op")), (stranger, first.id)):
        with pytest.raises(NotFoundError, match="no operation"):
            user.undo(operation_id)


def test_what_came_before_a_redaction_is_undone_in_its_words_and_the_redaction_is_not(each_user: UserMemory) -> None:
    told = each_user.remember(["The word swordfish opens it. I live in Porto."]).step_ids[0]
    near = fact(each_user, "in Porto", sources=[{"step_id": told, "quote": "Porto", "start": 39, "end": 44}])
    added = last(each_user)
    item = fact(each_user, "the gate opens with swordfish")
    each_user.edit(item.id, summary="the gate opens with swordfish twice")
    edited = last(each_user)
    each_user.redact("swordfish", caption="gate word")
    (redaction,) = [one for one in each_user.history() if one.kind == "redact"]
    with pytest.raises(UndoRefusedError, match="redaction"):
        each_user.undo(redaction.id, cascade=True)
    source = each_user.get(near.id).sources[0]  # type: ignore[union-attr]
    assert each_user.get(told).content[source.start : source.end] == "Porto"  # type: ignore[union-attr]
    each_user.undo(edited.id)
    assert "opens with {{vault:" in each_user.get(item.id).text  # type: ignore[union-attr]
    each_user.undo(added.id)
    assert near.id not in {one.id for one in each_user.items()}
    assert "swordfish" not in repr(each_user.history())


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
            forget_records(self.tx, [there[pick % len(there)]])
        elif action == "forget a part":
            said = [(step.id, word) for step in thread_steps(self.tx) for word in PARTS if word in step.content]
            if said:
                step_id, word = said[pick % len(said)]
                forget_records(self.tx, [], parts={step_id: [word]})
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
