"""The meta-manager of the rules tier: which managers have something to do."""

from __future__ import annotations

from collections.abc import Sequence

from ..memory_types import ITEM_KINDS
from .contract import Batch, Instruction
from .managers.rules.reading import RuleReader

__all__ = ["RuleMetaManager"]

_TASKS = {
    "core": "who the user is and what they lastingly prefer",
    "episodic": "dated events, moved and cancelled ones too",
    "semantic": "facts about people and things around the user",
    "procedural": "steps and standing instructions",
    "resource": "documents and files to keep whole",
    "vault": "contacts",
}


class RuleMetaManager:
    """Names the kinds for which the rules have found something, with the steps it stands in; small talk gives none.

    Args:
        reader: shared with the managers of the rules tier, so that a batch is read once.
    """

    def __init__(self, reader: RuleReader | None = None) -> None:
        self._reader = reader or RuleReader()

    def route(self, batch: Batch) -> Sequence[Instruction]:
        """One instruction for each kind with something to do, in the order of the six kinds."""
        steps: dict[str, dict[str, None]] = {}
        new = {heard.step.id for heard in batch.steps}
        for finding in self._reader.findings(batch):
            for evidence in finding.evidence:
                if evidence.step_id in new:
                    steps.setdefault(finding.kind, {})[evidence.step_id] = None
        return [
            Instruction(kind=kind, step_ids=tuple(steps[kind]), task=_TASKS[kind])
            for kind in ITEM_KINDS
            if kind in steps
        ]
