"""Wishes that hang on to "put into my profile that", and a profile that says already what is wished."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("wishes"), settings=Settings(background=False)) as opened:
        yield opened


def core(memory: Memory, line: str, profile: str = "") -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    if profile:
        user.remember({"role": "user", "content": "Hello there.", "timestamp": "2026-11-18T10:00:00+00:00"}, "t")
        user.flush()
        values = {"kind": "core", "label": "human", "value": profile, "sources": [{"step_id": user.steps()[0].id}]}
        user.add(values, actor="model", reason="the agent wrote the block")
    user.remember({"role": "user", "content": line, "timestamp": "2026-11-18T10:01:00+00:00"}, "t")
    user.flush()
    return [item.text.split("\n")[1] for item in user.items("core") if not item.text.startswith("human")]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Please put into my profile that prices should always be in kroner.", "Prices should always be in kroner"),
        ("Note for my profile, and that answers should always be short.", "Answers should always be short"),
        ("Please note that replies should always be in German.", "Replies should always be in German"),
        ("Please put into my profile that I'd like to be called Rik.", "Wants to be called Rik"),
        ("I'd prefer to be called Jo.", "Wants to be called Jo"),
        ("Remember that I want to be called Bea, please.", "Wants to be called Bea"),
    ],
)
def test_a_wish_is_kept_without_what_it_hangs_on_to(memory: Memory, line: str, value: str) -> None:
    found = core(memory, line)
    assert any(value.casefold() in one.casefold() for one in found)
    assert not any(one.casefold().startswith("that ") for one in found)


@pytest.mark.parametrize(
    "line",
    ["I'd like to be called back on Friday.", "I'd like to be called when it is ready.", "He'd like to be called Rik."],
)
def test_who_wants_a_call_wants_no_name(memory: Memory, line: str) -> None:
    assert not any("be called" in one for one in core(memory, line))


def test_what_the_profile_says_already_is_not_kept_twice(memory: Memory) -> None:
    line = "Please put into my profile that prices should always be in kroner."
    assert core(memory, line, profile="Henrik Dahl, a baker in Aarhus. Prices always in kroner.") == []


@pytest.mark.parametrize(
    "profile", ["Henrik Dahl, a baker. Prices always in euros.", "Prices of his rivals in kroner."]
)
def test_a_profile_that_says_something_else_keeps_no_wish_out(memory: Memory, profile: str) -> None:
    assert core(memory, "Please put into my profile that prices should always be in kroner.", profile=profile)
