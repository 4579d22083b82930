"""A model manager: one structured call proposes the operations on items of one kind (MIRIX, arXiv 2507.07957, section 3).

``prepare | StructuredCall | finish`` is a node of the ingest graph; :meth:`ModelManager.propose` is the same in one
call. Where the model brings nothing that can be used, the embedded manager does the work, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from hexamem.agents.contract import Batch, Instruction, Manager, Proposals
from hexamem.agents.managers.shared import ItemOperation, ManagerForm, Reading, salvaged_operations
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps, shown_task
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.models import Budget, CallInput, Method, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["ModelManager", "manager_prompt"]

_RULES = "manager_rules"


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
        return self.finish(self.call.invoke(self.prepare(batch, instruction, nearest)))

    def prepare(
        self,
        batch: Batch,
        instruction: Instruction,
        nearest: Mapping[str, MemoryItem],
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> CallInput:
        """The call that a batch needs.

        Args:
            nearest: known items of the kind by id, the nearest first.
            budget, usage: what may be spent, and who is told of it.
        """
        reading = Reading(
            form=self.form, batch=batch, instruction=instruction, nearest=nearest, restore=self._prompt.restore
        )
        messages = self._prompt.render(
            task=shown_task(batch, instruction),
            items=shown_items(self.form, reading.handles, nearest, batch.zone),
            earlier=shown_before(batch),
            steps=shown_steps(batch),
            most=reading.most,
            kind=self.kind,
        )
        return CallInput(
            messages=messages,
            budget=budget,
            usage=usage,
            operation="manage",
            validate=lambda reply: reading.all_problems(reply.operations),
            carry=reading,
        )

    def finish(self, result: StructuredResult[Any]) -> Proposals:
        """What the manager proposes: of the model's operations those that hold, else what the embedded manager proposes."""
        reading = cast("Reading", result.carry)
        operations: Sequence[ItemOperation] = result.value.operations if result.value is not None else ()
        proposals, lost = reading.proposals(operations, self.kind)
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
