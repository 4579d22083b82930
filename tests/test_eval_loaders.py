"""Loading conversations of every form: what the memory sees, what stays gold, and what bad files say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hexamem.errors import CorruptFileError, InvalidInputError
from hexamem.evals import Conversation, detect_format, load_conversations, read_jsonl
from hexamem.evals.came_bench import split_timestamp
from hexamem.evals.records import natural_key

SHARED = Path(__file__).parents[2] / "shared" / "data"
CORPUS = Path(__file__).parents[1] / "evals" / "corpus"


def real_data(test: Callable[[], None]) -> Callable[[], None]:
    missing = pytest.mark.skipif(not SHARED.is_dir(), reason="the real conversations are not beside the checkout")
    return pytest.mark.shared_data(missing(test))


def locomo_record() -> dict[str, Any]:
    return {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_2_date_time": "9:05 am on 3 June, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "The kiln arrived."}],
        "session_1_date_time": "11:59 pm on 31 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello Bo."},
            {
                "speaker": "Bo",
                "dia_id": "D1:2",
                "text": "Look at this.",
                "img_url": ["https://example.org/pot.jpg"],
                "blip_caption": "a clay pot",
                "query": "GOLD-query",
            },
            {"speaker": "Ada", "dia_id": "D1:3", "text": "Nice.", "blip_caption": "a shelf"},
        ],
        "session_1_summary": "GOLD-summary",
        "session_1_observation": {"Ada": [["GOLD-observation", "D1:1"]]},
        "events_session_1": {"Ada": ["GOLD-event"]},
        "qa": [
            {"question": "What came?", "answer": "GOLD-kiln", "evidence": ["D2:1"], "category": 4},
            {"question": "Two at once?", "answer": 2022, "evidence": ["D1:1; D1:2", "D1:2 D2:1"], "category": 1},
            {"question": "Misspelt?", "answer": "x", "evidence": ["D:1:3", "D1:3", "D9:9"], "category": 3},
            {"question": "Only unknown?", "answer": "x", "evidence": ["D9:9"], "category": 3},
            {"question": "None?", "adversarial_answer": "GOLD-wrong", "evidence": [], "category": 5},
        ],
    }


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def shown_to_memory(conversation: Conversation) -> str:
    return json.dumps([(message.as_message(), message.thread_id) for message in conversation.messages])


@pytest.fixture
def locomo(tmp_path: Path) -> Conversation:
    (conversation,) = load_conversations(write(tmp_path / "7.json", locomo_record()))
    return conversation


def test_locomo_sessions_are_threads_in_order_of_their_numbers(locomo: Conversation) -> None:
    assert locomo.id == "locomo-7"
    assert [(m.id, m.thread_id) for m in locomo.messages] == [
        ("D1:1", "session_1"),
        ("D1:2", "session_1"),
        ("D1:3", "session_1"),
        ("D2:1", "session_2"),
    ]


def test_locomo_session_ten_follows_session_nine(tmp_path: Path) -> None:
    sessions = {f"session_{n}": [{"speaker": "Bo", "dia_id": f"D{n}:1", "text": "x"}] for n in (10, 1, 9)}
    (conversation,) = load_conversations(write(tmp_path / "7.json", sessions))
    assert [m.thread_id for m in conversation.messages] == ["session_1", "session_9", "session_10"]


def test_locomo_turns_carry_the_time_of_their_session_plus_a_second_each(locomo: Conversation) -> None:
    assert [m.timestamp for m in locomo.messages] == [
        "2023-05-31T23:59:00",
        "2023-05-31T23:59:01",
        "2023-05-31T23:59:02",
        "2023-06-03T09:05:00",
    ]


def test_locomo_shows_the_memory_words_pictures_and_times_but_no_annotation(locomo: Conversation) -> None:
    assert "GOLD" in json.dumps(locomo_record())
    assert "GOLD" not in shown_to_memory(locomo)
    assert [m.as_message() for m in locomo.messages[:3]] == [
        {"role": "user", "name": "Ada", "content": "Hello Bo.", "timestamp": "2023-05-31T23:59:00", "id": "D1:1"},
        {
            "role": "user",
            "name": "Bo",
            "content": [
                {"type": "text", "text": "Look at this."},
                {"type": "image", "url": "https://example.org/pot.jpg", "caption": "a clay pot"},
            ],
            "timestamp": "2023-05-31T23:59:01",
            "id": "D1:2",
        },
        {
            "role": "user",
            "name": "Ada",
            "content": [{"type": "text", "text": "Nice."}, {"type": "image", "caption": "a shelf"}],
            "timestamp": "2023-05-31T23:59:02",
            "id": "D1:3",
        },
    ]


def test_locomo_evidence_strings_are_split_and_ids_that_no_turn_has_are_left_out(locomo: Conversation) -> None:
    assert [q.evidence for q in locomo.questions] == [("D2:1",), ("D1:1", "D1:2", "D2:1"), ("D1:3",), (), ()]


def test_locomo_notes_name_and_count_what_is_not_scored(locomo: Conversation) -> None:
    assert locomo.notes == (
        "3 evidence id(s) that no turn has, left out: D:1:3 (locomo-7-q3), D9:9 (locomo-7-q3), D9:9 (locomo-7-q4)",
        "2 question(s) without evidence, not scored: locomo-7-q4, locomo-7-q5",
    )


def test_locomo_answers_are_text_and_a_wrong_answer_is_never_the_answer(locomo: Conversation) -> None:
    assert [q.answer for q in locomo.questions] == ["GOLD-kiln", "2022", "x", "x", ""]
    assert [q.category for q in locomo.questions] == ["4", "1", "3", "3", "5"]
    assert locomo.questions[4].gold["adversarial_answer"] == "GOLD-wrong"


def test_the_authors_single_locomo_file_loads_as_one_conversation_a_record(tmp_path: Path) -> None:
    record = locomo_record()
    qa = record.pop("qa")
    file = write(
        tmp_path / "locomo10.json",
        [
            {"sample_id": name, "conversation": record, "qa": qa, "event_summary": "x"}
            for name in ("conv-26", "conv-30")
        ],
    )
    loaded = load_conversations(file)
    assert [(c.id, len(c.messages), len(c.questions)) for c in loaded] == [("locomo-26", 4, 5), ("locomo-30", 4, 5)]


def test_our_own_corpora_load_as_locomo_with_their_facts_as_metadata(tmp_path: Path) -> None:
    record = {**locomo_record(), "language": "zh", "license": "Apache-2.0", "about": "GOLD made up"}
    (conversation,) = load_conversations(write(tmp_path / "own.json", record))
    assert conversation.metadata["language"] == "zh"
    assert conversation.metadata["license"] == "Apache-2.0"
    assert "GOLD" not in shown_to_memory(conversation)


def test_a_locomo_session_without_a_time_is_noted_and_its_turns_have_none(tmp_path: Path) -> None:
    record = locomo_record()
    del record["session_2_date_time"]
    (conversation,) = load_conversations(write(tmp_path / "7.json", record))
    assert "timestamp" not in conversation.messages[3].as_message()
    assert conversation.notes[0] == "1 session(s) without a time: session_2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"session_1_date_time": "last May"}, "session_1_date_time: 'last May' is not a time"),
        ({"session_2": [{"speaker": "Bo", "dia_id": "D2:1"}]}, "session_2, turn 1: text is missing"),
        ({"session_2": [{"speaker": "Bo", "dia_id": "D1:1", "text": "x"}]}, "dia_id 'D1:1' occurs twice"),
        ({"session_2": "x"}, "session_2: is a str; it must be a list"),
        ({"qa": [{"category": 1}]}, "qa, question 1: needs question and category"),
    ],
)
def test_a_locomo_file_that_does_not_fit_is_refused_with_the_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "7.json", {**locomo_record(), **change})
    with pytest.raises(CorruptFileError) as error:
        load_conversations(file)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def came_files(folder: Path) -> tuple[Path, Path]:
    topic = "topic-GOLD"
    turns = [("pro-side", "We should. ----TIMESTAMP: 2025-01-01T00:03"), ("user", "Why?"), ("assistant", "Because.")]
    return (
        write_lines(
            folder / "talk_turns.jsonl",
            *(
                {
                    "id": f"{topic}-turn-{n}",
                    "role": role,
                    "content": content,
                    "partition": [topic],
                    "action": "GOLD-propose",
                    "action_object": "GOLD-object",
                }
                for n, (role, content) in enumerate(turns, start=1)
            ),
        ),
        write_lines(
            folder / "talk_questions.jsonl",
            {
                "id": "q-a",
                "type": "type 3",
                "content": "Which side?",
                "answer": {"free_form_answer": "GOLD-answer"},
                "question_turn_ids": [f"{topic}-turn-1", f"{topic}-turn-2"],
                "answer_turn_ids": [f"{topic}-turn-3", f"{topic}-turn-1", f"{topic}-turn-99"],
                "answer_type": "FREE",
            },
        ),
    )


def test_came_bench_loads_alike_from_its_folder_and_from_either_file(tmp_path: Path) -> None:
    turns, questions = came_files(tmp_path)
    loaded = [load_conversations(path) for path in (tmp_path, turns, questions)]
    assert loaded[0] == loaded[1] == loaded[2]
    (conversation,) = loaded[0]
    assert (conversation.id, len(conversation.messages), len(conversation.questions)) == ("came-talk", 3, 1)


def test_came_bench_gold_is_kept_for_the_scorer_and_not_even_in_an_id_for_the_memory(tmp_path: Path) -> None:
    (conversation,) = load_conversations(came_files(tmp_path)[0])
    assert "GOLD" not in shown_to_memory(conversation)
    assert conversation.gold["turn-2"] == {
        "id": "topic-GOLD-turn-2",
        "partition": ["topic-GOLD"],
        "action": "GOLD-propose",
        "action_object": "GOLD-object",
    }


def test_came_bench_timestamps_leave_the_content_and_reach_later_turns_that_have_none(tmp_path: Path) -> None:
    (conversation,) = load_conversations(came_files(tmp_path)[0])
    assert [(m.role, m.name, m.content, m.timestamp) for m in conversation.messages] == [
        ("assistant", "pro-side", "We should.", "2025-01-01T00:03"),
        ("user", None, "Why?", "2025-01-01T00:03"),
        ("assistant", None, "Because.", "2025-01-01T00:03"),
    ]
    assert any(note.startswith("2 turn(s) without a timestamp") for note in conversation.notes)


def test_came_bench_speakers_are_assistants_beside_a_user_and_people_without_one(tmp_path: Path) -> None:
    turns, _ = came_files(tmp_path)
    [beside_a_user] = load_conversations(turns)
    assert (beside_a_user.messages[0].role, beside_a_user.messages[0].name) == ("assistant", "pro-side")
    turns.write_text(turns.read_text(encoding="utf-8").replace('"user"', '"con-side"'), encoding="utf-8")
    [without] = load_conversations(turns)
    assert [(m.role, m.name) for m in without.messages][:2] == [("user", "pro-side"), ("user", "con-side")]


def test_came_bench_questions_point_at_the_neutral_ids(tmp_path: Path) -> None:
    (conversation,) = load_conversations(came_files(tmp_path)[0])
    (question,) = conversation.questions
    assert (question.category, question.answer, question.evidence) == ("type 3", "GOLD-answer", ("turn-3", "turn-1"))
    assert question.gold["question_turns"] == ("turn-1", "turn-2")
    assert any("topic-GOLD-turn-99 (q-a)" in note for note in conversation.notes)


def test_came_bench_turns_without_their_questions_load_with_a_note(tmp_path: Path) -> None:
    turns, questions = came_files(tmp_path)
    questions.unlink()
    (conversation,) = load_conversations(turns)
    assert conversation.questions == ()
    assert "no questions: talk_questions.jsonl is missing beside talk_turns.jsonl" in conversation.notes


def test_came_bench_questions_without_their_turns_are_refused_naming_the_file_to_add(tmp_path: Path) -> None:
    turns, questions = came_files(tmp_path)
    turns.unlink()
    with pytest.raises(InvalidInputError, match=r"put talk_turns\.jsonl beside it"):
        load_conversations(questions)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Go. ----TIMESTAMP: 2025-05-15T08:00", ("Go.", "2025-05-15T08:00")),
        ("Go.\n----TIMESTAMP: 2025-05-15T08:00\n", ("Go.", "2025-05-15T08:00")),
        ("A ----TIMESTAMP: 1 in the middle\nand more", ("A ----TIMESTAMP: 1 in the middle\nand more", None)),
        ("No time.", ("No time.", None)),
    ],
)
def test_only_a_trailing_timestamp_is_split_off(content: str, expected: tuple[str, str | None]) -> None:
    assert split_timestamp(content) == expected


def longmemeval_record() -> dict[str, Any]:
    return {
        "question_id": "abc",
        "question_type": "single-session-user",
        "question": "Which degree?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "GOLD-degree",
        "answer_session_ids": ["answer_GOLD"],
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["answer_GOLD", "plain"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I have a degree.", "has_answer": True},
                {"role": "assistant", "content": "Well done.", "has_answer": False},
            ],
            [{"role": "user", "content": "Hi."}],
        ],
    }


def test_longmemeval_sessions_come_in_order_of_time_under_ids_that_tell_nothing(tmp_path: Path) -> None:
    (conversation,) = load_conversations(write(tmp_path / "lme.json", [longmemeval_record()]))
    assert conversation.id == "longmemeval-abc"
    assert [(m.id, m.thread_id, m.role, m.timestamp) for m in conversation.messages] == [
        ("session_1#0", "session_1", "user", "2023-05-20T02:21:00"),
        ("session_2#0", "session_2", "user", "2023-05-21T10:00:00"),
        ("session_2#1", "session_2", "assistant", "2023-05-21T10:00:01"),
    ]
    shown = shown_to_memory(conversation)
    assert "GOLD" not in shown
    assert "has_answer" not in shown


def test_longmemeval_evidence_is_given_by_turn_and_by_session(tmp_path: Path) -> None:
    (conversation,) = load_conversations(write(tmp_path / "lme.json", [longmemeval_record()]))
    (question,) = conversation.questions
    assert question.evidence == ("session_2#0",)
    assert question.evidence_threads == ("session_2",)
    assert question.asked_at == "2023-05-30T23:40:00"
    assert conversation.gold["session_2#0"] == {"session_id": "answer_GOLD", "has_answer": True}


def test_longmemeval_abstention_is_not_scored_and_says_so(tmp_path: Path) -> None:
    record = {**longmemeval_record(), "question_id": "abc_abs"}
    (conversation,) = load_conversations(write(tmp_path / "lme.json", [record]))
    assert conversation.questions[0].evidence == conversation.questions[0].evidence_threads == ()
    assert conversation.notes == ("1 question of abstention, not scored: abc_abs",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"haystack_dates": ["2023/05/21 (Sun) 10:00"]}, "2 sessions, 2 ids and 1 dates"),
        ({"haystack_dates": ["soon", "2023/05/20 (Sat) 02:21"]}, "date 'soon' is not a time"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "session answer_GOLD, turn 1"),
    ],
)
def test_a_longmemeval_instance_that_does_not_fit_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "lme.json", [longmemeval_record(), {**longmemeval_record(), **change}])
    with pytest.raises(CorruptFileError) as error:
        load_conversations(file)
    assert str(error.value).startswith(f"{file}, instance 2")
    assert message in str(error.value)


def test_jsonl_lines_become_messages_as_they_are(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    full = {"role": "user", "name": "Ada", "content": "Hi\u2028there", "timestamp": "2024-01-01T10:00:00Z", "id": "m1"}
    blocks = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    path = tmp_path / "chat.jsonl"
    path.write_text(
        "\ufeff" + "\n\n".join(json.dumps(line, ensure_ascii=False) for line in (full, blocks, call)), "utf-8"
    )
    messages, notes = read_jsonl(path)
    assert [m.as_message() for m in messages] == [full, blocks, {**call, "content": ""}]
    assert notes == ()


def test_a_jsonl_line_without_an_id_gets_none_that_could_collide(tmp_path: Path) -> None:
    messages, _ = read_jsonl(write_lines(tmp_path / "chat.jsonl", {"role": "user", "content": "Hi"}))
    assert messages[0].as_message() == {"role": "user", "content": "Hi"}


def test_a_jsonl_thread_is_kept_apart_from_the_message(tmp_path: Path) -> None:
    line = {"role": "user", "content": "Hi", "thread_id": "t1"}
    messages, _ = read_jsonl(write_lines(tmp_path / "chat.jsonl", line))
    assert messages[0].thread_id == "t1"
    assert "thread_id" not in messages[0].as_message()


def test_keys_that_a_jsonl_message_does_not_have_are_counted_in_a_note(tmp_path: Path) -> None:
    lines = [{"role": "user", "content": "Hi", "mood": "gay"}, {"role": "user", "content": "Ho", "mood": "sad"}]
    file = write_lines(tmp_path / "chat.jsonl", *lines)
    assert read_jsonl(file).notes == (f"{file}: keys that a message does not have, left out: mood (2 lines)",)


BAD_LINES = [
    (b'{"role": "user", "content": "cut o', "not valid JSON (Unterminated string"),
    (b'{"role": "user", "content": "\xff"}', "not UTF-8 text"),
    (b'["user", "Hi"]', "is a JSON list, not an object"),
    (b'{"content": "Hi"}', "role is missing or not text"),
    (b'{"role": "user"}', "content is missing"),
    (b'{"role": "user", "content": 5}', "content is neither text nor a list of blocks"),
    (b'{"role": "user", "content": "Hi", "timestamp": 5}', "timestamp = 5 is not text"),
    (b"[" * 100_000, "not valid JSON"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_a_bad_jsonl_line_is_refused_naming_file_and_line_and_the_way_out(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b'{"role": "user", "content": "Hi"}\n' + line)
    with pytest.raises(CorruptFileError) as error:
        read_jsonl(file)
    assert str(error.value).startswith(f"{file}, line 2: {reason}")
    assert str(error.value).endswith("; pass --skip-bad to leave such lines out")


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_skip_bad_leaves_the_line_out_and_names_it(tmp_path: Path, line: bytes, reason: str) -> None:
    file = tmp_path / "chat.jsonl"
    good = b'{"role": "user", "content": "Hi"}\n'
    file.write_bytes(good + line + b"\n" + good)
    messages, notes = read_jsonl(file, skip_bad=True)
    assert [m.content for m in messages] == ["Hi", "Hi"]
    assert len(notes) == 1
    assert notes[0].startswith(f"{file}, line 2: {reason}")


def test_skip_bad_reaches_json_lines_through_load_conversations(tmp_path: Path) -> None:
    turns, _ = came_files(tmp_path)
    with turns.open("a", encoding="utf-8") as file:
        file.write('{"id": "cut')
    with pytest.raises(CorruptFileError, match="line 4"):
        load_conversations(turns)
    (conversation,) = load_conversations(turns, skip_bad=True)
    assert len(conversation.messages) == 3
    assert any("line 4" in note for note in conversation.notes)


def test_each_form_is_told_by_what_the_file_holds(tmp_path: Path) -> None:
    turns, questions = came_files(tmp_path)
    found = [
        detect_format(path)
        for path in (
            turns,
            questions,
            write(tmp_path / "a.json", locomo_record()),
            write(tmp_path / "b.json", [longmemeval_record()]),
            write(tmp_path / "c.json", longmemeval_record()),
            write_lines(tmp_path / "d.jsonl", {"role": "user", "content": "Hi"}),
            write(tmp_path / "e.json", {"hello": 1}),
            write(tmp_path / "f.json", []),
        )
    ]
    assert found == ["came", "came", "locomo", "longmemeval", "longmemeval", "jsonl", None, None]


def test_a_folder_gives_its_conversations_in_natural_order_and_names_what_is_none(tmp_path: Path) -> None:
    for name in ("10", "9"):
        write(tmp_path / f"{name}.json", locomo_record())
    write(tmp_path / "meta.json", {"n": 1})
    (tmp_path / "README.md").write_text("x")
    loaded = load_conversations(tmp_path)
    assert [c.id for c in loaded] == ["locomo-9", "locomo-10"]
    assert loaded[0].notes[-1].endswith("were left out: meta.json")


def test_a_format_that_is_named_takes_only_its_files_from_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "1.json", locomo_record())
    write(tmp_path / "2.json", [longmemeval_record()])
    assert [c.dataset for c in load_conversations(tmp_path, "longmemeval")] == ["longmemeval"]
    with pytest.raises(InvalidInputError, match="no came conversation"):
        load_conversations(tmp_path, "came")


@pytest.mark.parametrize("format", ["locomo", "longmemeval"])
def test_a_file_of_another_form_than_announced_is_refused(tmp_path: Path, format: Any) -> None:
    file = write(tmp_path / "x.json", {"hello": 1})
    with pytest.raises(CorruptFileError, match=r"x\.json"):
        load_conversations(file, format)


def test_what_cannot_be_loaded_at_all_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such file or folder"):
        load_conversations(tmp_path / "nowhere.json")
    with pytest.raises(InvalidInputError, match="no conversation of a known form"):
        load_conversations(tmp_path)
    with pytest.raises(InvalidInputError, match="not a conversation of a known form"):
        load_conversations(write(tmp_path / "x.json", {"hello": 1}))
    with pytest.raises(InvalidInputError, match="format 'xml' is unknown"):
        load_conversations(tmp_path, "xml")  # type: ignore[arg-type]


def test_a_truncated_json_file_is_refused_naming_the_line(tmp_path: Path) -> None:
    file = tmp_path / "7.json"
    file.write_text(json.dumps(locomo_record(), indent=1)[:400], "utf-8")
    with pytest.raises(CorruptFileError, match=r"7\.json, line \d+: not valid JSON"):
        load_conversations(file)


def test_natural_order_puts_ten_after_nine() -> None:
    assert sorted(["s10", "s9", "10", "9", "a", "1-4"], key=natural_key) == ["1-4", "9", "10", "a", "s9", "s10"]


@pytest.mark.parametrize("name", ["chinese_friends", "mixed_colleagues"])
def test_our_own_corpus_loads_with_every_question_scored(name: str) -> None:
    (conversation,) = load_conversations(CORPUS / f"{name}.json")
    assert conversation.metadata["license"] == "Apache-2.0"
    assert conversation.notes == ()
    assert len(conversation.questions) >= 50
    assert all(m.timestamp for m in conversation.messages)


@real_data
def test_real_locomo_has_its_turns_sessions_and_questions() -> None:
    loaded = load_conversations(SHARED / "locomo")
    counted = {
        c.id: (
            len(c.messages),
            len({m.thread_id for m in c.messages}),
            len(c.questions),
            sum(bool(q.evidence) for q in c.questions),
        )
        for c in loaded
    }
    assert counted == {
        "locomo-26": (419, 19, 199, 197),
        "locomo-41": (663, 32, 193, 193),
        "locomo-43": (680, 29, 242, 242),
        "locomo-47": (689, 31, 190, 190),
        "locomo-49": (509, 25, 196, 196),
    }


@real_data
def test_real_locomo_names_the_ids_that_do_not_exist() -> None:
    notes = " ".join(note for c in load_conversations(SHARED / "locomo") for note in c.notes)
    assert "D:11:26 (locomo-43-q19)" in notes
    assert "D4:36 (locomo-47-q39)" in notes


@real_data
def test_real_came_bench_has_its_turns_and_questions() -> None:
    (conversation,) = load_conversations(SHARED / "came_bench")
    assert (len(conversation.messages), len(conversation.questions)) == (53, 6)
    assert all(q.evidence for q in conversation.questions)
    assert all(m.timestamp for m in conversation.messages)
    shown = shown_to_memory(conversation)
    assert "TIMESTAMP" not in shown
    assert not [g["partition"][0] for g in conversation.gold.values() if g["partition"][0] in shown]


@real_data
def test_real_longmemeval_has_its_sessions_and_its_evidence() -> None:
    (conversation,) = load_conversations(SHARED / "longmemeval")
    assert len(conversation.messages) == 550
    assert len({m.thread_id for m in conversation.messages}) == 53
    (question,) = conversation.questions
    assert question.evidence == ("session_52#4", "session_52#5")
    assert question.evidence_threads == ("session_52",)
    assert "answer_280352e9" not in shown_to_memory(conversation)
