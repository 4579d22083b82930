"""A gate that sees only the question and chooses one of the fixed configurations: what choosing, done by learning, is worth.

For each configuration a ridge regression from the question's cues and vector to its recall; the one with the highest
prediction is taken. How much it is held back is chosen by cross-validation among the conversations that it is trained on;
held back without end it takes what is best there for all questions. It is trained on other conversations than it is
measured on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.configurations import pipeline_table
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.records import Observed

__all__ = ["counts_of", "gate_choices"]

_RIDGES = (1e2, 1e3, 1e4, 1e5, 1e6)
_INNER = 3


def gate_choices(lab: Laboratory, observed: Sequence[Observed]) -> tuple[list[str], npt.NDArray[np.float64]] | None:
    """The configuration that the gate chooses for each question, and the recall it gets; None without folds.

    Args:
        observed: scored questions of the study; the training questions are all scored ones of the other folds.
    """
    if not lab.folds:
        return None
    table = pipeline_table(lab.scored)
    names = list(table)
    recall = np.stack([table[name] for name in names], axis=1)
    x = np.stack([np.concatenate([one.asked.features.cues, one.vector]) for one in lab.scored]).astype(np.float64)
    row = {id(one): index for index, one in enumerate(lab.scored)}
    chosen: dict[int, int] = {}
    for fold in lab.folds:
        held = np.array([one.talk.id in fold.held for one in lab.scored])
        if held.all() or not held.any():
            continue
        talks = [one.talk.id for one, out in zip(lab.scored, held, strict=True) if not out]
        predicted = _ridge(x[~held], recall[~held], x[held], _best_ridge(x[~held], recall[~held], talks))
        chosen.update(zip(np.flatnonzero(held).tolist(), predicted.argmax(axis=1).tolist(), strict=True))
    rows = [row[id(one)] for one in observed]
    return [names[chosen[index]] for index in rows], np.array([recall[index, chosen[index]] for index in rows])


def _best_ridge(x: npt.NDArray[np.float64], recall: npt.NDArray[np.float64], talks: Sequence[str]) -> float:
    """The penalty under which the choice gets most on conversations left out in turn; the greatest of equals."""
    names = list(dict.fromkeys(talks))
    part = np.array([names.index(one) % _INNER for one in talks])
    worth = dict.fromkeys(_RIDGES, 0.0)
    for number in range(min(_INNER, len(names)) if len(names) > 1 else 0):
        held = part == number
        for penalty in _RIDGES:
            chosen = _ridge(x[~held], recall[~held], x[held], penalty).argmax(axis=1)
            worth[penalty] += float(recall[held][np.arange(int(held.sum())), chosen].sum())
    return max(_RIDGES, key=lambda penalty: (round(worth[penalty], 9), penalty))


def _ridge(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], asked: npt.NDArray[np.float64], penalty: float
) -> npt.NDArray[np.float64]:
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    deviation[deviation < 1e-6] = 1.0
    a, middle = (x - mean) / deviation, y.mean(axis=0)
    slopes = np.linalg.solve(a.T @ a + penalty * np.eye(a.shape[1]), a.T @ (y - middle))
    return np.asarray(((asked - mean) / deviation) @ slopes + middle)


def counts_of(chosen: Sequence[str]) -> Mapping[str, int]:
    """How often each was chosen, the most frequent first."""
    return dict(sorted(Counter(chosen).items(), key=lambda pair: (-pair[1], pair[0])))
