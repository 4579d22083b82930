"""What people ask of their work and their food in other words than it was told, without a model."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.agents.asked_facts import AskedFact, read_asked
from hexamem.agents.research_rules.living import with_plain_work
from hexamem.agents.research_rules.own_facts import asked_slots
from hexamem.chat_replies import reply_by_evidence

WORK = ("I live in Dresden.", "My sister Karen lives in Lisbon.", "I work as a nurse at the Uniklinik.")


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody who has said nothing yet."""
    return labelled_newcomer


def ask(user: UserMemory, question: str, *said: str) -> str:
    user.remember(list(said))
    user.flush()
    return reply_by_evidence(user, user.research(question, 2, calls=0))


@pytest.mark.parametrize(
    "question",
    [
        "Where do I earn my living?",
        "Where do I make a living?",
        "Where do I earn my own bread?",
        "Where am I employed these days?",
        "Who is my employer these days?",
        "Who pays my salary?",
        "我在哪里谋生？",
    ],
)
def test_who_asks_for_their_work_in_other_words_is_told_the_employer_and_no_home(
    alice: UserMemory, question: str
) -> None:
    reply = ask(alice, question, *WORK)
    assert reply.startswith("From memory:")
    assert "Uniklinik" in reply
    assert "Dresden" not in reply
    assert "Lisbon" not in reply


def test_who_asks_how_they_earn_their_living_is_told_the_job(alice: UserMemory) -> None:
    reply = ask(alice, "How do I earn my living?", *WORK)
    assert "nurse" in reply
    assert "Dresden" not in reply
    assert "Lisbon" not in reply


def test_where_no_work_was_told_the_home_is_no_answer_to_how_they_earn_their_living(alice: UserMemory) -> None:
    assert "From memory" not in ask(alice, "Where do I earn my living?", *WORK[:2])


@pytest.mark.parametrize("question", ["Where am I living?", "Where do I live?", "Which city am I living in?"])
def test_living_somewhere_is_still_where_one_lives(alice: UserMemory, question: str) -> None:
    reply = ask(alice, question, *WORK)
    assert "Dresden" in reply
    assert "Uniklinik" not in reply


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("Where does Karen earn her living?", "Where does Karen work?"),
        ("Where has he made his living?", "Where has he worked?"),
        ("What do I do for a living?", "What do I do for work?"),
        ("Where do I earn my wages these days?", "Where do I work these days?"),
        ("Where do I make my bread?", "Where do I make my bread?"),
        ("Where am I living?", "Where am I living?"),
        ("Did we make a living room plan?", "Did we make a living room plan?"),
        ("Who made my bread rolls and earned a medal?", "Who made my bread rolls and earned a medal?"),
        ("我靠什么谋生？", "我靠什么谋生？"),
    ],
)
def test_earning_a_living_is_read_as_working_and_nothing_else_is(question: str, plain: str) -> None:
    assert with_plain_work(question) == plain


def test_somebody_elses_living_is_asked_of_them() -> None:
    assert read_asked("Where does Karen earn her living?") == AskedFact(("employer",), "Karen")


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        ("我对花生过敏。", "我不能吃什么？", "花生"),
        ("我对花生过敏。", "什么东西我不能吃？", "花生"),
        ("我对花生过敏。", "我不可以吃哪些东西?", "花生"),
        ("I am allergic to peanuts.", "What can't I eat?", "peanuts"),
        ("I am allergic to fish.", "What should I not eat?", "fish"),
        ("I don't eat mushrooms.", "Which foods am I not allowed to eat?", "mushrooms"),
        ("I am allergic to peanuts.", "我不能吃什么？", "peanuts"),
    ],
)
def test_what_may_not_be_eaten_is_told_by_the_allergy_and_by_what_is_avoided(
    alice: UserMemory, said: str, question: str, answer: str
) -> None:
    reply = ask(alice, question, "I live in Dresden.", said)
    assert reply.startswith("From memory:")
    assert answer in reply
    assert "Dresden" not in reply


@pytest.mark.parametrize(
    "said", ["I am allergic to pollen.", "I am allergic to cats.", "我对花粉过敏。", "I don't drink alcohol."]
)
def test_what_is_no_food_is_no_answer_to_what_may_not_be_eaten(alice: UserMemory, said: str) -> None:
    assert "From memory" not in ask(alice, "What can't I eat?", "I live in Dresden.", said)


@pytest.mark.parametrize(
    "question",
    [
        "What can't I eat at the Mundial?",
        "What can't Karen eat?",
        "What can I eat?",
        "What did I not eat?",
        "What do I eat?",
        "她不能吃什么？",
        "我吃什么？",
        "我不能吃什么药？",
        "How do I work the coffee machine?",
        "Who pays my rent?",
    ],
)
def test_other_questions_ask_for_no_slot(question: str) -> None:
    assert asked_slots(question) == ()
