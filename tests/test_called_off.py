"""What fell through or is off ends by the words that name it, and nothing else ends along."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import EpisodicItem

RECITAL = "My recital is on 14 June."
GEORGIA = "We are planning a tour of Georgia in September."
SMALL_TALK = (
    "The lift was broken again.",
    "Lunch was too salty.",
    "The neighbours were loud.",
    "I slept well.",
    "The tram was full.",
    "It was foggy all day.",
)


def planned(user: UserMemory, *said: str, at_once: bool = False) -> list[str]:
    """The words of the events that are still to come, after messages of which each is read by itself, or all at once."""
    for minute, text in enumerate(said):
        user.remember([{"role": "user", "content": text, "timestamp": f"2026-03-02T10:{minute:02}:00Z"}])
        if not at_once:
            user.memory.flush()
    user.memory.flush()
    events = [item for item in user.items("episodic") if isinstance(item, EpisodicItem)]
    return sorted(item.summary for item in events if item.event_type != "cancellation")


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "line",
    [
        "The sale fell through.",
        "The loan has fallen through.",
        "Sadly our house purchase fell through at the last minute.",
        "A big order fell through.",
        "Their recital is off.",
        "Their cruise fell through.",
        "The plan is off.",
        "Our plans fell through.",
        "The raise isn't happening.",
        "The barbecue is no longer happening.",
        "The roof fell through.",
        "Tom's visa fell through.",
        "We cancelled Netflix.",
        "The recital almost fell through.",
        "My recital teacher is off sick.",
        "那笔生意黄了。",
    ],
)
def test_what_falls_through_ends_no_event_that_it_does_not_name(newcomer: UserMemory, line: str, at_once: bool) -> None:
    assert planned(newcomer, RECITAL, line, at_once=at_once) == ["My recital is on 2026-06-14"]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("first", "line"),
    [
        (RECITAL, "The recital fell through."),
        (RECITAL, "The recital has sadly fallen through."),
        (RECITAL, "It fell through."),
        (RECITAL, "It's off."),
        (RECITAL, "The whole thing is off."),
        (RECITAL, "We cancelled."),
        ("We're flying to Oslo on 14 June.", "The trip fell through."),
        ("My parents' cruise is on 14 June.", "Their cruise fell through."),
        ("We're planning to go to Malta on 14 June.", "The plan is off."),
        ("Lunch with Ana is on 14 June.", "Her lunch is off."),
    ],
)
def test_an_event_that_is_named_or_is_the_one_just_told_ends(
    newcomer: UserMemory, first: str, line: str, at_once: bool
) -> None:
    assert planned(newcomer, first, line, at_once=at_once) == []


@pytest.mark.parametrize("fillers", [0, 4, 6])
@pytest.mark.parametrize(
    "line",
    [
        "The Georgia tour fell through.",
        "The Georgia tour was called off.",
        "Georgia is off.",
        "We cancelled Georgia.",
        "We're not going to Georgia after all.",
    ],
)
def test_a_plan_that_is_named_ends_however_far_back_it_was_told(newcomer: UserMemory, line: str, fillers: int) -> None:
    assert planned(newcomer, GEORGIA, *SMALL_TALK[:fillers], RECITAL, line) == ["My recital is on 2026-06-14"]


def test_of_two_events_neither_ends_by_a_third(newcomer: UserMemory) -> None:
    told = planned(newcomer, RECITAL, "My driving test is on 20 June.", "The deal with the studio fell through.")
    assert told == ["My driving test is on 2026-06-20", "My recital is on 2026-06-14"]
