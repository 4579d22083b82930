"""A plan that changes without a new day, or told beside another one, moves or ends alone and keeps what was known of it."""

from __future__ import annotations

import pytest

from hexamem import UserMemory
from hexamem.memory_types import EpisodicItem

TWO = "I have the dentist on Monday and a meeting with Tom on Wednesday."
OSLO, HOME = "My flight to Oslo is on 12 December.", "My flight home is on 20 December."
DINNER = "Dinner with Ana at Luigi's on Saturday at 7pm."
JOE = "Dinner with Joe is on Monday at 7pm."
ZH_TWO = "我周一看牙医，周三和小李开会。"


def plans(user: UserMemory, *said: str) -> list[str]:
    """What is still planned after messages of Sunday, 22 November 2026: day, hour and words of each event."""
    for minute, text in enumerate(said):
        user.remember([{"role": "user", "content": text, "timestamp": f"2026-11-22T10:{minute:02}:00Z"}])
        user.memory.flush()
    events = [item for item in user.items("episodic") if isinstance(item, EpisodicItem)]
    ahead = sorted((item for item in events if item.event_type != "cancellation"), key=lambda item: item.occurred_at)
    return [f"{item.occurred_at:%m-%d %H:%M} {item.summary}" for item in ahead]


def has(told: list[str], moment: str, *words: str) -> bool:
    return any(one.startswith(moment) and all(word in one for word in words) for one in told)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ((TWO, "The dentist is moved to Friday."), [("11-25", "Tom"), ("11-27", "dentist")]),
        ((TWO, "The meeting with Tom is cancelled."), [("11-23", "dentist")]),
        ((OSLO, HOME, "The flight home has been moved to the 21st."), [("12-12", "Oslo"), ("12-21", "home")]),
        ((OSLO, HOME, "The flight to Oslo was pushed to the 13th."), [("12-13", "Oslo"), ("12-20", "home")]),
        (("I'm going to Prague on 4 December.", "Prague is postponed by a week."), [("12-11", "Prague")]),
        ((DINNER, "The dinner is now at 8."), [("11-28 20:00", "Ana", "Luigi")]),
        ((DINNER, "The dinner was moved to Sunday."), [("11-29", "Ana", "Luigi")]),
        ((DINNER, "They moved the dinner to Sunday."), [("11-29", "Ana", "Luigi")]),
        ((DINNER, "It's been pushed back two days."), [("11-30 19:00", "Ana")]),
        ((DINNER, "Same day but at 5pm."), [("11-28 17:00", "Ana")]),
        ((DINNER, JOE, "Dinner with Joe starts half an hour earlier."), [("11-23 18:30", "Joe"), ("11-28 19:00", "Ana")]),
        ((DINNER, "We had to delay the dinner by an hour."), [("11-28 20:00", "Luigi")]),
        (("The inspection is on Monday.", "The landlord had to put off the inspection by two days."), [("11-25", "inspection")]),
        (("The review is on Friday.", "The review has been brought forward to Tuesday."), [("11-24", "review")]),
        (("Our holiday in Crete is from 5 to 12 December.", "We postponed the holiday by a week."),
         [("12-12", "Crete", "2026-12-12 to 2026-12-19")]),
        ((ZH_TWO, "牙医改到周四了。"), [("11-25", "小李"), ("11-26", "牙医")]),
        ((ZH_TWO, "和小李的会取消了。"), [("11-23", "牙医")]),
        (("我12月4号去布拉格。", "布拉格之行推迟一周。"), [("12-11", "布拉格")]),
        (("面试是周二上午十点。", "面试推迟一个小时。"), [("11-24 11:00", "面试")]),
        (("周五下午三点有产品评审会。", "评审会提前到周三。"), [("11-25", "产品评审会")]),
    ],
)  # fmt: skip
def test_the_plan_that_is_meant_changes_and_the_others_stay(
    newcomer: UserMemory, said: tuple[str, ...], expected: list[tuple[str, ...]]
) -> None:
    told = plans(newcomer, *said)
    assert len(told) == len(expected)
    assert [one for one in expected if not has(told, *one)] == []


@pytest.mark.parametrize(
    ("earlier", "change"),
    [
        ([DINNER, JOE], "The dinner is now at 8."),
        ([DINNER, JOE], "The dinner is cancelled."),
        ([TWO], "It's been postponed by a week."),
        (["I have a dentist appointment on Monday and a vet appointment on Thursday."], "The appointment was moved to Friday."),
        ([OSLO], "The flight home is cancelled."),
        ([HOME], "The flight to Oslo was moved to the 13th."),
        ([OSLO], "Ben's flight is pushed to 14 December."),
        ([DINNER], "Saturday's dinner with Joe is an hour later."),
        ([JOE], "Saturday's dinner is pushed back an hour."),
        ([DINNER], "Is the dinner now at 8?"),
        ([DINNER], "They might push the dinner back by an hour."),
        ([DINNER], "I'd like to postpone the dinner by a week."),
        ([DINNER], "They won't postpone the dinner by a week."),
        ([DINNER], "Tom asked whether the dinner was moved to Sunday."),
        ([DINNER], "If they delay the dinner by an hour, I can come."),
        ([DINNER], "I usually have dinner two hours later."),
        ([DINNER], "Ana is two years older than me."),
        ([DINNER], "The shop is now at 8 Mill Lane."),
        ([DINNER], "The dinner wasn't moved to Sunday."),
        ([DINNER], "Tom moved his dinner back an hour."),
        (["The pitch at Acme is on Thursday at 10am."], "The pitch at Globex is cancelled."),
        (["周二早上九点打疫苗。"], "别把打疫苗推迟到周五。"),
        ([DINNER], "My neighbour's dinner was moved to Sunday."),
        (["The exam is on 3 December."], "The driving exam of my niece is postponed by a week."),
        ([ZH_TWO], "公司年会推迟一周。"),
        (["面试是周二上午十点。"], "我弟弟的面试推迟一个小时。"),
        (["周五下午三点有产品评审会。"], "评审会会不会提前到周三？"),
        (["周五下午三点有产品评审会。"], "希望评审会能推迟一天。"),
    ],
)  # fmt: skip
def test_what_is_another_or_not_clear_or_no_news_changes_no_plan(
    newcomer: UserMemory, earlier: list[str], change: str
) -> None:
    before = plans(newcomer, *earlier)
    after = plans(newcomer, change)
    assert before
    assert set(before) <= set(after)


def test_two_plans_of_one_sentence_are_two_events_each_told_in_full(newcomer: UserMemory) -> None:
    assert plans(newcomer, "Mia has a piano exam on 3 December and a swim meet on 5 December at 2pm.") == [
        "12-03 00:00 Mia has a piano exam on 2026-12-03",
        "12-05 14:00 Mia has a swim meet on 2026-12-05 at 2pm (2026-12-05 14:00)",
    ]


@pytest.mark.parametrize(
    "text", ["I work from home on Monday and Wednesday.", "We're in Rome between 1 December and 4 December."]
)
def test_two_days_of_one_thing_are_one_event(newcomer: UserMemory, text: str) -> None:
    assert len(plans(newcomer, text)) <= 1


def test_a_plan_told_long_before_is_found_in_memory(newcomer: UserMemory) -> None:
    chat = [
        "I like jazz.",
        "My car is red.",
        "We have two cats.",
        "I prefer tea.",
        "I like the sea.",
        "My hat is blue.",
    ]
    told = plans(newcomer, "The film with Ana is on Friday at 8pm.", *chat, "The film is pushed back by a day.")
    assert told == ["11-28 20:00 The film with Ana is on 2026-11-28 at 8pm (2026-11-28 20:00)"]


def test_the_words_that_say_more_of_a_moved_event_are_kept_beside_it(newcomer: UserMemory) -> None:
    plans(newcomer, DINNER, "The dinner was moved to Sunday because of the marathon.")
    (event,) = newcomer.items("episodic")
    assert isinstance(event, EpisodicItem)
    assert "Luigi" in event.summary
    assert "marathon" in event.details


@pytest.mark.parametrize(
    "text",
    [
        "the " * 80 + "dinner is now at 8.",
        "moved the " + "dinner " * 80 + "to 8.",
        "pushed the " * 60 + "dinner back by " * 20 + "a week",
        "was been " * 80 + "postponed by a week",
        "it and " * 60 + "Monday and it " * 30,
        "推迟" * 80 + "一周",
        "周一" * 80 + "改到八点",
    ],
)
def test_words_said_over_and_over_are_read_to_their_end(newcomer: UserMemory, text: str) -> None:
    plans(newcomer, DINNER)
    newcomer.remember(text)
    newcomer.memory.flush()
    assert len(newcomer.steps()) == 2
