"""Scopes of everyday talk: diaries, chats of many matters, trips that are told of and not planned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from hexamem.intent.contract import LabeledStep, StepView
from hexamem.intent.scopes.introduction import topic_name
from hexamem.intent.scopes.text import read_words
from hexamem.intent.scopes.tracker import ScopeTracker
from hexamem.stores.embedders import Embedder, open_embedder

START = datetime(2026, 9, 1, 9, tzinfo=UTC)


@cache
def embedder() -> Embedder:
    return open_embedder("bundled")


def scopes_of(talk: Sequence[str | float]) -> list[str]:
    """The name of each line's scope in the end; "A: …" is the assistant's, a number a pause in hours before the next line."""
    lines: list[tuple[str, str, datetime]] = []
    at = START
    for one in talk:
        if isinstance(one, str):
            answer = one.startswith("A: ")
            lines.append(("assistant" if answer else "user", one.removeprefix("A: "), at))
            at += timedelta(minutes=2)
        else:
            at += timedelta(hours=one)
    tracker = ScopeTracker("ann", embedder().embed_documents)
    vectors = embedder().embed_documents([text for _, text, _ in lines])
    scopes: dict[str, str] = {}
    for turn, ((role, text, said), vector) in enumerate(zip(lines, vectors, strict=True)):
        step = StepView(
            id=f"s{turn}", thread_id="t", turn=turn, role=role, speaker=role, text=text, occurred_at=said, vector=vector
        )
        decision = tracker.assign(step)
        scopes.update(dict.fromkeys((step.id, *decision.revised), decision.scope_id))
    names = {label.id: label.name for label in tracker.labels}
    return [names[tracker.canonical(scopes[f"s{turn}"])] for turn in range(len(lines))]


def test_the_mark_and_id_of_a_secret_are_no_words_of_the_step() -> None:
    words = read_words("Our new code is {{vault:vault_01abc9xyz|access code of the shed}}.")
    assert "{{" not in words.text
    assert "shed" in words.terms
    assert not any("vault" in token for token in words.tokens)


def test_a_trip_that_is_only_told_of_has_no_days() -> None:
    scopes = scopes_of(
        [
            "I'm travelling to Cremona on 3 October for the violin makers' fair and come home on the 6th.",
            "A: Noted: Cremona from 3 to 6 October.",
        ]
    )
    assert scopes == ["Cremona trip"] * 2


def test_a_date_within_a_trip_that_was_told_of_draws_nothing_else_into_it() -> None:
    scopes = scopes_of(
        [
            "I'm travelling to Cremona on 3 October for the violin makers' fair and come home on the 6th.",
            "A: Noted: Cremona from 3 to 6 October.",
            "My tax adviser needs the receipts by 4 October.",
            "A: Noted: receipts to the tax adviser by 4 October.",
            "Emil's kindergarten has an autumn party on 5 October.",
            "A: Noted: autumn party on 5 October.",
        ]
    )
    assert scopes[0] == scopes[1] == "Cremona trip"
    assert not any("trip" in scope for scope in scopes[2:])
    assert scopes[2] == scopes[3] != scopes[4] == scopes[5]


def test_after_other_matters_a_trip_that_was_told_of_is_found_again_by_its_town() -> None:
    scopes = scopes_of(
        [
            "I'm flying to Bergen on 8 May to visit a shipyard, back on the 11th.",
            "A: Noted: Bergen from 8 to 11 May.",
            "Remember how we open the shop: sweep the floor, count the till, water the plants, then unlock the door.",
            "A: The opening procedure is stored.",
            "When do I come back from Bergen?",
            "A: On 11 May.",
        ]
    )
    assert scopes[0] == scopes[4] == scopes[5] == "Bergen trip"
    assert scopes[2] != "Bergen trip"


def test_a_trip_that_was_told_of_has_days_once_they_are_planned() -> None:
    scopes = scopes_of(
        [
            "I'm flying to Bergen on 8 May, back on the 11th.",
            "A: Noted: Bergen from 8 to 11 May.",
            "Let's plan Bergen. Day 1: what can I see near the harbour?",
            "A: The old wharf and the fish market.",
            "Now day 2, please.",
            "A: You could take the funicular up the mountain.",
        ]
    )
    assert scopes[2] == "Bergen trip / Day 1"
    assert scopes[4] == "Bergen trip / Day 2"


def test_a_chinese_trip_that_is_told_of_keeps_to_itself() -> None:
    scopes = scopes_of(
        [
            "我12月8号飞东京参加书展，11号回来。",
            "A: 记下了：12月8日到11日，东京。",
            "我妈上周做了膝盖手术，住在市一医院三楼。",
            "A: 希望阿姨早日康复。",
            "我什么时候从东京回来？",
            "A: 12月11日。",
        ]
    )
    assert scopes[0] == scopes[4] == "东京之行"
    assert scopes[2] == scopes[3] != "东京之行"


def test_an_entry_after_days_of_silence_begins_a_topic_of_its_own() -> None:
    scopes = scopes_of(
        [
            "Planted twelve tulip bulbs along the fence today.",
            75.0,
            "Choir practice was long, we sang the requiem right through.",
            60.0,
            "My right knee aches when I climb stairs.",
        ]
    )
    assert len(set(scopes)) == 3


def test_an_entry_comes_back_to_the_matter_of_weeks_ago() -> None:
    scopes = scopes_of(
        [
            "Planted twelve tulip bulbs along the fence today.",
            75.0,
            "My right knee aches when I climb stairs.",
            300.0,
            "A frost came early; I covered the tulip bulbs with straw.",
            90.0,
            "The doctor says the knee needs rest and an ice pack every evening.",
        ]
    )
    assert scopes[0] == scopes[2] != scopes[1] == scopes[3]


def test_what_is_written_in_one_sitting_stays_together() -> None:
    scopes = scopes_of(
        [
            "The new flat has two rooms and a small balcony.",
            "The balcony looks out on the canal.",
            "The landlord painted the rooms before we came.",
        ]
    )
    assert len(set(scopes)) == 1


def test_an_entry_long_after_a_trip_is_no_more_of_it() -> None:
    scopes = scopes_of(
        [
            "I booked a ferry to Gotland for 3 June, returning on the 9th.",
            200.0,
            "The soloist fell ill, so I may sing the alto part.",
            50.0,
            "The ferry to Gotland was moved to 4 June.",
        ]
    )
    assert scopes[0] == scopes[2] != scopes[1]


PLANNED = [
    "Can you help me plan three days in Ghent, 9 to 11 October? Let's start with day 1.",
    "A: Gladly! On day 1 you could see the castle and take a boat on the canals.",
    "Good. And where do we eat?",
    "A: Try the fish place by the market hall.",
]


def test_days_after_a_trip_was_planned_what_has_no_word_of_it_is_something_else() -> None:
    scopes = scopes_of(
        [
            *PLANNED,
            50.0,
            "The boiler makes a rattling noise again, the plumber is coming at four.",
            "A: Noted: the plumber at four.",
            "He says the pump must be replaced, it costs 380 euros.",
            "A: Noted: new pump, 380 euros.",
            70.0,
            "Back to Ghent: is there a market on the last day?",
            "A: Yes, the flower market.",
            "The new pump was fitted today, the heating works again.",
            "A: Great news.",
        ]
    )
    assert scopes[4] == scopes[5] == scopes[6] == scopes[7] == scopes[10] == scopes[11]
    assert scopes[0] == "Ghent trip / Day 1" != scopes[4]
    assert scopes[8] == "Ghent trip / Day 3"


def test_a_matter_that_was_spoken_of_before_is_gone_back_to_from_the_midst_of_a_trip() -> None:
    scopes = scopes_of(
        [
            "The dentist put off my appointment until the spring.",
            "A: Noted.",
            *PLANNED,
            "When is the appointment with my dentist?",
            "A: In the spring.",
            "Is the castle open on Fridays?",
            "A: Yes, until five.",
        ]
    )
    assert scopes[6] == scopes[7] == scopes[0]
    assert scopes[8] == scopes[9] == "Ghent trip / Day 1"


def test_questions_without_a_word_of_travel_stay_in_the_trip_that_is_being_planned() -> None:
    scopes = scopes_of([*PLANNED, "Which one is cheaper?", "A: The second.", "Fine, take that, for four people."])
    assert set(scopes) == {"Ghent trip / Day 1"}


def test_a_code_in_what_a_person_tells_an_assistant_introduces_no_project() -> None:
    scopes = scopes_of(
        [
            "I'm a baker in Lund.",
            "A: Nice to meet you!",
            "Ola suggested flour T65 for the Mellby loaves, but I've decided on T80 because it rises better.",
            "A: Noted: T80 for the loaves.",
            "My wife's birthday is on 14 December. She loves pottery.",
            "A: Noted: 14 December, pottery.",
        ]
    )
    assert not any("–" in scope for scope in scopes)
    assert scopes[2] == scopes[3] != scopes[4] == scopes[5]


def test_a_code_in_a_diary_introduces_no_project() -> None:
    scopes = scopes_of(
        [
            "Rain all day, I repaired the kitchen shelf.",
            50.0,
            "Grandmother turned ninety, the whole family came.",
            60.0,
            "I bought a used Volvo V60 from my neighbour Sten.",
            70.0,
            "The soup recipe with fennel was too salty.",
        ]
    )
    assert not any("–" in scope for scope in scopes)
    assert scopes[2] != scopes[3]


def test_a_code_in_the_first_words_to_an_assistant_does_not_hold_all_that_follows() -> None:
    scopes = scopes_of(
        [
            "Morning. I'm Leila, I look after parcel-api and the sorter. Before anything else, a house rule: no deploys on a Friday.",
            "A: Good morning, Leila. Noted: no deploys on Fridays.",
            80.0,
            "The plumber says the whole bathroom has to come out, tiles and all.",
            "A: Good luck with the plumber.",
            90.0,
            "I strained my calf on the hill, so the half marathon is off.",
            "A: I hope it heals quickly.",
        ]
    )
    assert scopes[0] != scopes[2] == scopes[3] != scopes[4] == scopes[5]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My girlfriend Ingrid lives in Copenhagen.", "Girlfriend Ingrid"),
        ("My brother Tiago is getting married in Lisbon on 5 September.", "Brother Tiago"),
        ("My husband Teun teaches chemistry and our daughter Saar is seven.", "Husband Teun"),
        ("Choir practice was long, we sang the Fauré requiem right through.", "Fauré requiem"),
        ("I've started learning Swedish sign language for a patient of mine.", "Swedish sign language"),
    ],
)
def test_a_topic_is_called_by_a_noun_phrase_before_a_name_alone(text: str, name: str) -> None:
    assert topic_name(text) == (name, False)


def test_a_name_alone_names_a_topic_where_nothing_tells_more() -> None:
    assert topic_name("We moved to Bath on Saturday.") == ("Bath", False)


def test_what_a_text_calls_itself_is_no_topic() -> None:
    scopes = scopes_of(
        [
            "The plumber is coming to mend the boiler.",
            "A: Noted.",
            "Small correction: Mona's cello lesson is on Fridays, not on Wednesdays.",
            "A: Corrected.",
        ]
    )
    assert scopes[2] == scopes[3] == "Mona's cello lesson"


def test_a_name_leads_from_a_trip_back_to_the_matter_that_has_it() -> None:
    scopes = scopes_of(
        [
            "My colleague Pieter is thinking of quitting, that stays between us.",
            "A: It stays between us.",
            *PLANNED,
            "Please forget what I told you about Pieter.",
            "A: Done, that is forgotten.",
        ]
    )
    assert scopes[0] == scopes[6] == scopes[7]


def test_a_trip_that_was_told_of_still_has_no_days_after_a_restart() -> None:
    first = ScopeTracker("ann", embedder().embed_documents)
    told = [
        "I'm flying to Bergen on 8 May to visit a shipyard, back on the 11th.",
        "The plumber is coming to mend the boiler.",
        "Ida's birthday is on 10 May, she wants a kite.",
    ]
    steps = [
        StepView(
            id=f"s{turn}",
            thread_id="t",
            turn=turn,
            role="user",
            speaker="user",
            text=text,
            occurred_at=START + timedelta(minutes=3 * turn),
            vector=embedder().embed_documents([text])[0],
        )
        for turn, text in enumerate(told)
    ]
    scope = first.assign(steps[0]).scope_id
    after = ScopeTracker("ann", embedder().embed_documents)
    kept = LabeledStep(step=steps[0], scope=scope, events=(), resolved_text=told[0], summary=told[0])
    after.restore(first.labels, {scope: [kept]})
    for step in steps[1:]:
        after.assign(step)
    assert not any("/" in label.name for label in after.labels)
