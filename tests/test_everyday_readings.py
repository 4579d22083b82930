"""Everyday sentences that look alike and are read apart: genitives, names given to animals, limits, days of birth."""

from __future__ import annotations

import pytest

from hexamem import UserMemory


def learned(user: UserMemory, line: str) -> list[str]:
    user.remember({"role": "user", "content": line, "timestamp": "2026-05-20T10:00:00+00:00"}, "t")
    user.flush()
    return [item.text.split("\n")[0 if item.kind == "episodic" else 1] for item in user.items()]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("My brother's training for a marathon.", "The user's brother is training for a marathon"),
        ("My sister's meeting us at six.", "The user's sister is meeting us at six"),
        ("We adopted a greyhound. We named her Pickle.", "Has a greyhound called Pickle"),
        ("We adopted a kitten. We called him Odin.", "Has a kitten called Odin"),
        ("I can't drink coffee after noon anymore.", "Cannot drink coffee after noon"),
        ("I don't eat meat anymore.", "Does not eat meat"),
    ],
)
def test_what_is_said_is_learned_with_all_that_belongs_to_it(newcomer: UserMemory, line: str, value: str) -> None:
    assert value in learned(newcomer, line)


@pytest.mark.parametrize(
    "line",
    ["My cousin's wedding was lovely.", "My sister's painting won a prize.", "Mum's cooking is the best."],
)
def test_a_thing_of_somebody_is_not_what_they_are(newcomer: UserMemory, line: str) -> None:
    assert not any(" is " in value.partition("'s ")[2].split("'s ")[0] for value in learned(newcomer, line))


@pytest.mark.parametrize("line", ["I was born in May.", "I was born on 3 May.", "我是五月出生的。"])
def test_a_birth_without_its_year_is_no_event_of_this_year(newcomer: UserMemory, line: str) -> None:
    assert not any("2026" in value for value in learned(newcomer, line))


@pytest.mark.parametrize(
    "line", ["My wife was late. I called her Darling.", "My sister was late. I called her Monday."]
)
def test_a_person_whom_somebody_called_gets_no_name_by_it(newcomer: UserMemory, line: str) -> None:
    assert not any("Darling" in value or ": Monday" in value for value in learned(newcomer, line))
