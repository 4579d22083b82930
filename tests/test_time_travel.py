"""As-of reads (what was true) and known-at reads (what was believed), and a recall that agrees with them."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hexamem import Memory, UserMemory
from hexamem.errors import InvalidInputError
from hexamem.memory_types import MemoryItem, utc_now
from hexamem.stores.ledger import item_change, record_operation

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


def test_of_moves_each_time_has_its_town_from_its_beginning_to_just_before_its_end(each_user: UserMemory) -> None:
    first = home(each_user, "Hangzhou", valid_from="2015-03-01", valid_to="2030-01-01")
    moved = datetime(2022, 7, 1, tzinfo=UTC)
    with pytest.raises(InvalidInputError, match=r"before .* became valid"):
        home(each_user, "Shanghai", valid_from="2014-03-01", supersedes=first.id)
    ends = datetime(2030, 1, 1, tzinfo=UTC)
    assert [towns(each_user, as_of=moment) for moment in (ends - TICK, ends)] == [["Hangzhou"], []]
    second = home(each_user, "Shanghai", valid_from=moved, supersedes=first.id)
    assert [towns(each_user, as_of=moment) for moment in (moved - TICK, moved)] == [["Hangzhou"], ["Shanghai"]]
    assert towns(each_user, superseded=True) == ["Hangzhou", "Shanghai"]
    third = home(each_user, "Porto", valid_from="2024-02-01", supersedes=second.id)
    seen = {year: towns(each_user, as_of=f"{year}-06-01") for year in (2014, 2016, 2021, 2023, 2025, 2031)}
    assert list(seen.values()) == [[], ["Hangzhou"], ["Hangzhou"], ["Shanghai"], ["Porto"], ["Porto"]]
    last = home(each_user, "Cork", supersedes=third.id)  # without a time it holds from when it was learned
    assert last.valid_from == last.created_at
    at = [last.created_at - TICK, last.created_at, "2999-01-01"]
    assert [towns(each_user, as_of=moment) for moment in at] == [["Porto"], ["Cork"], ["Cork"]]


def test_what_is_corrected_from_its_beginning_or_dropped_before_it_was_never_true(each_user: UserMemory) -> None:
    wrong = home(each_user, "Hanoi", valid_from="2015-03-01")
    right = home(each_user, "Hangzhou", valid_from="2015-03-01", supersedes=wrong.id)
    for moment in ("2015-03-01", "2018-01-01", "2999-06-01"):
        assert towns(each_user, as_of=moment) == ["Hangzhou"]
    each_user.remove(right.id)
    plan = home(each_user, "Shanghai", valid_from="2999-01-01")
    home(each_user, "Bern", supersedes=plan.id)
    assert [towns(each_user, as_of=day) for day in ("2999-06-01", "2998-06-01")] == [["Bern"], []]

    def event(day: str, supersedes: str | None = None) -> MemoryItem:
        fields = {"kind": "episodic", "occurred_at": day, "summary": f"moved on {day}"}
        return each_user.add(fields, supersedes=supersedes)

    event("2022-06-30", supersedes=event("2022-07-01").id)
    for moment in ("2022-07-02", "2999-01-01", utc_now()):
        shown = [item.summary for item in each_user.items("episodic", as_of=moment)]  # type: ignore[attr-defined]
        assert shown == ["moved on 2022-06-30"]


def test_a_superseded_item_without_an_end_counts_at_no_time(each_user: UserMemory, each_memory: Memory) -> None:
    wrong, right = home(each_user, "Hanoi"), home(each_user, "Hangzhou")
    with each_memory.ledger.write(each_user.name) as tx:
        closed = wrong.changed(status="superseded", superseded_at=utc_now(), superseded_by=right.id)
        record_operation(tx, "supersede", [item_change(wrong, closed)])
    assert towns(each_user, as_of="2018-01-01") == towns(each_user, as_of="2999-01-01") == ["Hangzhou"]
    assert towns(each_user, superseded=True) == ["Hangzhou", "Hanoi"]


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
    with pytest.raises(InvalidInputError, match=r"valid_from: .*Saturday"):
        home(user, "Porto", valid_from="Saturday")
    with pytest.raises(InvalidInputError, match="05/08/2023"):
        user.items(as_of="05/08/2023")


# -- belief time -------------------------------------------------------------------------------------------------


def test_an_item_was_known_since_it_was_learned_elsewhere_but_takes_no_past_belief_from_another(
    each_user: UserMemory,
) -> None:
    old = home(each_user, "Hangzhou", created_at="2020-05-01")
    assert [towns(each_user, known_at=day) for day in ("2020-04-30", "2020-05-01")] == [[], ["Hangzhou"]]
    before = utc_now()
    home(each_user, "Shanghai", created_at="2020-01-01", supersedes=old.id)
    assert "Hangzhou" in towns(each_user, known_at=before)
    assert towns(each_user, known_at=utc_now()) == ["Shanghai"]


def test_what_was_then_believed_of_another_time_takes_both_times_in_the_words_of_then(each_user: UserMemory) -> None:
    wrong = home(each_user, "Hanoi", valid_from="2015-03-01", labels=["a"])
    corrected = each_user.edit(wrong.id, summary="lives in Hangzhou", labels=["b"])
    learned = each_user.history(wrong.id)[-1].created_at
    assert each_user.items(known_at=learned - TICK, where={"labels": "a"}) == [wrong]
    assert each_user.items(known_at=learned - TICK, where={"labels": "b"}) == []
    assert each_user.items(known_at=learned) == [corrected] == [each_user.get(wrong.id)]
    then, now = (
        each_user.recall("where does she live", known_at=at, kinds="semantic").hits for at in (learned - TICK, None)
    )
    assert ([hit.text for hit in then], [hit.text for hit in now]) == (
        ["home\nlives in Hanoi"], ["home\nlives in Hangzhou"],
    )  # fmt: skip
    moved = home(each_user, "Shanghai", valid_from="2022-07-01", supersedes=wrong.id).created_at
    assert towns(each_user, as_of="2018-01-01", known_at=learned - TICK) == ["Hanoi"]
    assert towns(each_user, as_of="2018-01-01", known_at=learned) == ["Hangzhou"]
    assert towns(each_user, as_of="2023-01-01", known_at=moved - TICK) == ["Hangzhou"]
    assert towns(each_user, as_of="2023-01-01", known_at=moved) == ["Shanghai"]
    assert towns(each_user, as_of="2018-01-01", known_at=moved) == ["Hangzhou"]
    assert towns(each_user, as_of="2014-01-01", known_at=moved) == []
    assert towns(each_user, known_at=moved) == ["Shanghai"]
    assert towns(each_user, known_at=moved, superseded=True) == ["Hangzhou", "Shanghai"]


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
