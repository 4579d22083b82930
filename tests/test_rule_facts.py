"""What the rules make of roles, possessives and facts told side by side."""

from __future__ import annotations

import pytest

from hexamem.agents.managers.rules.genitives import is_genitive
from hexamem.agents.managers.rules.roles_english import is_occupation

from .test_rule_managers import core, summaries


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I'm a pescatarian now.", "Is pescatarian"),
        ("I'm a flexitarian now.", "Is flexitarian"),
        ("I'm a teetotaller now.", "Is teetotal"),
        ("I'm a grandmother now.", "Is a grandmother"),
        ("I'm a proud aunt now.", "Is an aunt"),
        ("I'm a mother of three.", "Is a mother of three"),
        ("I'm a Buddhist now.", "Is a Buddhist"),
        ("I'm an atheist.", "Is an atheist"),
        ("I'm a Norwegian now.", "Is Norwegian"),
        ("I'm a non-smoker now.", "Is a non-smoker"),
        ("I'm a nurse now.", "Is a nurse"),
        ("I'm a partner at Deloitte.", "Is a partner"),
    ],
)
def test_what_somebody_is_now_is_one_fact_of_its_own_kind(text: str, value: str) -> None:
    assert [one for one in core(text) if one != "Works at Deloitte"] == [value]


@pytest.mark.parametrize(
    "job",
    [
        "nurse", "librarian", "veterinarian", "historian", "parliamentarian", "shop assistant", "foster carer", "Teacher",
        "Software Engineer", "physician", "pharmacist", "receptionist", "registered nurse", "sales manager", "CEO", "partner",
        "student", "stay-at-home dad", "tailor", "chairman", "gardener",
    ],
)  # fmt: skip
def test_an_occupation_is_known_as_one(job: str) -> None:
    assert is_occupation(job)


@pytest.mark.parametrize(
    "role",
    [
        "pescatarian", "teetotaller", "non-smoker", "meat eater", "grandmother", "step-father", "godparent", "sister-in-law",
        "Buddhist", "Methodist", "atheist", "feminist", "Londoner", "New Yorker", "Egyptian", "Irishman", "Canadian", "teenager",
        "keen gardener", "good cook", "heavy sleeper", "cancer survivor", "permanent resident", "Sagittarian", "introvert",
    ],
)  # fmt: skip
def test_other_roles_are_no_occupations(role: str) -> None:
    assert not is_occupation(role)


def test_a_diet_before_a_trade_is_no_diet_of_the_user() -> None:
    assert core("I'm a vegan chef.") == ["Is a vegan chef"]


def test_who_is_to_be_a_father_is_none_yet() -> None:
    assert core("I'm going to be a father.") == []


@pytest.mark.parametrize(
    "rest",
    [
        "'s surgery went well", "'s car broke down", "'s hip hurts", "'s flight lands at 5", "'s parents live in Lyon",
        "'s new job starts in May", "'s two kids are ill", "'s birthday party was fun", "'s dog barked", "'s operation",
        "'s car is a Volvo",
    ],
)  # fmt: skip
def test_what_belongs_to_somebody_is_a_genitive(rest: str) -> None:
    assert is_genitive(rest)


@pytest.mark.parametrize(
    "rest",
    [
        "'s pregnant", "'s deaf in one ear", "'s a retired plumber", "'s moved to Oslo", "'s been to Rome", "'s got a Volvo",
        "'s tired and went to bed", "'s really good at chess", "'s left-handed", "'s Polish", "'s 91 and lives in Porto",
        "'s afraid of dogs", "'s working at Lidl", "'s in hospital", "'s vegan", " is ill",
    ],
)  # fmt: skip
def test_what_somebody_is_or_has_done_is_no_genitive(rest: str) -> None:
    assert not is_genitive(rest)


@pytest.mark.parametrize("text", ["Mum's surgery went well.", "Dad's car broke down.", "Nan's hip hurts."])
def test_how_something_of_a_relative_went_is_not_what_they_are(text: str) -> None:
    assert not any(" is " in summary for summary in summaries("semantic", text))


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("My sister's flight lands at 5 on Fridays.", "The user's sister's flight lands at 5 on Fridays"),
        ("My wife's parents live in Lyon.", "The user's wife's parents live in Lyon"),
        ("My sister's left-handed.", "The user's sister is left-handed"),
        ("My dentist is Dr. Osei.", "Dr. Osei is the user's dentist"),
    ],
)
def test_what_is_told_of_relatives_keeps_its_sense(text: str, summary: str) -> None:
    assert summary in summaries("semantic", text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I live in Ghent and work as a nurse.", {"Lives in Ghent", "Works as a nurse"}),
        ("I work as a nurse and live in Ghent.", {"Lives in Ghent", "Works as a nurse"}),
        ("I live in Ghent, work as a nurse and play the violin.",
         {"Lives in Ghent", "Works as a nurse", "Plays violin"}),
        ("I'm 34 and live in Ghent.", {"Is 34 years old", "Lives in Ghent"}),
        ("I'm a nurse and a Methodist.", {"Is a nurse", "Is a Methodist"}),
        ("I love cooking and have a cat called Tom.", {"Loves cooking", "Has a cat called Tom"}),
        ("I have a son called Leo and a daughter called Mia.", {"Son: Leo", "Daughter: Mia"}),
        ("My son Leo and daughter Mia are at school.", {"Son: Leo", "Daughter: Mia"}),
        ("Our cats Miso and Tofu are asleep.", {"Has a cat called Miso", "Has a cat called Tofu"}),
        ("We adopted three kittens: Ada, Bo and Cleo.",
         {"Has a kitten called Ada", "Has a kitten called Bo", "Has a kitten called Cleo"}),
        ("I'm a nurse at the children's hospital in Malmö.",
         {"Is a nurse", "Works at the children's hospital in Malmö"}),
        ("I work in a bakery.", {"Works at a bakery"}),
        ("I moved in with Freja in Lund.", {"Lives in Lund"}),
        ("We moved into a new flat in Lund.", {"Lives in Lund"}),
        ("我最喜欢的水果是芒果。", {"最喜欢的水果：芒果"}),
        ("我最爱喝的茶是龙井。", {"最喜欢的茶：龙井"}),
        ("我养了两只猫，豆包和年糕。", {"养了猫，叫豆包", "养了猫，叫年糕"}),
        ("我有一个儿子叫乐乐和一个女儿叫米娅。", {"儿子：乐乐", "女儿：米娅"}),
        ("我有个妹妹，儿子叫乐乐，我的狗叫旺财。", {"儿子：乐乐", "养了狗，叫旺财"}),
    ],
)  # fmt: skip
def test_facts_told_side_by_side_are_all_kept(text: str, values: set[str]) -> None:
    assert set(core(text)) == values


@pytest.mark.parametrize(
    "text",
    [
        "I want to live in Ghent and work as a nurse.",
        "I'm going to move to Ghent and work at Shell.",
        "I know people who live in Ghent and work at Shell.",
        "My sister has a son called Leo and a daughter called Mia.",
        "My sister has two cats, Miso and Tofu.",
        "The neighbours live upstairs and have a dog called Rex.",
        "I joined a gym in Leeds.",
        "I work in an office.",
        "我妹妹养了两只猫，豆包和年糕。",
        "我妹妹的儿子叫小龙，今年五岁。",
        "我妈妈家的猫叫豆包。",
        "我姐姐的狗叫旺财。",
        "邻居的狗叫旺财。",
    ],
)
def test_what_is_wished_or_told_of_others_beside_it_is_no_fact(text: str) -> None:
    assert core(text) == []


def test_an_age_is_told_apart_from_what_stays_true_a_year_on() -> None:
    assert summaries("semantic", "My gran is 91 and lives in Porto.") == [
        "The user's gran is 91",
        "The user's gran lives in Porto",
    ]
    assert summaries("semantic", "My grandmother Alma lives in Porto and is 91.") == [
        "Alma (grandmother) lives in Porto",
        "Alma (grandmother) is 91",
    ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I just started a new job at Zalando as a data engineer.", {"Works at Zalando", "Works as a data engineer"}),
        ("I've just started working for Zalando.", {"Works at Zalando"}),
        ("I got the job at Zalando, I start on Monday.", {"Works at Zalando"}),
        ("My new job at Zalando is great.", {"Works at Zalando"}),
        ("I was hired by Siemens as an electrician.", {"Works at Siemens", "Works as an electrician"}),
        ("I was hired by a small bakery in Ghent.", {"Works at a small bakery in Ghent"}),
        ("I've worked at Ikea for ten years.", {"Works at Ikea"}),
        ("I've been employed by Ikea for ten years.", {"Works at Ikea"}),
        ("I found a job at Ikea for the summer.", {"Works at Ikea"}),
        ("I've landed a new job at Ikea, but my wife hates it.", {"Works at Ikea"}),
    ],
)
def test_how_somebody_came_to_a_job_tells_where_they_work(text: str, values: set[str]) -> None:
    assert set(core(text)) == values


@pytest.mark.parametrize(
    "text",
    [
        "I almost got a job at Zalando.",
        "If I got a job at Zalando I'd move.",
        "My old job at Zalando was awful.",
        "My job at Zalando ended in May.",
        "I applied for a job at Zalando.",
        "I got a job interview at Zalando.",
        "I never got the job at Zalando.",
        "I worked at Ikea for ten years.",
        "I had worked at Ikea for ten years.",
        "I was hired to paint a fence.",
        "I have a job for Tom.",
        "I've been working with Tom since May.",
        "My job at Zalando is over.",
        "My new job at Zalando fell through.",
        "They cancelled my internship at Zalando.",
        "I turned down my new job at Zalando.",
        "I gave up my job at Zalando.",
        "I got laid off from my new job at Zalando.",
        "I was employed by Zalando until May.",
        "I was employed by Zalando from 2001 to 2010.",
        "I was hired by Zalando in 2010 and laid off in 2015.",
        "I was headhunted by Zalando but said no.",
        "I found a job at Zalando for my son.",
        "I found a job at Zalando for Tom.",
        "I took the job at Zalando but quit.",
    ],
)
def test_a_job_that_one_has_not_is_none(text: str) -> None:
    assert [one for one in core(text) if one.startswith("Works")] == []
