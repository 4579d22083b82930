"""Shared engines: vectors on a Chroma server, which stops and starts again, and the command line on both servers."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import chromadb

from hexamem import Memory, Settings

from .commands import hexamem, write_lines
from .ledger_databases import NewDatabase, new_database  # noqa: F401


@contextmanager
def chroma_server(folder: Path, port: int) -> Iterator[None]:
    """``chroma run`` on loopback, killed at the end."""
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen([*command, "--path", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_recall_goes_on_by_keywords_while_the_chroma_server_is_down(tmp_path: Path) -> None:
    port = free_port()
    with chroma_server(tmp_path / "vectors", port):
        client = chromadb.HttpClient("127.0.0.1", port)
        memory = Memory.open(tmp_path / "home", embedder="static", chroma=client, settings=Settings(background=False))
        alice = memory.user("alice")
        alice.remember("We moved to Porto in March.", thread_id="talk")
        assert alice.flush()
        assert alice.recall("Where did we move?", strategy="dense").hits
    alice.remember("The dog is called Rex.", thread_id="talk")
    for strategy in ("dense", "rrf", "learned"):
        recall = alice.recall("Porto in March", strategy=strategy)
        assert recall.hits[0].text == "We moved to Porto in March."
        assert "Chroma server cannot be reached" in " ".join(recall.degraded)
        assert alice.recall("What is the dog called?", strategy=strategy).hits[0].text == "The dog is called Rex."
    with chroma_server(tmp_path / "vectors", port):
        recall = alice.recall("What is the dog called?", strategy="dense")
        assert (recall.hits[0].text, recall.degraded) == ("The dog is called Rex.", ())
        memory.close()


def test_two_homes_of_the_command_line_share_a_ledger_and_each_has_its_vectors_on_the_server(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    talk = write_lines(tmp_path / "talk.jsonl", [{"role": "user", "content": "We moved to Porto in March."}])
    ledger, port = new_database(), free_port()

    def run(home: str, *words: object) -> Any:
        return hexamem(*words, "--home", tmp_path / home, "--ledger", ledger, "--chroma", f"127.0.0.1:{port}")

    with chroma_server(tmp_path / "vectors", port):
        assert run("first", "ingest", talk, "--user", "alice").code == 0
        for home in ("first", "second"):
            hits = run(home, "recall", "Where did we move?", "--user", "alice", "-s", "dense", "--json").json["hits"]
            assert hits[0]["text"] == "We moved to Porto in March."
        collections = {each.name for each in chromadb.HttpClient("127.0.0.1", port).list_collections()}
        assert len({name.split(".")[1] for name in collections}) == 2
        assert not (tmp_path / "first" / "ledger.sqlite3").exists()
    assert "no Chroma server answers" in run("first", "users").error
    assert (
        "is no address" in hexamem("users", "--ledger", ledger, "--chroma", "a:b:c", "--home", tmp_path / "first").error
    )
