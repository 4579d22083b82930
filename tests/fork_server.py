"""Not a test: runs programs in processes of their own that have Hexamem loaded; to load it takes a new one a second.

A server, started once for all workers of a test run, imports Hexamem and forks a process for each program.
:func:`python` gives the command that stands for ``python``: a small program that hands its arguments, environment,
folder and open files to the server, and ends as the process ends that the server forked: with its exit code, or by its
signal. Killed, it takes that process with it. What is about starting or ending Python itself, or about what is loaded
when, needs an interpreter of its own all the same.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from unittest.mock import patch

from filelock import FileLock

__all__ = ["FOLDER", "WRITE_PATH", "python", "run_program", "write_command"]

FOLDER = "HEXAMEM_TEST_SERVER"
"""The variable that tells the processes of a test run in which folder the server has its socket."""

WRITE_PATH = (
    "hexamem.agents.applying.applier",
    "hexamem.agents.reader",
    "hexamem.graphs.ingest",
    "hexamem.graphs.research",
    "hexamem.intent.embedded_labeler",
    "hexamem.stores.recording",
)
"""What is loaded when messages are stored, and asked for. Its patterns are compiled then too: see :func:`_rehearse`."""

# What stands for a command. It imports little, without site-packages: it is started hundreds of times.
_CLIENT = """\
import array, os, signal, socket, sys
import json
where, loaded, given = {where!r}, {loaded!r}, {given!r}
asked = dict(loaded=loaded, arguments=given + sys.argv[1:], variables=dict(os.environ), folder=os.getcwd())
data = json.dumps(asked).encode()
server = socket.socket(socket.AF_UNIX)
server.connect(where)
files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
server.sendmsg([len(data).to_bytes(8, "big")], files)
server.sendall(data)
signal.signal(signal.SIGINT, signal.SIG_IGN)
status = server.recv(8)
if len(status) < 8:
    sys.exit("the server of the tests went away")
code = int.from_bytes(status, "big", signed=True)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def python(*loaded: str) -> list[str]:
    """The words of a command that does what ``python`` does with ``-c CODE``, ``-m MODULE`` or a file, and arguments.

    Args:
        loaded: further modules that the process which is forked has loaded from then on.
    """
    return [sys.executable, "-IS", "-c", _CLIENT.format(where=_server(), loaded=loaded, given=[])]


def write_command(file: Path, script: Path, *loaded: str) -> None:
    """Write an executable file that runs a Python script as its own first line would, in a fork."""
    code = _CLIENT.format(where=_server(), loaded=loaded, given=[str(script)])
    file.write_text(f"#!{sys.executable} -IS\n{code}", encoding="utf-8")
    file.chmod(0o755)


def run_program(
    code: str, *arguments: str, folder: Path | None = None, timeout: int = 300, loaded: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run Python code as ``python -c`` would, in a fork of a process that has Hexamem loaded.

    Args:
        arguments: what follows ``-c`` in ``sys.argv``.
        folder: where it runs, and its HOME; when None, where this process runs.
        timeout: seconds after which it is killed.
        loaded: further modules that the process which is forked has loaded from then on.
    """
    return subprocess.run(
        [*python(*loaded), "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        cwd=folder,
        env=None if folder is None else {**os.environ, "HOME": str(folder)},
        timeout=timeout,
        check=False,
    )


@cache
def _server() -> str:
    """The path of the server's socket; it is started where none runs yet, and runs as long as one of its users."""
    path = os.path.join(os.environ[FOLDER], "socket")
    with FileLock(f"{path}.lock"):
        lease = _connected(path)
        if lease is None:
            Path(path).unlink(missing_ok=True)
            script = str(Path(__file__).resolve())
            started = subprocess.Popen(
                [sys.executable, script, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            while (lease := _connected(path)) is None:
                assert started.poll() is None, "the server of the tests ended"
                time.sleep(0.01)
    atexit.register(lease.close)
    return path


def _connected(path: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def _become(asked: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Be the program that was asked for, as far as a process can that has started as another."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["variables"])
    time.tzset()
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
    kind, *rest = asked["arguments"]
    code: object = 0
    try:
        if kind == "-c":
            sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
            sys.modules["__main__"] = main = ModuleType("__main__")
            exec(compile(rest[0], "<string>", "exec"), main.__dict__)
        elif kind == "-m":
            sys.argv, sys.path[0] = rest, os.getcwd()
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = [kind, *rest], str(Path(kind).resolve().parent)
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as ended:
        code = ended.code
        if not (code is None or isinstance(code, int)):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the end of Python does
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or 120
    finally:
        os._exit(int(code or 0) & 0xFF)


@cache
def _rehearse() -> None:
    """Store messages, learn from them and ask, in a home that goes at once: what a process does once is done before a fork.

    Patterns are compiled, which takes longer than most programs of the tests, and statements put into SQL. No index is
    opened and no text cut into word pieces by several threads: a fork would not have the threads.
    """
    from hexamem import Memory, Settings
    from hexamem.stores.projections import Projector

    said = (
        "My friend Zora keeps bees in Porto.",
        "I moved to Rome last Saturday, and I always want short answers.",
        "The password for the gate is swordfish#7.",
        "我住在北京。",
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, TOKENIZERS_PARALLELISM="false"),
        patch.object(Projector, "_check", lambda *_: False),
        patch.object(Projector, "_advance_all", lambda *_: 0),
        Memory.open(Path(folder) / "home", settings=Settings(background=False)) as memory,
    ):
        user = memory.user("somebody else")
        user.remember(said)
        user.flush()
        user.recall("Where does my friend keep bees?")
    gc.collect()
    gc.freeze()


class _Server:
    """Forks a process for each program that it is asked for, and tells its client how that ended."""

    def __init__(self, path: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        self._listening.listen(128)
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._listening, selectors.EVENT_READ)
        self._ended, self._told = socket.socketpair()
        for end in (self._ended, self._told):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        self._ready.register(self._ended, selectors.EVENT_READ)
        self._programs: dict[int, socket.socket] = {}
        self._clients: set[socket.socket] = set()

    def serve(self) -> None:
        """Until the last client has gone."""
        while True:
            for key, _ in self._ready.select(60):
                if key.fileobj is self._listening:
                    client, _ = self._listening.accept()
                    self._clients.add(client)
                    self._ready.register(client, selectors.EVENT_READ)
                elif key.fileobj is self._ended:
                    self._ended.recv(4096)
                    self._tell()
                elif isinstance(key.fileobj, socket.socket):
                    self._hear(key.fileobj)
            if not self._clients:
                signal.set_wakeup_fd(-1)
                return

    def _tell(self) -> None:
        for pid, client in list(self._programs.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._programs[pid]
                code = os.waitstatus_to_exitcode(status)
                with suppress(OSError):  # a client that was killed, and its program with it
                    client.sendall(code.to_bytes(8, "big", signed=True))

    def _hear(self, client: socket.socket) -> None:
        size = array.array("i").itemsize
        try:
            head, messages, _, _ = client.recvmsg(8, socket.CMSG_SPACE(3 * size))
        except OSError:
            head = b""
        if not head:
            self._forget(client)
            return
        files = array.array("i")
        for _, _, data in messages:
            files.frombytes(data[: len(data) - len(data) % size])
        body = b""
        while len(body) < int.from_bytes(head, "big"):
            body += client.recv(1 << 16)
        asked = json.loads(body)
        for name in asked["loaded"]:
            if name not in sys.modules:
                import_module(name)
                gc.freeze()
        if set(WRITE_PATH) <= set(asked["loaded"]):
            _rehearse()
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for one in (*self._clients, self._listening, self._ended):
                one.close()
            self._ready.close()
            _become(asked, files)
        for file in files:
            os.close(file)
        self._programs[child] = client

    def _forget(self, client: socket.socket) -> None:
        self._ready.unregister(client)
        self._clients.discard(client)
        client.close()
        for pid, of in self._programs.items():
            if of is client:
                os.kill(pid, signal.SIGKILL)


def _main(path: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests; it ends with them
    import chromadb.api.rust  # noqa: F401 - what most programs load

    import hexamem.user  # noqa: F401

    gc.collect()
    gc.freeze()  # a collection in a fork would look at, and so copy, all that was imported
    _Server(path).serve()


if __name__ == "__main__":
    _main(sys.argv[1])
