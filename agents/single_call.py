"""The whole write path in one structured call for each batch: labels, headers and memos of pages, and operations.

This is the cheapest use of a model: the instructions and the schema are the same in each call and come first, so that
providers cache them. The parts of the reply are checked like those of the labeler and the managers; the embedded engine
does a part that is not usable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import create_model

from hexamem.agents.contract import Batch, Instruction, Manager
from hexamem.agents.labelling.reading import RULES, LabelReading
from hexamem.agents.labelling.schemas import BatchLabels
from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.managers.changes import ItemChange, operations_of
from hexamem.agents.managers.forms import FORMS, ItemOperation
from hexamem.agents.managers.prompting import own_text
from hexamem.agents.managers.reading import Reading
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Proposal
from hexamem.models import Budget, CallInput, Method, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, PromptLoader, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["AGENT", "SingleCall", "SingleOutcome", "SingleReply", "single_prompt", "single_reply"]

AGENT = "single_call"
_USABLE = 0.75  # the least share of labels, and of operations; below it the reply is asked for again


class SingleReply(BatchLabels):
    """Labels, pages and operations of a batch of steps."""

    operations: list[ItemChange]


def single_reply(forms: Mapping[ItemKind, type[ItemOperation]] = FORMS) -> type[SingleReply]:
    """The schema of the reply, with a list of operations for each type that does not ship."""
    lists: dict[str, Any] = {kind: (list[form], ...) for kind, form in _further(forms).items()}  # type: ignore[valid-type]
    return create_model("SingleReply", __base__=SingleReply, __doc__=SingleReply.__doc__, **lists)


def _further(forms: Mapping[ItemKind, type[ItemOperation]]) -> dict[ItemKind, type[ItemOperation]]:
    return {kind: form for kind, form in forms.items() if kind not in FORMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleOutcome:
    """The result of a call; ``labels`` is None where the embedded labels remain."""

    proposals: tuple[Proposal, ...] = ()
    labels: LabelBatch | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Task:
    batch: Batch
    readings: Mapping[ItemKind, Reading]
    labelling: LabelReading | None
    routed: frozenset[ItemKind]


def single_prompt(forms: Mapping[ItemKind, type[ItemOperation]] = FORMS, prompts: PromptLoader = load_prompt) -> Prompt:
    """The prompt, with the rules of labelling after its first section, and the instructions for each type that does not ship."""
    prompt = prompts(AGENT)
    further = (f"List {kind}.\n{own_text(form, prompts)}" for kind, form in _further(forms).items())
    first, *rest = (text for role, text in prompt.sections if role == "system")
    return prompt.with_system("\n\n".join((f"{first}\n{prompts(RULES).system}", *rest, *further)))


class SingleCall:
    """Reads a batch with one structured call. It stores nothing between calls.

    Args:
        model: the chat model.
        managers: the embedded managers, for parts of a reply that are not usable.
        embed: embeds the names of labels.
        forms: memory type → the schema of its operations.
        prompts: loads the prompts of which its prompt is composed.
        method: how the schema of the reply is sent.
        retries: which failed requests are retried, and when.
    """

    def __init__(
        self,
        model: BaseChatModel,
        managers: Mapping[ItemKind, Manager],
        embed: Embed | None,
        *,
        forms: Mapping[ItemKind, type[ItemOperation]] = FORMS,
        prompts: PromptLoader = load_prompt,
        method: Method = "json_schema",
        retries: RetryPolicy | None = None,
    ) -> None:
        self._managers, self._embed, self.forms = managers, embed, forms
        self._prompt = single_prompt(forms, prompts)
        self.call: StructuredCall[SingleReply] = StructuredCall(
            model, single_reply(forms), agent=AGENT, method=method, retries=retries
        )

    def prepare(
        self,
        batch: Batch,
        instructions: Sequence[Instruction],
        nearest: Mapping[ItemKind, Mapping[str, MemoryItem]],
        labels: LabelTask | None = None,
        budget: Budget | None = None,
        usage: UsageMeter | None = None,
    ) -> CallInput:
        """The call for a batch.

        Args:
            instructions: those of the embedded meta-manager, for parts of the reply that are not usable.
            nearest: kind → known items by id, the nearest first.
            labels: the labelling task of the same steps; None to leave the embedded labels.
            budget: what the call may spend; None for no limit.
            usage: the meter to which its cost is added.
        """
        routed = {instruction.kind: instruction for instruction in instructions}
        readings: dict[ItemKind, Reading] = {
            kind: Reading(
                form=form,
                batch=batch,
                instruction=routed.get(kind, Instruction(kind=kind)),
                nearest=nearest.get(kind, {}),
                restore=self._prompt.restore,
            )
            for kind, form in self.forms.items()
        }
        labelling = None
        if labels is not None and self._embed is not None:
            texts = [item.text for items in nearest.values() for item in items.values()]
            labelling = LabelReading(batch.user, labels, self._embed, self._prompt, AGENT, shown=texts)
        inputs = {
            "scopes": "none: leave steps and gists empty",
            "event_types": "none",
            "entity_types": "none",
            "earlier": shown_before(batch),
            "pages": "none: leave pages empty",
        }
        if labelling is not None:
            inputs = labelling.inputs()
        messages = self._prompt.render(
            **inputs,
            user=batch.user,
            items="\n".join(shown_items(reading) for reading in readings.values() if reading.nearest) or "none yet",
            steps=shown_steps(batch),
        )
        task = _Task(batch, readings, labelling, frozenset(routed))
        return CallInput(
            messages=messages,
            budget=budget,
            usage=usage,
            operation="manage",
            validate=lambda reply: _problems(task, reply),
            partly=True,
            carry=task,
        )

    def finish(self, result: StructuredResult[SingleReply]) -> SingleOutcome:
        """The proposals and labels of a reply; the embedded managers do the parts that are not usable."""
        task, reply = cast("_Task", result.carry), result.value
        degraded = list(result.degraded)
        proposals: list[Proposal] = []
        fell_back: list[str] = []
        replied = {} if reply is None else _operations(reply, task.readings)
        for kind, reading in task.readings.items():
            fallback = self._managers.get(kind) if kind in task.routed else None
            operations = replied.get(kind)
            of_kind, embedded = reading.proposals(operations, fallback, f"{AGENT}, {kind}")
            proposals += of_kind.proposals
            degraded += of_kind.degraded
            fell_back += [kind] if embedded else []
        if fell_back:
            degraded.append(f"{AGENT}: the embedded engine did the work of {', '.join(fell_back)}")
        labels = None
        if reply is not None and reply.steps and task.labelling is not None:
            labels = task.labelling.labelled(reply, ())
            degraded += labels.degraded
        return SingleOutcome(proposals=tuple(proposals), labels=labels, degraded=tuple(degraded))


def _problems(task: _Task, reply: SingleReply) -> list[str]:
    """The problems for a repair turn: only where so much is not usable that it is worth a second reply."""
    problems = task.labelling.problems(reply) if task.labelling is not None else []
    if len(problems) <= (1 - _USABLE) * len(task.batch.steps):
        problems = []
    operations = _operations(reply, task.readings)
    count = sum(map(len, operations.values()))
    usable = sum(
        not reading.problems(operation) for kind, reading in task.readings.items() for operation in operations[kind]
    )
    if usable < _USABLE * count:
        for kind, reading in task.readings.items():
            problems += reading.all_problems(operations[kind])
    return problems


def _operations(reply: SingleReply, kinds: Iterable[ItemKind]) -> Mapping[ItemKind, Sequence[ItemOperation]]:
    """The operations of a reply by type."""
    shipped = operations_of(reply.operations)
    return {kind: shipped[kind] if kind in shipped else getattr(reply, kind) for kind in kinds}
