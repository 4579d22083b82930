"""History and undo: every change is kept with its before and after, goes back the way it came, and is read as of then."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, UserMemory
from hexamem.errors import NotFoundError, UndoRefusedError
from hexamem.memory_types import Change, MemoryItem, Operation, SemanticItem, Step, new_id, utc_now
from hexamem.stores import changing
from hexamem.stores.forgetting import forget_records
from hexamem.stores.ledger import (
    Transaction,
    append_steps,
    get_items,
    get_steps,
    history_of,
    item_change,
    read_items,
    record_operation,
    thread_steps,
    undo,
)

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401

STRANGE = "\x00 \ud83d\ude00 \ue0f00\ue0f1 我"


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
    old = each_user.add({"kind": "semantic", "name": "home", "summary": STRANGE}, actor=STRANGE, reason="said so")
    new = each_user.edit(old.id, summary="in Lisbon", labels=["place"], reason=STRANGE)
    other = fact(each_user, "in Rome")
    next_ = each_user.add({"kind": "semantic", "name": "home", "summary": "in Bern"}, supersedes=old.id)
    added, edited, _, superseded = each_user.history()
    assert (added.kind, added.actor, added.reason, edited.reason) == ("add", STRANGE, "said so", STRANGE)
    assert added.changes == (Change(target="item", target_id=old.id, after=snapshot(old)),)
    assert edited.changes == (Change(target="item", target_id=old.id, before=snapshot(old), after=snapshot(new)),)
    assert (superseded.kind, [one.target_id for one in superseded.changes]) == ("supersede", [old.id, next_.id])
    assert (added.undoes, added.undone_by, new.version) == (None, None, 2)
    assert each_user.history(old.id) == [added, edited, superseded]
    assert [one.kind for one in each_user.history(other.id)] == ["add"]
    assert each_user.history(limit=2) == each_user.history()[-2:]
    assert each_user.history(old.id, limit=1) == [superseded]
    assert [one.seq for one in each_user.history()] == sorted(one.seq for one in each_user.history())


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
    told = each_user.remember(["Our boat is swordfish, nice. I live in Porto."]).step_ids[0]
    near = fact(each_user, "in Porto", sources=[{"step_id": told, "quote": "Porto", "start": 39, "end": 44}])
    added = last(each_user)
    item = fact(each_user, "the boat is named swordfish")
    each_user.edit(item.id, summary="the boat is named swordfish twice")
    edited = last(each_user)
    each_user.redact("swordfish", caption="name of the boat")
    (redaction,) = [one for one in each_user.history() if one.kind == "redact"]
    with pytest.raises(UndoRefusedError, match="redaction"):
        each_user.undo(redaction.id, cascade=True)
    source = each_user.get(near.id).sources[0]  # type: ignore[union-attr]
    assert each_user.get(told).content[source.start : source.end] == "Porto"  # type: ignore[union-attr]
    each_user.undo(edited.id)
    assert "is named {{vault:" in each_user.get(item.id).text  # type: ignore[union-attr]
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
    seen: list[tuple[datetime, list[list[MemoryItem]]]] = field(default_factory=list)

    def look(self) -> State:
        """The records as the ledger has them."""
        records: State = dict(get_items(self.tx, self.item_ids))
        records.update({step.id: step.status for step in thread_steps(self.tx, forgotten=True)})
        return records

    def check(self) -> None:
        """The ledger has what the oracle says, and the history only grew."""
        assert self.look() == self.oracle.state(self.start)
        history = history_of(self.tx)
        told = [one.id for one in history]
        if history:
            self.seen.append((history[-1].created_at, readings(self.tx)))
        assert told[: len(self.told)] == self.told
        assert {one.id for one in history if one.undone_by is None} >= {
            name for entry in self.oracle.in_force for name in (entry.name, entry.origin)
        }
        self.told = told

    def do(self, action: str, pick: int) -> None:
        """One operation on a record, where there is one to do it on."""
        active = [item for item in get_items(self.tx, self.item_ids).values() if item.status == "active"]
        there = [step.id for step in thread_steps(self.tx)]
        begins, ends = day(pick % 6), day(pick // 6)
        fields = {"kind": "semantic", "name": "town", "summary": f"town {pick}", "valid_from": begins}
        fields["valid_to"] = ends if begins is None or ends is None or begins <= ends else None
        was = self.look()
        known = len(history_of(self.tx))
        if action == "add":
            cited = [{"step_id": there[pick % len(there)]}] if there and pick % 2 else []
            self.keep(changing.add_item(self.tx, {**fields, "sources": cited}, self.cipher))
        elif action == "forget" and there:
            forget_records(self.tx, [there[pick % len(there)]])
        elif not active:
            return
        elif action == "edit":
            changes = {name: fields[name] for name in ("summary", "valid_from", "valid_to")}
            changing.edit_item(self.tx, active[pick % len(active)].id, changes, self.cipher)
        elif action == "remove":
            changing.remove_item(self.tx, active[pick % len(active)].id)
        elif action == "supersede":
            old = active[pick % len(active)]
            if begins is None or old.valid_from is None or begins >= old.valid_from:
                self.keep(changing.add_item(self.tx, fields, self.cipher, supersedes=old.id))
        elif action == "merge" and len(active) > 1:
            into = SemanticItem(user=self.tx.user, name="merged", summary=f"of {len(active)}")
            closed = [item_change(item, item.changed(status="merged")) for item in active[:2]]
            record_operation(self.tx, "merge", [*closed, item_change(None, self.keep(into))])
        for operation in history_of(self.tx)[known:]:
            is_now = self.look()
            touched = {record for record in was.keys() | is_now.keys() if was.get(record) != is_now.get(record)}
            assert touched == {change.target_id for change in operation.changes}
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


FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime | None:
    """A day by its number; 0 stands for none."""
    return FIRST_DAY + timedelta(days=number) if number else None


def readings(tx: Transaction, **when: Any) -> list[list[MemoryItem]]:
    """What is read of every kind: what is believed, with what no longer is, and what was true on each day."""
    by_day = [read_items(tx, as_of=day(number), **when) for number in range(7)]
    return [read_items(tx, **when), read_items(tx, superseded=True, **when), *by_day]


ACTIONS = (
    "add", "add", "edit", "edit", "remove", "supersede", "merge", "forget", "undo", "redo", "redo",
)  # fmt: skip
MOVES = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 35)), min_size=1, max_size=14)


class Rollback(Exception):
    """Ends an example without leaving anything."""


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
@example(moves=[("add", 0), ("edit", 1), ("undo", 1), ("edit", 2), ("redo", 0), ("redo", 0), ("undo", 0), ("redo", 1)])
@example(moves=[("add", 0), ("edit", 0), ("undo", 0), ("redo", 1), ("redo", 0)])
@example(moves=[("add", 0), ("edit", 0), ("edit", 0), ("undo", 1), ("edit", 1), ("redo", 0)])
@example(moves=[("forget", 0), ("undo", 0), ("redo", 0), ("undo", 1)])
@example(moves=[("add", 1), ("forget", 1), ("undo", 1), ("undo", 0), ("redo", 0), ("redo", 0), ("undo", 0)])
@example(moves=[("add", 0), ("undo", 0), ("redo", 0), ("edit", 14)])
@example(moves=[("add", 26), ("supersede", 12), ("undo", 1), ("redo", 0)])
def test_any_history_can_be_undone_redone_and_undone_to_nothing_and_read_as_it_was_at_any_moment(
    each_memory: Memory, moves: list[tuple[str, int]]
) -> None:
    def to_nothing(play: Play) -> None:
        while play.oracle.in_force:
            newest = play.oracle.in_force[-1]
            (done,) = undo(play.tx, newest.name)
            for change in done.changes:
                found = get_items(play.tx, [change.target_id]) or get_steps(play.tx, [change.target_id], forgotten=True)
                assert (change.after is None) == (not found)
            play.oracle.in_force.pop()
            play.check()
        assert play.look() == play.start
        for moment, read in play.seen:
            assert readings(play.tx, known_at=moment) == read
        raise Rollback

    with pytest.raises(Rollback), each_memory.ledger.write("a player") as tx:
        to_nothing(play_through(tx, each_memory.cipher, moves))


def play_through(tx: Transaction, cipher: Any, moves: list[tuple[str, int]]) -> Play:
    stored = [
        Step(user=tx.user, thread_id="t", turn=turn, seq=tx.next_change(), role="user", content="Hi", index_text="Hi")
        for turn in range(3)
    ]
    append_steps(tx, stored)
    play = Play(tx, cipher, {step.id: "active" for step in stored})
    for action, pick in moves:
        if action == "undo":
            play.undo(pick, by_origin=bool(pick % 2))
        elif action == "redo":
            play.redo(pick)
        else:
            play.do(action, pick)
        play.check()
    return play


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES, seed=st.integers(0, 2**32))
def test_recall_at_any_time_gives_just_the_items_of_that_time(
    each_memory: Memory, moves: list[tuple[str, int]], seed: int
) -> None:
    user = each_memory.user(f"traveller {seed} {utc_now()}")
    with each_memory.ledger.write(user.name) as tx:
        play_through(tx, each_memory.cipher, moves)
    moments = [None, *(one.created_at for one in user.history())][-6:]
    for known_at in moments:
        for as_of in (None, FIRST_DAY, day(2), day(5)):
            expected = user.items(as_of=as_of, known_at=known_at, superseded=known_at is None and as_of is None)
            recalled = user.recall("town", 1_000, "dense", as_of=as_of, known_at=known_at, kinds="semantic")
            assert {hit.id: hit.text for hit in recalled.hits} == {item.id: item.text for item in expected}
