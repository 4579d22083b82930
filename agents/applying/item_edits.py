"""Changes of items that are there: corrected or told in more detail, merged, removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import InvalidInputError, NotFoundError
from ...memory_types import CoreItem, MemoryItem
from ...memory_types.base import utc_now
from ...memory_types.proposals import Outcome
from ...stores.applying import left_before
from .contradictions import history
from .duplicates import join_sources
from .likeness import telling_words
from .slots import slot_of
from .state import ApplyState, Changes, Checked, owned_by

__all__ = ["ItemEdits"]


class ItemEdits(ApplyState):
    """Update, merge and remove."""

    def changed(self, one: Checked, old: MemoryItem, fields: dict[str, Any], extra: Changes) -> Outcome:
        """Change an item in place: what it said before was never true, or said less."""
        slot = self.slot(old)
        if "metadata" in fields:
            fields["metadata"] = {**old.metadata, **fields["metadata"]}
        fields["sources"] = join_sources(old.sources, one.heard.sources)
        if isinstance(old, CoreItem) and isinstance(fields.get("value"), str):
            probe, more = self.fitted(old, fields["value"], old.limit)
            fields["value"], extra = probe.value, [*owned_by(extra, old.id), *more]
            if extra:
                overflow = [*probe.metadata.get("overflow", []), *(after.id for _, after in extra)]
                fields["metadata"] = {**fields.get("metadata", old.metadata), "overflow": list(dict.fromkeys(overflow))}
        new = old.changed(**fields)
        if new == old:
            return Outcome(applied="noop", item_id=old.id)
        state = new.model_dump(mode="json", include=set(fields) - {"sources", "metadata"})
        if before := left_before(self.known, old.id, "update", one.heard.sources, state):
            return Outcome(applied="noop", item_id=old.id, operation_id=before.id)
        now_in = slot_of(new.kind, new.text, new.metadata)
        if now_in != slot and any(item.status == "active" for item in self.in_slot(new.kind, now_in) if now_in):
            raise InvalidInputError(f"the update would give {old.id} the slot {now_in}, which another item holds")
        if now_in and now_in == slot:
            new = self._within_neighbours(one, new, slot)
            if new == old:
                return Outcome(applied="noop", item_id=old.id)
        new = new.changed(version=old.version + 1)
        return self.written(one, "update", [(old, new), *extra], new)

    def _within_neighbours(self, one: Checked, new: MemoryItem, slot: str) -> MemoryItem:
        """The item with its times kept out of those of the other values of its slot."""
        line = history(self.held([item for item in self.in_slot(new.kind, slot) if item.id != new.id]))
        begins, ends = new.valid_from, new.valid_to
        for other in line:
            if other.item.status == "superseded" and other.item.valid_to and new.status == "active":
                if begins is None or begins < other.item.valid_to:
                    begins = other.item.valid_to
            elif other.item.valid_from and ends and other.begins < ends and (begins is None or other.begins >= begins):
                ends = other.item.valid_from
            elif begins and other.holds_at(begins):
                if other.item.valid_to is None:
                    raise InvalidInputError(f"the times of {new.id} lie within those of another value of {slot}")
                begins = other.item.valid_to
        if begins is not None and ends is not None and ends < begins:
            raise InvalidInputError(f"the times of {new.id} lie within those of another value of {slot}")
        if (begins, ends) != (new.valid_from, new.valid_to):
            one.notes.append(f"the times of {new.id} were kept out of those of the other values of {slot}")
            return new.changed(valid_from=begins, valid_to=ends)
        return new

    def merge(self, one: Checked) -> Outcome:
        target = self.target(one)
        if target is None:
            raise NotFoundError(f"no {one.kind} item {(one.target or '')[:80]!r} to merge into")
        taken = [item for item in self.known.whole(one.merged) if item.id != target.id]
        missing = sorted(set(one.merged) - {item.id for item in taken} - {target.id})
        if missing:
            raise NotFoundError(f"no items {', '.join(missing)[:200]} to merge")
        if any(item.kind != target.kind for item in taken):
            raise InvalidInputError("items of several kinds cannot be merged")
        taken = [item for item in taken if item.status == "active"]
        if not taken and not one.values:
            return Outcome(applied="noop", item_id=target.id)
        fields = dict(one.values)
        if "metadata" in fields:
            fields["metadata"] = {**target.metadata, **fields["metadata"]}
        sources = target.sources
        for item in taken:
            sources = join_sources(sources, item.sources)
        fields["sources"] = join_sources(sources, one.heard.sources)
        extra: Changes = []
        if isinstance(target, CoreItem):
            values = [item.value for item in (target, *taken) if isinstance(item, CoreItem)]
            value = fields.get("value", "\n".join(dict.fromkeys(values)))
            probe, extra = self.fitted(target, value, target.limit)
            fields["value"] = probe.value
            if extra:
                fields["metadata"] = {**fields.get("metadata", target.metadata), "overflow": probe.metadata["overflow"]}
        elif "details" in type(target).model_fields and "details" not in fields:
            fields["details"] = self._joined_details(target, taken, fields)
        new = target.changed(**fields)
        if new == target and not taken:
            return Outcome(applied="noop", item_id=target.id)
        state = new.model_dump(mode="json", include=set(fields) - {"sources", "metadata"})
        ids = [item.id for item in taken]
        if before := left_before(self.known, target.id, "merge", one.heard.sources, state, ids):
            return Outcome(applied="noop", item_id=target.id, operation_id=before.id)
        now = utc_now()
        changes: Changes = [
            (
                item,
                item.changed(
                    status="merged",
                    superseded_by=target.id,
                    superseded_at=max(now, item.created_at),
                    version=item.version + 1,
                ),
            )
            for item in taken
        ]
        new = new.changed(version=target.version + 1)
        return self.written(one, "merge", [(target, new), *changes, *extra], new)

    @staticmethod
    def _joined_details(target: MemoryItem, taken: Sequence[MemoryItem], fields: Mapping[str, Any]) -> str:
        """The details with what the merged items say and the target does not."""
        own = str(fields.get("summary") or getattr(target, "summary", ""))
        parts = [str(getattr(target, "details", ""))]
        for item in taken:
            for name in ("summary", "details"):
                text = str(getattr(item, name, ""))
                if text and not telling_words(text) <= telling_words("\n".join([own, *parts])):
                    parts.append(text)
        return "\n".join(part for part in parts if part)

    def remove(self, one: Checked) -> Outcome:
        target = self.target(one)
        if target is None:
            there = self.known.get(one.target or "")
            if there is not None and there.kind == one.kind and there.status == "removed":
                return Outcome(applied="noop", item_id=there.id)
            raise NotFoundError(f"no {one.kind} item {(one.target or '')[:80]!r} to remove")
        sources = join_sources(target.sources, one.heard.sources)
        if before := left_before(self.known, target.id, "remove", one.heard.sources, {"status": "removed"}):
            return Outcome(applied="noop", item_id=target.id, operation_id=before.id)
        gone = target.changed(status="removed", sources=sources, version=target.version + 1)
        return self.written(one, "remove", [(target, gone)], gone)
