"""What managers propose: operations on items with the evidence for each. Only ``apply`` changes memory."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import FilledText, Record
from .items import ItemKind

__all__ = ["OF_THE_ENDED", "Ends", "Evidence", "Outcome", "Proposal", "ProposalKind"]

OF_THE_ENDED = "(of what ended)"
"""As the label of a core item: it gets label and slot of the one that it ends."""
ProposalKind = Literal["add", "update", "supersede", "merge", "remove", "noop"]


class Evidence(Record):
    """Words quoted from a step, exactly as they stand in its content or in its resolved text."""

    step_id: FilledText
    quote: FilledText


class Ends(Record):
    """What a proposal says is over: active items that were said before, closed as it is carried out.

    An item is meant where it fits ``slots``, ``labels``, ``named`` or ``upcoming``, whichever are given, and says all ``words``.

    Attributes:
        slots: slots as :func:`~hexamem.agents.applying.slots.slot_name` gives them; ``pet`` stands for ``pet.mio`` too.
        labels: labels of core items; ``*`` for any.
        named: words of the name of semantic items that tell what a thing costs, or how it is booked.
        words: telling words that the item holds.
        states: statements of which the item must make one, and nothing beyond but how often, since when and how much.
        upcoming: events that lie ahead.
        exact: whether a core item must say nothing beyond the words but how it stands to them ("Loves", "Works as a").
        single: whether nothing ends where several items are meant.
        needed: whether the proposal is not carried out where nothing that is needed is known.
        wrong: whether what ends was true at no time, so that it is taken back rather than over.
    """

    slots: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    named: str = ""
    words: str = ""
    states: tuple[str, ...] = ()
    upcoming: bool = False
    exact: bool = False
    single: bool = False
    needed: bool = False
    wrong: bool = False


class Proposal(Record):
    """One operation that a manager asks for.

    Attributes:
        operation: ``add`` a new item; ``update`` the item ``target`` in place (a correction of what was never true, or
            more detail); ``supersede`` it by a new one (it was true until now); ``merge`` the items ``merged`` into
            ``target``; ``remove`` it (it was never true, or is wanted gone); ``noop`` says that what was heard is known.
        kind: of the item.
        values: fields of the item of that kind (``add``, ``supersede``: complete; ``update``, ``merge``: those that
            change); without id, user, status, version and sources. Times as ISO 8601 text or datetimes.
        target: id of the item operated on; None for ``add``.
        merged: ids of the items that ``merge`` takes in.
        evidence: at least one quote for everything but ``noop``.
        secret: plaintext of a vault item that the rules had missed; it is redacted from its steps when applied. Never
            shown, logged or kept outside the vault.
        ends: what else is over by what it says, beyond the former value of its slot.
        reason: a few words, kept in the history.
        proposed_by: the manager's name, such as ``semantic`` or ``rules.semantic``.
        confidence: 0..1.
    """

    operation: ProposalKind
    kind: ItemKind
    values: dict[str, Any] = Field(default_factory=dict)
    target: str | None = None
    merged: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    secret: str | None = Field(default=None, repr=False)
    ends: tuple[Ends, ...] = ()
    reason: str = ""
    proposed_by: str = "rules"
    confidence: float = Field(default=1.0, ge=0, le=1)


class Outcome(Record):
    """What became of a proposal.

    Attributes:
        applied: the operation that was done, which may be another than proposed (a duplicate merges, a contradiction
            supersedes); None where it was refused.
        item_id: of the item as it is now.
        operation_id: in the history.
        refused: why nothing was done, in words that hold no secret; empty otherwise.
    """

    applied: ProposalKind | None = None
    item_id: str | None = None
    operation_id: str | None = None
    refused: str = ""
