"""Tables as text: separated by commas, semicolons or tabs, one line per row."""

from __future__ import annotations

import csv
import io

from hexamem.memory_types.files import Section

__all__ = ["read_csv"]

_ROWS = 100
"""Rows per section."""
_SAMPLE = 64 * 1024


def read_csv(text: str, name: str) -> tuple[str, tuple[Section, ...]]:
    """The table with one line per row, the header first, and sections of a hundred rows.

    Line breaks in cells become spaces, so that lines and rows agree; empty rows are left out. A text that is not a
    table is returned as its lines.
    """
    text = text.replace("\f", " ").strip("\n")
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
