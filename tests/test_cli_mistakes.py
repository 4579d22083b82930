"""Every command, and every mistake that can be made with any of them: what is said, and with which exit code.

The table makes itself of the commands that there are: a new one, and a new option, is held to the same.
"""

from __future__ import annotations

import inspect
import io
import shutil
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from hexamem.cli import main
from hexamem.cli.app import COMMANDS, app

Words = tuple[str, ...]
Said = Callable[..., str]

LEAVES: Mapping[Words, Callable[..., Any]] = {
    (name, *inner): leaf
    for commands in COMMANDS.values()
    for name, command in commands.items()
    for inner, leaf in (
        [((one,), leaf) for one, leaf in command.items()] if isinstance(command, Mapping) else [((), command)]
    )
}
GROUPS = [name for commands in COMMANDS.values() for name, command in commands.items() if isinstance(command, Mapping)]
MAKES_A_HOME = {("demo",), ("ingest",), ("chat",), ("add",), ("import",), ("doctor",), ("eval",), ("train",)}
"""Commands that work without a home that is there: they store what is new, or look whether one can be."""
ARGUMENTS = {"DATASET": "synthetic"}
MORE = {
    ("add",): ("--kind", "semantic", "--name", "Mia", "--summary", "daughter"),
    ("edit",): ("summary=daughter",),
    ("forget",): ("--thread", "family"),
    ("feedback",): ("--helped", "step_1"),
    ("reembed",): ("--embedder", "bundled"),
    ("train",): ("--synthetic", "1", "--cross-validate"),
}
"""What a command needs beyond what its signature says."""
each_command = pytest.mark.parametrize("command", LEAVES, ids=" ".join)


@cache
def root() -> Any:
    """All commands; to make them of their functions takes a while."""
    return typer.main.get_command(app)


def parsed(command: Words) -> Any:
    """The command as the command line has it."""
    found = root()
    for name in command:
        found = found.commands[name]
    return found


@cache
def options_of(command: Words) -> list[tuple[Any, Any]]:
    """What a command takes: each argument and option, with the type of its values."""
    types = {
        one.name: typing.get_args(one.annotation)[0]
        for one in inspect.signature(LEAVES[command]).parameters.values()
        if typing.get_args(one.annotation)
    }
    return [(one, types[one.name]) for one in parsed(command).params if one.name in types]


def words_of(command: Words, file: Path) -> list[str]:
    """A command with all that it needs, and nothing else."""
    words = list(command)
    for one, kind in options_of(command):
        if one.required and one.param_type_name == "option":
            words += [one.opts[0], "alice"]
        elif one.required:
            words.append(str(file) if kind is Path else ARGUMENTS.get(one.metavar, "words to find"))
    return [*words, *MORE.get(command, ())]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """Runs a command that is a mistake; what it says: one line on stderr, no more."""

    def call(*words: str | Path) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert (code, out) == (2, ""), (code, out, err)
        assert err.startswith("hexamem: "), err
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        assert "unexpected error" not in err
        return err

    return call


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of one message."""
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "My daughter Mia starts school in Hangzhou."}\n', encoding="utf-8")
    return path


@each_command
def test_help_explains_a_command_and_opens_nothing(
    command: Words, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*command, "--home", str(tmp_path / "home"), "--help"]) == 0
    out, err = capsys.readouterr()
    assert f"Usage: hexamem {' '.join(command)}" in " ".join(out.split())
    assert err == ""
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "command", [one for one in LEAVES if any(p.required for p, _ in options_of(one))], ids=" ".join
)
def test_a_command_without_what_it_needs_says_what_is_missing(command: Words, said: Said, tmp_path: Path) -> None:
    needed = [
        one.opts[0] if one.param_type_name == "option" else one.metavar.removesuffix("...")
        for one, _ in options_of(command)
        if one.required
    ]
    line = said(*command, "--home", tmp_path / "home")
    assert any(f"'{name}" in line for name in needed), line
    assert f"`hexamem {' '.join(command)} --help`" in line
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_alone_names_its_commands(group: str, said: Said) -> None:
    line = said(group)
    assert all(leaf[1] in line for leaf in LEAVES if leaf[0] == group)
    assert f"`hexamem {group} --help`" in line


@pytest.mark.parametrize("group", GROUPS)
def test_an_unknown_command_of_a_group_is_named(group: str, said: Said) -> None:
    assert "'lst'" in said(group, "lst")


@each_command
def test_an_unknown_option_is_named_with_whose_help_to_read(command: Words, said: Said) -> None:
    line = said(*command, "--no-such-option")
    assert "--no-such-option" in line
    assert f"`hexamem {' '.join(command)} --help`" in line


@each_command
def test_an_option_without_its_value_names_whose_help_to_read(command: Words, said: Said) -> None:
    line = said(*command, "--home")
    assert "'--home'" in line
    assert f"`hexamem {' '.join(command)} --help`" in line


@pytest.mark.parametrize("command", [one for one in LEAVES if one not in MAKES_A_HOME], ids=" ".join)
def test_a_home_that_is_not_there_is_named_and_not_made(command: Words, said: Said, file: Path, tmp_path: Path) -> None:
    home = tmp_path / "typo"
    assert str(home) in said(*words_of(command, file), "--home", home)
    assert not home.exists()


@each_command
def test_an_empty_home_is_not_the_folder_one_is_in(
    command: Words, said: Said, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert "'--home'" in said(*words_of(command, file), "--home", "")
    assert list(folder.iterdir()) == []


def flat(kind: Any) -> Iterator[Any]:
    """The types that a type is made of."""
    for one in typing.get_args(kind):
        yield one
        yield from flat(one)


def each_option(fits: Callable[[Any, Any], bool]) -> pytest.MarkDecorator:
    """Once with each option of each command that fits, by its parameter and the type of its values."""
    found = [
        (command, one.opts[0])
        for command in LEAVES
        for one, kind in options_of(command)
        if one.param_type_name == "option" and fits(one, kind)
    ]
    return pytest.mark.parametrize(
        ("command", "option"), found, ids=lambda one: one if isinstance(one, str) else one[-1]
    )


def takes_optional_words(one: Any, kind: Any) -> bool:
    return not one.required and one.default is None and str in (kind, *typing.get_args(kind))


@each_option(takes_optional_words)
def test_an_empty_value_is_named_and_not_taken_for_none(
    command: Words, option: str, said: Said, file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    line = said(*words_of(command, file), "--home", home, option, " ")
    assert f"{option} ' ' is empty" in line, line
    assert not home.exists()


def takes_no_other_value(_: Any, kind: Any) -> bool:
    of_numbers = (isinstance(one, type) and issubclass(one, int | float) for one in (kind, *flat(kind)))
    of_words = (typing.get_origin(one) is typing.Literal for one in (kind, *flat(kind)))
    return kind is not bool and (any(of_words) or any(of_numbers))


@each_option(takes_no_other_value)
def test_a_wrong_value_is_named_with_its_option(
    command: Words, option: str, said: Said, file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    line = said(*words_of(command, file), "--home", home, option, "manyy")
    assert f"'{option}'" in line, line
    assert "'manyy'" in line
    assert f"`hexamem {' '.join(command)} --help`" in line
    assert "Value error" not in line
    assert not home.exists()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one message of alice."""
    from hexamem import Memory

    folder = tmp_path_factory.mktemp("stored") / "home"
    with Memory.open(folder) as memory:
        memory.user("alice").remember("My daughter Mia starts school in Hangzhou.")
    return folder


OF_TIME = [
    (command, one.opts[0])
    for command in LEAVES
    for one, _ in options_of(command)
    if one.metavar == "TIME" and command != ("add",)
]


@pytest.mark.parametrize(("command", "option"), OF_TIME, ids=lambda one: one if isinstance(one, str) else one[-1])
def test_a_time_that_cannot_be_read_is_named_with_its_option(
    command: Words, option: str, said: Said, file: Path, stored: Path
) -> None:
    line = said(*words_of(command, file), "--home", stored, option, "teatime")
    assert line.startswith(f"hexamem: {option}: ")
    assert "'teatime'" in line


@pytest.mark.parametrize("option", ["--label-by", "--mode"])
@pytest.mark.parametrize(
    "command", [("recall", "school", "--user", "alice"), ("users",), ("ingest",)], ids=lambda one: one[0]
)
def test_a_way_that_there_is_not_is_named_with_its_option(
    command: Words, option: str, said: Said, file: Path, stored: Path
) -> None:
    words = words_of(command, file) if command == ("ingest",) else [*command]
    line = said(*words, "--home", stored, option, "guess")
    assert f"'{option}': 'guess' is not one of " in line


@pytest.mark.parametrize("command", [("import",), ("add",)], ids=" ".join)
def test_an_empty_file_is_said_to_be_empty(command: Words, said: Said, stored: Path, tmp_path: Path) -> None:
    empty = tmp_path / "nothing.txt"
    empty.touch()
    line = said(*command, empty, "--user", "alice", "--home", stored)
    assert "nothing.txt" in line
    assert "is empty" in line


@pytest.mark.parametrize("command", [("ingest",), ("import",), ("add",)], ids=" ".join)
def test_a_file_that_is_not_there_is_named(command: Words, said: Said, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert str(tmp_path / "typo.txt") in said(*command, tmp_path / "typo.txt", "--user", "alice", "--home", home)
    assert not home.exists()


@pytest.fixture
def copy(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "copy"))


ON_A_RECORD = [
    leaf for leaf in LEAVES if leaf in {("show",), ("edit",), ("remove",), ("undo",), ("reveal",), ("feedback",)}
    or leaf[1:] in {("show",), ("rename",), ("merge",), ("split",), ("move",), ("pin",), ("retire",), ("promote",), ("retry",), ("drop",)}
]  # fmt: skip


@pytest.mark.parametrize("command", ON_A_RECORD, ids=" ".join)
def test_what_is_not_there_is_named_and_where_to_look(command: Words, said: Said, file: Path, copy: Path) -> None:
    line = said(*words_of(command, file), "--home", copy)
    assert "'words to find'" in line
