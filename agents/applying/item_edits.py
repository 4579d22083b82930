"""The operations update, merge and remove on items within one transaction, and what all operations share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from hexamem.agents.applying.duplicates import join_sources
from hexamem.agents.applying.proposal_values import fit_into
from hexamem.agents.applying.slots import DatedItem, closed, overlaps
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import CoreItem, ItemKind, MemoryItem, OperationKind, SemanticItem, Source
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.coarse_dates import PRECISION
from hexamem.memory_types.item_keys import fold, slot_of
from hexamem.memory_types.proposals import Outcome, Proposal, ProposalKind
from hexamem.stores.applying import KnownItems, keyed_id, plan_changes
from hexamem.stores.ledger import Transaction, get_steps
from hexamem.stores.secrets import Cipher, SecretSpan

__all__ = ["Changes", "CheckedProposal", "ItemEdits"]

_LONGEST_SUMMARY = 600  # characters
_TIMES = frozenset({"occurred_at", "valid_from"})
Changes = list[tuple[MemoryItem | None, MemoryItem]]
"""Pairs of an item before (None for a new one) and after."""


@dataclass(slots=True, kw_only=True)
class CheckedProposal:
    """A proposal whose evidence was verified and whose values were read and cleaned.

    Attributes:
        proposal: the proposal of the manager; ``values`` and ``reason`` below replace its own.
        stated_at: the time of its latest source.
        own_words: whether the user stated it in their own words. If not, it may only add.
        secret_id: the secret that a vault item describes.
        found: secrets that were removed from the values.
        notes: receives a line for each correction.
        operation_id: the id of the operation that applies it.
    """

    proposal: Proposal
    values: dict[str, Any]
    reason: str
    sources: tuple[Source, ...]
    stated_at: datetime
    own_words: bool
    actor: str
    secret_id: str | None = None
    found: Mapping[str, SecretSpan] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    operation_id: str = ""

    @property
    def kind(self) -> ItemKind:
        return self.proposal.kind


class ItemEdits:
    """Edits the items of a user within one transaction; each edit sees those before it."""

    def __init__(self, tx: Transaction, cipher: Cipher, zone: tzinfo) -> None:
        self.tx, self.known, self.cipher, self.zone = tx, KnownItems(tx), cipher, zone

    def done_before(self, checked: CheckedProposal, *parts: Any) -> Outcome | None:
        """Set the operation id of a proposal; the outcome if that operation was done before, even if it was undone since.

        The id depends only on the content. So the proposals of a killed job, or of a conversation that is stored again,
        change nothing, whatever has been done since.

        Args:
            parts: the content of the proposal, besides its kind and its sources.
        """
        sources = [source.model_dump() for source in checked.sources]
        stated = json.dumps([checked.kind, parts, sources], default=str, sort_keys=True)
        checked.operation_id = keyed_id(self.cipher, self.tx.user, "op", stated)
        operation = self.known.operation(checked.operation_id)
        if operation is None:
            return None
        changed = sorted(operation.changes, key=lambda change: change.before is not None)  # what was added first
        item_id = changed[0].target_id if changed else None
        return Outcome(applied="noop", item_id=item_id, operation_id=operation.id)

    def planned(self, checked: CheckedProposal, kind: OperationKind, changes: Changes, item: MemoryItem) -> Outcome:
        """Write the changes as one operation, including the items that it ends; the outcome is that of ``item``."""
        if ending := self._ending(checked, changes, item):
            changes, kind = [*changes, *ending], "supersede" if kind == "add" else kind
        done = plan_changes(
            self.tx,
            self.known,
            kind,
            changes,
            actor=checked.actor,
            reason=checked.reason,
            operation_id=checked.operation_id,
            replaced=checked.found,
        )
        applied: ProposalKind = kind  # type: ignore[assignment]  # here always a kind of proposal
        return Outcome(applied=applied, item_id=item.id, operation_id=done.id)

    def _ending(self, checked: CheckedProposal, changes: Changes, item: MemoryItem) -> Changes:
        """The items that an operation on ``item`` ends, as ``proposal.ends`` names them; not those with a later source."""
        written = {after.id for _, after in changes}
        written_item = next((after for _, after in changes if after.id == item.id), item)
        moment = written_item.valid_from or checked.stated_at
        named = checked.proposal.ends if checked.own_words else ()
        ending: Changes = []
        for value in self.dated(self.known.whole([other for other in named if other not in written])):
            other = value.item
            if other.status == "active" and max(value.times) <= checked.stated_at:
                ends = other.valid_from if other.kind == "episodic" else max(moment, other.valid_from or moment)
                ending.append((other, closed(other, ends, item.id)))
        return ending

    def fitted(self, block: CoreItem, value: str) -> tuple[str, Changes]:
        """A new value of a core item within its limit, and a semantic item for the overflow."""
        value, text = fit_into(value, block.limit)
        if not text:
            return value, []
        summary, more = fit_into(text, _LONGEST_SUMMARY)
        rest = SemanticItem(
            id=keyed_id(self.cipher, self.tx.user, "item", block.id, "overflow", text),
            user=self.tx.user,
            name=block.label,
            summary=summary,
            details=text if more else "",
            sources=block.sources,
            valid_from=block.valid_from,
            metadata={"overflow_of": block.id},
            created_at=utc_now(),
        )
        return value, [] if self.known.get(rest.id) is not None else [(None, rest)]

    def target(self, checked: CheckedProposal) -> MemoryItem | None:
        """The target of a proposal, or its successor; None where there is none."""
        item_id, seen = checked.proposal.target, set[str]()
        while item_id and item_id not in seen:
            seen.add(item_id)
            item = self.known.get(item_id)
            if item is None or item.kind != checked.kind:
                return None
            if item.status == "active" or (
                item.status == "superseded" and checked.proposal.operation in ("update", "remove")
            ):
                return item
            item_id = item.superseded_by if item.status in ("merged", "superseded") else None
        return None

    def in_slot(self, kind: ItemKind, slot: str) -> list[MemoryItem]:
        """The active and superseded items of a slot."""
        return self.known.in_slot(kind, slot)

    def dated(self, items: Sequence[MemoryItem]) -> list[DatedItem]:
        """Items with the times of their sources; without sources, the start of their validity or the time they were stored."""
        steps = get_steps(self.tx, {source.step_id for item in items for source in item.sources}, forgotten=True)

        def times(item: MemoryItem) -> tuple[datetime, ...]:
            sources = (steps.get(source.step_id) for source in item.sources)
            return tuple(step.occurred_at if step else item.created_at for step in sources)

        return [DatedItem(item, times(item) or (item.valid_from or item.created_at,)) for item in items]

    # ------------------------------------------------------------------ update, merge, remove

    def change(self, checked: CheckedProposal, old: MemoryItem) -> Outcome:
        """Correct or complete an item in place, without a successor."""
        fields, extra = self._fields(checked, old, join_sources(old.sources, checked.sources))
        new = old.changed(**fields)
        if new == old:
            return Outcome(applied="noop", item_id=old.id)
        slot = slot_of(new.metadata)
        if slot and slot == slot_of(old.metadata):
            if overlaps(new, [item for item in self.in_slot(new.kind, slot) if item.id != new.id]):
                new = new.changed(valid_from=old.valid_from, valid_to=old.valid_to)
                checked.notes.append(f"the times of {new.id} were not changed: another value of {slot} is valid then")
        elif slot and any(item.status == "active" for item in self.in_slot(new.kind, slot)):
            raise InvalidInputError(f"the update would give {old.id} the slot {slot}, which another item has")
        new = new.changed(version=old.version + 1)
        return self.planned(checked, "update", [(old, new), *extra], new)

    def _fields(self, checked: CheckedProposal, old: MemoryItem, sources: Any) -> tuple[dict[str, Any], Changes]:
        """The fields that a proposal sets in an item, and new items for the overflow."""
        fields: dict[str, Any] = {**checked.values, "sources": sources}
        extra: Changes = []
        if not _TIMES.isdisjoint(fields) and PRECISION in old.metadata:
            fields["metadata"] = {PRECISION: None, **fields.get("metadata", {})}
        if "metadata" in fields:
            fields["metadata"] = {**old.metadata, **fields["metadata"]}
        if isinstance(old, CoreItem) and isinstance(fields.get("value"), str):
            fields["value"], extra = self.fitted(old, fields["value"])
        return fields, extra

    def merge(self, checked: CheckedProposal, target: MemoryItem) -> Outcome:
        """Merge items into the target: their sources, and the text that it lacks."""
        merged = [item for item in self.known.whole(checked.proposal.merged) if item.id != target.id]
        if missing := sorted(set(checked.proposal.merged) - {item.id for item in merged} - {target.id}):
            raise NotFoundError(f"no items {', '.join(missing)[:200]} to merge")
        if any(item.kind != target.kind for item in merged):
            raise InvalidInputError("items of several kinds cannot be merged")
        merged = [item for item in merged if item.status == "active"]
        if not merged and not checked.values:
            return Outcome(applied="noop", item_id=target.id)
        sources = target.sources
        for item in merged:
            sources = join_sources(sources, item.sources)
        if isinstance(target, CoreItem):
            values = [item.value for item in (target, *merged) if isinstance(item, CoreItem)]
            checked.values.setdefault("value", "\n".join(dict.fromkeys(values)))
        elif "details" in type(target).model_fields:
            checked.values.setdefault("details", _joined_details(target, merged, checked.values.get("summary")))
        fields, extra = self._fields(checked, target, join_sources(sources, checked.sources))
        new = target.changed(**fields)
        if new == target and not merged:
            return Outcome(applied="noop", item_id=target.id)
        changes: Changes = [(target, new.changed(version=target.version + 1))]
        for item in merged:
            closing = {"superseded_by": target.id, "superseded_at": max(utc_now(), item.created_at)}
            changes.append((item, item.changed(status="merged", version=item.version + 1, **closing)))
        return self.planned(checked, "merge", [*changes, *extra], new)

    def remove(self, checked: CheckedProposal, target: MemoryItem) -> Outcome:
        """Remove an item that was never true or is no longer wanted."""
        sources = join_sources(target.sources, checked.sources)
        removed = target.changed(status="removed", sources=sources, version=target.version + 1)
        return self.planned(checked, "remove", [(target, removed)], removed)


def _joined_details(target: MemoryItem, merged: list[MemoryItem], summary: str | None) -> str:
    """The details of an item, with the text of merged items that it lacks."""
    summary = summary or str(getattr(target, "summary", ""))
    details = str(getattr(target, "details", ""))
    for text in (str(getattr(item, name, "")) for item in merged for name in ("summary", "details")):
        if text and fold(text) not in fold(f"{summary}\n{details}"):
            details = f"{details}\n{text}" if details else text
    return details
