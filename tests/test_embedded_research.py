"""Research without a model: how questions are read, sentences scored and quoted, and when it searches again or abstains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.agents import embedded_research as engine
from hexamem.agents.embedded_research import MAIN_NEED, NOT_HELD, extract, reflect, score_sentences
from hexamem.agents.research_question import Question, read_question
from hexamem.memory_types import utc_now
from hexamem.memory_types.items import Source
from hexamem.memory_types.research import LANES, Passage
from hexamem.memory_types.times import read_zone
from hexamem.models.encoder import EncodedText

NOW = datetime(2026, 5, 3, 10, tzinfo=UTC)
_WORD = re.compile(r"\w+")


def encode(texts: Sequence[str]) -> list[EncodedText]:
    """A bag of words in place of an encoder: each word has a direction of its own."""
    return [_encoded(text) for text in texts]


_ROWS: dict[str, int] = {}


def _encoded(text: str) -> EncodedText:
    words = list(_WORD.finditer(text.casefold()))
    states = np.zeros((len(words), 512), np.float16)
    for at, word in enumerate(words):
        states[at, _ROWS.setdefault(word.group(), len(_ROWS))] = 1
    total = states.astype(np.float32).sum(axis=0)
    return EncodedText(
        vector=total / max(float(np.linalg.norm(total)), 1e-9),
        states=states,
        offsets=np.array([word.span() for word in words], np.int32).reshape(-1, 2),
    )


def step(number: int, text: str, speaker: str = "user", round: int = 1) -> Passage:
    name = f"step_{number}"
    when = NOW.replace(hour=number)
    return Passage(
        id=name, kind="step", text=text, speaker=speaker, occurred_at=when, sources=(Source(step_id=name),), round=round
    )


def asking(text: str, *speakers: str) -> Question:
    return read_question(text, speakers, NOW, UTC)


def quotes(question: str, *passages: Passage) -> list[str]:
    sentences = score_sentences(asking(question), (), passages, encode)
    return [one.quote for one in extract(sentences, UTC, 1).claims]


# Reading a question.


def read(text: str, *speakers: str) -> Question:
    return read_question(text, speakers or ("Nora", "Theo"), utc_now(), read_zone("UTC"))


def test_a_question_names_speakers_by_their_first_names_and_is_searched_without_them() -> None:
    question = read("What are Nora's cats called?", "Nora Quinn", "Theo")
    assert question.speakers == {"nora quinn"}
    assert question.bare == "What are cats called?"
    assert read("诺拉的猫叫什么？", "诺拉", "西奥").speakers == {"诺拉"}


def test_a_name_within_another_word_and_a_role_name_nobody() -> None:
    assert read("Is the user theoretically right?").speakers == frozenset()
    assert read("What did the user say?", "user", "assistant").speakers == frozenset()


def test_a_time_in_a_question_bounds_a_search_and_does_not_stand_in_its_words() -> None:
    question = read("What did Theo do on 10 April 2025?")
    assert question.since is not None
    assert question.until is not None
    assert (question.since.date().isoformat(), question.until.date().isoformat()) == ("2025-04-10", "2025-04-10")
    assert "2025" not in question.undated
    assert "2025" in question.text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_question_and_scored(text: str) -> None:
    question = read(text)
    assert question.bare or not question.text
    score_sentences(question, (), [step(1, text or "x")], engine_encode)


def engine_encode(texts: Sequence[str]) -> list[EncodedText]:
    """As :func:`encode`, for words without end."""
    return [EncodedText(np.ones(1, np.float32), np.ones((0, 1), np.float16), np.zeros((0, 2), np.int32)) for _ in texts]


# The plan.


def test_the_first_round_searches_for_the_question_and_later_ones_for_the_needs() -> None:
    question = asking("What did Theo do on 10 April 2025?", "Theo")
    first = engine.plan(question, (), first=True, lanes=LANES, kinds=("core",))
    assert [one.lane for one in first] == ["vector", "keyword", "time", "kind"]
    assert {one.need for one in first} == {MAIN_NEED}
    later = engine.plan(question, ("where Emil is",), first=False, lanes=LANES, kinds=("core",))
    assert [(one.lane, one.query) for one in later] == [("vector", "where Emil is"), ("keyword", "where Emil is")]


def test_without_vectors_and_words_the_other_lanes_search_for_the_question() -> None:
    first = engine.plan(asking("Who ran?"), (), first=True, lanes=("page", "intent"))
    assert [(one.lane, one.query) for one in first] == [("page", "Who ran?"), ("intent", "Who ran?")]


# Extraction.


def test_the_sentence_that_answers_is_quoted_with_its_source_speaker_and_day() -> None:
    sentences = score_sentences(
        asking("where does my sister live"),
        (),
        [step(1, "It rained. My sister does live in Lisbon. I had soup."), step(2, "I like tea.")],
        encode,
    )
    found = extract(sentences, UTC, 2)
    (claim,) = found.claims
    assert (claim.quote, claim.step_ids, claim.speaker, claim.round) == (
        "My sister does live in Lisbon.",
        ("step_1",),
        "user",
        2,
    )
    assert found.answerable
    assert found.answer == "[2026-05-03] user: My sister does live in Lisbon."


def test_no_more_than_three_sentences_are_quoted_in_order_of_time() -> None:
    passages = [step(number, f"my cat number {number} is grey") for number in (5, 4, 3, 2, 1)]
    found = quotes("is my cat number grey", *passages)
    assert len(found) == 3
    assert found == sorted(found)


def test_it_abstains_where_no_sentence_is_near_to_the_question() -> None:
    sentences = score_sentences(asking("which submarine did Zebulon buy"), (), [step(1, "I like tea.")], encode)
    assert extract(sentences, UTC, 1) == ((), NOT_HELD, False)
    assert extract([], UTC, 1) == ((), NOT_HELD, False)


@pytest.mark.parametrize("asked", ["Where does my sister live?", "我姐姐住在哪里？", "“Where does my sister live?”"])
def test_a_question_is_never_quoted(asked: str) -> None:
    assert quotes(asked, step(1, asked)) == []
    assert quotes("where does my sister live", step(1, f"{asked} My sister does live in Lisbon.")) == [
        "My sister does live in Lisbon."
    ]


def test_of_a_step_and_the_item_learned_from_it_the_step_is_quoted() -> None:
    said = step(1, "my dog is called Bruno")
    item = Passage(id="item_1", kind="semantic", text="dog\nmy dog is called Bruno now", sources=said.sources, round=1)
    assert quotes("what is my dog called now", item, said) == ["my dog is called Bruno"]


def test_of_an_item_the_title_is_no_sentence() -> None:
    item = Passage(id="item_1", kind="semantic", text="Bluebird\nthe spring release", round=1)
    assert quotes("what is the spring release", item) == ["the spring release"]


def test_a_page_is_quoted_by_its_step() -> None:
    page = Passage(id="page_1", kind="page", text="Ida: I play the oboe.\nTom: Nice.", round=1)
    steps = {"page_1": [("step_8", "I play the oboe."), ("step_9", "Nice.")]}
    sentences = score_sentences(asking("who does play the oboe"), (), [page], encode, steps)
    (claim,) = extract(sentences, UTC, 1).claims
    assert (claim.passage_id, claim.step_ids, claim.quote) == ("page_1", ("step_8",), "I play the oboe.")


def test_what_another_person_said_counts_less_where_the_question_names_who() -> None:
    question = asking("What oboe did Ida play?", "Ida", "Tom")
    passages = [step(1, "I did play an oboe.", "Tom"), step(2, "I did play an oboe.", "Ida")]
    best, other = score_sentences(question, (), passages, encode)
    assert best.passage.speaker == "Ida"
    assert other.score < best.score


def test_every_sentence_of_a_long_text_is_scored() -> None:
    lines = [f"Report number {number} was filed at the desk on the floor above." for number in range(100)]
    sentences = score_sentences(asking("which case"), (), [step(1, " ".join([*lines, "The case is QX77."]))], encode)
    assert len(sentences) == 101
    assert sentences[0].text == "The case is QX77."


def test_a_passage_is_encoded_once_for_all_rounds_of_a_question_and_not_all_at_once() -> None:
    calls: list[list[str]] = []

    def counted(texts: Sequence[str]) -> list[EncodedText]:
        calls.append(list(texts))
        return encode(texts)

    lines = " ".join(f"Report number {number} was filed at the desk on the floor above." for number in range(150))
    first = [step(number, f"{lines} Case {number}.") for number in range(1, 5)]
    later = step(9, "The case is QX77.", round=2)
    question, read = asking("which case"), {}
    alone = score_sentences(question, (), first, counted, None, read)
    encoded = sum(map(len, calls))
    assert encoded > 64
    assert max(map(len, calls)) <= 64
    calls.clear()
    again = score_sentences(question, ("which case QX77",), [*first, later], counted, None, read)
    assert sum(map(len, calls)) == 3, "the queries and the new passage"
    assert again == score_sentences(question, ("which case QX77",), [*first, later], encode)
    assert len(again) == len(alone) + 1


def test_of_a_page_a_bounded_part_is_read() -> None:
    page = step(1, "a page").model_copy(update={"kind": "page"})
    steps = {page.id: [(f"step_{number}", "It rained all day. " * 600) for number in range(50)]}
    assert len(score_sentences(asking("weather"), (), [page], encode, steps)) * 19 < 50_000


# The second hop.


def test_a_follow_up_query_is_the_question_with_the_best_new_sentence() -> None:
    question = asking("where does the owner of the violin live")
    first = [step(1, "the owner of the violin is Tom")]
    sentences = score_sentences(question, (), first, encode)
    reflection = reflect(question, sentences, (), answerable=False)
    assert reflection.missing == (f"{question.text} the owner of the violin is Tom",)
    sentences = score_sentences(
        question, reflection.missing, [*first, step(2, "Tom the owner does live in Galway", round=2)], encode
    )
    assert [one.quote for one in extract(sentences, UTC, 2).claims] == [
        "the owner of the violin is Tom",
        "Tom the owner does live in Galway",
    ]


def test_a_follow_up_query_alone_makes_no_answer() -> None:
    question = asking("which submarine did Zebulon buy")
    sentences = score_sentences(question, ("which submarine tea is green",), [step(1, "green tea is fine")], encode)
    assert sentences[0].score > sentences[0].direct
    assert not extract(sentences, UTC, 1).answerable


def test_it_is_enough_where_a_sentence_says_it_and_an_answer_was_found() -> None:
    question = asking("where in Lisbon my sister does live")
    sentences = score_sentences(question, (), [step(1, "my sister does live in Lisbon")], encode)
    assert reflect(question, sentences, (), answerable=True).enough
    assert not reflect(question, sentences, (), answerable=False).enough


def test_the_words_of_the_question_said_before_are_no_answer() -> None:
    assert quotes("my sister in Lisbon", step(1, "My sister in Lisbon")) == []


def test_nothing_more_is_searched_where_the_last_round_brought_nothing_near() -> None:
    question = asking("where does the owner of the violin live")
    passages = [step(1, "the owner of the violin is Tom"), step(2, "tea is green", round=2)]
    sentences = score_sentences(question, (), passages, encode)
    assert reflect(question, sentences, (), answerable=False).missing == ()
    again = reflect(question, sentences[:1], (f"{question.text} {sentences[0].text}",), answerable=False)
    assert again.missing == ()


@pytest.mark.parametrize(("score", "tier"), [(0.9, "recall"), (0.5, "one_shot"), (0.1, "deep")])
def test_the_depth_follows_the_best_sentence(score: float, tier: str) -> None:
    chosen, reason = engine.choose_tier(score)
    assert chosen == tier
    assert f"{score:.2f}" in reason
