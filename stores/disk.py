"""Making changes of folders durable, and reading lines of a bounded length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["LONGEST_LINE", "bounded_lines", "sync_folder"]

LONGEST_LINE = 256 << 20
"""Bytes of a line of JSON: a message or file of the default limits, with JSON's escapes or in base64, has fewer."""


def bounded_lines(file: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[tuple[bytes, bool]]:
    """The lines of a file, each with whether it is whole; of one longer than ``longest`` bytes only its beginning is read."""
    while line := file.readline(longest + 1):
        whole = len(line) <= longest
        yield (line if whole else b""), whole
        rest = line
        while not whole and rest and not rest.endswith(b"\n"):
            rest = file.readline(1 << 20)


def sync_folder(folder: Path) -> None:
    """Make the creation, renaming and removal of files in a folder durable, except on Windows."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
