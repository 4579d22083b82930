"""Reading a manager's reply: each operation is checked, and the valid ones become proposals.

Whatever can be checked is checked: the step is one of the batch, the quote is in it, the handle is listed, the date is a
date. The problems are sent back once for repair; an operation that is then still invalid is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexamem.agents.applying.evidence import find_quote
from hexamem.agents.applying.proposal_values import read_time
from hexamem.agents.contract import Batch, BatchStep, Instruction, Manager, Proposals
from hexamem.agents.managers.forms import ItemOperation
from hexamem.errors import InvalidInputError
from hexamem.memory_types import MemoryItem, VaultItem
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.stores.secrets import find_references, named_ids

__all__ = ["Reading"]

_OPERATIONS_A_STEP, _SPARE_OPERATIONS = 2, 4
_LONGEST_QUOTE = 600
_TIMES = ("valid_from", "valid_to", "occurred_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The input of one manager, against which its reply is checked.

    Attributes:
        form: the schema of its operations.
        nearest: the known items that the prompt lists, by id, the nearest first.
        found: further items from searches, by id.
        restore: removes the prompt's escapes from text that was copied from it.
        handles: handle → item id; the handle of an item from a search depends on its id alone.
    """

    form: type[ItemOperation]
    batch: Batch
    instruction: Instruction
    nearest: Mapping[str, MemoryItem] = field(default_factory=dict)
    found: Mapping[str, MemoryItem] = field(default_factory=dict)
    restore: Callable[[str], str] = str
    handles: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        kind = self.form.kind
        handles = {f"{kind}{number}": item_id for number, item_id in enumerate(self.nearest, 1)}
        handles |= {f"{kind}_{_short(item_id)}": item_id for item_id in self.found if item_id not in self.nearest}
        object.__setattr__(self, "handles", handles)

    @property
    def known(self) -> Mapping[str, MemoryItem]:
        """The listed items and those from searches, by id."""
        return {**self.nearest, **self.found}

    @property
    def most(self) -> int:
        """The most operations that are read from the reply, by the number of steps."""
        return _OPERATIONS_A_STEP * len(self.batch.steps) + _SPARE_OPERATIONS

    def all_problems(self, operations: Sequence[ItemOperation]) -> list[str]:
        """The problems for a repair turn. They repeat no words of the reply, since people see them too."""
        kind, count, problems = self.form.kind, len(operations), []
        if count > self.most:
            problems.append(f"{kind}: {count} operations; give the {self.most} that matter most at most")
        for number, operation in enumerate(operations[: self.most], 1):
            problems += [f"{kind} operation {number}: {problem}" for problem in self.problems(operation)]
        return problems

    def problems(self, operation: ItemOperation) -> list[str]:
        """Why an operation cannot be used; empty where it can."""
        if not 0 < operation.step <= len(self.batch.steps):
            return [f"there is no such step; the steps are 1 to {len(self.batch.steps)}"]
        labelled = self.batch.steps[operation.step - 1]
        fields = {name: getattr(operation, name) for name in operation.own_fields()}
        problems = []
        if not self._is_quoted(operation, labelled):
            problems.append(f"its quote does not stand in step {operation.step}; copy words of that step exactly")
        if labelled.step.role == "system":
            problems.append(f"step {operation.step} is system text, which says nothing about the user")
        elif self.form.kind == "core" and labelled.step.role != "user":
            problems.append(f"step {operation.step} is not of the user; what is core needs the user's own words")
        problems += self._wrong_handles(operation)
        if operation.operation in ("add", "supersede"):
            problems += [f"{name} is empty" for name in operation.required if not _is_filled(fields[name])]
        elif operation.operation == "update" and not any(map(_is_filled, fields.values())):
            problems.append("it changes nothing; give the fields that change, or leave it out")
        problems += [
            f"{name} is no date; write 2025-03-01, or 2025-03-01T15:30 with a time, or null"
            for name in _TIMES
            if (value := fields.get(name)) and not _is_date(value)
        ]
        if self._invents_reference(fields.values(), labelled):
            problems.append(
                "it holds a {{vault:…}} reference that does not stand in its step; copy references as they are"
            )
        return problems + operation.problems(labelled.step)

    def proposals(
        self, operations: Sequence[ItemOperation] | None, fallback: Manager | None, agent: str
    ) -> tuple[Proposals, bool]:
        """The proposals of the valid operations, or those of the fallback, and whether the fallback made them.

        The fallback proposes where there is no reply, or none of its operations is valid.

        Args:
            operations: those of the reply; None where there is no reply.
            agent: the name of the manager, for ``degraded``.
        """
        wanted = list(operations or ())
        proposals = tuple(
            self._proposal(operation) for operation in wanted[: self.most] if not self.problems(operation)
        )
        degraded: tuple[str, ...] = ()
        if lost := len(wanted) - len(proposals):
            degraded = (f"{agent}: {lost} of {len(wanted)} operations could not be used and were left out",)
        if fallback is None or (operations is not None and (proposals or not lost)):
            return Proposals(proposals=proposals, degraded=degraded), False
        embedded = fallback.propose(self.batch, self.instruction, self.nearest)
        return Proposals(proposals=embedded.proposals, degraded=(*degraded, *embedded.degraded)), True

    def _proposal(self, operation: ItemOperation) -> Proposal:
        step = self.batch.steps[operation.step - 1].step
        values: dict[str, Any] = {}
        if operation.operation != "remove":
            values = {name: self._restored(value) for name, value in operation.item_values(step).items()}
        if slot := values.pop("slot", None):
            values["metadata"] = {"slot": slot}
        quote, secret = self.restore(operation.quote).strip(), operation.secret_in(step)
        evidence = secret or operation.reference_in(step)
        if evidence is not None and evidence not in quote:
            quote = evidence  # the evidence of a secret must quote it
        return Proposal(
            operation=operation.operation,
            kind=self.form.kind,
            values=values,
            target=self.handles.get((operation.target or "").strip()),
            merged=self._ids(operation.merged) if operation.operation == "merge" else (),
            ends=self._ids(operation.ends),
            evidence=(Evidence(step_id=step.id, quote=quote),),
            secret=secret,
            proposed_by=self.form.kind,
        )

    def _ids(self, handles: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.handles[handle] for handle in dict.fromkeys(map(str.strip, handles)))

    # ------------------------------------------------------------------ checks

    def _is_quoted(self, operation: ItemOperation, labelled: BatchStep) -> bool:
        quote = self.restore(operation.quote).strip()
        texts = dict.fromkeys((labelled.step.content, labelled.step.index_text, labelled.resolved_text))
        return 0 < len(quote) <= _LONGEST_QUOTE and any(find_quote(quote, text) is not None for text in texts)

    def _wrong_handles(self, operation: ItemOperation) -> list[str]:
        target = (operation.target or "").strip()
        if not {handle.strip() for handle in operation.ends} <= set(self.handles):
            return ["ends names items that are not listed; give their handles, or none"]
        if operation.operation == "add":
            return ["an add has no target; to change a known item use update or supersede"] if target else []
        if target not in self.handles:
            listed = f"{self.form.kind}1 to {self.form.kind}{len(self.nearest)}" if self.nearest else "none: use add"
            return [f"its target is no listed handle; those of this kind are {listed}"]
        merged = {handle.strip() for handle in operation.merged}
        if operation.operation == "merge" and (not merged or target in merged or not merged <= set(self.handles)):
            return ["merge names no other listed items; give their handles in merged"]
        return []

    def _invents_reference(self, values: Any, labelled: BatchStep) -> bool:
        """Whether values hold a reference to a secret that is neither in the step nor in a known item."""
        texts = [part for value in values for part in (value if isinstance(value, list) else [value])]
        named = {name for text in texts if isinstance(text, str) for name in named_ids(self.restore(text))}
        known = (
            labelled.step.content,
            labelled.step.index_text,
            labelled.resolved_text,
            *(item.text for item in self.known.values()),
        )
        there = {reference.id for text in known if text for reference in find_references(text)}
        there.update(item.secret_id for item in self.known.values() if isinstance(item, VaultItem) and item.secret_id)
        return not named <= there

    def _restored(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.restore(value)
        return [self.restore(part) for part in value] if isinstance(value, list) else value


def _short(item_id: str) -> str:
    return hashlib.blake2b(item_id.encode(), digest_size=3).hexdigest()


def _is_filled(value: object) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)


def _is_date(value: str) -> bool:
    try:
        read_time(value, "UTC")
    except InvalidInputError:
        return False
    return True
