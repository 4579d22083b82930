"""The filter of research: which steps and items it may read, by kind, conditions and time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hexamem.memory_types import MemoryItem, Where
from hexamem.memory_types.research import SearchRequest
from hexamem.memory_types.times import parse_time
from hexamem.stores.ledger import Transaction, get_items, read_items, select_item_ids, select_step_ids

__all__ = ["EvidenceFilter"]

_STEP = "step_"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFilter:
    """A filter, evaluated on the ledger. It is truthy if it may exclude anything.

    Attributes:
        where: conditions on steps and items.
        as_of: steps that had happened, and items that were true, at this time.
        known_at: steps and items that were stored at this time, items in the version of then.
        kinds: "step" and kinds of items; None for all.
    """

    where: Where | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    kinds: frozenset[str] | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EvidenceFilter:
        """From JSON: ``where`` as a mapping of its fields, times as ISO 8601 (in UTC without an offset), ``kinds`` as a list;
        any may be missing or None.

        Raises:
            InvalidInputError: for an unknown condition, or a time that cannot be parsed.
        """
        where, kinds = values.get("where"), values.get("kinds")
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        return cls(
            where=where if where is None or isinstance(where, Where) else Where.parse(dict(where)),
            as_of=_moment(values.get("as_of")),
            known_at=_moment(values.get("known_at")),
            kinds=None if kinds is None else frozenset(kinds),
        )

    @classmethod
    def of_request(cls, request: SearchRequest) -> EvidenceFilter:
        """The filter of a search."""
        return cls(where=request.where, as_of=request.as_of, known_at=request.known_at, kinds=request.only)

    def __bool__(self) -> bool:
        narrowed = self.where is not None and not self.where.empty
        return narrowed or any(value is not None for value in (self.as_of, self.known_at, self.kinds))

    @property
    def moment(self) -> datetime | None:
        """The time to which the question is relative; None for now."""
        return self.as_of or self.known_at

    def json(self) -> dict[str, Any]:
        """The filter as JSON, for :meth:`of`."""
        return {
            "where": None if self.where is None else self.where.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "known_at": None if self.known_at is None else self.known_at.isoformat(),
            "kinds": None if self.kinds is None else sorted(self.kinds),
        }

    def narrowing(self, request: SearchRequest) -> SearchRequest:
        """The search with this filter."""
        update = {"where": self.where, "as_of": self.as_of, "known_at": self.known_at, "only": self.kinds}
        return request.model_copy(update=update)

    def steps(self, tx: Transaction, among: Collection[str] | None = None) -> set[str]:
        """The steps that may be read, all or those among some."""
        if not tx.user_id or (self.kinds is not None and "step" not in self.kinds):
            return set()
        return select_step_ids(tx, self.where, self.as_of, self.known_at, among)

    def items(self, tx: Transaction, kinds: Collection[str] | None = None) -> set[str]:
        """The items that may be read."""
        chosen = self._item_kinds(kinds)
        if not tx.user_id or chosen == []:
            return set()
        if self.known_at is not None:
            return {item.id for item in self._believed(tx, chosen)}
        return select_item_ids(tx, kinds=chosen, where=self.where, as_of=self.as_of, superseded=False)

    def among(self, tx: Transaction, ids: Collection[str]) -> set[str]:
        """Those of some steps and items that may be read."""
        if not self:
            return set(ids)
        permitted = self.steps(tx, [record_id for record_id in ids if record_id.startswith(_STEP)])
        others = [record_id for record_id in ids if not record_id.startswith(_STEP)]
        return permitted | (self.items(tx).intersection(others) if others else set())

    def read_items(self, tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
        """The items of these ids that may be read: active ones, or those of the filter's time in the version of then."""
        chosen = set(ids)
        if not chosen:
            return {}
        if self.known_at is not None:
            return {item.id: item for item in self._believed(tx, self._item_kinds(None)) if item.id in chosen}
        items = get_items(tx, chosen)
        if self.as_of is None:
            return {item.id: item for item in items.values() if item.status == "active"}
        permitted = self.items(tx)
        return {item.id: item for item in items.values() if item.id in permitted}

    def former(self, tx: Transaction, kinds: Collection[str]) -> dict[str, MemoryItem]:
        """Items of some kinds in the version of ``known_at``, if the indexes do not hold that text any more."""
        chosen = self._item_kinds(kinds)
        if self.known_at is None or not tx.user_id or chosen == []:
            return {}
        former = {item.id: item for item in self._believed(tx, chosen)}
        current = get_items(tx, former)
        indexed = {item.id for item in current.values() if item.status in ("active", "superseded")}
        return {
            item_id: item
            for item_id, item in former.items()
            if item_id not in indexed or current[item_id].text != item.text
        }

    def _believed(self, tx: Transaction, kinds: list[str] | None) -> list[MemoryItem]:
        return read_items(tx, kinds=kinds, where=self.where, as_of=self.as_of, known_at=self.known_at)

    def _item_kinds(self, kinds: Collection[str] | None) -> list[str] | None:
        if self.kinds is None:
            return None if kinds is None else list(kinds)
        return [kind for kind in sorted(self.kinds) if kind != "step" and (kinds is None or kind in kinds)]


def _moment(value: Any) -> datetime | None:
    return None if value is None else parse_time(value).utc
