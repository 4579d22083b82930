"""The report of a study: each experiment's tables, written as Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hexamem.errors import HomeNotWritableError
from hexamem.evals.metrics import Interval

__all__ = ["Section", "study_data", "study_markdown", "write_study"]

Cell: TypeAlias = str | float | int | Interval | None
Row: TypeAlias = Mapping[str, Cell]
"""Column → cell; None where nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The result of one experiment.

    Attributes:
        name: as ``--experiment`` takes it.
        about: what was measured, and how to read it.
        tables: title → rows.
        remarks: notes on the tables, such as what was not run and why.
    """

    name: str
    title: str
    about: str = ""
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    remarks: Sequence[str] = ()


def write_study(sections: Sequence[Section], facts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``study.md`` and ``study.json`` into a folder and return their paths; a missing folder is created.

    Args:
        facts: of the run as a whole: data sets, embedder, settings.

    Raises:
        HomeNotWritableError: the folder or a file cannot be written.
    """
    markdown, data = folder / "study.md", folder / "study.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        markdown.write_text(study_markdown(sections, facts), "utf-8")
        text = json.dumps(study_data(sections, facts), indent=1, ensure_ascii=False, allow_nan=False)
        data.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise HomeNotWritableError(f"--out {folder} cannot be written ({error.strerror})") from None
    return [markdown, data]


def study_data(sections: Sequence[Section], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The study as JSON-ready data: ``{"facts", "experiments": {name: {"tables": {title: rows}, "remarks"}}}``."""

    def plain(cell: Cell) -> Any:
        return asdict(cell) if isinstance(cell, Interval) else cell

    experiments = {
        section.name: {
            "tables": {
                title: [{column: plain(cell) for column, cell in row.items()} for row in rows]
                for title, rows in section.tables.items()
            },
            "remarks": list(section.remarks),
        }
        for section in sections
    }
    return {"facts": dict(facts), "experiments": experiments}


def study_markdown(sections: Sequence[Section], facts: Mapping[str, Any]) -> str:
    """The study as Markdown."""
    lines = ["# Study of query-aware retrieval", ""]
    lines += [f"- {name}: {_fact_text(value)}" for name, value in facts.items()]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.about]
        for title, rows in section.tables.items():
            lines += ["", f"**{title}**", "", *_table(rows)]
        if section.remarks:
            lines += ["", *(f"- {remark}" for remark in section.remarks)]
    return "\n".join(lines) + "\n"


def _fact_text(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_fact_text(inner)}" for name, inner in value.items())
    return str(value)


def _table(rows: Sequence[Row]) -> list[str]:
    columns = list(dict.fromkeys(column for row in rows for column in row))

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [
        line(columns),
        "|" + "|".join("---" if number == 0 else "---:" for number in range(len(columns))) + "|",
        *(line([_cell_text(row[column]) if column in row else "" for column in columns]) for row in rows),
    ]


def _cell_text(cell: Cell) -> str:
    """A cell as text: three decimals, intervals as ``+0.021 (+0.004 … +0.038)``, a dash for None."""
    if cell is None:
        return "–"
    if isinstance(cell, Interval):
        mean, low, high = (bound if abs(bound) >= 5e-4 else 0.0 for bound in (cell.mean, cell.low, cell.high))
        return f"{mean:+.3f} ({low:+.3f} … {high:+.3f})"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell if abs(cell) >= 5e-4 else 0.0:.3f}"
    return str(cell)
