"""Loading conversations of every form: what the memory sees, what stays gold, and how bad files are refused."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals import Conversation, detect_format, load_conversations, load_files
from hexamem.evals.hotpotqa import load_hotpotqa
from hexamem.evals.jsonl import load_jsonl
from hexamem.models.tokens import count_tokens
from hexamem.stores.disk import bounded_lines


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def shown_to_memory(conversation: Conversation) -> str:
    return json.dumps([(message.as_message(), message.thread_id) for message in conversation.messages])


PICTURE = {"img_url": ["https://example.org/pot.jpg"], "blip_caption": "a clay pot", "query": "GOLD-query"}
LOCOMO: dict[str, Any] = {
    "speaker_a": "Ada",
    "language": "en",
    "about": "GOLD made up",
    "session_10": [],
    "session_2_date_time": "9:05 am on 3 June, 2023",
    "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "The kiln arrived."}],
    "session_1_date_time": "11:59 pm on 31 May, 2023",
    "session_1": [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello Bo."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Look at this.", **PICTURE},
        {"speaker": "Ada", "dia_id": "D1:3", "text": "Nice.", "blip_caption": "a shelf"},
    ],
    "session_1_summary": "GOLD-summary",
    "qa": [
        {"question": "What came?", "answer": "GOLD-kiln", "evidence": ["D2:1"], "category": 4},
        {"question": "Two at once?", "answer": 2022, "evidence": ["D1:1; D1:2", "D1:2 D2:1"], "category": 1},
        {"question": "Misspelt?", "answer": "x", "evidence": ["D:1:3", "D1:3", "D9:9"], "category": 3},
        {"question": "Only unknown?", "answer": "x", "evidence": ["D9:9"], "category": 3},
        {"question": "None?", "adversarial_answer": "GOLD-wrong", "evidence": [], "category": 5},
    ],
}


def test_locomo_shows_the_memory_words_pictures_and_times_but_no_annotation(tmp_path: Path) -> None:
    (locomo,) = load_conversations(write(tmp_path / "7.json", LOCOMO))
    assert (locomo.id, locomo.metadata["language"]) == ("locomo-7", "en")
    assert [(m.id, m.thread_id) for m in locomo.messages[2:]] == [("D1:3", "session_1"), ("D2:1", "session_2")]
    assert "GOLD" not in shown_to_memory(locomo)
    picture = {"type": "image", "url": "https://example.org/pot.jpg", "caption": "a clay pot"}
    look = [{"type": "text", "text": "Look at this."}, picture]
    shelf = [{"type": "text", "text": "Nice."}, {"type": "image", "caption": "a shelf"}]
    time = "2023-05-31T23:59:0"
    assert [m.as_message() for m in locomo.messages[:3]] == [
        {"role": "user", "name": "Ada", "content": "Hello Bo.", "timestamp": f"{time}0", "id": "D1:1"},
        {"role": "user", "name": "Bo", "content": look, "timestamp": f"{time}1", "id": "D1:2"},
        {"role": "user", "name": "Ada", "content": shelf, "timestamp": f"{time}2", "id": "D1:3"},
    ]
    assert [(q.category, q.answer, q.evidence) for q in locomo.questions] == [
        ("4", "GOLD-kiln", ("D2:1",)),
        ("1", "2022", ("D1:1", "D1:2", "D2:1")),
        ("3", "x", ("D1:3",)),
        ("3", "x", ()),
        ("5", "", ()),
    ]
    assert locomo.questions[4].gold["adversarial_answer"] == "GOLD-wrong"
    assert locomo.notes == (
        "3 evidence id(s) that no turn has, left out: D:1:3 (locomo-7-q3), D9:9 (locomo-7-q3), D9:9 (locomo-7-q4)",
        "2 question(s) without evidence, not scored: locomo-7-q4, locomo-7-q5",
    )


def test_the_authors_single_locomo_file_loads_as_one_conversation_a_record(tmp_path: Path) -> None:
    talk = {key: value for key, value in LOCOMO.items() if key not in ("qa", "session_2_date_time")}
    records = [{"sample_id": f"conv-{n}", "conversation": talk, "qa": LOCOMO["qa"]} for n in (26, 30)]
    loaded = load_conversations(write(tmp_path / "locomo10.json", records))
    assert [(c.id, len(c.messages), len(c.questions)) for c in loaded] == [("locomo-26", 4, 5), ("locomo-30", 4, 5)]
    assert loaded[0].notes[0] == "1 session(s) without a time: session_2"
    assert loaded[0].messages[3].timestamp is None


TURNS = [("pro-side", "We should. ----TIMESTAMP: 2025-01-01T00:03"), ("user", "Why?"), ("assistant", "Because.")]
GOLD = {"partition": ["topic-GOLD"], "action": "GOLD-propose", "action_object": "GOLD-object"}
CAME = [
    {"id": f"topic-GOLD-turn-{n}", "role": role, "content": content, **GOLD}
    for n, (role, content) in enumerate(TURNS, start=1)
]
CAME_QUESTION = {
    "id": "q-a",
    "type": "type 3",
    "content": "Which side?",
    "answer": {"free_form_answer": "GOLD-answer"},
    "question_turn_ids": ["topic-GOLD-turn-1", "topic-GOLD-turn-2"],
    "answer_turn_ids": ["topic-GOLD-turn-3", "topic-GOLD-turn-1", "topic-GOLD-turn-99"],
}


def came_files(folder: Path, name: str = "talk") -> tuple[Path, Path]:
    turns, questions = folder / f"{name}_turns.jsonl", folder / f"{name}_questions.jsonl"
    return write_lines(turns, *CAME), write_lines(questions, CAME_QUESTION)


def test_came_bench_loads_alike_from_its_folder_from_either_file_and_from_both(tmp_path: Path) -> None:
    turns, questions = came_files(tmp_path)
    loaded = [load_conversations(path) for path in (tmp_path, turns, questions)]
    assert loaded[0] == loaded[1] == loaded[2] == load_files([questions, turns]) == load_files([tmp_path])
    came_files(tmp_path, "other")
    assert [c.id for c in load_files(sorted(tmp_path.iterdir()), "came")] == ["came-other", "came-talk"]


def test_came_bench_gold_is_for_the_scorer_and_not_even_in_an_id_for_the_memory(tmp_path: Path) -> None:
    (conversation,) = load_conversations(came_files(tmp_path)[0])
    assert "GOLD" not in shown_to_memory(conversation)
    assert conversation.gold["turn-2"] == {"id": "topic-GOLD-turn-2", **GOLD}
    assert [(m.role, m.name, m.content, m.timestamp) for m in conversation.messages] == [
        ("assistant", "pro-side", "We should.", "2025-01-01T00:03"),
        ("user", None, "Why?", "2025-01-01T00:03"),
        ("assistant", None, "Because.", "2025-01-01T00:03"),
    ]
    (question,) = conversation.questions
    assert (question.category, question.answer, question.evidence) == ("type 3", "GOLD-answer", ("turn-3", "turn-1"))
    assert question.gold["question_turns"] == ("turn-1", "turn-2")
    notes = " ".join(conversation.notes)
    assert "2 turn(s) without a timestamp" in notes
    assert "topic-GOLD-turn-99 (q-a)" in notes


def test_came_bench_takes_a_trailing_timestamp_for_the_time_and_speakers_for_people_where_there_is_no_user(
    tmp_path: Path,
) -> None:
    for content, expected in (
        ("Go.\n----TIMESTAMP: 2025-05-15T08:00\n", ("Go.", "2025-05-15T08:00")),
        ("A ----TIMESTAMP: 1 in the middle\nand more", ("A ----TIMESTAMP: 1 in the middle\nand more", None)),
    ):
        (conversation,) = load_conversations(write_lines(tmp_path / "a_turns.jsonl", {**CAME[0], "content": content}))
        assert (conversation.messages[0].content, conversation.messages[0].timestamp) == expected
    assert "no questions: a_questions.jsonl is missing beside a_turns.jsonl" in conversation.notes
    turns, questions = came_files(tmp_path)
    turns.write_text(turns.read_text(encoding="utf-8").replace('"user"', '"con-side"'), encoding="utf-8")
    (conversation,) = load_conversations(turns)
    assert [(m.role, m.name) for m in conversation.messages][:2] == [("user", "pro-side"), ("user", "con-side")]
    turns.unlink()
    with pytest.raises(InvalidInputError, match=r"put talk_turns\.jsonl beside it"):
        load_conversations(questions)


DEGREE = [
    {"role": "user", "content": "I have a degree.", "has_answer": True},
    {"role": "assistant", "content": "Well done.", "has_answer": False},
]
LONGMEMEVAL: dict[str, Any] = {
    "question_id": "abc",
    "question_type": "single-session-user",
    "question": "Which degree?",
    "question_date": "2023/05/30 (Tue) 23:40",
    "answer": "GOLD-degree",
    "answer_session_ids": ["answer_GOLD"],
    "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21"],
    "haystack_session_ids": ["answer_GOLD", "plain"],
    "haystack_sessions": [DEGREE, [{"role": "user", "content": "Hi."}]],
}


def test_longmemeval_sessions_come_in_order_of_time_under_ids_that_reveal_nothing(tmp_path: Path) -> None:
    abstention = {**LONGMEMEVAL, "question_id": "abc_abs"}
    conversation, unscored = load_conversations(write(tmp_path / "lme.json", [LONGMEMEVAL, abstention]))
    assert conversation.id == "longmemeval-abc"
    assert [(m.id, m.thread_id, m.role, m.timestamp) for m in conversation.messages] == [
        ("session_1#0", "session_1", "user", "2023-05-20T02:21:00"),
        ("session_2#0", "session_2", "user", "2023-05-21T10:00:00"),
        ("session_2#1", "session_2", "assistant", "2023-05-21T10:00:01"),
    ]
    assert not [word for word in ("GOLD", "has_answer") if word in shown_to_memory(conversation)]
    (question,) = conversation.questions
    assert (question.evidence, question.evidence_threads) == (("session_2#0",), ("session_2",))
    assert question.asked_at == "2023-05-30T23:40:00"
    assert conversation.gold["session_2#0"] == {"session_id": "answer_GOLD", "has_answer": True}
    assert unscored.questions[0].evidence == unscored.questions[0].evidence_threads == ()
    assert unscored.notes == ("1 question of abstention, not scored: abc_abs",)


def hotpot(number: int) -> dict[str, Any]:
    """A question over two of three paragraphs; titles are its own."""
    titles = [f"Mill {number}", f"River {number}", f"Bridge {number}"]
    return {
        "_id": f"id{number}",
        "question": f"Which river turns mill {number}?",
        "answer": f"GOLD river {number}",
        "type": "bridge",
        "supporting_facts": [[titles[0], 1], [titles[1], 0], [titles[0], 0]],
        "context": [[title, [f"{title} is old. ", "It lies in a valley with many trees."]] for title in titles],
    }


def test_hotpotqa_has_its_own_paragraphs_and_more_on_request_in_an_order_that_reveals_nothing(tmp_path: Path) -> None:
    distractor = write(tmp_path / "dev.json", [hotpot(number) for number in range(12)])
    first, second, *_ = load_conversations(distractor)
    assert (detect_format(distractor), first.id, second.id) == ("hotpotqa", "hotpotqa-id0", "hotpotqa-id1")
    assert first.messages[0].content == "Mill 0\nMill 0 is old. It lies in a valley with many trees."
    (question,) = first.questions
    assert (question.evidence, question.category) == (("doc-1", "doc-2"), "bridge")
    assert question.gold["answers"] == ("GOLD river 0",)
    assert "GOLD" not in shown_to_memory(first)
    longer = load_hotpotqa(distractor, tokens=300, seed=1)
    for conversation in longer:
        contents = [str(message.content) for message in conversation.messages]
        assert 300 <= sum(map(count_tokens, contents)) < 330
        assert len(set(contents)) == len(contents)
        mill = f"Mill {conversation.id.removeprefix('hotpotqa-id')}\n"
        mills = {message.id for message in conversation.messages if str(message.content).startswith(mill)}
        assert mills < set(conversation.questions[0].evidence)
    assert len({conversation.questions[0].evidence for conversation in longer}) > 1
    assert load_hotpotqa(distractor, tokens=300, seed=1) == longer != load_hotpotqa(distractor, tokens=300, seed=2)
    (alone,) = load_hotpotqa(distractor, tokens=400, questions=1)
    assert alone.messages[15].thread_id == "documents_2"
    with pytest.raises(InvalidInputError, match=r"paragraphs have [\d,]+ tokens, fewer than the 56,000"):
        load_hotpotqa(distractor, tokens=56_000)


MISFITS: list[tuple[str, Any, str]] = [
    ("a.json", {**LOCOMO, "session_1_date_time": "last May"}, "session_1_date_time: 'last May' is not a time"),
    ("a.json", {**LOCOMO, "session_2": [{"speaker": "Bo", "dia_id": "D2:1"}]}, "session_2: 1.text: Field required"),
    ("a.json", {**LOCOMO, "session_2": LOCOMO["session_1"]}, "dia_id 'D1:1' occurs twice"),
    ("a.json", {**LOCOMO, "qa": [{"category": 1}]}, "qa, question 1: question: Field required"),
    ("a.json", {**LOCOMO, "qa": 5}, "qa: the record: Input should be a valid list, not '5'"),
    ("a.json", [LONGMEMEVAL, {**LONGMEMEVAL, "haystack_dates": []}], "instance 2: the record: 2 sessions, 2 ids and 0"),
    ("a.json", [{**LONGMEMEVAL, "haystack_dates": ["soon"]}], "instance 1: haystack_dates.1: write a time like"),
    ("a.json", [{**LONGMEMEVAL, "haystack_sessions": [[{"role": "u"}]]}], "haystack_sessions.1.1.content: Field"),
    ("a.json", [hotpot(0), {**hotpot(1), "context": [["Mill 1"]]}], "record 2: context.1.2: Field required"),
    ("a.json", [{**hotpot(1), "supporting_facts": [["Nowhere", 0]]}], "'Nowhere' is not in its context"),
    *(
        ("a.json", [{"conversation": name, "kind": "k", "question": "q", "evidence": []}], "no such file")
        for name in ("../../etc/passwd", "/etc/passwd", "a" * 300, "a\0b")
    ),
    ("a_turns.jsonl", [CAME[0], {**CAME[1], "role": 5}], "line 2: role: Input should be a valid string, not '5'"),
    ("a_turns.jsonl", [CAME[0], CAME[0]], "line 2: id 'topic-GOLD-turn-1' occurs twice"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"), MISFITS, ids=[f"{at} {message}" for at, (*_, message) in enumerate(MISFITS)]
)
def test_a_file_that_does_not_fit_is_refused_with_file_place_and_rule(
    tmp_path: Path, name: str, content: Any, message: str
) -> None:
    file = write(tmp_path / name, content) if name == "a.json" else write_lines(tmp_path / name, *content)
    with pytest.raises(CorruptFileError) as error:
        load_conversations(file)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_sessions_with_and_without_an_offset_and_at_the_end_of_the_calendar_are_in_order(tmp_path: Path) -> None:
    dates = ["2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00+02:00"]
    (conversation,) = load_conversations(write(tmp_path / "a.json", [{**LONGMEMEVAL, "haystack_dates": dates}]))
    assert conversation.messages[0].timestamp == "2023-05-20T02:21:00+02:00"
    last = {**LOCOMO, "session_1_date_time": "9999-12-31T23:59:59"}
    (conversation,) = load_conversations(write(tmp_path / "b.json", last))
    assert {message.timestamp for message in conversation.messages[:3]} == {"9999-12-31T23:59:59"}


def test_a_line_of_a_gigabyte_is_refused_by_its_number_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexamem.evals.jsonl.bounded_lines", partial(bounded_lines, longest=1_000))
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b'{"role": "user", "content": "Hi"}\n')
    os.truncate(file, 1 << 30)  # with a hole, which takes no room
    tracemalloc.start()
    with pytest.raises(CorruptFileError, match="line 2: longer than"):
        load_jsonl(file)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_jsonl_lines_become_messages_as_they_are(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    full = {"role": "user", "name": "Ada", "content": "Hi\u2028there", "timestamp": "2024-01-01T10:00:00Z", "id": "m1"}
    bare = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    further = {"role": "user", "content": "Ho", "thread_id": "t1", "mood": "sad"}
    path = tmp_path / "chat.jsonl"
    lines = (json.dumps(line, ensure_ascii=False) for line in (full, bare, call, further))
    path.write_text("\ufeff" + "\n\n".join(lines), "utf-8")
    (conversation,) = load_conversations(path)
    messages = [m.as_message() for m in conversation.messages]
    assert messages == [full, bare, {**call, "content": ""}, {"role": "user", "content": "Ho"}]
    assert conversation.messages[3].thread_id == "t1"
    assert conversation.notes == (f"{path}: keys that a message does not have, left out: mood (1 lines)",)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"role": "user", "content": "cut o', "not valid JSON (Unterminated string"),
        (b'{"role": "user", "content": "\xff"}', "not UTF-8 text"),
        (b'{"role": "user", "content": null}', "the record: content is null"),
        (b'{"role": "user", "content": "Hi", "timestamp": 5}', "timestamp: Input should be a valid string, not '5'"),
        (b"[1, 2]", "is a JSON list, not an object"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_a_bad_line_is_refused_naming_file_and_line_or_left_out_with_a_note(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b'{"role": "user", "content": "Hi"}\n' + line)
    with pytest.raises(CorruptFileError) as error:
        load_conversations(file)
    assert str(error.value).startswith(f"{file}, line 2: {reason}")
    assert str(error.value).endswith("; pass --skip-bad to leave such lines out")
    (conversation,) = load_conversations(file, skip_bad=True)
    assert len(conversation.messages) == 1
    assert conversation.notes[0].startswith(f"{file}, line 2: {reason}")


def test_a_folder_holds_conversations_in_natural_order_and_names_what_is_none(tmp_path: Path) -> None:
    for name in ("10", "9"):
        write(tmp_path / f"{name}.json", LOCOMO)
    write(tmp_path / "meta.json", {"n": 1})
    (tmp_path / "README.md").write_text("x")
    loaded = load_conversations(tmp_path)
    assert [c.id for c in loaded] == ["locomo-9", "locomo-10"]
    assert loaded[0].notes[-1].endswith("were left out: meta.json")
    write(tmp_path / "2.json", [LONGMEMEVAL])
    assert [c.dataset for c in load_conversations(tmp_path, "longmemeval")] == ["longmemeval"]
    with pytest.raises(InvalidInputError, match="no came conversation"):
        load_conversations(tmp_path, "came")


def test_what_cannot_be_loaded_at_all_is_refused_with_the_reason(tmp_path: Path) -> None:
    file, form, name = CorruptFileError, InvalidInputError, tmp_path / "x.json"
    cases: list[tuple[object, Path, str, type[Exception], str]] = [
        (None, tmp_path / "nowhere.json", "auto", form, "no such file or folder"),
        (None, tmp_path, "auto", form, "no conversation of a known form"),
        (None, tmp_path, "xml", form, "format 'xml' is unknown"),
        ([], name, "auto", form, "not a conversation of a known form"),
        ({"hello": 1}, name, "auto", form, "not a conversation of a known form"),
        ({"hello": 1}, name, "locomo", file, r"x\.json"),
        ({"hello": 1}, name, "longmemeval", file, r"x\.json"),
    ]
    for content, path, wanted, error, message in cases:
        if content is not None:
            write(name, content)
        with pytest.raises(error, match=message):
            load_conversations(path, wanted)  # type: ignore[arg-type]
    name.write_text(json.dumps(LOCOMO, indent=1)[:400], "utf-8")
    with pytest.raises(CorruptFileError, match=r"x\.json, line \d+: not valid JSON"):
        load_conversations(name)


@pytest.mark.shared_data
def test_real_conversations_have_their_turns_sessions_questions_and_evidence(shared_data: Path) -> None:
    def sizes(conversation: Conversation) -> tuple[int, int, int, int]:
        scored = sum(bool(question.evidence) for question in conversation.questions)
        threads = {message.thread_id for message in conversation.messages}
        return len(conversation.messages), len(threads), len(conversation.questions), scored

    loaded = load_conversations(shared_data / "locomo")
    assert {conversation.id: sizes(conversation) for conversation in loaded} == {
        "locomo-26": (419, 19, 199, 197),
        "locomo-41": (663, 32, 193, 193),
        "locomo-43": (680, 29, 242, 242),
        "locomo-47": (689, 31, 190, 190),
        "locomo-49": (509, 25, 196, 196),
    }
    assert "D:11:26 (locomo-43-q19)" in str([conversation.notes for conversation in loaded])
    (debate,) = load_conversations(shared_data / "came_bench")
    assert sizes(debate) == (53, 1, 6, 6)
    partitions = [gold["partition"][0] for gold in debate.gold.values()]
    assert not [name for name in ("TIMESTAMP", *partitions) if name in shown_to_memory(debate)]
    (haystack,) = load_conversations(shared_data / "longmemeval")
    assert sizes(haystack) == (550, 53, 1, 1)
    assert haystack.questions[0].evidence == ("session_52#4", "session_52#5")
    assert "answer_280352e9" not in shown_to_memory(haystack)


def test_the_line_after_one_that_is_a_byte_too_long_is_read() -> None:
    lines = bounded_lines(io.BytesIO(b"123456789\n1234567890\nnext\n" + b"x" * 3_000_000 + b"\nlast"), longest=10)
    assert list(lines) == [(b"123456789\n", True), (b"", False), (b"next\n", True), (b"", False), (b"last", True)]
