"""Shows what :func:`~.runner.evaluate` and :func:`~.ruler_run.evaluate_ruler` measured: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hexamem.errors import InvalidInputError
from hexamem.evals.ruler import FAMILIES
from hexamem.evals.runner import compare

__all__ = ["print_report", "print_ruler", "print_sizes", "write_json"]

_Results = Sequence[Mapping[str, Any]]
_CUT, _CUT_OF_SIZES = 10, 20


def print_report(results: _Results, console: Console | None = None) -> None:
    """Print the results of one evaluation: a row a strategy.

    The first table has recall at every cut-off, nDCG and latency, for categories 1-4 where the data has them, else
    for all questions. The second has recall@10 (or at the cut-off next to it) by category. With several strategies
    and conversations a third compares each with the first, by paired bootstrap. LongMemEval's own metrics have a table
    of their own; where labels were compared with gold ones a last table shows how far they agree. What was skipped,
    every note and every fallback follow.

    Args:
        results: what ``evaluate`` returned, at least one.
        console: where to; standard error by default, since standard output is for the result alone.

    Raises:
        InvalidInputError: there are no results.
    """
    console = _console(results, console)
    first = results[0]
    group = "1-4" if first["recall"].get("1-4") else "all"
    cut = _nearest(first, _CUT)
    counts: Mapping[str, int] = first["counts"]
    console.print(_overview(results, group, cut))
    console.print(
        _table(
            f"recall@{cut} by category (number of questions)",
            ("strategy", *(f"{name} ({count})" for name, count in counts.items())),
            ([result["strategy"], *(_share(result["recall"], name, cut) for name in counts)] for result in results),
        )
    )
    # One conversation has no spread over conversations.
    if len(results) > 1 and sum(group in groups for groups in first["by_conversation"].values()) > 1:
        differences = ((result["strategy"], compare(result, first, k=int(cut), group=group)) for result in results[1:])
        console.print(
            _table(
                f"recall@{cut} against {first['strategy']}, paired bootstrap over conversations",
                ("strategy", "difference", "95% interval"),
                ([name, f"{gap.mean:+.3f}", f"{gap.low:+.3f} … {gap.high:+.3f}"] for name, gap in differences),
            )
        )
    if first.get("published"):
        console.print(_published(results))
    if first.get("scope") or first.get("events"):
        console.print(_agreement(first))
    for line in _footer(results):
        console.print(escape(line), highlight=False)


def print_sizes(results: _Results, console: Console | None = None) -> None:
    """Print recall@20 (or at the cut-off next to it) by ``size`` and strategy: what length alone costs.

    Args:
        results: objects of several evaluations, each with a key ``size``, in the order to show.
        console: where to; standard error by default.

    Raises:
        InvalidInputError: there are no results.
    """
    console = _console(results, console)
    cut = _nearest(results[0], _CUT_OF_SIZES)
    steps = {result["size"]: result["n_steps"] // result["n_conversations"] for result in results}
    recall = {(result["strategy"], result["size"]): result["recall"] for result in results}
    console.print(
        _table(
            f"recall@{cut} by size (turns a trajectory)",
            ("strategy", *(f"{size} ({count})" for size, count in steps.items())),
            (
                [strategy, *(_share(recall.get((strategy, size)), "all", cut) for size in steps)]
                for strategy in dict.fromkeys(result["strategy"] for result in results)
            ),
        )
    )


def print_ruler(results: _Results, console: Console | None = None) -> None:
    """Print RULER's scores: a row a task and family, a column a length; then what they cost in returned tokens.

    Args:
        results: what ``evaluate_ruler`` returned, at least one.
        console: where to; standard error by default.

    Raises:
        InvalidInputError: there are no results.
    """
    console = _console(results, console)
    for result in results:
        console.print(_ruler(result))
    lines = [
        "needles and variable tracking: share of the gold values in what was returned (its tokens in brackets), and in "
        "all that was read where that differs; aggregation: the most frequent words of what was read"
    ]
    for result in results:
        p50, p95 = result["latency_ms"].values()
        lines += [f"{result['strategy']}: p50 {p50:.1f} ms, p95 {p95:.1f} ms", *_degraded(result)]
    speed = results[0]["ingest_steps_per_s"]
    for line in [*lines, *([f"stored at {speed:,.0f} steps/s"] if speed else [])]:
        console.print(escape(line), highlight=False)


def write_json(results: _Results | Mapping[str, Any], path: str | Path) -> None:
    """Write the results as a JSON list, one object a strategy, or as one object; UTF-8.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    data = results if isinstance(results, Mapping) else list(results)
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _console(results: _Results, console: Console | None) -> Console:
    if not results:
        raise InvalidInputError("there are no results to show")
    return console or Console(stderr=True)


def _nearest(result: Mapping[str, Any], cut: int) -> str:
    cuts: Iterable[str] = result["recall"]["all"]
    return min(cuts, key=lambda k: abs(int(k) - cut))


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, names: int = 1) -> Table:
    """A table of text; columns after the first ``names`` are flush right."""
    table = Table(title=escape(title), title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(escape(heading), justify="left" if number < names else "right", no_wrap=number < names)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _overview(results: _Results, group: str, cut: str) -> Table:
    first = results[0]
    size = f" {first['size']}" if "size" in first else ""
    which = "all categories" if group == "all" else f"categories {group}"
    cuts = list(first["recall"]["all"])
    return _table(
        f"{first['dataset']}{size}: {which}, {first['counts'][group]} questions, {first['n_steps']} steps",
        ("strategy", *(f"recall\n@{k}" for k in cuts), f"nDCG\n@{cut}", "p50\nms", "p95\nms"),
        (
            [
                result["strategy"],
                *(_share(result["recall"], group, k) for k in cuts),
                _share(result["ndcg"], group, cut),
                *(f"{result['latency_ms'][name]:.1f}" for name in ("p50", "p95")),
            ]
            for result in results
        ),
    )


def _published(results: _Results) -> Table:
    cuts = ("5", "10", "50")
    rows = (
        [result["strategy"], level, metric, *(_share(result["published"][f"{level}_{metric}"], "all", k) for k in cuts)]
        for result in results
        for level in ("session", "turn")
        for metric in ("recall_any", "recall_all", "ndcg_any")
    )
    headings = ("strategy", "level", "metric", *(f"@{k}" for k in cuts))
    return _table("LongMemEval's own metrics (turns of the user)", headings, rows, names=3)


def _agreement(result: Mapping[str, Any]) -> Table:
    scope, events = result.get("scope"), result.get("events")
    rows = {"scope": scope, "event type": events}
    scores = ("ami", "v_measure", "homogeneity", "completeness")
    counts = ("n_labels", "n_gold", "n_steps", "n_unlabelled")
    return _table(
        "induced labels against gold labels",
        ("labels", "AMI", "V", "homo-\ngeneity", "complete-\nness", "labels", "gold", "steps", "without\na label"),
        (
            [
                name,
                *("–" if row[score] is None else f"{row[score]:.3f}" for score in scores),
                *(str(row[count]) for count in counts),
            ]
            for name, row in rows.items()
            if row
        ),
    )


def _footer(results: _Results) -> Iterator[str]:
    first = results[0]
    speed = first["ingest_steps_per_s"]
    yield f"stored at {speed:,.0f} steps/s" if speed else "storing took no measurable time"
    if first["skipped_questions"]:
        yield f"{first['skipped_questions']} question(s) without usable evidence: not scored"
    yield from (f"note: {note}" for note in first["notes"])
    for name in ("scope", "events"):
        if (first.get(name) or {}).get("note"):
            yield f"note: agreement of {name}: {first[name]['note']}"
    for result in results:
        yield from _degraded(result)


def _degraded(result: Mapping[str, Any]) -> Iterator[str]:
    return (f"degraded, {result['strategy']}: {what} ({count}×)" for what, count in result["degraded"].items())


def _share(table: Mapping[str, Any] | None, group: str, k: str) -> str:
    row = table.get(group) if table else None
    return "–" if row is None else f"{row[k]:.3f}"


def _ruler(result: Mapping[str, Any]) -> Table:
    tasks, families = result["tasks"], result["families"]
    table = _table(
        f"RULER, {result['form']}, {result['strategy']}: {result['n_questions']} questions",
        ("task", *(f"{int(length):,}" for length in tasks)),
        ([task, *(_cell(tasks[length][task], task) for length in tasks)] for task in next(iter(tasks.values()))),
    )
    table.add_section()
    for family in FAMILIES:
        scores = [families[length][family] for length in tasks]
        if any(score is not None for score in scores):
            table.add_row(family.replace("_", " "), *map(_percent, scores))
    return table


def _cell(row: Mapping[str, Any], task: str) -> str:
    cell = f"{_percent(row['score'])} ({row['context_tokens']:,.0f})"
    # Counted words are read from all passages anyway.
    more = task not in FAMILIES["aggregation"] and row["read"] != row["score"]
    return f"{cell}\nread {_percent(row['read'])} ({row['read_tokens']:,.0f})" if more else cell


def _percent(score: float | None) -> str:
    return "–" if score is None else f"{score:.1%}"
