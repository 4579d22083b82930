"""``hexamem labels …``: each command, what it prints, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings
from hexamem.cli import main

from .word_labeler import WordLabeler


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)


Runner = Callable[..., Ran]


def _home(folder: Path) -> tuple[Path, list[str]]:
    said = [
        "scope:Trip/Day_1 event:plan entity:Mia we leave early",
        "scope:Trip/Day_2 event:ask entity:train when does it go",
        "scope:Work entity:[bold]report due",
    ]
    with Memory.open(folder, settings=Settings(background=False), labeler=WordLabeler) as memory:
        steps = memory.user("alice").remember([{"role": "user", "content": text} for text in said]).step_ids
        memory.flush()
    return folder, list(steps)


@pytest.fixture
def home(tmp_path: Path) -> tuple[Path, list[str]]:
    """A home with three labelled steps of alice, to be changed."""
    return _home(tmp_path / "home")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The same, only to be read."""
    return _home(tmp_path_factory.mktemp("kept") / "home")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Runner:
    """Runs ``hexamem labels …`` for alice, in this process."""

    def call(home: tuple[Path, list[str]], *words: str, user: str = "alice") -> Ran:
        capsys.readouterr()
        code = main(["--home", str(home[0]), "labels", *words, "--user", user])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return call


def test_list_shows_scopes_as_a_tree_with_counts(run: Runner, kept: tuple[Path, list[str]]) -> None:
    shown = run(kept, "list", "--kind", "scope")
    lines = [line.split("label_")[0].split() for line in shown.out.splitlines()]
    assert lines == [
        ["thematic", "scopes", "steps", "itself", "also", "found", "as", "id"],
        ["Trip", "2", "0"],
        ["└─", "Day", "1", "1", "1"],
        ["└─", "Day", "2", "1", "1"],
        ["Work", "1", "1"],
    ]


def test_an_id_stays_in_one_piece_on_a_terminal_of_eighty_columns(
    run: Runner, kept: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {one["id"] for one in run(kept, "list", "--json").json}
    monkeypatch.setenv("COLUMNS", "80")
    assert ids <= set(run(kept, "list").out.split())


def test_list_shows_all_kinds_and_text_as_it_is(run: Runner, kept: tuple[Path, list[str]]) -> None:
    shown = run(kept, "list")
    assert [heading in shown.out for heading in ("thematic scopes", "event types", "entity types")] == [True] * 3
    assert "[bold]report" in shown.out


def test_list_as_json(run: Runner, kept: tuple[Path, list[str]]) -> None:
    found = run(kept, "list", "--json").json
    assert {one["path"]: one["steps"] for one in found if one["kind"] == "scope"} == {
        "Trip": 0,
        "Trip / Day 1": 1,
        "Trip / Day 2": 1,
        "Work": 1,
    }


def test_list_of_a_user_without_labels_says_so(run: Runner, kept: tuple[Path, list[str]]) -> None:
    shown = run(kept, "list", user="nobody")
    assert (shown.code, shown.out) == (0, "")
    assert shown.err.endswith("hexamem: user 'nobody' has no such labels\n")


def test_show_prints_the_label_and_its_steps(run: Runner, kept: tuple[Path, list[str]]) -> None:
    shown = run(kept, "show", "trip / day 2")
    assert shown.out.startswith("Trip / Day 2  scope  label_")
    assert kept[1][1] in shown.out
    assert "when does it go" in shown.out
    assert run(kept, "show", "Work", "--json").json["step_ids"] == [kept[1][2]]


def test_rename_is_told_as_an_operation_that_undo_reverses(
    run: Runner, home: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    done = run(home, "rename", "Work", "Office", "--reason", "better", "--json").json
    assert (done["kind"], done["reason"]) == ("rename", "better")
    assert run(home, "show", "Office", "--json").json["pinned"]
    assert main(["undo", done["id"], "--home", str(home[0]), "--user", "alice"]) == 0
    assert run(home, "show", "Work", "--json").json["steps"] == 1


def test_merge_split_move_and_pin(run: Runner, home: tuple[Path, list[str]]) -> None:
    steps = home[1]
    assert "by user" in run(home, "merge", "Day 1", "Work").out
    assert run(home, "show", "Work", "--json").json["steps"] == 2
    made = run(home, "split", "Work", "Packing", steps[0], "--json").json
    assert made["label"]["step_ids"] == [steps[0]]
    assert made["operation"]["kind"] == "split"
    assert "move" in run(home, "move", "Packing", steps[1], steps[2]).out
    assert run(home, "show", "Packing", "--json").json["steps"] == 3
    assert run(home, "pin", "Packing", "--off").code == 0
    assert not run(home, "show", "Packing", "--json").json["pinned"]
    assert run(home, "pin", "Packing").code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("show", "Wrok"), "did you mean 'Work'"),
        (("list", "--kind", "colour"), "'colour' is not one of 'scope', 'event', 'entity'"),
        (("rename", "Work", ""), "1 to 200 characters"),
        (("move", "Work", "step_0"), "no step step_0"),
        (("merge", "Trip", "plan"), "their kinds differ"),
        (("split", "Work", "x"), "Missing argument 'STEP...'"),
    ],
)
def test_bad_input_exits_2_with_one_line(
    run: Runner, kept: tuple[Path, list[str]], words: tuple[str, ...], why: str
) -> None:
    shown = run(kept, *words)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1), shown
    assert why in shown.err


def test_recall_tells_labels_beside_the_reasons(
    kept: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["recall", "when does the train go", "--home", str(kept[0]), "-u", "alice", "-k", "1"]
    assert main(words) == 0
    assert "scope:" not in capsys.readouterr().out.replace("scope:Trip", "")
    assert main([*words, "--why"]) == 0
    assert "scope: Trip / Day 2 · events: ask · entities: train" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["scope"] == "Trip / Day 2"


Command = Callable[..., Ran]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs any command for alice, in this process."""

    def call(home: tuple[Path, list[str]], *words: str) -> Ran:
        capsys.readouterr()
        code = main(["--home", str(home[0]), *words, "--user", "alice"])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return call


def test_show_of_a_step_prints_its_labels(command: Command, kept: tuple[Path, list[str]]) -> None:
    lines = [line.strip() for line in command(kept, "show", kept[1][1]).out.splitlines()]
    for line in (
        "scope: Trip / Day 2",
        "events: ask",
        "entities: train",
        "reads as: scope:Trip/Day_2 event:ask entity:train when does Mia go",
        f"taken from: {kept[1][0]}",
        "labelled by the encoder, confidence 0.50",
    ):
        assert line in lines
    labels = command(kept, "show", kept[1][1], "--json").json["labels"]
    assert (labels["scope"], labels["events"], labels["entities"]) == ("Trip / Day 2", ["ask"], ["train"])
    assert (labels["confidence"], labels["provisional"], labels["tier"]) == (0.5, False, "embedded")
    assert labels["resolved_text"].endswith("when does Mia go")
    assert labels["summary"]


def test_show_of_a_step_that_a_person_labelled_says_so(
    run: Runner, command: Command, home: tuple[Path, list[str]]
) -> None:
    assert run(home, "move", "Work", home[1][0]).code == 0
    assert "labelled by a person" in command(home, "show", home[1][0]).out
    assert command(home, "show", home[1][0], "--json").json["labels"]["confidence"] == 1.0


@pytest.mark.parametrize(
    ("label", "why"),
    [("Wrok", "no label 'Wrok'; did you mean 'Work'?"), ("Day 9", "'Trip / Day 1'"), ("", "no label ''; there are ")],
)
def test_recall_by_an_unknown_label_names_the_nearest(
    command: Command, kept: tuple[Path, list[str]], label: str, why: str
) -> None:
    shown = command(kept, "recall", "anything", "--label", label)
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert why in shown.err


def test_items_by_an_unknown_label_are_refused(command: Command, home: tuple[Path, list[str]]) -> None:
    added = command(home, "add", "--kind", "semantic", "--name", "Mia", "--summary", "called", "--labels", "family")
    assert added.code == 0
    assert "#family" in command(home, "items", "--label", "family").out
    assert "did you mean 'family'?" in command(home, "items", "--label", "famly").err
    of_steps = command(home, "items", "--label", "Work")
    assert of_steps.code == 2
    assert "no item has the label 'Work' (it is a label of steps" in of_steps.err
    assert command(home, "recall", "Mia", "--label", "family").code == 0


def test_labels_are_found_by_name_in_another_language_and_by_old_name(
    run: Runner, command: Command, home: tuple[Path, list[str]]
) -> None:
    first = home[1][0]
    for name in ("第一天", "day one", "Trip / 第1天", "the 1st day"):
        assert run(home, "show", name, "--json").json["name"] == "Day 1"
        assert [hit["id"] for hit in command(home, "recall", "leave", "--label", name, "--json").json["hits"]] == [
            first
        ]
    assert run(home, "rename", "day 1", "Departure").code == 0
    for name in ("Day 1", "trip / day 1", "第一天", "departure"):
        assert run(home, "show", name, "--json").json["name"] == "Departure"
        assert [hit["id"] for hit in command(home, "recall", "leave", "--label", name, "--json").json["hits"]] == [
            first
        ]


def test_history_tells_labels_by_name(run: Runner, command: Command, home: tuple[Path, list[str]]) -> None:
    first = home[1][0]
    run(home, "rename", "Work", "Office")
    run(home, "move", "Office", first)
    run(home, "merge", "Day 2", "Office")
    told = " ".join(command(home, "history").out.split())
    assert "scope, Office name: Work → Office pinned: no → yes" in told
    assert f"labels of step {first} scope_id: Trip / Day 1 → Office tier: embedded → user" in told
    assert "scope, Day 2 alias_of: – → Office" in told


def test_a_correction_that_would_change_nothing_makes_no_operation(
    run: Runner, command: Command, home: tuple[Path, list[str]]
) -> None:
    first = home[1][0]
    for words in (("move", "Work", first), ("rename", "Work", "Office"), ("merge", "Day 1", "Day 2"), ("pin", "Day 2")):
        assert run(home, *words).code == 0
    before = command(home, "history", "--json").json
    for words, why in (
        (("move", "Work", first), "nothing to move"),
        (("move", "Office", first), "nothing to move"),
        (("rename", "Office", "Office"), "is called 'Office' already"),
        (("rename", "Work", " Office "), "is called 'Office' already"),
        (("merge", "Trip / Day 1", "Day 2"), "are one label already"),
        (("pin", "Day 2"), "is pinned already"),
    ):
        refused = run(home, *words)
        assert (refused.code, refused.out) == (2, ""), words
        assert why in refused.err
    assert command(home, "history", "--json").json == before


@pytest.mark.parametrize("words", [("list",), ("show", "Work"), ("rename", "Work", "Office")])
def test_a_home_that_is_not_there_is_not_made(run: Runner, tmp_path: Path, words: tuple[str, ...]) -> None:
    refused = run((tmp_path / "none", []), *words)
    assert refused.code == 2
    assert "there is no memory at" in refused.err
    assert not (tmp_path / "none").exists()
