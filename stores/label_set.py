"""What ranking needs to know of the labels of a user's steps, in memory beside the working set."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, bindparam, select

from .ledger import Transaction
from .ledger.schema import intents, steps
from .vocabulary import Vocabulary
from .working_set import Grown, IntArray, WorkingSet

__all__ = ["LabelSet"]

_EVENTS, _ENTITIES = 4, 8
"""Labels of a kind that are kept of a step; few carry more."""

_CHANGED = (
    select(intents.c.step_id, intents.c.scope_id, intents.c.event_ids, intents.c.entity_ids)
    .join(steps, and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id))
    .where(steps.c.user_id == bindparam("user"), steps.c.change > bindparam("since"))
)


class LabelSet:
    """The labels that each row of a working set carries, kept up to date by the ledger's change number.

    Args:
        steps: whose rows these are; with another set the labels are read anew.

    Attributes:
        scope_ids: the distinct ids of scopes, ``label_ids`` those of events and entities, as they were given.
    """

    def __init__(self, steps: WorkingSet) -> None:
        self.steps = steps
        self.change = 0
        self.scope_ids: list[str] = []
        self.label_ids: list[str] = []
        self._scope_number: dict[str, int] = {}
        self._label_number: dict[str, int] = {}
        self._scope = Grown(np.int32)
        self._events, self._entities = Grown(np.int32, _EVENTS), Grown(np.int32, _ENTITIES)
        self._canonical: tuple[Vocabulary, tuple[str, ...], IntArray] | None = None

    @property
    def nbytes(self) -> int:
        """About how much memory it takes, in bytes."""
        arrays = self._scope.nbytes + self._events.nbytes + self._entities.nbytes
        return arrays + 150 * (len(self.scope_ids) + len(self.label_ids))

    @property
    def events(self) -> IntArray:
        """The numbers of each row's event types, ``(rows, 4)``; -1 where there are fewer."""
        return self._events.values

    @property
    def entities(self) -> IntArray:
        """The numbers of each row's entity types, ``(rows, 8)``; -1 where there are fewer."""
        return self._entities.values

    def refresh(self, tx: Transaction, change: int) -> None:
        """Take in what changed since the last time; ``change`` is the ledger's change number now."""
        missing = len(self.steps) - self._scope.size
        if missing:
            for one, shape in ((self._scope, ()), (self._events, (_EVENTS,)), (self._entities, (_ENTITIES,))):
                one.extend(np.full((missing, *shape), -1, np.int32))
        if change == self.change:
            return
        for row in tx.all(_CHANGED, user=tx.user_id, since=self.change):
            place = self.steps.row_of.get(row.step_id)
            if place is None or place >= self._scope.size:
                continue
            self._scope.values[place] = _numbered(row.scope_id, self._scope_number, self.scope_ids)
            for to, given, width in ((self.events, row.event_ids, _EVENTS), (self.entities, row.entity_ids, _ENTITIES)):
                numbers = [_numbered(one, self._label_number, self.label_ids) for one in (given or ())[:width]]
                to[place] = -1
                to[place, : len(numbers)] = numbers
        self.change = change

    def scopes(self, vocabulary: Vocabulary) -> tuple[tuple[str, ...], IntArray]:
        """The scopes that steps carry, aliases resolved, and the number of each row's; -1 for one without."""
        numbers = self._scope.values
        kept = self._canonical
        if kept is None or kept[0] is not vocabulary or len(kept[2]) != len(self.scope_ids):
            own: dict[str, int] = {}
            place = [own.setdefault(vocabulary.canonical(one), len(own)) for one in self.scope_ids]
            kept = self._canonical = (vocabulary, tuple(own), np.array([*place], np.int32))
        found: npt.NDArray[np.int32] = np.append(kept[2], np.int32(-1))[numbers]
        return kept[1], found


def _numbered(label_id: str, number_of: dict[str, int], ids: list[str]) -> int:
    number = number_of.get(label_id)
    if number is None:
        number = number_of[label_id] = len(ids)
        ids.append(label_id)
    return number
