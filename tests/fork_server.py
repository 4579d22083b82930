"""Not a test: runs programs in processes of their own that have Hexamem loaded; to load it takes a new one a second.

:func:`run_program` starts this file as a script once, which imports Hexamem and forks a process for each program. What
is about starting or ending Python itself, or about what is loaded when, needs an interpreter of its own all the same.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["run_program"]


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
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as said:
        asked = {"code": code, "arguments": arguments, "said": said, "timeout": timeout, "loaded": loaded}
        server.stdin.write(json.dumps({**asked, "folder": str(folder) if folder else None, "here": os.getcwd()}) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        out, err = (Path(said, name).read_text("utf-8", errors="replace") for name in ("out", "err"))
    return subprocess.CompletedProcess(["-c", *arguments], answer["returncode"], out, err)


@cache
def _server() -> subprocess.Popen[str]:
    command = [sys.executable, "-u", str(Path(__file__).resolve())]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(started.communicate)  # at the end of its input it ends
    return started


def _become(asked: dict[str, Any]) -> NoReturn:
    for number, name in ((1, "out"), (2, "err")):
        opened = os.open(Path(asked["said"], name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.chdir(asked["folder"] or asked["here"])
    if asked["folder"]:
        os.environ["HOME"] = asked["folder"]
    signal.alarm(asked["timeout"])
    sys.argv = ["-c", *asked["arguments"]]
    sys.path[0] = ""
    code = 0
    try:
        exec(compile(asked["code"], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - a fork must never go on as its parent
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve(requests: Iterable[str]) -> None:
    import chromadb.api.rust  # noqa: F401 - what most programs load

    import hexamem.user  # noqa: F401

    for line in requests:
        asked = json.loads(line)
        for name in asked["loaded"]:
            import_module(name)
        child = os.fork()
        if child == 0:
            _become(asked)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"returncode": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    _serve(sys.stdin)
