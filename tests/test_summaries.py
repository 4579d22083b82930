"""Canonical summaries say who does what; gists say what a scope is about, and are their own state."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.intent import Gist, canonical_summary, updated_gist
from hexamem.intent.phrases.analysis import analyse
from hexamem.intent.summaries import readable_gist

CODE_POINTS = st.text(max_size=300)


def summary(speaker: str, act: str, text: str) -> str:
    return canonical_summary(speaker, act, text, analyse(text))


def gist_of(*steps: tuple[str, str, str], before: str = "") -> str:
    gist = before
    for speaker, act, text in steps:
        gist = updated_gist(
            gist,
            speaker=speaker,
            role="user",
            act=act,
            summary=summary(speaker, act, text),
            text=text,
            analysis=analyse(text),
        )
    return gist


def test_a_proposal_names_its_object_with_price_and_rating() -> None:
    text = "How about the Apollo Hotel? It is $140 a night with 4.6 stars."
    assert summary("Maria", "Propose", text) == "Maria proposes the Apollo Hotel, $140 a night, 4.6 stars"


def test_several_proposals_stand_side_by_side() -> None:
    line = summary("Bot", "Propose", "Options:\n1. Café Luna, brunch from $12\n2. Green Fork, vegan")
    assert line == "Bot proposes Café Luna, $12; Green Fork"


def test_a_question_is_given_with_its_last_question() -> None:
    asked = "Which of the museums near the main station are open on Mondays?"
    text = f"Thanks, Bob! I like museums, and old ships, and trams that ring their bells. {asked}"
    assert summary("Ann", "Ask", text) == f"Ann asks: {asked}"


def test_a_short_step_is_given_whole() -> None:
    assert (
        summary("Eli", "Inform", "Zoom. Testers hated scrolling in March.")
        == "Eli says: Zoom. Testers hated scrolling in March."
    )


def test_pleasantries_are_left_out() -> None:
    assert summary("Ann", "Inform", "Great, thanks! The train leaves at 9:12.") == "Ann says: The train leaves at 9:12."


def test_chinese_is_summarised_in_chinese() -> None:
    assert summary("小王", "Propose", "我推荐花园酒店，每晚480元。") == "小王提议：我推荐花园酒店，每晚480元。"


def test_a_summary_is_one_line_of_about_25_words() -> None:
    line = summary("Ann", "Claim", "Prices rise\nbecause " + "supply and demand " * 200)
    assert "\n" not in line
    assert len(line.split()) <= 26


def test_a_secret_is_never_cut_in_two() -> None:
    secret = "{{vault:ab12|the password of the bank account that my aunt opened for me in the year of the flood}}"
    line = summary("Ann", "Inform", f"The thing you asked me about last week when we met is {secret} and no other")
    assert line.count("{{") == line.count("}}")
    gist = gist_of(("Ann", "Inform", f"Well then I will tell you now that it is {secret} and more"))
    assert gist.count("{{") == gist.count("}}")


def test_a_gist_tells_who_what_for_names_and_the_latest_decision() -> None:
    gist = gist_of(
        ("Maria", "Request", "Please plan a trip to Kyoto in May for the two of us."),
        ("Bot", "Propose", "I suggest the Gion Ryokan, $210 a night."),
        ("Maria", "Decide", "Let's take the Gion Ryokan."),
        ("Bot", "Inform", "The weather is mild in May."),
    )
    parts = Gist.parse(gist)
    assert parts.who == ("Maria", "Bot")
    assert "Kyoto" in parts.purpose
    assert "Gion Ryokan ($210 a night)" in parts.names
    assert parts.latest == "Maria decides the Gion Ryokan"


def test_a_gist_stays_short_however_long_the_talk() -> None:
    steps = [(f"Person {n}", "Decide", f"We take the Hotel Number{n} for ${n} a night. " * 5) for n in range(60)]
    assert len(gist_of(*steps).split()) <= 75


def test_a_gist_goes_on_from_its_text_alone() -> None:
    steps = [
        ("Maria", "Propose", "I suggest the Apollo Hotel, $140 a night."),
        ("Ben", "Propose", "Or the Ridge Hotel at $95?"),
        ("Maria", "Decide", "Let's book the Ridge Hotel."),
    ]
    assert gist_of(*steps[1:], before=gist_of(steps[0])) == gist_of(*steps)


@pytest.mark.parametrize(
    ("opening", "change", "purpose"),
    [
        ("Find me a laptop, budget 300.", "Make it 400.", "Find me a laptop, budget 400."),
        (
            "Plan Rome day 1, my budget is $300.",
            "Actually, make the budget $400.",
            "Plan Rome day 1, my budget is $400.",
        ),
        ("A table on day 1 at 7pm for four.", "Change it to 8:30pm please.", "A table on day 1 at 8:30pm for four."),
        ("帮我找酒店，预算每晚300元，两个人住。", "预算改成400元吧。", "帮我找酒店，预算每晚400元，两个人住。"),
    ],
)
def test_a_gist_keeps_no_value_that_was_superseded(opening: str, change: str, purpose: str) -> None:
    assert Gist.parse(gist_of(("ann", "Plan", opening), ("ann", "Request", change))).purpose == purpose


@pytest.mark.parametrize(
    ("opening", "change"),
    [
        ("Two hotels, one at $100 and one at $200.", "Make it 400."),  # which of them is not said
        ("A walk of 3 hours on day 2.", "Make it 400."),
        ("Find me a laptop, budget 300.", "Move dinner to 8:30."),
    ],
)
def test_a_value_is_left_alone_where_it_is_not_clear_that_it_was_superseded(opening: str, change: str) -> None:
    assert Gist.parse(gist_of(("ann", "Plan", opening), ("ann", "Request", change))).purpose == opening


def test_a_gist_that_a_person_wrote_is_kept_as_the_purpose() -> None:
    gist = gist_of(("Ben", "Inform", "The flight is at nine."), before="Our summer in Portugal")
    assert Gist.parse(gist).purpose == "Our summer in Portugal"


@settings(max_examples=150, deadline=None)
@given(speaker=CODE_POINTS, act=st.sampled_from(["Propose", "Ask", "Decide", "", "Dance"]), text=CODE_POINTS)
def test_any_text_gives_one_line_and_a_gist_that_reads_back(speaker: str, act: str, text: str) -> None:
    line = summary(speaker, act, text)
    assert len(line.splitlines()) <= 1
    gist = gist_of((speaker, act, text), (speaker, act, text))
    assert str(Gist.parse(gist)) == gist


def test_a_gist_is_shown_to_people_in_sentences() -> None:
    gist = "user, assistant | We go to Bonn. | Bonn; Hotel Sol (€90) | user decides Hotel Sol"
    shown = readable_gist(gist)
    assert shown == (
        "Between user and assistant. It began with: We go to Bonn. Named: Bonn, Hotel Sol (€90). "
        "The latest that counts: user decides Hotel Sol."
    )


def test_empty_parts_of_a_gist_leave_no_trace_when_shown() -> None:
    assert readable_gist("ann | Who waters the plants? |  | ann asks: Who waters the plants?") == (
        "By ann. It began with: Who waters the plants?"
    )
    assert readable_gist(" |  |  | ") == ""
    assert readable_gist("小林 | 去成都玩四天 | 成都 | ") == "小林的对话。开头：去成都玩四天。提到：成都。"


@given(CODE_POINTS)
def test_a_gist_in_other_words_is_shown_as_it_stands(text: str) -> None:
    assert readable_gist(text) == text or text.count(" | ") == 3
