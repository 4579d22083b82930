"""A killed research run goes on at its last node under a parent's SQLite saver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hexamem import Memory, Settings

from .fork_server import WRITE_PATH, python
from .test_research import tell

pytest.importorskip("langgraph.checkpoint.sqlite")

from .research_kill_child import main

CHILD = Path(__file__).with_name("research_kill_child.py")


def killed(home: Path, saver: Path, die_in: int) -> int:
    """How a process of its own ends, which is told to die."""
    command = [*python(*WRITE_PATH), str(CHILD), str(home), str(saver), str(die_in), "begin"]
    return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode


def test_a_killed_run_goes_on_in_the_round_in_which_it_died(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory.open(home, settings=Settings(background=False, mode="off")) as memory:
        tell(memory.user("nora"))
    whole = main(str(home), str(tmp_path / "whole.sqlite"), 0, resume=False)
    first = 1  # searches by words of the first round: the question itself
    assert killed(home, tmp_path / "killed.sqlite", first + 1) == 9
    rest = main(str(home), str(tmp_path / "killed.sqlite"), 0, resume=True)
    assert rest["rounds"] == whole["rounds"]
    assert len(rest["rounds"]) > 1
    assert rest["searches"] == whole["searches"][first:]  # the first round is not searched again
    assert rest["answer"] == whole["answer"]
