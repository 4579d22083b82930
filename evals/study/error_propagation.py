"""How errors of the choice come through: regret, and what forced flips of the operations cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.configurations import Table, operation_table, pipeline_table
from hexamem.evals.study.gate import gate_choices
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.operating import CHOICES, THRESHOLD, chosen_operations
from hexamem.evals.study.oracle import recovered_share
from hexamem.evals.study.records import CUT, Observed, mean
from hexamem.evals.study.sections import Curve, Drawing, Section, StudyTable, interval_data, shown, shown_interval
from hexamem.retrieval.operations import NAMES

__all__ = ["RATES", "error_propagation", "expected_under_flips", "propagation_coefficient"]

RATES = (0.1, 0.25, 0.5, 1.0)
_FLIPPED = tuple(name for name in NAMES if name != THRESHOLD)
_BITS = np.array([[name in one for name in _FLIPPED] for one in CHOICES])


def propagation_coefficient(loss: float, error: float) -> float | None:
    """Recall lost for each unit of error in the choice: ``Δ recall / Δ error``.

    1 means that errors of the gate come through whole, 0 that the ranking does not mind them. None where there was no
    error to come through: then nothing is divided by 0.
    """
    return None if abs(error) < 1e-9 else loss / error


def expected_under_flips(
    recall: npt.NDArray[np.float64], chosen: Sequence[int], chances: Sequence[float]
) -> npt.NDArray[np.float64]:
    """The expected recall of each question where every operation of its configuration is flipped by chance, exactly.

    Args:
        recall: of each configuration, ``(n, 16)``.
        chosen: places of the configurations that the gate took, ``n``.
        chances: that each of the four operations is flipped.
    """
    flips = _BITS[list(chosen)][:, None, :] != _BITS[None, :, :]
    chance = np.asarray(chances)
    weights = np.where(flips, chance, 1 - chance).prod(axis=2)
    return np.asarray((weights * recall).sum(axis=1), np.float64)


def error_propagation(lab: Laboratory) -> Section:
    """Regret against the oracle, the recovered share of its gap, and recall under forced flips."""
    if not lab.rankers:
        return Section(
            name="errors",
            title="Error propagation",
            remarks=["not run: it takes weights trained on other conversations, and there is only one"],
        )
    data: dict[str, Any] = {}
    regrets: list[list[str]] = []
    flips: list[list[str]] = []
    choices: list[list[str]] = []
    curves: list[Curve] = []
    for name, observed in lab.sets.items():
        places = [CHOICES.index(chosen_operations(lab.rankers[one.talk.id], one) - {THRESHOLD}) for one in observed]
        operations = operation_table(lab, observed)
        recall = np.stack(list(operations.values()), axis=1)
        achieved = recall[np.arange(len(places)), places]
        families: dict[str, tuple[Table, npt.NDArray[np.float64]]] = {"operations": (operations, achieved)}
        if (choice := gate_choices(lab, observed)) is not None:
            families["fixed rankings"] = pipeline_table(observed), choice[1]
        found: dict[str, Any] = {"regret": {}, "choice": {}}
        for family, (table, reached) in families.items():
            values = np.array(list(table.values()))
            found["regret"][family] = _regret(lab, observed, values, reached)
            found["choice"][family] = _choice(values, reached)
            regrets.append([name, family, *(shown(found["regret"][family][key]) for key in _REGRET)])
            choices.append([name, family, *(shown(found["choice"][family][key]) for key in _CHOICE)])
        found["flips"], flip_rows = _flips(lab, observed, recall, places)
        flips += [[name, *row] for row in flip_rows]
        curves.append(_curve(name, float(achieved.mean()), found["flips"]))
        data[name] = found
    return Section(
        name="errors",
        title="Error propagation",
        about=(
            "Two gates: the trained one that switches the operations of the learned ranking, and a ridge regression that "
            f"chooses a fixed ranking. Regret: recall@{CUT} of the oracle over the same configurations less what the gate gets; "
            "`positive` counts only the questions on which something is lost. Coefficient: recall lost for each wrong choice "
            "(one where another configuration would have found more), beside that of choosing at random; `forced` is the "
            "recall where so many choices are replaced by a wrong one at random. Flips: every operation of the chosen set is "
            "turned to its opposite with the chance named, the expectation taken exactly; `error` is the share of operations "
            "flipped, and the coefficient recall lost for each unit of it. A dash stands where there was no error to divide by."
        ),
        data=data,
        tables=[
            StudyTable("Regret", ("data set", "configurations", *_REGRET), regrets),
            StudyTable("Choice of a configuration", ("data set", "configurations", *_CHOICE), choices),
            StudyTable(
                "Forced flips", ("data set", "flipped", "error", f"recall@{CUT}", "change", "coefficient"), flips
            ),
        ],
        drawings=[
            Drawing(
                name="errors",
                title="Recall under forced flips of operations",
                x_label="share of operations flipped",
                y_label=f"recall@{CUT}",
                curves=curves,
            )
        ],
    )


_REGRET = ("oracle", "achieved", "regret", "positive", "questions with regret", "recovered share")
_CHOICE = (
    "wrong choices",
    "recall where right",
    "recall where wrong",
    "coefficient",
    "coefficient at random",
    *(f"forced {rate:.0%}" for rate in RATES),
)


def _forced() -> dict[str, list[float]]:
    """What is flipped, with the chance of each operation."""
    every = {f"{rate:.0%}": [rate] * len(_FLIPPED) for rate in RATES}
    return every | {f"{name} alone": [float(name == one) for one in _FLIPPED] for name in _FLIPPED}


def _flips(
    lab: Laboratory, observed: Sequence[Observed], recall: npt.NDArray[np.float64], places: Sequence[int]
) -> tuple[dict[str, dict[str, Any]], list[list[str]]]:
    """What each kind of flip costs; arguments as of :func:`expected_under_flips`."""
    achieved = recall[np.arange(len(places)), places]
    data: dict[str, dict[str, Any]] = {}
    rows: list[list[str]] = []
    for label, chances in _forced().items():
        values = expected_under_flips(recall, places, chances)
        error, found = float(np.mean(chances)), float(values.mean())
        change = lab.difference(observed, values, achieved)
        coefficient = propagation_coefficient(float((achieved - values).mean()), error)
        data[label] = {
            "error": error,
            "recall": found,
            "change": interval_data(change),
            "coefficient": coefficient,
        }
        rows.append([label, shown(error), shown(found), shown_interval(change), shown(coefficient)])
    return data, rows


def _curve(name: str, achieved: float, flips: Mapping[str, Mapping[str, Any]]) -> Curve:
    """Recall by the share of operations flipped, from none on."""
    told = [flips[f"{rate:.0%}"] for rate in RATES]
    return Curve(name=name, x=[0.0, *(one["error"] for one in told)], y=[achieved, *(one["recall"] for one in told)])


def _regret(
    lab: Laboratory,
    observed: Sequence[Observed],
    table: npt.NDArray[np.float64],
    achieved: npt.NDArray[np.float64],
) -> dict[str, Any]:
    best = table.max(axis=0)
    regret = best - achieved
    return {
        "oracle": float(best.mean()),
        "achieved": float(achieved.mean()),
        "regret": float(regret.mean()),
        "positive": float(np.maximum(regret, 0).mean()),
        "questions with regret": float((regret > 1e-9).mean()),
        "recovered share": recovered_share(float(achieved.mean()), float(table.mean(axis=1).max()), float(best.mean())),
        "regret_interval": interval_data(lab.difference(observed, best, achieved)),
    }


def _choice(table: npt.NDArray[np.float64], achieved: npt.NDArray[np.float64]) -> dict[str, float | None]:
    """What wrong choices cost: a choice is wrong where another configuration would have found more."""
    best = table.max(axis=0)
    worse = table < best - 1e-9
    wrong = achieved < best - 1e-9
    # A question that all configurations answer alike cannot be chosen wrongly.
    at_fault = np.where(worse.any(axis=0), (table * worse).sum(axis=0) / np.maximum(worse.sum(axis=0), 1), best)
    lost_at_random = float((best - table.mean(axis=0)).mean())
    return {
        "wrong choices": float(wrong.mean()),
        "recall where right": mean(achieved[~wrong]),
        "recall where wrong": mean(achieved[wrong]),
        "coefficient": propagation_coefficient(float((best - achieved).mean()), float(wrong.mean())),
        "coefficient at random": propagation_coefficient(lost_at_random, float(worse.mean())),
        **{f"forced {rate:.0%}": float(((1 - rate) * achieved + rate * at_fault).mean()) for rate in RATES},
    }
