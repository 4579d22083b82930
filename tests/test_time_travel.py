"""As-of reads (what was true) and known-at reads (what was believed), and a recall that agrees with them."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hexamem import Memory, UserMemory
from hexamem.errors import InvalidInputError
from hexamem.memory_types import MemoryItem, utc_now
from hexamem.stores import changing
from hexamem.stores.ledger import Transaction, get_items, history_of, item_change, read_items, record_operation, undo

from .ledger_databases import each_memory, each_user, new_database  # noqa: F401

TICK = timedelta(microseconds=1)


def home(user: UserMemory, town: str, **more: Any) -> MemoryItem:
    """A stored item that says where the user lives."""
    supersedes = more.pop("supersedes", None)
    return user.add({"kind": "semantic", "name": "home", "summary": f"lives in {town}", **more}, supersedes=supersedes)


def towns(user: UserMemory, **when: Any) -> list[str]:
    """The towns that the items read name."""
    return sorted(item.text.rsplit(" ", 1)[-1] for item in user.items(**when))


# -- valid time --------------------------------------------------------------------------------------------------


def test_of_two_moves_each_time_has_its_town(each_user: UserMemory) -> None:
    first = home(each_user, "Hangzhou", valid_from="2015-03-01", valid_to="2030-01-01")
    moved = datetime(2022, 7, 1, tzinfo=UTC)
    second = home(each_user, "Shanghai", valid_from=moved, supersedes=first.id)
    assert [towns(each_user, as_of=moment) for moment in (moved - TICK, moved)] == [["Hangzhou"], ["Shanghai"]]
    assert towns(each_user, superseded=True) == ["Hangzhou", "Shanghai"]
    home(each_user, "Porto", valid_from="2024-02-01", supersedes=second.id)
    seen = {year: towns(each_user, as_of=f"{year}-06-01") for year in (2014, 2016, 2021, 2023, 2025, 2031)}
    assert seen == {
        2014: [],
        2016: ["Hangzhou"],
        2021: ["Hangzhou"],
        2023: ["Shanghai"],
        2025: ["Porto"],
        2031: ["Porto"],
    }


def test_the_beginning_belongs_to_a_time_and_the_end_does_not(each_user: UserMemory) -> None:
    begins, ends = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    home(each_user, "Porto", valid_from=begins, valid_to=ends)
    seen = [towns(each_user, as_of=moment) for moment in (begins - TICK, begins, ends - TICK, ends)]
    assert seen == [[], ["Porto"], ["Porto"], []]


def test_without_a_time_given_the_new_item_holds_from_when_it_was_learned(each_user: UserMemory) -> None:
    old = home(each_user, "Hangzhou")
    new = home(each_user, "Shanghai", supersedes=old.id)
    assert new.valid_from == new.created_at
    assert each_user.get(new.id) == new
    at = [new.created_at - TICK, new.created_at, "1990-01-01", "2999-01-01"]
    assert [towns(each_user, as_of=moment) for moment in at] == [["Hangzhou"], ["Shanghai"], ["Hangzhou"], ["Shanghai"]]


def test_a_plan_that_is_dropped_before_it_begins_was_never_true(each_user: UserMemory) -> None:
    plan = home(each_user, "Shanghai", valid_from="2999-01-01")
    home(each_user, "Hangzhou", supersedes=plan.id)
    assert towns(each_user, as_of="2999-06-01") == ["Hangzhou"]
    assert towns(each_user, as_of="2998-06-01") == []


def test_a_correction_from_the_same_beginning_leaves_the_old_item_no_time(each_user: UserMemory) -> None:
    wrong = home(each_user, "Hanoi", valid_from="2015-03-01")
    home(each_user, "Hangzhou", valid_from="2015-03-01", supersedes=wrong.id)
    for moment in ("2015-03-01", "2018-01-01", "2999-01-01"):
        assert towns(each_user, as_of=moment) == ["Hangzhou"]


def test_a_correction_of_an_event_leaves_the_wrong_account_no_time(each_user: UserMemory) -> None:
    def event(day: str, supersedes: str | None = None) -> MemoryItem:
        told = {"kind": "episodic", "occurred_at": day, "summary": f"moved on {day}"}
        return each_user.add(told, supersedes=supersedes)

    wrong = event("2022-07-01")
    event("2022-06-30", supersedes=wrong.id)
    for moment in ("2022-07-02", "2999-01-01", utc_now()):
        assert [item.summary for item in each_user.items(as_of=moment)] == ["moved on 2022-06-30"]  # type: ignore[attr-defined]


def test_a_superseded_item_without_an_end_counts_at_no_time(each_user: UserMemory, each_memory: Memory) -> None:
    wrong, right = home(each_user, "Hanoi"), home(each_user, "Hangzhou")
    with each_memory.ledger.write(each_user.name) as tx:
        closed = wrong.changed(status="superseded", superseded_at=utc_now(), superseded_by=right.id)
        record_operation(tx, "supersede", [item_change(wrong, closed)])
    assert towns(each_user, as_of="2018-01-01") == towns(each_user, as_of="2999-01-01") == ["Hangzhou"]
    assert towns(each_user, superseded=True) == ["Hangzhou", "Hanoi"]


def test_an_item_cannot_supersede_one_that_began_later(each_user: UserMemory) -> None:
    old = home(each_user, "Shanghai", valid_from="2022-07-01")
    with pytest.raises(InvalidInputError, match=r"before .* became valid"):
        home(each_user, "Hangzhou", valid_from="2015-03-01", supersedes=old.id)
    assert towns(each_user) == ["Shanghai"]


def test_an_edit_of_the_end_moves_the_end(each_user: UserMemory) -> None:
    item = home(each_user, "Porto", valid_from="2020-01-01")
    each_user.edit(item.id, valid_to="2021-01-01T00:00:00Z")
    assert [towns(each_user, as_of=day) for day in ("2020-12-31T23:59:59Z", "2021-01-01")] == [["Porto"], []]
    assert towns(each_user) == ["Porto"]
    each_user.edit(item.id, valid_to=None)
    assert towns(each_user, as_of="2021-01-01") == ["Porto"]
    with pytest.raises(InvalidInputError, match="before valid_from"):
        each_user.edit(item.id, valid_to="2019-01-01")


def test_naive_times_of_items_and_questions_are_read_in_the_timezone_of_the_user(each_memory: Memory) -> None:
    user = each_memory.user(f"far east {utc_now()}", timezone="Asia/Shanghai")
    item = home(user, "Shanghai", valid_from="2022-07-01", valid_to=datetime(2023, 7, 1))
    assert item.valid_from == datetime(2022, 6, 30, 16, tzinfo=UTC)
    assert item.valid_to == datetime(2023, 6, 30, 16, tzinfo=UTC)
    assert user.edit(item.id, valid_to="2024-07-01").valid_to == datetime(2024, 6, 30, 16, tzinfo=UTC)
    seen = [towns(user, as_of=day) for day in ("2022-06-30 23:59", "2022-07-01", "2022-06-30T16:00Z", 1656604799)]
    assert seen == [[], ["Shanghai"], ["Shanghai"], []]


def test_a_time_that_cannot_be_read_is_named_with_its_field(each_user: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match=r"valid_from: .*Saturday"):
        home(each_user, "Porto", valid_from="Saturday")
    with pytest.raises(InvalidInputError, match="05/08/2023"):
        each_user.items(as_of="05/08/2023")


# -- belief time -------------------------------------------------------------------------------------------------


def test_an_item_learned_elsewhere_was_known_since_then(each_user: UserMemory) -> None:
    home(each_user, "Porto", created_at="2020-05-01")
    assert [towns(each_user, known_at=day) for day in ("2020-04-30", "2020-05-01")] == [[], ["Porto"]]


def test_what_was_known_is_told_in_the_words_of_then(each_user: UserMemory) -> None:
    old = home(each_user, "Hangzhou", labels=["a"])
    each_user.edit(old.id, summary="lives in Shanghai", labels=["b"])
    edited = each_user.history(old.id)[-1].created_at
    assert each_user.items(known_at=edited - TICK) == [old]
    assert each_user.items(known_at=edited) == [each_user.get(old.id)]
    assert each_user.items(known_at=edited - TICK, where={"labels": "b"}) == []
    assert each_user.items(known_at=edited - TICK, where={"labels": "a"}) == [old]


def test_an_item_said_to_be_older_than_the_one_it_replaces_takes_no_past_belief_from_it(each_user: UserMemory) -> None:
    old = home(each_user, "Hangzhou")
    before = utc_now()
    home(each_user, "Shanghai", created_at="2020-01-01", supersedes=old.id)
    assert "Hangzhou" in towns(each_user, known_at=before)
    assert towns(each_user, known_at=utc_now()) == ["Shanghai"]


def test_what_was_then_believed_of_another_time_takes_both_times(each_user: UserMemory) -> None:
    wrong = home(each_user, "Hanoi", valid_from="2015-03-01")
    corrected = each_user.edit(wrong.id, summary="lives in Hangzhou")
    learned = each_user.history(wrong.id)[-1].created_at
    moved = home(each_user, "Shanghai", valid_from="2022-07-01", supersedes=wrong.id).created_at
    assert towns(each_user, as_of="2018-01-01", known_at=learned - TICK) == ["Hanoi"]
    assert towns(each_user, as_of="2018-01-01", known_at=learned) == ["Hangzhou"]
    assert towns(each_user, as_of="2023-01-01", known_at=moved - TICK) == ["Hangzhou"]
    assert towns(each_user, as_of="2023-01-01", known_at=moved) == ["Shanghai"]
    assert towns(each_user, as_of="2018-01-01", known_at=moved) == ["Hangzhou"]
    assert towns(each_user, as_of="2014-01-01", known_at=moved) == []
    assert towns(each_user, known_at=moved) == ["Shanghai"]
    assert towns(each_user, known_at=moved, superseded=True) == ["Hangzhou", "Shanghai"]
    assert corrected.version == 2


# -- recall ------------------------------------------------------------------------------------------------------


def test_recall_tells_steps_that_had_happened_and_had_been_stored(each_user: UserMemory) -> None:
    early = each_user.remember([{"role": "user", "content": "we moved to Porto", "timestamp": "2020-05-01T12:00:00Z"}])
    late = each_user.remember([{"role": "user", "content": "we moved to Rome", "timestamp": "2020-01-01T12:00:00Z"}])
    stored = each_user.get(late.step_ids[0]).created_at

    def found(**when: Any) -> set[str]:
        return {hit.id for hit in each_user.recall("where did we move", **when).hits}

    happened = datetime(2020, 5, 1, 12, tzinfo=UTC)
    assert found(as_of=happened) == {*early.step_ids, *late.step_ids}
    assert found(as_of=happened - TICK) == set(late.step_ids)
    assert found(known_at=stored) == {*early.step_ids, *late.step_ids}
    assert found(known_at=stored - TICK) == set(early.step_ids)
    assert found(as_of=happened - TICK, known_at=stored - TICK) == set()


def test_recall_tells_what_was_known_in_the_words_of_then(each_user: UserMemory) -> None:
    item = home(each_user, "Hangzhou")
    each_user.edit(item.id, summary="lives in Shanghai")
    at = each_user.history()[-1].created_at
    then = each_user.recall("where does she live", known_at=at - TICK, kinds="semantic")
    now = each_user.recall("where does she live", kinds="semantic")
    assert [hit.text for hit in then.hits] == ["home\nlives in Hangzhou"]
    assert [hit.text for hit in now.hits] == ["home\nlives in Shanghai"]


ACTIONS = ["add", "add", "edit", "edit", "supersede", "supersede", "remove", "undo", "undo", "merge"]
DAYS = st.none() | st.integers(0, 5)
MOVES = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9), DAYS, DAYS), min_size=1, max_size=10)
FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)


def day(number: int | None) -> datetime | None:
    """A day by its number."""
    return None if number is None else FIRST_DAY + timedelta(days=number)


def move(
    tx: Transaction, cipher: Any, ids: list[str], action: str, pick: int, begins: int | None, ends: int | None
) -> None:
    """One change of memory, where it is possible."""
    active = [item for item in get_items(tx, ids).values() if item.status == "active"]
    fields = {"kind": "semantic", "name": "home", "summary": f"town {pick}", "valid_from": day(begins)}
    fields["valid_to"] = day(ends) if begins is None or ends is None or begins <= ends else None
    if action == "add":
        ids.append(changing.add_item(tx, fields, cipher).id)
    elif action == "undo":
        in_force = [one for one in history_of(tx) if one.undone_by is None]
        if in_force and in_force[pick % len(in_force)].kind != "undo":
            undo(tx, in_force[pick % len(in_force)].id, cascade=True)
        elif in_force and in_force[-1].kind == "undo":
            undo(tx, in_force[-1].id)
    elif not active:
        return
    elif action == "edit":
        changes = {"summary": f"other town {pick}", "valid_from": fields["valid_from"], "valid_to": fields["valid_to"]}
        changing.edit_item(tx, active[pick % len(active)].id, changes, cipher)
    elif action == "supersede":
        old = active[pick % len(active)]
        if begins is None or old.valid_from is None or day(begins) >= old.valid_from:  # type: ignore[operator]
            ids.append(changing.add_item(tx, fields, cipher, supersedes=old.id).id)
    elif action == "remove":
        changing.remove_item(tx, active[pick % len(active)].id)
    elif action == "merge" and len(active) > 1:
        first, second = active[:2]
        after = first.changed(summary=f"{first.summary} and {second.summary}"[:200], version=first.version + 1)  # type: ignore[attr-defined]
        closed = second.changed(status="merged", superseded_by=first.id)
        record_operation(tx, "merge", [item_change(second, closed), item_change(first, after)])


class Rollback(Exception):
    """Ends an example without leaving anything."""


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
@example(moves=[("add", 0, None, None), ("undo", 0, None, None), ("undo", 0, None, None), ("edit", 1, 1, 2)])
@example(moves=[("add", 0, 1, 4), ("supersede", 0, None, 1), ("undo", 1, None, None), ("undo", 0, None, None)])
def test_what_was_known_at_any_moment_is_what_was_read_at_that_moment(
    each_memory: Memory, moves: list[tuple[str, int, int | None, int | None]]
) -> None:
    def play(tx: Transaction) -> None:
        ids: list[str] = []
        seen: list[tuple[datetime, list[list[MemoryItem]]]] = []
        for one in moves:
            move(tx, each_memory.cipher, ids, *one)
            history = history_of(tx)
            if history:
                seen.append((history[-1].created_at, readings(tx)))
        for at, told in seen:
            assert readings(tx, known_at=at) == told
        raise Rollback

    with pytest.raises(Rollback), each_memory.ledger.write("a traveller") as tx:
        play(tx)


def readings(tx: Transaction, **when: Any) -> list[list[MemoryItem]]:
    """What is read of every kind: what is believed, with what no longer is, and what was true on each day."""
    by_day = [read_items(tx, as_of=day(number), **when) for number in range(7)]
    return [read_items(tx, **when), read_items(tx, superseded=True, **when), *by_day]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES, seed=st.integers(0, 2**32))
def test_recall_at_any_time_gives_just_the_items_of_that_time(
    memory: Memory, moves: list[tuple[str, int, int | None, int | None]], seed: int
) -> None:
    user = memory.user(f"traveller {seed} {utc_now()}")
    ids: list[str] = []
    with memory.ledger.write(user.name) as tx:
        for one in moves:
            move(tx, memory.cipher, ids, *one)
    moments = [None, *(one.created_at for one in user.history())][-6:]
    for known_at in moments:
        for as_of in (None, FIRST_DAY, day(2), day(5)):
            expected = user.items(as_of=as_of, known_at=known_at, superseded=known_at is None and as_of is None)
            recalled = user.recall("town", 1_000, "dense", as_of=as_of, known_at=known_at)
            assert {hit.id: hit.text for hit in recalled.hits} == {item.id: item.text for item in expected}
