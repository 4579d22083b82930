"""Steps and proposals about them, as the managers hand them to the applier."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hexamem import UserMemory
from hexamem.agents.applying.applier import Applied, Applier
from hexamem.agents.contract import Batch, BatchStep
from hexamem.memory_types import Step
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.memory_types.times import read_zone

NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)


def store(user: UserMemory, text: str, role: str = "user", at: datetime = NOON) -> Step:
    """A stored message."""
    receipt = user.remember({"role": role, "content": text, "timestamp": at.isoformat()}, "t")
    step = user.get(receipt.step_ids[0])
    assert isinstance(step, Step)
    return step


def batch_of(*steps: Step, before: Sequence[Step] = (), resolved: str = "", **more: Any) -> Batch:
    """A batch of these steps, after others; ``resolved`` replaces their text."""
    of_batch, of_before = (
        tuple(BatchStep(step=step, resolved_text=resolved or step.content) for step in listed)
        for listed in (steps, before)
    )
    return Batch(user="", steps=of_batch, before=of_before, zone=read_zone("Europe/Dublin"), **more)


def propose(step: Step, values: dict[str, Any], quote: str = "", **more: Any) -> Proposal:
    """A semantic item to add unless other fields are given, with words of the step as evidence: all of them by default."""
    evidence = (Evidence(step_id=step.id, quote=quote or step.content),)
    return Proposal(**{"operation": "add", "kind": "semantic", "values": values, "evidence": evidence, **more})


def apply(user: UserMemory, batch: Batch, *proposals: Proposal, **more: Any) -> Applied:
    """Apply proposals to a batch, as the ingest graph does."""
    memory = user.memory
    applier = Applier(memory.ledger, memory.cipher, media=memory.media, projector=memory.projector)
    return applier.apply(user.name, batch, proposals, **more)
