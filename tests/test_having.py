"""What rules learn of what one has and has not, of standing wishes, and of who comes along."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import CoreItem, MemoryItem, SemanticItem


def learned(user: UserMemory, *said: str) -> list[MemoryItem]:
    for one in said:
        user.remember({"role": "user", "content": one})
        user.flush()
    return user.items()


def core(user: UserMemory, *said: str) -> set[tuple[str, str]]:
    return {(one.label, one.value) for one in learned(user, *said) if isinstance(one, CoreItem)}


@pytest.mark.parametrize(
    ("said", "label", "value"),
    [
        (
            ["I ride a Vespa to work.", "We've sold the Vespa and bought an e-bike, a red one."],
            "vehicle",
            "Has an e-bike, no longer the Vespa",
        ),
        (["I sold my car, and we got a cargo bike."], "vehicle", "Has a cargo bike"),
        (["We've just bought an old campervan."], "vehicle", "Has an old campervan"),
        (["No, we don't have a dog."], "pet", "Has no dog"),
        (["I haven't got a car."], "vehicle", "Has no car"),
        (["I've no siblings."], "siblings", "Has no siblings"),
        (["We don't own a dishwasher at all."], "household", "Has no dishwasher"),
        (["我们没有养狗。"], "pet", "没有狗"),
        (["我没有驾照。"], "licence", "没有驾照"),
        (["I have a dog called Rex.", "We don't have a dog any more."], "pet", "Has no dog"),
        (["We don't have a dog.", "We have a dog called Rex."], "pet", "Has a dog called Rex"),
        (["I don't have a car.", "I've bought a small car."], "vehicle", "Has a small car"),
    ],
)  # fmt: skip
def test_what_one_has_got_and_has_not_is_what_is_believed_now(
    newcomer: UserMemory, said: list[str], label: str, value: str
) -> None:
    assert core(newcomer, *said) == {(label, value)}


@pytest.mark.parametrize(
    "said",
    [
        "We don't have a clue.",
        "I have no time for that.",
        "I don't have a dog-eared copy.",
        "We bought a bike for my nephew.",
        "We don't have a dog in this fight.",
        "我没有时间。",
        "If we don't have a car, we take the train.",
        "My sister doesn't have a dog.",
    ],
)
def test_idioms_gifts_and_what_others_lack_are_not_taken_for_it(newcomer: UserMemory, said: str) -> None:
    assert core(newcomer, said) == set()


def test_what_is_denied_of_one_animal_leaves_the_others(newcomer: UserMemory) -> None:
    assert core(newcomer, "I have a cat called Mio.", "We don't have a dog.") == {
        ("pet", "Has a cat called Mio"),
        ("pet", "Has no dog"),
    }


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        (
            "I'm vegetarian, and Saar is allergic to peanuts, so please never suggest anything with peanuts.",
            "Never suggest anything with peanuts",
        ),
        ("Please don't recommend restaurants with loud music.", "Don't recommend restaurants with loud music"),
        ("From now on, always propose a vegan option.", "Always propose a vegan option"),
        ("以后别给我推荐带花生的东西。", "别给我推荐带花生的东西"),
        ("请不要推荐有花生的菜。", "不要推荐有花生的菜"),
    ],
)
def test_a_standing_wish_for_what_is_suggested_stands_in_core_memory_once(
    newcomer: UserMemory, said: str, wish: str
) -> None:
    items = learned(newcomer, said)
    assert [one.value for one in items if isinstance(one, CoreItem) and one.label == "answers"] == [wish]
    assert not [one for one in items if one.kind == "procedural"]


@pytest.mark.parametrize(
    "said",
    [
        "Never recommend the old tariff to customers.",
        "Don't suggest that to him.",
        "Tom says: never suggest anything with peanuts.",
        "我朋友推荐了一家餐厅。",
        "My photos of Rome, always remind me of that day.",
    ],
)
def test_wishes_of_work_and_of_others_are_not_the_users(newcomer: UserMemory, said: str) -> None:
    assert "answers" not in {label for label, _ in core(newcomer, said)}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Hanne asked to come along to Slovenia with her boyfriend Wout. I said yes to her, but Wout is not coming.",
            "Wout is not coming to Slovenia",
        ),
        (
            "Marta is not coming to Oslo. Youssef from the site team is coming with me.",
            "Youssef from the site team is coming with me to Oslo",
        ),
        ("Wout's not joining us.", "Wout is not joining us"),
        ("Unfortunately my brother Tom can't make it to the wedding.", "Tom (brother) can't make it to the wedding"),
        ("Lena has dropped out.", "Lena has dropped out"),
        ("但是小王不来了。", "小王不来了"),
        ("小李跟我们一起去海边。", "小李跟我们一起去海边"),
    ],
)  # fmt: skip
def test_who_comes_along_and_who_does_not_is_learned(newcomer: UserMemory, said: str, told: str) -> None:
    assert told in [one.summary for one in learned(newcomer, said) if isinstance(one, SemanticItem)]


@pytest.mark.parametrize(
    "said", ["Is Marta coming to Oslo?", "Christmas is coming.", "Tom isn't going mad.", "小王来不来？"]
)
def test_questions_and_figures_of_speech_tell_of_nobody_who_comes(newcomer: UserMemory, said: str) -> None:
    assert [one for one in learned(newcomer, said) if isinstance(one, SemanticItem)] == []
