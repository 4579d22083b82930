"""Who has been somewhere has not "never been" there any more."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import CoreItem


def believed(user: UserMemory, *said: str, at_once: bool = False) -> list[str]:
    """What is believed of the user after these messages."""
    for minute, text in enumerate(said):
        user.remember({"role": "user", "content": text, "timestamp": f"2026-11-22T10:{minute:02}:00Z"})
        if not at_once:
            user.flush()
    user.flush()
    return [item.value for item in user.items("core") if isinstance(item, CoreItem)]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("never", "since", "now"),
    [
        ("I have never been to Norway.", "I went to Norway last month.", "Has been to Norway"),
        ("I've never been to Norway.", "I've been to Norway twice.", "Has been to Norway twice"),
        ("I've never visited Norway.", "We finally flew to Norway in May.", "Has been to Norway"),
        ("I've never been to Norway.", "I just got back from Norway.", "Has been to Norway"),
        ("I've never been to Norway.", "We spent two weeks in Norway.", "Has been to Norway"),
        ("我没去过挪威。", "我上个月去了挪威。", "去过挪威"),
    ],
)
def test_who_went_there_has_been_there(newcomer: UserMemory, never: str, since: str, now: str, at_once: bool) -> None:
    assert believed(newcomer, never, since, at_once=at_once) == [now]


@pytest.mark.parametrize(
    "later",
    [
        "I'm going to Norway in May.",
        "My brother went to Norway last month.",
        "I went to Sweden last month.",
        "I almost went to Norway last month.",
        "I dreamed I went to Norway.",
        "I went to the Norway pavilion.",
        "If I went to Norway, I'd see the fjords.",
        "I never went to Norway.",
        "Have I been to Norway?",
    ],
)
def test_who_did_not_go_has_never_been_there(newcomer: UserMemory, later: str) -> None:
    assert "Has never been to Norway" in believed(newcomer, "I have never been to Norway.", later)


def test_what_was_never_so_in_one_way_only_stays(newcomer: UserMemory) -> None:
    told = believed(newcomer, "I have never been to Norway in winter.", "I went to Norway last month.")
    assert "Has never been to Norway in winter" in told


def test_a_journey_alone_tells_nothing_more(newcomer: UserMemory) -> None:
    assert believed(newcomer, "I went to Norway last month.") == []
