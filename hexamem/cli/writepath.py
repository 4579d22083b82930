"""``hexamem eval writepath``: what the memory writes, against what people said should be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexamem.cli import output
from hexamem.cli.session import Session
from hexamem.errors import InvalidInputError

if TYPE_CHECKING:
    from hexamem.user import UserMemory

__all__ = ["measure_write_path", "print_write_path"]


def measure_write_path(session: Session, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Let a new memory hear each case of each file; one report a file, with its misses and wrong items by case.

    Raises:
        InvalidInputError: a file holds no cases, or ``--home`` is given: each case needs an empty memory of its own.
    """
    from hexamem.evals.write_path import load_cases, score

    if session.home is not None:
        raise InvalidInputError("writepath opens an empty memory for each case; leave --home out")
    files = [(path, load_cases(path)) for path in paths]
    reports: list[dict[str, Any]] = []
    with output.progress_bar("writing") as (progress, task):
        total, done = sum(len(cases) for _, cases in files), count(1)

        @contextmanager
        def empty(user: str, timezone: str) -> Iterator[UserMemory]:
            with session.thrown_away() as memory:
                yield memory.user(user, timezone=timezone)
            progress.update(task, total=total, completed=next(done))

        for path, cases in files:
            report = score(cases, empty)
            reports.append(
                {"dataset": "writepath", "file": path.name, "mode": session.settings.mode, **report.as_dict()}
            )
    return reports


def print_write_path(report: Mapping[str, Any]) -> None:
    """Precision and recall by kind and language, then what was missed and what is wrong, by case."""
    from rich.table import Table

    console = output.result()
    table = Table(title=f"{report['file']}: {report['cases']} cases, mode {report['mode']}", title_justify="left")
    for name in ("", "right", "stored", "precision", "found", "expected", "recall"):
        table.add_column(name, justify="left" if not name else "right")
    rows = {
        "all": report["total"],
        **report["kinds"],
        **{f"[{name}]": row for name, row in report["languages"].items()},
    }
    for name, row in rows.items():
        precision, recall = (_share(row[what]) for what in ("precision", "recall"))
        counts = [str(row[what]) for what in ("right", "stored", "found", "expected")]
        table.add_row(name, counts[0], counts[1], precision, counts[2], counts[3], recall)
    console.print(table)
    tellings: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("Missed", "misses", lambda one: f"{', '.join(one['values'])}{_aside(one['why'])}{_aside(one['near'])}"),
        ("Wrong", "wrong", lambda one: f"{' / '.join(one['text'].splitlines())}{_aside(one['why'])}"),
    )
    for title, key, told in tellings:
        if report[key]:
            console.print(f"\n{title}:")
            for one in report[key]:
                console.print(f"  {one['case']}  {one['kind']}: {told(one)}", soft_wrap=True)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _aside(text: str) -> str:
    return f" ({text})" if text else ""
