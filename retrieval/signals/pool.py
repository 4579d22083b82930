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
"""Of the steps beside a candidate that are looked at, in turns of its session."""
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates, each with the row it stands at.

    Attributes:
        ids: of the candidates, steps first, then items.
        items: the facts of those that are no steps, in order; they are the last of ``ids``.
        rows: row of each candidate; of an item that of the first step it cites; -1 for none.
        around: the distinct rows at which, and beside which, candidates stand.
        at: offset → place in ``around`` of the row so many turns away; ``len(around)`` where there is none.
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
        """How many of the candidates are steps."""
        return len(self.ids) - len(self.items)


def _anchor(item: ItemFacts, row_of: Mapping[str, int]) -> int:
    """The row of the first step that an item cites and that is there; -1 for none."""
    for one in item.cites:
        row = row_of.get(one)
        if row is not None:
            return row
    return -1


def make_pool(step_ids: Sequence[str], items: Sequence[ItemFacts], steps: WorkingSet) -> Pool:
    """The candidates with what stands around them; steps that the working set does not hold are left out."""
    found = list(map(steps.row_of.get, step_ids))
    known, placed = list(step_ids), [row for row in found if row is not None]
    if len(placed) < len(known):
        known = [one for one, row in zip(step_ids, found, strict=True) if row is not None]
    rows = np.array([*placed, *(_anchor(item, steps.row_of) for item in items)], np.int64)
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
    """The order of the values in single precision, the greatest first; equal ones stay in order."""
    return np.argsort(-values.astype(np.float32), kind="stable")


def places(values: npt.NDArray[np.floating]) -> FloatArray:
    """The place of each value in that order, from 0."""
    ranks = np.empty(len(values), np.float32)
    ranks[descending(values)] = np.arange(len(values), dtype=np.float32)
    return ranks
