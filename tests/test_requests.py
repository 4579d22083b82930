"""What is asked of the assistant tells no event, and a holiday before a noun is no day."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("requests"), settings=Settings(background=False)) as opened:
        yield opened


def events(memory: Memory, line: str) -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    user.remember({"role": "user", "content": line, "timestamp": "2026-11-18T10:00:00+00:00"}, "t")
    user.flush()
    return [item.text.split("\n")[0] for item in user.items() if item.kind == "episodic"]


@pytest.mark.parametrize(
    "line",
    [
        "I'd like some ideas for the window on Saturday, but read me my mail first.",
        "I need a recipe for dinner on Friday.",
        "I could use a few tips for my interview on Monday.",
        "We're looking for suggestions for Sunday lunch on 6 December.",
        "I'd love to see the lights in Bergen on 3 December.",
        "I wish we could fly on Friday.",
        "Read me the mail from Monday.",
        "Find me a good film for Saturday.",
        "Show me what I wrote on 3 November.",
        "Please read me the mail from Monday.",
        "Write me a toast for the wedding on 5 December.",
        "And tell me a joke for the party on Friday.",
        "Summarise my notes from Tuesday, please.",
        "帮我想想周六晚饭的点子。",
        "我需要一份周日的菜谱。",
        "请给我读一下周一的邮件。",
        "给我推荐几部周五看的电影。",
    ],
)
def test_what_is_asked_of_the_assistant_is_no_event(memory: Memory, line: str) -> None:
    assert events(memory, line) == []


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Please remind me to call Karen on Friday.", "2026-11-20"),
        ("I need to be at the station on Friday.", "2026-11-20"),
        ("Please book a table for two on Friday.", "2026-11-20"),
        ("Please remember that I have an exam on 3 December.", "2026-12-03"),
        ("Put the dentist on 3 December in my calendar.", "2026-12-03"),
        ("I need a taxi on Friday.", "2026-11-20"),
        ("We need new tyres by 3 December.", "2026-12-03"),
        ("My exam is on Friday, so give me some tips.", "2026-11-20"),
        ("The plumber comes on Friday, find me his number.", "2026-11-20"),
        ("I will read my poem at the library on Friday.", "2026-11-20"),
        ("Karen is going to visit us on 5 December, please be nice.", "2026-12-05"),
        ("帮我记一下，这周五下午三点跟客户开会。", "2026-11-20"),
        ("请提醒我周五给凯伦打电话。", "2026-11-20"),
        ("我周五请假去看牙医。", "2026-11-20"),
    ],
)
def test_a_reminder_and_what_is_told_beside_a_request_are_events(memory: Memory, line: str, day: str) -> None:
    assert any(day in value for value in events(memory, line))


@pytest.mark.parametrize(
    "line",
    [
        "I bought Christmas biscuits with Karen.",
        "We have finished our Christmas window.",
        "My Halloween costume came from my sister.",
        "I sent my Valentine's Day card to Karen.",
        "I have made a Christmas pudding recipe book.",
        "We met at the Christmas fair in Aarhus.",
        "I put up the Christmas wreath.",
        "My Halloween pumpkin is huge.",
        "We sang in the Christmas choir.",
        "I painted Easter bonnets with the kids.",
        "我做了圣诞节的橱窗。",
        "我买了圣诞节饼干。",
        "我写了情人节贺卡。",
    ],
)
def test_a_holiday_before_a_noun_is_no_day(memory: Memory, line: str) -> None:
    assert events(memory, line) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("We fly to Oslo at Christmas.", "We fly to Oslo on 2026-12-25"),
        ("Mum comes for Christmas.", "Mum comes for 2026-12-25"),
        ("We visit my parents on Christmas Eve.", "We visit my parents on 2026-12-24"),
        ("We visit my parents on Boxing Day.", "We visit my parents on 2026-12-26"),
        ("Our Boxing Day walk starts at ten.", "Our 2026-12-26 walk starts at ten (2026-12-26 10:00)"),
        ("We get married at Easter next year.", "2027-03-28"),
        ("This Christmas mum comes to us.", "2026-12-25"),
        ("We are going to Rome on Good Friday 2027.", "2027-03-26"),
        ("By Christmas my sister will be back.", "2026-12-25"),
        ("We are moving in on New Year's Eve.", "2026-12-31"),
        ("圣诞节我们去哈尔滨。", "2026-12-25"),
        ("圣诞节的晚上我们去教堂。", "2026-12-25"),
    ],
)
def test_a_holiday_by_itself_is_its_day(memory: Memory, line: str, said: str) -> None:
    assert any(said in value for value in events(memory, line))
