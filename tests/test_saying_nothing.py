"""What states nothing, and what tells something though it asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.agents.research_rules.saying_nothing import (
    asks_of_asking,
    asks_plainly,
    asks_to_forget,
    merely_asks,
    says_nothing,
)


@pytest.mark.parametrize(
    "text",
    [
        "Who did I use to sing with, and on which days?",
        "When is my piano exam, and with whom do I practise for Leipzig?",
        "What is Ida's surname?",
        "Thanks! Where do I live?",
        "Search your memory: who mustn't eat the cake, and why?",
        "What do you know about me and my family?",
        "Tell me where I live.",
        "Tell me everything about Jonas",
        "Please tell me more about our flat.",
        "Show me what you know about Lisbon",
        "where does mia go to school",
        "what do you know about my manager",
        "who is petra",
        "whose car do we take to leeds",
        "which school does mia go to",
        "Do you remember who fixed my roof?",
        "How many cats do I have?",
        "Please forget what I said about Ben's flat.",
        "Yes, forget the whole message, the boat too.",
        "Forget that about Tom's snoring, please, he'd be cross with me.",
        "How far may I ride in a day, and who says so?",
        "When did I tell you that the concert was moved?",
        "Please look this up in your memory: what has changed in my plans since I first told you of them?",
        "Please delete what I told you about the flat.",
        "Wann ist meine Prüfung?",
        "我什么时候考试？",
        "我的狗叫什么名字？",
        "请忘掉我说过的话。",
    ],
)
def test_plain_questions_and_requests_to_forget_state_nothing(text: str) -> None:
    assert asks_plainly(text)
    assert says_nothing("user", text)
    assert not says_nothing("Nora", text)  # people tell each other things by asking


@pytest.mark.parametrize(
    "text",
    [
        "Did you know I moved to Porto?",
        "Did I tell you I moved to Porto?",
        "What can I cook for Mia, who is allergic to nuts?",
        "What is the school of my daughter Mia like?",
        "Where do I park my new car?",
        "What do I do when I'm in Porto?",
        "What is the best train to Rome on 3 May?",
        "Why does my knee hurt after running?",
        "Can I eat nuts?",
        "I moved to Porto. Where is the library?",
        "Forget it, I moved to Porto instead.",
        "Forget the snoring, he had it treated in May.",
        "What has changed in my plans since I moved to Porto?",
        "When did I tell you that my cousin Mia moved to Rome?",
        "When was I in Rome, in May?",
        "Don't forget the party.",
        "Remove the rolls from the menu.",
        "Remind me to call Tom.",
        "What a day!",
        "Where I live it rains.",
        "what was great was the food",
        "where i grew up is near the sea",
        "where i live has no lift",
        "what my sister does can be dangerous",
        "What I have does not hurt",
        "What is left of the cake is for Tom",
        "Where are you, I'm at home",
        "Tell me about it, I lost my keys",
        "Tell me a joke",
        "你知道我搬到波尔图了吗？",
        "我搬到了波尔图，你觉得怎么样？",
        "",
    ],
)
def test_what_tells_something_is_no_plain_question(text: str) -> None:
    assert not asks_plainly(text)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("Please forget what I said about Ben's flat. Thanks!", True),
        ("请忘掉我说过的话。", True),
        ("Please forget that. Ben moved to Rome.", False),
        ("Forget my address and phone number.", True),
        ("Forget the Leeds trip and remember that Tom hates jazz.", False),
        ("Forget the old address and use the one in Elm Street.", False),
        ("Forget what I told you about Ben but keep that he lives in Rome.", False),
        ("Forget-me-nots are my favourite flowers.", False),
        ("What did I say about Ben's flat?", False),
        ("Thanks!", False),
    ],
)
def test_a_request_to_forget_is_told_from_questions_and_from_what_tells(text: str, only: bool) -> None:
    assert asks_to_forget(text) is only


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("What should I get Jonas for his birthday?", True),
        ("Any ideas? Should I call her?", True),
        ("Where do I live?", True),
        ("What can I cook for Mia, who is allergic to nuts?", False),
        ("Did you know I moved to Porto?", False),
        ("Why did Jonas leave Arup?", False),
        ("Isn't it great that Mia won the race?", False),
        ("How would you cook it?", True),
        ("I moved to Porto. Nice?", False),
        ("Thanks!", False),
    ],
)
def test_questions_for_advice_merely_ask_where_they_tell_nothing_beside(text: str, only: bool) -> None:
    assert merely_asks(text) is only


FORGOT = ("Done, that's forgotten. It can be undone.", "You asked me to forget that, so I no longer keep it.")


def test_of_an_assistant_calls_acknowledgements_and_what_only_asks_back_state_nothing() -> None:
    for text in (
        "read_newest_mail()",
        'look(what="a (b)")\nlook()',
        "Done.",
        "You're welcome!",
        "Shall I note it?",
        *FORGOT,
    ):
        assert says_nothing("assistant", text)
    for text in (
        "Sofie, because she is allergic.",
        "Done: Sofie starts on 7 December.",
        "I've forgotten all about Ben.",
        "That's forgotten. Ben is a vet.",
        "The call look() failed.",
    ):
        assert not says_nothing("assistant", text)
    assert says_nothing("Nora", "Ok, thanks!")


def test_whoever_asks_what_was_asked_wants_questions() -> None:
    assert asks_of_asking("What did I ask you yesterday?")
    assert not asks_of_asking("Where do I live?")


@given(st.text(max_size=400), st.sampled_from(["user", "assistant", "Nora", ""]))
def test_any_text_can_be_looked_at(text: str, speaker: str) -> None:
    assert says_nothing(speaker, text) in (True, False)


@pytest.mark.parametrize(
    ("speaker", "text"),
    [
        ("assistant", "Are you allergic to peanuts?"),
        ("assistant", "Nice! And does your sister live in Lisbon?"),
        ("user", "Yes."),
        ("user", "No!"),
        ("user", "Forget dinner, Karen is ill."),
        ("user", "Forget about Monday, the meeting is cancelled"),
        ("user", "忘了告诉你我搬家了"),
        ("user", "我忘了带药"),
        ("user", "忘了带药"),
    ],
)
def test_what_tells_by_being_answered_or_by_the_way_states_something(speaker: str, text: str) -> None:
    assert not says_nothing(speaker, text)
