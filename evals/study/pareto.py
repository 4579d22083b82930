"""Accuracy against tokens: what each ranking finds for what it costs, what is read and what is written both counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.main_comparison import arm_names
from hexamem.evals.study.records import Observed, arm_recalls, mean
from hexamem.evals.study.sections import Curve, Drawing, Section, StudyTable, shown

__all__ = ["frontier", "pareto"]

_CUTS = (1, 2, 5, 10, 20, 40)


def pareto(lab: Laboratory) -> Section:
    """Recall against tokens at several cut-offs, a curve an arm, and which points no other one beats."""
    data: dict[str, Any] = {}
    tables: list[StudyTable] = []
    drawings: list[Drawing] = []
    for number, (name, observed) in enumerate(lab.sets.items()):
        points = [_point(observed, arm, k) for arm in arm_names(observed) for k in _CUTS]
        best = frontier([(one["tokens"], one["recall"]) for one in points])
        for index, one in enumerate(points):
            one["on_frontier"] = index in best
        data[name] = points
        rows = [
            [
                f"{one['arm']} @{one['k']}",
                f"{one['read']:.0f}",
                f"{one['written']:.0f}",
                f"{one['model']:.0f}",
                shown(one["recall"]),
            ]
            for one in sorted((points[index] for index in best), key=lambda one: float(one["tokens"]))
        ]
        tables.append(
            StudyTable(
                f"{name}: points that no other beats",
                ("ranking", "read", "written", "of these by models", "recall"),
                rows,
            )
        )
        curves = []
        for arm in arm_names(observed):
            mine = [one for one in points if one["arm"] == arm]
            curves.append(Curve(name=arm, x=[one["tokens"] for one in mine], y=[one["recall"] for one in mine]))
        drawings.append(
            Drawing(
                name=f"pareto_{number + 1}",
                title=f"{name}: recall against tokens",
                x_label="tokens a question, read and written",
                y_label="recall of evidence turns",
                curves=curves,
                logarithmic=True,
            )
        )
    return Section(
        name="pareto",
        title="Accuracy against tokens",
        about=(
            "A point is a ranking cut at 1, 2, 5, 10, 20 or 40 turns. Read: the turns in the prompt of whoever answers, and "
            "what models read while searching. Written: what models wrote while searching, and all that they read and wrote "
            "when the conversation was stored, shared among its questions. With rules nothing is written."
        ),
        data=data,
        tables=tables,
        drawings=drawings,
    )


def _point(observed: Sequence[Observed], arm: str, k: int) -> dict[str, Any]:
    asked = Counter(one.talk.id for one in observed)
    context = np.array([one.tokens_of(one.rankings[arm].turns[:k]) for one in observed], float)
    usages = [one.rankings[arm].usage for one in observed]
    read = np.array([one.input_tokens for one in usages], float)
    stored = np.array([one.talk.written / asked[one.talk.id] for one in observed], float)
    written = np.array([one.output_tokens for one in usages], float) + stored
    return {
        "arm": arm,
        "k": k,
        "recall": mean(arm_recalls(observed, arm, k)),
        "read": float((context + read).mean()),
        "written": float(written.mean()),
        "model": float((read + written).mean()),
        "tokens": float((context + read + written).mean()),
    }


def frontier(points: Sequence[tuple[float, float]]) -> set[int]:
    """Places of the points (cost, worth) that no other one beats: none costs no more, is worth no less and is better in one."""
    return {
        index
        for index, (cost, worth) in enumerate(points)
        if not any(
            other <= cost and value >= worth and (other < cost or value > worth)
            for place, (other, value) in enumerate(points)
            if place != index
        )
    }
