"""Applies a checked proposal: decides which items it adds, changes, closes or merges, and writes them as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hexamem.agents.applying.duplicates import join_sources, same_fact
from hexamem.agents.applying.item_edits import Changes, CheckedProposal, ItemEdits
from hexamem.agents.applying.slots import Placement, closed, place
from hexamem.errors import InvalidInputError, NotFoundError
from hexamem.memory_types import CoreItem, MemoryItem, OperationKind, Sensitivity, VaultItem
from hexamem.memory_types.base import utc_now
from hexamem.memory_types.item_keys import fold, slot_of, statement_key
from hexamem.memory_types.proposals import Outcome
from hexamem.stores.ledger.items import STATED_AT

__all__ = ["ItemChanges"]

_MOST_REMOVALS = 10  # of one batch, however much a model was talked into
_LATE = timedelta(minutes=5)  # after a longer delay an item records when its source was stated
_STRICTNESS: tuple[Sensitivity, ...] = ("low", "medium", "high")


class ItemChanges(ItemEdits):
    """Applies checked proposals within one transaction; each sees the changes of those before it."""

    _removals = 0  # so far

    def carry_out(self, checked: CheckedProposal) -> Outcome:
        """Apply a proposal. One that the user did not state in their own words adds an item, and changes no other.

        Raises:
            InvalidInputError: its values do not make a valid item, or it would change an item without the user's words.
            NotFoundError: its target does not exist.
        """
        proposal = checked.proposal
        target = self.target(checked)
        if target is not None and proposal.operation == "update" and checked.secret_id is not None:
            return self._describe_secret(checked, target)
        if proposal.operation == "add" or (proposal.operation == "update" and proposal.target is None):
            return self._add(checked)
        if proposal.operation == "supersede":
            if target is None and proposal.target is not None:
                note = f"there is no {checked.kind} item {proposal.target[:80]} to supersede; added as a new one"
                checked.notes.append(note)
            if target is not None and not checked.own_words:
                checked.notes.append(f"{target.id} is not superseded: that needs the user's own words")
                target = None
            return self._add(checked, target)
        if done := self.done_before(checked, proposal.operation, proposal.target, proposal.merged, checked.values):
            return done
        if target is None:
            removed = self.known.get(proposal.target or "") if proposal.operation == "remove" else None
            if removed is not None and removed.kind == checked.kind and removed.status == "removed":
                return Outcome(applied="noop", item_id=removed.id)
            raise NotFoundError(f"no {checked.kind} item {(proposal.target or '')[:80]!r} to {proposal.operation}")
        if not checked.own_words:
            raise InvalidInputError(
                f"to {proposal.operation} an item needs the user's own words, not pasted or quoted text"
            )
        edit = {"update": self.change, "merge": self.merge, "remove": self.remove}[proposal.operation]
        if proposal.operation != "update":
            self._removals += 1
            if self._removals > _MOST_REMOVALS:
                raise InvalidInputError(f"a batch may remove or merge {_MOST_REMOVALS} items; these were done before")
        return edit(checked, target)

    def _add(self, checked: CheckedProposal, target: MemoryItem | None = None) -> Outcome:
        """Add an item, or merge it into one that states the same; it supersedes ``target``, if there is one."""
        new, extra = self._new(checked)
        if done := self.done_before(checked, *map(fold, (new.text, checked.values.get("value", "")))):
            return done
        if isinstance(new, VaultItem) and new.secret_id is not None:
            return self._add_secret(checked, new, target)
        slot = slot_of(new.metadata)
        if slot and not checked.own_words and self.in_slot(new.kind, slot):
            metadata = {name: value for name, value in new.metadata.items() if name != "slot"}
            new, slot = new.changed(metadata=metadata), ""
        if not slot and target is not None and (slot := slot_of(target.metadata)):
            new = new.changed(metadata={**new.metadata, "slot": target.metadata["slot"]})
        if target is not None:
            # It happened otherwise, or not.
            undated_event = not slot and new.kind == "episodic" and new.valid_from is None
            if undated_event or self._calls_off(checked, new, target):
                ended = closed(target, target.valid_from, new.id)
                return self.planned(checked, "supersede", [(target, ended), (None, new), *extra], new)
        if slot:
            values = self.in_slot(new.kind, slot)
            if target is not None and all(item.id != target.id for item in values):
                values.append(target)
            if values:
                return self._place(checked, new, values, extra)
        elif target is not None:
            return self._place(checked, new, [target], extra)
        elif known := self._known(new):
            return self._join(checked, known, new, extra)
        return self.planned(checked, "add", [(None, new), *extra], new)

    def _calls_off(self, checked: CheckedProposal, new: MemoryItem, target: MemoryItem) -> bool:
        """Whether an item replaces one that was to hold later: a plan that came about early, or was given up."""
        if target.status != "active" or target.valid_from is None:
            return False
        stated = max(self.dated([target])[0].times, default=checked.stated_at)
        return (new.valid_from or checked.stated_at) < target.valid_from and stated <= checked.stated_at

    def _new(self, checked: CheckedProposal) -> tuple[MemoryItem, Changes]:
        """The new item, and further items for the overflow."""
        fields: dict[str, Any] = {**checked.values, "kind": checked.kind, "user": self.tx.user, "created_at": utc_now()}
        if checked.kind == "episodic":
            fields.setdefault("occurred_at", checked.stated_at)
        elif fields["created_at"] - checked.stated_at > _LATE:
            fields["metadata"] = {**fields.get("metadata", {}), STATED_AT: checked.stated_at.isoformat()}
        if checked.kind == "vault":
            fields["secret_id"] = checked.secret_id
        if checked.kind == "procedural" and fields.get("steps") and not fields.get("summary"):
            fields["summary"] = fields["steps"][0][:200]
        value = fields.get("value")
        if value is not None:
            fields["value"] = ""
        new = self.tx.types.parse({**fields, "sources": checked.sources})
        if not isinstance(new, CoreItem) or value is None:
            return new, []
        fitted, extra = self.fitted(new, value)
        return new.changed(value=fitted), extra

    def _add_secret(self, checked: CheckedProposal, new: VaultItem, target: MemoryItem | None) -> Outcome:
        """Add the item of a secret, or describe the one that it has better; it supersedes ``target``, or the item in its slot."""
        same = [item for item in self.known.stating("vault", statement_key(new)) if isinstance(item, VaultItem)]
        known = next((item for item in same if item.status == "active"), None)
        if known is None and same and not checked.own_words:
            # Only the user's own words make a secret current again that was replaced.
            return Outcome(applied="noop", item_id=same[0].id)
        item = new
        if known is not None:
            item = _described(known, new, "sensitivity" in checked.values) if checked.own_words else known
        slot = slot_of(new.metadata)
        if target is None and slot and checked.own_words and (known is None or not slot_of(known.metadata)):
            current = self.dated([value for value in self.in_slot("vault", slot) if value.status == "active"])
            target = next((value.item for value in current if max(value.times) <= checked.stated_at), None)
        changes: Changes = []
        if item != known:
            changes = [(known, item.changed(version=known.version + 1) if known else item)]
        if target is not None and target.status == "active" and target.id != item.id:
            begun = target.valid_from or min(self.dated([target])[0].times)
            moment = max(checked.values.get("valid_from") or checked.stated_at, begun)
            item = item.changed(valid_from=item.valid_from or moment, version=known.version + 1 if known else 1)
            changes = [(target, closed(target, moment, item.id)), (known, item)]
            return self.planned(checked, "supersede", changes, item)
        if not changes:
            return Outcome(applied="noop", item_id=item.id)
        return self.planned(checked, "update" if known else "add", changes, item)

    def _place(
        self, checked: CheckedProposal, new: MemoryItem, values: Sequence[MemoryItem], extra: Changes
    ) -> Outcome:
        """Insert a value into the history of its slot, by its time."""
        placed = place(self.dated(values), new, checked.stated_at)
        if placed.joined is not None:
            return self._join(checked, placed.joined, new, extra, placed)
        kind: OperationKind = "supersede" if placed.supersedes else "add"
        return self.planned(checked, kind, [*placed.changes, *extra], new)

    def _join(
        self,
        checked: CheckedProposal,
        known: MemoryItem,
        new: MemoryItem,
        extra: Changes,
        placed: Placement | None = None,
    ) -> Outcome:
        """Merge a new item into one that states the same: sources, times and details."""
        placed = placed or Placement()
        fields: dict[str, Any] = {"sources": join_sources(known.sources, new.sources)}
        details = str(getattr(new, "details", ""))
        if details and fold(details) not in fold(known.text):
            fields["details"] = "\n".join(part for part in (getattr(known, "details", ""), details) if part)
        if placed.begins:
            fields["valid_from"] = placed.begins
        begins = placed.begins or known.valid_from
        if placed.ends and (begins is None or placed.ends > begins):
            fields["valid_to"] = placed.ends
        after = known.changed(**fields)
        rest = [item.changed(metadata={**item.metadata, "overflow_of": known.id}) for _, item in extra]
        rest = [item for item in rest if self._known(item) is None]
        if after == known and not placed.changes and not rest:
            return Outcome(applied="noop", item_id=known.id)
        after = after.changed(version=known.version + 1)
        kind: OperationKind = "merge" if not placed.changes and set(fields) == {"sources"} else "update"
        changes: Changes = [*placed.changes, (known, after), *((None, item) for item in rest)]
        return self.planned(checked, kind, changes, after)

    def _describe_secret(self, checked: CheckedProposal, target: MemoryItem) -> Outcome:
        """Update the item of a secret with the description in a proposal."""
        fields = {"caption": "secret", **target.payload, **checked.values}
        checked.values = {
            name: value for name, value in fields.items() if name in VaultItem.model_fields and name != "secret_id"
        }
        return self._add(checked)

    def _known(self, new: MemoryItem) -> MemoryItem | None:
        """The active item that states the same as a new one."""
        same = self.known.stating(new.kind, statement_key(new))
        others = (item for item in same if item.status == "active" and item.id != new.id)
        return next((item for item in others if same_fact(item, new, self.zone)), None)


def _described(known: VaultItem, new: VaultItem, sets_sensitivity: bool) -> VaultItem:
    """The item of a secret with a further description: the longer caption, the stricter sensitivity."""
    steps = {source.step_id for source in known.sources}
    return known.changed(
        caption=max(known.caption, new.caption, key=lambda text: len(text.split())),
        source=known.source or new.source,
        sensitivity=max(known.sensitivity, new.sensitivity, key=_STRICTNESS.index)
        if sets_sensitivity
        else known.sensitivity,
        metadata={**new.metadata, **known.metadata},  # it stays in its slot
        valid_from=known.valid_from or new.valid_from,
        sources=join_sources(known.sources, [source for source in new.sources if source.step_id not in steps]),
    )
