"""Key entity types by rules: what names a type, in steps and in questions."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.intent.contract import StepView, Vectors
from hexamem.intent.entities import EntityLabeler, EntitySettings, entity_seeds, entity_synonyms
from hexamem.intent.vocabulary import Vocabulary, VocabularySettings


def embed(texts: object) -> Vectors:
    """No name is near another."""
    return np.zeros((len(list(texts)), 8), np.float32)  # type: ignore[call-overload]


def labeler(**given: VocabularySettings) -> EntityLabeler:
    return EntityLabeler(
        Vocabulary("ada", "entity", embed, seeds=entity_seeds(), synonyms=entity_synonyms(), **given),
        EntitySettings(max_types=20),
    )


def step(text: str) -> StepView:
    return StepView(
        id="step_1",
        thread_id="t",
        turn=0,
        role="user",
        speaker="ada",
        text=text,
        occurred_at=datetime(2025, 1, 1, tzinfo=UTC),
        vector=np.zeros(8, np.float32),
    )


def types(text: str, given: EntityLabeler | None = None) -> set[str]:
    rules = given or labeler()
    found = (rules.vocabulary.get(label) for label in rules.label(step(text)).ids)
    return {label.name for label in found if label}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It has 4.6 stars.", {"Rating"}),
        ("8.7/10 from 300 guests", {"Rating"}),
        ("$120 a night", {"Price"}),
        ("DKK 1,240 with a desk", {"Price"}),
        ("The draft is due Friday.", {"Deadline"}),
        ("Wages rose (KFF 2024).", {"Source"}),
        ("It fell (Smith et al., 2020).", {"Source"}),
        ("It fell [12].", {"Source"}),
        ("45% of them agreed.", {"Percentage"}),
        ("How much is it?", {"Price"}),
        ("What time does it open?", {"Opening hours"}),
        ("How far is it from here?", {"Distance"}),
        ("Write to anna.b@example.com.", {"Email"}),
        ("See https://example.com/hotel?day=2 for it.", {"URL"}),
        ("We run v2.3.1 there.", {"Version"}),
        ("HEX-12 is still open.", {"Task"}),
        ("COVID-19 changed a lot.", set()),
        ("Be there at 19:30.", {"Time"}),
        ("On 2025-06-03 then.", {"Date"}),
        ("It is a two hours flight.", {"Duration", "Flight"}),
        ("The forecast says rain.", {"Weather"}),
        ("My sister adopted a puppy.", {"Family", "Pet"}),
        ("这家酒店多少钱？", {"Hotel", "Price"}),
        ("博物馆几点开门？", {"Museum", "Opening hours"}),
        ("门票60元，评分很高", {"Ticket", "Price", "Rating"}),
    ],
)
def test_words_units_and_forms_name_a_type(text: str, wanted: set[str]) -> None:
    found = types(text)
    assert wanted <= found
    assert wanted or not found


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("It failed due to rain.", "Deadline"),
        ("Of course we can.", "School"),
        ("Can you book it?", "Book"),
        ("I took the train and then came home.", "Home"),
    ],
)
def test_words_that_only_look_like_a_type_name_none(text: str, absent: str) -> None:
    assert absent not in types(text)


def test_spans_point_at_the_words_and_carry_the_id_of_their_label() -> None:
    rules = labeler()
    text = "Two hotels, €90 each; one café."
    spans = rules.label(step(text)).spans
    assert [(text[span.start : span.end], span.name) for span in spans] == [
        ("hotels", "Hotel"),
        ("€90", "Price"),
        ("café", "Café"),
    ]
    assert [rules.vocabulary.resolve(span.label) for span in spans] == [span.label for span in spans]


def test_the_most_prominent_types_stay_where_there_are_many() -> None:
    rules = labeler()
    rules.settings = EntitySettings(max_types=1)
    assert types("Which hotel is best? The bus, a museum, a dinner. So which hotel?", rules) == {"Hotel"}


def test_a_question_names_the_types_it_is_about_and_circumstances_weigh_less() -> None:
    rules = labeler()
    rules.label(step("The hotel on Friday."))
    found = {
        label.name: weight
        for id_, weight in rules.of_query("Which hotels did we compare on Friday?")
        if (label := rules.vocabulary.get(id_))
    }
    assert found["Hotel"] == 1.0
    assert 0 < found["Date"] < 1


def test_a_question_names_no_type_that_no_step_carries() -> None:
    rules = labeler()
    assert rules.of_query("Which hotels did we compare?") == []
    assert rules.vocabulary.size == 0


@pytest.mark.parametrize("text", ["", "What did she say?", "嗯", "And then?"])
def test_a_question_that_does_not_say_enough_names_none(text: str) -> None:
    rules = labeler()
    rules.label(step("The hotel costs $90 on Friday."))
    assert rules.of_query(text) == []


def test_what_is_often_asked_for_becomes_a_type_of_its_own() -> None:
    rules = labeler()
    for _ in range(3):
        assert "Kayak" not in {label.name for label in rules.vocabulary.live()}
        rules.label(step("Which kayak should I take?"))
    assert types("The kayaks are gone.", rules) == {"Kayak"}


def test_a_label_that_a_person_renamed_or_merged_stands_for_its_type() -> None:
    rules = labeler()
    hotel, inn = rules.vocabulary.add("Hotel"), rules.vocabulary.add("Room")
    rules.vocabulary.restore([hotel.changed(name="Where we slept", pinned=True), inn.changed(alias_of=hotel.id)])
    assert rules.label(step("a hotel")).ids == (hotel.id,)
    assert rules.label(step("a double room")).ids == (hotel.id,)
    assert rules.label(step("where we slept was nice")).ids == (hotel.id,)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.text(alphabet="$€@#%(). 12:/-v酒店\ud800\n\x00", max_size=200)))
def test_no_text_breaks_it_and_spans_stay_inside(text: str) -> None:
    decision = labeler().label(step(text))
    assert all(0 <= span.start < span.end <= len(text) for span in decision.spans)
    assert {span.label for span in decision.spans} == set(decision.ids)


@pytest.mark.parametrize(
    "text", ["a" * 5_000_000, "a@" * 2_000_000, "(A " * 1_000_000, "$1 " * 1_000_000, "酒店" * 1_000_000]
)
def test_megabytes_are_read_at_their_start_and_end_only(text: str) -> None:
    decision = labeler().label(step(text))
    assert decision.tokens is not None
    assert len(decision.tokens.keys) < 30_000


def test_the_end_of_a_very_long_text_is_read() -> None:
    assert "Hotel" in types("word " * 100_000 + "and a hotel.")
