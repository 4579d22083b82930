"""Event types by rules: coarse acts, fine types below them, exchanges, questions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.intent.contract import StepView, Vectors
from hexamem.intent.entities import EntityLabeler, entity_seeds
from hexamem.intent.events.cues import COARSE, coarse_synonyms
from hexamem.intent.events.labeler import EventDecision, EventLabeler, EventSettings, event_seeds
from hexamem.intent.vocabulary import Vocabulary


def embed(texts: Sequence[str]) -> Vectors:
    """No name is near another."""
    return np.zeros((len(texts), 8), np.float32)


class Talk:
    """Steps labelled one after the other."""

    def __init__(self, **given: int) -> None:
        self.entities = EntityLabeler(Vocabulary("ada", "entity", embed, seeds=entity_seeds()))
        vocabulary = Vocabulary("ada", "event", embed, seeds=event_seeds(), synonyms=coarse_synonyms())
        self.events = EventLabeler(vocabulary, EventSettings(**given))
        self.steps: list[StepView] = []

    def say(self, text: str, speaker: str = "user", role: str | None = None) -> EventDecision:
        step = StepView(
            id=f"step_{len(self.steps)}",
            thread_id="t",
            turn=len(self.steps),
            role=role or (speaker if speaker in ("user", "assistant", "tool") else "other"),
            speaker=speaker,
            text=text,
            occurred_at=datetime(2025, 1, 1, tzinfo=UTC),
            vector=np.zeros(8, np.float32),
        )
        decision = self.events.label(step, self.steps, self.entities.label(step))
        self.steps.append(step)
        return decision

    def act(self, text: str, speaker: str = "user", role: str | None = None) -> str:
        return self.name(self.say(text, speaker, role).coarse)

    def name(self, label: str) -> str:
        found = self.events.vocabulary.get(label)
        assert found is not None
        return found.name


def test_there_are_at_most_fifteen_coarse_types() -> None:
    assert len(event_seeds()) <= 15
    assert set(coarse_synonyms().values()) <= set(event_seeds()) == set(COARSE.values())


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Where is the museum?", "Ask"),
        ("How long does the ferry take?", "Ask"),
        ("I'd suggest the small hotel near the harbour.", "Propose"),
        ("How about Thai food tonight?", "Propose"),
        ("Please send the invoice to the client today.", "Request"),
        ("Let's go with the second hotel.", "Decide"),
        ("Change of plan: cancel the boat trip.", "Revise"),
        ("The deadline is no longer 3 May, take 9 May.", "Revise"),
        ("I want to change the hotel to the second one.", "Revise"),
        ("Let's move on to the next topic.", "Plan"),
        ("Now let's plan day 2.", "Plan"),
        ("Our budget is €300 in all.", "Plan"),
        ("The deadline is 12 May.", "Plan"),
        ("Olga is in charge of the parser.", "Request"),
        ("Don't forget the tent pegs.", "Request"),
        ("Can you find us a room for two?", "Ask"),
        ("The first one against the third one, by price.", "Compare"),
        ("The tram is cheaper than the taxi, but slower compared to the train.", "Compare"),
        ("I love this place, it's beautiful.", "Claim"),
        ("I concede that access matters, that's a fair point.", "Confirm"),
        ("The export is finished and deployed.", "Report"),
        ("Last weekend I went hiking with my dog.", "Report"),
        ("I'm blocked by the missing keys.", "Raise problem"),
        ("To sum up: we ship on Friday.", "Report"),
        ("Thank you so much, have a great day!", "Socialize"),
        ("请问博物馆几点开门？", "Ask"),
        ("我建议住在湖边。", "Propose"),
        ("那就选第二家，决定了。", "Decide"),
        ("接下来讨论预算。", "Plan"),
        ("酒店改成第二家。", "Revise"),
        ("收到，记下了。", "Confirm"),
        ("这两家对比一下，哪个更便宜？", "Compare"),
        ("接口已经完成了，测试也通过。", "Report"),
        ("我被权限卡住了。", "Raise problem"),
        ("总结一下：周五上线。", "Report"),
        ("谢谢你，再见！", "Socialize"),
    ],
)
def test_a_single_step_shows_its_act(text: str, act: str) -> None:
    assert Talk().act(text) == act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        (
            "We contend that libraries must stay open on Sundays. They are essential, because families work all week. "
            "Therefore the city should pay for it.",
            "Claim",
        ),
        (
            "According to a 2021 study, visits rose by 34 percent. A survey found that 61% of readers came on Sundays "
            "(Okafor 2022). Data from two towns show the same.",
            "Cite evidence",
        ),
        (
            "My opponent ignores the cost. Their argument assumes that staff will work for nothing, which is mistaken. "
            "That claim is flawed and contradicts their own numbers.",
            "Rebut",
        ),
        ("Would you agree that staff need rest? And who would pay for the extra hours?", "Ask"),
        ("In conclusion, to sum up our case: open libraries serve everyone. We urge you to vote for it.", "Report"),
    ],
)
def test_the_turns_of_a_debate_show_their_act(text: str, act: str) -> None:
    assert Talk().act(text, "affirmative-debater") == act


def test_a_short_word_on_a_proposal_decides_and_what_confirms_it_decides_too() -> None:
    talk = Talk()
    talk.say("Where could we eat tonight?")
    assert talk.act("Two places: Casa Nero, mains €14, or Blue Door, €18, both open late.", "assistant") == "Propose"
    assert talk.act("Casa Nero, eight o'clock.") == "Decide"
    assert talk.act("Casa Nero at 20:00 for two.", "assistant") == "Decide"
    assert talk.act("And for day 3, gardens.") == "Plan"


def test_a_short_word_on_what_was_settled_confirms_it_and_one_with_news_of_its_own_does_not() -> None:
    talk = Talk()
    talk.say("Let's take the blue room.")
    assert talk.act("Very well, the blue room.", "assistant") == "Confirm"
    talk.say("Our budget is €300.")
    assert talk.act("€300, good.", "assistant") == "Confirm"
    talk.say("Let's take the blue room.")
    long = "The blue room it is: two nights from 4 May at €80 each, breakfast included, and the key is at the bar."
    assert talk.act(long, "assistant") == "Decide"


def test_among_people_a_short_word_on_a_report_confirms_and_small_talk_answers_small_talk() -> None:
    talk = Talk()
    talk.say("The export is finished and deployed.", "ann")
    assert talk.act("Splendid work.", "bob") == "Confirm"
    talk.say("Good morning!", "ann")
    assert talk.act("Lovely to be here.", "bob") == "Socialize"


def test_things_set_out_alike_with_figures_are_proposed() -> None:
    talk = Talk()
    talk.say("Which engine would carry the load?", "ann")
    assert (
        talk.act("Hornet [€20 a month; 3 days to set up] or Beetle [€35 a month; 1 day to set up].", "bob") == "Propose"
    )


def test_a_short_retort_rebuts_and_giving_in_confirms() -> None:
    talk = Talk()
    talk.say("We contend that libraries must stay open, because families need them.", "affirmative-debater")
    assert talk.act("Empty words.", "negative-debater") == "Rebut"
    talk.say("It costs 4 percent of the budget.", "affirmative-debater")
    assert talk.act("I admit 4 percent.", "negative-debater") == "Confirm"


def test_going_back_to_something_is_not_what_a_step_does_where_it_does_more() -> None:
    assert Talk().act("Back to the parser.", "ann") == "Plan"
    assert Talk().act("Back to the parser. Who tests it?", "ann") == "Ask"


def test_an_answer_informs_and_the_answer_to_a_comparison_compares() -> None:
    talk = Talk()
    talk.say("Does the castle close early?")
    assert talk.act("At five, with the last entry at half past four.", "assistant") == "Inform"
    talk.say("Here are two options: the red tram or the blue boat.", "assistant")
    assert talk.act("The tram or the boat, with a pram?") == "Compare"
    assert talk.act("The boat has more room for it.", "assistant") == "Compare"


def test_a_word_on_ones_own_proposal_does_not_decide() -> None:
    talk = Talk()
    talk.say("I suggest the lake.", "ann")
    assert talk.act("It has a long sandy shore.", "ann") != "Decide"


def test_tool_calls_request_and_observations_inform() -> None:
    talk = Talk()
    talk.say("Which hotels are free?")
    assert talk.act("search_hotels(city=Oslo, guests=2)", "assistant") == "Request"
    assert talk.act('[{"name": "Fjord Inn", "price": 120}]', "tool") == "Inform"


def test_fine_types_are_drawn_up_from_frequent_pairs_after_the_first_steps() -> None:
    talk = Talk(seed_after=4)
    first = talk.say("I suggest a hotel by the lake.")
    talk.say("I recommend the old hotel.")
    talk.say("Thanks!")
    assert talk.events.refinements() == {}
    assert talk.name(first.ids[0]) == "Propose"
    last = talk.say("I suggest a hotel in town.")
    assert talk.name(last.ids[0]) == "Propose hotel"
    assert talk.events.vocabulary.coarse(last.ids[0]) == last.coarse == first.coarse
    refined = talk.events.refinements()
    assert set(refined) == {"step_0", "step_1"}
    assert {ids[0] for ids in refined.values()} == {last.ids[0]}
    assert talk.events.refinements() == {}


def test_a_pair_seen_once_does_not_become_a_type() -> None:
    talk = Talk(seed_after=1)
    talk.say("Hello!")
    assert talk.name(talk.say("I suggest a hotel by the lake.").ids[0]) == "Propose"
    assert talk.name(talk.say("I suggest a hotel in town.").ids[0]) == "Propose hotel"


def test_fine_types_below_one_coarse_type_stay_few() -> None:
    talk = Talk(seed_after=1, support=1, max_fine=2)
    for thing in ("hotel", "restaurant", "museum", "flight"):
        talk.say(f"I suggest a {thing} that I know.")
    assert sum(label.parent_id is not None for label in talk.events.vocabulary.live()) <= 2


def test_labelling_goes_on_with_the_fine_types_of_an_earlier_process() -> None:
    talk = Talk(seed_after=1, support=1)
    talk.say("Hi!")
    fine = talk.say("I suggest a hotel by the lake.").ids[0]
    again = Talk()
    again.events.vocabulary.restore(talk.events.vocabulary.records())
    assert again.say("I suggest a hotel in town.").ids[0] == fine


def test_a_coarse_type_that_a_person_renamed_keeps_its_id() -> None:
    talk = Talk()
    made = talk.events.vocabulary.add("Propose")
    talk.events.vocabulary.restore([made.changed(name="Ideas", pinned=True)])
    assert talk.say("I suggest the lake.").coarse == made.id


@pytest.mark.parametrize(
    ("question", "act"),
    [
        ("Which hotels did we compare?", "Compare"),
        ("What did she decide about the venue?", "Decide"),
        ("What did the assistant recommend for dinner?", "Propose"),
        ("Which blockers came up last week?", "Raise problem"),
        ("How did the opposition rebut the cost argument?", "Rebut"),
        ("我们最后决定住哪里？", "Decide"),
        ("What did we decide about the hotel?", "Revise"),
    ],
)
def test_a_question_names_the_act_it_asks_about(question: str, act: str) -> None:
    talk = Talk()
    for name in event_seeds():
        talk.events.vocabulary.add(name)
    found = talk.events.of_query(question)
    assert act in [talk.name(label) for label, _ in found]
    assert all(0 < weight <= 1 for _, weight in found)


@pytest.mark.parametrize("question", ["", "Where is Anna?", "How much is the ticket?", "她几岁？"])
def test_a_question_that_names_no_act_gets_none(question: str) -> None:
    talk = Talk()
    for name in event_seeds():
        talk.events.vocabulary.add(name)
    assert talk.events.of_query(question) == []


def test_a_question_names_the_fine_type_before_the_coarse_one_and_none_that_no_step_carries() -> None:
    talk = Talk(seed_after=1, support=1)
    assert talk.events.of_query("Which hotels did you suggest?") == []
    talk.say("Hi!")
    talk.say("I suggest a hotel by the lake.")
    found = talk.events.of_query("Which hotels did you suggest?")
    assert [talk.name(label) for label, _ in found] == ["Propose hotel", "Propose"]


def test_an_exchange_is_taken_up_after_a_restart() -> None:
    talk = Talk()
    talk.say("Where could we eat tonight?")
    talk.say("Two places: Casa Nero, mains €14, or Blue Door, €18, both open late.", "assistant")
    again = Talk()
    again.steps = list(talk.steps)
    assert again.act("Casa Nero, eight o'clock.") == talk.act("Casa Nero, eight o'clock.") == "Decide"


def test_labels_do_not_depend_on_what_comes_later() -> None:
    texts = ["Where could we sleep?", "I suggest the hotel by the lake.", "Good, that one.", "Thanks!"]
    whole, part = Talk(), Talk()
    decisions = [whole.say(text, speaker) for text, speaker in zip(texts, ("user", "assistant") * 2, strict=True)]
    for text, speaker, decision in zip(texts[:2], ("user", "assistant"), decisions, strict=False):
        assert part.say(text, speaker) == decision


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.text(max_size=80), st.text(alphabet="or? let's go\n.,$1()=酒店吗？\ud800\x00", max_size=80)),
            st.sampled_from(["user", "assistant", "tool", "pro-side-debater", ""]),
        ),
        max_size=6,
    )
)
def test_no_talk_breaks_it_and_every_step_gets_a_type(talk_: list[tuple[str, str]]) -> None:
    talk = Talk(seed_after=3)
    for text, speaker in talk_:
        decision = talk.say(text, speaker)
        assert decision.ids
        assert len(set(decision.ids)) == len(decision.ids) <= 3
        assert 0 <= decision.confidence <= 1
        assert talk.events.vocabulary.coarse(decision.ids[0]) == decision.coarse


@pytest.mark.parametrize(
    "text", ["?" * 3_000_000, "or? " * 1_000_000, "let's " * 900_000, "- a\n" * 1_000_000, "a(" * 2_000_000]
)
def test_megabytes_do_not_stop_it(text: str) -> None:
    assert Talk().say(text).ids


# ---------------------------------------------------------------------- what is the case


@pytest.mark.parametrize(
    "text",
    [
        "The spare key is under the blue pot.",
        "Malmö to Lund is about 20 km.",
        "My brother has a new job.",
        "Note that the alarm code is 4417.",
        "I have a piano exam in March.",
        "备用钥匙在抽屉里。",
    ],
)
@pytest.mark.parametrize("before", ["I'd suggest the fish restaurant by the harbour. Shall we?", ""])
def test_saying_what_is_the_case_settles_nothing_that_was_proposed(text: str, before: str) -> None:
    talk = Talk()
    if before:
        talk.say(before, "assistant")
    assert talk.act(text) not in ("Decide", "Confirm")


@pytest.mark.parametrize(
    "text", ["The second one is perfect.", "The small hotel is fine, book it.", "Thai food it is."]
)
def test_taking_up_a_proposal_settles_it_though_it_says_is(text: str) -> None:
    talk = Talk()
    talk.say("I'd suggest the small hotel, or the big one with Thai food. Which one?", "assistant")
    assert talk.act(text) == "Decide"


@pytest.mark.parametrize(
    "text", ["Hello! I'm Vera, a nurse from Gdańsk.", "Hi, my name is Otto.", "你好,我叫小陈,住在厦门。"]
)
def test_who_says_who_they_are_tells_something(text: str) -> None:
    assert Talk().act(text) == "Inform"
