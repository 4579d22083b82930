"""A process that is killed anywhere on the write path: the next one goes on, and nothing is lost or doubled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from hexamem import Memory, Settings

from .manager_script import answer
from .scripted_server import ScriptedServer

_KILLS = 5


@pytest.fixture(scope="module", params=["agents", "single_call"])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home whose workers were killed, one after the other, and where they died."""
    home = tmp_path_factory.mktemp("killed") / "home"
    script = Path(__file__).with_name("write_path_kill_child.py")
    with ScriptedServer(answer) as server:
        command = [sys.executable, str(script), str(home), server.base_url, request.param, str(_KILLS), "3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return home, json.loads(done.stdout.splitlines()[-1])


def test_workers_died_at_different_points(killed: tuple[Path, list[str]]) -> None:
    assert len(set(killed[1])) >= 4, killed[1]


def test_nothing_is_lost_or_doubled_and_what_was_secret_is_taken_out(killed: tuple[Path, list[str]]) -> None:
    home, died = killed
    said = (home.parent / "acknowledged").read_text().splitlines()
    facts = [line for line in said if line.startswith("FACT")]
    codes = [line.partition(": ")[2] for line in said if line.startswith("CODE")]
    with Memory.open(home, settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        stored = [step.content for step in user.steps()]
        assert len(stored) >= len(said)
        assert set(facts) <= set(stored)
        learned = Counter(item.text for item in user.items("semantic"))
        for line in facts:
            name = line.split()[1].rstrip(":")
            assert sum(count for text, count in learned.items() if name in text.split()) == 1, (name, died)
        for item in user.items():
            assert [one.kind for one in user.history(item.id)].count("add") == 1, (item, died)
        assert [code for code in codes if any(code in text for text in stored)] == []
        kept = [user.reveal(item.id, reason="test") for item in user.items("vault")]
        assert Counter(kept) == Counter(set(kept))
        assert set(codes) <= set(kept)
        assert user.jobs() == []
        assert user.recall(facts[0].partition(" ")[2], kinds="semantic").hits
