"""Changes of existing items: update, merge and remove."""

from __future__ import annotations

from typing import Any

from hexamem.agents.applying.contradictions import history
from hexamem.agents.applying.duplicates import fold, join_sources
from hexamem.agents.applying.slots import slot_of
from hexamem.agents.applying.state import ApplyState, Changes, Checked
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import CoreItem, MemoryItem
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.proposals import Outcome
from hexamem.stores.applying import left_before

__all__ = ["ItemEdits"]


class ItemEdits(ApplyState):
    """Update, merge and remove."""

    def change(self, proposal: Checked, old: MemoryItem) -> Outcome:
        """Change an item in place: what it stated before was never true, or was less."""
        fields, extra = self._fields(proposal, old, join_sources(old.sources, proposal.sources))
        new = old.changed(**fields)
        if new == old:
            return Outcome(applied="noop", item_id=old.id)
        state = new.model_dump(mode="json", include=set(fields) - {"sources", "metadata"})
        if before := left_before(self.known, old.id, "update", proposal.sources, state):
            return Outcome(applied="noop", item_id=old.id, operation_id=before.id)
        slot = slot_of(new.metadata)
        if slot and slot == slot_of(old.metadata):
            new = self._within_neighbours(proposal, new, slot)
            if new == old:
                return Outcome(applied="noop", item_id=old.id)
        elif slot and any(item.status == "active" for item in self.in_slot(new.kind, slot)):
            raise InvalidInputError(f"the update would give {old.id} the slot {slot}, which another item has")
        new = new.changed(version=old.version + 1)
        return self.written(proposal, "update", [(old, new), *extra], new)

    def _fields(self, proposal: Checked, old: MemoryItem, sources: Any) -> tuple[dict[str, Any], Changes]:
        """The fields that a proposal sets in an item, and what has no room in it."""
        fields: dict[str, Any] = {**proposal.values, "sources": sources}
        extra: Changes = []
        if "metadata" in fields:
            fields["metadata"] = {**old.metadata, **fields["metadata"]}
        if isinstance(old, CoreItem) and isinstance(fields.get("value"), str):
            fields["value"], extra = self.fitted(old, fields["value"])
        return fields, extra

    def _within_neighbours(self, proposal: Checked, new: MemoryItem, slot: str) -> MemoryItem:
        """The item with its times moved out of those of the other values of its slot."""
        line = history(self.dated([item for item in self.in_slot(new.kind, slot) if item.id != new.id]))
        begins, ends = new.valid_from, new.valid_to
        overlap = InvalidInputError(f"the times of {new.id} lie within those of another value of {slot}")
        for other in line:
            if other.item.status == "superseded" and other.item.valid_to and new.status == "active":
                if begins is None or begins < other.item.valid_to:
                    begins = other.item.valid_to
            elif other.item.valid_from and ends and other.begins < ends and (begins is None or other.begins >= begins):
                ends = other.item.valid_from
            elif begins and other.is_valid_at(begins):
                if other.item.valid_to is None:
                    raise overlap
                begins = other.item.valid_to
        if begins is not None and ends is not None and ends < begins:
            raise overlap
        if (begins, ends) == (new.valid_from, new.valid_to):
            return new
        proposal.notes.append(f"the times of {new.id} were moved out of those of the other values of {slot}")
        return new.changed(valid_from=begins, valid_to=ends)

    def merge(self, proposal: Checked) -> Outcome:
        """Take items into the target: their sources, and what they state and it does not."""
        target = self.target(proposal)
        if target is None:
            raise NotFoundError(f"no {proposal.kind} item {(proposal.target or '')[:80]!r} to merge into")
        merged = [item for item in self.known.whole(proposal.merged) if item.id != target.id]
        if missing := sorted(set(proposal.merged) - {item.id for item in merged} - {target.id}):
            raise NotFoundError(f"no items {', '.join(missing)[:200]} to merge")
        if any(item.kind != target.kind for item in merged):
            raise InvalidInputError("items of several kinds cannot be merged")
        merged = [item for item in merged if item.status == "active"]
        if not merged and not proposal.values:
            return Outcome(applied="noop", item_id=target.id)
        sources = target.sources
        for item in merged:
            sources = join_sources(sources, item.sources)
        if isinstance(target, CoreItem):
            values = [item.value for item in (target, *merged) if isinstance(item, CoreItem)]
            proposal.values.setdefault("value", "\n".join(dict.fromkeys(values)))
        elif "details" in type(target).model_fields:
            proposal.values.setdefault("details", _joined_details(target, merged, proposal.values.get("summary")))
        fields, extra = self._fields(proposal, target, join_sources(sources, proposal.sources))
        new = target.changed(**fields)
        if new == target and not merged:
            return Outcome(applied="noop", item_id=target.id)
        state = new.model_dump(mode="json", include=set(fields) - {"sources", "metadata"})
        ids = [item.id for item in merged]
        if before := left_before(self.known, target.id, "merge", proposal.sources, state, ids):
            return Outcome(applied="noop", item_id=target.id, operation_id=before.id)
        changes: Changes = [(target, new.changed(version=target.version + 1))]
        for item in merged:
            gone = {"superseded_by": target.id, "superseded_at": max(utc_now(), item.created_at)}
            changes.append((item, item.changed(status="merged", version=item.version + 1, **gone)))
        return self.written(proposal, "merge", [*changes, *extra], new)

    def remove(self, proposal: Checked) -> Outcome:
        """Remove an item: it was never true, or is not wanted any more."""
        target = self.target(proposal)
        if target is None:
            item = self.known.get(proposal.target or "")
            if item is not None and item.kind == proposal.kind and item.status == "removed":
                return Outcome(applied="noop", item_id=item.id)
            raise NotFoundError(f"no {proposal.kind} item {(proposal.target or '')[:80]!r} to remove")
        if before := left_before(self.known, target.id, "remove", proposal.sources, {"status": "removed"}):
            return Outcome(applied="noop", item_id=target.id, operation_id=before.id)
        sources = join_sources(target.sources, proposal.sources)
        removed = target.changed(status="removed", sources=sources, version=target.version + 1)
        return self.written(proposal, "remove", [(target, removed)], removed)


def _joined_details(target: MemoryItem, merged: list[MemoryItem], summary: str | None) -> str:
    """The details of an item with what merged items state and it does not."""
    summary = summary or str(getattr(target, "summary", ""))
    details = str(getattr(target, "details", ""))
    for text in (str(getattr(item, name, "")) for item in merged for name in ("summary", "details")):
        if text and fold(text) not in fold(f"{summary}\n{details}"):
            details = f"{details}\n{text}" if details else text
    return details
