"""Taking a question apart: what joins several is found in both languages, and what joins nothing stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.retrieval.decomposition import MOST_PARTS, bridge_question, parts_of


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("What did the crown cost, and which club did Nora join?", ("the crown cost", "club did Nora join")),
        ("牙冠花了多少钱，诺拉加入了哪个俱乐部？", ("牙冠", "俱乐部")),
        ("How much more did the tent cost than the stove?", ("tent", "stove")),
        ("Where did Iris stay before she moved to Porto?", ("moved to Porto", "Iris stay")),
        ("What does the cousin who moved to Lyon do for a living?", ("cousin who moved to Lyon",)),
        ("搬到里昂之后她找到了什么工作？", ("搬到里昂",)),
        ("这次的房租比上次的押金多多少？", ("这次的房租", "上次的押金")),
    ],
)
def test_what_is_joined_is_taken_apart(question: str, held: tuple[str, ...]) -> None:
    parts = parts_of(question)
    for words in held:
        assert any(words in part for part in parts), parts


def test_the_same_asked_of_two_people_is_asked_of_each() -> None:
    parts = parts_of("Which instruments do Iris and Nora play?", ["Iris", "Nora"])
    assert any("Iris" in part and "Nora" not in part for part in parts)
    assert any("Nora" in part and "Iris" not in part for part in parts)


@pytest.mark.parametrize("question", ["What colour is the tent?", "帐篷是什么颜色的？", "Who is Nora?", "", "?!"])
def test_what_joins_nothing_has_no_parts(question: str) -> None:
    assert parts_of(question) == ()


@given(st.text(max_size=300), st.lists(st.text(max_size=8), max_size=3))
def test_any_text_has_few_parts_and_none_is_empty(question: str, named: list[str]) -> None:
    parts = parts_of(question, named)
    assert len(parts) <= MOST_PARTS
    assert all(part.strip() for part in parts)


def test_the_second_round_asks_with_names_that_the_first_one_found() -> None:
    texts = ["Iris: I ran into Benedikt at the Cafe Aurora.", "Iris: yes, with Benedikt again"]
    asked = bridge_question("Whom did Iris meet?", texts, ["Iris"])
    assert asked is not None
    assert "Benedikt" in asked
    assert asked.startswith("Whom did Iris meet?")
    assert bridge_question("Whom did Iris meet?", ["Iris: nobody, on Monday."], ["Iris"]) is None
