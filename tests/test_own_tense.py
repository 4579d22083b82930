"""Of several verbs of a sentence the one that goes with a date tells whether the day is past or to come."""

from __future__ import annotations

import pytest

from hexamem.memory import Memory
from hexamem.memory_types import CoreItem, EpisodicItem


def days(memory: Memory, line: str) -> list[str]:
    """The days of the events that are told on Sunday, 22 November 2026."""
    user = memory.user("newcomer")
    user.remember([{"role": "user", "content": line, "timestamp": "2026-11-22T10:00:00Z"}])
    memory.flush()
    events = [item for item in user.items("episodic") if isinstance(item, EpisodicItem)]
    return sorted(f"{item.occurred_at:%m-%d}" for item in events)


@pytest.mark.parametrize(
    "line",
    [
        "I lost my key and fly to Rome on Monday.",
        "I lost my key and on Monday fly to Rome.",
        "I lost my key but will fly to Rome on Monday.",
        "I've been made redundant at Siemens and start at Airbus on Monday.",
        "I got the flat and move in on Monday.",
        "I finished my course and am flying home on Monday.",
        "My sister broke her leg and has surgery on Monday.",
        "My brother failed his exam and takes it again on Monday.",
        "We sold the house and leave for Ghent on Monday.",
        "I broke my arm but still play the concert on Monday.",
        "I fly to Rome on Monday and packed my bags.",
        "I found out that the exam is on Monday.",
        "She told me the wedding is on Monday.",
        "He said his course starts on Monday.",
        "I bought tickets for the show that starts on Monday.",
        "我丢了钥匙，周一飞罗马。",
        "我丢了钥匙周一飞罗马。",
        "我辞了职下周一开始在空客上班。",
    ],
)
def test_a_day_to_come_stays_ahead_whatever_happened_before(memory: Memory, line: str) -> None:
    assert days(memory, line) == ["11-23"]


@pytest.mark.parametrize(
    "line",
    [
        "I went to the gym and met Anna on Monday.",
        "I lost my key and wallet on Monday.",
        "I bought a table and chairs on Monday.",
        "I had a walk and swim on Monday.",
        "I had to pack and leave on Monday.",
        "I saw the kids come and go on Monday.",
        "I helped my aunt pack and leave on Monday.",
        "On Monday I put up and painted the wall.",
        "I found out on Monday that she is ill.",
        "I will miss her and broke down on Monday.",
        "I met a man who is a pilot on Monday.",
        "He was in Rome and came back on Monday.",
        "我丢了钥匙，周一飞去了罗马。",
        "我生病了周一没去上班。",
    ],
)
def test_a_day_that_is_over_stays_past(memory: Memory, line: str) -> None:
    assert days(memory, line) == ["11-16"]


def test_two_days_of_one_sentence_have_each_their_verb(memory: Memory) -> None:
    assert days(memory, "I was made redundant at Siemens on Friday and start at Airbus on Monday.") == [
        "11-20",
        "11-23",
    ]


def employer(memory: Memory, *lines: str) -> list[str]:
    user = memory.user("newcomer")
    for minute, line in enumerate(lines):
        user.remember([{"role": "user", "content": line, "timestamp": f"2026-11-22T10:{minute:02}:00Z"}])
        memory.flush()
    return [item.value for item in user.items("core") if isinstance(item, CoreItem) and item.label == "employer"]


@pytest.mark.parametrize(
    "lines",
    [
        ("I've been made redundant at Siemens and start at Airbus on Monday.",),
        ("I quit my job at Siemens and start at Airbus on Monday.",),
        ("I was fired at Siemens and join Airbus on Monday.",),
        ("I work at Siemens.", "I was made redundant and start at Airbus on Monday."),
        ("I start at Airbus on Monday.", "I lost my job."),
    ],
)
def test_who_lost_a_job_and_starts_at_another_has_that_from_then_on(memory: Memory, lines: tuple[str, ...]) -> None:
    assert "Works at Airbus (since 2026-11-23)" in employer(memory, *lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("I want to leave Siemens and start at Airbus on Monday.",),
        ("My brother lost his job at Siemens and starts at Airbus on Monday.",),
        ("I work at Airbus.", "I've been made redundant."),
        ("I work at Airbus since 2 November.", "I lost my job."),
    ],
)
def test_no_employer_is_learned_or_kept_where_none_begins(memory: Memory, lines: tuple[str, ...]) -> None:
    assert not [one for one in employer(memory, *lines) if one.startswith("Works at Airbus")]
