"""An event that is on another day now: one item, and no hour that nobody has told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("days"), settings=Settings(background=False)) as opened:
        yield opened


def events(memory: Memory, *lines: str) -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    for line in lines:
        user.remember({"role": "user", "content": line, "timestamp": "2026-11-18T10:00:00+00:00"}, "t")
        user.flush()
    return [item.text.split("\n")[0] for item in user.items() if item.kind == "episodic"]


_EXAM = "My Spanish exam is on Monday 30 November at ten."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("It is on Wednesday 2 December now, at half past two; the school has just written.", "2026-12-02 14:30"),
        ("No, it is Wednesday 2 December now, at half past two.", "2026-12-02 14:30"),
        ("It's on Wednesday 2 December now.", "2026-12-02"),
        ("It's now on Wednesday 2 December at noon.", "2026-12-02 12:00"),
        ("It will be on Wednesday 2 December now.", "2026-12-02"),
        ("No, the Spanish exam is on Wednesday 2 December now.", "2026-12-02"),
        ("The Spanish exam is on Wednesday 2 December now.", "2026-12-02"),
        ("The Spanish exam takes place on 2 December now.", "2026-12-02"),
        ("The Spanish exam has been moved to Wednesday 2 December.", "2026-12-02"),
        ("Actually it's on 2 December now, at nine.", "2026-12-02 09:00"),
    ],
)
def test_an_event_on_a_new_day_is_one_item_with_the_hour_told(memory: Memory, line: str, said: str) -> None:
    found = events(memory, _EXAM, line)
    assert len(found) == 1
    assert said in found[0]
    assert "exam" in found[0]
    assert "at ten" not in found[0]
    assert "10:00" not in found[0]
    assert " now" not in found[0]


def test_a_day_that_was_a_slip_keeps_its_hour(memory: Memory) -> None:
    assert events(memory, _EXAM, "Sorry, I meant Tuesday 1 December.") == [
        "My Spanish exam is on 2026-12-01 at ten (2026-12-01 10:00)"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "My driving test is on 2 December now.",
        "The dentist is on 2 December.",
        "Karen's party starts at nine on 2 December.",
        "My sister flies to Porto on 2 December now.",
        "The choir sings on 2 December.",
        "I am meeting Rolf on 2 December.",
        "Our rent is due on 2 December.",
        "I have to work on 2 December now.",
        "We meet Rolf for coffee on 2 December.",
        "We go to the opera on 2 December.",
    ],
)
def test_another_event_leaves_the_first_where_it_was(memory: Memory, line: str) -> None:
    found = events(memory, _EXAM, line)
    assert "My Spanish exam is on 2026-11-30 at ten (2026-11-30 10:00)" in found
    assert any("2026-12-02" in one for one in found)


@pytest.mark.parametrize(
    "line",
    [
        "It has been moved to Wednesday 2 December, same time.",
        "The exam was put back to 2 December, the time is unchanged.",
        "The exam is on 2 December now, at the same hour.",
    ],
)
def test_an_hour_that_is_said_to_be_the_same_is_kept(memory: Memory, line: str) -> None:
    found = events(memory, _EXAM, line)
    assert len(found) == 1
    assert "2026-12-02 10:00" in found[0]


def test_a_day_that_comes_round_every_week_is_no_event(memory: Memory) -> None:
    assert events(memory, "My day off is Wednesday now, it used to be Friday.") == []
