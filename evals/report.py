"""The report of a measurement: sections of tables and remarks, as Markdown or as JSON.

Each measurement makes its sections (:mod:`.result_tables`, :mod:`.study.experiments`); the command line renders the same
tables for a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hexamem.evals.metrics import Interval

__all__ = ["Cell", "Row", "Section", "cell_text", "columns_of", "markdown", "tables_data", "write_json"]

Cell: TypeAlias = str | float | int | Interval | None
Row: TypeAlias = Mapping[str, Cell]
"""Column → cell; None where nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a report.

    Attributes:
        about: what was measured, and how to read it.
        tables: title → rows.
        remarks: notes on the tables, such as what was not measured and why.
    """

    name: str
    title: str = ""
    about: str = ""
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    remarks: Sequence[str] = ()


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The columns of a table; a row may lack some."""
    return list(dict.fromkeys(column for row in rows for column in row))


def cell_text(cell: Cell) -> str:
    """A cell as text: three decimals, intervals as ``+0.021 (+0.004 … +0.038)``, a dash for None."""
    if cell is None:
        return "–"
    if isinstance(cell, Interval):
        mean, low, high = (bound if abs(bound) >= 5e-4 else 0.0 for bound in (cell.mean, cell.low, cell.high))
        return f"{mean:+.3f} ({low:+.3f} … {high:+.3f})"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell if abs(cell) >= 5e-4 else 0.0:.3f}"
    return str(cell)


def markdown(title: str, facts: Mapping[str, Any], sections: Sequence[Section]) -> str:
    """A report as Markdown; ``facts`` are those of the measurement as a whole."""
    lines = [f"# {title}", "", *(f"- {name}: {_fact_text(value)}" for name, value in facts.items())]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.about]
        for name, rows in section.tables.items():
            lines += ["", f"**{name}**", "", *_table(rows)]
        if section.remarks:
            lines += ["", *(f"- {remark}" for remark in section.remarks)]
    return "\n".join(lines) + "\n"


def tables_data(section: Section) -> dict[str, Any]:
    """A section as JSON-ready data: ``{"tables": {title: rows}, "remarks"}``."""

    def plain(cell: Cell) -> Any:
        return asdict(cell) if isinstance(cell, Interval) else cell

    tables = {
        title: [{column: plain(cell) for column, cell in row.items()} for row in rows]
        for title, rows in section.tables.items()
    }
    return {"tables": tables, "remarks": list(section.remarks)}


def write_json(results: Sequence[Mapping[str, Any]] | Mapping[str, Any], path: str | Path) -> None:
    """Write results as a JSON list, one object a strategy, or as one object; UTF-8.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    data = results if isinstance(results, Mapping) else list(results)
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _fact_text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_fact_text(inner)}" for name, inner in value.items())
    return str(value)


def _table(rows: Sequence[Row]) -> list[str]:
    columns = columns_of(rows)

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [
        line(columns),
        "|" + "|".join("---" if number == 0 else "---:" for number in range(len(columns))) + "|",
        *(line([cell_text(row[column]) if column in row else "" for column in columns]) for row in rows),
    ]
