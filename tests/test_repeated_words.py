"""A word said over and over, or a text that is made to hold up a reader, is read like any other."""

from __future__ import annotations

import pytest

from hexamem import Memory

TEXTS = [
    "Is " * 60 + "on Friday now.",
    "Before you " * 60 + "I work at Siemens.",
    "Oh, " * 60 + "hello.",
    "Note that, " * 60 + "remember that.",
    "And by the way, " * 60 + "hello.",
    "To do to do " * 30 + "hello.",
    "嗯" * 60 + "听她说今天不来。",
    "我要" * 60 + "吃它。",
    "可能" * 60 + "听她说。",
    "希望" * 60 + "听她说。",
    "我" + "刚" * 60 + "。",
    "常" * 60 + "。",
    "大家" + "经常" * 60 + "。",
    "又说" * 60 + "。",
    "Actually " * 60 + "I'm not vegan any more.",
    "I'm not " * 60 + "vegan.",
    "It's not Rex, " * 40 + "it's Max.",
    "No longer " * 60 + "on Tuesdays now.",
    "其实" * 60 + "不吃素了。",
    "不是" * 60 + "七岁。",
]


def test_a_text_that_repeats_the_words_of_rules_is_read_to_its_end(memory: Memory) -> None:
    ann = memory.user("ann")
    ann.remember(["Marco lives in Turin with my sister Ida.", *TEXTS], thread_id="t")
    memory.flush()
    assert len(ann.steps()) == len(TEXTS) + 1


def test_what_is_said_behind_leading_words_is_still_learned(memory: Memory) -> None:
    bob = memory.user("bob")
    bob.remember(
        ["Oh, and before you start, also, by the way, I work at Siemens.", "我最近刚刚搬到了上海。"], thread_id="t"
    )
    memory.flush()
    told = " ".join(item.text for item in bob.items())
    assert "Siemens" in told
    assert "上海" in told


@pytest.mark.parametrize("word", ["a" * 100 + "-(", "once " * 60 + "!"], ids=["long", "many"])
def test_a_question_with_a_long_word_behind_a_word_of_time_is_answered(memory: Memory, word: str) -> None:
    carl = memory.user("carl")
    carl.remember("I went to the gym.")
    assert [hit.text for hit in carl.recall(f"What did I do after {word}").hits] == ["I went to the gym."]
