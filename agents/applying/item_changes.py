"""What a checked proposal comes to: which items it adds, changes, closes or joins, each written as one operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from ...errors import InvalidInputError, NotFoundError
from ...memory_types import ITEM_KINDS, CoreItem, MemoryItem, OperationKind, Sensitivity, VaultItem, item_from
from ...memory_types.base import utc_now
from ...memory_types.proposals import OF_THE_ENDED, Outcome
from ...stores.applying import keyed_id, left_before
from ...stores.ledger.items import SAID_AT
from .contradictions import Placement, corrects, history, place, replaces_figures
from .duplicates import compare_items, find_duplicate, from_same_words, join_sources
from .endings import ItemEndings, in_slots
from .likeness import Verdict, telling_words
from .slots import is_fixed, same_value, slot_of, stated_value
from .state import Changes, Checked, owned_by

__all__ = ["ItemChanges"]

_NEAR = 20  # items of which a duplicate is looked for
_LATE = timedelta(minutes=5)  # after which what was said is learned so late that the item tells when it was said


class ItemChanges(ItemEndings):
    """Carries out checked proposals within one transaction, one after the other, each on what the others left."""

    def carry_out(self, one: Checked) -> Outcome:
        """Do what a proposal comes to.

        Raises:
            InvalidInputError: its values make no item, or do not fit the item they are for.
            NotFoundError: the item it is for does not exist.
        """
        match one.operation:
            case "add":
                return self._add(one)
            case "supersede":
                return self._supersede(one)
            case "update":
                return self._update(one)
            case "merge":
                return self.merge(one)
            case "remove":
                return self.remove(one)
            case "noop":
                return Outcome(applied="noop", item_id=one.target)

    def foresee(self, one: Checked) -> MemoryItem | None:
        """The item that a proposal would add, where nothing but its words tells whether it is known."""
        new = self._new(one, one.values)
        return None if slot_of(new.kind, new.text, new.metadata) else new

    def look_ahead(self, made: Sequence[MemoryItem]) -> None:
        """Compare items with what is known: read what it takes at once, and remember the vectors of texts."""
        near = [self._near_ids(new, new.text) for new in made]
        self.known.whole(list(dict.fromkeys(item_id for ids in near for item_id in ids)))
        for new, ids in zip(made, near, strict=True):
            find_duplicate(self.known.whole(ids), new, self.likeness, self.zone)

    def _add(self, one: Checked, target: MemoryItem | None = None) -> Outcome:
        """Add an item, unless it states what is known; with a ``target`` it takes that one's place."""
        ended, unknown = self.ending(one)
        if unknown:
            return Outcome(applied="noop")
        if ended and one.values.get("label") == OF_THE_ENDED:
            of_it = next((item for item in ended if isinstance(item, CoreItem)), None)
            one.values["label"] = of_it.label if of_it else OF_THE_ENDED
            if of_it is not None and self.slot(of_it):
                one.values["metadata"] = {**one.values.get("metadata", {}), "slot": self.slot(of_it)}
        if as_it_was := self.goes_on(one, ended):
            one.values["value" if one.kind == "core" else "summary"] = as_it_was
        values = {key: value for key, value in one.values.items() if key != "value" or one.kind != "core"}
        whole = one.values.get("value") if one.kind == "core" else None
        if one.kind == "core":
            if not whole:
                raise InvalidInputError("CoreItem is not valid: value is missing")
            values["value"] = whole[:1]  # its length is dealt with below
        new = self._new(one, values)
        text = new.text if whole is None else f"{one.values.get('label')}\n{whole}"
        # The same words give the same id again: what a killed process had applied is found.
        spans = [f"{s.step_id}:{s.start}:{s.end}:{'' if s.start is not None else s.quote}" for s in one.heard.sources]
        new = new.changed(id=keyed_id(self.cipher, self.tx.user, "item", one.kind, text, *spans))
        if self.known.holds(new.kind, new.id):
            return Outcome(applied="noop", item_id=new.id)
        extra: Changes = []
        if isinstance(new, CoreItem) and isinstance(whole, str):
            new, extra = self.fitted(new, whole, new.limit)
        if isinstance(new, VaultItem) and new.secret_id is not None:
            return self._add_vault(one, new, target)
        slot = slot_of(new.kind, text, new.metadata)
        if not slot and target is not None:
            slot = self.slot(target)
        if slot:
            if not new.metadata.get("slot"):  # under the name that a manager gave it, it finds it again
                named = target.metadata.get("slot") if target is not None else None
                new = new.changed(metadata={**new.metadata, "slot": named or slot})
            for item in self.in_slot(new.kind, slot, removed=True):  # what was taken back is not learned again
                if self._heard_before(item, new, self._same_value(item, new)):
                    return Outcome(applied="noop", item_id=item.id)
            held = self.in_slot(new.kind, slot)
            if not is_fixed(slot):  # what is taken back has no place in the history
                held = [item for item in held if item not in self.taken_back(one, ended)]
            if target is not None and all(item.id != target.id for item in held):
                held.append(target)
            if any(in_slots(slot, ends) for ends in one.ends):
                start = new.valid_from or one.said_at
                host = next((each.item for each in history(self.held(held)) if each.holds_at(start)), None)
                if host is not None and not self.ends_value(one, host):
                    return Outcome(
                        applied="noop", item_id=host.id
                    )  # what ended had been replaced before, or is another
            if held:
                verdicts = {item.id: self._same_value(item, new) for item in held}
                for item in held:  # heard before: what was learned of this value since must not be put back
                    if self._heard_before(item, new, verdicts[item.id]):
                        return Outcome(applied="noop", item_id=item.id)
                return self._place(one, new, held, verdicts, extra, fixed=is_fixed(slot))
            return self.written(one, "add", [(None, new), *extra], new)
        if target is not None:
            if new.kind == "episodic" and new.valid_from is None:
                return self._replace_event(one, target, new)
            verdict = compare_items(target, new, self.likeness, self.zone)
            return self._place(one, new, [target], {target.id: verdict}, extra)
        near = self._near(new, text)
        if duplicate := find_duplicate(near, new, self.likeness, self.zone):
            return self._join(one, duplicate[0], new, duplicate[1], extra)
        if new.kind == "semantic":
            for item in near:
                if telling_words(item.text.split("\n")[0]) == telling_words(text.split("\n")[0]) and replaces_figures(
                    stated_value(item.kind, item.text, {}), stated_value(new.kind, new.text, {}), one.quotes
                ):
                    return self._place(one, new, [item], {item.id: "different"}, extra)
        return self.written(one, "add", [(None, new), *extra], new)

    def _new(self, one: Checked, values: Mapping[str, Any]) -> MemoryItem:
        fields: dict[str, Any] = {**values, "kind": one.kind, "user": self.tx.user, "created_at": utc_now()}
        if one.kind == "episodic":
            fields.setdefault("occurred_at", one.said_at)
        if one.kind == "vault":
            fields["secret_id"] = one.secret_id
        if one.kind == "procedural" and fields.get("steps") and not fields.get("summary"):
            fields["summary"] = fields["steps"][0][:200]
        if one.kind != "episodic" and fields["created_at"] - one.said_at > _LATE:
            fields["metadata"] = {**fields.get("metadata", {}), SAID_AT: one.said_at.isoformat()}
        return item_from({**fields, "sources": one.heard.sources})

    def _add_vault(self, one: Checked, new: VaultItem, target: MemoryItem | None) -> Outcome:
        """A secret has one item; a further proposal for it may describe it better. It may take another's place."""
        known = [item for item in self.of_kind("vault") if getattr(item, "secret_id", None) == new.secret_id]
        changes: Changes = []
        item: VaultItem = new
        if known and isinstance(known[0], VaultItem):
            old = known[0]
            better = len(telling_words(new.caption)) > len(telling_words(old.caption))
            item = old.changed(
                caption=new.caption if better else old.caption,
                source=old.source or new.source,
                sensitivity=_stricter(old, new) if "sensitivity" in one.values else old.sensitivity,
                metadata={**old.metadata, **new.metadata},
                sources=join_sources(old.sources, [s for s in new.sources if s.step_id not in _cited(old)]),
            )
            if item != old:
                item = item.changed(version=old.version + 1)
                changes.append((old, item))
        else:
            changes.append((None, new))
        if target is not None and target.status == "active" and target.id != item.id:
            moment = max(one.values.get("valid_from") or one.said_at, target.valid_from or one.said_at)
            before = known[0] if known else None
            if item.valid_from is None:
                item = item.changed(valid_from=moment, version=before.version + 1 if before else 1)
            gone = {"superseded_by": item.id, "superseded_at": max(utc_now(), target.created_at), "valid_to": moment}
            closed = target.changed(status="superseded", version=target.version + 1, **gone)
            changes = [(target, closed), (before, item)]
            return self.written(one, "supersede", changes, item)
        if not changes:
            return Outcome(applied="noop", item_id=item.id)
        return self.written(one, "update" if known else "add", changes, item)

    def _replace_event(self, one: Checked, old: MemoryItem, new: MemoryItem) -> Outcome:
        """An event that another one replaces did not happen, or not so: it was true at no time."""
        gone = {"superseded_by": new.id, "superseded_at": max(utc_now(), old.created_at), "valid_to": old.valid_from}
        closed = old.changed(status="superseded", version=old.version + 1, **gone)
        return self.written(one, "supersede", [(old, closed), (None, new)], new)

    def _place(
        self,
        one: Checked,
        new: MemoryItem,
        held: Sequence[MemoryItem],
        verdicts: Mapping[str, Verdict],
        extra: Changes,
        *,
        fixed: bool = False,
    ) -> Outcome:
        """Put a value where its time is among those of its slot."""
        line = history(self.held(held))
        if (fixed or corrects(one.quotes)) and line:
            # What is taken back is what was said last before; of what never changes, the last word counts.
            before = [
                (max(moment for moment in item.said if moment <= one.said_at), item.item)
                for item in line
                if min(item.said) <= one.said_at
            ]
            meant = max(before, key=lambda pair: pair[0])[1] if before else None
            later = line[-1].item if fixed and any(m > one.said_at for m in line[-1].said) else None
            if later is not None and verdicts[later.id] == "different":
                moment = {"valid_from": one.said_at, "valid_to": one.said_at, "superseded_at": new.created_at}
                never = new.changed(status="superseded", superseded_by=later.id, **moment)
                return self.written(one, "add", [(None, never), *extra], never)
            if later is None and meant is not None and verdicts[meant.id] == "different":
                return self.changed(one, meant, self._fields_of(new), extra)
        copy_id = keyed_id(self.cipher, self.tx.user, "item", new.id, "copy")
        same = {item_id: verdict != "different" for item_id, verdict in verdicts.items()}
        placed = place(line, new, one.said_at, same, utc_now(), copy_id)
        if placed.joined is not None:
            return self._join(one, placed.joined, new, verdicts[placed.joined.id], extra, placed)
        kind: OperationKind = "supersede" if placed.supersedes else "add"
        return self.written(one, kind, [*placed.changes, *extra], new)

    def _join(
        self,
        one: Checked,
        known: MemoryItem,
        new: MemoryItem,
        verdict: Verdict,
        extra: Changes,
        placed: Placement | None = None,
    ) -> Outcome:
        """Take a new item into one that states it already: its sources, and what it says beyond."""
        fields: dict[str, Any] = {"sources": join_sources(known.sources, new.sources)}
        if verdict == "more" and not self._worded_by_hand(known):
            fields |= self._detail(known, new)
        if placed is not None:
            fields |= {"valid_from": placed.begins} if placed.begins else {}
            ends = placed.ends
            if ends and (known.valid_from is None or ends > (placed.begins or known.valid_from)):
                fields["valid_to"] = ends
        if isinstance(known, CoreItem) and "value" in fields:
            probe, more = self.fitted(known, fields["value"], known.limit)
            fields["value"], extra = probe.value, [*extra, *more]
            overflow = [*known.metadata.get("overflow", []), *probe.metadata.get("overflow", [])]
        else:
            overflow = list(known.metadata.get("overflow", []))
        if extra:
            extra = owned_by(extra, known.id)
            overflow += [after.id for _, after in extra]
            fields["metadata"] = {
                **known.metadata,
                **fields.get("metadata", {}),
                "overflow": list(dict.fromkeys(overflow)),
            }
        after = known.changed(**fields)
        changes = list(placed.changes) if placed is not None else []
        if after == known and not changes:
            return Outcome(applied="noop", item_id=known.id)
        after = after.changed(version=known.version + 1)
        only_sources = not changes and set(fields) == {"sources"}
        kind: OperationKind = "merge" if only_sources else "update"
        state = after.model_dump(mode="json", include=set(fields) - {"sources", "metadata"})
        # Words that were taken in with a change of value, which was undone, are not taken in again without it.
        alike: tuple[OperationKind, ...] = ("merge", "update") if only_sources else (kind,)
        for done in alike:
            if before := left_before(self.known, known.id, done, new.sources, state):
                return Outcome(applied="noop", item_id=known.id, operation_id=before.id)
        return self.written(one, kind, [*changes, (known, after), *extra], after)

    def _heard_before(self, item: MemoryItem, new: MemoryItem, verdict: Verdict) -> bool:
        """Whether an item states a value by these very words, or did so until it was changed or an operation undone."""
        words = set(_spans(new))
        cited = words <= set(_spans(item))
        if cited and verdict == "same":
            return True
        if not cited and not self.known.undone:
            return False
        states = [
            change.after
            for one in self.known.history(item.id)
            for change in one.changes
            if change.target_id == item.id and change.after
        ]
        former = [item_from({**state, "user": self.tx.user}) for state in states]
        return any(words <= set(_spans(one)) and self._same_value(one, new) == "same" for one in former)

    def _worded_by_hand(self, item: MemoryItem) -> bool:
        """Whether what an item says was last put by a person: then managers add sources to it, and no words."""
        words = [one for one in self.known.history(item.id) if one.kind in ("add", "update")]
        return bool(words) and not words[-1].actor.startswith("rules") and words[-1].actor not in ITEM_KINDS

    @staticmethod
    def _detail(known: MemoryItem, new: MemoryItem) -> dict[str, Any]:
        """The fields by which an item says what a new one says beyond it; nothing it said is lost."""
        names = {"core": ("value",), "procedural": ("steps",), "vault": ("caption",)}.get(known.kind, ("summary",))
        fields: dict[str, Any] = {name: getattr(new, name) for name in names}
        if known.kind in ("semantic", "episodic"):
            one, two = getattr(known, "summary", ""), getattr(new, "summary", "")
            if not telling_words(one) <= telling_words(two):
                fields["summary"] = one
            details = [getattr(known, "details", ""), getattr(new, "details", "")]
            if fields["summary"] == one and not telling_words(two) <= telling_words(one):
                details.append(two)
            fields["details"] = "\n".join(dict.fromkeys(part for part in details if part))
        fields["metadata"] = {**known.metadata, **new.metadata}
        return fields

    def _supersede(self, one: Checked) -> Outcome:
        target = self.target(one)
        if target is None and one.target is not None:
            one.notes.append(f"there is no {one.kind} item {one.target[:80]} to supersede; added as a new one")
        return self._add(one, target)

    def _update(self, one: Checked) -> Outcome:
        target = self.target(one)
        if target is None:
            if one.target is not None:
                raise NotFoundError(f"no {one.kind} item {one.target[:80]!r} to update")
            return self._add(one)
        if one.secret_id is not None:
            fields = {"caption": "secret", **target.payload, **one.values}
            known = set(type(target).model_fields)
            one.values = {key: value for key, value in fields.items() if key in known and key != "secret_id"}
            return self._add(one, target)
        return self.changed(one, target, dict(one.values), [])

    @staticmethod
    def _same_value(known: MemoryItem, new: MemoryItem) -> Verdict:
        one = stated_value(known.kind, known.text, known.metadata)
        two = stated_value(new.kind, new.text, new.metadata)
        verdict = same_value(one, two)
        if known.kind == "episodic" and verdict in ("more", "less") and not from_same_words(known, new):
            return "different"  # another hour of the day
        if verdict == "different" and from_same_words(known, new) and telling_words(one) & telling_words(two):
            return "same"  # the same words, put differently
        return verdict

    @staticmethod
    def _fields_of(new: MemoryItem) -> dict[str, Any]:
        """What a new item says, to be put into another one."""
        own = set(type(new).model_fields) - set(MemoryItem.model_fields) - {"limit", "secret_id"}
        fields = {name: getattr(new, name) for name in own if name in new.model_fields_set}
        times = {name: getattr(new, name) for name in ("valid_from", "valid_to") if getattr(new, name) is not None}
        return {**fields, **times, "metadata": new.metadata}

    def _near(self, new: MemoryItem, text: str) -> list[MemoryItem]:
        """The active items of the kind that share the most telling words with a text."""
        return self.known.whole(self._near_ids(new, text))

    def _near_ids(self, new: MemoryItem, text: str) -> list[str]:
        words = sorted(telling_words(text[:2_000]), key=len, reverse=True)[:40]
        counted: list[tuple[int, str]] = []
        for item in self.known.of_kind(new.kind):
            if item.status != "active":
                continue
            shared = sum(word in item.folded for word in words)
            if shared:
                counted.append((shared, item.id))
        counted.sort(key=lambda pair: -pair[0])
        return [item_id for _, item_id in counted[:_NEAR]]


def _spans(item: MemoryItem) -> list[tuple[str, str]]:
    return [(source.step_id, source.quote) for source in item.sources]


def _stricter(one: VaultItem, two: VaultItem) -> Sensitivity:
    order: tuple[Sensitivity, ...] = ("low", "medium", "high")
    return max(one.sensitivity, two.sensitivity, key=order.index)


def _cited(item: MemoryItem) -> set[str]:
    return {source.step_id for source in item.sources}
