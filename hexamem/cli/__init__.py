"""The command line: ``hexamem``."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

_COLLECT_AFTER = 50_000
"""New objects after which garbage is looked for. What a command makes first, modules, it keeps: at Python's own 700 a tenth
of its time goes into looking through them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed or found something wrong, 2 bad input, 130 Ctrl-C.

    Args:
        arguments: the words after the program's name; those of the process when None.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)  # Python's last look for garbage, in what the end of the process frees all the same
    usual = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *usual[1:])
    try:
        from hexamem.cli.app import run

        code = run(arguments)
        if arguments is None:
            _leave_what_was_stopped(code)
        return code
    finally:
        gc.set_threshold(*usual)


def _leave_what_was_stopped(code: int) -> None:
    """End the process at once where it would wait for a model's answer to a turn that was stopped; memory is closed by now."""
    stopping = sys.modules.get(f"{__name__}.stopping")
    if stopping is None or not stopping.works_on():
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
