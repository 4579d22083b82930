"""The report of a study: each experiment's tables and plots as data, written as Markdown, JSON and PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from hexamem.errors import HomeNotWritableError
from hexamem.evals.metrics import Interval

__all__ = ["NO_PLOTS", "Plot", "Section", "draw", "plots_possible", "study_data", "study_markdown", "write_study"]

NO_PLOTS = "matplotlib is not installed; get it with pip install 'hexamem[evals]' and run the study again"
Cell: TypeAlias = str | float | int | Interval | None
Row: TypeAlias = Mapping[str, Cell]
"""Column → cell; None where there is nothing to measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot as data.

    Attributes:
        name: of the PNG file.
        bars: name → value in each group, None for no bar.
        lines: name → x and y of its points.
        log_x: whether the x axis is logarithmic.
    """

    name: str
    title: str
    y_label: str
    x_label: str = ""
    bars: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    log_x: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The result of one experiment.

    Attributes:
        name: as ``--experiment`` takes it.
        about: what was measured, and how to read it.
        tables: title → rows.
        remarks: what to know when reading them, such as what was not run and why.
    """

    name: str
    title: str
    about: str = ""
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    plots: Sequence[Plot] = ()
    remarks: Sequence[str] = ()


def write_study(sections: Sequence[Section], facts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``study.md``, ``study.json`` and the plots into a folder, which is made if it is not there.

    Args:
        facts: on the run as a whole: data sets, embedder, settings.

    Returns:
        The files. Without matplotlib there are no plots, and ``study.md`` says so.

    Raises:
        HomeNotWritableError: the folder or a file cannot be written.
    """
    plots = [plot for section in sections for plot in section.plots] if plots_possible() else []
    markdown, data = folder / "study.md", folder / "study.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = [draw(plot, folder / f"{plot.name}.png") for plot in plots]
        markdown.write_text(study_markdown(sections, facts, [plot.name for plot in plots]), "utf-8")
        text = json.dumps(study_data(sections, facts), indent=1, ensure_ascii=False, allow_nan=False)
        data.write_text(text + "\n", "utf-8")
    except OSError as error:
        raise HomeNotWritableError(f"--out {folder} cannot be written ({error.strerror})") from None
    return [markdown, data, *drawn]


def study_data(sections: Sequence[Section], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The study for programs: ``{"facts", "experiments": {name: {"tables": {title: rows}, "remarks"}}}``."""

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


def study_markdown(sections: Sequence[Section], facts: Mapping[str, Any], drawn: Sequence[str] | None = None) -> str:
    """The study for people.

    Args:
        drawn: names of the plots that were drawn; None where the report goes to no folder.
    """
    lines = ["# Study of query-aware retrieval", ""]
    lines += [f"- {name}: {_fact(value)}" for name, value in facts.items()]
    if drawn is not None and not drawn and any(section.plots for section in sections):
        lines += ["", f"No plots: {NO_PLOTS}"]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.about]
        for title, rows in section.tables.items():
            lines += ["", f"**{title}**", "", *_table(rows)]
        for plot in section.plots:
            if plot.name in (drawn or ()):
                lines += ["", f"![{plot.title}]({plot.name}.png)"]
        if section.remarks:
            lines += ["", *(f"- {remark}" for remark in section.remarks)]
    return "\n".join(lines) + "\n"


def _fact(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_fact(inner)}" for name, inner in value.items())
    return str(value)


def _table(rows: Sequence[Row]) -> list[str]:
    columns = list(dict.fromkeys(column for row in rows for column in row))

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [
        line(columns),
        "|" + "|".join("---" if number == 0 else "---:" for number in range(len(columns))) + "|",
        *(line([_shown(row[column]) if column in row else "" for column in columns]) for row in rows),
    ]


def _shown(cell: Cell) -> str:
    """A cell for people: three decimals, intervals as ``+0.021 (+0.004 … +0.038)``, a dash for None."""
    if cell is None:
        return "–"
    if isinstance(cell, Interval):
        mean, low, high = (bound if abs(bound) >= 5e-4 else 0.0 for bound in (cell.mean, cell.low, cell.high))
        return f"{mean:+.3f} ({low:+.3f} … {high:+.3f})"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell if abs(cell) >= 5e-4 else 0.0:.3f}"
    return str(cell)


def plots_possible() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(plot: Plot, path: Path) -> Path:
    """Draw into a PNG file and return its path. No display is needed: the figure is made without pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    groups = list(dict.fromkeys(group for values in plot.bars.values() for group in values))
    width = 0.85 / max(1, len(plot.bars))
    for number, (name, values) in enumerate(plot.bars.items()):
        offset = (number - (len(plot.bars) - 1) / 2) * width
        drawn = [(groups.index(group) + offset, value) for group, value in values.items() if value is not None]
        axes.bar([place for place, _ in drawn], [value for _, value in drawn], width, label=name)
    if groups:
        # matplotlib's own font has no signs beyond Latin.
        labels = ["".join(sign if ord(sign) < 0x250 else "?" for sign in group) for group in groups]
        axes.set_xticks(range(len(groups)), labels, rotation=15, ha="right")
    for number, (name, (x, y)) in enumerate(plot.lines.items()):
        axes.plot(x, y, label=name, marker="osv^D<>pPX*h"[number % 12], markersize=5, linewidth=1.2)
    if plot.log_x:
        axes.set_xscale("log")
    axes.set_title(plot.title)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.grid(axis="y", alpha=0.3)
    if plot.bars or plot.lines:
        axes.legend(fontsize=7, ncols=2)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    return path
