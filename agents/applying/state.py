"""What the operations of one batch share: checked proposals, the items they may touch, and how an item is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from hexamem.agents.applying.contradictions import DatedItem, closed
from hexamem.agents.applying.core_limit import fit_into
from hexamem.agents.applying.duplicates import FactComparer
from hexamem.agents.applying.slots import slot_of
from hexamem.memory_types import CoreItem, ItemKind, MemoryItem, OperationKind, SemanticItem, Source
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.proposals import Outcome, ProposalKind
from hexamem.stores.applying import KnownItems, keyed_id, write_changes
from hexamem.stores.ledger import Transaction, get_steps
from hexamem.stores.secrets import Cipher, SecretSpan

__all__ = ["ApplyState", "Changes", "Checked"]

Changes = list[tuple[MemoryItem | None, MemoryItem]]
"""Items before (None for a new one) and after."""


@dataclass(slots=True, kw_only=True)
class Checked:
    """A proposal whose evidence was verified and whose values were read and cleaned.

    Attributes:
        stated_at: the time of its latest source.
        ends: ids of items that end with it.
        secret_id: of the secret that a vault item describes.
        found: secrets that were taken out of the values.
        notes: receives what was corrected on the way.
    """

    operation: ProposalKind
    kind: ItemKind
    values: dict[str, Any]
    target: str | None
    merged: tuple[str, ...]
    ends: tuple[str, ...]
    sources: tuple[Source, ...]
    stated_at: datetime
    actor: str
    reason: str
    secret_id: str | None = None
    found: Mapping[str, SecretSpan] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class ApplyState:
    """The items of a user within one transaction, as the proposals carried out so far have left them."""

    def __init__(self, tx: Transaction, known: KnownItems, cipher: Cipher, facts: FactComparer, zone: tzinfo) -> None:
        self.tx, self.known, self.cipher, self.facts, self.zone = tx, known, cipher, facts, zone

    def written(self, proposal: Checked, kind: OperationKind, changes: Changes, item: MemoryItem) -> Outcome:
        """Write the changes as one operation, with the items that end by it; the outcome names ``item``."""
        if ending := self._ending(proposal, changes, item):
            changes, kind = [*changes, *ending], "supersede" if kind == "add" else kind
        actor, reason, found = proposal.actor, proposal.reason, proposal.found
        done = write_changes(self.tx, self.known, kind, changes, actor=actor, reason=reason, found=found)
        applied: ProposalKind = kind  # type: ignore[assignment]  # one of those that a proposal has
        return Outcome(applied=applied, item_id=item.id, operation_id=done.id)

    def _ending(self, proposal: Checked, changes: Changes, item: MemoryItem) -> Changes:
        """The items that end by an operation on ``item``. One with a later source does not end; history is preserved."""
        written = {after.id for _, after in changes}
        written_item = next((after for _, after in changes if after.id == item.id), item)
        moment, now = written_item.valid_from or proposal.stated_at, utc_now()
        ending: Changes = []
        for value in self.dated(self.known.whole([other for other in proposal.ends if other not in written])):
            other = value.item
            if other.status == "active" and max(value.times) <= proposal.stated_at:
                ends = other.valid_from if other.kind == "episodic" else max(moment, other.valid_from or moment)
                ending.append((other, closed(other, ends, item.id, now)))
        return ending

    def fitted(self, block: CoreItem, value: str) -> tuple[str, Changes]:
        """A new value of a core item within its limit, and a semantic item for what had no room."""
        value, overflow = fit_into(value, block.limit)
        if not overflow:
            return value, []
        text = "\n".join(overflow)
        cut = text.rfind(" ", 300, 600) if len(text) > 600 else len(text)
        cut = cut if cut > 0 else 600
        rest = SemanticItem(
            id=keyed_id(self.cipher, self.tx.user, "item", block.id, "overflow", text),
            user=self.tx.user,
            name=block.label,
            summary=text[:cut].strip(),
            details=text if cut < len(text) else "",
            sources=block.sources,
            valid_from=block.valid_from,
            metadata={"overflow_of": block.id},
            created_at=utc_now(),
        )
        return value, [] if self.known.get(rest.id) is not None else [(None, rest)]

    def target(self, proposal: Checked) -> MemoryItem | None:
        """The item that a proposal is for, or its successor; None where there is none."""
        item_id, seen = proposal.target, set[str]()
        while item_id and item_id not in seen:
            seen.add(item_id)
            item = self.known.get(item_id)
            if item is None or item.kind != proposal.kind:
                return None
            if item.status == "active" or (item.status == "superseded" and proposal.operation in ("update", "remove")):
                return item
            item_id = item.superseded_by if item.status in ("merged", "superseded") else None
        return None

    def in_slot(self, kind: ItemKind, slot: str, *, removed: bool = False) -> list[MemoryItem]:
        """The active and superseded items of a slot; or those that were removed."""
        items = self.known.of_kind(kind, removed=removed)
        return self.known.whole([item.id for item in items if slot_of(item.metadata) == slot])

    def dated(self, items: Sequence[MemoryItem]) -> list[DatedItem]:
        """Items with the times of their sources; without sources, the time from which they are valid or were stored."""
        steps = get_steps(self.tx, {source.step_id for item in items for source in item.sources}, forgotten=True)

        def times(item: MemoryItem) -> tuple[datetime, ...]:
            found = (steps.get(source.step_id) for source in item.sources)
            return tuple(step.occurred_at if step else item.created_at for step in found)

        return [DatedItem(item, times(item) or (item.valid_from or item.created_at,)) for item in items]
