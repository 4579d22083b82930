"""The six managers of the rules tier: one class, told apart by the kind whose findings they propose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from .. import lazy_re as re
from ..intent.dates.spans import DateSpan
from ..memory_types import ITEM_KINDS, CoreItem, EpisodicItem, ItemKind, MemoryItem, SemanticItem
from ..memory_types.proposals import Ends, Proposal, ProposalKind
from .applying.stating import opposite
from .contract import Batch, Instruction, Proposals
from .managers.rules.ages import with_age
from .managers.rules.birthdays import other_birthday, whose_birthday
from .managers.rules.denied_days import may_be_day, redated
from .managers.rules.finding import Finding
from .managers.rules.reading import RuleReader
from .managers.rules.stored_events import changed_event, event_after, moved_values
from .managers.rules.words import content_words

__all__ = ["RuleManager", "rule_managers"]


_NO_MORE = re.compile(r"(?:\b(?:no longer|not|never)\s|[不没]再?)\Z")


class RuleManager:
    """Proposes operations on items of one kind, by rules.

    Args:
        kind: of the items.
        reader: shared by the managers of a memory, so that a batch is read once.
    """

    def __init__(self, kind: ItemKind, reader: RuleReader | None = None) -> None:
        self.kind: ItemKind = kind
        self._reader = reader or RuleReader()

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        """Propose operations on items of this kind.

        What is known in the same words gives ``noop``. A new value of a slot supersedes the nearest item of that slot;
        a slip of the tongue updates it. Without such an item it is an ``add`` that carries the slot.

        Args:
            nearest: active items of this kind by id, the nearest first.
        """
        wanted = frozenset(instruction.step_ids)
        active = {key: item for key, item in nearest.items() if item.status == "active" and item.kind == self.kind}
        here = {heard.step.id: heard.step.occurred_at for heard in batch.steps}
        findings = [
            finding
            for finding in self._reader.findings(batch)
            if finding.kind == self.kind and (not wanted or any(e.step_id in wanted for e in finding.evidence))
        ]
        made = [(finding, self._proposal(finding, active, here, batch.zone)) for finding in findings]
        proposals = [one for finding, one in made if one.target is not None or not finding.known]
        return Proposals(proposals=tuple(proposals))

    def _proposal(
        self, finding: Finding, nearest: Mapping[str, MemoryItem], here: Mapping[str, datetime], zone: tzinfo
    ) -> Proposal:
        given = {"slot": finding.slot, "value": finding.stated, "said_by": finding.said_by}
        metadata: dict[str, Any] = {name: value for name, value in given.items() if value}
        values = dict(finding.values)
        if metadata:
            values["metadata"] = metadata
        if finding.valid_from is not None:
            values["valid_from"] = finding.valid_from
        if finding.valid_to is not None:
            values["valid_to"] = finding.valid_to
        said_at = max((here[one.step_id] for one in finding.evidence if one.step_id in here), default=None)
        operation, target = _aim(finding, nearest.values(), said_at, zone)
        if finding.shift is not None and said_at is not None:
            after = event_after(finding.shift, nearest.values(), said_at, zone)
            operation, target, values = ("supersede", *after) if after else ("add", None, values)
        elif operation == "supersede" and target is not None and target.metadata.get("slot") != finding.slot:
            values |= moved_values(finding, target, zone)
        if (
            finding.shift is None
            and operation != "add"
            and target is not None
            and not finding.slot
            and "slot" in target.metadata
        ):
            values["metadata"] = {**metadata, "slot": target.metadata["slot"]}
        if operation == "update" and isinstance(target, EpisodicItem) and finding.denied and finding.when:
            kept = {name: target.metadata[name] for name in ("slot",) if name in target.metadata}
            values = {**redated(target, finding.denied, finding.when, zone), "metadata": {**metadata, **kept}}
        if finding.age and target is not None:
            part = "value" if self.kind == "core" else "summary"
            aged = with_age(getattr(target, part), finding.age)
            if not aged and self.kind == "core":
                operation = "noop"  # the line tells no age, or this one
            values[part] = aged or values[part]
        if operation == "update" and not finding.redated:
            values.pop("valid_from", None)
        return Proposal(
            operation=operation,
            kind=self.kind,
            values={} if operation == "noop" else values,
            target=target.id if target else None,
            evidence=tuple(one for one in finding.evidence if one.step_id in here),
            secret=finding.secret,
            ends=(*finding.ends, *_opposites(finding, nearest.values())),
            reason=finding.reason,
            proposed_by=f"rules.{self.kind}",
            confidence=finding.confidence,
        )


def _aim(
    finding: Finding, nearest: Iterable[MemoryItem], said_at: datetime | None, zone: tzinfo
) -> tuple[ProposalKind, MemoryItem | None]:
    """The operation, and the item that it is for."""
    items = list(nearest)
    if finding.kind == "vault":
        return "add", None
    text = _main_text(finding)
    same = next((item for item in items if text and _states(item, text)), None)
    if finding.replaces:
        wrong = next((item for item in items if _folded(finding.replaces) in _folded(item.text)), None)
        if wrong is not None:
            return "update", wrong
    if finding.ends and finding.kind != "episodic":
        return ("noop", same) if same is not None else ("add", None)
    held = next((item for item in items if finding.slot and item.metadata.get("slot") == finding.slot), None)
    if held is not None:
        if _states(held, text):
            return "noop", held
        return ("update" if finding.corrects else "supersede"), held
    if same is not None:
        return "noop", same
    if finding.denied is not None and finding.reason == "called off" and not finding.slot:
        ended = [one for one in items if isinstance(one, EpisodicItem) and _was_on(one, finding, zone)]
        return ("supersede", ended[0]) if ended else ("add", None)
    if finding.denied is not None:
        about = [item for item in items if finding.topics & content_words(item.text)]
        known: tuple[tuple[DateSpan | None, ProposalKind], ...] = ((finding.when, "noop"), (finding.denied, "update"))
        for day, operation in known:
            told = next((item for item in about if day and day.day.isoformat() in item.text), None)
            if told is not None:
                return operation, told
    if finding.kind == "episodic" and finding.when is not None and finding.when.precision == "day":
        said, birthday = str(finding.values["summary"]), finding.when.day
        events = [one for one in items if isinstance(one, EpisodicItem)] if whose_birthday(said) else []
        wrong = next((one for one in events if other_birthday(one.summary, birthday, said)), None)
        if wrong is not None:
            return "update", wrong
    changes = finding.corrects or finding.reason in ("called off", "moved")
    if finding.kind == "episodic" and changes and said_at is not None:
        event = changed_event(finding, items, said_at, zone)
        if event is not None:
            return ("update" if finding.corrects else "supersede"), event
    return "add", None


def _opposites(finding: Finding, nearest: Iterable[MemoryItem]) -> Iterator[Ends]:
    """What else is over: an item that denies what is told now, or states what is denied now."""
    told = str(finding.values.get("value") or finding.values.get("summary") or "")
    for item in nearest:
        if isinstance(item, CoreItem) and finding.kind == "core" and opposite(item.value, told):
            yield Ends(labels=(item.label.casefold(),), states=(item.value,))
        if not isinstance(item, SemanticItem) or finding.kind != "semantic" or item.name != finding.values.get("name"):
            continue
        if opposite(item.summary, told):
            yield Ends(named=item.name, states=(item.summary,))


def _was_on(item: EpisodicItem, finding: Finding, zone: tzinfo) -> bool:
    """Whether an event was told of the day that is denied, and is not called off yet."""
    day = item.occurred_at.astimezone(zone).date()
    return (
        finding.denied is not None
        and item.event_type != "cancellation"
        and may_be_day(finding.denied, day)
        and bool(finding.topics & content_words(item.text))
    )


def _states(item: MemoryItem, text: str) -> bool:
    """Whether an item says a text, and not that it is so no more: "No longer lives in Rome"."""
    before, found, _ = _folded(item.text).partition(text)
    return bool(found) and _NO_MORE.search(before) is None


def _main_text(finding: Finding) -> str:
    return _folded(
        str(finding.values.get("value") or finding.values.get("summary") or finding.values.get("title") or "")
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def rule_managers(reader: RuleReader | None = None) -> dict[ItemKind, RuleManager]:
    """The six managers by kind, which share one reader."""
    reader = reader or RuleReader()
    return {kind: RuleManager(kind, reader) for kind in ITEM_KINDS}
