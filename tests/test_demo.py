"""``hexamem demo``: what it shows, and that it leaves nothing behind."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from hexamem import Memory
from hexamem.cli.demo import load_demo

from .commands import hexamem

pytestmark = pytest.mark.embedded

PLAINTEXTS = ("marmalade-otter-7719", "sk-proj-q7VwX2mKd9RtLb4ZcHy6NfJ1uGs8PaEo3TiYxM5C")


@pytest.fixture(scope="module", autouse=True)
def _offline() -> Iterator[None]:
    """No test of this module reaches the network."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the demo tried to reach the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refused)
        patch.setattr(socket, "getaddrinfo", refused)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demo stores its conversation once; what it shows then."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        shown = hexamem("demo", "--home", folder / "home", embedder=None)
    assert shown.code == 0, shown
    (folder / "shown").write_text(shown.out, encoding="utf-8")
    return folder / "home"


def test_the_demo_shows_routing_items_scopes_recall_and_research_on_one_screen_and_can_be_repeated(home: Path) -> None:
    first = (home.parent / "shown").read_text(encoding="utf-8")
    again = hexamem("demo", "--home", home, "--why", embedder=None)
    assert (again.code, again.err) == (0, "")
    lines = first.splitlines()
    assert len(lines) <= 60
    assert max(map(cell_len, lines)) <= 100
    for words in ("→ core", "episodic", "semantic", "vault", "scopes", "✓", "round 1", "source:", "answer:", "Next: "):
        assert words in first
    every_signal = re.compile(r"dense #\d+ \(0\.\d\d\) [+-]\d\.\d\d")
    assert (every_signal.search(first), bool(every_signal.search(again.out))) == (None, True)
    assert all(question["question"] in " ".join(again.out.split()) for question in load_demo()["questions"])
    assert not [text for text in PLAINTEXTS if text in first + again.out]
    with Memory.open(home) as memory:
        assert len(memory.user("maya").steps()) == 117
