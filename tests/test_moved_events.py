"""A change moves or calls off the event that it names, and no other: "the meeting" is not when somebody starts school."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.agents.managers.rules.other_events import is_another

SCHOOL, PLUMBER = "My daughter Mia starts school in September.", "The plumber comes on Friday."
ROME, DENTIST = "We fly to Rome on Friday.", "I have a dentist appointment on Friday."
MEETING, LUND = "My team has a meeting on Friday.", "I see Dr Lund on Friday."


@pytest.mark.parametrize(
    ("earlier", "change"),
    [
        (SCHOOL, "The meeting was moved to Thursday."),
        (SCHOOL, "The meeting is cancelled."),
        (SCHOOL, "Sorry, the exam is on Thursday."),
        (SCHOOL, "Unfortunately our flight has been moved to Thursday."),
        (PLUMBER, "The flight was moved to Thursday."),
        (ROME, "My appointment was moved to Thursday."),
        (ROME, "The meeting's been cancelled."),
        (DENTIST, "The match was moved to Thursday."),
        (MEETING, "The concert is cancelled."),
        (LUND, "The release was postponed to Thursday."),
        ("Sam's birthday is on Friday.", "The exam was moved to Thursday."),
        ("The parcel arrives on Friday.", "My lesson was moved to Thursday."),
        ("I'm going to Prague on Friday.", "Yoga has been moved to Thursday."),
        ("I'm going to Prague on Friday.", "Choir is now on Thursday at 7."),
        ("I'm going to Prague on Friday.", "Training is cancelled."),
        ("Dinner with Ana is on Saturday.", "The lunch with Ana is moved to Sunday."),
    ],
)
def test_a_change_of_something_else_leaves_an_event_as_it_was(newcomer: UserMemory, earlier: str, change: str) -> None:
    newcomer.remember(earlier)
    newcomer.memory.flush()
    told = [item.text for item in newcomer.items("episodic")]
    newcomer.remember(change)
    newcomer.memory.flush()
    assert len(told) == 1
    after = [item.text for item in newcomer.items("episodic")]
    assert after[0] == told[0]


@pytest.mark.parametrize(
    ("earlier", "change"),
    [
        (SCHOOL, "It was moved to Thursday."),
        (SCHOOL, "The start was moved to Thursday."),
        (SCHOOL, "School was moved to Thursday."),
        (PLUMBER, "The appointment was moved to Thursday."),
        (PLUMBER, "He had to move it to Thursday."),
        (ROME, "The flight was moved to Thursday."),
        (ROME, "The trip has been moved to Thursday."),
        (DENTIST, "The appointment was moved to Thursday."),
        (MEETING, "The meeting got moved to Thursday."),
        (LUND, "The meeting was moved to Thursday."),
        ("There is a party at Sam's on Friday.", "The party is moved to Thursday."),
        ("Sam's birthday is on Friday.", "The party was moved to Thursday."),
        ("Our match against Leeds is on Friday.", "The game was moved to Thursday."),
        ("We launch the new site on Friday.", "The release was moved to Thursday."),
        ("我周五有个面试。", "面试改到周四了。"),
        ("I'm going to Prague on Friday.", "The trip is moved to Thursday."),
        ("Dinner with Ana is on Saturday.", "Ana has moved it to Sunday."),
        ("Dinner with Ana is on Saturday.", "The table is moved to Sunday."),
        ("Yoga is on Friday.", "Yoga is now on Thursday."),
    ],
)
def test_a_change_that_may_be_of_an_event_is_of_no_other(earlier: str, change: str) -> None:
    assert not is_another(change, earlier)


def test_what_is_changed_by_its_name_is_moved(newcomer: UserMemory) -> None:
    newcomer.remember([DENTIST, "The appointment was moved to Saturday."])
    newcomer.memory.flush()
    (moved,) = newcomer.items("episodic")
    assert moved.text.startswith("I have a dentist appointment on ")
    (first, *_) = newcomer.items("episodic", superseded=True)
    assert first.text != moved.text


@pytest.mark.parametrize(
    ("earlier", "change", "day"),
    [
        ("My flight to Lagos is on 20 December at 7:45.", "The flight was postponed to the 22nd.", "2026-12-22"),
        ("The exam is on 15 January.", "The exam is moved to the 20th.", "2027-01-20"),
        ("The exam is on 30 November.", "The exam is moved to the 2nd.", "2026-12-02"),
        ("The exam is on 2 December.", "The exam is moved to the 30th.", "2026-11-30"),
        ("考试是1月15号。", "考试改到20号了。", "2027-01-20"),
    ],
)
def test_a_bare_day_of_the_month_is_the_one_nearest_to_the_event(
    newcomer: UserMemory, earlier: str, change: str, day: str
) -> None:
    said = [(earlier, "2026-11-22T10:00:00Z"), (change, "2026-11-22T10:05:00Z")]
    for text, moment in said:
        newcomer.remember([{"role": "user", "content": text, "timestamp": moment}])
        newcomer.memory.flush()
    (event,) = newcomer.items("episodic")
    assert day in event.text


@pytest.mark.parametrize("text", ["我妈妈是老师。", "我爸爸是医生，妈妈是老师。", "我儿子是老师。", "我女儿是老板。"])
def test_what_somebody_is_is_not_their_name(newcomer: UserMemory, text: str) -> None:
    newcomer.remember(text)
    newcomer.memory.flush()
    told = [item.text for item in newcomer.items()]
    assert not any("老师是" in one or "：老师" in one or "：老板" in one or "老板是" in one for one in told)
