"""Shows what :func:`~.ruler_run.evaluate_ruler` measured: a table of scores by task and length for each strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hexamem.errors import InvalidInputError
from hexamem.evals.ruler import FAMILIES

__all__ = ["print_ruler"]


def print_ruler(results: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """Print the scores: a row a task and family, a column a length; then what the scores cost in returned tokens.

    Args:
        results: what ``evaluate_ruler`` gave, at least one.
        console: where to; standard error by default.

    Raises:
        InvalidInputError: there are no results.
    """
    if not results:
        raise InvalidInputError("there are no results to show")
    console = console or Console(stderr=True)
    for result in results:
        console.print(_scores(result))
    console.print(
        "needles and variable tracking: share of the gold values in what was returned (its tokens in brackets), and in "
        "all that was read where that differs; aggregation: the most frequent words of what was read",
        highlight=False,
    )
    for result in results:
        p50, p95 = (result["latency_ms"][name] for name in ("p50", "p95"))
        console.print(f"{escape(result['strategy'])}: p50 {p50:.1f} ms, p95 {p95:.1f} ms", highlight=False)
        for what, count in result["degraded"].items():
            console.print(escape(f"degraded, {result['strategy']}: {what} ({count}×)"), highlight=False)
    speed = results[0]["ingest_steps_per_s"]
    if speed:
        console.print(f"stored at {speed:,.0f} steps/s", highlight=False)


def _scores(result: Mapping[str, Any]) -> Table:
    table = Table(
        title=escape(f"RULER, {result['form']}, {result['strategy']}: {result['n_questions']} questions"),
        title_justify="left",
    )
    table.add_column("task", no_wrap=True)
    lengths = list(result["tasks"])
    for length in lengths:
        table.add_column(f"{int(length):,}", justify="right")
    for task in result["tasks"][lengths[0]]:
        rows = [result["tasks"][length][task] for length in lengths]
        table.add_row(task, *(_cell(row, task) for row in rows))
    table.add_section()
    for family in result["families"][lengths[0]]:
        scores = [result["families"][length][family] for length in lengths]
        if any(score is not None for score in scores):
            table.add_row(family.replace("_", " "), *(_share(score) for score in scores))
    return table


def _cell(row: Mapping[str, Any], task: str) -> str:
    cell = f"{_share(row['score'])} ({row['context_tokens']:,.0f})"
    # Counted words are read from all passages anyway.
    more = task not in FAMILIES["aggregation"] and row["read"] != row["score"]
    return f"{cell}\nread {_share(row['read'])} ({row['read_tokens']:,.0f})" if more else cell


def _share(score: float | None) -> str:
    return "–" if score is None else f"{score:.1%}"
