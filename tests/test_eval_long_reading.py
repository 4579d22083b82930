"""The loaders of HotpotQA and NarrativeQA, on small made examples in the same forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals import detect_format, load_conversations
from hexamem.evals.hotpotqa import load_hotpotqa
from hexamem.evals.narrativeqa import load_narrativeqa, passages
from hexamem.models.tokens import count_tokens


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def hotpot(number: int) -> dict[str, Any]:
    """A question over two of three paragraphs; titles are its own."""
    titles = [f"Mill {number}", f"River {number}", f"Bridge {number}"]
    return {
        "_id": f"id{number}",
        "question": f"Which river turns mill {number}?",
        "answer": f"GOLD river {number}",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [[titles[0], 1], [titles[1], 0], [titles[0], 0]],
        "context": [[title, [f"{title} is old. ", "It lies in a valley with many trees."]] for title in titles],
    }


@pytest.fixture
def distractor(tmp_path: Path) -> Path:
    return write(tmp_path / "dev.json", [hotpot(number) for number in range(12)])


def test_each_question_of_hotpotqa_has_its_own_paragraphs_and_those_that_support_it_are_evidence(
    distractor: Path,
) -> None:
    conversations = load_conversations(distractor)
    assert detect_format(distractor) == "hotpotqa"
    assert [one.id for one in conversations[:2]] == ["hotpotqa-id0", "hotpotqa-id1"]
    first = conversations[0]
    assert first.messages[0].content == ("Mill 0\nMill 0 is old. It lies in a valley with many trees.")
    (question,) = first.questions
    assert question.evidence == ("doc-1", "doc-2")
    assert (question.category, question.gold["answers"]) == ("bridge", ("GOLD river 0",))
    assert "GOLD" not in json.dumps([message.as_message() for message in first.messages])


def test_paragraphs_of_other_questions_fill_the_length_and_the_order_tells_nothing(distractor: Path) -> None:
    longer = load_hotpotqa(distractor, tokens=300, seed=1)
    for one in longer:
        tokens = sum(count_tokens(str(message.content)) for message in one.messages)
        assert 300 <= tokens < 330
        contents = [str(message.content) for message in one.messages]
        assert len(set(contents)) == len(contents)
        number = one.id.removeprefix("hotpotqa-id")
        supporting = {message.id for message in one.messages if str(message.content).startswith(f"Mill {number}\n")}
        assert supporting < set(one.questions[0].evidence)
    assert len({one.questions[0].evidence for one in longer}) > 1
    assert load_hotpotqa(distractor, tokens=300, seed=1) == longer
    assert load_hotpotqa(distractor, tokens=300, seed=2) != longer


def test_only_so_many_questions_are_read_and_all_paragraphs_serve_them(distractor: Path) -> None:
    (one,) = load_hotpotqa(distractor, tokens=400, questions=1)
    assert len(one.messages) > 12
    assert one.messages[15].thread_id == "documents_2"


def test_a_length_beyond_the_file_is_refused_with_what_there_is(distractor: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"paragraphs have [\d,]+ tokens, fewer than the 56,000"):
        load_hotpotqa(distractor, tokens=56_000)


def test_contexts_that_are_concatenated_already_are_cut_into_their_documents(tmp_path: Path) -> None:
    record = {
        "index": 7,
        "context": "Document 1:\nMill\nIt is old.\n\nDocument 2:\nRiver\nSee Document 9: it is wet.",
        "input": "Which river?",
        "answers": ["the river", "river"],
    }
    (one,) = load_conversations(write(tmp_path / "eval_400.json", [record]))
    assert one.id == "hotpotqa-7"
    assert [message.content for message in one.messages] == ["Mill\nIt is old.", "River\nSee Document 9: it is wet."]
    (question,) = one.questions
    assert (question.evidence, question.gold["answers"]) == ((), ("the river", "river"))
    with pytest.raises(InvalidInputError, match="concatenated already"):
        load_hotpotqa(tmp_path / "eval_400.json", tokens=56_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": [["Mill 1"]]}, "pairs of a title and its sentences"),
        ({"supporting_facts": [["Nowhere", 0]]}, "'Nowhere' is not in its context"),
        ({"question": None, "context": 3}, "question is no text"),
    ],
)
def test_a_question_of_hotpotqa_that_does_not_fit_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "dev.json", [hotpot(0), {**hotpot(1), **change}])
    with pytest.raises(CorruptFileError, match="record 2") as error:
        load_hotpotqa(file)
    assert message in str(error.value)


def narrative(name: str, question: str, *answers: str, text: str = "One day. It rained.\n\nThen it did not.") -> Any:
    return {
        "document": {"id": name, "kind": "gutenberg", "text": text, "summary": {"text": "GOLD summary"}},
        "question": {"text": question, "tokens": question.split()},
        "answers": [{"text": answer} for answer in answers],
    }


ROWS = [
    narrative("d1", "What fell?", "Rain", "Water"),
    narrative("d2", "Who?", "Ada"),
    narrative("d1", "When?", "One day"),
]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_narrativeqa_gives_a_conversation_a_document_with_all_its_questions(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"test.{suffix}"
    file.write_text(json.dumps(ROWS) if suffix == "json" else "\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    assert detect_format(file) == "narrativeqa"
    first, second = load_conversations(file)
    assert [one.id for one in (first, second)] == ["narrativeqa-d1", "narrativeqa-d2"]
    assert [(q.text, q.answer, q.gold["answers"], q.category, q.evidence) for q in first.questions] == [
        ("What fell?", "Rain", ("Rain", "Water"), "gutenberg", ()),
        ("When?", "One day", ("One day",), "gutenberg", ()),
    ]
    assert [message.content for message in first.messages] == ["One day. It rained.\n\nThen it did not."]
    assert "GOLD" not in json.dumps([message.as_message() for message in first.messages])


def test_only_so_many_rows_of_narrativeqa_are_read(tmp_path: Path) -> None:
    (one,) = load_narrativeqa(write(tmp_path / "test.json", ROWS), questions=1)
    assert len(one.questions) == 1


def test_a_long_text_is_cut_at_paragraphs_and_sentences() -> None:
    text = "A b c.\n\nD e f g. H i! J k.\n\nL m n o p q r s t."
    assert list(passages(text, words=6)) == ["A b c.", "D e f g. H i!", "J k.", "L m n o p q r s t."]
    assert list(passages("A b c.\n\nD e.\n\nF g.", words=5)) == ["A b c.\n\nD e.", "F g."]


@given(text=st.text(alphabet='ab .!?"\n', max_size=300), words=st.integers(1, 20))
def test_cutting_a_text_loses_no_word(text: str, words: int) -> None:
    assert " ".join(passages(text, words)).split() == text.split()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": {"text": "?"}, "answers": [{"text": "x"}]}, "document has no id and text"),
        ({**ROWS[0], "answers": []}, "answers is no list"),
        ({**ROWS[0], "question": {}}, "question has no text"),
        (narrative("d", "?", "x", text="  "), "document has no text"),
        ([], "no object"),
    ],
)
def test_a_row_of_narrativeqa_that_does_not_fit_is_refused(tmp_path: Path, row: Any, message: str) -> None:
    with pytest.raises(CorruptFileError, match=message):
        load_narrativeqa(write(tmp_path / "test.json", [ROWS[0], row]))
    lines = tmp_path / "test.jsonl"
    lines.write_text(f"{json.dumps(ROWS[0])}\n{json.dumps(row)}\n", encoding="utf-8")
    with pytest.raises(CorruptFileError, match="line 2"):
        load_narrativeqa(lines)
    assert len(load_narrativeqa(lines, skip_bad=True)[0].notes) == 1
