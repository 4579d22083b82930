"""Answers without a model quote a superseded fact only with the fact that superseded it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings, UserMemory

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    settings = Settings(background=False, mode="off")
    with Memory.open(tmp_path_factory.mktemp("superseded"), settings=settings) as opened:
        yield opened


def user_of(memory: Memory, *lines: str) -> tuple[UserMemory, list[str]]:
    """A user who says one line a day, and the ids of the steps."""
    user = memory.user(f"user{next(_USERS)}")
    ids: list[str] = []
    for day, line in enumerate(lines, 3):
        message = {"role": "user", "content": line, "timestamp": f"2026-05-{day:02d}T10:00:00+00:00"}
        ids += user.remember(message, "t").step_ids
    return user, ids


def learn(user: UserMemory, label: str, value: str, step: str, supersedes: str | None = None) -> str:
    item = {"kind": "core", "label": label, "value": value, "sources": [{"step_id": step}]}
    return user.add(item, supersedes=supersedes).id


@pytest.mark.parametrize(
    ("label", "lines", "values", "question"),
    [
        ("cat", ("I have a cat called Mio.", "Mio died last week."), ("Has a cat", "Mio died"), "Do I have a cat?"),
        (
            "employer",
            ("I work as a chef at the Ritz.", "They let me go."),
            ("Works at the Ritz as a chef", "Lost the job"),
            "Where do I work as a chef?",
        ),
    ],
)
def test_a_quoted_fact_comes_with_the_one_that_superseded_it(
    memory: Memory, label: str, lines: tuple[str, ...], values: tuple[str, str], question: str
) -> None:
    user, (first, second) = user_of(memory, *lines)
    learn(user, label, values[1], second, supersedes=learn(user, label, values[0], first))
    found = user.research(question)
    assert lines[0] in found.answer
    shown = [values[1], lines[1]]
    claim = next(one for one in found.evidence if one.text in shown)
    assert claim.passage_id in [one.id for one in found.passages]
    assert found.answer.index(lines[0]) < found.answer.index(claim.text)


def test_a_fact_that_superseded_another_statement_of_the_message_is_left_out(memory: Memory) -> None:
    user, (first, second) = user_of(
        memory, "I live in Bristol with my husband Marcus.", "We have taken a flat in Bath."
    )
    learn(user, "city", "Bath", second, supersedes=learn(user, "city", "Bristol", first))
    found = user.research("Is Marcus my husband?", 1, passages=1)
    assert "Marcus" in found.answer
    assert "Bath" not in found.answer


def test_of_a_time_before_the_change_the_answer_is_what_was_stated_then(memory: Memory) -> None:
    user, (first, second) = user_of(memory, "I work as a chef at the Ritz.", "They let me go.")
    learn(user, "employer", "No job", second, supersedes=learn(user, "employer", "The Ritz, as a chef", first))
    then = user.research("Where do I work as a chef?", as_of="2026-05-03T12:00:00+00:00")
    assert "Ritz" in then.answer
    assert "No job" not in then.answer
