"""Tables as text: comma, semicolon or tab separated, one line a row."""

from __future__ import annotations

import csv
import io

from hexamem.memory_types.files import Section
from hexamem.stores.file_readers.text import decode

__all__ = ["read_csv"]

_ROWS = 100
"""Rows a section."""
_SAMPLE = 64 * 1024


def read_csv(data: bytes, name: str) -> tuple[str, tuple[Section, ...]]:
    """The table with one line a row, the header first, and its rows by the hundred.

    Cells that hold line breaks get spaces in their place, so that lines and rows agree; empty rows are left out. A
    file that cannot be read as a table is kept as the lines that it has.
    """
    text = decode(data, name).replace("\f", " ").strip("\n")
    lines = _rows(text, name) if '"' in text else [line for line in text.split("\n") if line.strip()]
    body = lines[1:]
    sections = [
        Section(text="\n".join(body[start : start + _ROWS]), rows=(start + 1, min(start + _ROWS, len(body))))
        for start in range(0, len(body), _ROWS)
    ]
    return "\n".join(lines), tuple(sections) or (Section(text="\n".join(lines)),)


def _rows(text: str, name: str) -> list[str]:
    delimiter = "\t" if name.lower().endswith(".tsv") else _delimiter(text[:_SAMPLE])
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                writer.writerow([" ".join(cell.split("\n")) for cell in row])
    except csv.Error:
        return [line for line in text.split("\n") if line.strip()]
    return out.getvalue().strip("\n").split("\n")


def _delimiter(sample: str) -> str:
    header = sample.partition("\n")[0]
    return max(",;\t|", key=header.count)
