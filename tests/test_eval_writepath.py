"""``hexamem eval writepath``: precision and recall of what is written, with every miss and wrong item by case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hexamem.cli import main

CASE = {
    "id": "one",
    "language": "en",
    "timezone": "Europe/Dublin",
    "user": "ann",
    "turns": [
        {
            "role": "user",
            "content": "I live in Cork. I'm allergic to walnuts.",
            "timestamp": "2025-01-14T19:02:00+00:00",
        }
    ],
    "should": [
        {"kind": "core", "values": ["Cork"], "why": "her home"},
        {"kind": "core", "values": ["Galway"], "why": "never said"},
    ],
    "may": [],
    "must_not": [],
}


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([CASE]), encoding="utf-8")
    return path


def test_a_report_counts_what_was_right_and_names_what_was_not(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "writepath", str(cases), "--json", "-"]) == 0
    [report] = json.loads(capsys.readouterr().out)
    assert (report["dataset"], report["file"], report["cases"], report["mode"]) == (
        "writepath", "cases.json", 1, "auto",
    )  # fmt: skip
    assert (report["total"]["found"], report["total"]["expected"], report["total"]["recall"]) == (1, 2, 0.5)
    assert (report["total"]["right"], report["total"]["stored"], report["total"]["precision"]) == (1, 2, 0.5)
    assert [(one["case"], one["kind"], one["values"]) for one in report["misses"]] == [("one", "core", ["Galway"])]
    assert [(one["case"], "walnuts" in one["text"]) for one in report["wrong"]] == [("one", True)]


def test_people_read_a_table_with_misses_and_wrong_items_by_case(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    assert main(["eval", "writepath", str(cases), "--json", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "cases.json: 1 cases, mode auto" in shown
    assert "one  core: Galway (never said)" in shown
    assert "I'm allergic to walnuts. (expected by nobody)" in shown
    assert json.loads(out.read_text(encoding="utf-8"))[0]["cases"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-s", "bm25"], "--strategy ranks answers"),
        (["--home", "HOME"], "leave --home out"),
        (["--seed", "1"], "--seed is for synthetic, ruler, hotpotqa and study"),
    ],
)
def test_options_that_mean_nothing_here_are_refused(
    cases: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    given = [str(tmp_path / "home") if word == "HOME" else word for word in words]
    assert main(["eval", "writepath", str(cases), *given]) == 2
    assert said in capsys.readouterr().err
