"""Everybody has one birthday: another day told for it puts the event of the first right, and nobody else's."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import CoreItem, EpisodicItem


def said(user: UserMemory, *lines: str) -> UserMemory:
    """The user, who has said these lines a week apart, each in a conversation of its own."""
    for week, line in enumerate(lines):
        user.remember(
            {"role": "user", "content": line, "timestamp": f"2026-03-{2 + 7 * week:02}T10:00:00Z"}, f"t{week}"
        )
        user.flush()
    return user


def days(user: UserMemory) -> list[str]:
    return sorted(f"{item.occurred_at:%m-%d}" for item in user.items("episodic") if isinstance(item, EpisodicItem))


@pytest.mark.parametrize(
    ("first", "later", "on"),
    [
        ("My birthday is on 5 June.", "Actually, my birthday is on 6 June.", "06-06"),
        ("My birthday is 5 May.", "Sorry, my birthday is on the 6th of May.", "05-06"),
        ("My brother's birthday is on 5 June.", "Sorry, my brother's birthday is on 6 June.", "06-06"),
        ("My mum's birthday is on 5 June.", "My mum's birthday is on 6 June.", "06-06"),
        ("Petra's birthday is on 5 June.", "Petra's birthday is on 6 June.", "06-06"),
        ("我的生日是5月5日。", "我的生日其实是5月6日。", "05-06"),
    ],
)
def test_another_day_for_a_birthday_puts_it_right(newcomer: UserMemory, first: str, later: str, on: str) -> None:
    assert days(said(newcomer, first, later)) == [on]


def test_the_profile_tells_the_day_of_the_event(newcomer: UserMemory) -> None:
    user = said(newcomer, "My birthday is on 5 May.", "Actually, my birthday is on 6 May.")
    assert [item.value for item in user.items("core") if isinstance(item, CoreItem)] == ["Birthday: 6 May"]


@pytest.mark.parametrize("month", ["May", "June"])
def test_of_somebody_else_the_wrong_day_is_believed_no_more(newcomer: UserMemory, month: str) -> None:
    user = said(newcomer, f"My mum's birthday is on 5 {month}.", f"Sorry, my mum's birthday is on 6 {month}.")
    assert not any(f"5 {month}" in item.text for item in user.items("semantic"))


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("My birthday is on 5 June.", "My brother's birthday is on 6 June."),
        ("My brother's birthday is on 5 June.", "My sister's birthday is on 6 June."),
        ("My sister's birthday is on 5 June.", "My sister's birthday is on 6 June."),
        ("My birthday is on 5 June.", "My birthday party is on 6 June."),
        ("Petra's birthday is on 5 June.", "Paula's birthday is on 6 June."),
    ],
)
def test_the_birthday_of_another_or_a_party_changes_none(newcomer: UserMemory, first: str, later: str) -> None:
    assert days(said(newcomer, first, later)) == ["06-05", "06-06"]
