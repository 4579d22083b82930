"""What is regular and moves to another day of the week stays as it was: its hour, and how it was told."""

from __future__ import annotations

from datetime import time

import pytest

from hexamem import UserMemory
from hexamem.agents.applying.predicates import stated_by
from hexamem.agents.applying.weekdays import on_other_day
from hexamem.intent.dates.hours_chinese import chinese_hour


def believed(user: UserMemory, *lines: str, at_once: bool = False) -> list[str]:
    """What is believed once a user has said these lines, a day apart."""
    for day, line in enumerate(lines, 4):
        user.remember({"role": "user", "content": line, "timestamp": f"2026-05-{day:02d}T10:00:00+00:00"}, "t")
        if not at_once:
            user.flush()
    user.flush()
    return [item.text.split("\n")[1] for item in user.items() if item.kind in ("core", "semantic")]


MOVED = [
    ("I have choir at 7 on Tuesdays.", "Choir is on Wednesdays now.", "Has choir at 7 on Wednesdays"),
    ("I go to choir at 7 on Tuesdays.", "Choir moved to Wednesdays.", "Goes to choir at 7 on Wednesdays"),
    ("I have choir at 7 on Tuesdays.", "From now on choir is on Wednesdays.", "Has choir at 7 on Wednesdays"),
    ("I have choir at 7 on Tuesdays.", "Choir is on Wednesdays now, not Tuesdays.", "Has choir at 7 on Wednesdays"),
    ("I have choir at 7 on Tuesdays.", "Choir isn't on Tuesdays any more, it's on Wednesdays.",
     "Has choir at 7 on Wednesdays"),
    ("My yoga class is on Tuesdays at half past six.", "My yoga class is on Thursdays now.",
     "My yoga class is on Thursdays at half past six"),
    ("Our team meeting is at 10 on Mondays.", "Our team meeting is on Fridays now.", "Our team meeting is at 10 on Fridays"),
    ("My piano lesson is at 16:00 on Mondays.", "My piano lesson has moved to Fridays.", "My piano lesson is at 16:00 on Fridays"),
    ("I have choir at 7pm on Tuesdays.", "Choir moved to Wednesdays.", "Has choir at 7pm on Wednesdays"),
    ("I have choir at 7 pm on Tuesdays.", "Choir is on Wednesdays now.", "Has choir at 7 pm on Wednesdays"),
    ("I have choir at half past six on Tuesdays.", "Choir is on Wednesdays now.",
     "Has choir at half past six on Wednesdays"),
    ("我每周二晚上七点上瑜伽课。", "瑜伽课现在在周四。", "每周四晚上七点上瑜伽课"),
    ("我每周二七点有合唱团。", "合唱团改到周三了。", "每周三七点有合唱团"),
]  # fmt: skip


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(("first", "later", "now"), MOVED)
def test_what_moves_to_another_weekday_keeps_its_hour(
    newcomer: UserMemory, first: str, later: str, now: str, *, at_once: bool
) -> None:
    held = believed(newcomer, first, later, at_once=at_once)
    assert now in held
    assert not [one for one in held if "Tuesday" in one and "not Tuesdays" not in one]


@pytest.mark.parametrize(
    ("first", "later", "now"),
    [
        ("I have choir at 7 on Tuesdays.", "Choir is on Wednesdays at 8 now.", "Has Choir on Wednesdays at 8"),
        ("I have choir at 7 on Tuesdays.", "Piano is on Wednesdays now.", "Has choir at 7 on Tuesdays"),
        ("I have choir at 7 on Tuesdays.", "My sister's choir is on Wednesdays now.", "Has choir at 7 on Tuesdays"),
        ("I have choir at 7 on Tuesdays and Thursdays.", "Choir is on Wednesdays now.",
         "Has choir at 7 on Tuesdays and Thursdays"),
        ("I have choir at 7 on Tuesdays.", "The choir concert is on Wednesday.", "Has choir at 7 on Tuesdays"),
    ],
)  # fmt: skip
def test_an_hour_told_anew_or_something_else_takes_no_old_hour(
    newcomer: UserMemory, first: str, later: str, now: str
) -> None:
    assert now in believed(newcomer, first, later)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Plays tennis at 6 on Mondays", "Swims on Fridays"),
        ("Has choir at 7 on Tuesdays", "Has choir on Tuesdays"),
        ("Has choir at 7 on Tuesdays", "Has choir with Ana on Wednesdays"),
        ("Has choir at 7 on Tuesdays", "Has choir"),
        ("每周二七点有合唱团", "每周三有画画课"),
    ],
)
def test_what_tells_more_or_the_same_day_is_no_move(known: str, said: str) -> None:
    assert on_other_day(known, said) == ""


def test_what_moves_to_a_weekday_has_no_home_there() -> None:
    assert stated_by("Choir moved to Wednesdays") is None
    assert stated_by("Choir has moved to Friday") is None


@pytest.mark.parametrize(
    ("said", "hour"), [("周二七点", time(7)), ("星期三八点半", time(8, 30)), ("礼拜四十点", time(10))]
)
def test_an_hour_behind_a_chinese_weekday_is_its_own_number(said: str, hour: time) -> None:
    found = chinese_hour(said)
    assert found is not None
    assert found.face == hour
