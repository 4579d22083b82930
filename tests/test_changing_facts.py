"""Facts about others and about things that change: what is current, and what was, through what a user may call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from hexamem import UserMemory, Where
from hexamem.agents.applying.predicates import stated_by
from hexamem.agents.applying.slots import slot_of
from hexamem.memory_types import SemanticItem

FIRST = datetime(2020, 1, 6, 12, tzinfo=UTC)
YEAR = timedelta(days=366)

# What is said again and again with another value, the first time and later.
CHANGING = {
    "a friend's employer": (
        "My friend Mark works at {}.",
        "Mark works at {} now.",
        ("Siemens", "Bosch", "Roche", "Airbus", "Nokia", "Philips", "Bayer", "Saab", "Volvo", "Danone", "Ferrero"),
    ),
    "a friend's town": (
        "My friend Lena lives in {}.",
        "Lena moved to {}.",
        ("Hamburg", "Munich", "Vienna", "Graz", "Zurich", "Porto", "Cork", "Leeds", "Oslo", "Lima", "Quito"),
    ),
    "a sister's job": (
        "My sister Ana is a {}.",
        "Ana is a {} now.",
        ("teacher", "nurse", "baker", "plumber", "translator", "pilot", "chef", "dentist", "librarian", "gardener", "vet"),
    ),
    "a project's database": (
        "Project Falcon uses {} as its database.",
        "We migrated Falcon to {}.",
        ("PostgreSQL", "MySQL", "SQLite", "DuckDB", "MongoDB", "Redis", "Cassandra", "TiDB", "MariaDB", "ClickHouse", "Neo4j"),
    ),
    "a price": (
        "The Pro plan costs {} euros a month.",
        "The Pro plan now costs {} euros a month.",
        ("20", "25", "31", "38", "42", "47", "53", "59", "64", "71", "88"),
    ),
    "a project's lead": (
        "The team lead of Kestrel is {}.",
        "The team lead of Kestrel is now {}.",
        ("Jonas", "Petra", "Miguel", "Aoife", "Kenji", "Sunita", "Olaf", "Chiara", "Tomasz", "Ingrid", "Rafael"),
    ),
    "the user's manager": (
        "My manager is {}.",
        "My new manager is {}.",
        ("Jonas", "Petra", "Miguel", "Aoife", "Kenji", "Sunita", "Olaf", "Chiara", "Tomasz", "Ingrid", "Rafael"),
    ),
    "朋友的单位": (
        "我朋友小王在{}工作。",
        "小王跳槽去了{}。",
        ("腾讯", "阿里", "百度", "京东", "美团", "小米", "网易", "滴滴", "华为", "联想", "拼多多"),
    ),
    "朋友的城市": (
        "小李住在{}，是我大学同学。",
        "小李搬到{}了。",
        ("杭州", "上海", "深圳", "成都", "武汉", "西安", "南京", "苏州", "厦门", "青岛", "长沙"),
    ),
    "项目的数据库": (
        "我们项目的数据库用的是 {}。",
        "我们项目的数据库换成 {} 了。",
        ("MySQL", "PostgreSQL", "TiDB", "Redis", "MongoDB", "Oracle", "DB2", "SQLite", "MariaDB", "DuckDB", "Neo4j"),
    ),
    "价格": (
        "楼下的拿铁卖 {} 块。",
        "楼下的拿铁涨到 {} 块了。",
        ("18", "21", "24", "26", "29", "31", "34", "37", "41", "45", "49"),
    ),
}  # fmt: skip


def told(user: UserMemory, first: str, later: str, values: Sequence[str]) -> UserMemory:
    """The user, who said one value after the other, a year apart, each managed before the next is said."""
    for number, value in enumerate(values):
        words = (later if number else first).format(value)
        user.remember({"role": "user", "content": words, "timestamp": (FIRST + number * YEAR).isoformat()}, "t")
        assert user.flush()
    return user


def named(texts: Sequence[str], values: Sequence[str]) -> list[str]:
    return [value for text in texts for value in values if value in text]


@pytest.mark.parametrize("what", CHANGING)
def test_after_three_changes_the_last_is_current_and_each_time_has_its_own(newcomer: UserMemory, what: str) -> None:
    first, later, values = CHANGING[what]
    user = told(newcomer, first, later, values[:4])
    assert named([item.text for item in user.items("semantic")], values) == [values[3]]
    for number, value in enumerate(values[:4]):
        moment = FIRST + number * YEAR + timedelta(days=200)
        assert named([item.text for item in user.items("semantic", as_of=moment)], values) == [value], moment
    assert user.items("core") == []


@pytest.mark.parametrize("what", ["a friend's employer", "a price", "朋友的城市", "项目的数据库"])
@pytest.mark.parametrize("changes", [1, 10])
def test_one_change_and_ten_are_read_alike_by_recall(newcomer: UserMemory, what: str, changes: int) -> None:
    first, later, values = CHANGING[what]
    values = values[: changes + 1]
    user = told(newcomer, first, later, values)
    question = first.format("").replace("My friend ", "")
    now = user.recall(question, kinds="semantic", k=1)
    assert named([hit.text for hit in now.hits], values) == [values[-1]]
    for number in {0, changes // 2, changes}:
        moment = FIRST + number * YEAR + timedelta(days=200)
        then = user.recall(question, kinds="semantic", k=5, as_of=moment)
        assert named([hit.text for hit in then.hits], values) == [values[number]]


def test_an_older_talk_that_is_read_later_does_not_replace_what_is_current(newcomer: UserMemory) -> None:
    for number, words in ((2, "My friend Mark works at Bosch."), (0, "My friend Mark works at Siemens.")):
        newcomer.remember({"role": "user", "content": words, "timestamp": (FIRST + number * YEAR).isoformat()}, "t")
        newcomer.flush()
    assert [item.text for item in newcomer.items("semantic")] == ["Mark\nMark (friend) works at Bosch"]
    assert "Siemens" in newcomer.items("semantic", as_of=FIRST + YEAR)[0].text


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Mark\nMark works at Bosch.", "Nora\nNora works at Siemens."),
        ("Mark\nMark works at Bosch.", "Mark\nMark has a dog called Rex."),
        ("Project Falcon\nProject Falcon uses PostgreSQL.", "Project Falcon\nProject Falcon uses Grafana."),
        ("Pro plan\nThe Pro plan costs 20 euros.", "Team plan\nThe Team plan costs 45 euros."),
        ("小王\n小王在腾讯工作。", "小李\n小李在阿里工作。"),
    ],
)
def test_what_can_both_be_true_has_two_slots(one: str, two: str) -> None:
    assert slot_of("semantic", one, {}) != slot_of("semantic", two, {})


@pytest.mark.parametrize(
    ("sentence", "subject", "attribute", "value"),
    [
        ("Mark (friend) works at Bosch now", "Mark", "employer", "Bosch"),
        ("Mark started a new job at Roche", "Mark", "employer", "Roche"),
        ("Mark joined Saab last week", "Mark", "employer", "Saab"),
        ("The Falcon project has switched from SQLite to DuckDB", "Falcon", "database", "DuckDB"),
        ("The staging server now runs Ubuntu 22.04", "staging server", "system", "Ubuntu 22.04"),
        ("The price of the Pro plan went up to 30 euros", "Pro plan", "price", "30 euros"),
        ("The office wifi network is called Walnut now", "office wifi network", "name", "Walnut"),
        ("Kestrel's team lead is Petra", "Kestrel", "team_lead", "Petra"),
        ("小王现在在字节跳动上班", "小王", "employer", "字节跳动"),
        ("我们项目的数据库换成 PostgreSQL 了", "项目", "数据库", "PostgreSQL"),
        ("拿铁现在 35 块一杯", "拿铁", "价格", "35 块"),
    ],
)
def test_a_sentence_states_one_value_of_a_subject(sentence: str, subject: str, attribute: str, value: str) -> None:
    assert stated_by(sentence)[:3] == (subject, attribute, value)  # type: ignore[index]


@pytest.mark.parametrize(
    "sentence",
    [
        "Mark used to work at Bosch", "Mark wants to move to Cork", "Mark might join Saab", "Mark no longer works at Bosch",
        "Mark moved to the next round", "Mark works at weekends", "Ana is a big fan of Porto", "小王想搬到上海",
        "小王不在腾讯工作", "The Pro plan will cost 30 euros",
    ],
)  # fmt: skip
def test_what_is_not_so_or_not_yet_states_nothing(sentence: str) -> None:
    assert stated_by(sentence) is None


@pytest.mark.parametrize("word", ["now ", "\u4e5f", "lives in ", "a"])
def test_a_sentence_that_never_ends_states_nothing(word: str) -> None:
    assert stated_by(word * 500_000) is None


def test_of_a_long_text_the_whole_sentences_at_its_beginning_are_read() -> None:
    told = stated_by("Mark works at Bosch. " + "He likes the canteen and the people there. " * 200)
    assert told is not None
    assert told[:3] == ("Mark", "employer", "Bosch")


TWICE = (
    "I live in Leeds.", "Our ferry to Dublin leaves on 14 January.", "Sorry, I meant the ferry leaves on 15 January.",
    "I've moved to York.", "My dog is called Rex.", "Actually, my dog is called Max, not Rex.",
    "I start at York District Hospital on Thursday.", "Sorry, I meant Wednesday, not Thursday.", "I live in York.",
)  # fmt: skip


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("threads", [("t", "t"), ("t", "u")])
def test_a_conversation_stored_twice_leaves_every_fact_as_it_was(
    newcomer: UserMemory, threads: tuple[str, str], each: bool
) -> None:
    states = []
    for thread in threads:
        for number, words in enumerate(TWICE):
            at = FIRST + timedelta(hours=number)
            newcomer.remember({"role": "user", "content": words, "timestamp": at.isoformat()}, thread)
            if each:
                newcomer.flush()
        newcomer.flush()
        kinds = ("core", "semantic", "episodic")
        states.append(
            [(item.id, item.text, item.valid_from, item.valid_to) for kind in kinds for item in newcomer.items(kind)]
        )
    assert states[0] == states[1]
    said = " ".join(text for _, text, _, _ in states[0])
    assert ("Max" in said, "Rex" in said, "2020-01-15" in said, "2020-01-14" in said) == (True, False, True, False)
    assert "Hospital (since 2020-01-08)" in said


def test_a_correction_read_later_takes_the_date_of_the_fact_back_too(newcomer: UserMemory) -> None:
    for minute, words in enumerate(
        ("I start at York Hospital on Thursday.", "Sorry, I meant Wednesday, not Thursday.")
    ):
        at = FIRST + timedelta(minutes=minute)
        newcomer.remember({"role": "user", "content": words, "timestamp": at.isoformat()}, "t")
        newcomer.flush()
    [item] = newcomer.items("core")
    assert (item.text, item.valid_from) == (
        "employer\nWorks at York Hospital (since 2020-01-08)",
        datetime(2020, 1, 8, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("My cousin Ben is a pilot.", "Ben pilot"),
        ("我表姐小敏是护士。", "小敏 护士"),
        ("I'm allergic to walnuts.", "walnuts"),
    ],
)
def test_what_was_learned_of_an_old_conversation_is_of_the_time_at_which_it_was_said(
    newcomer: UserMemory, said: str, words: str
) -> None:
    newcomer.remember({"role": "user", "content": said, "timestamp": "2021-05-06T10:00:00+02:00"}, "t")
    newcomer.flush()
    learned = [hit for hit in newcomer.recall(words).hits if hit.kind in ("semantic", "core")]
    assert {hit.occurred_at for hit in learned} == {datetime(2021, 5, 6, 8, tzinfo=UTC)}
    found = newcomer.recall(words, where=Where(since=datetime(2022, 1, 1, tzinfo=UTC)))
    assert [hit.kind for hit in found.hits] == []


def test_a_time_that_a_person_wrote_into_metadata_is_taken_only_where_it_is_one(newcomer: UserMemory) -> None:
    for told in ("yesterday", "2021-05-06", 7, None):
        item = newcomer.add(SemanticItem(name="Ben", summary=f"Ben flies, it says {told}", metadata={"said_at": told}))
        (hit,) = [hit for hit in newcomer.recall(f"Ben flies {told}").hits if hit.id == item.id]
        assert hit.occurred_at == item.created_at


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize(
    ("then", "now", "value"),
    [
        ("My phone is an iPhone 12.", "My phone is a Pixel 9.", "Pixel"),
        ("Our dentist is Dr Ryan.", "Our dentist is Dr Kelly.", "Kelly"),
        ("My daughter is in third class.", "My daughter is in fifth class.", "fifth"),
        ("My son is 7.", "My son is 8.", "8"),
        ("Our team meeting is on Mondays.", "Our team meeting is on Tuesdays.", "Tuesdays"),
        ("The library closes at 6.", "The library closes at 8.", "8"),
        ("The deadline for the report is Friday.", "The deadline for the report is Monday.", "Monday"),
        ("My commute takes 40 minutes.", "My commute takes 25 minutes.", "25"),
        ("Our team has 5 people.", "Our team has 8 people.", "8"),
        ("I take 20 mg of sertraline.", "I take 50 mg of sertraline.", "50"),
        ("Please answer in English.", "Please answer in French.", "French"),
        ("我的房东是老王。", "我的房东是老李。", "老李"),
        ("我女儿5岁。", "我女儿6岁。", "6"),
        ("例会是周一。", "例会是周三。", "周三"),
        ("项目用的是MySQL。", "项目用的是PostgreSQL。", "PostgreSQL"),
        ("以后请用英文回答。", "以后请用中文回答我。", "中文"),
    ],
)
def test_of_two_values_the_one_said_later_is_current_whichever_arrives_first(
    newcomer: UserMemory, then: str, now: str, value: str, in_order: bool
) -> None:
    said = [(then, FIRST), (now, FIRST + YEAR)]
    for number, (words, at) in enumerate(said if in_order else reversed(said)):
        newcomer.remember({"role": "user", "content": words, "timestamp": at.isoformat()}, f"t{number}")
        newcomer.flush()
    kept = [item for item in newcomer.items(superseded=True) if item.kind in ("core", "semantic")]
    assert [value in item.text for item in kept if item.status == "active"] == [True]
    assert [value in item.text for item in kept if item.status == "superseded"] == [False]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The library closes at 8 on Thursdays.", "The library closes at 6."),
        ("My old phone is an iPhone 12.", "My new phone is a Pixel 9."),
        ("I take 20 mg of sertraline.", "I take 500 mg of metformin."),
        ("Please answer in English when I write in English.", "Please answer in French."),
        ("我女儿5岁。", "我儿子6岁。"),
    ],
)
def test_what_is_of_another_thing_or_of_a_part_stands_beside_it(newcomer: UserMemory, one: str, two: str) -> None:
    for number, words in enumerate((one, two)):
        at = FIRST + number * YEAR
        newcomer.remember({"role": "user", "content": words, "timestamp": at.isoformat()}, f"t{number}")
        newcomer.flush()
    assert len([item for item in newcomer.items() if item.kind in ("core", "semantic")]) == 2
