"""Shows what :func:`~.runner.evaluate` measured: tables for people, a JSON file for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidInputError
from .runner import compare

__all__ = ["print_report", "write_json"]

_CUT = 10


def print_report(results: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """Print the results of one evaluation: a row a strategy.

    The first table has recall at every cut-off, nDCG and latency, for categories 1-4 where the data has them, else
    for all questions. The second has recall@10 (or at the cut-off next to it) by category. With several strategies
    and conversations a third compares each with the first, by paired bootstrap. Below stand what was skipped, every
    note and every fallback.

    Args:
        results: what ``evaluate`` gave, at least one.
        console: where to; standard error by default, since standard output is for the result alone.

    Raises:
        InvalidInputError: there are no results.
    """
    if not results:
        raise InvalidInputError("there are no results to show")
    console = console or Console(stderr=True)
    first = results[0]
    group = "1-4" if first["recall"].get("1-4") else "all"
    cuts = list(first["recall"]["all"])
    cut = min(cuts, key=lambda k: abs(int(k) - _CUT))
    console.print(_overview(results, group, cuts, cut))
    console.print(_by_category(results, cut))
    if len(results) > 1:
        # One conversation has no spread over conversations.
        scored = [name for name, groups in first["by_conversation"].items() if group in groups]
        if len(scored) > 1:
            console.print(_differences(results, group, int(cut)))
    for line in _footer(results):
        console.print(escape(line), highlight=False)


def write_json(results: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write the results as a JSON list, one object a strategy, UTF-8.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    text = json.dumps(list(results), indent=2, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _overview(results: Sequence[Mapping[str, Any]], group: str, cuts: Sequence[str], cut: str) -> Table:
    first = results[0]
    which = "all categories" if group == "all" else f"categories {group}"
    table = Table(
        title=escape(f"{first['dataset']}: {which}, {first['counts'][group]} questions, {first['n_steps']} steps"),
        title_justify="left",
    )
    table.add_column("strategy", no_wrap=True)
    for heading in (*(f"recall\n@{k}" for k in cuts), f"nDCG\n@{cut}", "p50\nms", "p95\nms"):
        table.add_column(heading, justify="right")
    for result in results:
        latency = result["latency_ms"]
        table.add_row(
            escape(result["strategy"]),
            *(_share(result["recall"], group, k) for k in cuts),
            _share(result["ndcg"], group, cut),
            f"{latency['p50']:.1f}",
            f"{latency['p95']:.1f}",
        )
    return table


def _by_category(results: Sequence[Mapping[str, Any]], cut: str) -> Table:
    counts = results[0]["counts"]
    table = Table(title=f"recall@{cut} by category (number of questions)", title_justify="left")
    table.add_column("strategy", no_wrap=True)
    for group, count in counts.items():
        table.add_column(escape(f"{group} ({count})"), justify="right")
    for result in results:
        table.add_row(escape(result["strategy"]), *(_share(result["recall"], group, cut) for group in counts))
    return table


def _differences(results: Sequence[Mapping[str, Any]], group: str, cut: int) -> Table:
    base = results[0]
    table = Table(
        title=escape(f"recall@{cut} against {base['strategy']}, paired bootstrap over conversations"),
        title_justify="left",
    )
    for heading in ("strategy", "difference", "95% interval"):
        table.add_column(heading, justify="left" if heading == "strategy" else "right")
    for result in results[1:]:
        found = compare(result, base, k=cut, group=group)
        table.add_row(escape(result["strategy"]), f"{found.mean:+.3f}", f"{found.low:+.3f} … {found.high:+.3f}")
    return table


def _footer(results: Sequence[Mapping[str, Any]]) -> list[str]:
    first = results[0]
    speed = first["ingest_steps_per_s"]
    lines = [f"stored at {speed:,.0f} steps/s" if speed else "storing took no measurable time"]
    if first["skipped_questions"]:
        lines.append(f"{first['skipped_questions']} question(s) without usable evidence: not scored")
    lines += [f"note: {note}" for note in first["notes"]]
    for result in results:
        lines += [f"degraded, {result['strategy']}: {what} ({count}×)" for what, count in result["degraded"].items()]
    return lines


def _share(table: Mapping[str, Any] | None, group: str, k: str) -> str:
    row = table.get(group) if table else None
    return "–" if row is None else f"{row[k]:.3f}"
