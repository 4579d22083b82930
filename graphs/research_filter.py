"""Which steps and items a research may read: of some kinds, that meet conditions, as they were or were known at a time."""

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
    """A filter, exact from the ledger. It is truthy where it may hold something back.

    Attributes:
        where: conditions on steps and items.
        as_of: steps that had happened, and items that were true, at this time.
        known_at: steps that had been stored, and items that were believed, at this time, in the words of then.
        kinds: "step" and kinds of items; None for all.
    """

    where: Where | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    kinds: frozenset[str] | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EvidenceFilter:
        """From JSON: ``where`` as a mapping of its fields, times as ISO 8601 (in UTC
        where they name no offset), ``kinds`` as a list; any may be missing or None.

        Raises:
            InvalidInputError: for conditions or kinds that there are not, or a time that cannot be read.
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
        """That of a search."""
        return cls(where=request.where, as_of=request.as_of, known_at=request.known_at, kinds=request.only)

    def __bool__(self) -> bool:
        narrowed = self.where is not None and not self.where.empty
        return narrowed or any(one is not None for one in (self.as_of, self.known_at, self.kinds))

    @property
    def moment(self) -> datetime | None:
        """When the question is asked, where that is not now."""
        return self.as_of or self.known_at

    def json(self) -> dict[str, Any]:
        """As :meth:`of` reads it."""
        return {
            "where": None if self.where is None else self.where.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "known_at": None if self.known_at is None else self.known_at.isoformat(),
            "kinds": None if self.kinds is None else sorted(self.kinds),
        }

    def narrowing(self, request: SearchRequest) -> SearchRequest:
        """The search with this filter."""
        told = {"where": self.where, "as_of": self.as_of, "known_at": self.known_at, "only": self.kinds}
        return request.model_copy(update=told)

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
            return {one.id for one in self._believed(tx, chosen)}
        return select_item_ids(tx, kinds=chosen, where=self.where, as_of=self.as_of, superseded=False)

    def among(self, tx: Transaction, ids: Collection[str]) -> set[str]:
        """Those of some steps and items that may be read."""
        if not self:
            return set(ids)
        kept = self.steps(tx, [one for one in ids if one.startswith(_STEP)])
        others = [one for one in ids if not one.startswith(_STEP)]
        return kept | (self.items(tx).intersection(others) if others else set())

    def read_items(self, tx: Transaction, ids: Collection[str]) -> dict[str, MemoryItem]:
        """Items as they are to be read: those believed now, or what was true or believed then. Others are left out."""
        wanted = set(ids)
        if not wanted:
            return {}
        if self.known_at is not None:
            return {one.id: one for one in self._believed(tx, self._item_kinds(None)) if one.id in wanted}
        found = get_items(tx, wanted)
        if self.as_of is None:
            return {one.id: one for one in found.values() if one.status == "active"}
        met = self.items(tx)
        return {one.id: one for one in found.values() if one.id in met}

    def former(self, tx: Transaction, kinds: Collection[str]) -> dict[str, MemoryItem]:
        """Items of some kinds that were believed then in words that the indexes do not hold any more."""
        chosen = self._item_kinds(kinds)
        if self.known_at is None or not tx.user_id or chosen == []:
            return {}
        then = {one.id: one for one in self._believed(tx, chosen)}
        now = get_items(tx, then)
        indexed = {one.id for one in now.values() if one.status in ("active", "superseded")}
        return {one: item for one, item in then.items() if one not in indexed or now[one].text != item.text}

    def _believed(self, tx: Transaction, kinds: list[str] | None) -> list[MemoryItem]:
        return read_items(tx, kinds=kinds, where=self.where, as_of=self.as_of, known_at=self.known_at)

    def _item_kinds(self, kinds: Collection[str] | None) -> list[str] | None:
        if self.kinds is None:
            return None if kinds is None else list(kinds)
        return [one for one in sorted(self.kinds) if one != "step" and (kinds is None or one in kinds)]


def _moment(value: Any) -> datetime | None:
    return None if value is None else parse_time(value).utc
