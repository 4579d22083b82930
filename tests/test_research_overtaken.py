"""Answers by rules do not leave what was said without what took its place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings, UserMemory

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("overtaken"), settings=Settings(background=False)) as opened:
        yield opened


def told(memory: Memory, *lines: str) -> UserMemory:
    user = memory.user(f"user{next(_USERS)}")
    for day, line in enumerate(lines, 3):
        user.remember({"role": "user", "content": line, "timestamp": f"2026-05-{day:02d}T10:00:00+00:00"}, "t")
    user.flush()
    return user


@pytest.mark.parametrize(
    ("lines", "question", "now"),
    [
        (("I work as a chef at Ritz.", "I lost my job."), "Where do I work?", "Lost their job"),
        (("I have a cat called Mio.", "I like tea.", "Mio died last week."), "Do I have a cat?", "Mio died"),
        (
            ("My girlfriend Ingrid lives in Copenhagen.", "I like tea.", "Ingrid and I broke up."),
            "Do I have a girlfriend?",
            "Separated from Ingrid",
        ),
    ],
)
def test_what_was_said_is_told_with_what_ended_it(
    memory: Memory, lines: tuple[str, ...], question: str, now: str
) -> None:
    found = told(memory, *lines).research(question)
    assert now in found.answer
    claim = next(one for one in found.evidence if one.text == now)
    assert claim.passage_id in [one.id for one in found.passages]
    assert found.answer.count(now) == 1


def test_what_took_the_place_of_something_else_that_was_said_is_left_out(memory: Memory) -> None:
    user = told(memory, "I live in Bristol with my husband Marcus.", "I like tea.", "We moved to Bath.")
    assert "Bath" not in user.research("What is my husband called?").answer


def test_a_question_about_somebody_gets_nothing_of_what_the_user_did_since(memory: Memory) -> None:
    user = told(
        memory,
        "I work as a structural engineer at Harland Bridges.",
        "My sister Beth got a job at a bakery in Cardiff.",
        "Beth has quit the bakery; she works at a bike shop in Newport now.",
        "I got an offer from Arkwright Consulting. I start there on 20 May as lead engineer.",
        "First day at Arkwright, it went well.",
    )
    assert "Works at Arkwright" in [getattr(item, "value", "") for item in user.items("core")]
    assert "Arkwright" not in user.research("Where does Beth work?").answer


def test_of_the_past_the_answer_is_what_was_said_then(memory: Memory) -> None:
    user = told(memory, "I work as a chef at Ritz.", "I like tea.", "I lost my job.")
    assert "Lost their job" not in user.research("Where did I work before?").answer
    then = user.research("Where do I work?", as_of="2026-05-03T12:00:00+00:00")
    assert "Lost their job" not in then.answer
