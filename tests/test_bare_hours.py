"""An hour told without am or pm: the half of the day by the words beside it, or the day alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexamem.intent.dates.relative import find_dates, resolve_date
from hexamem.memory import Memory
from hexamem.memory_types import EpisodicItem

SUNDAY = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


def told(text: str) -> str:
    found = resolve_date(text, SUNDAY, UTC)
    assert found is not None
    return found.iso


def events(memory: Memory, *lines: str) -> list[tuple[str, str]]:
    user = memory.user("newcomer")
    for minute, line in enumerate(lines):
        user.remember([{"role": "user", "content": line, "timestamp": f"2026-11-22T10:{minute:02}:00Z"}])
        memory.flush()
    items = [item for item in user.items("episodic") if isinstance(item, EpisodicItem)]
    return [(f"{item.occurred_at:%m-%d %H:%M}", item.summary) for item in items]


@pytest.mark.parametrize(
    "text",
    [
        "My train leaves on Friday at 6.",
        "My flight to Malta is on Friday at 5.",
        "The ferry sails on Friday at half past nine.",
        "The school run starts on Friday at 7.",
        "The alarm rings on Friday at four.",
        "We leave on Friday at 3.",
        "My shift begins on Friday at ten.",
        "My shift is on Friday from ten to six.",
        "Choir is on Friday at 8.",
        "On Friday we set off at 5.",
        "At 7 on Friday the plumber comes.",
        "Our party is on Friday at 11.",
        "We meet on Friday night at 2.",
        "I had dinner with Tom. My bus leaves on Friday at 8.",
        "My book club meets at 3 Mill Lane on Friday.",
        "周五7点的飞机。",
        "周五六点半的高铁。",
        "周五五点出发。",
        "周五八点有人来修水管。",
    ],
)
def test_an_hour_whose_half_of_the_day_nothing_tells_leaves_the_day(text: str) -> None:
    assert told(text) == "2026-11-27"


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("My train leaves on Friday at 6 in the morning.", "06:00"),
        ("My train leaves on Friday at 6 am.", "06:00"),
        ("My train leaves on Friday morning at 6.", "06:00"),
        ("My train leaves on Friday evening at half past nine.", "21:30"),
        ("My flight is on Friday night at 11.", "23:00"),
        ("My train leaves on Friday at 18:05.", "18:05"),
        ("My train leaves on Friday at 06:40.", "06:40"),
        ("My flight is on Friday at noon.", "12:00"),
        ("My flight is on Friday at 12.", "12:00"),
        ("We have dinner with Ana on Friday at 7.", "19:00"),
        ("We have dinner with Ana on Friday at 7:30.", "19:30"),
        ("The concert is on Friday at eight.", "20:00"),
        ("Karen's party is on Friday at nine.", "21:00"),
        ("I have the dentist on Friday at 8.", "08:00"),
        ("I have the dentist on Friday at half three.", "15:30"),
        ("My exam is on Friday at ten.", "10:00"),
        ("The tiler comes on Friday at 4.", "16:00"),
        ("Lunch with Ana is on Friday at 1.", "13:00"),
        ("I pick the children up on Friday after school at 3.", "15:00"),
        ("I work on Friday from 9 to 5.", "09:00"),
        ("Yoga is on Friday from 7 to 9 pm.", "19:00"),
        ("Yoga is on Friday from 11 to 1 pm.", "11:00"),
        ("周五早上七点的飞机。", "07:00"),
        ("周五19点的飞机。", "19:00"),
        ("周五晚上八点出发。", "20:00"),
        ("周五七点半一起看电影。", "19:30"),
        ("周五八点开会。", "08:00"),
        ("周五三点看牙医。", "15:00"),
    ],
)
def test_words_and_kinds_of_events_tell_the_half_of_the_day(text: str, clock: str) -> None:
    assert told(text) == f"2026-11-27 {clock}"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Dinner is on Thursday at 7 and my choir sings on Friday at 8.", ["2026-11-26 19:00", "2026-11-27"]),
        ("My train leaves on Thursday at 6, dinner is on Friday at 8.", ["2026-11-26", "2026-11-27 20:00"]),
        ("周四七点吃晚饭，周五八点的飞机。", ["2026-11-26 19:00", "2026-11-27"]),
    ],
)
def test_what_is_told_of_another_date_tells_nothing_of_an_hour(text: str, days: list[str]) -> None:
    assert [one.iso for one in find_dates(text, SUNDAY, UTC)] == days


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("My train leaves on Friday at 6.", ("11-27 00:00", "My train leaves on 2026-11-27 at 6")),
        ("The school run starts on Monday at 7.", ("11-23 00:00", "The school run starts on 2026-11-23 at 7")),
        ("我周五6点的火车去杭州。", ("11-27 00:00", "我2026-11-27 6点的火车去杭州")),
    ],
)
def test_the_words_of_such_an_hour_are_kept(memory: Memory, text: str, stored: tuple[str, str]) -> None:
    assert events(memory, text) == [stored]


@pytest.mark.parametrize(
    ("lines", "moment"),
    [
        (("My flight leaves on Friday at 9am.", "The flight was moved to Saturday at 7."), "11-28 07:00"),
        (("My flight leaves on Friday at 9pm.", "The flight was moved to Saturday at 7."), "11-28 19:00"),
        (("My flight leaves on Friday at 9am.", "The flight was moved to Saturday at 1."), "11-28 13:00"),
        (("My flight leaves on Friday at 9am.", "The flight was moved to Saturday evening at 7."), "11-28 19:00"),
        (("My flight leaves on Friday at 9am.", "Sorry, I meant Saturday at 7."), "11-28 07:00"),
        (("My choir sings on Friday at 7 pm.", "The choir was moved to Thursday at 8."), "11-26 20:00"),
        (("Dinner with Ana is on Friday at 7.", "It was moved to Saturday at 8."), "11-28 20:00"),
        (("My flight leaves on Friday at 9am.", "The flight now leaves at 7."), "11-27 07:00"),
        (("My train leaves on Friday.", "The train is now at 6:40 pm."), "11-27 18:40"),
        (("我周五早上九点的飞机。", "飞机改到七点了。"), "11-27 07:00"),
    ],
)
def test_the_hour_of_a_moved_event_is_the_one_nearer_to_the_hour_before(
    memory: Memory, lines: tuple[str, ...], moment: str
) -> None:
    ((found, summary),) = events(memory, *lines)
    assert found == moment
    assert summary.count(moment[-5:]) <= 1


@pytest.mark.parametrize(
    ("lines", "stored"),
    [
        (
            ("My train leaves on Friday at 6.", "The train was moved to Saturday at 7."),
            ("11-28 00:00", "My train leaves on 2026-11-28 at 7"),
        ),
        (
            ("My train leaves on Friday at 6.", "The train was moved to Saturday."),
            ("11-28 00:00", "My train leaves on 2026-11-28"),
        ),
        (
            ("My train leaves on Friday at 6.", "The train is now at 8."),
            ("11-27 00:00", "My train leaves on 2026-11-27 at 8"),
        ),
        (
            ("My train leaves on Friday at 1 pm.", "The train was moved to Saturday at 7."),
            ("11-28 00:00", "My train leaves on 2026-11-28 at 7"),
        ),
        (
            ("My train leaves on Friday at 6.", "Sorry, I meant Saturday."),
            ("11-28 00:00", "My train leaves on 2026-11-28 at 6"),
        ),
        (
            ("我周六六点的火车去杭州。", "火车改到周日七点了。"),
            ("11-29 00:00", "我2026-11-29 七点的火车去杭州"),
        ),
    ],
)
def test_a_moved_event_whose_hour_stays_open_has_the_new_words_only(
    memory: Memory, lines: tuple[str, ...], stored: tuple[str, str]
) -> None:
    assert events(memory, *lines) == [stored]
