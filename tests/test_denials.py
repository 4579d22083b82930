"""Denials: "it isn't on the 4th, it's on the 11th" puts right what was said, and is nothing to remember itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hexamem import Memory, Settings
from hexamem.memory_types import EpisodicItem, SemanticItem

from .test_rule_managers import batch, proposed, summaries

TALK = EpisodicItem(
    occurred_at=datetime(2025, 4, 4, 14, tzinfo=UTC),
    summary="A talk on gravitational waves on 2025-04-04 at 14:00 (2025-04-04 14:00)",
    metadata={"slot": "event:step_x:30", "value": "2025-04-04 14:00"},
)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (["The talk is on 4 April at 14:00.", "The talk isn't on 4 April, it's on 11 April."],
         ["The talk is on 2025-04-11 at 14:00 (2025-04-11 14:00)"]),
        (["The talk is on 4 April.", "The talk isn't on the 4th. It's on the 11th of April."], ["The talk is on 2025-04-11"]),
        (["My talk is on 4 April.", "Small correction: it is not on 4 April but on 11 April."], ["My talk is on 2025-04-11"]),
        (["The dentist is on Friday.", "The dentist isn't on Friday but on Monday."], ["The dentist is on 2025-03-10"]),
        (["Our exam is on 12 May.", "The exam is on 14 May, not 12 May."], ["Our exam is on 2025-05-14"]),
        (["The exam was on Monday.", "The exam wasn't on Monday, it was on Sunday."], ["The exam was on 2025-03-02"]),
        (["讲座在4月4号。", "讲座不是4月4号，是4月11号。"], ["讲座在2025-04-11"]),
        (["我的讲座在4月4日。", "讲座不在4月4日，在4月11日。"], ["我的讲座在2025-04-11"]),
    ],
)  # fmt: skip
def test_a_day_that_is_denied_is_put_right(turns: Sequence[str], expected: list[str]) -> None:
    assert summaries("episodic", *turns) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The talk isn't on 4 April, it's on 11 April.", ["The talk is on 2025-04-11"]),
        ("The course doesn't start on 4 April, it starts on 11 April.", ["The course starts on 2025-04-11"]),
        ("We're not flying on 4 April, we're flying on 11 April.", ["We're flying on 2025-04-11"]),
        ("I don't fly on 4 April but on 11 April.", ["I fly on 2025-04-11"]),
        ("讲座不是4月4号，是4月11号。", ["讲座是2025-04-11"]),
        ("The talk isn't on 4 April.", []),
        ("It isn't on 4 April, it's on 11 April.", []),
        ("讲座不在4月4日。", []),
    ],
)
def test_a_denial_is_no_event(text: str, expected: list[str]) -> None:
    assert summaries("episodic", text) == expected


def test_a_denial_leaves_another_event_of_that_day_alone() -> None:
    assert summaries("episodic", "I have the dentist on 4 April.", "The talk isn't on 4 April, it's on 11 April.") == [
        "I have the dentist on 2025-04-04",
        "The talk is on 2025-04-11",
    ]


@pytest.mark.parametrize(
    "text", ["I'm not in the office on 4 April.", "I'm not working on 4 April.", "我4月4日不在办公室。"]
)
def test_a_day_on_which_something_else_is_not_so_is_an_event(text: str) -> None:
    assert len(summaries("episodic", text)) == 1


def test_a_denial_puts_an_item_right_that_was_learned_long_before() -> None:
    (one,) = proposed(batch("The talk isn't on 4 April, it's on 11 April."), [TALK])
    assert (one.operation, one.target) == ("update", TALK.id)
    assert one.values["summary"] == "A talk on gravitational waves on 2025-04-11 at 14:00 (2025-04-11 14:00)"
    assert one.values["occurred_at"].isoformat() == "2025-04-11T15:00:00+01:00", "the time of day in London stays"
    assert one.values["metadata"]["slot"] == TALK.metadata["slot"]


def test_a_denial_that_was_taken_in_before_changes_nothing() -> None:
    right = TALK.changed(summary="A talk on gravitational waves on 2025-04-11")
    (one,) = proposed(batch("The talk isn't on 4 April, it's on 11 April."), [right])
    assert (one.operation, one.target) == ("noop", right.id)


def test_a_correction_is_understood_though_recall_has_just_shown_what_it_corrects() -> None:
    said = "I am giving a talk on gravitational waves on 4 April at 14:00 in room B12."
    known = TALK.changed(metadata={"slot": "event:step_0:45"})
    given = batch(
        "Small correction: the talk isn't on the 4th, it's on 11 April.", before=[said], shown=(f"user: {said}",)
    )
    (one,) = [each for each in proposed(given, [known]) if each.kind == "episodic"]
    assert (one.operation, one.target) == ("update", known.id)
    assert (
        one.values["summary"]
        == "I am giving a talk on gravitational waves on 2025-04-11 at 14:00 in room B12 (2025-04-11 14:00)"
    )


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (["The server is on port 8080.", "The server isn't on port 8080, the server is on port 9090."],
         ["The server is on port 9090"]),
        (["The office wifi is in room 3. Sorry, the office wifi isn't in room 3, it's in room 5."],
         ["The office wifi is in room 5"]),
        (["My brother isn't in Porto, he's in Lisbon."], ["The user's brother is in Lisbon"]),
        (["服务器在8080端口。", "服务器不在8080端口，在9090端口。"], ["服务器在9090端口"]),
        (["My birthday is on 4 May.", "My birthday isn't on 4 May, it's on 5 May."], []),
    ],
)  # fmt: skip
def test_a_fact_that_is_denied_is_put_right_and_the_denial_is_none(turns: Sequence[str], expected: list[str]) -> None:
    assert summaries("semantic", *turns) == expected


def test_what_is_denied_and_told_in_other_terms_is_kept() -> None:
    assert summaries("semantic", "My sister isn't vegan, she lives in Cork.")[0] == "My sister isn't vegan"


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (["I have the dentist on Tuesday at 10.", "No, the dentist isn't on Tuesday after all."],
         ["The dentist isn't on 2025-03-11 after all (not so: I have the dentist on 2025-03-11 at 10 (2025-03-11 10:00))"]),
        (["My flight is on 3 June.", "Turns out the flight is not on 3 June."],
         ["Turns out the flight is not on 2025-06-03 (not so: My flight is on 2025-06-03)"]),
        (["Dinner with Sam is on Friday.", "We're not having dinner with Sam on Friday after all."],
         ["We're not having dinner with Sam on 2025-03-07 after all (not so: Dinner with Sam is on 2025-03-07)"]),
        (["我周五看牙医。", "牙医不是周五。"], ["牙医不是2025-03-07 (not so: 我2025-03-07看牙医)"]),
    ],
)  # fmt: skip
def test_an_event_is_marked_as_not_so_where_its_day_is_denied_and_no_other_told(
    turns: Sequence[str], expected: list[str]
) -> None:
    first, last = (one for one in proposed(batch(*turns)) if one.kind == "episodic")
    assert [last.values["summary"]] == expected
    assert last.values["event_type"] == "cancellation"
    assert last.values["metadata"]["slot"] == first.values["metadata"]["slot"]


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("The talk isn't on 4 April after all.", [("supersede", TALK.id)]),
        ("The talk isn't on the 4th.", [("supersede", TALK.id)]),
        ("The talk isn't on Monday any more.", []),
        ("The concert isn't on 4 April.", []),
        ("We're not going for a swim on 4 April after all.", [("add", None)]),
        ("The talk isn't on 4 April, is it?", []),
    ],
)
def test_a_denial_ends_the_event_of_that_day_that_was_learned_long_before_and_no_other(
    text: str, aim: list[tuple[str, str | None]]
) -> None:
    found = [one for one in proposed(batch(text), [TALK]) if one.kind == "episodic"]
    assert [(one.operation, one.target) for one in found] == aim


def test_a_denial_said_again_ends_nothing_twice() -> None:
    ended = TALK.changed(event_type="cancellation", summary="The talk isn't on 2025-04-04 after all")
    found = proposed(batch("As I said, the talk isn't on 4 April."), [ended])
    assert {one.operation for one in found} <= {"noop"}


def test_a_denial_keeps_the_event_in_the_history(tmp_path: Path) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        user.remember(
            [{"role": "user", "content": "I have the dentist on Tuesday at 10.", "timestamp": "2025-03-05T09:00Z"}]
        )
        user.flush()
        (told,) = user.items("episodic")
        user.remember(
            [
                {
                    "role": "user",
                    "content": "No, the dentist isn't on Tuesday after all",
                    "timestamp": "2025-03-06T09:00Z",
                }
            ]
        )
        user.flush()
        (now,) = user.items("episodic")
        assert now.summary.startswith("The dentist isn't on 2025-03-11 after all (not so: ")
        former = user.get(told.id)
        assert (former.status, former.superseded_by) == ("superseded", now.id)
        assert "supersede" in [one.kind for one in user.history(told.id)]
        first = user.recall("When is the dentist?", kinds="episodic").hits[0]
        assert first.id == now.id


def test_a_denied_fact_puts_an_item_right_that_was_learned_long_before() -> None:
    known = SemanticItem(name="server", summary="The server is on port 8080")
    found = proposed(batch("The server isn't on port 8080, the server is on port 9090."), [known])
    assert [(one.operation, one.target) for one in found] == [("update", known.id)]
    assert found[0].values["summary"] == "The server is on port 9090"
