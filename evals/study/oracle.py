"""The upper bound of choosing: what an oracle reaches that knows the best configuration of every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.records import natural_key
from hexamem.evals.study.configurations import Table, operation_name, operation_table, pipeline_table
from hexamem.evals.study.gate import counts_of, gate_choices
from hexamem.evals.study.laboratory import HELD_OUT, SHIPPED, Laboratory
from hexamem.evals.study.operating import chosen_operations
from hexamem.evals.study.records import CUT, Observed, arm_recalls
from hexamem.evals.study.sections import Section, StudyTable, interval_data, shown, shown_interval

__all__ = ["oracle", "recovered_share"]

_TOO_SMALL = 1e-9


def recovered_share(achieved: float, fixed: float, best: float) -> float | None:
    """How much of the way from the best fixed configuration to the oracle was made; None where there is no way to go."""
    gap = best - fixed
    return None if gap < _TOO_SMALL else (achieved - fixed) / gap


def oracle(lab: Laboratory) -> Section:
    """The best configuration of each question, the best fixed one, the best of each type, and what is achieved."""
    data: dict[str, Any] = {}
    bounds: list[list[str]] = []
    rows: list[list[str]] = []
    for name, observed in lab.sets.items():
        data[name] = {}
        achieved: dict[str, npt.NDArray[np.float64]] = {
            arm: arm_recalls(observed, arm)
            for arm in (SHIPPED, HELD_OUT)
            if all(arm in one.rankings for one in observed)
        }
        families: dict[str, tuple[Table, dict[str, npt.NDArray[np.float64]]]] = {}
        pipelines = pipeline_table(observed)
        choice = gate_choices(lab, observed)
        families["fixed rankings"] = pipelines, ({} if choice is None else {"a gate among them": choice[1]}) | achieved
        if lab.unseen:
            operations = operation_table(lab, observed)
            families["operations"] = operations, {HELD_OUT: achieved[HELD_OUT]} if HELD_OUT in achieved else {}
        for family, (table, reached) in families.items():
            found = _bounds(lab, observed, table, reached)
            data[name][family] = found.data
            bounds.append([name, family, *found.bounds])
            rows += [[name, family, *row] for row in found.rows]
        if choice is not None:
            data[name]["fixed rankings"]["gate_chose"] = counts_of(choice[0])
        if lab.rankers:
            on = [
                operation_name(one.operable.plain(chosen_operations(lab.rankers[one.talk.id], one))) for one in observed
            ]
            data[name]["operations"]["gate_chose"] = counts_of(on)
    bound_columns = (
        "data set",
        "configurations",
        "best fixed",
        "by type, held out",
        "by type",
        "oracle",
        "above best fixed",
    )
    columns = ("data set", "configurations", "ranking", f"recall@{CUT}", "share of the gap", "against best fixed")
    return Section(
        name="oracle",
        title="Oracle upper bound",
        about=(
            "Configurations are either the fixed rankings, or the 16 sets of operations under which one learned scorer may "
            f"rank a question differently. The oracle takes for each question the one with the best recall@{CUT}: no gate that "
            "chooses among them can do better. `by type` takes the best of each type of question on the same questions; `held "
            "out` chooses it on the other conversations. A score for each candidate is not bound by the oracle of the fixed "
            "rankings: it may put together what none of them does."
        ),
        data=data,
        tables=[StudyTable("Bounds", bound_columns, bounds), StudyTable("Achieved", columns, rows)],
        remarks=[
            "`a gate among them`: a ridge regression on the question's cues and vector chooses one fixed ranking, trained on "
            "other conversations",
            f"`{HELD_OUT}` among the operations: the trained gate chooses; its scorer and its gate are of other conversations",
            "the best fixed configuration is chosen on the questions measured, which flatters it",
        ],
    )


@dataclass(frozen=True, slots=True)
class _Found:
    data: dict[str, Any]
    bounds: list[str]
    rows: list[list[str]]


def _bounds(
    lab: Laboratory, observed: Sequence[Observed], table: Table, reached: Mapping[str, npt.NDArray[np.float64]]
) -> _Found:
    best = np.max(list(table.values()), axis=0)
    name = max(table, key=lambda one: float(table[one].mean()))
    fixed = table[name]
    of_type, chosen = _by_type(observed, table)
    honest = _honest_by_type(observed, table)
    above = lab.difference(observed, best, fixed)
    data: dict[str, Any] = {
        "oracle": float(best.mean()),
        "best_fixed": {"name": name, "recall": float(fixed.mean())},
        "every_fixed": {one: float(values.mean()) for one, values in table.items()},
        "best_by_type": {"recall": float(of_type.mean()), "chosen": chosen, "held_out": honest},
        "oracle_against_fixed": interval_data(above),
        "achieved": {},
    }
    rows = []
    for arm, values in reached.items():
        against = lab.difference(observed, values, fixed)
        share = recovered_share(float(values.mean()), float(fixed.mean()), float(best.mean()))
        data["achieved"][arm] = {
            "recall": float(values.mean()),
            "recovered_share": share,
            "against_fixed": interval_data(against),
            "oracle_with_it": float(np.maximum(best, values).mean()),
        }
        rows.append([arm, shown(float(values.mean())), shown(share), shown_interval(against)])
    told = [
        f"{shown(float(fixed.mean()))} ({name})",
        shown(honest),
        shown(float(of_type.mean())),
        shown(float(best.mean())),
    ]
    return _Found(data, [*told, shown_interval(above)], rows)


def _by_type(observed: Sequence[Observed], table: Table) -> tuple[npt.NDArray[np.float64], dict[str, str]]:
    found = np.zeros(len(observed))
    chosen: dict[str, str] = {}
    types = np.array([one.asked.question.category for one in observed])
    for kind in sorted(set(types.tolist()), key=natural_key):
        rows = types == kind
        chosen[kind] = _best_on(table, rows)
        found[rows] = table[chosen[kind]][rows]
    return found, chosen


def _best_on(table: Table, rows: npt.NDArray[np.bool_]) -> str:
    return max(table, key=lambda name: float(table[name][rows].mean()))


def _honest_by_type(observed: Sequence[Observed], table: Table) -> float | None:
    """As by type, where the configuration of a type is chosen on the other conversations; None for one conversation."""
    talks = np.array([one.talk.id for one in observed])
    types = np.array([one.asked.question.category for one in observed])
    if len(set(talks.tolist())) < 2:
        return None
    found = np.zeros(len(observed))
    chosen: dict[tuple[str, str], str] = {}
    for index, key in enumerate(zip(talks.tolist(), types.tolist(), strict=True)):
        if key not in chosen:
            others = (talks != key[0]) & (types == key[1])
            chosen[key] = _best_on(table, others if others.any() else talks != key[0])
        found[index] = table[chosen[key]][index]
    return float(found.mean())
