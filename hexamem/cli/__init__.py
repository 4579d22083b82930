"""The command line: ``hexamem``."""

from __future__ import annotations

import atexit
import gc
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
        from .app import run

        return run(arguments)
    finally:
        gc.set_threshold(*usual)
