"""Whom "she" and "he" mean where somebody else has been spoken of since: never somebody farther off."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pytest

from hexamem import Memory, Settings
from hexamem.agents.managers.rules.contact_findings import contact_findings
from hexamem.agents.managers.rules.people import People
from hexamem.agents.managers.rules.sentences import read_text
from hexamem.intent.references.person_nouns import is_person_noun

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("nearer"), settings=Settings(background=False)) as opened:
        yield opened


def learned(memory: Memory, *lines: str) -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    for line in lines:
        user.remember({"role": "user", "content": line, "timestamp": "2026-05-20T10:00:00+00:00"}, "t")
        user.flush()
    return [item.text.split("\n")[0 if item.kind == "episodic" else 1] for item in user.items()]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (
            "Our apprentice Sofie starts in June. She's allergic to hazelnuts.",
            "Sofie (apprentice) is allergic to hazelnuts",
        ),
        ("Our trainee Ben comes from Wales. He is allergic to nuts.", "Ben (trainee) is allergic to nuts"),
        ("My new intern Priya is very quick. She lives in Camden.", "Priya (intern) lives in Camden"),
        ("The new lodger Wes moves in next week. He's a vegan.", "Wes is a vegan"),
        ("Our au pair Lotte arrives soon. She speaks Dutch and French.", "Lotte (au pair) speaks Dutch and French"),
        ("Our new hire Pat comes from Wales. He plays the cello.", "Pat (new hire) plays the cello"),
        ("Sofie, our apprentice, starts in June. She lives in Aarhus.", "Sofie (apprentice) lives in Aarhus"),
        ("Tomas is our caretaker. He lives in the basement.", "Tomas (caretaker) lives in the basement"),
        ("My bandmate Ola is back. He plays the double bass.", "Ola (bandmate) plays the double bass"),
        ("My colleague Mona starts in June. She is vegetarian.", "Mona (colleague) is vegetarian"),
        ("My tenant Ines pays on time. She works at the port.", "Ines (tenant) works at the port"),
        ("我们的学徒小芳下个月来上班。她对榛子过敏。", "小芳（学徒）对榛子过敏"),
        ("我们的租客张伟是重庆人。他吃素。", "张伟（租客）吃素"),
        ("我们店里的实习生王娜很能干。她住在徐汇。", "王娜（实习生）住在徐汇"),
    ],
)
def test_a_pronoun_means_whoever_was_introduced_by_a_role(memory: Memory, line: str, value: str) -> None:
    assert value in learned(memory, "I live with my sister Karen and my brother Arjun.", line)


@pytest.mark.parametrize(
    "lines",
    [
        ("I met Sofie at the fair. She's allergic to hazelnuts.",),
        ("Sofie starts on 1 June.", "She's allergic to hazelnuts."),
        ("There's a new girl in the shop, Sofie. She's allergic to hazelnuts.",),
        ("The apprentice starts on Monday. She's allergic to hazelnuts.",),
        ("The apprentice starts on Monday.", "She's allergic to hazelnuts."),
        ("We've hired a baker. She's allergic to hazelnuts.",),
        ("My sister's apprentice Sofie is ill. She's allergic to hazelnuts.",),
        ("I talked to Ilse about it. She's allergic to hazelnuts.",),
        ("I work with Dagny on Mondays. She's allergic to hazelnuts.",),
        ("Our dog trainer is new. She's allergic to hazelnuts.",),
        ("Linh said yes. She's allergic to hazelnuts.",),
        ("Tomorrow Runa comes to dinner, and she's allergic to hazelnuts.",),
    ],
)
def test_a_pronoun_reaches_past_nobody_who_may_be_meant(memory: Memory, lines: tuple[str, ...]) -> None:
    found = learned(memory, "I run a bakery with my sister Karen.", *lines)
    assert not any("Karen" in value and "hazelnuts" in value for value in found)


@pytest.mark.parametrize(
    "lines",
    [
        ("昨天认识了小芳。她对榛子过敏。",),
        ("新来的店员李娜住在徐汇。她对榛子过敏。",),
        ("今天和王静吃饭。她对榛子过敏。",),
        ("小芳下个月来上班。她对榛子过敏。",),
    ],
)
def test_a_chinese_pronoun_reaches_past_nobody_who_may_be_meant(memory: Memory, lines: tuple[str, ...]) -> None:
    found = learned(memory, "我姐姐叫周云。", *lines)
    assert not any("周云" in value and "榛子" in value for value in found)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("My sister Karen lives in Leeds. She's a nurse.", "Karen (sister) is a nurse"),
        (
            "My sister Karen bought a Skoda Fabia. She drives to Leeds every day.",
            "Karen (sister) drives to Leeds every day",
        ),
        ("My sister Karen works for Siemens. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen is a baker. She lives in Aarhus.", "Karen (sister) lives in Aarhus"),
        ("My sister Karen speaks Danish. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen married Tom in May. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen came back from Wales. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen is the boss there. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen hates the Toyota dealer. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("My sister Karen visited the Louvre. She's vegetarian.", "Karen (sister) is vegetarian"),
        ("我姐姐周云住在苏州。她对花生过敏。", "周云（姐姐）对花生过敏"),
        ("我姐姐周云常常去苏州。她吃素。", "姐姐吃素"),
    ],
)
def test_what_is_no_person_stands_in_nobodys_way(memory: Memory, line: str, value: str) -> None:
    assert value in learned(memory, line)


@pytest.mark.parametrize(
    "line",
    [
        "Our server Heron runs Debian.",
        "Our printer Bertha needs toner.",
        "My car Herbie needs new tyres.",
        "Our project Apollo starts in June.",
        "My favourite author Austen lived in Bath.",
        "Our president Stubb lives in Helsinki.",
        "Our dog Rex is old.",
        "My street Mill Lane is closed.",
        "Our centre Fleet House opens at nine.",
        "My sister's tutor Rolf lives in Kiel.",
    ],
)
def test_a_thing_or_a_stranger_with_a_name_is_nobody_of_the_users(memory: Memory, line: str) -> None:
    assert not any(" is the user's " in value or " (" in value.split(" is ")[0] for value in learned(memory, line))


def test_whoever_is_named_behind_a_pronoun_is_not_meant(memory: Memory) -> None:
    found = learned(memory, "My sister Karen lives in Leeds. She lives with my friend Mona.")
    assert "Karen (sister) lives with my friend Mona" in found


@pytest.mark.parametrize(
    ("line", "caption"),
    [
        ("Our apprentice Sofie starts soon, her email is sofie@example.org.", "email of Sofie (apprentice)"),
        ("Her email is karen@example.org.", "email of Karen (sister)"),
        ("I met Dagny. Her email is dagny@example.org.", "email told in a conversation"),
    ],
)
def test_an_address_belongs_to_whoever_was_spoken_of_last(line: str, caption: str) -> None:
    people = People()
    people.read("I live with my sister Karen.", False)
    found = contact_findings(read_text("s1", line), ZoneInfo("UTC"), people, "")
    assert [str(finding.values["caption"]).replace("e-mail", "email") for finding in found] == [caption]


@pytest.mark.parametrize(
    "noun", ["apprentice", "trainee", "lodger", "au-pair", "physicist", "postman", "tenant", "midwife"]
)
def test_a_noun_for_a_person_is_known_by_its_form(noun: str) -> None:
    assert is_person_noun(noun)


@pytest.mark.parametrize("noun", ["server", "printer", "dinner", "coffee", "apartment", "list", "river", "hamster"])
def test_a_noun_for_a_thing_is_not_taken_for_a_persons(noun: str) -> None:
    assert not is_person_noun(noun)
