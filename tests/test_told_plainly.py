"""What people tell plainly of themselves is kept, and what only sounds like it is not."""

from __future__ import annotations

import pytest

from .test_rule_managers import core, summaries


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Every Tuesday evening I sing in a choir.", "Sings in a choir every Tuesday evening"),
        ("On Saturdays, we go to the farmers' market.", "Goes to the farmers' market on Saturdays"),
        ("In my spare time I restore old radios.", "Restores old radios in their spare time"),
        ("I take the 7:40 train to work.", "Takes the 7:40 train to work"),
        ("I'm retired.", "Is retired"),
        ("I'm afraid of heights.", "Is afraid of heights"),
        ("I grew up on a farm.", "Grew up on a farm"),
        ("I had my appendix out in 2019.", "Had their appendix out in 2019"),
        ("I had a knee replacement two years ago.", "Had a knee replacement in 2023"),
        ("I've been doing karate for six years.", "Has been doing karate for six years"),
        ("I've been taking salsa classes.", "Has been taking salsa classes"),
        ("I'm editing a novel.", "Is editing a novel"),
        ("I'm looking after my mother at home.", "Is looking after their mother at home"),
        ("I'm house-sitting in Wales.", "Is house-sitting in Wales"),
        ("I have no sense of smell.", "Has no sense of smell"),
        ("I can barely hear without my hearing aids.", "Can barely hear without their hearing aids"),
        ("I'm sensitive to perfume.", "Is sensitive to perfume"),
        ("My psychiatrist started me on lithium.", "Takes lithium"),
        ("I know how to sew.", "Can sew"),
        ("I'm in debt.", "Is in debt"),
        ("I was expelled from school.", "Was expelled from school"),
        ("I am paid by the hour.", "Is paid by the hour"),
        ("I used to play the trumpet in a brass band.", "Used to play the trumpet in a brass band"),
        ("I want to learn Portuguese this year.", "Wants to learn Portuguese in 2025"),
        ("We rent a two-bedroom flat.", "Rents a two-bedroom flat"),
        ("我会弹古筝。", "会弹古筝"),
        ("我在加拿大住过三年。", "在加拿大住过三年"),
        ("我从小在农村长大。", "在农村长大"),
        ("我每周二晚上在合唱团唱歌。", "每周二晚上在合唱团唱歌"),
    ],
)
def test_a_plain_telling_is_kept(text: str, value: str) -> None:
    assert value in core(text)


def test_what_is_told_of_the_family_is_kept_of_them() -> None:
    assert summaries("semantic", "My in-laws live next door.") == ["The user's in-laws live next door"]


@pytest.mark.parametrize(
    "text",
    [
        "If I were retired, I'd sing in a choir every Tuesday.",
        "Write a bio in the first person: I play the banjo and I have three hens.",
        "I have a question.",
        "I take your point.",
        "I keep getting this error.",
        "I run the script and nothing happens.",
        "I'm trying to open the file.",
        "I'm looking for a gift for my dad.",
        "I lost my keys.",
        "I take full responsibility.",
        "I wish I could swim.",
        "I pay 1,140 a month.",
        "I used to think so.",
        "我累死了。",
        "我有个问题。",
        "我会努力的。",
        "我打算试试你的方法。",
    ],
)
def test_small_talk_tells_nothing(text: str) -> None:
    assert core(text) == []


def test_an_idiom_of_very_much_is_no_death() -> None:
    assert summaries("semantic", "我快饿死了。") == []
