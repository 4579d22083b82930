"""What was told along with the hour of an event tells the new hour once the event has moved, and the old one no more."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import SemanticItem


def facts(user: UserMemory, *said: str, at_once: bool) -> list[str]:
    """The facts believed after messages of Sunday, 22 November 2026."""
    for minute, text in enumerate(said):
        user.remember({"role": "user", "content": text, "timestamp": f"2026-11-22T10:{minute:02}:00Z"})
        if not at_once:
            user.flush()
    user.flush()
    return [item.summary for item in user.items("semantic") if isinstance(item, SemanticItem)]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("first", "later", "now"),
    [
        ("My vet's appointment is on Tuesday at 3.", "My vet's appointment was moved to Thursday at 10.",
         "The user's vet's appointment is on 2026-11-26 at 10:00"),
        ("My vet's appointment is on Tuesday at 3pm.", "It was moved to Thursday at 10am.",
         "The user's vet's appointment is on 2026-11-26 at 10:00"),
        ("My sister's exam is on Tuesday at half past two in Kent.", "My sister's exam was moved to Friday at 9.",
         "The user's sister's exam is on 2026-11-27 at 09:00 in Kent"),
        ("My vet's appointment is on Tuesday at 3pm in Kent.", "It was moved to Thursday.",
         "The user's vet's appointment is on 2026-11-26 in Kent"),
    ],
)  # fmt: skip
def test_a_fact_tells_the_new_hour_of_a_moved_event(
    newcomer: UserMemory, first: str, later: str, now: str, at_once: bool
) -> None:
    assert facts(newcomer, first, later, at_once=at_once) == [now]


@pytest.mark.parametrize("at_once", [True, False])
def test_the_hour_of_another_event_stays(newcomer: UserMemory, at_once: bool) -> None:
    told = facts(
        newcomer,
        "My vet's appointment is on Tuesday at 3.",
        "My sister's exam is on Wednesday at 9.",
        "My sister's exam was moved to Friday at 11.",
        at_once=at_once,
    )
    assert "The user's vet's appointment is on Tuesday at 3" in told
