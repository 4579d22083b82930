"""Servers that tests start: a Chroma server that asks for a token, and PostgreSQL; and the suite in shared mode.

With ``HEXAMEM_TEST_SHARED=1`` (``make test-shared``) each memory that a test opens on a folder alone is opened on both
servers instead: the ledger in a schema of PostgreSQL of its own, the vectors on the Chroma server. Tests of the files of
an embedded home are marked ``embedded`` and skipped.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url, text

from hexamem import Memory
from hexamem.stores.secrets import KEY_VARIABLE, new_key

__all__ = [
    "POSTGRES",
    "SHARED",
    "ChromaServer",
    "Homes",
    "NewSchemas",
    "chroma_client",
    "postgres",
    "shared_mode",
    "start_servers",
]

SHARED, POSTGRES, _CHROMA = "HEXAMEM_TEST_SHARED", "HEXAMEM_TEST_POSTGRES", "HEXAMEM_TEST_CHROMA"
TOKEN = "a-token-of-the-tests"
_SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "postgres_for_tests.sh"


def free_port() -> int:
    """A port that is free now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ChromaServer:
    """``chroma run`` on loopback behind a proxy that asks for a token: since version 1.0 Chroma checks none itself.

    Attributes:
        port: of the proxy, the same after a restart of the server.
        token: the one that the proxy asks for.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._inner = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.token = TOKEN
        self._proxy = ThreadingHTTPServer(("127.0.0.1", 0), _proxy_to(self._inner, lambda: self.token))
        self._proxy.daemon_threads = True
        self.port = int(self._proxy.server_address[1])
        threading.Thread(target=self._proxy.serve_forever, daemon=True).start()
        self.start()

    def start(self) -> None:
        """Start the server; returns when it answers."""
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
        command += ["--port", str(self._inner), "--path", str(self._folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self._inner)) == 0:
                    return
            time.sleep(0.05)
        self.stop()
        raise TimeoutError("the Chroma server did not start")

    def stop(self) -> None:
        """Kill the server; the proxy goes on, as it would in front of a real one, and answers 502."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def send(self, number: int) -> None:
        """Send a signal to the server."""
        assert self._process is not None
        self._process.send_signal(number)

    def close(self) -> None:
        """Stop the server and the proxy."""
        self.stop()
        self._proxy.shutdown()
        self._proxy.server_close()


def _proxy_to(port: int, token: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.inner = http.client.HTTPConnection("127.0.0.1", port)

        def finish(self) -> None:
            self.inner.close()
            super().finish()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Authorization") != f"Bearer {token()}":
                self.reply(401, b"<html>401 Authorization Required</html>", "text/html")
                return
            try:
                self.inner.request(self.command, self.path, body, {"Content-Type": "application/json"})
                answer = self.inner.getresponse()
                self.reply(answer.status, answer.read(), answer.getheader("Content-Type") or "application/json")
            except (OSError, http.client.HTTPException):
                self.inner.close()
                self.reply(502, b"<html>502 Bad Gateway</html>", "text/html")

        def reply(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        setattr(Proxy, f"do_{method}", Proxy.answer)
    return Proxy


def chroma_client(port: int, token: str = TOKEN) -> Any:
    """A client of a Chroma server behind a proxy."""
    import chromadb  # takes long to load
    from chromadb.config import Settings as ChromaSettings

    headers = {"Authorization": f"Bearer {token}"}
    return chromadb.HttpClient("127.0.0.1", port, headers=headers, settings=ChromaSettings(anonymized_telemetry=False))


def postgres(action: str, folder: Path | None = None) -> str:
    """Start, crash, restart or stop a PostgreSQL of ``scripts/postgres_for_tests.sh``; returns what it prints.

    Args:
        folder: of a server that no other test uses.
    """
    environment = {**os.environ, **({} if folder is None else {"TMPDIR": str(folder)})}
    done = subprocess.run([_SCRIPT, action], check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return done.stdout.strip()


class NewSchemas:
    """Makes schemas in a PostgreSQL database, each an empty database to a ledger, and drops them."""

    def __init__(self, server: str) -> None:
        self._server, self._engine = server, create_engine(server)
        self._made: dict[str, None] = {}

    def url(self, name: str) -> str:
        """The URL of the schema of this name, which is made if it does not exist."""
        if name not in self._made:
            with self._engine.begin() as connection:
                connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {name}"))
            self._made[name] = None
        own = make_url(self._server).update_query_dict({"options": f"-csearch_path={name}"})
        return own.render_as_string(hide_password=False)

    def drop(self, name: str) -> None:
        """Drop a schema with all that it holds."""
        with self._engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))
        self._made.pop(name, None)

    def close(self) -> None:
        """Drop all schemas."""
        for name in list(self._made):
            self.drop(name)
        self._engine.dispose()


def start_servers(config: pytest.Config, folder: Path) -> None:
    """Start both servers for a run in shared mode; the workers of pytest-xdist find them in the environment."""
    if POSTGRES not in os.environ:
        os.environ[POSTGRES] = postgres("start")
        config.add_cleanup(lambda: postgres("stop"))
    vectors = Path(tempfile.mkdtemp(prefix="hexamem-chroma-", dir=folder))
    config.add_cleanup(lambda: shutil.rmtree(vectors, ignore_errors=True))
    server = ChromaServer(vectors)
    config.add_cleanup(server.close)
    os.environ[_CHROMA] = str(server.port)
    os.environ[KEY_VARIABLE] = b64encode(new_key()).decode()


class Homes:
    """The homes that were opened on the servers, with the ledger of each."""

    def __init__(self) -> None:
        self.schemas = NewSchemas(os.environ[POSTGRES])
        self.client = chroma_client(int(os.environ[_CHROMA]))
        self.opened: dict[str, list[Memory]] = {}

    def schema(self, home: str | os.PathLike[str]) -> str:
        place = os.path.abspath(Path(home).expanduser())
        return f"hexamem_test_{hashlib.sha256(place.encode()).hexdigest()[:24]}"

    def drop_closed(self) -> None:
        """Drop what no open memory uses."""
        for name, memories in list(self.opened.items()):
            if not all(memory._calls.closing for memory in memories):
                continue
            del self.opened[name]
            self.schemas.drop(name)
            for home in {memory._home.id for memory in memories}:
                for collection in self.client.list_collections():
                    if collection.name.startswith(f"hexamem.{home}"):
                        self.client.delete_collection(collection.name)


@contextmanager
def shared_mode() -> Iterator[Homes]:
    """Within, ``Memory.open(home)`` opens on both servers; a home opened again finds its ledger and vectors again."""
    homes, embedded = Homes(), Memory.open.__func__  # type: ignore[attr-defined]

    @wraps(embedded)
    def open_shared(cls: type[Memory], /, *given: Any, **options: Any) -> Memory:
        places = {"ledger_url", "chroma", "vector_store"}
        home = given[0] if given else options.get("home")
        if not isinstance(home, str | os.PathLike) or any(options.get(place) is not None for place in places):
            return embedded(cls, *given, **options)  # type: ignore[no-any-return]
        options = {name: value for name, value in options.items() if name not in {*places, "home"}}
        name = homes.schema(home)
        memory: Memory = embedded(cls, home, ledger_url=homes.schemas.url(name), chroma=homes.client, **options)
        homes.opened.setdefault(name, []).append(memory)
        return memory

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memory, "open", classmethod(open_shared))
        yield homes
        homes.schemas.close()
