"""``hexamem ask``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import pytest

from hexamem import Memory, Settings
from hexamem.cli.app import run
from hexamem.cli.output import write
from hexamem.cli.reading import _research_blocks
from hexamem.memory_types.research import Research, ResearchUsage, Round

from .test_research import tell


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ask") / "home"
    with Memory.open(folder, settings=Settings(background=False, mode="off")) as memory:
        tell(memory.user("nora"))
    return str(folder)


def ask(home: str, *arguments: str) -> int:
    return run(["ask", *arguments, "--user", "nora", "--home", home])


def test_the_evidence_is_printed_with_its_dates(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(home, "Who broke his wrist?") == 0
    out = capsys.readouterr().out
    assert "[2025-04-10] Theo: Emil broke his wrist there, poor man." in out


def test_the_trace_shows_searches_reading_and_decisions(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(home, "Who broke his wrist?", "--trace", "--rounds", "1", "--form", "passages") == 0
    out = " ".join(capsys.readouterr().out.split())
    for told in (
        "Round 1",
        "plan by embedded",
        "search vector: Who broke his wrist?",
        "keyword found",
        "read Theo:",
        "enough",
    ):
        assert told in out


def test_json_is_one_document_with_rounds_and_evidence(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(home, "What are all the names of Nora's cats?", "--json", "--rounds", "2") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answerable"] is True
    assert len(found["rounds"]) <= 2
    assert all(one["quote"] for one in found["evidence"])


def test_rollouts_are_appended_line_by_line(home: str, tmp_path: Path) -> None:
    file = tmp_path / "rollouts.jsonl"
    for _ in range(2):
        assert ask(home, "What are all the names of Nora's cats?", "--rollouts", str(file)) == 0
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len({row["run"] for row in rows}) == 2
    assert {"state", "action", "observation", "reward", "return", "done"} <= set(rows[0])


@pytest.mark.parametrize(
    "arguments",
    [("x", "--rounds", "0"), ("x", "--tier", "deepest"), ("x", "--rollouts", "/no/such/folder/file"), (" ",)],
)
def test_bad_input_exits_2_with_one_line(
    home: str, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(home, *arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.strip().splitlines()) == 1


def test_the_reason_of_a_model_stands_behind_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "Sofie starts on a Monday, and the bakery is closed on Mondays."
    rounds = (Round(number=1, answer="It is open.", reason="Nobody says."), Round(number=2, answer="No", reason=reason))
    usage = ResearchUsage(calls=4)
    found = Research(question="Is it open?", answer="No", answerable=True, rounds=rounds, usage=usage)
    write(*_research_blocks(found, "text", UTC, trace=False))
    assert capsys.readouterr().out.splitlines()[:2] == ["No", f"    {reason}"]
