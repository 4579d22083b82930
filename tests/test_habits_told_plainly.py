"""Habits that are told plainly: what one takes, never does at an hour, or does with somebody else now."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("habits"), settings=Settings(background=False)) as opened:
        yield opened


def habits(memory: Memory, *lines: str) -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    for line in lines:
        user.remember({"role": "user", "content": line, "timestamp": "2026-11-18T10:00:00+00:00"}, "t")
        user.flush()
    return [item.text.split("\n")[1] for item in user.items() if item.kind == "core"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("I don't take calls after nine in the evening.", "Does not take calls after nine in the evening"),
        ("I don't work on Mondays.", "Does not work on Mondays"),
        ("I don't check my mail at weekends.", "Does not check their mail at weekends"),
        ("I do not go out after dark.", "Does not go out after dark"),
        ("I take one tablet of iron every morning.", "Takes one tablet of iron every morning"),
        ("I take Amlodin for my blood pressure.", "Takes Amlodin for their blood pressure"),
        ("I take two drops of vitamin D daily.", "Takes two drops of vitamin D daily"),
        ("I take the tram every day.", "Takes the tram every day"),
        ("I take my daughter to handball every Friday.", "Takes their daughter to handball every Friday"),
        ("I take half a pill before breakfast.", "Takes half a pill before breakfast"),
        ("I go running with my sister every Sunday.", "Goes running with their sister every Sunday"),
        ("I train with my colleague Femi on Tuesdays.", "Trains with their colleague Femi on Tuesdays"),
        ("I play chess with Gwen now.", "Plays chess with Gwen now"),
    ],
)
def test_a_habit_is_kept_as_it_is_told(memory: Memory, line: str, value: str) -> None:
    assert value in habits(memory, line)


@pytest.mark.parametrize(
    "line",
    [
        "I don't take it after nine.",
        "I don't think after nine.",
        "I don't want to work on Mondays.",
        "I don't see you on Fridays.",
        "If I don't work on Mondays, I sleep.",
        "Do I take one tablet every morning?",
        "I take it every morning.",
        "I take that for my sins.",
        "I might take the tram every day.",
        "My sister takes one tablet of iron every morning.",
        "I took one tablet of iron this morning.",
        "I am with Gwen now.",
    ],
)
def test_what_looks_like_a_habit_is_none(memory: Memory, line: str) -> None:
    assert habits(memory, line) == []


def test_with_whom_one_trains_now_is_in_place_of_whom_one_did(memory: Memory) -> None:
    found = habits(memory, "I train with my colleague Femi on Tuesdays.", "I train with Gwen now.")
    assert found == ["Trains with Gwen now"]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("I train at the gym on Tuesdays.", "Trains at the gym on Tuesdays"),
        ("I play tennis with Femi on Tuesdays.", "Plays tennis with Femi on Tuesdays"),
        ("I swim with Femi on Tuesdays.", "Swims with Femi on Tuesdays"),
    ],
)
def test_another_habit_stays(memory: Memory, line: str, kept: str) -> None:
    found = habits(memory, line, "I train with Gwen now.")
    assert kept in found
    assert "Trains with Gwen now" in found
