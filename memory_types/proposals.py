"""What managers propose: operations on items with the evidence for each. Only ``apply`` changes memory."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from hexamem.memory_types.base import FilledText, Record
from hexamem.memory_types.items import ItemKind

__all__ = ["Evidence", "Outcome", "Proposal", "ProposalKind"]

ProposalKind = Literal["add", "update", "supersede", "merge", "remove", "noop"]


class Evidence(Record):
    """Words quoted from a step, exactly as in its content or in its resolved text."""

    step_id: FilledText
    quote: FilledText


class Proposal(Record):
    """One operation that a manager asks for.

    Attributes:
        operation: ``add`` a new item; ``update`` the item ``target`` in place (a correction of what was never true, or
            more detail); ``supersede`` it by a new one (it was true until now); ``merge`` the items ``merged`` into
            ``target``; ``remove`` it (it was never true, or is wanted gone); ``noop`` changes nothing.
        values: fields of the item of that kind (``add``, ``supersede``: complete; ``update``, ``merge``: those that
            change); without id, user, status, version and sources. Times as ISO 8601 text or datetimes.
        target: id of the item operated on, or the ``key`` of an earlier proposal of the same batch; None for ``add``.
        key: a name by which later proposals of the batch can refer to the item; unique in the batch.
        merged: ids of the items that ``merge`` takes in.
        evidence: at least one quote for everything but ``noop``.
        secret: plaintext of a vault item that was missed when its step was recorded; it is redacted from its steps when applied,
            and never shown, logged or stored outside the vault.
        ends: ids of further items that are true no longer by what it states; beyond ``target`` and the former value
            of its slot. They end when the written item begins.
        reason: a few words, for the history.
        proposed_by: the manager's name, such as ``semantic`` or ``embedded.semantic``.
    """

    operation: ProposalKind
    kind: ItemKind
    values: dict[str, Any] = Field(default_factory=dict)
    target: str | None = None
    key: str = ""
    merged: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    secret: str | None = Field(default=None, repr=False)
    ends: tuple[str, ...] = ()
    reason: str = ""
    proposed_by: str = "rules"


class Outcome(Record):
    """The result of a proposal.

    Attributes:
        applied: the operation that was done, which may be another than proposed (a duplicate merges, a contradiction
            supersedes); None where it was refused.
        refused: why nothing was done, in words that hold no secret; empty otherwise.
    """

    applied: ProposalKind | None = None
    item_id: str | None = None
    operation_id: str | None = None
    refused: str = ""
