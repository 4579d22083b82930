"""Questions in memory: what was asked before is no evidence for what is asked now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hexamem import Memory
from hexamem.agents.research_rules.asking import asks, is_courtesy, only_asks
from hexamem.agents.research_rules.integrating import NOT_HELD
from hexamem.agents.research_rules.question import read_question


@pytest.mark.parametrize(
    "text",
    [
        "When is Lea coming",
        "I have a dog. What is it called",
        "Tell me about Mia",
        "remind me when the dentist is",
        "Is the car ready",
        "I wonder what Lea said",
        "So, who is my boss",
        "我住在哪里",
        "我女儿叫什么名字",
        "wo wohne ich",
        "Toast?",
    ],
)
def test_questions_and_requests_ask(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "What a day!",
        "When I was young I lived in Rome.",
        "Where I live is nice.",
        "Remind me to call mum",
        "Have a nice day",
        "Do not forget the milk",
        "我住在上海。",
        "没什么",
    ],
)
def test_statements_and_exclamations_do_not(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize("text", ["Thanks!", "Ok, got it", "好的，谢谢", "Good morning!", "…", "🙂"])
def test_thanks_assent_and_greetings_are_courtesies(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize("text", ["Okra is nice", "Yes, I live in Rome", "Good soup tonight", "好吃的面馆在北京"])
def test_what_says_more_is_none(text: str) -> None:
    assert not is_courtesy(text)


@pytest.mark.parametrize(
    ("question", "sentence", "only"),
    [
        ("When is my dentist appointment?", "When is the dentist?", True),
        ("When is the dentist?", "When is the appointment at the dentist?", True),
        ("Where do I live?", "where do i live", True),
        ("我女儿叫什么名字？", "我女儿叫什么？", True),
        ("What is Mia allergic to?", "What can I cook for Mia, who is allergic to nuts?", False),
        ("When is the dentist?", "When do we leave for the dentist, at 9 on Friday?", False),
        ("Where does Mia go to school?", "Where Mia goes to school is Hangzhou.", False),
        ("When is the dentist?", "The dentist is on Friday.", False),
    ],
)
def test_a_question_that_asks_the_same_or_less_tells_nothing(question: str, sentence: str, only: bool) -> None:
    read = read_question(question, {"user"}, datetime(2025, 5, 1, tzinfo=UTC), UTC)
    assert only_asks(read, sentence) is only


def test_research_answers_by_what_was_told_and_not_by_what_was_asked(memory: Memory) -> None:
    user = memory.user("alice")
    user.remember(["When is the dentist?", "The dentist is on 4 May at 9.", "When is the dentist appointment?"])
    user.flush()
    found = user.research("When is my dentist appointment?")
    assert found.answerable
    assert {one.quote for one in found.evidence if one.speaker} == {"The dentist is on 4 May at 9."}


def test_a_memory_of_questions_alone_holds_no_answer(memory: Memory) -> None:
    user = memory.user("alice")
    user.remember(["When is the dentist?", "Who is my dentist?"])
    user.flush()
    found = user.research("When is my dentist appointment?")
    assert not found.answerable
    assert found.answer == NOT_HELD
