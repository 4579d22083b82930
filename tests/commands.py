"""Runs ``hexamem`` commands in this process, with the small embedder unless a test names another."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hexamem.cli import main

__all__ = ["Finished", "hexamem", "write_lines"]


@dataclass(frozen=True)
class Finished:
    """Exit status and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The single line of a bad-input error."""
        assert (self.code, self.out) == (2, ""), self
        assert self.err.startswith("hexamem: "), self
        assert self.err.count("\n") == 1, self
        assert "Traceback" not in self.err, self
        assert "unexpected error" not in self.err, self
        return self.err


def hexamem(*words: object, stdin: str | io.StringIO = "", embedder: str | None = "static") -> Finished:
    """Run a command.

    Args:
        words: the command line after ``hexamem``.
        stdin: the standard input.
        embedder: value of ``--embedder``; not passed when None.
    """
    first = ["--embedder", embedder] if embedder and words else []
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        code = main([*first, *map(str, words)])
    return Finished(code, out.getvalue(), err.getvalue())


def write_lines(path: Path, lines: list[Any]) -> Path:
    """Write a file of JSON lines; a string is written unchanged."""
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), encoding="utf-8"
    )
    return path
