"""Drawings as PNG files, by matplotlib where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hexamem.evals.study.sections import Drawing

__all__ = ["NO_PLOTS", "draw", "plots_possible"]

NO_PLOTS = "matplotlib is not installed; get it with pip install 'hexamem[evals]' and run the study again"


def plots_possible() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(drawing: Drawing, path: Path) -> Path:
    """Draw into a PNG file and give its path. No display is needed: the figure is made without pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if drawing.bars:
        _bars(axes, drawing)
    for number, curve in enumerate(drawing.curves):
        marker = "osv^D<>pPX*h"[number % 12]
        axes.plot(curve.x, curve.y, label=curve.name, linestyle="-", marker=marker, markersize=5, linewidth=1.2)
    if drawing.logarithmic:
        axes.set_xscale("log")
    axes.set_title(drawing.title)
    axes.set_xlabel(drawing.x_label)
    axes.set_ylabel(drawing.y_label)
    axes.grid(axis="y", alpha=0.3)
    if drawing.bars or drawing.curves:
        axes.legend(fontsize=7, ncols=2)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    return path


def _bars(axes: Any, drawing: Drawing) -> None:
    width = 0.85 / max(1, len(drawing.bars))
    for number, (name, values) in enumerate(drawing.bars.items()):
        places = [group + (number - (len(drawing.bars) - 1) / 2) * width for group in range(len(drawing.groups))]
        shown = [(place, value) for place, value in zip(places, values, strict=True) if value is not None]
        axes.bar([place for place, _ in shown], [value for _, value in shown], width, label=name)
    axes.set_xticks(range(len(drawing.groups)), [_drawable(name) for name in drawing.groups], rotation=15, ha="right")


def _drawable(name: str) -> str:
    """The name without signs that matplotlib's own font lacks."""
    return "".join(sign if ord(sign) < 0x250 else "?" for sign in name)
