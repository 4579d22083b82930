"""What is told to be over is believed no more; history keeps it, and nothing else ends along."""

from __future__ import annotations

import pytest

from hexamem import UserMemory

from .told_and_believed import believed, told

ENDED = [
    ("I live in Rome.", "I don't live in Rome anymore.", "Lives in Rome", "No longer lives in Rome"),
    ("I live in Rome.", "I no longer live in Rome.", "Lives in Rome", "No longer lives in Rome"),
    ("我住在罗马。", "我不住在罗马了。", "住在罗马", "不住在罗马了"),
    ("I work as a chef.", "I lost my job.", "Works as a chef", "Lost their job"),
    ("I work as a chef.", "I got laid off.", "Works as a chef", "Lost their job"),
    ("I'm a nurse.", "I'm not a nurse anymore.", "Is a nurse", "Is no longer a nurse"),
    ("我在腾讯工作。", "我失业了。", "在腾讯工作", "失业了"),
    ("My girlfriend is called Ingrid.", "Ingrid and I broke up.", "Girlfriend: Ingrid", "Separated from Ingrid"),
    ("My girlfriend is called Ingrid.", "I broke up with Ingrid.", "Girlfriend: Ingrid", "Separated from Ingrid"),
    ("My wife is called Anna.", "Anna and I got divorced.", "Wife: Anna", "Divorced from Anna"),
    ("My wife is called Anna.", "I'm divorced now.", "Wife: Anna", "Is divorced"),
    ("我女朋友叫小美。", "我和小美分手了。", "女朋友：小美", "和小美分手了"),
    ("我老公叫李强。", "我离婚了。", "老公：李强", "离婚"),
    ("I have a cat called Mio.", "Mio died.", "Has a cat called Mio", "Mio died"),
    ("我养了一只猫叫豆豆。", "豆豆去世了。", "养了猫，叫豆豆", "豆豆去世了"),
    ("I love coffee.", "I can't stand coffee anymore.", "Loves coffee", "Dislikes coffee"),
    ("我喜欢咖啡。", "我不喜欢咖啡了。", "喜欢咖啡", "不喜欢咖啡"),
    ("I hate olives.", "I love olives now.", "Dislikes olives", "Loves olives"),
    ("I play the violin.", "I gave up playing the violin.", "Plays violin", "No longer plays violin"),
    ("I drive a Volvo.", "We sold the Volvo.", "Drives a Volvo", "No longer has the Volvo"),
    ("My mum works at Siemens.", "My mum lost her job.", "The user's mum works at Siemens", "The user's mum lost her job"),
    ("My friend Mark works at Bosch.", "Mark was laid off.", "Mark (friend) works at Bosch", "Mark (friend) has lost the job"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "later", "was", "now"), ENDED)
def test_what_ended_is_believed_no_more_and_kept_in_history(
    newcomer: UserMemory, first: str, later: str, was: str, now: str
) -> None:
    user = told(newcomer, first, later)
    assert was not in believed(user)
    assert now in believed(user)
    over = [item for item in user.items(superseded=True) if item.text.split("\n")[1] == was]
    assert [item.status for item in over] == ["superseded"]
    assert over[0].valid_to is not None
    assert f"{over[0].valid_to:%Y-%m-%d}" == "2026-05-04"


@pytest.mark.parametrize("both", [ENDED[0], ENDED[7], ENDED[15]])
def test_what_ends_within_one_batch_ends_too(newcomer: UserMemory, both: tuple[str, str, str, str]) -> None:
    user = told(newcomer, *both[:2], at_once=True)
    assert both[2] not in believed(user)
    assert both[3] in believed(user)


@pytest.mark.parametrize(
    ("first", "later", "stays"),
    [
        ("I live in Bath.", "I don't live in Rome anymore.", "Lives in Bath"),
        ("I work at Siemens.", "I no longer work at Bosch.", "Works at Siemens"),
        ("My girlfriend is called Lea.", "Ingrid and I broke up.", "Girlfriend: Lea"),
        ("My boyfriend is called Max.", "I'm divorced.", "Boyfriend: Max"),
        ("I have a cat called Mio.", "Bowie died.", "Has a cat called Mio"),
        ("I love iced coffee.", "I can't stand coffee anymore.", "Loves iced coffee"),
        ("I play the violin.", "I don't play chess anymore.", "Plays violin"),
        ("I work as a chef.", "I'm not working today.", "Works as a chef"),
        ("I work as a chef.", "If I lost my job, I would travel.", "Works as a chef"),
        ("I live in Rome.", "I wish I didn't live in Rome anymore.", "Lives in Rome"),
        ("My girlfriend is called Ingrid.", "Did Ingrid and I break up?", "Girlfriend: Ingrid"),
        ("My girlfriend is called Ingrid.", "I left Ingrid at the station.", "Girlfriend: Ingrid"),
        ("我住在北京。", "我不住在上海了。", "住在北京"),
        ("我在腾讯工作。", "我打算辞职了。", "在腾讯工作"),
        ("I live in Rome.", "I don't live in Rome alone anymore.", "Lives in Rome"),
        ("I work at Shell.", "I don't work at Shell on Fridays anymore.", "Works at Shell"),
        ("I play tennis.", "I don't play tennis on Mondays anymore.", "Plays tennis"),
        ("My girlfriend is called Ingrid.", "Ingrid and I broke up but got back together.", "Girlfriend: Ingrid"),
        ("我女朋友叫小美。", "我和小美分手了,后来又和好了。", "女朋友：小美"),
        (
            "I'm training for the Gothenburg half marathon on 16 May.",
            "I won't run the half marathon in Berlin.",
            "Trains for Gothenburg half marathon",
        ),
        (
            "The apartment in Zadar costs 940 euros.",
            "We haven't cancelled the Zadar apartment.",
            "The apartment in Zadar costs 940 euros",
        ),
        (
            "The apartment in Zadar costs 940 euros.",
            "We almost cancelled the Zadar apartment.",
            "The apartment in Zadar costs 940 euros",
        ),
    ],
)
def test_nothing_else_ends_along(newcomer: UserMemory, first: str, later: str, stays: str) -> None:
    assert stays in believed(told(newcomer, first, later))


def test_an_ending_of_what_had_been_replaced_before_leaves_the_new_value(newcomer: UserMemory) -> None:
    user = told(newcomer, "I live in Rome.", "We moved to Bath.", "I don't live in Rome anymore.")
    assert [text for text in believed(user) if "ives" in text] == ["Lives in Bath"]


def test_what_is_taken_up_again_is_believed_again(newcomer: UserMemory) -> None:
    user = told(newcomer, "I live in Rome.", "I don't live in Rome anymore.", "I live in Rome again.")
    assert [text for text in believed(user) if "ives" in text] == ["Lives in Rome"]


def test_of_somebody_unknown_an_ending_is_not_kept(newcomer: UserMemory) -> None:
    assert believed(told(newcomer, "Bowie died.", "I'm not tired anymore.", "We sold the boat.")) == []


def test_the_day_told_with_an_ending_is_when_it_came(newcomer: UserMemory) -> None:
    user = told(newcomer, "I work at Siemens as an engineer.", "I got laid off on 2 May.")
    over = [item for item in user.items(superseded=True) if "Siemens" in item.text]
    assert [str(item.valid_to)[:10] for item in over] == ["2026-05-02"]


def test_a_plan_given_up_is_no_plan_any_more(newcomer: UserMemory) -> None:
    user = told(
        newcomer,
        "I'm training for the Gothenburg half marathon on 16 May.",
        "I love tea.",
        "I hurt my knee, so I won't run the half marathon.",
    )
    assert believed(user) == ["Loves tea"]
    assert [item.text.split("\n")[0] for item in user.items("episodic")] == ["I won't run the half marathon"]


def test_what_is_called_off_has_no_price_any_more(newcomer: UserMemory) -> None:
    user = told(newcomer, "The apartment in Zadar costs 940 euros.", "We cancelled the Zadar apartment.")
    assert believed(user) == []


def test_a_fact_told_with_the_day_of_an_event_moves_with_it(newcomer: UserMemory) -> None:
    user = told(
        newcomer,
        "My brother Tiago is getting married in Lisbon on 5 September.",
        "The wedding has been moved to 12 September because the church was taken.",
    )
    assert believed(user) == ["Tiago (brother) is getting married in Lisbon on 2026-09-12"]


def test_the_old_day_of_a_moved_deadline_is_not_believed_and_the_new_one_is_of_this_year(newcomer: UserMemory) -> None:
    user = told(
        newcomer,
        "My boss Henrik wants the report by 10 June.",
        "Henrik moved the deadline of the report to 24 June.",
    )
    assert "Henrik (boss) wants the report by 2026-06-24" in believed(user)
    assert not any("10 June" in text for text in believed(user))
    starts = [item.valid_from for item in user.items("semantic")]
    assert all(start is None or start.year == 2026 for start in starts)


@pytest.mark.parametrize(
    "wish",
    [
        "Ingrid and I broke up; I hope we get back together.",
        "Ingrid and I broke up. I want us back together.",
    ],
)
def test_a_couple_that_only_may_be_one_again_has_parted(newcomer: UserMemory, wish: str) -> None:
    assert believed(told(newcomer, "My girlfriend is called Ingrid.", wish)) == ["Separated from Ingrid"]


def test_a_hobby_given_up_after_something_is_over(newcomer: UserMemory) -> None:
    assert "Plays tennis" not in believed(told(newcomer, "I play tennis.", "I no longer play tennis after my injury."))


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (
            ("My girlfriend is called Ingrid.", "Ingrid and I broke up.", "Ingrid and I are back together."),
            "Back together with Ingrid",
        ),
        (("我女朋友叫小美。", "我和小美分手了。", "我和小美和好了。"), "和小美又在一起了"),
    ],
)
def test_a_couple_that_is_one_again_is_believed_to_be(newcomer: UserMemory, lines: tuple[str, ...], value: str) -> None:
    assert believed(told(newcomer, *lines)) == [value]


def test_a_moved_day_moves_facts_of_it_when_both_are_told_in_one_batch(newcomer: UserMemory) -> None:
    user = told(
        newcomer,
        "My brother Tiago is getting married in Lisbon on 5 September.",
        "The wedding has been moved to 12 September because the church was taken.",
        at_once=True,
    )
    assert believed(user) == ["Tiago (brother) is getting married in Lisbon on 2026-09-12"]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("first", "later", "stays"),
    [
        (
            "My brother is getting married on 5 September.",
            "My cousin's wedding has been moved to 12 September.",
            "09-05",
        ),
        ("I'm flying to Rome on 20 May.", "My flight to Oslo is cancelled.", "05-20"),
        ("I'm flying to Rome on 20 May.", "My flight to Oslo has been moved to 22 May.", "05-20"),
        ("I'm flying to Rome on 20 May.", "My brother cancelled his flight to Rome.", "05-20"),
        ("I'm flying to Rome on 20 May.", "I almost cancelled the flight to Rome.", "05-20"),
        ("My meeting with Anna is on 20 May.", "The meeting with Tom has been moved to 22 May.", "05-20"),
        ("I have a dentist appointment on 20 May.", "My son's dentist appointment has been moved to 22 May.", "05-20"),
        ("My boss Henrik wants the report by 20 May.", "Henrik moved the deadline of the budget to 22 May.", "05-20"),
        ("我和小李5月20日开会。", "和小王的会议取消了。", "05-20"),
    ],
)
def test_a_change_of_another_event_leaves_the_event(
    newcomer: UserMemory, first: str, later: str, stays: str, at_once: bool
) -> None:
    user = told(newcomer, first, later, at_once=at_once)
    kept = [item for item in user.items("episodic") if f"2026-{stays}" in item.text and "called off" not in item.text]
    assert [item.event_type for item in kept if item.event_type == "cancellation"] == []
    assert len(kept) == 1


@pytest.mark.parametrize(
    ("first", "later", "now"),
    [
        ("My meeting with Anna is on 20 May.", "The meeting has been moved to 22 May.", "05-22"),
        ("My meeting with Anna is on 20 May.", "Anna moved the meeting to 22 May.", "05-22"),
        ("My brother is getting married on 5 September.", "Tiago's wedding has been moved to 12 September.", "09-12"),
        ("My brother Tiago is getting married on 5 September.", "Tiago moved the wedding to 12 September.", "09-12"),
        ("My meeting with Anna is on 6 June.", "The meeting has been moved to 9 June.", "06-09"),
        ("我和小李6月6日开会。", "和小李的会议改到6月9日了。", "06-09"),
        ("My mum has surgery on 20 May.", "My mother's surgery has been moved to 22 May.", "05-22"),
    ],
)
def test_a_change_of_the_same_event_changes_it(newcomer: UserMemory, first: str, later: str, now: str) -> None:
    days = [f"{item.occurred_at:%m-%d}" for item in told(newcomer, first, later).items("episodic")]
    assert days == [now]


@pytest.mark.parametrize(
    ("first", "later", "now"),
    [
        ("I'm vegetarian.", "I started eating chicken again.", ["Eats chicken now"]),
        ("I'm a vegetarian.", "I've gone back to eating fish.", ["Eats fish now"]),
        ("I'm vegan.", "I eat cheese again.", ["Eats cheese now"]),
        ("I don't eat meat.", "I've started eating meat again.", ["Eats meat now"]),
        ("I'm teetotal.", "I started drinking again.", ["Drinks alcohol now"]),
        ("我吃素。", "我又开始吃肉了。", ["现在吃肉"]),
        ("I'm vegetarian.", "I eat cheese again.", ["Is vegetarian", "Eats cheese now"]),
        ("I'm pescatarian.", "I eat fish again.", ["Is pescatarian", "Eats fish now"]),
        ("I'm vegetarian.", "I might start eating meat again.", ["Is vegetarian"]),
        ("I'm vegetarian.", "If I started eating meat again, I'd feel ill.", ["Is vegetarian"]),
        ("I'm vegetarian.", "I'm having dinner now.", ["Is vegetarian"]),
    ],
)
def test_a_diet_is_over_when_what_it_rules_out_is_eaten_again(
    newcomer: UserMemory, first: str, later: str, now: list[str]
) -> None:
    assert sorted(believed(told(newcomer, first, later))) == sorted(now)


@pytest.mark.parametrize(
    "later", ["I ate meat yesterday.", "My son started eating meat again.", "I started eating less meat."]
)
def test_a_diet_stays_where_it_is_no_habit_of_the_user_again(newcomer: UserMemory, later: str) -> None:
    assert "Is vegetarian" in believed(told(newcomer, "I'm vegetarian.", later))
