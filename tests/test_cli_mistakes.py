"""Every command and its mistakes: one line names the value, the option and what to read. The examples in help run.

Most tests go through the table of commands, so a new command or option is held to the same rules.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory
from hexamem.cli.app import _COMMAND, COMMANDS
from hexamem.cli.examples import EXAMPLES

from .commands import hexamem, write_lines

pytestmark = pytest.mark.embedded

Words = tuple[str, ...]

LEAVES: Mapping[Words, Callable[..., Any]] = {
    (name, *inner): leaf
    for commands in COMMANDS.values()
    for name, command in commands.items()
    for inner, leaf in (
        [((each,), leaf) for each, leaf in command.items()] if isinstance(command, Mapping) else [((), command)]
    )
}
GROUPS = [name for commands in COMMANDS.values() for name, command in commands.items() if isinstance(command, Mapping)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of one message."""
    return write_lines(tmp_path / "chat.jsonl", [{"role": "user", "content": "Mia starts school in Hangzhou."}])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where no command of the test may make a home."""
    yield tmp_path / "typo"
    assert not (tmp_path / "typo").exists()


@pytest.fixture(scope="module")
def item(stored: Path) -> str:
    """The id of the item."""
    return str(hexamem("items", "--user", "alice", "--home", stored, "--json").json[0]["id"])


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a message and an item of alice."""
    folder = tmp_path_factory.mktemp("stored") / "home"
    with Memory.open(folder, embedder="static") as memory:
        alice = memory.user("alice")
        alice.remember("My daughter Mia starts school in Hangzhou.")
        alice.add({"kind": "semantic", "name": "Mia", "summary": "daughter"})
    return folder


# Every command.


def test_help_explains_each_command_and_opens_nothing(home: Path) -> None:
    shown = hexamem("--help", embedder=None)
    assert hexamem() == shown
    assert len(LEAVES) > 40
    for command in LEAVES:
        assert f" {command[0]} " in shown.out
        done = hexamem(*command, "--home", home, "--help")
        assert (done.code, done.err) == (0, ""), command
        assert f"Usage: hexamem {' '.join(command)}" in " ".join(done.out.split())


def test_wrong_usage_of_any_command_names_what_is_wrong_and_whose_help_to_read() -> None:
    for command in LEAVES:
        for words, named in ((["--no-such-option"], "--no-such-option"), (["--home"], "'--home'")):
            error = hexamem(*command, *words).error
            assert named in error, command
            assert f"`hexamem {' '.join(command)} --help`" in error
    for group in GROUPS:
        error = hexamem(group).error
        assert all(leaf[1] in error for leaf in LEAVES if leaf[0] == group), error
        assert "'lst'" in hexamem(group, "lst").error


# Mistakes of one command; what the library refuses is in test_bad_input, and each of its errors is shown in the same way.

MISTAKES = {
    # a user and a home
    "recal x": "Did you mean 'recall'",
    "recall x": "--user",
    "items --user ' '": "never means all",
    "items --user alice --home TYPO": "no memory at",
    "items --user alice --home ''": "'--home'",
    "recall x --user alice --strategy ' '": "--strategy ' ' is empty",
    "recall x --user alice -k many": "'many'",
    "users --home FILE": "is a file, not a folder",
    "users --embedder nosuch": "nosuch",
    "reindex --user carol": "carol",
    # files
    "ingest nosuch.jsonl --user alice": "nosuch.jsonl",
    "add nosuch.txt --user alice": "no such file",
    "import EMPTY --user alice": "is empty",
    "ingest FILE --user alice --timezone Mars/Base": "Mars/Base",
    "export nosuch/x --user alice": "nosuch",
    "export x --with-secrets --user alice": "--passphrase-file",
    # recall
    "recall ' ' --user alice": "query",
    "recall x --metadata page --user alice": "page",
    "recall x --thread nothere --user alice": "'nothere'; there are",
    "recall x --since teatime --user alice": "--since: ",
    # items
    "add name=x --user alice": "--kind",
    "add --kind core label=x value=y limit=few --user alice": "few",
    "add --kind episodic summary=x occurred_at=once --user alice": "once",
    "add --kind semantic name=x --title y --user alice": "--title",
    "add --kind vault caption=x --secret-stdin --user alice": "stdin is empty",
    "edit ITEM --user alice": "nothing to change",
    "edit ITEM summary --user alice": "name=value",
    "edit ITEM summary=a summary=b --user alice": "2 times",
    "remove nosuch --user alice": "'nosuch'",
    "forget --user alice": "--thread",
    "feedback recall_1 --user alice": "--helped",
    # secrets
    "redact - --user alice": "stdin is empty",
    "reveal ITEM --user alice": "--reason",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_refused_in_one_line_that_names_it(
    stored: Path, item: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    values = {"ITEM": item, "FILE": str(file), "EMPTY": str(tmp_path / "empty"), "TYPO": str(tmp_path / "typo")}
    words = [re.sub("ITEM|FILE|EMPTY|TYPO", lambda match: values[match[0]], word) for word in shlex.split(line)]
    home = [] if "--home" in words else ["--home", stored]
    assert MISTAKES[line] in hexamem(*words, *home).error
    assert not (tmp_path / "typo").exists()


def test_a_secret_for_an_item_of_another_kind_is_refused_without_repeating_it(stored: Path) -> None:
    words = ("add", "--kind", "semantic", "name=x", "summary=y", "--secret-stdin", "--user", "alice")
    error = hexamem(*words, "--home", stored, stdin="marmalade-otter-7719").error
    assert "vault" in error
    assert "marmalade" not in error


def test_an_open_home_and_a_new_embedder_without_a_name_are_refused(stored: Path, tmp_path: Path) -> None:
    assert "--embedder" in hexamem("reembed", "--home", stored, embedder=None).error
    with Memory.open(tmp_path / "home", embedder="static"):
        assert str(tmp_path / "home") in hexamem("users", "--home", tmp_path / "home").error


# The examples in help.

EXAMPLE_LINES = [line for lines in EXAMPLES.values() for line in lines]
LONG = {"demo", "eval", "train", "chat"}  # their own tests run them
WITHOUT = {"JOB", "EXPERIENCE"}  # what a home of two messages does not have


@pytest.fixture(scope="module")
def examples_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with alice's home at its default place, the files that examples name, and the ids in the home."""
    folder = tmp_path_factory.mktemp("examples")
    lines = ("My daughter Mia starts school in Hangzhou.", "The school is West Lake Primary.")
    write_lines(folder / "chat.jsonl", [{"role": "user", "content": line, "thread_id": "family"} for line in lines])
    (folder / "notes").mkdir()
    for name in ("lease.txt", "notes/trip.md"):
        (folder / name).write_text("The lease ends in March.\n", encoding="utf-8")
    with Memory.open(folder / ".hexamem", embedder="static") as memory:
        alice = memory.user("alice")
        first, second = alice.remember([*lines], "family").step_ids
        alice.flush()
        alice.labels.split(alice.labels.of(second).intent.scope, [second], "Family")
        alice.labels.rename(alice.labels.of(first).intent.scope, "School")
        alice.labels.pin("School", pinned=False)
        item = alice.add({"kind": "semantic", "name": "Mia", "summary": "daughter"})
        secret = alice.add({"kind": "vault", "caption": "wifi password"}, secret="marmalade-otter-7719")
        memory.flush()
        recall = alice.recall("Where does Mia go to school?")
        ids = {"ITEM": item.id, "SECRET": secret.id, "STEP": first, "OPERATION": alice.history(item.id)[0].id,
               "RECALL": str(recall.id)}  # fmt: skip
        alice.export(folder / "alice.jsonl")
    return folder, ids


def test_every_command_has_an_example_of_its_own_which_its_help_shows() -> None:
    assert set(EXAMPLES) == {" ".join(leaf) for leaf in LEAVES if leaf[0] != "eval"} | {"eval locomo", "eval synthetic"}
    assert [name for name, lines in EXAMPLES.items() for line in lines if not line.startswith(f"hexamem {name}")] == []
    lines = [line.strip() for line in hexamem("show", "--help").out.splitlines() if line.strip()]
    assert lines[-3:] == ["Examples", *EXAMPLES["show"]]


@pytest.mark.parametrize("line", EXAMPLE_LINES)
def test_an_example_runs(
    line: str, examples_home: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, ids = examples_home
    copy = tmp_path / "copy"
    command, _, typed = line.partition(" < ")
    words = shlex.split(command)[1:]
    if words[0] in LONG or WITHOUT & set(words):  # its options are read, and it is not run
        (tmp_path / "locomo10.json").touch()
        (tmp_path / "talks").mkdir()
        monkeypatch.chdir(tmp_path)
        parsed: Any = _COMMAND
        while hasattr(parsed, "commands"):
            parsed = parsed.commands[words.pop(0)]
        parsed.make_context("example", words)
        return
    shutil.copytree(folder, copy)
    monkeypatch.setenv("HOME", str(copy))
    monkeypatch.chdir(copy)
    stdin = "West Lake Primary\n" if typed else "y\n"
    embedder = None if "--embedder" in words else "static"
    done = hexamem(*[ids.get(word, word) for word in words], stdin=stdin, embedder=embedder)
    assert done.code == 0, json.dumps(done.err)
    assert (done.out + done.err).strip()
