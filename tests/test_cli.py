"""The command line: each command, each way to get it wrong, and what reaches stdout and stderr."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hexamem import __version__
from hexamem.cli import main

from .fork_server import python

CHAT = [
    {
        "role": "user",
        "name": "Alice",
        "content": "My daughter Mia starts school in Hangzhou.",
        "id": "m1",
        "thread_id": "family",
    },
    {"role": "assistant", "content": "Which school will it be?", "id": "m2", "thread_id": "family"},
    {
        "role": "user",
        "name": "Alice",
        "content": "West Lake Primary, next to the tea market.",
        "id": "m3",
        "thread_id": "family",
    },
    {
        "role": "user",
        "name": "Bob",
        "content": "The boiler was serviced.",
        "timestamp": "2024-05-01T10:00:00Z",
        "id": "m4",
    },
]
PASSWORD = "marmalade-otter-7719"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that bad input gives."""
        assert (self.code, self.out) == (2, ""), self
        assert self.err.startswith("hexamem: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err


Runner = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs a command in this process."""

    def call(*words: str | Path, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return call


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "chat.jsonl", CHAT)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that tests only read: the chat, one fact and one secret of alice, one message of bob."""
    from hexamem import Memory

    folder = tmp_path_factory.mktemp("kept") / "home"
    with Memory.open(folder) as memory:
        alice = memory.user("alice")
        for message in CHAT:
            alice.remember(
                [{k: v for k, v in message.items() if k != "thread_id"}], message.get("thread_id", "default")
            )
        alice.add(
            {"kind": "semantic", "name": "Mia", "summary": "daughter", "metadata": {"page": 3}, "labels": ["kin"]}
        )
        alice.add({"kind": "vault", "caption": "wifi password"}, secret=PASSWORD)
        memory.user("bob").remember("The van is booked.")
    return folder


def write_lines(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines), encoding="utf-8")
    return path


def started(*words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    command = [sys.executable, "-m", "hexamem", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


# -- the program itself -----------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from hexamem.cli import main; main(['--help']); main(['recall', '--help'])\n"
        "heavy = {'chromadb', 'langgraph', 'langchain', 'langchain_core', 'sqlalchemy', 'tantivy', 'numpy'}\n"
        "print('LOADED', sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert "LOADED []" in done.stdout
    assert done.stderr == ""


def loaded_by(*words: str | Path) -> set[str]:
    """The packages that a command has loaded at its end."""
    code = (
        "import sys; from hexamem.cli import main; main(sys.argv[1:])\n"
        "print('LOADED', *{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=300, check=True
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_a_recall_loads_no_graph_and_no_library_of_secrets(kept: Path) -> None:
    loaded = loaded_by("recall", "Which school?", "--user", "alice", "--home", kept)
    assert "chromadb" in loaded
    heavy = {"langgraph", "langchain", "langchain_core", "langsmith", "detect_secrets", "requests", "phonenumbers"}
    assert heavy & loaded == set()


def test_a_home_that_is_not_there_is_refused_before_anything_is_loaded(home: Path) -> None:
    loaded = loaded_by("recall", "Which school?", "--user", "alice", "--home", home)
    assert loaded & {"chromadb", "sqlalchemy", "numpy", "tantivy"} == set()


def test_help_names_every_command(run: Runner) -> None:
    from hexamem.cli.app import COMMANDS

    shown = run("--help")
    assert shown.code == 0
    for commands in COMMANDS.values():
        for name in commands:
            assert f" {name} " in shown.out


def test_every_argument_and_option_of_every_command_is_explained() -> None:
    from hexamem.cli.app import _COMMAND

    commands: list[tuple[str, Any]] = [("hexamem", _COMMAND)]
    for name, command in commands:  # grows while it is read
        commands += [(f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items()]
    assert len(commands) > 40
    assert [name for name, command in commands if not (command.help or "").strip()] == []
    unexplained = [f"{name} {one.name}" for name, command in commands for one in command.params if not one.help]
    assert unexplained == []


def test_the_help_of_forget_says_what_it_leaves_and_what_takes_words_out(run: Runner) -> None:
    shown = " ".join(run("forget", "--help").out.split())
    assert "Their words stay in the history and in exports" in shown
    assert "hexamem redact" in shown


def test_without_a_command_help_is_shown(run: Runner) -> None:
    shown = run()
    assert shown.code == 0
    assert "recall" in shown.out


def test_version_is_printed_alone(run: Runner) -> None:
    assert run("--version") == Ran(0, f"hexamem {__version__}\n", "")


def test_it_runs_as_a_module_too() -> None:
    done = started("--version")
    assert (done.returncode, done.stdout) == (0, f"hexamem {__version__}\n")


def test_an_unknown_command_names_the_nearest(run: Runner) -> None:
    assert "Did you mean 'recall'" in run("recal", "x").error


def test_an_unknown_option_names_the_nearest(run: Runner) -> None:
    assert "--user" in run("recall", "x", "--usr", "alice").error


def test_a_missing_user_is_refused(run: Runner) -> None:
    assert "--user" in run("recall", "x").error


def test_a_missing_argument_is_refused(run: Runner) -> None:
    assert "QUERY" in run("recall", "--user", "alice").error


def test_a_blank_user_is_refused(run: Runner, kept: Path) -> None:
    assert "never means all" in run("items", "--user", " ", "--home", kept).error


def test_a_home_that_cannot_be_made_is_refused(run: Runner, chat: Path) -> None:
    assert str(chat) in run("users", "--home", chat / "below").error


def test_a_home_that_is_a_file_is_said_to_be_one(run: Runner, chat: Path) -> None:
    assert "is a file, not a folder" in run("ingest", chat, "--user", "alice", "--home", chat).error
    assert "is a file, not a folder" in run("users", "--home", chat).error
    examined = run("doctor", "--home", chat)
    assert (examined.code, "is a file, not a folder" in " ".join(examined.out.split())) == (1, True)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_home_that_cannot_be_written_says_that_reading_needs_it(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    home.chmod(0o500)
    try:
        assert "reading needs that too" in run("users", "--home", home).error
    finally:
        home.chmod(0o700)


def test_a_file_that_is_refused_leaves_stdout_empty(run: Runner, home: Path, tmp_path: Path) -> None:
    assert "no such file" in run("add", tmp_path / "nope.txt", "--user", "alice", "--home", home).err
    assert run("add", tmp_path / "nope.txt", "--user", "alice", "--home", home).out == ""


def test_an_unknown_embedder_is_refused(run: Runner, kept: Path) -> None:
    assert "nosuch" in run("users", "--home", kept, "--embedder", "nosuch").error


def test_a_home_held_by_another_process_is_refused(run: Runner, home: Path) -> None:
    from hexamem import Memory

    with Memory.open(home):
        command = [*python(), "-m", "hexamem", "users", "--home", str(home)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "another process" in done.stderr


def test_shared_options_work_before_and_after_the_command(run: Runner, kept: Path) -> None:
    before, after = run("--home", kept, "--json", "users"), run("users", "--json", "--home", kept)
    assert before == after
    assert before.code == 0


def test_what_stands_after_the_command_wins(run: Runner, kept: Path, tmp_path: Path) -> None:
    assert run("--home", tmp_path / "nowhere", "users", "--home", kept, "--json").json
    assert not (tmp_path / "nowhere").exists()


def test_a_new_home_is_said_on_stderr_only(run: Runner, home: Path, tmp_path: Path) -> None:
    lines = tmp_path / "chat.jsonl"
    lines.write_text('{"role": "user", "content": "hello"}\n')
    made = run("ingest", lines, "--user", "alice", "--home", home, "--json")
    assert made.json["steps"] == 1
    assert "there was no memory" in made.err


@pytest.mark.parametrize(
    "words", [("recall", "x", "--user", "u"), ("items", "--user", "u"), ("steps", "--user", "u"), ("users",)]
)
def test_a_command_that_reads_makes_no_home(run: Runner, home: Path, words: tuple[str, ...]) -> None:
    refused = run(*words, "--home", home)
    assert "there is no memory at" in refused.error
    assert not home.exists()


def test_a_user_whom_nobody_knows_is_told_with_those_there_are(run: Runner, kept: Path) -> None:
    found = run("recall", "x", "--user", "alcie", "--home", kept)
    assert found.code == 0
    assert "no user 'alcie'" in found.err
    assert "'alice'" in found.err


def test_a_wrong_timezone_is_no_bad_line(run: Runner, home: Path, tmp_path: Path) -> None:
    lines = tmp_path / "chat.jsonl"
    lines.write_text('{"role": "user", "content": "hello"}\n')
    refused = run("ingest", lines, "--user", "alice", "--home", home, "--timezone", "Mars/Base").error
    assert "Mars/Base" in refused
    assert "line 1" not in refused


def test_an_unexpected_error_is_one_line_and_a_traceback_only_when_asked_for(
    run: Runner, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the cable is cut\nand more")

    monkeypatch.setattr("hexamem.user.UserMemory.recall", broken)
    plain = run("recall", "x", "--user", "alice", "--home", kept)
    assert (plain.code, plain.out, plain.err.count("\n")) == (1, "", 1)
    assert "the cable is cut" in plain.err
    traced = run("recall", "x", "--user", "alice", "--home", kept, "--debug")
    assert traced.code == 1
    assert "Traceback" in traced.err


def test_values_of_a_failed_statement_are_not_shown(run: Runner, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import IntegrityError

    def broken(*_: Any, **__: Any) -> None:
        raise IntegrityError("INSERT INTO steps VALUES (?)", (PASSWORD,), ValueError("constraint"))

    monkeypatch.setattr("hexamem.user.UserMemory.recall", broken)
    failed = run("recall", "x", "--user", "alice", "--home", kept, "--debug")
    assert failed.code == 1
    assert PASSWORD not in failed.err


def test_ctrl_c_exits_130_with_one_line(run: Runner, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hexamem.user.UserMemory.recall", interrupted)
    stopped = run("recall", "x", "--user", "alice", "--home", kept)
    assert (stopped.code, stopped.out, stopped.err.count("\n")) == (130, "", 1)


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_a_signal_while_it_waits_for_input_exits_130(kept: Path) -> None:
    # Tests that run in the background inherit that Ctrl-C is ignored.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heard}; import sys; from hexamem.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "erase", "--user", "alice", "--home", str(kept)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    asked = ""
    while not asked.endswith("[y/N] "):
        asked += process.stderr.read(1)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_closed_pipe_is_quiet(kept: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "hexamem", "steps", "--user", "alice", "--home", str(kept)]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_piped_output_has_no_colour_and_no_trailing_blanks(run: Runner, kept: Path) -> None:
    shown = run("doctor", "--home", kept).out
    assert "\x1b" not in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_the_width_follows_columns(run: Runner, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("doctor", "--home", kept).out
    assert max(map(len, shown.splitlines())) <= 40


# -- ingest -----------------------------------------------------------------------------------------------------------


def test_ingest_stores_a_file_by_thread(run: Runner, home: Path, chat: Path) -> None:
    done = run("ingest", chat, "--user", "alice", "--home", home, "--json")
    assert done.code == 0
    assert {key: done.json[key] for key in ("format", "threads", "steps", "repeated", "secrets")} == {
        "format": "jsonl",
        "threads": 2,
        "steps": 4,
        "repeated": 0,
        "secrets": 0,
    }
    family = run("steps", "--user", "alice", "--thread", "family", "--home", home, "--json").json
    assert [step["content"] for step in family] == [line["content"] for line in CHAT[:3]]


def test_ingest_again_repeats_nothing_that_has_an_id(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    again = run("ingest", chat, "--user", "alice", "--home", home)
    assert again.code == 0
    assert "stored 0 steps in 2 threads of 'alice', 4 were there already" in again.out


def test_ingest_puts_lines_without_a_thread_where_told(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--thread", "house", "--home", home)
    house = run("steps", "--user", "alice", "--thread", "house", "--home", home, "--json").json
    assert [step["message_id"] for step in house] == ["m4"]


def test_ingest_keeps_further_keys_as_metadata(run: Runner, home: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": "hello there", "channel": "support"}])
    run("ingest", file, "--user", "alice", "--home", home)
    assert run("steps", "--user", "alice", "--home", home, "--json").json[0]["metadata"]["channel"] == "support"


def test_ingest_reads_naive_times_in_the_timezone_given(run: Runner, home: Path, tmp_path: Path) -> None:
    line = {"role": "user", "content": "hello there", "timestamp": "2024-01-01 12:00"}
    file = write_lines(tmp_path / "x.jsonl", [line])
    run("ingest", file, "--user", "alice", "--home", home, "--timezone", "Asia/Shanghai")
    assert run("steps", "--user", "alice", "--home", home, "--json").json[0]["occurred_at"] == "2024-01-01T04:00:00Z"


def test_ingest_goes_beyond_one_batch_with_threads_that_take_turns(run: Runner, home: Path, tmp_path: Path) -> None:
    lines = [{"role": "user", "content": f"remark {n}", "thread_id": f"t{n % 2}"} for n in range(1_203)]
    done = run("ingest", write_lines(tmp_path / "x.jsonl", lines), "--user", "alice", "--home", home, "--json")
    assert done.json["steps"] == 1_203
    odd = run("steps", "--user", "alice", "--thread", "t1", "--home", home, "--json").json
    assert [step["content"] for step in odd] == [f"remark {n}" for n in range(1, 1_203, 2)]


BAD_LINES = {
    "cut off": ('{"role": "user", "content": "hal', "not valid JSON"),
    "a list": ("[1, 2]", "list"),
    "without role": ('{"content": "hello"}', "role is missing"),
    "without content": ('{"role": "user"}', "content is missing"),
    "empty": ('{"role": "user", "content": " "}', "empty"),
    "with an unreadable time": ('{"role": "user", "content": "hello", "timestamp": "soon"}', "soon"),
    "with a number as thread": ('{"role": "user", "content": "hello", "thread_id": 7}', "thread_id"),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named_and_nothing_of_the_file_is_stored(
    run: Runner, home: Path, tmp_path: Path, kind: str
) -> None:
    line, said = BAD_LINES[kind]
    file = write_lines(tmp_path / "x.jsonl", [CHAT[0], CHAT[1], line])
    error = run("ingest", file, "--user", "alice", "--home", home).error
    assert f"{file}, line 3: " in error
    assert said in error
    assert not home.exists()


def test_ingest_of_a_document_names_add(run: Runner, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("what,euros\nrent,900\n")
    refused = run("ingest", file, "--user", "alice", "--home", home).error
    assert "JSON lines" in refused
    assert f"hexamem add {file}" in refused


def test_an_empty_message_is_said_once_to_be_left_out(run: Runner, home: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": ""}, CHAT[0]])
    said = run("ingest", file, "--user", "alice", "--home", home, "--skip-bad").err
    assert "line 1: is empty" in said
    assert "leave it out" not in said


def test_ingest_again_of_lines_without_ids_warns(run: Runner, home: Path, tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "We moved to Porto.", "timestamp": "2025-03-04 10:00"},
        {"role": "assistant", "content": "How nice!"},
        {"role": "user", "content": "Yes.", "id": "m1"},
    ]
    file = write_lines(tmp_path / "x.jsonl", lines)
    words = ("ingest", file, "--user", "alice", "--home", home)
    assert "already" not in run(*words).err
    assert "2 of 3 messages in thread 'default' already" in run(*words).err
    moved = write_lines(tmp_path / "y.jsonl", [{**lines[0], "timestamp": "2025-03-05 10:00"}])
    assert "already" not in run("ingest", moved, "--user", "alice", "--home", home).err


def test_skip_bad_stores_the_rest_and_says_what_was_left_out(run: Runner, home: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "x.jsonl", [CHAT[0], "nonsense", CHAT[1]])
    done = run("ingest", file, "--user", "alice", "--home", home, "--skip-bad", "--json")
    assert done.json["steps"] == 2
    assert len(done.json["notes"]) == 1
    assert "line 2" in done.err


def test_a_missing_file_is_refused(run: Runner, tmp_path: Path) -> None:
    assert "nosuch.jsonl" in run("ingest", tmp_path / "nosuch.jsonl", "--user", "alice").error


def test_an_unknown_format_is_refused(run: Runner, chat: Path) -> None:
    assert "--format" in run("ingest", chat, "--user", "alice", "--format", "xml").error


def test_a_json_file_that_is_no_conversation_is_refused(run: Runner, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"a": 1}')
    assert "not a conversation" in run("ingest", file, "--user", "alice", "--home", home).error


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(run: Runner, home: Path, chat: Path) -> None:
    chat.chmod(0)
    assert str(chat) in run("ingest", chat, "--user", "alice", "--home", home).error


def locomo(path: Path, name: str) -> Path:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": f"I adopted a cat called {name}."}
    question = {"question": "What is the cat called?", "answer": name, "evidence": ["D1:1"], "category": 1}
    record = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023", "qa": [question]}
    path.write_text(json.dumps(record))
    return path


def test_two_locomo_files_of_one_user_do_not_hide_each_other(run: Runner, home: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("ingest", locomo(tmp_path / f"{name}.json", name), "--user", "ann", "--home", home).code == 0
    steps = run("steps", "--user", "ann", "--home", home, "--json").json
    assert [step["thread_id"] for step in steps] == ["locomo-one/session_1", "locomo-two/session_1"]


# -- reading ----------------------------------------------------------------------------------------------------------


def test_recall_finds_the_message(run: Runner, kept: Path) -> None:
    found = run("recall", "Where does Mia go to school?", "--user", "alice", "-k", "3", "--home", kept, "--json").json
    assert len(found["hits"]) == 3
    assert any("Mia" in hit["text"] for hit in found["hits"])
    assert {"id", "query", "strategy", "hits", "text", "tokens", "degraded", "elapsed_ms"} <= found.keys()


def test_recall_says_why_only_when_asked(run: Runner, kept: Path) -> None:
    words = ("recall", "boiler", "--user", "alice", "--home", kept)
    assert "why: " not in run(*words).out
    assert "why: " in run(*words, "--why").out


def test_recall_narrows_by_every_filter(run: Runner, kept: Path) -> None:
    filters = {
        ("--kind", "semantic"): {"daughter"},
        ("--thread", "default"): {"boiler"},
        ("--speaker", "bob"): {"boiler"},
        ("--until", "2024-05-02"): {"boiler"},
        ("--label", "kin"): {"daughter"},
        ("--metadata", "page=3"): {"daughter"},
    }
    for words, expected in filters.items():
        hits = run("recall", "boiler daughter school", "--user", "alice", *words, "--home", kept, "--json").json["hits"]
        assert {word for word in ("boiler", "daughter", "school") if word in str([x["text"] for x in hits])} == expected


def test_recall_packs_for_a_prompt_within_a_budget(run: Runner, kept: Path) -> None:
    whole = run("recall", "school", "--user", "alice", "--text", "--home", kept).out
    short = run("recall", "school", "--user", "alice", "--token-budget", "25", "--home", kept).out
    assert 0 < len(short) < len(whole)


def test_recall_of_an_unknown_user_finds_nothing(run: Runner, kept: Path) -> None:
    found = run("recall", "school", "--user", "carol", "--home", kept)
    assert (found.code, found.out) == (0, "")
    assert "nothing found" in found.err


def test_recall_of_one_user_never_shows_another(run: Runner, kept: Path) -> None:
    hits = run("recall", "Mia school boiler van", "--user", "bob", "--home", kept, "--json").json["hits"]
    assert [hit["text"] for hit in hits] == ["The van is booked."]


BAD_RECALLS = {
    "an empty query": ([" "], "query"),
    "no hits": (["x", "-k", "0"], "k = 0"),
    "words for a number": (["x", "-k", "many"], "valid integer"),
    "an unknown strategy": (["x", "--strategy", "magic"], "magic"),
    "an unknown kind": (["x", "--kind", "dream"], "dream"),
    "an unreadable time": (["x", "--since", "someday"], "someday"),
    "metadata without a value": (["x", "--metadata", "page"], "page"),
    "an unknown timezone": (["x", "--timezone", "Mars/Base"], "Mars/Base"),
    "a period upside down": (["x", "--since", "2024-02-01", "--until", "2024-01-01"], "until"),
    "a budget of nothing": (["x", "--token-budget", "0"], "token_budget"),
}


@pytest.mark.parametrize("kind", BAD_RECALLS)
def test_a_bad_recall_is_refused(run: Runner, kept: Path, kind: str) -> None:
    words, said = BAD_RECALLS[kind]
    assert said in run("recall", *words, "--user", "alice", "--home", kept).error


def test_items_lists_by_kind(run: Runner, kept: Path) -> None:
    every = run("items", "--user", "alice", "--home", kept, "--json").json
    assert [item["kind"] for item in every] == ["semantic", "vault"]
    assert [
        item["name"] for item in run("items", "-u", "alice", "--kind", "semantic", "--home", kept, "--json").json
    ] == ["Mia"]
    assert "wifi password" in run("items", "--user", "alice", "--home", kept).out


def test_a_step_is_no_kind_of_item(run: Runner, kept: Path) -> None:
    kinds = run("items", "--help").out.partition("--kind")[2].partition("--thread")[0]
    assert "procedural" in kinds
    assert "step" not in kinds
    assert "step" in run("recall", "--help").out.partition("--kind")[2].partition("--thread")[0]
    assert "kinds = ['step']" in run("items", "--user", "alice", "--kind", "step", "--home", kept).error


def test_what_was_true_then_is_not_marked_as_superseded(run: Runner, home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    block = ("--kind", "core", "--label", "home", *where)
    former = run("add", *block, "--value", "Lives in Bristol", "--valid-from", "2026-03-02", "--json").json
    run("add", *block, "--value", "Lives in Bath", "--valid-from", "2026-06-02", "--supersedes", former["id"])
    then = run("items", "--kind", "core", "--as-of", "2026-04-01", *where).out
    assert "Lives in Bristol" in then
    assert "to 2026-06-02" in then
    assert "superseded" not in then
    recalled = run("recall", "Where do I live?", "--kind", "core", "--as-of", "2026-04-01", *where).out
    assert "Lives in Bristol" in recalled
    assert "superseded" not in recalled
    now = run("items", "--kind", "core", "--superseded", *where).out
    assert "superseded" in now


def test_times_are_shown_in_the_users_zone_and_items_by_when_they_hold(run: Runner, home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    zone = ("--timezone", "Europe/London")
    run(
        "add",
        *where,
        *zone,
        "--kind",
        "semantic",
        "--name",
        "flat",
        "--summary",
        "Mill Lane",
        "--valid-from",
        "2025-07-01",
    )
    run("add", *where, "--kind", "episodic", "--summary", "The boiler broke", "--occurred-at", "2025-01-05 08:30")
    run("add", *where, "--kind", "semantic", "--name", "tea", "--summary", "likes oolong")
    listed = run("items", *where, *zone).out
    assert "from 2025-07-01 00:00 +01:00" in listed
    assert "2025-01-05 08:30 +00:00" in listed
    assert "stored 20" in listed
    assert "from 2025-07-01 00:00 +01:00" in run("recall", "Mill Lane flat", *where, "-k", "1").out
    assert "2025-01-05 08:30 +00:00" in run("recall", "When did the boiler break?", *where, "--kind", "episodic").out


def test_a_very_long_message_is_cut_in_lists_and_whole_in_show(run: Runner, home: Path, tmp_path: Path) -> None:
    long = "Ferns grow by the river. " * 2_000
    file = write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": long}])
    where = ("--user", "alice", "--home", home)
    run("ingest", file, *where)
    for words in (("recall", "ferns", "--kind", "step"), ("steps",)):
        shown = run(*words, *where).out
        assert "(50,000 characters)" in shown
        assert len(shown) < 5_000
    step = run("steps", *where, "--json").json[0]
    assert len(run("show", step["id"], *where).out) > 50_000


def test_show_gives_a_step_or_an_item_with_all_its_fields(run: Runner, kept: Path) -> None:
    item = run("items", "--user", "alice", "--kind", "semantic", "--home", kept, "--json").json[0]
    assert run("show", item["id"], "--user", "alice", "--home", kept, "--json").json == item
    assert 'metadata: {"page": 3}' in run("show", item["id"], "--user", "alice", "--home", kept).out
    step = run("steps", "--user", "alice", "--home", kept, "--json").json[0]
    shown = run("show", step["id"], "--user", "alice", "--home", kept, "--json").json
    assert {name: value for name, value in shown.items() if name != "labels"} == step


def test_show_of_what_another_user_has_is_refused(run: Runner, kept: Path) -> None:
    step = run("steps", "--user", "bob", "--home", kept, "--json").json[0]
    assert "no step or item" in run("show", step["id"], "--user", "alice", "--home", kept).error


def test_steps_gives_the_last_ones(run: Runner, kept: Path) -> None:
    last = run("steps", "--user", "alice", "--last", "1", "--home", kept, "--json").json
    assert [step["message_id"] for step in last] == ["m4"]


def test_users_counts_what_each_has(run: Runner, kept: Path) -> None:
    rows = run("users", "--home", kept, "--json").json
    assert rows == [{"user": "alice", "steps": 4, "items": 2}, {"user": "bob", "steps": 1, "items": 0}]
    assert "alice" in run("users", "--home", kept).out


def test_history_tells_what_was_done(run: Runner, kept: Path) -> None:
    item = run("items", "--user", "alice", "--kind", "semantic", "--home", kept, "--json").json[0]
    assert [one["kind"] for one in run("history", item["id"], "-u", "alice", "--home", kept, "--json").json] == ["add"]
    assert len(run("history", "--limit", "1", "--user", "alice", "--home", kept, "--json").json) == 1


def test_history_tells_what_changed_in_words(run: Runner, home: Path) -> None:
    where = ("--user", "alice", "--home", home)
    item = run(
        "add", *where, "--kind", "semantic", "--name", "flat", "--summary", "old", "--metadata", '{"page": 3}', "--json"
    )
    long = "Mill Lane 4, above the bakery, with the key under the third pot from the left " * 2
    changes = (f"summary={long}", 'labels=["home", "lease"]', 'metadata={"page": 4, "seen": true}')
    run("edit", item.json["id"], *changes, *where)
    told = run("history", item.json["id"], *where).out
    assert "labels: – → home, lease" in told
    assert "metadata.page: 3 → 4" in told
    assert "metadata.seen: – → yes" in told
    assert "before: old" in told
    assert told.count("third pot from the left") == 2
    assert "{" not in told


def test_escape_sequences_in_stored_text_are_shown_and_not_obeyed(run: Runner, home: Path, tmp_path: Path) -> None:
    text = "\x1b]0;owned\x07 [red]not markup[/red] end"
    file = write_lines(tmp_path / "x.jsonl", [{"role": "user", "content": text}])
    run("ingest", file, "--user", "alice", "--home", home)
    shown = run("steps", "--user", "alice", "--home", home)
    assert "\x1b" not in shown.out
    assert "[red]not markup[/red]" in shown.out
    assert run("steps", "--user", "alice", "--home", home, "--json").json[0]["content"] == text


# -- changing ---------------------------------------------------------------------------------------------------------


def test_an_item_is_added_edited_removed_and_brought_back(run: Runner, home: Path) -> None:
    who = ("--user", "alice", "--home", home, "--json")
    words = ("--kind", "semantic", "--name", "Mia", "--summary", "daughter", "--labels", "kin", "--labels", "school")
    added = run("add", *words, "--valid-from", "2024-09-01", "--reason", "told", *who).json
    assert (added["labels"], added["valid_from"]) == (["kin", "school"], "2024-09-01T00:00:00Z")
    edited = run("edit", added["id"], "summary=daughter, 7", "labels=kin", "valid_from=", *who).json
    assert (edited["summary"], edited["labels"], edited["valid_from"], edited["version"]) == (
        "daughter, 7",
        ["kin"],
        None,
        2,
    )
    removed = run("remove", added["id"], *who).json
    assert (removed["kind"], run("items", *who).json) == ("remove", [])
    undone = run("undo", removed["id"], *who).json
    assert [one["undoes"] for one in undone] == [removed["id"]]
    assert [item["summary"] for item in run("items", *who).json] == ["daughter, 7"]


def test_undo_of_what_later_ones_build_on_names_cascade(run: Runner, home: Path) -> None:
    who = ("--user", "alice", "--home", home, "--json")
    added = run("add", "--kind", "semantic", "--name", "Mia", "--summary", "daughter", *who).json
    run("edit", added["id"], "summary=son", *who)
    first = run("history", added["id"], *who).json[0]["id"]
    assert "--cascade" in run("undo", first, *who).error
    assert len(run("undo", first, "--cascade", *who).json) == 2
    assert run("items", *who).json == []


ITEMS = {
    "core": ["--label", "persona", "--value", "kind and brief", "--limit", "500"],
    "episodic": ["--summary", "moved house", "--occurred-at", "2024-05-01 10:00", "--actor", "Ann"],
    "semantic": ["--name", "Mia", "--summary", "daughter", "--tree-path", "family", "--metadata", '{"page": 3}'],
    "procedural": ["--summary", "tea", "--step", "boil water", "--step", "wait, then pour"],
    "resource": ["--title", "lease", "--content", "The tenant shall …", "--resource-type", "contract"],
    "vault": ["--caption", "locker code", "--sensitivity", "low"],
}


def test_each_kind_is_added_by_options(run: Runner, home: Path) -> None:
    for kind, words in ITEMS.items():
        added = run("add", "--user", "alice", "--kind", kind, *words, "--home", home, "--json").json
        assert added["kind"] == kind
        if kind == "procedural":
            assert added["steps"] == ["boil water", "wait, then pour"]


def test_an_item_is_added_as_json_from_the_command_line_or_stdin(run: Runner, home: Path) -> None:
    item = json.dumps({"kind": "semantic", "name": "Mia", "summary": "daughter"})
    assert run("add", "--user", "alice", "--json-item", item, "--home", home, "--json").json["name"] == "Mia"
    assert run("add", "--user", "alice", "--json-item", "-", "--home", home, "--json", stdin=item).json["name"] == "Mia"


def test_a_secret_comes_from_stdin_and_is_seen_in_no_other_place(run: Runner, home: Path) -> None:
    who = ("--user", "alice", "--home", home)
    words = ("--kind", "vault", "--caption", "wifi", "--secret-stdin")
    added = run("add", *words, *who, stdin=PASSWORD + "\n")
    listed, history = run("items", *who, "--json"), run("history", *who, "--json")
    assert PASSWORD not in added.out + added.err + listed.out + history.out
    revealed = run("reveal", listed.json[0]["id"], "--reason", "guests are here", *who)
    assert revealed == Ran(0, PASSWORD + "\n", "")


BAD_ITEMS = {
    "without a kind": (["--name", "x"], "--kind"),
    "of an unknown kind": (["--kind", "dream", "--name", "x"], "dream"),
    "lacking a field": (["--kind", "semantic", "--name", "x"], "summary is missing"),
    "with a foreign field": (["--kind", "semantic", "--name", "x", "--summary", "y", "--title", "z"], "title"),
    "with a limit in words": (["--kind", "core", "--label", "x", "--value", "y", "--limit", "few"], "few"),
    "with an unreadable time": (["--kind", "episodic", "--summary", "x", "--occurred-at", "once"], "once"),
    "as broken JSON": (["--json-item", '{"kind": '], "not JSON"),
    "as a JSON list": (["--json-item", "[]"], "list"),
    "as JSON and options": (["--json-item", "{}", "--name", "x"], "--name"),
    "with a secret of the wrong kind": (
        ["--kind", "semantic", "--name", "x", "--summary", "y", "--secret-stdin"],
        "vault",
    ),
    "with an empty secret": (["--kind", "vault", "--caption", "x", "--secret-stdin"], "stdin is empty"),
}


@pytest.mark.parametrize("kind", BAD_ITEMS)
def test_a_bad_item_is_refused(run: Runner, kept: Path, kind: str) -> None:
    words, said = BAD_ITEMS[kind]
    stdin = PASSWORD if "wrong kind" in kind else ""
    error = run("add", *words, "--user", "alice", "--home", kept, stdin=stdin).error
    assert said in error
    assert PASSWORD not in error


BAD_EDITS = {
    "nothing to change": ([], "nothing to change"),
    "no equals sign": (["summary"], "name=value"),
    "an unknown field": (["colour=red"], "colour"),
    "a field that is not for editing": (["version=7"], "version"),
    "one value twice": (["summary=a", "summary=b"], "2 times"),
    "a value that does not fit": (["valid_from=never"], "never"),
}


@pytest.mark.parametrize("kind", BAD_EDITS)
def test_a_bad_edit_is_refused(run: Runner, kept: Path, kind: str) -> None:
    words, said = BAD_EDITS[kind]
    item = run("items", "--user", "alice", "--kind", "semantic", "--home", kept, "--json").json[0]["id"]
    assert said in run("edit", item, *words, "--user", "alice", "--home", kept).error


@pytest.mark.parametrize("command", ["show", "edit", "remove", "undo", "forget", "reveal", "feedback"])
def test_an_unknown_id_is_refused(run: Runner, kept: Path, command: str) -> None:
    further = {"edit": ["summary=x"], "reveal": ["--reason", "test"], "feedback": ["--helped", "step_1"]}
    words = (command, "nosuch", *further.get(command, []), "--user", "alice", "--home", kept)
    assert "nosuch" in run(*words).error


def test_a_forgotten_thread_is_gone_until_undone(run: Runner, home: Path, chat: Path) -> None:
    who = ("--user", "alice", "--home", home, "--json")
    run("ingest", chat, *who)
    done = run("forget", "--thread", "family", "--reason", "asked to", *who).json
    assert (done["kind"], done["reason"]) == ("forget", "asked to")
    assert [step["message_id"] for step in run("steps", *who).json] == ["m4"]
    run("undo", done["id"], *who)
    assert len(run("steps", *who).json) == 4


def test_forget_without_saying_what_is_refused(run: Runner, kept: Path) -> None:
    assert "--thread" in run("forget", "--user", "alice", "--home", kept).error


def test_feedback_is_taken_on_a_recall_of_an_earlier_command(run: Runner, kept: Path) -> None:
    who = ("--user", "alice", "--home", kept, "--json")
    found = run("recall", "boiler", *who).json
    done = run("feedback", found["id"], "--helped", found["hits"][0]["id"], *who)
    assert done.json == {"recall_id": found["id"], "helped": [found["hits"][0]["id"]], "hurt": []}


def test_feedback_without_a_verdict_is_refused(run: Runner, kept: Path) -> None:
    assert "--helped" in run("feedback", "recall_1", "--user", "alice", "--home", kept).error


# -- private ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("from_stdin", [False, True])
def test_redacted_words_are_gone_and_revealed_with_a_reason(
    run: Runner, home: Path, chat: Path, from_stdin: bool
) -> None:
    who = ("--user", "alice", "--home", home)
    run("ingest", chat, *who)
    words = ("-", "West Lake Primary\n") if from_stdin else ("West Lake Primary", "")
    receipt = run("redact", words[0], "--caption", "school", *who, "--json", stdin=words[1])
    assert len(receipt.json["step_ids"]) == 1
    assert "West Lake" not in run("steps", *who).out + receipt.out
    assert run("reveal", receipt.json["reference"], "--reason", "forms", *who).out == "West Lake Primary\n"


BAD_REDACTIONS = {
    "words that stand nowhere": (["zebra crossing"], ""),
    "empty words": ([" "], "empty"),
    "nothing on stdin": (["-"], "stdin is empty"),
    "an unknown sensitivity": (["boiler", "--sensitivity", "extreme"], "extreme"),
    "a caption with the words": (["boiler", "--caption", "the boiler"], "caption"),
}


@pytest.mark.parametrize("kind", BAD_REDACTIONS)
def test_a_bad_redaction_is_refused(run: Runner, kept: Path, kind: str) -> None:
    words, said = BAD_REDACTIONS[kind]
    assert said in run("redact", *words, "--user", "alice", "--home", kept).error


def test_a_reveal_without_a_reason_is_refused(run: Runner, kept: Path) -> None:
    vault = run("items", "--user", "alice", "--kind", "vault", "--home", kept, "--json").json[0]["id"]
    assert "--reason" in run("reveal", vault, "--user", "alice", "--home", kept).error
    assert "reason" in run("reveal", vault, "--reason", " ", "--user", "alice", "--home", kept).error


def test_erase_asks_first_and_does_nothing_without_a_yes(run: Runner, kept: Path) -> None:
    refused = run("erase", "--user", "alice", "--home", kept, stdin="n\n")
    assert (refused.code, refused.out) == (1, "")
    assert "4 steps and 2 items" in refused.err
    assert run("users", "--home", kept, "--json").json[0]["steps"] == 4


@pytest.mark.parametrize("words", [("erase", "--yes"), ("undo", "op_x"), ("remove", "item_x"), ("forget", "step_x")])
def test_a_change_for_a_user_whom_nobody_knows_is_refused(
    run: Runner, kept: Path, home: Path, words: tuple[str, ...]
) -> None:
    refused = run(*words, "--user", "nobody", "--home", kept).error
    assert "no user 'nobody'" in refused
    assert "'alice', 'bob'" in refused
    assert "there is no memory" in run(*words, "--user", "nobody", "--home", home).error
    assert not home.exists()


def test_erase_without_anyone_to_answer_is_refused(run: Runner, kept: Path) -> None:
    unanswered = run("erase", "--user", "alice", "--home", kept)
    assert (unanswered.code, unanswered.out) == (2, "")
    assert "--yes" in unanswered.err.splitlines()[-1]


@pytest.mark.parametrize("answer", ["--yes", "y\n"])
def test_erase_leaves_nothing_of_the_user_and_gives_a_receipt(run: Runner, home: Path, chat: Path, answer: str) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    flag, stdin = ([answer], "") if answer == "--yes" else ([], answer)
    receipt = run("erase", "--user", "alice", *flag, "--home", home, "--json", stdin=stdin)
    assert receipt.json["rows"]["steps"] == 4
    assert run("users", "--home", home, "--json").json == []


# -- moving -----------------------------------------------------------------------------------------------------------


def test_an_export_is_imported_for_another_user(run: Runner, kept: Path, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "alice.hexamem"
    written = run("export", file, "--user", "alice", "--home", kept, "--json")
    assert written.json["counts"]["steps"] == 4
    assert PASSWORD not in file.read_text()
    taken = run("import", file, "--user", "carol", "--home", home, "--json")
    assert taken.json["counts"]["steps"] == 4
    hits = run("recall", "Mia school", "--user", "carol", "--home", home, "--json").json["hits"]
    assert any("Mia" in hit["text"] for hit in hits)


def test_secrets_travel_under_a_passphrase_and_under_no_other(
    run: Runner, kept: Path, home: Path, tmp_path: Path
) -> None:
    file, phrase = tmp_path / "alice.hexamem", tmp_path / "phrase"
    phrase.write_text("correct horse\n")
    words = ("--with-secrets", "--passphrase-file", phrase)
    assert run("export", file, *words, "--user", "alice", "--home", kept).code == 0
    assert PASSWORD not in file.read_text()
    assert "--passphrase-file" in run("import", file, "--user", "carol", "--home", home).error
    (tmp_path / "wrong").write_text("battery staple")
    wrong = ("--passphrase-file", tmp_path / "wrong")
    assert "passphrase" in run("import", file, *wrong, "--user", "carol", "--home", home).error
    assert run("import", file, "--passphrase-file", phrase, "--user", "carol", "--home", home).code == 0
    vault = run("items", "--user", "carol", "--kind", "vault", "--home", home, "--json").json[0]["id"]
    assert run("reveal", vault, "--reason", "test", "--user", "carol", "--home", home).out == PASSWORD + "\n"


def test_an_export_with_secrets_without_anyone_to_ask_is_refused(run: Runner, kept: Path, tmp_path: Path) -> None:
    assert (
        "--passphrase-file" in run("export", tmp_path / "x", "--with-secrets", "--user", "alice", "--home", kept).error
    )


def test_an_empty_passphrase_file_is_refused(run: Runner, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "phrase").write_text("\n")
    words = ("export", tmp_path / "x", "--passphrase-file", tmp_path / "phrase", "--user", "alice", "--home", kept)
    assert "empty" in run(*words).error


def test_an_export_that_cannot_be_written_is_refused(run: Runner, kept: Path, tmp_path: Path) -> None:
    assert "nosuch" in run("export", tmp_path / "nosuch" / "x", "--user", "alice", "--home", kept).error


def test_a_damaged_export_is_refused_whole(run: Runner, kept: Path, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "alice.hexamem"
    run("export", file, "--user", "alice", "--home", kept)
    file.write_text(file.read_text().replace("Hangzhou", "Hongkong"))
    error = run("import", file, "--user", "carol", "--home", home).err
    assert "checksum" in error
    assert run("steps", "--user", "carol", "--home", home, "--json").json == []


# -- upkeep -----------------------------------------------------------------------------------------------------------


def test_doctor_finds_a_good_home_well(run: Runner, kept: Path) -> None:
    run("recall", "x", "--user", "alice", "--home", kept)
    run("recall", "x", "--user", "bob", "--home", kept)
    report = run("doctor", "--home", kept, "--json")
    assert report.code == 0
    assert report.json["ok"] is True
    found = {one["name"]: one for one in report.json["findings"]}
    assert {"home", "versions", "disk", "embedder", "ledger", "vault key", "indexes", "jobs"} <= found.keys()
    assert {one["status"] for one in found.values()} == {"ok"}
    assert [row["user"] for row in report.json["users"]] == ["alice", "bob"]
    assert "all is well" in run("doctor", "--home", kept).out


def test_doctor_of_a_home_that_is_not_there_makes_none(run: Runner, home: Path) -> None:
    report = run("doctor", "--home", home, "--json")
    assert (report.code, report.json["ok"], home.exists()) == (0, True, False)


def test_doctor_of_a_home_that_nobody_can_make_says_so(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    report = run("doctor", "--home", tmp_path / "file" / "home", "--json")
    assert (report.code, report.json["ok"]) == (1, False)
    [found] = [one for one in report.json["findings"] if one["status"] == "wrong"]
    assert found["name"] == "permissions"
    assert str(tmp_path / "file") in found["detail"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system in which nobody makes folders")
def test_doctor_tries_whether_a_home_can_be_made(run: Runner) -> None:
    report = run("doctor", "--home", "/proc/hexamem")
    assert report.code == 1
    assert "none can be made" in report.out
    assert "all is well" not in report.out


def test_doctor_leaves_nothing_of_its_trial_behind(run: Runner, tmp_path: Path) -> None:
    assert run("doctor", "--home", tmp_path / "deep" / "home").code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("group", ["pages", "labels", "jobs", "experience"])
def test_a_group_without_a_command_lists(run: Runner, kept: Path, group: str) -> None:
    short = run(group, "--user", "alice", "--home", kept, "--json")
    assert short.code == 0
    assert short == run(group, "list", "--user", "alice", "--home", kept, "--json")
    assert "Commands" in run(group, "--help").out


def test_ingest_of_an_empty_file_says_that_it_holds_no_message(run: Runner, home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    done = run("ingest", empty, "--user", "alice", "--home", home)
    assert done.code == 0
    assert f"note: {empty} holds no message" in done.err


def test_doctor_says_how_far_an_index_lags_behind(run: Runner, home: Path) -> None:
    run("add", "--user", "alice", "--kind", "semantic", "--name", "Mia", "--summary", "daughter", "--home", home)
    report = run("doctor", "--home", home, "--json")
    assert report.code == 0
    assert [one["status"] for one in report.json["findings"] if one["name"] == "indexes"] == ["note"]


@pytest.mark.skipif(os.name != "posix", reason="file modes as on POSIX")
def test_doctor_finds_a_vault_key_that_others_can_read(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    (home / "vault.key").chmod(0o644)
    report = run("doctor", "--home", home)
    assert report.code == 1
    assert "chmod 600" in report.out
    assert "1 thing wrong" in report.out


def test_doctor_finds_a_parked_job(run: Runner, home: Path, chat: Path) -> None:
    import sqlite3

    run("ingest", chat, "--user", "alice", "--home", home)
    with sqlite3.connect(home / "ledger.sqlite3") as ledger:
        ledger.execute(
            "INSERT INTO jobs (user_id, id, kind, payload, status, attempts, error, created_at, due_at) "
            "VALUES (1, 'job_1', 'label', '{}', 'parked', 5, 'the model is gone', 0, 0)"
        )
    ledger.close()
    report = run("doctor", "--home", home)
    assert report.code == 1
    assert "the model is gone" in " ".join(report.out.split())


def test_doctor_finds_an_index_that_lost_records(run: Runner, home: Path, chat: Path) -> None:
    from hexamem import Memory

    run("ingest", chat, "--user", "alice", "--home", home)
    with Memory.open(home) as memory:
        alice = memory.user("alice")
        memory.vectors.delete(alice.key, "steps", [alice.steps()[0].id])
    report = run("doctor", "--home", home, "--json")
    assert report.code == 1
    assert "3 of 4 vectors" in str(report.json["findings"])
    assert run("reindex", "--user", "alice", "--home", home, "--json").json["users"] == ["alice"]
    assert run("doctor", "--home", home).code == 0


def test_reindex_of_an_unknown_user_is_refused(run: Runner, kept: Path) -> None:
    assert "carol" in run("reindex", "--user", "carol", "--home", kept).error


def test_flush_learns_what_a_short_program_stored(run: Runner, home: Path) -> None:
    from hexamem import Memory, Settings

    with Memory.open(home, settings=Settings(background=False)) as memory:
        memory.user("bob").remember("My boss is called Priya.")
    assert "hexamem flush -u bob" in run("items", "--user", "bob", "--home", home).err
    assert "hexamem flush" in run("doctor", "--home", home).out
    assert run("flush", "--home", home, "--json").json == {"users": ["bob"], "left": []}
    assert "Priya" in run("items", "--user", "bob", "--home", home).out


def test_flush_of_an_unknown_user_is_refused(run: Runner, kept: Path) -> None:
    assert "carol" in run("flush", "--user", "carol", "--home", kept).error


def test_a_filter_by_a_thread_that_is_not_there_names_those_that_are(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    refused = run("recall", "school", "--user", "alice", "--home", home, "--thread", "nothere")
    assert refused.code == 2
    assert "'nothere'; there are" in refused.error


def test_an_operation_that_is_not_there_is_named_with_its_option(run: Runner, kept: Path) -> None:
    refused = run("recall", "school", "--user", "alice", "--home", kept, "--with", "foo")
    assert refused.code == 2
    assert "--with 'foo'" in refused.error
    assert "multi_step" in refused.error


def test_reembed_makes_every_vector_anew(run: Runner, home: Path, chat: Path) -> None:
    run("ingest", chat, "--user", "alice", "--home", home)
    done = run("reembed", "--embedder", "bundled", "--home", home, "--json")
    assert done.json["embedder"] == "bundled"
    assert done.json["records"] > 0


def test_reembed_without_an_embedder_is_refused(run: Runner, kept: Path) -> None:
    assert "--embedder" in run("reembed", "--home", kept).error


def test_reembed_of_a_home_that_is_not_there_is_refused(run: Runner, home: Path) -> None:
    assert str(home) in run("reembed", "--embedder", "bundled", "--home", home).error
    assert not home.exists()


# -- eval -------------------------------------------------------------------------------------------------------------


def test_eval_prints_a_table_with_every_strategy(run: Runner, tmp_path: Path) -> None:
    done = run("eval", "locomo", locomo(tmp_path / "one.json", "Miso"), "-s", "bm25", "-s", "dense")
    assert done.code == 0
    assert "bm25" in done.out
    assert "dense" in done.out


def test_eval_writes_one_object_a_strategy(run: Runner, tmp_path: Path) -> None:
    file, out = locomo(tmp_path / "one.json", "Miso"), tmp_path / "out.json"
    assert run("eval", "locomo", file, "--strategy", "bm25", "--json", out).code == 0
    results = json.loads(out.read_text())
    assert [(one["strategy"], one["embedder"], one["recall"]["all"]["5"]) for one in results] == [
        ("bm25", "bundled", 1.0)
    ]
    piped = run("eval", "locomo", file, "--strategy", "bm25", "--json", "-").json
    assert [one["strategy"] for one in piped] == ["bm25"]


def test_eval_keeps_its_memory_where_told(run: Runner, home: Path, tmp_path: Path) -> None:
    words = ("eval", "locomo", locomo(tmp_path / "one.json", "Miso"), "--strategy", "bm25", "--home", home)
    assert run(*words).code == 0
    assert [row["user"] for row in run("users", "--home", home, "--json").json] == ["locomo-one"]
    assert "empty" in run(*words).error


BAD_EVALS = {
    "an unknown data set": (["trivia", "FILE"], "trivia"),
    "a missing file": (["locomo", "nosuch.json"], "nosuch.json"),
    "an unknown strategy": (["locomo", "FILE", "--strategy", "magic"], "magic"),
    "a strategy twice": (["locomo", "FILE", "--strategy", "bm25", "--strategy", "bm25"], "each once"),
    "a file of another form": (["longmemeval", "FILE"], "FILE"),
    "nowhere to write": (["locomo", "FILE", "--json", "nosuch/out.json"], "nosuch/out.json"),
    "an unknown embedder": (["locomo", "FILE", "--embedder", "nosuch"], "nosuch"),
}


@pytest.mark.parametrize("kind", BAD_EVALS)
def test_a_bad_eval_is_refused(run: Runner, tmp_path: Path, kind: str) -> None:
    file = locomo(tmp_path / "one.json", "Miso")
    words, said = BAD_EVALS[kind]
    assert (
        said.replace("FILE", str(file)) in run("eval", *[str(file) if word == "FILE" else word for word in words]).error
    )
