"""The labels of a user's steps that ranking reads, in memory beside the working set."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sqlalchemy import Select, Text, and_, bindparam, select, type_coerce

from hexamem.stores.growing_array import GrowingArray, IntArray
from hexamem.stores.ledger import Transaction
from hexamem.stores.ledger.columns import decode_text
from hexamem.stores.ledger.prepared import of_user
from hexamem.stores.ledger.schema import intents, steps
from hexamem.stores.vocabulary import Vocabulary
from hexamem.stores.working_set import WorkingSet

__all__ = ["LabelSet"]

_EVENTS, _ENTITIES = 4, 8
"""Labels of a kind that are stored for a step; few steps have more."""

# Lists of ids are read as JSON text: many steps have the same list, which is then parsed once.
_CHANGED: Select[Any] = (
    select(
        intents.c.step_id,
        intents.c.scope_id,
        type_coerce(intents.c.event_ids, Text).label("event_ids"),
        type_coerce(intents.c.entity_ids, Text).label("entity_ids"),
    )
    .join(steps, and_(intents.c.user_id == steps.c.user_id, intents.c.step_id == steps.c.id))
    .where(of_user(steps), steps.c.change > bindparam("since"))
)


class LabelSet:
    """The labels of each row of a working set, updated by the ledger's change number.

    Args:
        steps: the set of the rows; with another set the labels are read again.

    Attributes:
        scope_ids: the distinct ids of scopes; ``label_ids`` are those of events and entities. Aliases are not resolved.
    """

    def __init__(self, steps: WorkingSet) -> None:
        self.steps = steps
        self.change = 0
        self.scope_ids: list[str] = []
        self.label_ids: list[str] = []
        self._scope_number: dict[str, int] = {}
        self._label_number: dict[str, int] = {}
        self._scope = GrowingArray(np.int32)
        self._events, self._entities = GrowingArray(np.int32, _EVENTS), GrowingArray(np.int32, _ENTITIES)
        self._canonical: tuple[Vocabulary, tuple[str, ...], IntArray] | None = None

    @property
    def nbytes(self) -> int:
        """Approximate memory in bytes."""
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
        """Read what changed since the last call; ``change`` is the current change number of the ledger."""
        self._fill()
        if change == self.change:
            return
        self._canonical = None
        rows: list[int] = []
        columns: tuple[list[int], list[list[int]], list[list[int]]] = [], [], []
        known: tuple[dict[str | None, list[int]], ...] = {}, {}
        for step_id, scope_id, events, entities in map(tuple, tx.all(_CHANGED, user=tx.user_id, since=self.change)):
            place = self.steps.row_of.get(step_id)
            if place is None or place >= self._scope.size:
                continue
            rows.append(place)
            columns[0].append(-1 if scope_id is None else _numbered(scope_id, self._scope_number, self.scope_ids))
            for ids, width, numbers, to in (
                (events, _EVENTS, known[0], columns[1]),
                (entities, _ENTITIES, known[1], columns[2]),
            ):
                row = numbers.get(ids)
                if row is None:
                    row = numbers[ids] = self._numbers(ids, width)
                to.append(row)
        if rows:
            self._scope.values[rows], self.events[rows], self.entities[rows] = columns
        self.change = change

    def _fill(self) -> None:
        """Add rows without labels for new steps."""
        missing = len(self.steps) - self._scope.size
        if missing:
            for column, shape in ((self._scope, ()), (self._events, (_EVENTS,)), (self._entities, (_ENTITIES,))):
                column.extend(np.full((missing, *shape), -1, np.int32))
            self._canonical = None

    def _numbers(self, text: str | None, width: int) -> list[int]:
        """The numbers of a list of label ids in JSON, padded with -1."""
        ids = json.loads(decode_text(text)) if text else None
        numbers = [_numbered(label_id, self._label_number, self.label_ids) for label_id in (ids or ())[:width]]
        return numbers + [-1] * (width - len(numbers))

    def scopes(self, vocabulary: Vocabulary) -> tuple[tuple[str, ...], IntArray]:
        """The scopes of the steps, aliases resolved, and for each row the index of its scope, or -1."""
        numbers = self._scope.values
        cached = self._canonical
        if cached is None or cached[0] is not vocabulary:
            own: dict[str, int] = {}
            place = [own.setdefault(vocabulary.canonical(scope_id), len(own)) for scope_id in self.scope_ids]
            cached = self._canonical = (vocabulary, tuple(own), np.array([*place, -1], np.int32)[numbers])
        return cached[1], cached[2]


def _numbered(label_id: str, number_of: dict[str, int], ids: list[str]) -> int:
    number = number_of.get(label_id)
    if number is None:
        number = number_of[label_id] = len(ids)
        ids.append(label_id)
    return number
