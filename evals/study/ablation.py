"""What each part is worth: signals and operations taken away, and parts of the training left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.laboratory import Fold, Laboratory
from hexamem.evals.study.operating import CHOICES, THRESHOLD, chosen_operations
from hexamem.evals.study.records import CUT, Observed, halves, recalls
from hexamem.evals.study.sections import Drawing, Section, StudyTable, interval_data, shown, shown_interval
from hexamem.retrieval.gates import switched
from hexamem.retrieval.operations import NAMES
from hexamem.retrieval.ranker import SIGNALS, USUAL, Ranker, standardised
from hexamem.retrieval.signals.cues import operations_of
from hexamem.retrieval.signals.features import FEATURES, SIGNAL_OF

__all__ = ["COLUMNS_OF", "SWITCHES", "ablation"]

COLUMNS_OF: Mapping[str, tuple[int, ...]] = {
    signal: tuple(column for column, name in enumerate(FEATURES) if SIGNAL_OF[name] == signal) for signal in SIGNALS
}
"""Signal → the columns of its features."""
SWITCHES: Mapping[str, dict[str, Any]] = {
    "without the gate on signals": {"gate": 0},
    "without hidden units": {"hidden": 0},
    "without the prior of fusion": {"prior": 0.0},
    "without leaving signals out in training": {"drop_signals": 0.0},
}
"""Part of the scorer's training → settings that leave it out."""


def ablation(lab: Laboratory) -> Section:
    """Zero each signal at inference and in training, force each operation, and leave parts of the training out.

    All are measured on conversations that the weights were not trained on, in two halves. Trainings use at most 300
    questions each, those that they are compared with too.
    """
    parts = halves(lab.scored)
    if not parts:
        return Section(
            name="ablation",
            title="Ablations",
            remarks=["not run: it takes at least two conversations"],
        )
    observed = [one for held, _ in parts for one in held]
    full = [Fold(frozenset(one.talk.id for one in held), Ranker(lab.train(train))) for held, train in parts]
    whole = _measured(observed, full)
    rows: list[list[str]] = [["everything", shown(float(whole.mean())), "", ""]]
    data: dict[str, Any] = {"questions": len(observed), "everything": float(whole.mean()), "signals": {}}
    for signal, columns in COLUMNS_OF.items():
        silenced = _measured(observed, full, without=columns)
        again = [
            Fold(fold.held, Ranker(lab.train(train, without=columns)))
            for fold, (_, train) in zip(full, parts, strict=True)
        ]
        retrained = _measured(observed, again, without=columns)
        lost = [lab.difference(observed, values, whole) for values in (silenced, retrained)]
        rows.append([f"without {signal}", "", *map(shown_interval, lost)])
        data["signals"][signal] = {
            "zero_at_inference": interval_data(lost[0]),
            "retrained": interval_data(lost[1]),
        }
    data["operations"], operation_rows = _operations(lab)
    data["training"], training_rows = _trainings(lab, parts, observed, whole)
    return Section(
        name="ablation",
        title="Ablations",
        about=(
            f"Change of recall@{CUT} on held-out conversations (two halves, all data sets together), paired bootstrap over "
            "conversations. `zero at inference` takes a signal from weights that know it; `retrained` trains without it. "
            "Signals and training are of the scorer alone, without operations. Operations are those of the whole recall, by "
            "scorers and gates of other conversations (three parts)."
        ),
        data=data,
        tables=[
            StudyTable("Signals", ("ranking", f"recall@{CUT}", "zero at inference", "retrained"), rows),
            StudyTable(
                "Operations and the gate", ("ranking", f"recall@{CUT}", "change", "switched on"), operation_rows
            ),
            StudyTable("Training", ("ranking", f"recall@{CUT}", "change"), training_rows),
        ],
        drawings=[
            Drawing(
                name="ablation",
                title=f"Change of recall@{CUT} without a signal",
                x_label="",
                y_label="change",
                groups=list(COLUMNS_OF),
                bars={
                    kind: [(data["signals"][signal][kind] or {}).get("mean") for signal in COLUMNS_OF]
                    for kind in ("zero_at_inference", "retrained")
                },
            )
        ],
        remarks=[
            "filtering by threshold changes no ranking of a question that memory answers, so it is not in this table"
        ],
    )


def _measured(
    observed: Sequence[Observed],
    folds: Sequence[Fold],
    *,
    without: Sequence[int] = (),
    cues: Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]] | None = None,
) -> npt.NDArray[np.float64]:
    """Recall of each question by the fold that did not see it."""
    ranker_of = {talk: fold.ranker for fold in folds for talk in fold.held}

    def ranking(one: Observed) -> list[str]:
        ranker, features = ranker_of[one.talk.id], one.asked.features
        x = None
        if without and len(features.pool):
            x = standardised(features.values, ranker.weights.deviation)
            x[:, list(without)] = 0.0
        if cues is not None:
            features = replace(features, cues=cues(features.cues))
        return one.asked.ranked_turns(ranker.score(features, x))

    return recalls(observed, ranking)


def _operations(lab: Laboratory) -> tuple[dict[str, Any], list[list[str]]]:
    """Each operation always off and always on, the gate deciding the others; no gate; and the kind of the question alone."""
    if not lab.rankers:
        return {}, []
    tables = np.stack([one.recall for one in lab.tables])

    def found(on: Sequence[frozenset[str]]) -> npt.NDArray[np.float64]:
        columns = [CHOICES.index(one - {THRESHOLD}) for one in on]
        return np.asarray(tables[np.arange(len(columns)), columns], np.float64)

    def chosen(rankers: Mapping[str, Ranker]) -> list[frozenset[str]]:
        return [chosen_operations(rankers[one.talk.id], one) for one in lab.scored]

    by_gate = chosen(lab.rankers)
    whole = found(by_gate)
    ways: dict[str, npt.NDArray[np.float64]] = {}
    for name in [one for one in NAMES if one != THRESHOLD]:
        ways[f"without {name}"] = found([one - {name} for one in by_gate])
        ways[f"always {name}"] = found([one | {name} for one in by_gate])
    ways["without gate: the usual operations"] = found([USUAL] * len(by_gate))
    ways["without gate: all operations"] = found([frozenset(NAMES)] * len(by_gate))
    ways["without gate: no operation"] = found([frozenset()] * len(by_gate))
    ways["gate by the kind of the question alone"] = found(
        [switched(operations_of(one.asked.features.cues), {}) for one in lab.scored]
    )
    data: dict[str, Any] = {"gate": float(whole.mean())}
    rows = [["gate, trained", shown(float(whole.mean())), "", _share(by_gate)]]
    for name, values in ways.items():
        lost = lab.difference(lab.scored, values, whole)
        data[name] = {"recall": float(values.mean()), "change": interval_data(lost)}
        rows.append([name, shown(float(values.mean())), shown_interval(lost), ""])
    return data, rows


def _share(on: Sequence[frozenset[str]]) -> str:
    return ", ".join(f"{name} {np.mean([name in one for one in on]):.0%}" for name in NAMES if name != THRESHOLD)


def _trainings(
    lab: Laboratory,
    parts: Sequence[tuple[list[Observed], list[Observed]]],
    observed: Sequence[Observed],
    whole: npt.NDArray[np.float64],
) -> tuple[dict[str, Any], list[list[str]]]:
    data: dict[str, Any] = {}
    rows: list[list[str]] = []

    def add(name: str, folds: Sequence[Fold], **how: Any) -> None:
        values = _measured(observed, folds, **how)
        lost = lab.difference(observed, values, whole)
        data[name] = {"recall": float(values.mean()), "change": interval_data(lost)}
        rows.append([name, shown(float(values.mean())), shown_interval(lost)])

    def trained(**how: Any) -> list[Fold]:
        return [Fold(frozenset(one.talk.id for one in held), Ranker(lab.train(train, **how))) for held, train in parts]

    add("blind to the question (all cues 0)", trained(blind=True), cues=np.zeros_like)
    for name, changed in SWITCHES.items():
        add(name, trained(settings=replace(lab.settings, **changed)))
    return data, rows
