"""Training of the trees of the learned ranking: LightGBM, with the loss of the scorer.

Each tree is fitted to the gradient of the cross-entropy between the softmax of a question's candidates and its evidence
(:mod:`.learning`; Ke et al., NeurIPS 2017). The trees know nothing of the scorer's scores, so both can be trained on
the same questions and added.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hexamem.errors import ConfigError
from hexamem.retrieval.tree_ensemble import TREE_ARRAYS, beside_cues
from hexamem.stores.embedders.base import FloatArray

__all__ = ["TreeSettings", "learn_trees", "missing_trees", "tree_arrays"]

_BINS = 63  # of each feature
_LEAST = 1e-4  # second derivative


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeSettings:
    """How the trees are trained.

    Attributes:
        trees, leaves, depth: how many, and how large each at most.
        rate: what each tree adds of what it found.
        smallest: how many candidates a leaf holds at least; ``curvature`` the same in the loss's second derivatives.
        penalty: of squared leaves.
        columns, rows: the share of each that a tree sees.
    """

    trees: int = 200
    leaves: int = 12
    depth: int = 5
    rate: float = 0.05
    smallest: int = 30
    curvature: float = 0.3
    penalty: float = 5.0
    columns: float = 0.3
    rows: float = 0.7
    seed: int = 0


def missing_trees() -> str | None:
    """Why trees cannot be trained here, and what to do; None where they can."""
    if importlib.util.find_spec("lightgbm") is not None:
        return None
    return "the trees are left out, for LightGBM is not installed: pip install 'hexamem[train]'"


def learn_trees(
    inputs: Sequence[tuple[FloatArray, FloatArray, FloatArray]], weights: FloatArray, settings: TreeSettings
) -> dict[str, FloatArray]:
    """Train trees.

    Args:
        inputs: of each question the features as they stand in their pool ``(n, f)``, its cues ``(c,)``, and what share
            of its evidence each candidate is ``(n,)``, which adds up to 1.
        weights: how much each question counts, ``(q,)``.

    Returns:
        The arrays of a :class:`~.tree_ensemble.TreeEnsemble`, by their names in a weights file; none where the
        questions are too few for a single split.

    Raises:
        ConfigError: LightGBM is not installed.
    """
    if (missing := missing_trees()) is not None:
        raise ConfigError(missing)
    import lightgbm

    lengths = np.array([len(target) for _, _, target in inputs])
    starts = np.cumsum(lengths) - lengths
    which = np.repeat(np.arange(len(inputs)), lengths)
    x = np.concatenate([beside_cues(values, cues) for values, cues, _ in inputs])
    if len(x) < 2 * settings.smallest or not np.ptp(x, axis=0).any():
        return {}  # LightGBM takes what cannot be split for an error
    target = np.concatenate([one for _, _, one in inputs]).astype(np.float64)
    counts = weights.astype(np.float64)[which]

    def slopes(scores: npt.NDArray[np.float64], _: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[which])
        shares /= np.add.reduceat(shares, starts)[which]
        return (shares - target) * counts, np.maximum(shares * (1 - shares), _LEAST) * counts

    made = lightgbm.train(
        {
            "objective": slopes, "learning_rate": settings.rate, "num_leaves": settings.leaves,
            "max_depth": settings.depth, "min_data_in_leaf": settings.smallest,
            "min_sum_hessian_in_leaf": settings.curvature, "lambda_l2": settings.penalty,
            "feature_fraction": settings.columns, "bagging_fraction": settings.rows, "bagging_freq": 1,
            "max_bin": _BINS, "feature_pre_filter": False, "use_missing": False, "seed": settings.seed,
            "deterministic": True, "force_col_wise": True, "num_threads": 1, "verbose": -1,
        },
        lightgbm.Dataset(x),
        num_boost_round=settings.trees,
    )  # fmt: skip
    return tree_arrays([one["tree_structure"] for one in made.dump_model()["tree_info"]])


def tree_arrays(trees: Sequence[Mapping[str, Any]]) -> dict[str, FloatArray]:
    """Trees as LightGBM tells them (``tree_structure`` of ``dump_model``) as arrays; none where none of them splits.

    What has one leaf alone gives every candidate the same, so it is left out.
    """
    rows: list[list[tuple[int, float, int]]] = []
    for tree in (one for one in trees if "split_feature" in one):
        nodes: list[Mapping[str, Any]] = [tree]
        row: list[tuple[int, float, int]] = []
        for node in nodes:  # grows as it is read: level by level
            if "leaf_value" in node:
                row.append((0, node["leaf_value"], 0))
                continue
            row.append((node["split_feature"], _rounded_down(node["threshold"]), len(nodes)))
            nodes += [node["left_child"], node["right_child"]]
        rows.append(row)
    if not rows:
        return {}
    most = max(len(one) for one in rows)
    filled = np.array([one + [(0, 0.0, 0)] * (most - len(one)) for one in rows], np.float64)
    return {name: filled[:, :, at].astype(np.float32) for at, name in enumerate(TREE_ARRAYS)}


def _rounded_down(bound: float) -> float:
    """The greatest number of single precision that is not above: the same features lie below it."""
    single = np.float32(bound)
    return float(np.nextafter(single, np.float32(-np.inf)) if float(single) > bound else single)
