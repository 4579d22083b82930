"""Boosted trees as arrays: the third part of the learned score, for the candidates that the other two rank best.

A tree is a row of nodes, each split's two children side by side behind it. All candidates go down all trees together,
one level at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray

__all__ = ["TREED", "TREE_ARRAYS", "TreeEnsemble", "beside_cues", "tree_damage"]

TREED = 64
"""Of how many candidates, the best by the rest of the score, the trees are asked."""
TREE_ARRAYS = ("trees_feature", "trees_value", "trees_child")


class TreeEnsemble:
    """Sums what each tree gives a candidate.

    Args:
        feature: ``(t, n)``, which column a split looks at.
        value: ``(t, n)``, what goes left is not above it; of a leaf what it gives.
        child: ``(t, n)``, the left child of a split, the right one is the next; 0 for a leaf.
    """

    def __init__(self, feature: FloatArray, value: FloatArray, child: FloatArray) -> None:
        trees, self._nodes = feature.shape
        self._feature = feature.astype(np.intp).ravel()
        self._value = np.ascontiguousarray(value, np.float32).ravel()
        left = child.astype(np.intp)
        start = np.arange(trees, dtype=np.intp) * self._nodes
        leaf = left == 0
        # A leaf leads to itself, whichever way its value, which is no bound, would send.
        at = np.arange(self._nodes, dtype=np.intp)
        self._left = (np.where(leaf, at, left) + start[:, None]).ravel()
        self._step = (~leaf).ravel()
        self._start = start
        self._depth = _depth(left)

    def score(self, x: FloatArray) -> FloatArray:
        """What the trees give each candidate, ``(n,)``.

        Args:
            x: features as they stand in their pool, and the cues of the question behind them, ``(n, f + c)``.
        """
        width = x.shape[1]
        flat = np.ascontiguousarray(x, np.float32).ravel()
        row = (np.arange(len(x), dtype=np.intp) * width)[:, None]
        node = np.broadcast_to(self._start, (len(x), len(self._start)))
        for _ in range(self._depth):
            above = flat.take(self._feature.take(node) + row) > self._value.take(node)
            node = self._left.take(node) + (above & self._step.take(node))
        return np.asarray(self._value.take(node).sum(axis=1, dtype=np.float64), np.float32)


def tree_damage(arrays: Mapping[str, npt.NDArray[np.float32]], columns: int) -> str | None:
    """What is wrong with the arrays of trees, in words; None where nothing is, or there are no trees.

    Args:
        columns: how many a split can look at.
    """
    feature, value, child = (arrays[name] for name in TREE_ARRAYS)
    if not any(one.size for one in (feature, value, child)):
        return None
    if value.ndim != 2 or not value.size:
        return f"trees_value has shape {value.shape}, not (trees, nodes)"
    for name in TREE_ARRAYS:
        if arrays[name].shape != value.shape or not np.isfinite(arrays[name]).all():
            return f"{name} has shape {arrays[name].shape}, not finite numbers of {value.shape}"
    if (feature != np.floor(feature)).any() or (feature < 0).any() or (feature >= columns).any():
        return f"trees_feature names columns beyond the {columns} that there are"
    at = np.arange(value.shape[1])
    split = child != 0
    if (child != np.floor(child)).any() or (split & ((child <= at) | (child + 1 >= value.shape[1]))).any():
        return "trees_child names nodes that are not behind the split"
    return None


def beside_cues(x: FloatArray, cues: FloatArray) -> FloatArray:
    """What trees see of candidates: their features, and the question's cues behind them."""
    return np.concatenate([x, np.broadcast_to(cues, (len(x), len(cues)))], axis=1).astype(np.float32, copy=False)


def _depth(left: npt.NDArray[np.intp]) -> int:
    """How many splits lie on the longest way down."""
    depth = np.zeros(left.shape, np.intp)
    rows = np.arange(len(left))
    for node in range(left.shape[1]):
        split = left[:, node] > 0
        for side in (0, 1):
            depth[rows[split], left[split, node] + side] = depth[split, node] + 1
    return int(depth.max())
