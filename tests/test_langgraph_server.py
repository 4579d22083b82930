"""``langgraph dev`` serves the graphs of ``langgraph.json``: langgraph-cli's in-memory server, where it is installed."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "Where does Mia go to school?"

pytestmark = pytest.mark.skipif(
    find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None,
    reason="langgraph-cli[inmem] is not installed",
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = "from langgraph_cli.cli import cli; cli()"
    arguments = ["dev", "--no-browser", "--no-reload", "--port", str(port), "--config", str(ROOT / "langgraph.json")]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", command, *arguments],
            cwd=home,
            env={**os.environ, "HOME": str(home), "LANGSMITH_TRACING": "false"},
            stdout=log,
            stderr=log,
        )
        try:
            _wait(port, server, home / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


def _wait(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


def test_the_served_graphs_store_and_answer_for_one_user_at_a_time(url: str) -> None:
    """One event loop and one server for all of it: starting them takes seconds."""
    from langgraph_sdk import get_client

    async def talk() -> None:
        client = get_client(url=url)

        async def ask(graph: str, user: str | None, text: str, **values: Any) -> Any:
            given = values or {"messages": [{"role": "user", "content": text}]}
            context = {"user": user} if user else None
            return await client.runs.wait(None, graph, input=given, context=context, raise_error=False)

        await ask("chat", "alice", "My daughter Mia goes to school in Hangzhou.")
        assert "Hangzhou" in str((await ask("chat", "alice", QUESTION))["messages"][-1])
        assert "Hangzhou" not in str(await ask("chat", "bob", QUESTION))
        assert "Hangzhou" in (await ask("memory", "alice", QUESTION))["memory"]
        assert "Hangzhou" in (await ask("research", "alice", "", question=QUESTION))["answer"]
        assert len((await ask("ingest", "alice", "I like tea."))["memory_saved"]["step_ids"]) == 1
        assert (await ask("memory", None, QUESTION))["__error__"]["error"] == "MissingUserError"

    asyncio.run(talk())
