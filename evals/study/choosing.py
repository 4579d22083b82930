"""Choosing a configuration for each question: the tables of recall, by type of question, by a gate, and with errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.operating import CHOICES, THRESHOLD
from hexamem.evals.study.records import Observed, arm_recalls
from hexamem.retrieval.operations import NAMES

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = [
    "Gated",
    "Table",
    "achieved_by_gate",
    "best_on",
    "by_type",
    "by_type_held_out",
    "expected_under_flips",
    "fit_gate",
    "operation_names",
    "operation_table",
    "ranking_gate",
    "ranking_table",
]

Table: TypeAlias = Mapping[str, npt.NDArray[np.float64]]
"""Configuration → recall of every question."""
_PENALTIES = (1e6, 1e5, 1e4, 1e3, 1e2)
_PARTS = 3
_BITS = np.array([[name in choice for name in NAMES if name != THRESHOLD] for choice in CHOICES])


def ranking_table(lab: Laboratory, observed: Sequence[Observed]) -> Table:
    """Recall under every fixed ranking: those that no training shaped and no model drives."""
    fixed = [name for name in lab.arms(observed) if name in ARMS and not ARMS[name].model]
    return {name: arm_recalls(observed, name) for name in fixed}


def operation_table(lab: Laboratory, observed: Sequence[Observed]) -> Table:
    """Recall under every set of operations, by scorers that did not see the conversation."""
    values = lab.tables[[lab.row_of(one) for one in observed]]
    return {_name(choice): values[:, number] for number, choice in enumerate(CHOICES)}


def operation_names(lab: Laboratory, observed: Sequence[Observed]) -> list[str]:
    """The set of operations that the gate chooses for each question."""
    return [_name(lab.chosen(one) - {THRESHOLD}) for one in observed]


def achieved_by_gate(lab: Laboratory, observed: Sequence[Observed]) -> tuple[list[int], npt.NDArray[np.float64]]:
    """The place in :data:`CHOICES` that the gate chooses for each question, and the recall under it."""
    places = [CHOICES.index(lab.chosen(one) - {THRESHOLD}) for one in observed]
    recall = lab.tables[[lab.row_of(one) for one in observed], places]
    return places, recall


def _name(on: frozenset[str]) -> str:
    return " + ".join(sorted(on)) or "none"


def best_on(table: Table, rows: npt.NDArray[np.bool_] | slice = slice(None)) -> str:
    """The configuration with the best mean recall on some questions."""
    return max(table, key=lambda name: float(table[name][rows].mean()))


def by_type(observed: Sequence[Observed], table: Table) -> npt.NDArray[np.float64]:
    """Recall of each question under the configuration that is best for its type."""
    types = np.array([one.asked.question.category for one in observed])
    best = {kind: best_on(table, types == kind) for kind in set(types.tolist())}
    return np.array([table[best[kind]][index] for index, kind in enumerate(types.tolist())])


def by_type_held_out(observed: Sequence[Observed], table: Table) -> float | None:
    """As by type, where the configuration of a type is chosen on the other conversations; None for one conversation."""
    talks = np.array([one.talk.id for one in observed])
    types = np.array([one.asked.question.category for one in observed])
    if len(set(talks.tolist())) < 2:
        return None
    best: dict[tuple[str, str], str] = {}
    for talk, kind in set(zip(talks.tolist(), types.tolist(), strict=True)):
        others = (talks != talk) & (types == kind)
        best[talk, kind] = best_on(table, others if others.any() else talks != talk)
    pairs = zip(talks.tolist(), types.tolist(), strict=True)
    return float(np.mean([table[best[pair]][index] for index, pair in enumerate(pairs)]))


class Gated(NamedTuple):
    """The configuration that a gate chose for each question, and the recall under it."""

    chosen: list[str]
    recall: npt.NDArray[np.float64]


def ranking_gate(lab: Laboratory, observed: Sequence[Observed]) -> Gated | None:
    """A gate that sees only the question and chooses a fixed ranking, trained on the other folds; None without folds."""
    if not lab.folds:
        return None
    table = ranking_table(lab, lab.scored)
    recall = np.stack(list(table.values()), axis=1)
    x = np.stack([np.concatenate([one.asked.features.cues, one.vector]) for one in lab.scored]).astype(np.float64)
    talks = np.array([one.talk.id for one in lab.scored])
    chosen = np.zeros(len(talks), np.int64)
    for fold in lab.folds:
        held = np.isin(talks, list(fold.held))
        gate = fit_gate(x[~held], recall[~held], talks[~held].tolist())
        chosen[held] = gate.predict(x[held]).argmax(axis=1)
    rows = [lab.row_of(one) for one in observed]
    names = list(table)
    return Gated([names[place] for place in chosen[rows]], recall[rows, chosen[rows]])


def fit_gate(x: npt.NDArray[np.float64], recall: npt.NDArray[np.float64], groups: Sequence[str]) -> Pipeline:
    """A ridge regression from a question to the recall of each configuration, ``(n, d)`` to ``(n, c)``.

    Its penalty is the one under which the choice finds most on groups left out in turn, the greatest of equals: with a
    great one it takes what is best for all questions.
    """
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    gate = Pipeline([("scale", StandardScaler()), ("ridge", Ridge(alpha=_PENALTIES[0]))])
    parts = min(_PARTS, len(set(groups)))
    if parts < 2:
        return gate.fit(x, recall)

    def found(fitted: Pipeline, asked: npt.NDArray[np.float64], recalls: npt.NDArray[np.float64]) -> float:
        return round(float(recalls[np.arange(len(asked)), fitted.predict(asked).argmax(axis=1)].mean()), 9)

    search = GridSearchCV(gate, {"ridge__alpha": _PENALTIES}, scoring=found, cv=GroupKFold(parts))
    return search.fit(x, recall, groups=groups).best_estimator_


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
