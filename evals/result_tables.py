"""The tables of each measurement, from the JSON-ready results that it returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexamem.evals.report import Row, Section
from hexamem.evals.ruler import FAMILIES
from hexamem.evals.runner import compare

__all__ = ["answers_section", "retrieval_section", "ruler_section", "sizes_section", "write_path_section"]

Results = Sequence[Mapping[str, Any]]
_CUT, _CUT_OF_SIZES = 10, 20
_COUNTS = ("right", "stored", "precision", "found", "expected", "recall")


def retrieval_section(results: Results) -> Section:
    """What :func:`~.runner.evaluate` returned, a row a strategy.

    Recall at every cut-off, nDCG and latency, for categories 1-4 where the data has them, else for all questions; recall@10
    by category; with several strategies and conversations the difference of each to the first, by paired bootstrap;
    agreement of labels with gold ones. The remarks name what was not scored and what fell back.
    """
    first = results[0]
    group = "1-4" if first["recall"].get("1-4") else "all"
    cut = _nearest(first, _CUT)
    counts: Mapping[str, int] = first["counts"]
    size = f" {first['size']}" if "size" in first else ""
    which = "all categories" if group == "all" else f"categories {group}"
    title = f"{first['dataset']}{size}: {which}, {counts[group]} questions, {first['n_steps']} steps"
    tables: dict[str, list[Row]] = {
        title: [
            {
                "strategy": result["strategy"],
                **{f"recall\n@{k}": _share(result["recall"], group, k) for k in first["recall"]["all"]},
                f"nDCG\n@{cut}": _share(result["ndcg"], group, cut),
                **{f"{name}\nms": f"{result['latency_ms'][name]:.1f}" for name in ("p50", "p95")},
            }
            for result in results
        ],
        f"recall@{cut} by category (number of questions)": [
            {
                "strategy": result["strategy"],
                **{f"{name} ({count})": _share(result["recall"], name, cut) for name, count in counts.items()},
            }
            for result in results
        ],
    }
    # One conversation has no spread over conversations.
    if len(results) > 1 and sum(group in groups for groups in first["by_conversation"].values()) > 1:
        tables[f"recall@{cut} against {first['strategy']}, paired bootstrap over conversations"] = [
            {"strategy": result["strategy"], "difference": compare(result, first, k=int(cut), group=group)}
            for result in results[1:]
        ]
    if agreement := [(name, first[name]) for name in ("scope", "events") if first.get(name)]:
        tables["induced labels against gold labels"] = [
            {"labels": name, **{column: cell for column, cell in row.items() if column != "note"}}
            for name, row in agreement
        ]
    return Section(name=first["dataset"], tables=tables, remarks=[*_remarks(results)])


def sizes_section(results: Results) -> Section:
    """Recall@20 by ``size`` and strategy: what length alone costs."""
    cut = _nearest(results[0], _CUT_OF_SIZES)
    rows: dict[str, dict[str, Any]] = {}
    for result in results:
        row = rows.setdefault(result["strategy"], {"strategy": result["strategy"]})
        size = f"{result['size']} ({result['n_steps'] // result['n_conversations']})"
        row[size] = _share(result["recall"], "all", cut)
    return Section(name="sizes", tables={f"recall@{cut} by size (turns a trajectory)": [*rows.values()]})


def ruler_section(results: Results) -> Section:
    """What :func:`~.ruler_run.evaluate_ruler` returned: a row a task and family, a column a length."""
    tables: dict[str, list[Row]] = {}
    remarks = [
        "needles and variable tracking: share of the gold values in what was returned (its tokens in brackets), and in "
        "all that was read where that differs; aggregation: the most frequent words of what was read"
    ]
    for result in results:
        tasks, families = result["tasks"], result["families"]
        rows: list[Row] = [
            {"task": task, **{f"{int(length):,}": _cell(tasks[length][task], task) for length in tasks}}
            for task in next(iter(tasks.values()))
        ]
        rows += [
            {
                "task": family.replace("_", " "),
                **{f"{int(length):,}": _percent(families[length][family]) for length in tasks},
            }
            for family in FAMILIES
            if any(families[length][family] is not None for length in tasks)
        ]
        tables[f"RULER, {result['form']}, {result['strategy']}: {result['n_questions']} questions"] = rows
        p50, p95 = result["latency_ms"].values()
        remarks += [f"{result['strategy']}: p50 {p50:.1f} ms, p95 {p95:.1f} ms", *_degraded(result)]
    speed = results[0]["ingest_steps_per_s"]
    return Section(name="ruler", tables=tables, remarks=[*remarks, *([_speed(speed)] if speed else [])])


def answers_section(result: Mapping[str, Any]) -> Section:
    """What :func:`~.answers.evaluate_answers` returned: the scores by category, then what they cost."""
    counts = result["counts"]
    rows = [
        {"score": name, **{f"{group} ({number})": row[group] for group, number in counts.items()}}
        for name, row in result["scores"].items()
    ]
    p50, p95 = (result["latency_ms"][name] / 1_000 for name in ("p50", "p95"))
    remarks = [
        f"{result['llm_calls']} calls and {result['llm_tokens']:,} tokens to answer {result['n_questions']} questions; "
        f"p50 {p50:.1f} s, p95 {p95:.1f} s"
    ]
    if result["judge_calls"]:
        remarks.append(f"{result['judge_calls']} calls and {result['judge_tokens']:,} tokens to judge them")
    remarks += [*(f"note: {note}" for note in result["notes"]), *_degraded(result)]
    title = f"{result['dataset']}: answers of {result['model']}, {result['rounds']} round(s)"
    return Section(name="answers", tables={title: rows}, remarks=remarks)


def write_path_section(report: Mapping[str, Any]) -> Section:
    """Precision and recall by kind and language, then what was missed and what is wrong, by case."""
    languages = {f"[{name}]": row for name, row in report["languages"].items()}
    measured = {"all": report["total"], **report["kinds"], **languages}
    rows = [{"": name, **{column: row[column] for column in _COUNTS}} for name, row in measured.items()]
    remarks = [f"{name}: {counts['found']} of {counts['expected']} found" for name, counts in report["parts"].items()]
    for name in ("scope", "events"):
        if (agreement := report[name]) is not None and agreement["ami"] is not None:
            remarks.append(
                f"{name}: AMI {agreement['ami']:.2f} with the annotated ones, over {agreement['n_steps']} steps"
            )
    if (research := report["research"]) is not None and report["answers"]:
        overlap = sum(row["f1"] for row in report["answers"]) / len(report["answers"])
        remarks.append(
            f"research: {research['questions']} questions, word overlap {overlap:.2f}, {research['calls']} calls, "
            f"{research['input_tokens'] + research['output_tokens']:,} tokens"
        )
    if report["calls"]:
        remarks.append(f"storing: {report['calls']} calls, {report['input_tokens'] + report['output_tokens']:,} tokens")
    for title, key in (("Missed", "misses"), ("Wrong", "wrong")):
        remarks += ["", f"{title}:"] if report[key] else []
        for entry in report[key]:
            content = ", ".join(entry["values"]) if key == "misses" else " / ".join(entry["text"].splitlines())
            aside = "".join(f" ({text})" for text in (entry["why"], entry.get("near")) if text)
            remarks.append(f"  {entry['case']}  {entry['kind']}: {content}{aside}")
    title = f"{report['file']}: {report['cases']} cases, mode {report['mode']}"
    return Section(name="writepath", tables={title: rows}, remarks=remarks)


def _nearest(result: Mapping[str, Any], cut: int) -> str:
    cuts: Mapping[str, Any] = result["recall"]["all"]
    return min(cuts, key=lambda k: abs(int(k) - cut))


def _remarks(results: Results) -> Iterator[str]:
    first = results[0]
    speed = first["ingest_steps_per_s"]
    yield _speed(speed) if speed else "storing took no measurable time"
    if first["skipped_questions"]:
        yield f"{first['skipped_questions']} question(s) without usable evidence: not scored"
    yield from (f"note: {note}" for note in first["notes"])
    for name in ("scope", "events"):
        if (first.get(name) or {}).get("note"):
            yield f"note: agreement of {name}: {first[name]['note']}"
    for result in results:
        yield from _degraded(result)


def _speed(steps_a_second: float) -> str:
    return f"stored at {steps_a_second:,.0f} steps/s"


def _degraded(result: Mapping[str, Any]) -> list[str]:
    return [f"degraded, {result['strategy']}: {what} ({count}×)" for what, count in result["degraded"].items()]


def _share(table: Mapping[str, Any] | None, group: str, k: str) -> float | None:
    row = table.get(group) if table else None
    return None if row is None else row[k]


def _cell(row: Mapping[str, Any], task: str) -> str:
    cell = f"{_percent(row['score'])} ({row['context_tokens']:,.0f})"
    # Counted words are read from all passages anyway.
    more = task not in FAMILIES["aggregation"] and row["read"] != row["score"]
    return f"{cell}\nread {_percent(row['read'])} ({row['read_tokens']:,.0f})" if more else cell


def _percent(score: float | None) -> str:
    return "–" if score is None else f"{score:.1%}"
