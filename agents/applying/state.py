"""What the operations of one batch share: checked proposals, the items they may touch, and how an item is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from ...memory_types import CoreItem, ItemKind, MemoryItem, OperationKind, SemanticItem, Source
from ...memory_types.base import utc_now
from ...memory_types.proposals import Ends, Outcome, ProposalKind
from ...stores.applying import KnownItem, KnownItems, keyed_id, write_changes
from ...stores.ledger import Transaction, get_steps
from ...stores.secrets import Cipher, SecretSpan, find_references
from .contradictions import Held
from .core_limit import fit_into
from .evidence import Heard
from .likeness import Likeness
from .slots import slot_of

__all__ = ["ApplyState", "Changes", "Checked", "owned_by", "references_in"]

Changes = list[tuple[MemoryItem | None, MemoryItem]]
"""Items before (None for a new one) and after."""


@dataclass(slots=True, kw_only=True)
class Checked:
    """A proposal whose evidence holds and whose values were read and cleaned.

    Attributes:
        secret_id: of the secret that a vault item is about.
        found: secrets that were taken out of the values.
        ends: what is over by it.
        notes: receives what was put right on the way.
    """

    operation: ProposalKind
    kind: ItemKind
    values: dict[str, Any]
    target: str | None
    merged: tuple[str, ...]
    heard: Heard
    said_at: datetime
    actor: str
    reason: str
    secret_id: str | None = None
    found: Mapping[str, SecretSpan] = field(default_factory=dict)
    ends: tuple[Ends, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def quotes(self) -> list[str]:
        """The words it rests on."""
        return [source.quote for source in self.heard.sources]


class ApplyState:
    """The items of a user within one transaction, as the proposals carried out so far have left them."""

    def __init__(self, tx: Transaction, known: KnownItems, cipher: Cipher, likeness: Likeness, zone: tzinfo) -> None:
        self.tx, self.known, self.cipher, self.likeness, self.zone = tx, known, cipher, likeness, zone
        self._slots: dict[tuple[str, str, str], str] = {}

    def written(self, one: Checked, kind: OperationKind, changes: Changes, item: MemoryItem) -> Outcome:
        """Write the changes as one operation, with what ends by them; the outcome names ``item``."""
        if closed := self.closed_by(one, changes, item):
            changes, kind = [*changes, *closed], "supersede" if kind == "add" else kind
        done = write_changes(self.tx, self.known, kind, changes, actor=one.actor, reason=one.reason, found=one.found)
        applied: ProposalKind = kind  # type: ignore[assignment]  # one of those that a proposal has
        return Outcome(applied=applied, item_id=item.id, operation_id=done.id)

    def closed_by(self, one: Checked, changes: Changes, item: MemoryItem) -> Changes:
        """What else is over by an operation on ``item``; here nothing."""
        return []

    def fitted(self, core: CoreItem, value: str, limit: int) -> tuple[CoreItem, Changes]:
        """A core item with a value within its limit, and semantic items for what had no room."""
        fitted = fit_into(value, limit)
        if not fitted.overflow:
            return core.changed(value=fitted.value), []
        text = "\n".join(fitted.overflow)
        head = text[:600]
        over = SemanticItem(
            id=keyed_id(self.cipher, self.tx.user, "item", core.id, "overflow", text),
            user=self.tx.user,
            name=core.label,
            summary=text if len(text) <= 600 else head[: head.rfind(" ") if " " in head[300:] else 600].strip(),
            details="" if len(text) <= 600 else text,
            sources=core.sources,
            valid_from=core.valid_from,
            metadata={"overflow_of": core.id},
            created_at=utc_now(),
        )
        kept = [one for one in core.metadata.get("overflow", []) if isinstance(one, str)]
        metadata = {**core.metadata, "overflow": list(dict.fromkeys([*kept, over.id]))}
        held = self.known.get(over.id)
        return core.changed(value=fitted.value, metadata=metadata), [] if held is not None else [(None, over)]

    def target(self, one: Checked) -> MemoryItem | None:
        """The item that a proposal is for, or what it has become since; None where there is none."""
        item_id, seen = one.target, set[str]()
        if item_id is None:
            return None
        while item_id and item_id not in seen:
            seen.add(item_id)
            item = self.known.get(item_id)
            if item is None or item.kind != one.kind:
                return None
            if item.status == "active" or (item.status == "superseded" and one.operation in ("update", "remove")):
                return item
            item_id = item.superseded_by if item.status in ("merged", "superseded") else None
        return None

    def of_kind(self, kind: ItemKind) -> list[MemoryItem]:
        """The active and superseded items of a kind."""
        return self.known.whole([item.id for item in self.known.of_kind(kind)])

    def slot(self, item: MemoryItem | KnownItem, kind: str = "") -> str:
        """The slot of an item; empty where it has none."""
        key = (item.id, item.text, str(item.metadata.get("slot")))
        if key not in self._slots:
            self._slots[key] = slot_of(kind or getattr(item, "kind", ""), item.text, item.metadata)
        return self._slots[key]

    def in_slot(self, kind: ItemKind, slot: str, *, removed: bool = False) -> list[MemoryItem]:
        """The items of a slot, in whatever status they count in; or those that were removed."""
        subject = slot.split(".", maxsplit=1)[0].split("_", maxsplit=1)[0] if "." in slot else ""
        return self.known.whole(
            [
                item.id
                for item in self.known.of_kind(kind, removed=removed)
                # Telling the slot of a text takes long; where nobody named it, the text names its subject.
                if (kind == "core" or item.metadata.get("slot") or subject in item.folded[:300])
                and self.slot(item, kind) == slot
            ]
        )

    def held(self, held: Sequence[MemoryItem]) -> list[Held]:
        """Items with the times at which their sources were said; one without sources was said when it was stored."""
        steps = get_steps(self.tx, {s.step_id for item in held for s in item.sources}, forgotten=True)
        return [
            Held(
                item,
                tuple(
                    steps[source.step_id].occurred_at if source.step_id in steps else item.created_at
                    for source in item.sources
                )
                or (item.valid_from or item.created_at,),
            )
            for item in held
        ]


def owned_by(extra: Changes, core_id: str) -> Changes:
    """What had no room in a core item, as that of another one."""
    return [(None, after.changed(metadata={**after.metadata, "overflow_of": core_id})) for _, after in extra]


def references_in(sources: Sequence[Source]) -> list[str]:
    """The secrets whose references stand in quotes."""
    return list(dict.fromkeys(found.id for source in sources for found in find_references(source.quote)))
