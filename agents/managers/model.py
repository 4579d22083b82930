"""A model manager: one structured call proposes the operations on items of one kind (MIRIX, arXiv 2507.07957, section 3).

``prepare | StructuredCall | finish`` is a node of the ingest graph; :meth:`ModelManager.propose` is the same in one
call. Where the reply holds nothing that can be used, the embedded manager does the work, and ``degraded`` records that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from hexamem.agents.contract import Batch, Instruction, Manager, Proposals
from hexamem.agents.managers.forms import ItemOperation, reply_form
from hexamem.agents.managers.reading import Reading, salvaged_operations
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps, shown_task
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.models import Budget, CallInput, Method, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, PromptLoader, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["RULES", "ModelManager", "manager_prompt", "system_text"]

RULES = "manager_rules"
"""The prompt that all managers share."""


def system_text(prompt: Prompt) -> str:
    """The system text of a prompt."""
    return "\n\n".join(text for role, text in prompt.sections if role == "system")


def manager_prompt(form: type[ItemOperation], prompts: PromptLoader = load_prompt) -> Prompt:
    """The prompt of a manager: what its kind states, followed by the rules that all managers share."""
    rules = prompts(RULES)
    source = form.prompt or form.agent()
    own = Path(source).read_text(encoding="utf-8").strip() if source.endswith(".md") else system_text(prompts(source))
    prompt = rules.with_system(f"{own}\n\n{system_text(rules)}")
    return replace(prompt, name=form.agent())


class ModelManager:
    """Proposes operations on items of one kind with a chat model. It stores nothing between calls.

    Args:
        form: of its operations.
        model: the chat model.
        fallback: does the work where the reply holds nothing that can be used.
        prompts: loads the prompt.
        method: how the reply's form is asked for.
        retries: what to do about failures on the way.
    """

    def __init__(
        self,
        form: type[ItemOperation],
        model: BaseChatModel,
        fallback: Manager,
        *,
        prompts: PromptLoader = load_prompt,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self.form, self.fallback = form, fallback
        self.kind: ItemKind = form.kind
        self._prompt = manager_prompt(form, prompts)
        self.call: StructuredCall[Any] = StructuredCall(
            model, reply_form(form), agent=form.agent(), method=method, retries=retries, salvage=self._salvaged
        )

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
            budget, usage: what may be spent, and what counts it.
        """
        reading = Reading(
            form=self.form, batch=batch, instruction=instruction, nearest=nearest, restore=self._prompt.restore
        )
        messages = self._prompt.render(
            task=shown_task(batch, instruction),
            items=shown_items(reading),
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
        agent = self.form.agent()
        operations = result.value.operations if result.value is not None else None
        made, fell_back = cast("Reading", result.carry).proposals(operations, self.fallback, agent)
        notes = (f"{agent}: the embedded engine did the work",) if fell_back else ()
        return replace(made, degraded=(*result.degraded, *made.degraded, *notes))

    def _salvaged(self, data: object) -> BaseModel | None:
        operations = salvaged_operations(data.get("operations") if isinstance(data, Mapping) else data, self.form)
        return reply_form(self.form).model_validate({"operations": operations}) if operations else None
