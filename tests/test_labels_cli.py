"""``hexamem labels …``: each command, what it prints, and how it refuses."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="module", autouse=True)
def one_embedder() -> Iterator[None]:
    """The bundled embedder is read once, not for each of the many commands."""
    from hexamem.stores.embedders import open_embedder

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hexamem.memory.open_embedder", functools.cache(open_embedder))
        yield


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
        ["thematic", "scopes", "steps", "also", "id"],
        ["Trip", "0", "of", "2"],
        ["└─", "Day", "1", "1"],
        ["└─", "Day", "2", "1"],
        ["Work", "1"],
    ]


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
    assert run(kept, "list", user="nobody") == Ran(0, "", "hexamem: user 'nobody' has no such labels\n")


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
        (("list", "--kind", "colour"), "use one of scope, event, entity"),
        (("rename", "Work", ""), "1 to 200 characters"),
        (("move", "Work", "step_0"), "no step step_0"),
        (("merge", "Trip", "plan"), "no scope label 'plan'"),
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
