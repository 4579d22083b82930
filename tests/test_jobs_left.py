"""A job that was left ends at its own place and on its own day, and not on the day of what is told beside it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexamem import UserMemory
from hexamem.agents.managers.rules.fact_dates import in_years
from hexamem.memory_types import CoreItem, MemoryItem

SMALL_TALK = ("The bus was late again.", "What should I cook tonight?", "Lovely, thanks.", "The soup was fine.") * 3


def told(user: UserMemory, *lines: str) -> UserMemory:
    """The user, who has said these lines on the fifth of May, all but the last on the fourth."""
    for place, line in enumerate(lines):
        at = f"2026-05-05T10:{place:02d}:00+00:00" if place == len(lines) - 1 else f"2026-05-04T10:{place:02d}:00+00:00"
        user.remember({"role": "user", "content": line, "timestamp": at}, "t")
        user.flush()
    return user


def _of(user: UserMemory, said: str) -> MemoryItem:
    [item] = [one for one in user.items(superseded=True) if one.text.endswith(f"\n{said}")]
    return item


@pytest.mark.parametrize(
    ("first", "later", "was", "until"),
    [
        ("I work at Siemens.", "I quit my job at Siemens and start at a school next month.", "Works at Siemens", "05-05"),
        ("I work at Siemens.", "I quit my job at Siemens, and I start at a school next month.", "Works at Siemens", "05-05"),
        ("I work at Siemens.", "Next month I start at a school, so I quit my job at Siemens.", "Works at Siemens", "05-05"),
        ("I work at Siemens.", "I left Siemens last Friday and start at Bosch on 1 June.", "Works at Siemens", "05-01"),
        ("I work at Siemens.", "I quit my job at Siemens and moved to Bonn in March.", "Works at Siemens", "03-01"),
        ("I work at Siemens.", "I left Siemens, effective 1 May.", "Works at Siemens", "05-01"),
        ("I work at Siemens.", "I quit my job at Siemens and my last day is 29 May.", "Works at Siemens", "2026-05-29"),
        ("I work at Siemens.", "I quit my job at Siemens, effective 29 May.", "Works at Siemens", "2026-05-29"),
        ("I work at Siemens.", "I quit my job at Siemens and my last day was 30 April.", "Works at Siemens", "2026-04-30"),
        ("I am a baker.", "I quit my job and start at a school next month.", "Is a baker", "05-05"),
        ("I work at the library.", "I lost my job at the library and begin a course in September.", "Works at the library",
         "05-05"),
        ("I live in Rome.", "I no longer live in Rome and fly to Oslo on Sunday.", "Lives in Rome", "05-05"),
        ("我在西门子工作。", "我离开西门子了，下个月去学校上班。", "在西门子工作", "05-05"),
    ],
)  # fmt: skip
def test_an_ending_is_dated_by_its_own_words(
    newcomer: UserMemory, first: str, later: str, was: str, until: str
) -> None:
    over = _of(told(newcomer, first, later), was)
    assert over.status == "superseded"
    assert f"{over.valid_to:%Y-%m-%d}".endswith(until)


@pytest.mark.parametrize(
    ("first", "later", "was"),
    [
        ("I work as a nurse at the AZ Maria hospital.", "I quit my job at the hospital.", "Works at AZ Maria hospital"),
        ("I work at the Kinderdijk library.", "I lost my job at the library.", "Works at Kinderdijk library"),
        ("I teach maths at Sint-Jan school.", "I left my job at the school.", "Teaches maths at Sint-Jan school"),
        ("I work at a hospital in Ghent.", "I gave up my post at the hospital.", "Works at a hospital in Ghent"),
        ("I work at Bolt.", "I resigned from my position at Bolt.", "Works at Bolt"),
        ("我在市图书馆工作。", "我从市图书馆辞职了。", "在市图书馆工作"),
        ("我在华为公司工作。", "我离开华为了。", "在华为公司工作"),
        ("我在腾讯当工程师。", "我离开了腾讯。", "在腾讯当工程师"),
    ],
)
def test_a_job_left_long_after_it_was_told_is_over(newcomer: UserMemory, first: str, later: str, was: str) -> None:
    assert _of(told(newcomer, first, *SMALL_TALK, later), was).status == "superseded"


@pytest.mark.parametrize(
    ("first", "later", "was"),
    [
        ("I work at Bolt Logistics.", "I quit my job at the hospital.", "Works at Bolt Logistics"),
        ("I work at the museum.", "I left the museum at noon.", "Works at the museum"),
        ("I work at the museum.", "My sister quit her job at the museum.", "Works at the museum"),
        ("I work as a nurse at the AZ Maria hospital.", "I quit my job at the hospital.", "Works as a nurse"),
        ("我在市图书馆工作。", "我离开家了。", "在市图书馆工作"),
        ("我在华为公司工作。", "我刚离开公司了，去接孩子。", "在华为公司工作"),
        ("我在一所学校工作。", "我离开学校了。", "在一所学校工作"),
        ("我在上海的一家银行工作。", "我刚离开上海了。", "在上海的一家银行工作"),
        ("My friend Eva works at the AZ Maria hospital.", "Eva lost her job at the zoo.",
         "Eva (friend) works at the AZ Maria hospital"),
    ],
)  # fmt: skip
def test_what_was_left_elsewhere_ends_no_job(newcomer: UserMemory, first: str, later: str, was: str) -> None:
    assert _of(told(newcomer, first, later), was).status == "active"


def test_somebody_told_by_their_relation_has_left_the_job_too(newcomer: UserMemory) -> None:
    user = told(newcomer, "My sister Eva works at the AZ Maria hospital.", "My sister quit her job at the hospital.")
    assert _of(user, "Eva (sister) works at the AZ Maria hospital").status == "superseded"
    assert _of(user, "Eva (sister) has left the job").status == "active"


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("Moved to Kent twenty-five years ago", "Moved to Kent in 2001"),
        ("Moved to Kent a couple of years ago", "Moved to Kent around 2024"),
        ("Moved to Kent two years ago", "Moved to Kent in 2024"),
        ("Moved to Kent one and a half years ago", "Moved to Kent one and a half years ago"),
        ("Moved to Kent some years ago", "Moved to Kent some years ago"),
    ],
)
def test_years_counted_in_words_are_told_as_a_year(said: str, then: str) -> None:
    assert in_years(said, datetime(2026, 5, 4, tzinfo=UTC), UTC) == then


def _held(user: UserMemory) -> list[str]:
    return sorted(item.value for item in user.items("core") if isinstance(item, CoreItem))


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("first", "later", "now"),
    [
        ("I teach maths at Sint-Jan school.", "I don't teach at Sint-Jan school any more.",
         ["No longer teaches at Sint-Jan school"]),
        ("I teach maths at Sint-Jan school.", "I no longer work at Sint-Jan school.", ["No longer works at Sint-Jan school"]),
        ("I teach maths at Sint-Jan school.", "I don't work at Sint-Jan school any more, I work at the observatory.",
         ["Works at the observatory"]),
        ("I work at Bolt.", "I left Bolt; since Friday I'm with Uber.", ["Works at Uber"]),
        ("I work at Bolt.", "I quit Bolt and now I'm at Uber.", ["Works at Uber"]),
        ("I teach maths at Sint-Jan school.", "I don't teach at Don Bosco school any more.",
         ["Teaches maths at Sint-Jan school", "Works at Sint-Jan school"]),
        ("I teach maths at Sint-Jan school.", "I don't teach at Sint-Jan school on Fridays.", None),
        ("I teach maths at Sint-Jan school.", "I no longer teach Latin at Sint-Jan school.",
         ["Teaches maths at Sint-Jan school", "Works at Sint-Jan school"]),
        ("I work at Bolt.", "I left Ben, and since Friday I'm with Tom.", ["Works at Bolt"]),
        ("I work at Bolt.", "Since Friday I'm with Tom in Wales.", ["Works at Bolt"]),
    ],
)  # fmt: skip
def test_what_one_was_there_ends_with_the_job_and_the_new_one_is_known(
    newcomer: UserMemory, first: str, later: str, now: list[str] | None, at_once: bool
) -> None:
    if at_once:
        lines = [{"role": "user", "content": line, "timestamp": "2026-05-05T10:00:00Z"} for line in (first, later)]
        newcomer.remember(lines, "t")
        newcomer.flush()
    else:
        told(newcomer, first, later)
    if now is None:
        assert {"Teaches maths at Sint-Jan school", "Works at Sint-Jan school"} <= set(_held(newcomer))
    else:
        assert _held(newcomer) == now
