"""A process that is killed anywhere on the write path: the next one goes on, and nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hexamem import Memory, Settings

from .fork_server import WRITE_PATH, python
from .manager_script import answer
from .scripted_server import ScriptedServer

_KILLS = {"embedded": 38, "agents,single_call": 12}  # workers killed in one home whose modes take turns
_STAGES = ("label", "manage", "apply", "project")


class Killed(NamedTuple):
    """A home whose workers were killed, one after the other, and where they died."""

    home: Path
    died: list[dict[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """In memory where the machine has such a place: a killed process loses nothing that it wrote to no disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path_factory.mktemp("killed")
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def killed(folder: Path) -> dict[str, Killed]:
    """The homes in which workers were killed, by the modes in which they worked."""
    script = Path(__file__).with_name("write_path_kill_child.py")
    with ScriptedServer(answer) as server:
        wanted = [f"{modes}={kills}" for modes, kills in _KILLS.items()]
        command = [*python(*WRITE_PATH), str(script), str(folder), server.base_url, "3", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    died = json.loads(done.stdout.splitlines()[-1])
    return {modes: Killed(folder / modes, died[modes]) for modes in _KILLS}


def test_fifty_workers_died_at_random_points_of_all_four_stages(killed: dict[str, Killed]) -> None:
    died = [one for each in killed.values() for one in each.died]
    assert len(died) == sum(_KILLS.values()) == 50
    by_stage = Counter(one["stage"] for one in died)
    assert set(by_stage) == set(_STAGES)
    assert min(by_stage.values()) >= 11, by_stage
    assert len({(one["mode"], one["place"]) for one in died}) >= 35, died


@pytest.mark.parametrize("modes", list(_KILLS))
def test_nothing_is_lost_or_doubled_and_what_was_secret_is_taken_out(killed: dict[str, Killed], modes: str) -> None:
    home, died = killed[modes]
    said = home.with_suffix(".said").read_text().splitlines()
    facts = [line for line in said if "swordfish" not in line]
    codes = [line.split()[-1] for line in said if "swordfish" in line]
    assert codes
    with Memory.open(home, embedder="static", settings=Settings(background=False)) as memory:
        user = memory.user("ann")
        stored = Counter(step.content for step in user.steps())
        assert stored.total() >= len(said)
        assert [line for line in facts if stored[line] != 1] == []
        learned = Counter(item.text for item in user.items("semantic"))
        for line in facts:
            name = line.split()[1 if line.startswith("FACT") else 2].rstrip(":")
            assert sum(count for text, count in learned.items() if name in text.split()) == 1, (name, died)
        for item in user.items():
            assert [one.kind for one in user.history(item.id)].count("add") == 1, (item, died)
        assert [code for code in codes if any(code in text for text in stored)] == []
        kept = [user.reveal(item.id, reason="test") for item in user.items("vault")]
        assert Counter(kept) == Counter(set(kept))
        assert set(codes) <= set(kept)
        assert user.jobs() == []
        assert user.recall(" ".join(facts[0].split()[1:]), kinds="semantic").hits
