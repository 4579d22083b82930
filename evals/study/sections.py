"""What an experiment gives: figures for programs, tables and remarks for people, and what to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexamem.evals.metrics import Interval

__all__ = ["Curve", "Drawing", "Section", "StudyTable", "interval_data", "shown", "shown_interval"]

Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table; None stands where there is nothing to tell."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points of a drawing by name, joined by a line."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A plot as data: ``bars`` (name → value in each of ``groups``) or ``curves``."""

    name: str
    title: str
    x_label: str
    y_label: str
    groups: Sequence[str] = ()
    bars: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    curves: Sequence[Curve] = ()
    logarithmic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The result of one experiment.

    Attributes:
        name: as ``--experiment`` takes it.
        about: what was done, in a sentence or two.
        data: JSON-ready figures.
        remarks: what to know when reading them, such as what was not run and why.
    """

    name: str
    title: str
    about: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[StudyTable] = ()
    drawings: Sequence[Drawing] = ()
    remarks: Sequence[str] = ()


def shown(value: Cell) -> str:
    """A figure for people: three decimals, a dash for nothing."""
    if value is None:
        return "–"
    return f"{value if abs(value) >= 5e-4 else 0.0:.3f}" if isinstance(value, float) else str(value)


def shown_interval(found: Interval | None) -> str:
    """``+0.021 (+0.004 … +0.038)``; a dash for fewer than two conversations."""
    if found is None:
        return "–"
    mean, low, high = (one if abs(one) >= 5e-4 else 0.0 for one in (found.mean, found.low, found.high))
    return f"{mean:+.3f} ({low:+.3f} … {high:+.3f})"


def interval_data(found: Interval | None) -> dict[str, float] | None:
    """An interval for programs."""
    if found is None:
        return None
    return {"mean": found.mean, "low": found.low, "high": found.high, "level": found.level, "conversations": found.n}
