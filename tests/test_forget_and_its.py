"""Requests to forget teach nothing; "its" is put into words where one thing alone can be meant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hexamem import Memory, Settings
from hexamem.agents.managers.rules.forget_requests import forget_request

_USERS = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("forget"), settings=Settings(background=False)) as opened:
        yield opened


def learned(memory: Memory, line: str) -> list[str]:
    user = memory.user(f"user{next(_USERS)}")
    user.remember({"role": "user", "content": line, "timestamp": "2026-11-18T10:00:00+00:00"}, "t")
    user.flush()
    return [item.text.split("\n")[0 if item.kind == "episodic" else 1] for item in user.items()]


@pytest.mark.parametrize(
    "line",
    [
        "Please forget that Karen stays at the Hotel Mundial.",
        "Karen doesn't stay at the Hotel Mundial, please forget that.",
        "Please forget that I live in Leeds.",
        "You can forget that my sister Karen is vegan.",
        "Forget what I said about my allergy to nuts.",
        "I'm allergic to nuts. Please forget that.",
        "My exam is on 3 December. Please forget about it.",
        "Delete everything you stored about my sister Karen.",
        "I'd like you to forget that I work for Siemens.",
        "Ok, and now erase what I told you about my brother Arjun.",
        "I live in Leeds, but please forget that.",
        "请忘掉我住在上海。",
        "请把我对花生过敏这件事忘掉。",
        "我住在上海。请忘掉这个。",
        "帮我删除我姐姐小云住在苏州这件事。",
    ],
)
def test_a_request_to_forget_teaches_nothing(memory: Memory, line: str) -> None:
    assert learned(memory, line) == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Don't forget that I'm allergic to nuts.", "Is allergic to nuts"),
        ("Please don't forget: my exam is on 3 December.", "2026-12-03"),
        ("Forget it, I live in Leeds now.", "Lives in Leeds"),
        ("I live in Leeds, and please forget that I lived in Hull.", "Lives in Leeds"),
        ("Forget the hotel, Karen (my sister) lives in Porto.", "Karen"),
        ("Karen doesn't stay at the Mundial, please forget that. My sister Karen lives in Alfama.", "lives in Alfama"),
        ("I always forget names. I live in Leeds.", "Lives in Leeds"),
        ("We forgot the cake, but my exam is on 3 December.", "2026-12-03"),
        ("I'm vegan. Don't forget that.", "Is vegan"),
        ("My sister Karen never forgets a name. She lives in Porto.", "lives in Porto"),
        ("我住在上海，别忘了。", "上海"),
        ("我对花生过敏，千万不要忘记。", "花生"),
    ],
)
def test_what_is_not_to_be_forgotten_is_learned(memory: Memory, line: str, value: str) -> None:
    assert any(value in one for one in learned(memory, line))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("I drive a green Skoda Fabia. Its MOT is due on 4 December.", "The Skoda Fabia's MOT is due on 2026-12-04"),
        ("Our cat Miso is ill. Its check-up is on 4 December.", "Miso's check-up is on 2026-12-04"),
        ("We have rented a flat in Leith. Its boiler is serviced on 4 December.", "The flat's boiler is serviced on"),
        ("I sold the Fabia to Karen. Its papers arrive on 4 December.", "The Fabia's papers arrive on 2026-12-04"),
        ("Our bakery is doing well. Its tenth birthday is on 4 December.", "Our bakery's tenth birthday is on"),
        ("I bought a piano. Its first tuning is on 4 December.", "The piano's first tuning is on 2026-12-04"),
        ("My allotment is a mess. Its lease ends on 4 December.", "My allotment's lease ends on 2026-12-04"),
        ("I joined the Harbour Choir. Its first concert is on 4 December.", "The Harbour Choir's first concert is on"),
        ("We took over the bistro. Its licence runs out on 4 December.", "The bistro's licence runs out on 2026-12-04"),
        ("I keep a boat at Whitby. Its survey is on 4 December.", "The boat's survey is on 2026-12-04"),
    ],
)
def test_its_is_said_in_full(memory: Memory, line: str, said: str) -> None:
    assert any(said in one for one in learned(memory, line))


@pytest.mark.parametrize(
    "line",
    [
        "Its MOT is due on 4 December.",
        "I have a piano and a violin. Its tuning is on 4 December.",
        "I am tired. Its MOT is due on 4 December.",
        "My sister Karen is ill. Its check-up is on 4 December.",
        "Would you buy a Skoda? Its MOT is due on 4 December.",
        "They sold their car and their boat. Its survey is on 4 December.",
        "The weather is bad. Its MOT is due on 4 December.",
        "My sister has an exam week at school before that.",
        "Our neighbour Rolf plays the organ since then.",
        "My friend Mona works at the port because of that.",
    ],
)
def test_what_points_at_nothing_is_not_learned(memory: Memory, line: str) -> None:
    assert not any(
        one.startswith(("Its", "The weather's")) or one.endswith((" that", " then")) for one in learned(memory, line)
    )


def test_forget_me_nots_are_no_request() -> None:
    assert forget_request(["Forget-me-nots grow in my garden"]) is None
