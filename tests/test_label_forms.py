"""Forms of a label's name: numbers, weekdays and dates in words and digits, in English and in Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.stores.label_forms import name_form


@pytest.mark.parametrize(
    "names",
    [
        ("Day 2", "day two", "DAY  2", "the second day", "2nd day", "第2天", "第二天", "第２天", "第2日"),
        ("Day 21", "day 21", "第二十一天", "the 21st day"),
        ("Week 3", "the third week", "第三周", "第3个星期"),
        ("Phase II", "phase 2", "Stage two", "第2阶段", "第二階段"),
        ("Saturday", "周六", "星期六", "sat"),
        ("8 May", "May 8th", "the 8th of May", "5月8日", "五月八号"),
        ("The 8th", "8号"),
        ("Last day", "the last day", "最后一天"),
    ],
)
def test_names_that_say_the_same_have_one_form(names: tuple[str, ...]) -> None:
    assert len({name_form(name) for name in names}) == 1


@given(st.text(max_size=12))
def test_the_form_of_a_name_is_its_own_form(name: str) -> None:
    assert name_form(name_form(name)) == name_form(name)


def test_names_that_say_different_things_have_different_forms() -> None:
    names = (
        "Day 2",
        "Day 12",
        "Week 2",
        "Days",
        "第3天",
        "周二",
        "第三周",
        "2 May",
        "Second",
        "Day 2 dinner",
        "第二天的晚饭",
    )
    assert len({name_form(name) for name in names}) == len(names)
