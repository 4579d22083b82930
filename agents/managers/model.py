"""A model manager: one structured call proposes the operations on items of one kind (MIRIX, arXiv 2507.07957, section 3).

``prepare | StructuredCall | finish`` is a node of the ingest graph; :meth:`ModelManager.propose` is the same in one
call. Where the model brings nothing that can be used, the manager by rules does the work, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from hexamem.agents.contract import Batch, HeardStep, Instruction, Manager, Proposals
from hexamem.agents.managers.shared import ItemOperation, ManagerForm, Reading, salvaged_operations
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps, shown_task
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Evidence, Proposal
from hexamem.models import Budget, CallInput, Method, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["ManagerTask", "ModelManager", "manager_prompt", "proposals_from"]

_RULES = "manager_rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerTask:
    """What one manager is to work on.

    Attributes:
        nearest: known items of the kind by id, the nearest first.
        budget, usage: what may be spent, and who is told of it.
    """

    batch: Batch
    instruction: Instruction
    nearest: Mapping[str, MemoryItem]
    budget: Budget | None = None
    usage: UsageMeter | None = None


@cache
def manager_prompt(form: ManagerForm) -> Prompt:
    """The prompt of a manager: what its kind states, followed by the rules that all managers share."""
    own, shared = load_prompt(form.agent), load_prompt(_RULES)
    told = "\n\n".join(text for prompt in (own, shared) for role, text in prompt.sections if role == "system")
    rest = tuple((role, text) for role, text in shared.sections if role != "system")
    return Prompt(form.agent, shared.inputs, shared.values, (("system", told), *rest))


class ModelManager:
    """Proposes operations on items of one kind with a chat model. It keeps nothing between calls.

    Args:
        form: what its kind states.
        model: the chat model.
        fallback: does the work where the model brings nothing that can be used.
        method: how the reply's form is asked for.
        retries: what to do about failures on the way.
    """

    def __init__(
        self,
        form: ManagerForm,
        model: BaseChatModel,
        fallback: Manager,
        *,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self.form, self.fallback = form, fallback
        self._prompt = manager_prompt(form)
        self.call: StructuredCall[Any] = StructuredCall(
            model, form.reply, agent=form.agent, method=method, retries=retries, salvage=self._salvaged
        )

    @property
    def kind(self) -> ItemKind:
        """Of the items that it manages."""
        return self.form.kind

    def propose(self, batch: Batch, instruction: Instruction, nearest: Mapping[str, MemoryItem]) -> Proposals:
        """As :meth:`~hexamem.agents.contract.Manager.propose`, without a budget."""
        task = ManagerTask(batch=batch, instruction=instruction, nearest=nearest)
        return self.finish(self.call.invoke(self.prepare(task)))

    def prepare(self, task: ManagerTask) -> CallInput:
        """The call that a task needs."""
        batch = task.batch
        reading = Reading(
            form=self.form,
            batch=batch,
            instruction=task.instruction,
            nearest=task.nearest,
            restore=self._prompt.restore,
        )
        messages = self._prompt.render(
            task=shown_task(batch, task.instruction),
            items=shown_items(self.form, reading.handles, task.nearest, batch.zone),
            earlier=shown_before(batch),
            steps=shown_steps(batch),
            most=reading.most,
            kind=self.kind,
        )
        return CallInput(
            messages=messages,
            budget=task.budget,
            usage=task.usage,
            operation="manage",
            validate=lambda reply: reading.all_problems(reply.operations),
            carry=reading,
        )

    def finish(self, result: StructuredResult[Any]) -> Proposals:
        """What the manager proposes: of the model's operations those that hold, else what the embedded manager proposes."""
        reading = cast("Reading", result.carry)
        operations: Sequence[ItemOperation] = result.value.operations if result.value is not None else ()
        proposals, lost = proposals_from(reading, operations, self.kind)
        told = list(result.degraded)
        if lost:
            told.append(
                f"{self.form.agent}: {lost} of {len(operations)} operations could not be used and were left out"
            )
        if result.value is not None and (proposals or not lost):
            return Proposals(proposals=proposals, degraded=tuple(told))
        by_rules = self.fallback.propose(reading.batch, reading.instruction, reading.nearest)
        told.append(f"{self.form.agent}: the embedded engine did the work")
        return Proposals(proposals=by_rules.proposals, degraded=(*told, *by_rules.degraded))

    def _salvaged(self, data: object) -> BaseModel | None:
        listed = data.get("operations") if isinstance(data, Mapping) else data
        found = salvaged_operations(listed, self.form.operation)
        return self.form.reply(operations=found) if found else None


def proposals_from(
    reading: Reading, operations: Sequence[ItemOperation], proposed_by: str
) -> tuple[tuple[Proposal, ...], int]:
    """The proposals of those operations that hold, and how many were left out."""
    operations = [one for one in operations if not one.is_moot()]
    kept: list[Proposal] = []
    for one in operations[: reading.most]:
        if not reading.problems(one):
            kept.append(_with_secret(reading.proposal(one, proposed_by), one, reading.heard(one)))
    return tuple(kept), len(operations) - len(kept)


def _with_secret(proposal: Proposal, one: ItemOperation, heard: HeardStep | None) -> Proposal:
    """The proposal with the secret that its operation names, quoted in its evidence."""
    span = one.secret_in(heard) if heard is not None else None
    if heard is None or span is None:
        return proposal
    secret = heard.step.content[span[0] : span[1]]
    quote = proposal.evidence[0].quote
    evidence = Evidence(step_id=heard.step.id, quote=quote if secret in quote else secret)
    return proposal.changed(evidence=(evidence,), secret=secret)
