"""The candidates of one recall as rows of the working set, with the rows beside each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.item_set import ItemFacts
from hexamem.stores.working_set import WorkingSet

__all__ = ["OFFSETS", "Places", "Pool", "descending", "make_pool", "places"]

OFFSETS = (-2, -1, 0, 1, 2)
"""The neighbours of a candidate, in turns of its session; 0 is the candidate itself."""
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of a search and their rows in the working set.

    Attributes:
        ids: the ids of the candidates, steps first, then items.
        items: the facts of the items, in the order of ``ids``.
        rows: the row of each candidate; for an item that of the first known step that it cites; -1 for none.
        around: the distinct rows of candidates and their neighbours.
        at: offset → index into ``around`` of the neighbour at this offset; ``len(around)`` where there is none.
    """

    ids: tuple[str, ...]
    items: tuple[ItemFacts, ...]
    rows: Places
    around: Places
    at: dict[int, Places]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def steps(self) -> int:
        """The number of candidates that are steps."""
        return len(self.ids) - len(self.items)


def _anchor(item: ItemFacts, row_of: Mapping[str, int]) -> int:
    """The row of the first known step that an item cites; -1 for none."""
    return next((row_of[step_id] for step_id in item.cites if step_id in row_of), -1)


def make_pool(step_ids: Sequence[str], items: Sequence[ItemFacts], steps: WorkingSet) -> Pool:
    """The candidates with their neighbours; steps that are not in the working set are left out."""
    known = [step_id for step_id in step_ids if step_id in steps.row_of]
    rows = np.array([*map(steps.row_of.__getitem__, known), *(_anchor(item, steps.row_of) for item in items)], np.int64)
    beside: dict[int, npt.NDArray[np.int64]] = {0: rows}
    for way, ahead in ((-1, steps.before), (1, steps.after)):
        here = rows
        for distance in (1, 2):
            here = np.where(here >= 0, ahead[np.maximum(here, 0)], -1) if len(ahead) else here
            beside[way * distance] = here
    every = np.concatenate([beside[offset] for offset in OFFSETS])
    marked = np.zeros(len(steps) + 1, bool)
    marked[every] = True
    marked[-1] = False
    around = np.flatnonzero(marked)
    place = np.full(len(steps) + 1, len(around), np.int64)
    place[around] = np.arange(len(around))
    at = {offset: place[beside[offset]] for offset in OFFSETS}
    return Pool((*known, *(item.id for item in items)), tuple(items), rows, around, at)


def descending(values: npt.NDArray[np.floating]) -> Places:
    """The indices that sort values, in single precision, the greatest first; equal ones remain in order."""
    return np.argsort(-values.astype(np.float32), kind="stable")


def places(values: npt.NDArray[np.floating]) -> FloatArray:
    """The rank of each value in the order of :func:`descending`, from 0."""
    ranks = np.empty(len(values), np.float32)
    ranks[descending(values)] = np.arange(len(values), dtype=np.float32)
    return ranks
