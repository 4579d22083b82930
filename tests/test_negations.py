"""What is told to be not so ends what stated it, of the same subject in the same words, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from hexamem import UserMemory
from hexamem.agents.applying.stating import denies, opposite, states
from hexamem.agents.managers.rules.negated_chinese import denied_by_zh
from hexamem.agents.managers.rules.negated_english import denied_by, put_in_place

from .told_and_believed import believed, told

OVER = [
    ("I'm allergic to plums.", "I'm not allergic to plums any more.", "Is allergic to plums", "Is no longer allergic to plums"),
    ("I work in the bakery.", "I don't work in the bakery any more.", "Works at the bakery", "No longer works at the bakery"),
    ("I eat muesli every morning.", "I don't eat muesli any more.", "Eats muesli every morning", "Does not eat muesli"),
    ("I'm a vegan.", "I've stopped being vegan.", "Is vegan", "Is no longer vegan"),
    ("I'm learning Finnish.", "I gave up on learning Finnish.", "Learns Finnish", "No longer learns Finnish"),
    ("I take 20 mg of sertraline.", "I don't take sertraline any more.", "Takes 20 mg of sertraline", "No longer takes sertraline"),
    ("I have a van.", "I don't have a van any more.", "Has a van", "Has no van"),
    ("Ugo is my flatmate.", "Ugo isn't my flatmate any more.", "Ugo (flatmate) is my flatmate",
     "Ugo (flatmate) is no longer my flatmate"),
    ("My aunt Eva lives in Rome.", "Eva no longer lives in Rome.", "Eva (aunt) lives in Rome", "Eva no longer lives in Rome"),
    ("我已经三十岁了，我吃素。", "我已经不吃素了。", "吃素", "不吃素"),
    ("我住在成都。", "我不住成都了。", "住在成都", "不住在成都了"),
    ("小赵是我的室友。", "小赵已经不是我的室友了。", "小赵是用户的室友", "小赵（室友）已经不是我的室友了"),
]  # fmt: skip


@pytest.mark.parametrize("threads", [("t", "t"), ("t", "u")])
@pytest.mark.parametrize(("first", "later", "was", "now"), OVER)
def test_what_is_told_to_be_no_more_ends_when_it_is_told(
    newcomer: UserMemory, first: str, later: str, was: str, now: str, threads: Sequence[str]
) -> None:
    user = told(newcomer, first, later, threads=threads)
    assert was not in believed(user)
    if threads == ("t", "t"):  # elsewhere it is not known who they are
        assert now in believed(user)
    [over] = [item for item in user.items(superseded=True) if item.text.split("\n")[1] == was]
    assert (over.status, f"{over.valid_to:%Y-%m-%d}") == ("superseded", "2026-05-04")


WRONG = [
    ("I'm allergic to plums.", "I'm not allergic to plums, it was a mistake.", "Is allergic to plums", "Is not allergic to plums"),
    ("I'm lactose intolerant.", "Turns out I'm not lactose intolerant after all.", "Is lactose intolerant", "Is not lactose intolerant"),
    ("My nephew Otis is seven.", "Otis is eight, not seven.", "Otis (nephew) is seven", "Otis (nephew) is eight"),
    ("My nephew Otis is seven.", "Sorry, I meant eight.", "Otis (nephew) is seven", "Otis (nephew) is eight"),
    ("My niece Eva is in third class.", "Eva is in fourth class, not third.", "Eva (niece) is in third class",
     "Eva (niece) is in fourth class"),
    ("I have two kids.", "I have three kids, not two.", "Has two kids", "Has three kids"),
    ("My favourite band is Muse.", "My favourite band isn't Muse, it's Wilco.", "Favourite band: Muse", "Favourite band: Wilco"),
    ("We have a cat called Misty.", "Our cat's name is Mitzi, not Misty.", "Has a cat called Misty", "Has a cat called Mitzi"),
    ("我对花生过敏。", "我其实对花生不过敏。", "对花生过敏", "对花生不过敏"),
    ("我弟弟七岁。", "我弟弟不是七岁，是八岁。", "弟弟七岁", "弟弟八岁"),
    ("我们家的猫叫米粒。", "猫不叫米粒，叫米粉。", "养了猫，叫米粒", "养了猫，叫米粉"),
]  # fmt: skip


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(("first", "later", "was", "now"), WRONG)
def test_what_is_put_right_was_never_true(
    newcomer: UserMemory, first: str, later: str, was: str, now: str, at_once: bool
) -> None:
    user = told(newcomer, first, later, at_once=at_once)
    assert was not in believed(user)
    assert now in believed(user)
    before = datetime(2026, 5, 3, 12, tzinfo=UTC)
    assert was not in [item.text.split("\n")[1] for item in user.items(("core", "semantic"), as_of=before)]


@pytest.mark.parametrize(
    ("first", "later", "was", "now"),
    [
        ("I have yoga on Tuesdays.", "Yoga is on Thursdays now.", "Has yoga on Tuesdays", "Yoga is on Thursdays now"),
        ("I have choir on Mondays.", "Choir has moved to Fridays.", "Has choir on Mondays", "Has Choir on Fridays"),
        (
            "I go swimming every Monday.",
            "I go swimming on Wednesdays now instead of Mondays.",
            "Goes swimming every Monday",
            "Goes swimming on Wednesdays",
        ),
        ("我每周二上瑜伽课。", "瑜伽课改到周四了。", "每周二上瑜伽课", "瑜伽课改到周四了"),
        (
            "My favourite colour is green.",
            "My favourite colour is blue now.",
            "Favourite colour: green",
            "Favourite colour: blue",
        ),
        ("我最喜欢的颜色是绿色。", "我现在最喜欢的颜色是蓝色。", "最喜欢的颜色：绿色", "最喜欢的颜色：蓝色"),
        ("I live in Galway.", "I don't live in Galway, I live in Sligo.", "Lives in Galway", "Lives in Sligo"),
    ],
)
def test_a_new_value_takes_the_place_of_the_old_one(
    newcomer: UserMemory, first: str, later: str, was: str, now: str
) -> None:
    user = told(newcomer, first, later)
    assert was not in believed(user)
    assert now in believed(user)


@pytest.mark.parametrize(
    ("first", "later", "stays"),
    [
        ("I'm allergic to plums.", "It's not like I'm allergic to plums!", "Is allergic to plums"),
        ("I'm allergic to plums.", "It's not that I'm allergic to plums, I just prefer pears.", "Is allergic to plums"),
        ("I'm allergic to plums.", "I'm not allergic to pears.", "Is allergic to plums"),
        ("I'm allergic to plums.", "I'm not only allergic to plums, also to pears.", "Is allergic to plums"),
        ("I'm allergic to plums.", "Aren't I allergic to plums?", "Is allergic to plums"),
        ("I'm allergic to plums.", "I wish I wasn't allergic to plums any more.", "Is allergic to plums"),
        ("I'm allergic to plums.", "My mum says I'm not allergic to plums any more.", "Is allergic to plums"),
        ("I'm allergic to plums.", 'He wrote "I\'m not allergic to plums any more".', "Is allergic to plums"),
        ("I'm allergic to plums.", "My brother isn't allergic to plums.", "Is allergic to plums"),
        ("I live in Rome.", "I don't live in Rome for the weather.", "Lives in Rome"),
        ("I live in Rome.", "Sorry, I meant Tuesday.", "Lives in Rome"),
        ("I'm a teacher.", "I'm not your teacher.", "Is a teacher"),
        ("I work at Lidl.", "I don't work at Lidl's head office.", "Works at Lidl"),
        ("I have a bike.", "I don't have my bike with me.", "Has a bike"),
        ("I play golf on Saturdays.", "I play golf with Jim on Sundays now.", "Plays golf on Saturdays"),
        ("I play the cello.", "I don't play the cello very well.", "Plays cello"),
        ("I eat muesli every morning.", "I don't eat muesli with milk.", "Eats muesli every morning"),
        ("I have a van.", "I don't have a van key any more.", "Has a van"),
        ("My nephew Otis is seven.", "Otis isn't eight yet.", "Otis (nephew) is seven"),
        ("My nephew Otis is seven.", "Table 8, not seven, is ours.", "Otis (nephew) is seven"),
        ("I have yoga on Tuesdays.", "Pilates is on Thursdays now.", "Has yoga on Tuesdays"),
        ("Our dog is called Rex.", "My neighbour's dog is called Max, not Rex.", "Has a dog called Rex"),
        ("My manager is called Bruno.", "My landlord is called Breno, not Bruno.", "Bruno is the user's manager"),
        ("My friend Ola works at Spotify.", "Ola doesn't work at Spotify on Fridays.", "Ola (friend) works at Spotify"),
        ("我对花生过敏。", "要是我对花生不过敏就好了。", "对花生过敏"),
        ("我对花生过敏。", "我妹妹对花生不过敏。", "对花生过敏"),
        ("我喜欢喝咖啡。", "我今天不喝咖啡了。", "喜欢喝咖啡"),
        ("我们家的猫叫米粒。", "楼上的猫不叫米粒。", "养了猫，叫米粒"),
        ("我最喜欢的季节是秋天。", "现在不是秋天，是春天。", "最喜欢的季节：秋天"),
    ],
)
@pytest.mark.parametrize("threads", [("t", "t"), ("t", "u")])
def test_what_denies_something_else_or_nothing_ends_nothing(
    newcomer: UserMemory, first: str, later: str, stays: str, threads: Sequence[str]
) -> None:
    assert stays in believed(told(newcomer, first, later, threads=threads))


def test_a_denial_of_what_was_never_told_is_not_kept(newcomer: UserMemory) -> None:
    user = told(newcomer, "I'm not allergic to plums.", "I don't work in the bakery any more.", "我对花生不再过敏了。")
    assert [text for text in believed(user) if "plum" in text or "bakery" in text] == []


def test_what_is_so_again_ends_what_denied_it(newcomer: UserMemory) -> None:
    user = told(
        newcomer, "I'm allergic to plums.", "I'm not allergic to plums any more.", "I'm allergic to plums again."
    )
    assert [text for text in believed(user) if "no longer" in text] == []


def test_what_ended_is_believed_again_once_the_denial_is_undone(newcomer: UserMemory) -> None:
    user = told(newcomer, "I'm allergic to plums.", "I'm not allergic to plums, it was a mistake.")
    [over] = [item for item in user.items(superseded=True) if item.status == "superseded"]
    operation = user.history(over.id)[-1]
    assert operation.kind == "supersede"
    user.undo(operation.id)
    assert believed(user) == ["Is allergic to plums"]


def test_a_question_on_what_was_denied_is_answered_with_the_later_message(newcomer: UserMemory) -> None:
    user = told(newcomer, "I'm allergic to plums.", "I love hiking.", "I'm not allergic to plums, it was a mistake.")
    question = "Am I allergic to plums?"
    hits = [hit for hit in user.recall(question).hits if hit.kind == "core" and "plums" in hit.text]
    assert [(hit.text.split("\n")[1], hit.superseded) for hit in hits] == [
        ("Is not allergic to plums", False),
        ("Is allergic to plums", True),
    ]
    assert any("mistake" in claim.quote for claim in user.research(question).evidence)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I'm not vegan any more", ["I'm vegan"]),
        ("Rita doesn't live in Porto any more", ["Rita lives in Porto"]),
        ("the tests show I'm not coeliac", ["I'm coeliac"]),
        ("Tom no longer plays chess", ["Tom plays chess"]),
        ("I'm not only vegan", []),
        ("I'm vegan", []),
        ("it's not that I'm vegan", []),
    ],
)
def test_a_clause_denies_a_statement(text: str, denied: list[str]) -> None:
    assert denied_by(text) == denied


@pytest.mark.parametrize(
    ("text", "denied"),
    [("我已经不吃素了", ["我吃素"]), ("我对虾不过敏", ["我对虾过敏"]), ("我今天不上班了", []), ("我不知道", [])],
)
def test_a_chinese_clause_denies_a_statement(text: str, denied: list[str]) -> None:
    assert denied_by_zh(text)[:1] == denied


@pytest.mark.parametrize(
    ("statement", "value", "made"),
    [
        ("Levi is eight", "seven", ["Levi is seven"]),
        ("Sam is an electrician", "a plumber", ["Sam is a plumber"]),
        ("yoga is on Thursdays", "Tuesdays", ["yoga is on Tuesdays"]),
        ("Levi has two of eight cars", "seven", []),
    ],
)
def test_a_value_takes_the_place_of_the_one_of_its_kind(statement: str, value: str, made: list[str]) -> None:
    assert put_in_place(statement, value) == made


@pytest.mark.parametrize(
    ("known", "statement", "same"),
    [
        ("Takes 20 mg of fluoxetine", "Takes fluoxetine", True),
        ("Works at Bosch (since 2020-05)", "Works at Bosch", True),
        ("Drinks tea every morning", "Drinks tea", True),
        ("Loves iced coffee", "Loves coffee", False),
        ("Takes vitamin D every day", "Takes vitamin C", False),
        ("No longer drinks tea", "Drinks tea", False),
        ("每天早上喝咖啡", "喝咖啡", True),
        ("喝冰咖啡", "喝咖啡", False),
    ],
)
def test_an_item_states_a_statement_where_it_says_it_and_only_when_or_how_much_beyond(
    known: str, statement: str, same: bool
) -> None:
    assert states(known, statement) is same


def test_two_texts_are_opposite_where_only_the_denial_sets_them_apart() -> None:
    assert opposite("Is allergic to plums", "Is no longer allergic to plums")
    assert opposite("对花生过敏", "对花生不过敏")
    assert not opposite("Is allergic to plums", "Is not allergic to pears")
    assert not opposite("Is allergic to plums", "Is allergic to plums")
    assert denies("No longer lives in Rome")


@pytest.mark.parametrize(
    ("statement", "value", "then"),
    [
        ("Ana is thirty-five", "thirty-four", "Ana is thirty-four"),
        ("The exam is on the sixteenth", "the twenty-first", "The exam is on the twenty-first"),
        ("Ana is five", "thirty five", "Ana is thirty five"),
    ],
)
def test_a_number_of_two_words_is_one_value(statement: str, value: str, then: str) -> None:
    assert put_in_place(statement, value) == [then]
