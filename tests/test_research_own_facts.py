"""What people ask about themselves, without a model: plain questions are answered, and what was never told is not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.research_rules.integrating import NOT_HELD
from hexamem.agents.research_rules.own_facts import asked_slots, possessed
from hexamem.agents.research_rules.question import Question, holds, read_question, stems
from hexamem.agents.research_rules.synonyms import others_for
from hexamem.memory_types.times import read_zone

ENGLISH = [
    ("2025-03-01T09:00:00Z", "My name is Tom, I'm 41 and I work as a baker in Leeds."),
    ("2025-03-02T20:00:00Z", "My wife is called Greta, she is allergic to walnuts."),
    ("2025-03-05T12:00:00Z", "My daughter Pia starts school in September."),
    ("2025-08-11T10:00:00Z", "We moved to Bristol last weekend, the new flat is on Mill Lane."),
    ("2025-08-13T08:00:00Z", "I don't eat mushrooms and my favourite drink is barley tea."),
    ("2025-08-20T18:00:00Z", "Next Friday I go to Glasgow for three days, staying at a hotel near the river."),
    ("2025-10-08T18:00:00Z", "I changed jobs, I am now a product manager at Siemens."),
]
CHINESE = [
    ("2025-03-01T09:00:00Z", "我叫建国,今年四十一岁。"),
    ("2025-03-02T20:00:00Z", "我妻子叫王敏,她对核桃过敏。"),
    ("2025-03-05T12:00:00Z", "女儿豆豆九月份上小学一年级。"),
    ("2025-08-11T10:00:00Z", "我住在成都,在华为工作。"),
    ("2025-08-13T08:00:00Z", "我不吃蘑菇,最喜欢喝大麦茶。"),
    ("2025-08-20T18:00:00Z", "下周五要去重庆出差三天。"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, UserMemory]]:
    """Two users with the items that the rules learned of a few messages each."""
    with Memory.open(tmp_path_factory.mktemp("own"), settings=Settings(background=False)) as memory:
        users = {"english": memory.user("tom"), "chinese": memory.user("jianguo")}
        for name, said in (("english", ENGLISH), ("chinese", CHINESE)):
            users[name].remember([{"role": "user", "timestamp": at, "content": text} for at, text in said])
            users[name].flush()
        yield users


@pytest.mark.parametrize(
    ("who", "question", "answer"),
    [
        ("english", "Where do I live?", "Bristol"),
        ("english", "Which city do I live in now?", "Bristol"),
        ("english", "What do I do for a living?", "product manager"),
        ("english", "What is my job?", "product manager"),
        ("english", "Where do I work?", "Siemens"),
        ("english", "What's my daughter's name?", "Pia"),
        ("english", "What is my spouse allergic to?", "walnuts"),
        ("chinese", "我现在住在哪个城市?", "成都"),
        ("chinese", "我家在哪里?", "成都"),
        ("chinese", "我在哪家公司工作?", "华为"),
        ("chinese", "我太太对什么过敏?", "核桃"),
        ("chinese", "我女儿叫什么名字?", "豆豆"),
    ],
)
def test_a_plain_question_of_the_user_about_themselves_is_answered(
    home: dict[str, UserMemory], who: str, question: str, answer: str
) -> None:
    found = home[who].research(question)
    assert found.answerable
    assert answer in found.answer


@pytest.mark.parametrize(
    ("who", "question"),
    [
        ("english", "What's my dog called?"),
        ("english", "What does my old dog eat?"),
        ("english", "Who is my husband?"),
        ("english", "What is my brother allergic to?"),
        ("chinese", "我的狗叫什么?"),
        ("chinese", "我儿子叫什么名字?"),
        ("chinese", "我哥哥对什么过敏?"),
    ],
)
def test_what_is_asked_of_somebody_who_was_never_told_of_is_not_answered(
    home: dict[str, UserMemory], who: str, question: str
) -> None:
    found = home[who].research(question)
    assert (found.answerable, found.answer, found.evidence) == (False, NOT_HELD, ())


def test_a_noted_fact_answers_in_the_first_round_and_leads_nowhere_else(home: dict[str, UserMemory]) -> None:
    for question in ("Where do I live?", "What do I do for a living?"):
        found = home["english"].research(question)
        assert [one.missing for one in found.rounds] == [()]
        assert "Glasgow" not in found.answer


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Where do I live?", "home_city"),
        ("What company am I working for?", "employer"),
        ("What kind of work do I do?", "job_title"),
        ("When is my birthday?", "birthday"),
        ("我现在在哪家公司上班？", "employer"),
        ("我的生日是什么时候？", "birthday"),
        ("我多大了？", "age"),
    ],
)
def test_the_slot_that_a_question_asks_for_is_known(question: str, slot: str) -> None:
    assert asked_slots(question)[0] == slot


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live before?",
        "Where does my wife live?",
        "What is my wife's job?",
        "Where does Tom work?",
        "Why do I live in Leeds?",
        "我以前住在哪里？",
        "我妻子在哪里工作？",
        "我妻子的职业是什么？",
    ],
)
def test_questions_of_the_past_or_of_others_ask_for_no_slot_of_the_user(question: str) -> None:
    assert asked_slots(question) == ()


def test_people_and_animals_of_the_user_are_found_in_a_question() -> None:
    assert possessed("What do my old dog and my sister's children eat?") == ("dog", "sister")
    assert possessed("What does my wife's dog eat?") == ("wife", "dog")
    assert possessed("Which of my friends have moved?") == ()
    assert possessed("我太太和我的狗") == ("太太", "狗")
    assert possessed("What is my favourite drink?") == ()


def test_words_for_the_same_person_stand_for_one_another_in_both_languages() -> None:
    assert {"妻子", "老婆", "wife"} <= set(others_for("太太"))
    assert {"mum", "妈妈"} <= set(others_for("mother"))
    assert "beagle" in others_for("dogs")
    assert "dog" not in others_for("beagle")
    assert "husband" not in others_for("wife")
    assert others_for("kayak") == ()


def _read(text: str) -> Question:
    return read_question(text, ["user"], datetime(2025, 11, 1, tzinfo=UTC), read_zone("UTC"))


def test_another_word_will_do_for_people_of_the_user_alone() -> None:
    said = stems("My mum bakes on Sundays")
    assert holds(_read("What does my mother bake?"), said, "mother")
    assert not holds(_read("What does the mother of Ida bake?"), said, "mother")


@pytest.mark.parametrize("question", ["Where do I live?", "What do I do for a living?"])
def test_where_somebody_else_lives_does_not_answer_where_the_user_does(alice: UserMemory, question: str) -> None:
    alice.remember(
        [
            {"role": "user", "content": "My best friend Tom lives in Rome and his daughter is called Chiara."},
            {"role": "user", "content": "I'd love to learn the cello some day."},
        ]
    )
    alice.flush()
    assert alice.research(question).answer == NOT_HELD
    assert "Rome" in alice.research("Where does Tom live?").answer


def test_where_the_user_says_that_they_live_answers_though_nothing_is_noted(alice: UserMemory) -> None:
    alice.remember(
        [
            {"role": "user", "content": "My best friend Tom lives in Rome."},
            {"role": "user", "content": "The street where I live in Porto is so noisy."},
        ]
    )
    assert "Porto" in alice.research("Where do I live?").answer
    assert "Rome" not in alice.research("Where do I live?").answer
