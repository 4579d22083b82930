"""A name that was a slip is put right wherever it was learned from the words that were wrong, and no other name is touched."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import CoreItem, SemanticItem


def believed(user: UserMemory, *said: str) -> list[str]:
    """What is believed after messages that are read one after the other."""
    for text in said:
        user.remember({"role": "user", "content": text, "timestamp": "2026-03-02T10:00:00Z"})
        user.memory.flush()
    items = user.items()
    return sorted(
        item.value if isinstance(item, CoreItem) else item.summary if isinstance(item, SemanticItem) else item.text
        for item in items
    )


SLIPS = [
    ("My aunt is called Marta.", "Sorry, I meant Greta.", "Greta is the user's aunt"),
    ("My brother's name is Luis.", "No wait, Lucas.", "Lucas is the user's brother"),
    ("I work at Lufthansa.", "I mean Condor.", "Works at Condor"),
    ("I live in Leeds.", "Oops, I should have said Bradford.", "Lives in Bradford"),
    ("My cat is called Minka.", "Sorry, I meant Mimi.", "Has a cat called Mimi"),
    ("我妹妹叫佩特拉。", "不对，我是说宝拉。", "宝拉是用户的妹妹"),
    ("我在西门子工作。", "说错了，应该是博世。", "在博世工作"),
]


@pytest.mark.parametrize("in_one", [True, False])
@pytest.mark.parametrize(("first", "slip", "now"), SLIPS)
def test_a_name_that_was_a_slip_is_put_right(
    newcomer: UserMemory, first: str, slip: str, now: str, in_one: bool
) -> None:
    told = believed(newcomer, f"{first} {slip}") if in_one else believed(newcomer, first, slip)
    wrong = first.rstrip(".。").split()[-1] if first.isascii() else first[4:-1]
    assert now in told
    assert not any(wrong in one for one in told)


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("My aunt is called Marta - no wait, Greta.", "Greta is the user's aunt"),
        ("I work at Lufthansa, I mean Condor.", "Works at Condor"),
        ("My aunt is called Marta, or rather Greta.", "Greta is the user's aunt"),
        ("My aunt Marta lives in Leeds, I mean Bradford.", "Marta (aunt) lives in Bradford"),
        ("My aunt is called Marta, no sorry, Greta. My aunt lives in Bonn.", "Greta (aunt) lives in Bonn"),
        ("我妹妹叫佩特拉，不对，是宝拉。", "宝拉是用户的妹妹"),
    ],
)
def test_a_slip_put_right_in_its_own_sentence_is_of_the_name_before_it(
    newcomer: UserMemory, text: str, now: str
) -> None:
    assert now in believed(newcomer, text)


def test_what_was_told_of_the_wrong_name_before_stays(newcomer: UserMemory) -> None:
    told = believed(newcomer, "My cousin Marta is a nurse.", "I asked Marta for help. Sorry, I meant Greta.")
    assert told == ["Marta (cousin) is a nurse"]


def test_an_event_is_with_whom_it_was_meant_to_be(newcomer: UserMemory) -> None:
    told = believed(newcomer, "I have dinner with Ana on 20 March.", "Sorry, I meant Eva.")
    assert [one.partition("\n")[0] for one in told] == ["I have dinner with Eva on 2026-03-20"]


@pytest.mark.parametrize(
    "later",
    [
        "Sorry, Greta!",
        "When I said my boss, I meant Greta.",
        "I mean it.",
        "I meant to call Greta.",
        "Did I say I meant Greta?",
        "Greta meant well.",
        "No, Greta.",
        "I never meant Greta.",
    ],
)
def test_words_that_put_no_name_right_change_none(newcomer: UserMemory, later: str) -> None:
    assert "Marta is the user's aunt" in believed(newcomer, "My aunt is called Marta.", later)


def test_of_two_names_neither_is_taken_for_the_slip(newcomer: UserMemory) -> None:
    told = believed(newcomer, "My aunt Marta lives in Leeds.", "Sorry, I meant Greta.")
    assert "Marta (aunt) lives in Leeds" in told
