"""The examples below the help of each command: every command has one, and each runs as it stands."""

from __future__ import annotations

import io
import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hexamem import Memory, UserMemory
from hexamem.cli import main
from hexamem.cli.app import _COMMAND, COMMANDS
from hexamem.cli.examples import EXAMPLES

NAMES = [
    f"{name} {inner}".strip()
    for commands in COMMANDS.values()
    for name, command in commands.items()
    for inner in (command if isinstance(command, Mapping) else [""])
]
ALL = [line for lines in EXAMPLES.values() for line in lines]
LONG = {"demo", "eval", "train", "chat"}  # commands that take long, or talk: their own tests run them
WITHOUT = ("JOB", "EXPERIENCE")  # what a home of two messages does not have
CHAT = [
    {"role": "user", "content": "My daughter Mia starts school in Hangzhou.", "thread_id": "family", "id": "m1"},
    {"role": "user", "content": "The school is West Lake Primary.", "thread_id": "family", "id": "m2"},
]


def name_scopes(user: UserMemory) -> None:
    """Give the user the scopes that the examples name: the first step is in "School", the second in "Family"."""
    user.flush()
    first, second = (step.id for step in user.steps("family"))
    user.labels.split(user.labels.of(second).intent.scope, [second], "Family")
    user.labels.rename(user.labels.of(first).intent.scope, "School")
    user.labels.pin("School", pinned=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with a home of alice's at its default place, the files that examples name, and the ids in the home."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "chat.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in CHAT), encoding="utf-8")
    (folder / "notes").mkdir()
    for name in ("lease.txt", "notes/trip.md"):
        (folder / name).write_text("The lease ends in March.\n", encoding="utf-8")
    with Memory.open(folder / ".hexamem") as memory:
        alice = memory.user("alice")
        for line in CHAT:
            alice.remember([{key: line[key] for key in ("role", "content", "id")}], "family")
        name_scopes(alice)
        item = alice.add({"kind": "semantic", "name": "Mia", "summary": "daughter"})
        secret = alice.add({"kind": "vault", "caption": "wifi password"}, secret="marmalade-otter-7719")
        memory.flush()
        found = alice.recall("Where does Mia go to school?")
        ids = {
            "ITEM": item.id,
            "SECRET": secret.id,
            "STEP": alice.steps("family")[0].id,
            "OPERATION": alice.history(item.id)[0].id,
            "RECALL": str(found.id),
        }
        alice.export(folder / "alice.jsonl")
    return folder, ids


@pytest.fixture
def run(
    place: tuple[Path, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[[str], str]:
    """Runs a line of a shell, in a copy of the folder, with its ids put in; what it wrote."""

    def call(line: str) -> str:
        folder, ids = place
        copied = Path(shutil.copytree(folder, tmp_path / "copy"))
        monkeypatch.setenv("HOME", str(copied))
        monkeypatch.chdir(copied)
        words, _, _ = line.partition(" < ")
        typed = "West Lake Primary\n" if words != line else "y\n"
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main([ids.get(word, word) for word in shlex.split(words)[1:]])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out + err

    return call


def test_every_command_has_an_example_of_its_own() -> None:
    assert list(EXAMPLES) == NAMES
    assert [name for name, lines in EXAMPLES.items() for line in lines if not line.startswith(f"hexamem {name}")] == []


@pytest.mark.parametrize("line", ALL)
def test_an_example_has_only_options_that_there_are(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talks").mkdir()
    for name in ("chat.jsonl", "alice.jsonl", "locomo10.json"):
        (tmp_path / name).touch()
    command, words = _COMMAND, shlex.split(line.partition(" < ")[0])[1:]
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context("example", words)  # refuses what it does not know


@pytest.mark.parametrize(
    "line", [line for line in ALL if line.split()[1] not in LONG and not any(word in line.split() for word in WITHOUT)]
)
def test_an_example_runs(line: str, run: Callable[[str], str]) -> None:
    assert run(line).strip()


def test_the_help_of_a_command_ends_with_its_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[-3:] == ["Examples", *EXAMPLES["show"]]
