"""How old somebody is, told anew, takes the place of what was known, in the line of the child too; nobody else ages along."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.agents.managers.rules.ages import with_age

from .told_and_believed import believed

SMALL_TALK = ("The bus was late again.", "What should I cook tonight?", "Lovely, thanks.", "The soup was fine.") * 3
KIDS = "I have two kids, Lotte is ten and Levi is six."
LISTED = "My kids are Lotte (10) and Levi (6)."


def told(user: UserMemory, *lines: str, at_once: bool = False) -> UserMemory:
    """The user, who has said these lines on the fifth of May, all but the last on the fourth."""
    for place, line in enumerate(lines):
        day = 5 if place == len(lines) - 1 else 4
        user.remember({"role": "user", "content": line, "timestamp": f"2026-05-{day:02d}T10:{place:02d}:00+00:00"}, "t")
        if not at_once:
            user.flush()
    user.flush()
    return user


AGES = [
    (KIDS, "Lotte is eleven and Levi is seven.", ("Lotte (child) is ten", "Levi (child) is six"),
     ("Child: Lotte, aged eleven", "Child: Levi, aged seven", "Lotte (child) is eleven", "Levi (child) is seven")),
    (LISTED, "Lotte is eleven and Levi is seven.", ("Child: Lotte, aged 10", "Child: Levi, aged 6"),
     ("Child: Lotte, aged eleven", "Child: Levi, aged seven")),
    (KIDS, "Lotte has just turned eleven.", ("Lotte (child) is ten", "Child: Lotte, aged ten"),
     ("Lotte (child) is eleven", "Child: Lotte, aged eleven", "Levi (child) is six", "Child: Levi, aged six")),
    ("My daughter Lotte is eleven.", "Lotte turned twelve yesterday.", ("Lotte (daughter) is eleven",),
     ("Lotte (daughter) is twelve", "Daughter: Lotte")),
    ("My daughter Lotte is 11 years old.", "Lotte is 12 now.", ("Lotte (daughter) is 11 years old",), ("Daughter: Lotte",)),
    ("My son Levi is 7.", "My son Levi turned 8 last week.", ("Levi (son) is 7",), ("Levi (son) is 8", "Son: Levi")),
    ("My sister Ana is thirty.", "Ana turned 31 last week.", ("Ana (sister) is thirty",), ("Ana (sister) is 31",)),
    ("我女儿小美今年八岁。", "小美昨天满九岁了。", ("小美（女儿）今年八岁", "女儿：小美，今年八岁"),
     ("小美（女儿）今年九岁", "女儿：小美，今年九岁")),
]  # fmt: skip


@pytest.mark.parametrize("between", [(), SMALL_TALK])
@pytest.mark.parametrize(("first", "later", "was", "now"), AGES)
def test_an_age_told_anew_takes_the_place_of_the_old_one(
    newcomer: UserMemory, first: str, later: str, was: tuple[str, ...], now: tuple[str, ...], between: tuple[str, ...]
) -> None:
    held = believed(told(newcomer, first, *between, later))
    assert not set(was) & set(held)
    if not (between and first == LISTED):
        assert set(now) <= set(held)


def test_ages_told_in_one_batch_take_each_others_place(newcomer: UserMemory) -> None:
    held = believed(told(newcomer, KIDS, "Lotte is eleven.", at_once=True))
    assert {"Child: Lotte, aged eleven", "Lotte (child) is eleven", "Child: Levi, aged six"} <= set(held)
    assert "Child: Lotte, aged ten" not in held


def test_an_age_holds_from_the_birthday_that_is_told(newcomer: UserMemory) -> None:
    user = told(newcomer, "My daughter Lotte is eleven.", "Lotte turned twelve yesterday.")
    [now] = [item for item in user.items("semantic") if item.text.endswith("is twelve")]
    assert f"{now.valid_from:%Y-%m-%d}" == "2026-05-04"


def test_a_child_named_again_without_an_age_keeps_it(newcomer: UserMemory) -> None:
    held = believed(told(newcomer, LISTED, "Lotte is eleven.", "My daughter Lotte plays the cello."))
    assert [one for one in held if "Lotte, aged eleven" in one]


@pytest.mark.parametrize(
    "later",
    [
        "Lotte is eleven minutes late.",
        "Lotte is almost eleven.",
        "Lotte turns eleven tomorrow.",
        "Lotte will be eleven in June.",
        "Lotte turned two in 2018.",
        "Lotte was nine then.",
        "Lotte is eleven on Friday.",
        "Lotte is eleven in April.",
        "Lotte is 39° today, poor thing.",
        "Lotte is 40% today.",
        "Lotte's friend Noor is eleven.",
        "Is Lotte eleven?",
        "Noor is eleven.",
        "My neighbour's son is eleven.",
    ],
)
def test_what_tells_no_age_of_a_child_leaves_it(newcomer: UserMemory, later: str) -> None:
    held = believed(told(newcomer, KIDS, later))
    assert {"Child: Lotte, aged ten", "Lotte (child) is ten", "Child: Levi, aged six"} <= set(held)


def test_an_age_of_nobody_known_makes_no_child(newcomer: UserMemory) -> None:
    assert not [
        one
        for one in believed(told(newcomer, "Noor turned eleven.", "Room is 12.", "我今年三十二岁。"))
        if "Noor" in one
    ]
    assert not [item for item in newcomer.items("core") if item.text.startswith("child")]


@pytest.mark.parametrize(
    ("line", "age", "then"),
    [
        ("Child: Lotte, aged ten", "eleven", "Child: Lotte, aged eleven"),
        ("Lotte (child) is ten", "11", "Lotte (child) is 11"),
        ("Child: Lotte, aged ten", "10", ""),
        ("Daughter: Lotte", "10", ""),
        ("女儿：小美，今年八岁", "八岁半", "女儿：小美，今年八岁半"),
    ],
)
def test_a_line_tells_another_age_only_where_it_tells_one(line: str, age: str, then: str) -> None:
    assert with_age(line, age) == then
