"""``hexamem labels …`` and the commands that show or filter by labels: their output and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexamem import Memory, Settings

from .commands import Finished, hexamem
from .word_labeler import WordLabeler

pytestmark = pytest.mark.embedded

MESSAGES = [
    "scope:Trip/Day_1 event:plan entity:Mia we leave early",
    "scope:Trip/Day_2 event:ask entity:train when does it go",
    "scope:Work entity:[bold]report due",
]


class Home:
    """A home with three labelled steps of alice, and commands on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = Settings(background=False, mode="off")
        with Memory.open(folder, embedder="static", settings=settings, labeler=WordLabeler) as memory:
            self.steps = memory.user("alice").remember(MESSAGES).step_ids
            memory.flush()

    def run(self, *words: str, user: str = "alice") -> Finished:
        return hexamem("--home", self.folder, *words, "--user", user)

    def labels(self, *words: str, user: str = "alice") -> Finished:
        return self.run("labels", *words, user=user)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that tests only read."""
    return Home(tmp_path_factory.mktemp("shared") / "home")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_list_shows_kinds_as_trees_with_counts_and_whole_ids(unchanged: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = unchanged.labels("list", "--kind", "scope")
    assert [line.split("label_")[0].split() for line in shown.out.splitlines()] == [
        ["thematic", "scopes", "steps", "itself", "also", "found", "as", "id"],
        ["Trip", "2", "0"],
        ["└─", "Day", "1", "1", "1"],
        ["└─", "Day", "2", "1", "1"],
        ["Work", "1", "1"],
    ]
    listed = unchanged.labels("list", "--json").json
    counts = {label["path"]: label["steps"] for label in listed if label["kind"] == "scope"}
    assert counts == {"Trip": 0, "Trip / Day 1": 1, "Trip / Day 2": 1, "Work": 1}
    out = unchanged.labels("list").out
    assert all(text in out for text in ("thematic scopes", "event types", "entity types", "[bold]report"))
    monkeypatch.setenv("COLUMNS", "80")
    assert {label["id"] for label in listed} <= set(unchanged.labels("list").out.split())
    nobody = unchanged.labels("list", user="nobody")
    assert (nobody.code, nobody.out) == (0, "")
    assert nobody.err.endswith("hexamem: user 'nobody' has no such labels\n")


def test_show_prints_a_label_with_its_steps_and_a_step_with_its_labels(unchanged: Home) -> None:
    shown = unchanged.labels("show", "trip / day 2").out
    assert shown.startswith("Trip / Day 2  scope  label_")
    assert unchanged.steps[1] in shown
    assert unchanged.labels("show", "Work", "--json").json["step_ids"] == [unchanged.steps[2]]
    lines = [line.strip() for line in unchanged.run("show", unchanged.steps[1]).out.splitlines()]
    expected = {
        "scope: Trip / Day 2", "events: ask", "entities: train", f"taken from: {unchanged.steps[0]}",
        "reads as: scope:Trip/Day_2 event:ask entity:train when does Mia go", "labelled: by the encoder, confidence 0.50",
    }  # fmt: skip
    assert expected <= set(lines)
    labels = unchanged.run("show", unchanged.steps[1], "--json").json["labels"]
    assert (labels["scope"], labels["events"], labels["tier"]) == ("Trip / Day 2", ["ask"], "embedded")


def test_labels_are_merged_split_moved_renamed_and_pinned_which_history_shows_by_name_and_undo_reverses(
    home: Home,
) -> None:
    first, _, third = home.steps
    done = home.labels("rename", "Work", "Office", "--reason", "better", "--json").json
    assert (done["kind"], done["reason"]) == ("rename", "better")
    assert home.labels("show", "Office", "--json").json["pinned"]
    assert home.run("undo", done["id"]).code == 0
    assert "by user" in home.labels("merge", "Day 1", "Work").out
    assert home.labels("show", "Work", "--json").json["steps"] == 2
    built = home.labels("split", "Work", "Packing", first, "--json").json
    assert (built["label"]["step_ids"], built["operation"]["kind"]) == ([first], "split")
    assert "move" in home.labels("move", "Packing", third).out
    assert home.labels("show", "Packing", "--json").json["steps"] == 2
    assert "labelled: by a person" in home.run("show", third).out
    assert home.labels("pin", "Packing", "--off").code == 0
    assert not home.labels("show", "Packing", "--json").json["pinned"]
    shown = " ".join(home.run("history").out.split())
    assert "name: Work → Office" in shown
    assert f"labels of step {third} scope_id: Work → Packing tier: embedded → user" in shown
    assert "alias_of: – → Work" in shown


def test_recall_and_items_filter_by_a_label_in_any_form_of_its_name_and_by_its_old_one(home: Home) -> None:
    assert home.labels("rename", "第一天", "Departure").code == 0
    for name in ("trip / day 1", "departure"):
        hits = home.run("recall", "leave", "--label", name, "--json").json["hits"]
        assert [hit["id"] for hit in hits] == [home.steps[0]]
    added = home.run("add", "--kind", "semantic", "name=Mia", "summary=called", "labels=family")
    assert added.code == 0
    assert "#family" in home.run("items", "--label", "family").out
    assert "did you mean 'family'?" in home.run("items", "--label", "famly").err
    assert home.run("recall", "Mia", "--label", "family").code == 0
