"""Which steps and items a research may read: those that meet conditions, and had happened or were true at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..memory_types import Where
from ..stores.ledger import Transaction, select_item_ids, select_step_ids

__all__ = ["EvidenceFilter"]

_STEP = "step_"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFilter:
    """A filter, exact from the ledger. It is truthy where it may hold something back.

    Attributes:
        where: conditions on steps and items.
        as_of: steps that had happened, and items that were true, at this time.
    """

    where: Where | None = None
    as_of: datetime | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EvidenceFilter:
        """From JSON: ``where`` as a mapping of its fields, ``as_of`` as ISO 8601; either may be missing or None.

        Raises:
            InvalidInputError: for conditions that there are not.
        """
        where, as_of = values.get("where"), values.get("as_of")
        return cls(
            where=where if where is None or isinstance(where, Where) else Where.parse(dict(where)),
            as_of=datetime.fromisoformat(as_of) if isinstance(as_of, str) else as_of,
        )

    def __bool__(self) -> bool:
        return self.as_of is not None or (self.where is not None and not self.where.empty)

    def json(self) -> dict[str, Any]:
        """As :meth:`of` reads it."""
        return {
            "where": None if self.where is None else self.where.model_dump(mode="json"),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
        }

    def steps(self, tx: Transaction, among: Collection[str] | None = None) -> set[str]:
        """The steps that may be read, all or those among some."""
        return select_step_ids(tx, self.where, self.as_of, among=among) if tx.user_id else set()

    def items(self, tx: Transaction, kinds: Collection[str] | None = None) -> set[str]:
        """The items that may be read."""
        chosen = None if kinds is None else list(kinds)
        return select_item_ids(tx, kinds=chosen, where=self.where, as_of=self.as_of) if tx.user_id else set()

    def among(self, tx: Transaction, ids: Collection[str]) -> set[str]:
        """Those of some steps and items that may be read."""
        if not self:
            return set(ids)
        kept = self.steps(tx, [one for one in ids if one.startswith(_STEP)])
        others = [one for one in ids if not one.startswith(_STEP)]
        return kept | (self.items(tx).intersection(others) if others else set())
