"""``hexamem demo``: what it shows, and that it leaves nothing behind."""

from __future__ import annotations

import json
import re
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from hexamem import Memory
from hexamem.cli.demo import load_demo

from .commands import hexamem

PLAINTEXTS = ("marmalade-otter-7719", "sk-proj-q7VwX2mKd9RtLb4ZcHy6NfJ1uGs8PaEo3TiYxM5C")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The demo as JSON, run without a network, which leaves nothing behind."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the demo tried to reach the network")

    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "me"))
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setattr(socket.socket, "connect", refused)
        patch.setattr(socket, "getaddrinfo", refused)
        done = hexamem("demo", "--json", embedder=None)
    assert list(folder.iterdir()) == []
    return dict(done.json)


def test_the_demo_shows_routing_items_scopes_recall_and_research_on_one_screen_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    first, again = (hexamem("demo", "--home", tmp_path / "home", *words) for words in ([], ["--why"]))
    assert (first.code, again.code, again.err) == (0, 0, "")
    lines = first.out.splitlines()
    assert len(lines) <= 60
    assert max(map(cell_len, lines)) <= 100
    for words in ("→ core", "episodic", "semantic", "vault", "scopes", "✓", "round 1", "source:", "answer:", "Next: "):
        assert words in first.out
    every_signal = re.compile(r"dense #\d+ \(0\.\d\d\) [+-]\d\.\d\d")
    assert (every_signal.search(first.out), bool(every_signal.search(again.out))) == (None, True)
    assert all(question["question"] in " ".join(again.out.split()) for question in load_demo()["questions"])
    assert not [text for text in PLAINTEXTS if text in first.out + again.out]
    with Memory.open(tmp_path / "home", embedder="static") as memory:
        assert len(memory.user("maya").steps()) == 117


def test_as_json_the_demo_gives_its_items_and_questions_and_no_secret(result: dict[str, Any]) -> None:
    conversation = json.dumps(load_demo(), ensure_ascii=False)
    assert all(text in conversation and text not in json.dumps(result) for text in PLAINTEXTS)
    sources = {(source["step_id"], item["kind"]) for item in result["items"] for source in item["sources"]}
    assert sources == {(step, kind) for step, kinds in result["routed"].items() for kind in kinds}
    assert result["scopes"]
    assert result["research"]["rounds"]
    assert result["stored"]["messages"] == 117
    assert len(result["questions"]) == result["summary"]["questions"] == 24


def test_the_figures_of_the_demo_follow_from_the_ranks_of_the_evidence(result: dict[str, Any]) -> None:
    questions = result["questions"]
    for question in questions:
        assert len(question["ranks"]) == len(question["evidence"]) >= 1
        for step, rank in zip(question["evidence"], question["ranks"], strict=True):
            assert rank is None or question["recall"]["hits"][rank - 1]["id"] == step
    for k in (5, 10):
        shares = [sum(rank is not None and rank <= k for rank in q["ranks"]) / len(q["ranks"]) for q in questions]
        assert result["summary"]["evidence_recall"][str(k)] == pytest.approx(sum(shares) / len(shares), abs=1e-4)
    assert result["summary"]["evidence_recall"]["10"] > 0.5
