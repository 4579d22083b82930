"""The command line: ``hexamem``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed or found something wrong, 2 bad input, 130 Ctrl-C."""
    from hexamem.cli.app import run

    return run(arguments)
