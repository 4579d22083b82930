"""The meta-manager with a chat model: routes a batch to managers (MIRIX, arXiv 2507.07957, section 3.2).

The embedded reader reads the batch first: small talk, in which it finds nothing, is not routed and costs no call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from hexamem.agents.contract import Batch, Instruction, MetaManager
from hexamem.agents.managers.forms import FORMS
from hexamem.agents.managers.showing import shown_before, shown_steps
from hexamem.memory_types import ItemKind
from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, PromptLoader, load_prompt
from hexamem.stores.lexical.tokens import tokenize_document

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["AGENT", "ManagerTasks", "ModelMetaManager", "Routed", "RoutingReply", "is_small_talk"]

AGENT = "meta_manager"
_LONGEST_TASK = 400
_MOST_ENTRIES = 12  # of a reply, before those of one kind are joined
_FEW_WORDS = 3  # the most words of a step that is small talk


class ManagerTasks(BaseModel):
    """What one manager is to look at."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    manager: str
    steps: list[int] = Field(description="Numbers of the steps that hold something for it.")
    task: str = Field(description="What to keep or change there, in at most 20 words.")


class RoutingReply(ModelReply):
    """Which managers have something to do; an empty list where none has."""

    managers: list[ManagerTasks]


def _reply_for(kinds: Sequence[ItemKind]) -> type[RoutingReply]:
    """The schema of a reply that names some of these managers."""
    manager: Any = Literal[tuple(kinds)]
    tasks = create_model("ManagerTasks", __base__=ManagerTasks, manager=(manager, ...))
    return create_model(
        "RoutingReply",
        __base__=RoutingReply,
        __doc__=RoutingReply.__doc__,
        managers=(list[tasks], ...),  # type: ignore[valid-type]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The instructions for a batch, at most one for each kind, and the fallbacks."""

    batch: Batch
    instructions: tuple[Instruction, ...] = ()
    degraded: tuple[str, ...] = ()


class ModelMetaManager:
    """Routes batches with a chat model; see :class:`~hexamem.agents.contract.MetaManager`.

    Args:
        model: the chat model.
        embedded: reads the batch first, and routes it where the model's reply is not usable.
        further: memory type → what its items hold, for the types beyond the six.
        method: how the schema of the reply is sent.
        retries: which failed requests are retried, and when.
    """

    def __init__(
        self,
        model: BaseChatModel,
        embedded: MetaManager,
        *,
        further: Mapping[ItemKind, str] = MappingProxyType({}),
        prompts: PromptLoader = load_prompt,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self._embedded, self._further = embedded, tuple(further)
        self._prompt: Prompt = prompts(AGENT)
        if further:
            lines = "\n".join(f"- {kind}: {holds}" for kind, holds in further.items())
            self._prompt = self._prompt.with_system(f"{self._prompt.system}\n\nFurther managers:\n{lines}")
        self.call: StructuredCall[RoutingReply] = StructuredCall(
            model, _reply_for((*FORMS, *further)), agent=AGENT, method=method, retries=retries
        )

    def route(self, batch: Batch) -> Sequence[Instruction]:
        """As :meth:`~hexamem.agents.contract.MetaManager.route`, without a budget."""
        return self.finish(self.call.invoke(self.prepare(batch))).instructions

    def unread(self, batch: Batch) -> Sequence[str]:
        """As :meth:`~hexamem.agents.contract.MetaManager.unread`: the model is shown every step."""
        return ()

    def prepare(
        self, batch: Batch, budget: Budget | None = None, usage: UsageMeter | None = None
    ) -> CallInput | StructuredResult[RoutingReply]:
        """The call for a batch, or an empty result where it is small talk."""
        embedded = tuple(self._embedded.route(batch))
        if not embedded and is_small_talk(batch):
            return StructuredResult(value=RoutingReply(managers=[]), carry=(batch, embedded))
        count = len(batch.steps)

        def problems(reply: RoutingReply) -> list[str]:
            entries = reply.managers
            lines = [] if len(entries) <= _MOST_ENTRIES else [f"{len(entries)} entries; give each manager once"]
            for number, entry in enumerate(entries[:_MOST_ENTRIES], 1):
                if any(not 0 < step <= count for step in entry.steps):
                    lines.append(f"entry {number} names steps that there are not; the steps are 1 to {count}")
            return lines

        return CallInput(
            messages=self._prompt.render(earlier=shown_before(batch), steps=shown_steps(batch)),
            budget=budget,
            usage=usage,
            operation="manage",
            validate=problems,
            partly=True,
            carry=(batch, embedded),
        )

    def finish(self, result: StructuredResult[RoutingReply]) -> Routed:
        """The instructions of the model, otherwise those of the reader."""
        batch, embedded = cast("tuple[Batch, tuple[Instruction, ...]]", result.carry)
        if result.value is None:
            notes = (*result.degraded, f"{AGENT}: the embedded engine did the work")
            rest = tuple(Instruction(kind=kind) for kind in self._further)  # the embedded one routes only to the six
            return Routed(batch=batch, instructions=(*embedded, *rest), degraded=notes)
        ids = [labelled.step.id for labelled in batch.steps]
        steps: dict[ItemKind, dict[str, None]] = {}
        tasks: dict[ItemKind, list[str]] = {}
        for entry in result.value.managers[:_MOST_ENTRIES]:
            step_ids = [ids[step - 1] for step in entry.steps if 0 < step <= len(ids)]
            if entry.steps and not step_ids:
                continue
            steps.setdefault(entry.manager, {}).update(dict.fromkeys(step_ids))
            tasks.setdefault(entry.manager, []).append(self._prompt.restore(entry.task).strip())
        instructions = tuple(
            Instruction(kind=kind, step_ids=tuple(chosen), task="; ".join(filter(None, tasks[kind]))[:_LONGEST_TASK])
            for kind, chosen in steps.items()
        )
        return Routed(batch=batch, instructions=instructions, degraded=result.degraded)


def is_small_talk(batch: Batch) -> bool:
    """Whether every step of a batch is too short to state a fact: a few words, no digits, no files."""
    for step in (labelled.step for labelled in batch.steps):
        if step.role not in ("user", "tool", "other"):
            continue
        text = step.index_text or step.content
        words = tokenize_document(text).stemmed
        if len(words) > _FEW_WORDS or any(character.isdigit() for character in text) or step.media:
            return False
    return True
