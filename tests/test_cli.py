"""The command line: what each command does, and what reaches stdout and stderr."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings, UserMemory, __version__

from .commands import Finished, hexamem, write_lines
from .manager_script import answer
from .scripted_server import Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

CHAT: list[dict[str, Any]] = [
    {"role": "user", "name": "Alice", "content": "My daughter Mia starts school in Hangzhou.", "id": "m1",
     "thread_id": "family"},
    {"role": "assistant", "content": "Which school will it be?", "id": "m2", "thread_id": "family"},
    {"role": "user", "name": "Alice", "content": "West Lake Primary, next to the tea market.", "id": "m3",
     "thread_id": "family"},
    {"role": "user", "name": "Bob", "content": "The boiler was serviced.", "timestamp": "2024-05-01T10:00:00Z",
     "id": "m4"},
]  # fmt: skip
PASSWORD = "marmalade-otter-7719"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Where nothing is stored yet."""
    return tmp_path / "home"


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "chat.jsonl", CHAT)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests only read: the chat, one fact and one secret of alice, one message of bob."""
    folder = tmp_path_factory.mktemp("stored") / "home"
    with Memory.open(folder, embedder="static") as memory:
        alice = memory.user("alice")
        for message in CHAT:
            content = {key: value for key, value in message.items() if key != "thread_id"}
            alice.remember([content], message.get("thread_id", "default"))
        alice.add(
            {"kind": "semantic", "name": "Mia", "summary": "daughter", "metadata": {"page": 3}, "labels": ["kin"]}
        )
        alice.add({"kind": "vault", "caption": "wifi password"}, secret=PASSWORD)
        memory.user("bob").remember("The van is booked.")
    return folder


# The program itself.


def test_help_and_refusals_load_nothing_heavy_and_a_recall_loads_no_graph(stored: Path, home: Path) -> None:
    code = """
import contextlib, io, sys
from hexamem.cli import main
asked = ["--user", "alice", "--embedder", "static", "--home"]
for words in (["recall", "--help"], ["recall", "x", *asked, sys.argv[2]], ["recall", "x", *asked, sys.argv[1]]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(words)
    print(*{name.split(".")[0] for name in sys.modules})
"""
    done = subprocess.run(
        [sys.executable, "-c", code, stored, home], capture_output=True, text=True, timeout=300, check=True
    )
    by_help, by_refusal, by_recall = (set(line.split()) for line in done.stdout.splitlines())
    heavy = {"chromadb", "langgraph", "langchain_core", "sqlalchemy", "tantivy", "numpy"}
    assert heavy & by_help == heavy & by_refusal == set()
    assert "chromadb" in by_recall
    libraries = {"langgraph", "langchain", "langchain_core", "langsmith", "detect_secrets", "requests", "phonenumbers"}
    assert libraries & by_recall == set()


def test_it_runs_as_a_module_and_a_closed_pipe_is_quiet(stored: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "hexamem", "--embedder", "static", "steps", "-u", "alice", "--home", str(stored)]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_help_names_every_command_and_explains_every_option() -> None:
    from hexamem.cli.app import _COMMAND

    shown = hexamem("--help", embedder=None)
    assert hexamem() == shown
    root: Any = _COMMAND
    commands: list[tuple[str, Any]] = list(root.commands.items())
    assert all(f" {name} " in shown.out for name, _ in commands)
    for name, command in commands:  # grows while it is read
        commands += [(f"{name} {inner}", each) for inner, each in getattr(command, "commands", {}).items()]
    assert len(commands) > 40
    assert [name for name, command in commands if not (command.help or "").strip()] == []
    assert [f"{name} {option.name}" for name, command in commands for option in command.params if not option.help] == []
    assert "Their words stay in the history and in exports" in " ".join(hexamem("forget", "--help").out.split())


def test_version_is_printed_alone() -> None:
    assert hexamem("--version") == Finished(0, f"hexamem {__version__}\n", "")


def test_shared_options_work_before_and_after_the_command_and_the_later_one_wins(stored: Path, tmp_path: Path) -> None:
    before = hexamem("--home", stored, "--json", "users")
    assert before == hexamem("users", "--json", "--home", stored)
    assert before.code == 0
    assert hexamem("--home", tmp_path / "nowhere", "users", "--home", stored, "--json") == before
    assert not (tmp_path / "nowhere").exists()


def test_an_unexpected_error_is_one_line_and_a_traceback_only_when_asked_for(
    stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import IntegrityError

    def failing(error: BaseException, *options: str) -> Finished:
        def broken(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(UserMemory, "recall", broken)
        return hexamem("recall", "x", "--user", "alice", "--home", stored, *options)

    plain = failing(RuntimeError("the cable is cut\nand more"))
    assert (plain.code, plain.out, plain.err.count("\n")) == (1, "", 1)
    assert "the cable is cut" in plain.err
    assert "Traceback" in failing(RuntimeError("x"), "--debug").err
    private = failing(IntegrityError("INSERT INTO steps VALUES (?)", (PASSWORD,), ValueError("constraint")), "--debug")
    assert (private.code, PASSWORD in private.err) == (1, False)
    stopped = failing(KeyboardInterrupt())
    assert (stopped.code, stopped.out, stopped.err.count("\n")) == (130, "", 1)


def test_piped_output_is_plain_and_as_wide_as_columns(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = hexamem("doctor", "--home", stored).out
    assert "\x1b" not in shown
    assert all(line == line.rstrip() and len(line) <= 40 for line in shown.splitlines())


def test_control_characters_and_markup_in_stored_text_are_shown_and_not_obeyed(home: Path, tmp_path: Path) -> None:
    text = "\x1b]0;owned\x07 [red]not markup[/red] end"
    where = ("--user", "alice", "--home", home)
    hexamem("ingest", write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": text}]), *where)
    shown = hexamem("steps", *where).out
    assert "\x1b" not in shown
    assert "[red]not markup[/red]" in shown
    assert hexamem("steps", *where, "--json").json[0]["content"] == text


# Ingest.


def test_ingest_stores_a_file_by_thread_and_repeats_nothing_that_has_an_id(home: Path, chat: Path) -> None:
    where = ("--user", "alice", "--home", home)
    done = hexamem("ingest", chat, "--thread", "house", *where, "--json")
    assert "there was no memory" in done.err
    counts = {key: done.json[key] for key in ("format", "threads", "steps", "repeated", "secrets")}
    assert counts == {"format": "jsonl", "threads": 2, "steps": 4, "repeated": 0, "secrets": 0}
    family = hexamem("steps", *where, "--thread", "family", "--json").json
    assert [step["content"] for step in family] == [line["content"] for line in CHAT[:3]]
    assert [step["message_id"] for step in hexamem("steps", *where, "--thread", "house", "--json").json] == ["m4"]
    assert [step["message_id"] for step in hexamem("steps", *where, "--last", "1", "--json").json] == ["m4"]
    again = hexamem("ingest", chat, "--thread", "house", *where)
    assert (again.code, "stored 0 steps in 2 threads of 'alice', 4 were there already" in again.out) == (0, True)


def test_ingest_reads_naive_times_in_the_given_zone_and_further_keys_as_metadata(home: Path, tmp_path: Path) -> None:
    line = {"role": "user", "content": "hello there", "timestamp": "2024-01-01 12:00", "channel": "support"}
    where = ("--user", "alice", "--home", home)
    hexamem("ingest", write_lines(tmp_path / "x.jsonl", [line]), *where, "--timezone", "Asia/Shanghai")
    (step,) = hexamem("steps", *where, "--json").json
    assert (step["occurred_at"], step["metadata"]["channel"]) == ("2024-01-01T04:00:00Z", "support")


def test_ingest_goes_beyond_one_batch_with_threads_that_take_turns(home: Path, tmp_path: Path) -> None:
    lines = [{"role": "user", "content": f"remark {n}", "thread_id": f"t{n % 2}"} for n in range(1_003)]
    where = ("--user", "alice", "--home", home, "--mode", "off", "--label-by", "off")
    done = hexamem("ingest", write_lines(tmp_path / "x.jsonl", lines), *where, "--json")
    assert done.json["steps"] == 1_003
    odd = hexamem("steps", *where, "--thread", "t1", "--json").json
    assert [step["content"] for step in odd] == [f"remark {n}" for n in range(1, 1_003, 2)]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"role": "user", "content": "hal', "not valid JSON"),
        ("[1, 2]", "list"),
        ('{"content": "hello"}', "role is missing"),
        ('{"role": "user"}', "content is missing"),
        ('{"role": "user", "content": " "}', "empty"),
        ('{"role": "user", "content": "hello", "timestamp": "soon"}', "soon"),
        ('{"role": "user", "content": "hello", "thread_id": 7}', "thread_id"),
    ],
)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_stored_unless_it_may_be_skipped(
    home: Path, tmp_path: Path, line: str, rule: str
) -> None:
    file = write_lines(tmp_path / "x.jsonl", [CHAT[0], CHAT[1], line])
    error = hexamem("ingest", file, "--user", "alice", "--home", home).error
    assert f"{file}, line 3: " in error
    assert rule in error
    assert not home.exists()
    done = hexamem("ingest", file, "--user", "alice", "--home", home, "--mode", "off", "--skip-bad", "--json")
    assert (done.json["steps"], len(done.json["notes"])) == (2, 1)
    assert "line 3: " in done.err
    assert "leave it out" not in done.err


def test_ingest_stops_extracting_at_its_timeout_and_says_what_waits_and_what_a_model_cost(
    tmp_path: Path,
    scripted_server: ServerFactory,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = scripted_server(lambda request: Reply(content=answer(request).content, usage=(30, 10)))
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    file = tmp_path / "chat.jsonl"
    lines = ({"role": "user", "content": f"FACT Bo{n}: paints boat {n}", "id": f"m{n}"} for n in range(3))
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    words = ("ingest", file, "--user", "alice", "--home", tmp_path / "home", "--model", "openai:scripted", "--json")
    stopped = hexamem(*words, "--timeout", "0").json
    assert (stopped["items"], stopped["waiting"], stopped["llm_calls"], server.calls) == (0, 3, 0, 0)
    assert any(note.startswith("3 steps were not read yet") for note in stopped["notes"])
    done = hexamem(*words).json
    assert (done["items"], done["waiting"], done["llm_calls"], done["llm_tokens"]) == (3, 0, 1, 40)


def test_ingest_of_what_is_no_conversation_is_refused_or_noted(home: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("costs.csv", "x.json", "empty.jsonl")}
    for file, text in zip(files.values(), ("what,euros\nrent,900\n", '{"a": 1}', ""), strict=True):
        file.write_text(text)
    where = ("--user", "alice", "--home", home)
    assert f"hexamem add {files['costs.csv']}" in hexamem("ingest", files["costs.csv"], *where).error
    assert "not a conversation" in hexamem("ingest", files["x.json"], *where).error
    empty = hexamem("ingest", files["empty.jsonl"], *where)
    assert (empty.code, f"note: {files['empty.jsonl']} holds no message" in empty.err) == (0, True)


def test_ingest_again_of_lines_without_ids_warns(home: Path, tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "We moved to Porto.", "timestamp": "2025-03-04 10:00"},
        {"role": "assistant", "content": "How nice!"},
        {"role": "user", "content": "Yes.", "id": "m1"},
    ]
    file = write_lines(tmp_path / "x.jsonl", lines)
    where = ("--user", "alice", "--home", home, "--mode", "off")
    assert "already" not in hexamem("ingest", file, *where).err
    assert "2 of 3 messages in thread 'default' already" in hexamem("ingest", file, *where).err
    moved = write_lines(tmp_path / "y.jsonl", [{**lines[0], "timestamp": "2025-03-05 10:00"}])
    assert "already" not in hexamem("ingest", moved, *where).err


def test_two_locomo_files_of_one_user_do_not_hide_each_other(home: Path, tmp_path: Path) -> None:
    where = ("--user", "ann", "--home", home, "--mode", "off")
    for name in ("one", "two"):
        turn = {"speaker": "Ann", "dia_id": "D1:1", "text": f"I adopted a cat called {name}."}
        record = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023", "qa": []}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
        assert hexamem("ingest", tmp_path / f"{name}.json", *where).code == 0
    threads = [step["thread_id"] for step in hexamem("steps", *where, "--json").json]
    assert threads == ["locomo-one/session_1", "locomo-two/session_1"]


# Reading.


def test_recall_returns_the_message_and_explains_it_when_asked(stored: Path) -> None:
    words = ("recall", "Where does Mia go to school?", "--user", "alice", "--home", stored)
    recall = hexamem(*words, "-k", "3", "--json").json
    assert len(recall["hits"]) == 3
    assert any("Mia" in hit["text"] for hit in recall["hits"])
    assert {"id", "query", "strategy", "hits", "text", "tokens", "degraded", "elapsed_ms"} <= recall.keys()
    assert "why: " not in hexamem(*words).out
    assert "why: " in hexamem(*words, "--why").out
    assert 0 < len(hexamem(*words, "--token-budget", "25").out) < len(hexamem(*words, "--text").out)


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("--kind", "semantic", "daughter"),
        ("--thread", "default", "boiler"),
        ("--speaker", "bob", "boiler"),
        ("--until", "2024-05-02", "boiler"),
        ("--label", "kin", "daughter"),
        ("--metadata", "page=3", "daughter"),
    ],
)
def test_recall_narrows_by_every_filter(stored: Path, option: str, value: str, word: str) -> None:
    where = ("--user", "alice", "--home", stored, option, value, "--json")
    texts = str([hit["text"] for hit in hexamem("recall", "boiler daughter school", *where).json["hits"]])
    assert {each for each in ("boiler", "daughter", "school") if each in texts} == {word}


def test_one_user_never_sees_another_and_an_unknown_one_is_named(stored: Path) -> None:
    hits = hexamem("recall", "Mia school boiler van", "--user", "bob", "--home", stored, "--json").json["hits"]
    assert [hit["text"] for hit in hits] == ["The van is booked."]
    step = hexamem("steps", "--user", "bob", "--home", stored, "--json").json[0]["id"]
    assert "no step or item" in hexamem("show", step, "--user", "alice", "--home", stored).error
    unknown = hexamem("recall", "x", "--user", "alcie", "--home", stored)
    assert (unknown.code, unknown.out) == (0, "")
    assert "no user 'alcie'" in unknown.err
    assert "'alice'" in unknown.err
    rows = hexamem("users", "--home", stored, "--json").json
    assert rows == [{"user": "alice", "steps": 4, "items": 2}, {"user": "bob", "steps": 1, "items": 0}]


def test_items_show_and_history_give_what_is_stored(stored: Path) -> None:
    where = ("--user", "alice", "--home", stored)
    items = hexamem("items", *where, "--json").json
    assert [item["kind"] for item in items] == ["semantic", "vault"]
    assert hexamem("items", *where, "--kind", "semantic", "--json").json == items[:1]
    assert "wifi password" in hexamem("items", *where).out
    assert hexamem("show", items[0]["id"], *where, "--json").json == items[0]
    assert 'metadata: {"page": 3}' in hexamem("show", items[0]["id"], *where).out
    step = hexamem("steps", *where, "--json").json[0]
    shown = hexamem("show", step["id"], *where, "--json").json
    assert {name: value for name, value in shown.items() if name != "labels"} == step
    assert [each["kind"] for each in hexamem("history", items[0]["id"], *where, "--json").json] == ["add"]
    assert len(hexamem("history", "--limit", "1", *where, "--json").json) == 1
    for group in ("pages", "labels", "jobs", "experience"):
        listed = hexamem(group, *where, "--json")
        assert listed.code == 0
        assert listed == hexamem(group, "list", *where, "--json")


def test_an_item_of_the_past_is_shown_with_its_times_in_the_users_zone(home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    block = ("add", "--kind", "core", "--label", "home", *where)
    former = hexamem(*block, "--value", "Lives in Bristol", "--valid-from", "2026-03-02", "--json").json
    hexamem(*block, "--value", "Lives in Bath", "--valid-from", "2026-06-02", "--supersedes", former["id"])
    for words in (("items",), ("recall", "Where do I live?")):
        then = hexamem(*words, "--kind", "core", "--as-of", "2026-04-01", *where).out
        assert "Lives in Bristol" in then
        assert "superseded" not in then
    assert "superseded" in hexamem("items", "--kind", "core", "--superseded", *where).out
    zone = ("--timezone", "Europe/London")
    hexamem("add", "--kind", "semantic", "--name", "flat", "--summary", "Mill Lane", "--valid-from", "2025-07-01",
            *where, *zone)  # fmt: skip
    hexamem("add", "--kind", "episodic", "--summary", "The boiler broke", "--occurred-at", "2025-01-05 08:30", *where)
    listed = hexamem("items", *where, *zone).out
    assert "from 2025-07-01 00:00 +01:00" in listed
    assert "2025-01-05 08:30 +00:00" in listed


def test_history_describes_what_changed_in_words(home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    words = ("--kind", "semantic", "--name", "flat", "--summary", "old", "--metadata", '{"page": 3}')
    item = hexamem("add", *words, *where, "--json").json["id"]
    long = "Mill Lane 4, above the bakery, with the key under the third pot from the left " * 2
    changes = (f"summary={long}", 'labels=["home", "lease"]', 'metadata={"page": 4, "seen": true}')
    hexamem("edit", item, *changes, *where)
    shown = hexamem("history", item, *where).out
    for line in ("labels: – → home, lease", "metadata.page: 3 → 4", "metadata.seen: – → yes", "before: old"):
        assert line in shown
    assert shown.count("third pot from the left") == 2
    assert "{" not in shown


def test_a_very_long_message_is_cut_in_lists_and_whole_in_show(home: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": "Ferns grow by the river. " * 2_000}])
    where = ("--user", "alice", "--home", home)
    hexamem("ingest", file, *where, "--mode", "off")
    for words in (("recall", "ferns", "--kind", "step"), ("steps",)):
        shown = hexamem(*words, *where).out
        assert "(50,000 characters)" in shown
        assert len(shown) < 5_000
    step = hexamem("steps", *where, "--json").json[0]
    assert len(hexamem("show", step["id"], *where).out) > 50_000


# Changing.


def test_an_item_is_added_edited_removed_and_brought_back(home: Path) -> None:
    where = ("--user", "alice", "--home", home, "--json")
    words = ("--kind", "semantic", "--name", "Mia", "--summary", "daughter", "--labels", "kin", "--labels", "school")
    added = hexamem("add", *words, "--valid-from", "2024-09-01", *where).json
    assert (added["labels"], added["valid_from"]) == (["kin", "school"], "2024-09-01T00:00:00Z")
    edited = hexamem("edit", added["id"], "summary=daughter, 7", "labels=kin", "valid_from=", *where).json
    changed = (edited["summary"], edited["labels"], edited["valid_from"], edited["version"])
    assert changed == ("daughter, 7", ["kin"], None, 2)
    removed = hexamem("remove", added["id"], *where).json
    assert (removed["kind"], hexamem("items", *where).json) == ("remove", [])
    assert [each["undoes"] for each in hexamem("undo", removed["id"], *where).json] == [removed["id"]]
    assert [item["summary"] for item in hexamem("items", *where).json] == ["daughter, 7"]
    first = hexamem("history", added["id"], *where).json[0]["id"]
    assert "--cascade" in hexamem("undo", first, *where).error
    hexamem("undo", first, "--cascade", *where)
    assert hexamem("items", *where).json == []


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["--kind", "core", "--label", "persona", "--value", "kind and brief", "--limit", "500"], ""),
        (["--kind", "episodic", "--summary", "moved", "--occurred-at", "2024-05-01 10:00", "--actor", "Ann"], ""),
        (["--kind", "semantic", "--name", "Mia", "--summary", "daughter", "--tree-path", "family"], ""),
        (["--kind", "procedural", "--summary", "tea", "--step", "boil water", "--step", "wait, then pour"], ""),
        (["--kind", "resource", "--title", "lease", "--content", "The tenant …", "--resource-type", "contract"], ""),
        (["--kind", "vault", "--caption", "locker code", "--sensitivity", "low"], ""),
        (["--json-item", '{"kind": "semantic", "name": "Mia", "summary": "daughter"}'], ""),
        (["--json-item", "-"], '{"kind": "semantic", "name": "Mia", "summary": "daughter"}'),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_an_item_of_each_kind_is_added_by_options_or_as_json(home: Path, words: list[str], stdin: str) -> None:
    added = hexamem("add", "--user", "alice", "--home", home, "--json", *words, stdin=stdin).json
    assert added["kind"] == ("semantic" if "--json-item" in words else words[1])
    assert added.get("steps", []) == [word for flag, word in itertools.pairwise(words) if flag == "--step"]


def test_a_secret_comes_from_stdin_and_is_seen_nowhere_but_in_reveal(home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    added = hexamem("add", "--kind", "vault", "--caption", "wifi", "--secret-stdin", *where, stdin=PASSWORD + "\n")
    listed, history = hexamem("items", *where, "--json"), hexamem("history", *where, "--json")
    assert PASSWORD not in added.out + added.err + listed.out + history.out
    revealed = hexamem("reveal", listed.json[0]["id"], "--reason", "guests are here", *where)
    assert revealed == Finished(0, PASSWORD + "\n", "")


def test_a_forgotten_thread_is_gone_until_undone_and_redacted_words_until_revealed(home: Path, chat: Path) -> None:
    where = ("--user", "alice", "--home", home)
    hexamem("ingest", chat, *where)
    done = hexamem("forget", "--thread", "family", "--reason", "asked to", *where, "--json").json
    assert (done["kind"], done["reason"]) == ("forget", "asked to")
    assert [step["message_id"] for step in hexamem("steps", *where, "--json").json] == ["m4"]
    hexamem("undo", done["id"], *where)
    assert len(hexamem("steps", *where, "--json").json) == 4
    for words, typed in (("West Lake Primary", ""), ("-", "tea market\n")):
        receipt = hexamem("redact", words, "--caption", "school", *where, "--json", stdin=typed)
        text = typed.strip() or words
        assert len(receipt.json["step_ids"]) == 1
        assert text not in hexamem("steps", *where).out + receipt.out
        assert hexamem("reveal", receipt.json["reference"], "--reason", "forms", *where).out == f"{text}\n"


def test_erase_asks_first_and_leaves_nothing_of_the_user_after_a_yes(home: Path, chat: Path) -> None:
    where = ("--user", "alice", "--home", home)
    for reply in ("y\n", "--yes"):
        hexamem("ingest", chat, *where, "--mode", "off")
        unanswered, refused = hexamem("erase", *where), hexamem("erase", *where, stdin="n\n")
        assert (unanswered.code, unanswered.out, refused.code, refused.out) == (2, "", 1, "")
        assert "--yes" in unanswered.err.splitlines()[-1]
        assert "4 steps" in refused.err
        words, stdin = ([reply], "") if reply == "--yes" else ([], reply)
        receipt = hexamem("erase", *where, *words, "--json", stdin=stdin)
        assert receipt.json["rows"]["steps"] == 4
        assert hexamem("users", "--home", home, "--json").json == []


def test_feedback_is_taken_on_a_recall_of_an_earlier_command(stored: Path) -> None:
    where = ("--user", "alice", "--home", stored, "--json")
    recall = hexamem("recall", "boiler", *where).json
    done = hexamem("feedback", recall["id"], "--helped", recall["hits"][0]["id"], *where)
    assert done.json == {"recall_id": recall["id"], "helped": [recall["hits"][0]["id"]], "hurt": []}


# Moving.


def test_an_export_is_imported_for_another_user_with_secrets_under_their_passphrase_alone(
    stored: Path, home: Path, tmp_path: Path
) -> None:
    file, phrase, wrong = tmp_path / "alice.hexamem", tmp_path / "phrase", tmp_path / "wrong"
    phrase.write_text("correct horse\n")
    wrong.write_text("battery staple")
    source, target = ("--user", "alice", "--home", stored), ("--user", "carol", "--home", home)
    assert hexamem("export", file, *source, "--json").json["counts"]["steps"] == 4
    assert PASSWORD not in file.read_text()
    damaged = tmp_path / "damaged.hexamem"
    damaged.write_text(file.read_text().replace("Hangzhou", "Hongkong"))
    assert "checksum" in hexamem("import", damaged, *target).err
    assert hexamem("steps", *target, "--json").json == []
    assert hexamem("export", file, "--with-secrets", "--passphrase-file", phrase, *source).code == 0
    assert PASSWORD not in file.read_text()
    assert "--passphrase-file" in hexamem("import", file, *target).error
    assert "passphrase" in hexamem("import", file, "--passphrase-file", wrong, *target).error
    imported = hexamem("import", file, "--passphrase-file", phrase, *target, "--json")
    assert imported.json["counts"]["steps"] == 4
    hits = hexamem("recall", "Mia school", *target, "--json").json["hits"]
    assert any("Mia" in hit["text"] for hit in hits)
    vault = hexamem("items", "--kind", "vault", *target, "--json").json[0]["id"]
    assert hexamem("reveal", vault, "--reason", "test", *target).out == PASSWORD + "\n"


# Upkeep.


def findings(report: Finished) -> dict[str, dict[str, Any]]:
    return {finding["name"]: finding for finding in json.loads(report.out)["findings"]}


def test_doctor_finds_nothing_wrong_with_a_good_home_or_with_none(stored: Path, tmp_path: Path) -> None:
    for user in ("alice", "bob"):
        hexamem("recall", "x", "--user", user, "--home", stored)
    report = hexamem("doctor", "--home", stored, "--json")
    found = findings(report)
    assert (report.json["ok"], {finding["status"] for finding in found.values()}) == (True, {"ok"})
    assert {"home", "versions", "disk", "embedder", "ledger", "vault key", "indexes", "jobs"} <= found.keys()
    assert [row["user"] for row in report.json["users"]] == ["alice", "bob"]
    assert "all is well" in hexamem("doctor", "--home", stored).out
    assert hexamem("doctor", "--home", tmp_path / "deep" / "home", "--json").json["ok"] is True
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_where_no_home_can_be_made(chat: Path) -> None:
    report = hexamem("doctor", "--home", chat / "home", "--json")
    (wrong,) = [finding for finding in findings(report).values() if finding["status"] == "wrong"]
    assert (report.code, wrong["name"]) == (1, "permissions")
    assert str(chat) in wrong["detail"]
    if Path("/proc/self").exists():  # a file system in which nobody makes folders
        assert hexamem("doctor", "--home", "/proc/hexamem").code == 1


def test_doctor_names_a_readable_key_a_parked_job_and_a_lost_vector_and_reindex_repairs(home: Path, chat: Path) -> None:
    where = ("--user", "alice", "--home", home)
    hexamem("add", "--kind", "semantic", "--name", "Mia", "--summary", "daughter", *where)
    assert findings(hexamem("doctor", "--home", home, "--json"))["indexes"]["status"] == "note"
    hexamem("ingest", chat, *where, "--mode", "off")
    (home / "vault.key").chmod(0o644)
    report = hexamem("doctor", "--home", home)
    assert report.code == 1
    assert "chmod 600" in report.out
    assert "1 thing wrong" in report.out
    (home / "vault.key").chmod(0o600)
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        alice = memory.user("alice")
        memory.vectors.delete(alice.key, "steps", [alice.steps()[0].id])
    report = hexamem("doctor", "--home", home, "--json")
    assert (report.code, "3 of 4 vectors" in report.out) == (1, True)
    assert hexamem("reindex", *where, "--json").json["users"] == ["alice"]
    assert hexamem("doctor", "--home", home).code == 0
    with sqlite3.connect(home / "ledger.sqlite3") as ledger:
        ledger.execute(
            "INSERT INTO jobs (user_id, id, kind, payload, status, attempts, error, created_at, due_at) "
            "VALUES (1, 'job_1', 'label', '{}', 'parked', 5, 'the model is gone', 0, 0)"
        )
    ledger.close()
    report = hexamem("doctor", "--home", home)
    assert (report.code, "the model is gone" in " ".join(report.out.split())) == (1, True)


def test_flush_learns_what_a_short_program_stored_and_reembed_makes_every_vector_anew(home: Path) -> None:
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        memory.user("bob").remember("My boss is called Priya.")
    assert "hexamem flush -u bob" in hexamem("items", "--user", "bob", "--home", home).err
    assert "hexamem flush" in hexamem("doctor", "--home", home).out
    assert hexamem("flush", "--home", home, "--json").json == {"users": ["bob"], "left": []}
    done = hexamem("reembed", "--embedder", "bundled", "--home", home, "--json").json
    assert (done["embedder"], done["records"] > 0) == ("bundled", True)
    assert "Priya" in hexamem("items", "--user", "bob", "--home", home, embedder=None).out
    assert "static" in hexamem("items", "--user", "bob", "--home", home).error
