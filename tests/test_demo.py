"""``hexamem demo``: what it shows, and that it leaves nothing behind."""

from __future__ import annotations

import io
import json
import re
import socket
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from hexamem.cli import main
from hexamem.cli.demo import load_demo

PLAINTEXTS = ("marmalade-otter-7719", "sk-proj-q7VwX2mKd9RtLb4ZcHy6NfJ1uGs8PaEo3TiYxM5C")


@pytest.fixture(scope="module")
def screen(request: pytest.FixtureRequest) -> str:
    """What the demo prints."""
    return played()


def played(*words: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", "100")  # where no terminal says how wide it is
        assert main(["demo", *words]) == 0
    assert err.getvalue() == ""
    return out.getvalue()


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What it says as JSON."""
    return dict(json.loads(played("--json", "--all")))


def test_the_demo_shows_every_thread_it_stored(screen: str) -> None:
    for message in load_demo()["messages"]:
        assert message["thread"] in screen


def test_the_demo_shows_references_in_place_of_secrets(screen: str) -> None:
    assert len(re.findall(r"\{\{vault:vault_\w+\|[^}]+\}\}", screen.replace("\n", ""))) >= 2
    assert "••••" in screen


def test_the_demo_prints_no_secret(screen: str, told: dict[str, Any]) -> None:
    conversation = json.dumps(load_demo(), ensure_ascii=False)
    for plaintext in PLAINTEXTS:
        assert plaintext in conversation
        assert plaintext not in screen
        assert plaintext not in json.dumps(told)


def test_the_demo_asks_the_first_eight_questions(screen: str) -> None:
    questions = [one["question"] for one in load_demo()["questions"]]
    flat = " ".join(screen.split())
    assert [question in flat for question in questions] == [number < 8 for number in range(len(questions))]


def test_the_demo_ticks_evidence_and_says_why(screen: str) -> None:
    assert "✓" in screen
    assert re.search(r"dense #\d+ \(0\.\d\d\) [+-]\d\.\d\d", screen)
    assert re.search(r"\d+\.\d ms", screen)


def test_the_demo_ends_with_figures_and_the_next_commands(screen: str) -> None:
    closing = screen[screen.index("All 24 questions") :]
    for words in (
        "evidence recall@5",
        "evidence recall@10",
        "messages/s",
        "hexamem ingest",
        "hexamem recall",
        "hexamem doctor",
    ):
        assert words in closing


def test_the_demo_fits_into_100_columns(screen: str) -> None:
    from rich.cells import cell_len

    assert max(cell_len(line) for line in screen.splitlines()) <= 100


def test_as_json_the_demo_gives_every_question_with_the_ranks_of_its_evidence(told: dict[str, Any]) -> None:
    assert told["stored"]["messages"] == 117
    assert len(told["questions"]) == told["summary"]["questions"] == 24
    for one in told["questions"]:
        assert len(one["ranks"]) == len(one["evidence"]) >= 1
        for step, rank in zip(one["evidence"], one["ranks"], strict=True):
            assert rank is None or one["recall"]["hits"][rank - 1]["id"] == step


def test_the_figures_follow_from_the_ranks(told: dict[str, Any]) -> None:
    for k in (5, 10):
        shares = [sum(r is not None and r <= k for r in one["ranks"]) / len(one["ranks"]) for one in told["questions"]]
        assert told["summary"]["evidence_recall"][str(k)] == pytest.approx(sum(shares) / len(shares), abs=1e-4)


def test_the_demo_finds_most_of_the_evidence(told: dict[str, Any]) -> None:
    assert told["summary"]["evidence_recall"]["10"] > 0.5


def test_the_demo_leaves_nothing_behind_and_touches_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    played("--json")
    assert list(tmp_path.iterdir()) == []


def test_with_a_home_the_demo_is_kept_and_can_be_repeated(tmp_path: Path) -> None:
    from hexamem import Memory

    for _ in range(2):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert main(["demo", "--home", str(tmp_path / "home")]) == 0
    with Memory.open(tmp_path / "home") as memory:
        assert len(memory.user("maya").steps()) == 117


def test_the_demo_opens_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the demo tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    played("--json")
