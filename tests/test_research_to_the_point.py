"""An answer by rules holds what has to do with the question, and not whatever came third."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory

SAID = [
    "I'm training for a half marathon in October",
    "Great! How is training going?",
    "Good, 30 km a week. My knee hurts sometimes",
    "Maybe see a physio about the knee?",
    "I will. We had pizza yesterday with Ana",
    "Yum, what kind of pizza?",
    "Margherita. My brother Leo moved to Ghent",
    "How does Leo like Ghent?",
    "He loves it. I bought a blue bike for 300 euros",
    "Is the bike for the commute?",
    "Yes. The landlord raised the rent to 950 euros",
    "That's a lot!",
]


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A user after one short talk with an assistant."""
    with Memory.open(tmp_path_factory.mktemp("point"), settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember(
            [
                {"role": ("user", "assistant")[at % 2], "content": text, "timestamp": f"2025-03-12T09:{at:02}:00Z"}
                for at, text in enumerate(SAID)
            ]
        )
        user.flush()
        yield user


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("When is the half marathon?", "half marathon in October"),
        ("What is the rent?", "950 euros"),
        ("What hurts?", "My knee hurts"),
        ("Where does my brother live?", "Ghent"),
        ("Who did I have pizza with?", "with Ana"),
    ],
)
def test_a_plain_question_is_answered_by_the_one_sentence_that_says_it(
    ann: UserMemory, question: str, holds: str
) -> None:
    answer = ann.research(question).answer
    assert holds in answer
    assert len(answer.splitlines()) == 1


def test_what_an_assistant_asked_back_is_no_answer(ann: UserMemory) -> None:
    for question in ("What pizza did we have?", "Where is Leo?", "What bike did I buy?"):
        assert "?" not in ann.research(question).answer


def test_a_question_of_several_things_is_answered_from_several_places(ann: UserMemory) -> None:
    answer = ann.research("What things did I pay for in euros, and how much?").answer
    assert "300 euros" in answer
    assert "950 euros" in answer


def test_the_best_sentence_stays_where_others_hold_more_words_of_the_question(tmp_path: Path) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        user = memory.user("bo")
        user.remember(["I just started at Siemens as a data engineer, before that I was at Bosch"])
        user.flush()
        assert "Bosch" in user.research("Where did I work before?").answer
