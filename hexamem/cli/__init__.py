"""The command line: ``hexamem``."""

from __future__ import annotations

import gc
from collections.abc import Sequence

__all__ = ["main"]

_COLLECT_AFTER = 50_000
"""New objects after which garbage is looked for: at Python's own 700 it takes a tenth of a command's time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed or found something wrong, 2 bad input, 130 Ctrl-C.

    Args:
        arguments: the words after the program's name; those of the process when None.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER, *usual[1:])
    try:
        from hexamem.cli.app import run

        return run(arguments)
    finally:
        gc.set_threshold(*usual)
