"""Shows what :func:`~.runner.evaluate` measured: tables for people, a JSON file for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hexamem.errors import InvalidInputError
from hexamem.evals.runner import compare

__all__ = ["print_report", "print_sizes", "write_json"]

_CUT = 10
_CUT_OF_SIZES = 20


def print_report(results: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """Print the results of one evaluation: a row a strategy.

    The first table has recall at every cut-off, nDCG and latency, for categories 1-4 where the data has them, else
    for all questions. The second has recall@10 (or at the cut-off next to it) by category. With several strategies
    and conversations a third compares each with the first, by paired bootstrap. LongMemEval's own metrics have a table
    of their own. Where labels were compared with gold
    ones a last table says how far they agree. Below stand what was skipped, every note and every fallback.

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
    if first.get("published"):
        console.print(_published(results))
    if first.get("scope") or first.get("events"):
        console.print(_agreement(first))
    for line in _footer(results):
        console.print(escape(line), highlight=False)


def print_sizes(results: Sequence[Mapping[str, Any]], console: Console | None = None) -> None:
    """Print recall@20 (or at the cut-off next to it) by ``size`` and strategy: what length alone costs.

    Args:
        results: objects of several evaluations, each with a key ``size``, in the order to show.
        console: where to; standard error by default.

    Raises:
        InvalidInputError: there are no results.
    """
    if not results:
        raise InvalidInputError("there are no results to show")
    cut = min(results[0]["recall"]["all"], key=lambda k: abs(int(k) - _CUT_OF_SIZES))
    sizes = list(dict.fromkeys(result["size"] for result in results))
    steps = {result["size"]: result["n_steps"] // result["n_conversations"] for result in results}
    table = Table(title=f"recall@{cut} by size (turns a trajectory)", title_justify="left")
    table.add_column("strategy", no_wrap=True)
    for size in sizes:
        table.add_column(escape(f"{size} ({steps[size]})"), justify="right")
    for strategy in dict.fromkeys(result["strategy"] for result in results):
        mine = {result["size"]: result["recall"] for result in results if result["strategy"] == strategy}
        table.add_row(escape(strategy), *(_share(mine.get(size), "all", cut) for size in sizes))
    (console or Console(stderr=True)).print(table)


def write_json(results: Sequence[Mapping[str, Any]] | Mapping[str, Any], path: str | Path) -> None:
    """Write the results as a JSON list, one object a strategy, or as one object; UTF-8.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    data = results if isinstance(results, Mapping) else list(results)
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _overview(results: Sequence[Mapping[str, Any]], group: str, cuts: Sequence[str], cut: str) -> Table:
    first = results[0]
    size = f" {first['size']}" if "size" in first else ""
    which = "all categories" if group == "all" else f"categories {group}"
    table = Table(
        title=escape(
            f"{first['dataset']}{size}: {which}, {first['counts'][group]} questions, {first['n_steps']} steps"
        ),
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


def _published(results: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title="LongMemEval's own metrics (turns of the user)", title_justify="left")
    cuts = ("5", "10", "50")
    for heading in ("strategy", "level", "metric", *(f"@{k}" for k in cuts)):
        table.add_column(heading, justify="right" if heading.startswith("@") else "left", no_wrap=True)
    for result in results:
        for level in ("session", "turn"):
            for metric in ("recall_any", "recall_all", "ndcg_any"):
                found = (result["published"] or {}).get(f"{level}_{metric}")
                table.add_row(escape(result["strategy"]), level, metric, *(_share(found, "all", k) for k in cuts))
    return table


def _agreement(result: Mapping[str, Any]) -> Table:
    scope, events = result.get("scope"), result.get("events")
    best = scope.get("best_level") if scope else None
    table = Table(title="induced labels against gold labels", title_justify="left")
    table.add_column("labels", no_wrap=True)
    for heading in ("AMI", "V", "homo-\ngeneity", "complete-\nness", "labels", "gold", "steps", "without\na label"):
        table.add_column(heading, justify="right")
    rows = {"scope": scope, "event type": events}
    if best and best["level"] != "all":
        rows[f"scope, outer {best['level']} level(s)"] = best
    for name, found in rows.items():
        if found:
            scores = (found[key] for key in ("ami", "v_measure", "homogeneity", "completeness"))
            counts = (found[key] for key in ("n_labels", "n_gold", "n_steps", "n_unlabelled"))
            shown = ("–" if score is None else f"{score:.3f}" for score in scores)
            table.add_row(name, *shown, *(str(count) for count in counts))
    return table


def _footer(results: Sequence[Mapping[str, Any]]) -> list[str]:
    first = results[0]
    speed = first["ingest_steps_per_s"]
    lines = [f"stored at {speed:,.0f} steps/s" if speed else "storing took no measurable time"]
    if first["skipped_questions"]:
        lines.append(f"{first['skipped_questions']} question(s) without usable evidence: not scored")
    lines += [f"note: {note}" for note in first["notes"]]
    for name in ("scope", "events"):
        if (first.get(name) or {}).get("note"):
            lines.append(f"note: agreement of {name}: {first[name]['note']}")
    for result in results:
        lines += [f"degraded, {result['strategy']}: {what} ({count}×)" for what, count in result["degraded"].items()]
    return lines


def _share(table: Mapping[str, Any] | None, group: str, k: str) -> str:
    row = table.get(group) if table else None
    return "–" if row is None else f"{row[k]:.3f}"
