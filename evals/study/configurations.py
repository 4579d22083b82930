"""The fixed configurations among which an oracle or a gate chooses: rankings, or sets of operations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hexamem.evals.study.arms import ARMS
from hexamem.evals.study.laboratory import Laboratory
from hexamem.evals.study.main_comparison import arm_names
from hexamem.evals.study.operating import CHOICES
from hexamem.evals.study.records import Observed, arm_recalls

__all__ = ["Table", "operation_name", "operation_table", "pipeline_table"]

Table: TypeAlias = Mapping[str, npt.NDArray[np.float64]]
"""Configuration → recall of every question."""


def pipeline_table(observed: Sequence[Observed]) -> Table:
    """Recall under every fixed ranking: those that no training shaped and no model drives."""
    fixed = [name for name in arm_names(observed) if name in ARMS and not ARMS[name].model]
    return {name: arm_recalls(observed, name) for name in fixed}


def operation_table(lab: Laboratory, observed: Sequence[Observed]) -> Table:
    """Recall under every set of operations, by scorers that did not see the conversation."""
    place = {id(one): index for index, one in enumerate(lab.scored)}
    values = np.stack([lab.tables[place[id(one)]].recall for one in observed])
    return {operation_name(on): values[:, number] for number, on in enumerate(CHOICES)}


def operation_name(on: Collection[str]) -> str:
    """A set of operations in a word or a few."""
    return " + ".join(sorted(on)) or "none"
