"""What is denied, a lie, or only said and thought by others is no fact of the user."""

from __future__ import annotations

import pytest

from .test_rule_managers import core, summaries


@pytest.mark.parametrize(
    "text",
    [
        "I never said I play the violin.",
        "I didn't say I play golf.",
        "I'm not saying I play golf.",
        "I wouldn't say I play golf.",
        "I don't remember saying I play golf.",
        "I never told anyone I work at Shell.",
        "I never said my wife is called Anna.",
        "Nobody said I work at Shell.",
        "No one at the office ever said that I work at Shell.",
        "You're wrong, I never said I work at Shell.",
        "It's not true that I play golf.",
        "It's a myth that I play golf.",
        "I denied that I work at Shell.",
        "I told her that I work at Lidl, but that was a lie.",
        "I told her I work at Lidl. That was a lie.",
        "I lied and said I work at Lidl.",
        "I pretend I play golf.",
        "我从来没说过我住在上海。",
        "没人说我在腾讯工作。",
        "我没跟他说我在腾讯工作。",
        "我骗她说我在腾讯工作。",
        "我跟她说我在腾讯工作，其实是骗她的。",
    ],
)
def test_what_is_denied_or_a_lie_is_no_fact(text: str) -> None:
    assert core(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "They think I play the piano.",
        "People assume I have a son called Max.",
        "They think my name is Peter.",
        "My colleagues believe I'm a vegetarian.",
        "My mum thinks I have a dog called Rex.",
        "The neighbours are convinced I play golf.",
        "You say I work at Shell.",
        "She told everyone I work at Shell.",
        "He said: I work at Google.",
        "He said, I work at Google.",
        "I work at Google, she claims.",
        "According to Tom, I play golf.",
        "Rumour has it I'm married.",
        "I have friends who think I play golf.",
        "他们以为我住在北京。",
        "有人说我在腾讯工作。",
        "他说：我在谷歌工作。",
        "我妈觉得我在腾讯工作。",
        "听说我在腾讯工作。",
    ],
)
def test_what_others_say_or_think_of_the_user_is_no_fact(text: str) -> None:
    assert core(text) == []
    assert summaries("semantic", text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I think I'm allergic to nuts.", "Is allergic to nuts"),
        ("Remember I told you I work at Shell.", "Works at Shell"),
        ("I said to Tom that I work at Shell.", "Works at Shell"),
        ("I forgot to say I work at Shell.", "Works at Shell"),
        ("I didn't mention that I work at Shell.", "Works at Shell"),
        ("As I said, I play golf.", "Plays golf"),
        ("It's true that I play golf.", "Plays golf"),
        ("Everyone knows I'm a vegetarian.", "Is vegetarian"),
        ("My doctor says I'm allergic to nuts.", "Is allergic to nuts"),
        ("The test showed I'm allergic to nuts.", "Is allergic to nuts"),
        ("I was told I have asthma.", "Has asthma"),
        ("They're wrong: I work at Shell.", "Works at Shell"),
        ("I didn't say I play golf, I said I play tennis.", "Plays tennis"),
        ("They think I play the piano, but I play the violin.", "Plays violin"),
        ("They said we live in Rome, but we live in Bari.", "Lives in Bari"),
        ("我告诉过你我住在上海。", "住在上海"),
        ("没人说我住在上海，我住在北京。", "住在北京"),
        ("我妈以为我在腾讯工作，其实我在阿里工作。", "在阿里工作"),
    ],
)
def test_what_the_user_says_stays_a_fact(text: str, value: str) -> None:
    found = core(text)
    assert value in found
    assert not {"Plays golf", "Plays piano", "Lives in Rome", "住在上海", "在腾讯工作"} & ({*found} - {value})


@pytest.mark.parametrize(
    "text",
    ["I never said I'm flying to Rome on 4 May.", "Nobody said Tom is coming on 4 May.", "我没说过我5月4日去罗马。"],
)
def test_an_event_that_is_denied_is_not_stored(text: str) -> None:
    assert summaries("episodic", text) == []


def test_what_another_asks_for_is_still_an_event() -> None:
    (event,) = summaries("episodic", "Tom says I should come on 14 March at 8.")
    assert event.startswith("Tom says I should come on 2025-03-14")
