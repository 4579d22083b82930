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
    return dict(json.loads(played("--json")))


def test_the_demo_prints_no_secret(screen: str, told: dict[str, Any]) -> None:
    conversation = json.dumps(load_demo(), ensure_ascii=False)
    for plaintext in PLAINTEXTS:
        assert plaintext in conversation
        assert plaintext not in screen
        assert plaintext not in json.dumps(told)


def test_the_demo_shows_routing_items_scopes_recall_and_research_within_60_lines(screen: str) -> None:
    assert len(screen.splitlines()) <= 60
    for words in ("→ core", "episodic", "semantic", "vault", "scopes", "✓", "round 1", "source:", "answer:", "Next: "):
        assert words in screen


def test_the_demo_gives_a_short_reason_and_with_why_every_signal(screen: str) -> None:
    assert not re.search(r"dense #\d+ \(0\.\d\d\)", screen)
    every = played("--why")
    assert re.search(r"dense #\d+ \(0\.\d\d\) [+-]\d\.\d\d", every)
    for one in load_demo()["questions"]:
        assert one["question"] in " ".join(every.split())


def test_the_demo_shows_what_each_message_was_routed_to(told: dict[str, Any]) -> None:
    sources = {(source["step_id"], item["kind"]) for item in told["items"] for source in item["sources"]}
    assert sources == {(step, kind) for step, kinds in told["routed"].items() for kind in kinds}
    assert told["scopes"]
    assert told["research"]["rounds"]


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
