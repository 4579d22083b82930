"""Research without a model: how questions are read, sentences scored and quoted, and when it searches again or abstains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from hexamem.agents.embedded_research import NOT_HELD, THRESHOLDS, extract, reflect, score_sentences
from hexamem.agents.research_question import Question, read_question
from hexamem.memory_types.items import Source
from hexamem.memory_types.research import Passage
from hexamem.models.encoder import EncodedText

NOW = datetime(2026, 5, 3, 10, tzinfo=UTC)
VIOLIN = "where does the owner of the violin live"
_ROWS: dict[str, int] = {}


def encode(texts: Sequence[str]) -> list[EncodedText]:
    """A bag of words in place of an encoder: each word has a direction of its own."""
    return [_encoded(text) for text in texts]


def _encoded(text: str) -> EncodedText:
    words = list(re.finditer(r"\w+", text.casefold()))
    states = np.zeros((len(words), 512), np.float16)
    for at, word in enumerate(words):
        states[at, _ROWS.setdefault(word.group(), len(_ROWS) % 512)] = 1
    total = states.astype(np.float32).sum(axis=0)
    return EncodedText(
        vector=total / max(float(np.linalg.norm(total)), 1e-9),
        states=states,
        offsets=np.array([word.span() for word in words], np.int32).reshape(-1, 2),
    )


def step(number: int, text: str, speaker: str = "user", round: int = 1) -> Passage:
    source = Source(step_id=f"step_{number}")
    when = NOW.replace(hour=number)
    return Passage(
        id=source.step_id, kind="step", text=text, speaker=speaker, occurred_at=when, sources=(source,), round=round
    )


def item(text: str, *sources: Source) -> Passage:
    return Passage(id="item_1", kind="semantic", text=text, sources=sources, round=1)


def asking(text: str) -> Question:
    return read_question(text, NOW, UTC)


def quotes(question: str, *passages: Passage) -> list[str]:
    return [claim.quote for claim in extract(score_sentences(asking(question), (), passages, encode), UTC, 1).claims]


def test_the_sentence_that_answers_is_quoted_with_its_source_speaker_and_day() -> None:
    passages = [step(1, "It rained. My sister does live in Lisbon. I had soup."), step(2, "I like tea.")]
    answer = extract(score_sentences(asking("where does my sister live"), (), passages, encode), UTC, 2)
    (claim,) = answer.claims
    assert (claim.quote, claim.step_ids) == ("My sister does live in Lisbon.", ("step_1",))
    assert (claim.speaker, claim.round, answer.answerable) == ("user", 2, True)
    assert answer.answer == "[2026-05-03] user: My sister does live in Lisbon."
    cats = quotes("is my cat number grey", *(step(n, f"my cat number {n} is grey") for n in (5, 4, 3, 2, 1)))
    assert (len(cats), cats) == (3, sorted(cats))  # no more than three sentences, in order of time


@pytest.mark.parametrize(
    ("question", "passage", "quoted"),
    [
        ("which submarine did Zebulon buy", step(1, "I like tea."), []),
        ("Where does my sister live?", step(1, "Where does my sister live?"), []),
        ("我姐姐住在哪里？", step(1, "我姐姐住在哪里？"), []),
        ("where does my sister live", step(1, "Where does my sister live? My sister does live in Lisbon."),
         ["My sister does live in Lisbon."]),
        ("my sister in Lisbon", step(1, "My sister in Lisbon"), []),
        ("what is the spring release", item("Bluebird\nthe spring release"), ["the spring release"]),
    ],
    ids=["far", "question", "Chinese question", "after a question", "its own words", "title of an item"],
)  # fmt: skip
def test_neither_a_question_nor_what_is_far_from_it_is_quoted(
    question: str, passage: Passage, quoted: list[str]
) -> None:
    assert quotes(question, passage) == quoted
    assert extract([], UTC, 1) == ((), NOT_HELD, False)


def test_an_item_and_a_page_are_quoted_by_their_step() -> None:
    stated = step(1, "my dog is called Bruno")
    learned = item("dog\nmy dog is called Bruno now", *stated.sources)
    assert quotes("what is my dog called now", learned, stated) == ["my dog is called Bruno"]
    page = Passage(id="page_1", kind="page", text="Ida: I play the oboe.\nTom: Nice.", round=1)
    steps = {"page_1": [("step_8", "I play the oboe."), ("step_9", "Nice.")]}
    (claim,) = extract(score_sentences(asking("who does play the oboe"), (), [page], encode, steps), UTC, 1).claims
    assert (claim.passage_id, claim.step_ids, claim.quote) == ("page_1", ("step_8",), "I play the oboe.")


def test_every_sentence_of_a_passage_is_encoded_once_a_question_in_bounded_batches() -> None:
    batches: list[list[str]] = []

    def counted(texts: Sequence[str]) -> list[EncodedText]:
        batches.append(list(texts))
        return encode(texts)

    lines = " ".join(f"Report number {number} was filed at the desk on the floor above." for number in range(100))
    first = [step(number, f"{lines} Case {number}.") for number in range(1, 5)]
    later = step(9, "The case is QX77.", round=2)
    question, read = asking("which case"), {}  # type: ignore[var-annotated]
    alone = score_sentences(question, (), first, counted, None, read)
    assert len(alone) == 4 * 101
    assert max(map(len, batches)) <= 64
    batches.clear()
    again = score_sentences(question, ("which case QX77",), [later, *first], counted, None, read)
    assert sum(map(len, batches)) == 3, "the queries and the new passage"
    assert again == score_sentences(question, ("which case QX77",), [later, *first], encode)
    assert again[0].text == "The case is QX77."


def test_a_follow_up_query_is_the_question_with_the_best_new_sentence() -> None:
    question, first = asking(VIOLIN), step(1, "the owner of the violin is Tom")
    missing = reflect(question, score_sentences(question, (), [first], encode), (), answerable=False).missing
    assert missing == (f"{VIOLIN} the owner of the violin is Tom",)
    second = step(2, "Tom the owner does live in Galway", round=2)
    sentences = score_sentences(question, missing, [first, second], encode)
    assert [claim.quote for claim in extract(sentences, UTC, 2).claims] == [first.text, second.text]


def test_a_distant_sentence_is_no_answer_where_memory_probably_holds_none() -> None:
    sentences = score_sentences(asking("which case"), (), [step(1, "The case is QX77.")], encode)
    near = [sentence._replace(direct=THRESHOLDS.doubtful + 0.01) for sentence in sentences]
    far = [sentence._replace(direct=THRESHOLDS.doubtful - 0.01) for sentence in sentences]
    for held, answered in ((None, True), (0.9, True), (0.1, False)):
        assert extract(far, UTC, 1, held=held).answerable == answered
        assert extract(near, UTC, 1, held=held).answerable
