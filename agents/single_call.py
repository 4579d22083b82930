"""The whole write path in one structured call a batch: labels, headers and memos of its pages, routing, operations.

The cheapest way to have a model read everything: at 8 to 12 steps a batch, 100 steps cost 9 to 13 calls. The reply is
checked part by part as those of the labeler and of the managers are; a part that cannot be used is done by the
embedded engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import Field, create_model

from hexamem.agents.contract import Batch, Instruction, Manager
from hexamem.agents.labelling.reading import LabelReading
from hexamem.agents.labelling.schemas import BatchLabels, PageNotes, ScopeGist, StepLabels, salvaged_labels
from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.managers.forms import FORMS, ItemOperation
from hexamem.agents.managers.prompting import RULES, own_text, system_text
from hexamem.agents.managers.reading import Reading, salvaged_operations
from hexamem.agents.managers.showing import shown_before, shown_items, shown_steps
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.memory_types import ItemKind, MemoryItem
from hexamem.memory_types.proposals import Proposal
from hexamem.models import Budget, CallInput, Method, ModelReply, StructuredCall, StructuredResult, UsageMeter
from hexamem.prompts import Prompt, PromptLoader, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["AGENT", "SingleCall", "SingleOutcome", "SingleReply", "single_prompt", "single_reply"]

AGENT = "single_call"


class SingleReply(ModelReply):
    """Labels, pages and operations of a batch of steps."""

    steps: list[StepLabels] = Field(description="Part A: the labels, one entry a step.")
    gists: list[ScopeGist] = Field(description="Part A: the gists of the scopes that changed.")
    pages: PageNotes = Field(default=[], description="Part A: header and memo of each page that is listed.")


def single_reply(forms: Mapping[ItemKind, type[ItemOperation]] = FORMS) -> type[SingleReply]:
    """The form of the reply: with a list of operations for each type."""
    lists: dict[str, Any] = {kind: (list[form], ...) for kind, form in forms.items()}  # type: ignore[valid-type]
    return create_model("SingleReply", __base__=SingleReply, __doc__=SingleReply.__doc__, **lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleOutcome:
    """What came of the call; ``labels`` is None where the embedded labels stay."""

    proposals: tuple[Proposal, ...] = ()
    labels: LabelBatch | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    batch: Batch
    readings: Mapping[ItemKind, Reading]
    labelling: LabelReading | None
    ordered: frozenset[ItemKind]


def single_prompt(forms: Mapping[ItemKind, type[ItemOperation]] = FORMS, prompts: PromptLoader = load_prompt) -> Prompt:
    """The prompt: the instructions of the labeler and of the managers, put together."""
    prompt = prompts(AGENT)
    first, *rest = (text for role, text in prompt.sections if role == "system")
    parts = (
        first,
        f"Part A, labels.\n{system_text(prompts('intent_labeler'))}",
        *rest,
        *(f"List {kind}.\n{own_text(form, prompts)}" for kind, form in forms.items()),
        system_text(prompts(RULES)),
    )
    return prompt.with_system("\n\n".join(parts))


class SingleCall:
    """Reads a batch with one structured call. It stores nothing between calls.

    Args:
        model: the chat model.
        managers: the embedded ones, for the parts of a reply that cannot be used.
        embed: makes the vectors of label names.
        forms: of the operations on each type that the call proposes.
        prompts: loads the prompts that it is put together from.
        method: how the reply's form is asked for.
        retries: what to do about failures on the way.
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
        form = single_reply(forms)
        self.call: StructuredCall[SingleReply] = StructuredCall(
            model, form, agent=AGENT, method=method, retries=retries, salvage=partial(_salvaged, form, forms)
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
        """The call that a batch needs.

        Args:
            instructions: of the embedded meta-manager: used where a part of the reply cannot be.
            nearest: known items of each kind by id, the nearest first.
            labels: the same steps as the labeller sees them; None to leave the embedded labels.
            budget, usage: what may be spent, and what counts it.
        """
        ordered = {instruction.kind: instruction for instruction in instructions}
        readings: dict[ItemKind, Reading] = {
            kind: Reading(
                form=form,
                batch=batch,
                instruction=ordered.get(kind, Instruction(kind=kind)),
                nearest=nearest.get(kind, {}),
                restore=self._prompt.restore,
            )
            for kind, form in self.forms.items()
        }
        labelling = None
        if labels is not None and self._embed is not None:
            labelling = LabelReading(batch.user, labels, self._embed, self._prompt, AGENT)
        inputs = {
            "scopes": "none: leave steps and gists empty",
            "event_types": "none",
            "entity_types": "none",
            "earlier": shown_before(batch),
            "pages": "none: leave pages empty",
        }
        notes: dict[str, str] = {}
        if labelling is not None:
            inputs = labelling.inputs()
            notes = {step_id: f"like: {'; '.join(near)}" for step_id, near in labelling.candidates().items() if near}
        messages = self._prompt.render(
            **inputs,
            items="\n".join(f"{kind}:\n{shown_items(reading)}" for kind, reading in readings.items()),
            steps=shown_steps(batch, notes),
            most=next(iter(readings.values())).most,
        )
        asked = _Asked(batch, readings, labelling, frozenset(ordered))
        return CallInput(
            messages=messages,
            budget=budget,
            usage=usage,
            operation="manage",
            validate=lambda reply: _problems(asked, reply),
            carry=asked,
        )

    def finish(self, result: StructuredResult[SingleReply]) -> SingleOutcome:
        """What the call comes to; the embedded managers do the parts that cannot be used."""
        asked, reply = cast("_Asked", result.carry), result.value
        degraded = list(result.degraded)
        proposals: list[Proposal] = []
        fell_back: list[str] = []
        for kind, reading in asked.readings.items():
            fallback = self._managers.get(kind) if kind in asked.ordered else None
            operations = getattr(reply, kind) if reply is not None else None
            made, embedded = reading.proposals(operations, fallback, f"{AGENT}, {kind}")
            proposals += made.proposals
            degraded += made.degraded
            fell_back += [kind] if embedded else []
        if fell_back:
            degraded.append(f"{AGENT}: the embedded engine did the work of {', '.join(fell_back)}")
        labels = None
        if reply is not None and reply.steps and asked.labelling is not None:
            labels = asked.labelling.labelled(_labels(reply), ())
            degraded += labels.degraded
        return SingleOutcome(proposals=tuple(proposals), labels=labels, degraded=tuple(degraded))


def _labels(reply: SingleReply) -> BatchLabels:
    return BatchLabels(steps=reply.steps, gists=reply.gists, pages=reply.pages)


def _problems(asked: _Asked, reply: SingleReply) -> list[str]:
    problems: list[str] = []
    if asked.labelling is not None:
        problems += asked.labelling.problems(_labels(reply))
    for kind, reading in asked.readings.items():
        problems += reading.all_problems(getattr(reply, kind))
    return problems


def _salvaged(
    reply: type[SingleReply], forms: Mapping[ItemKind, type[ItemOperation]], data: object
) -> SingleReply | None:
    lists = data if isinstance(data, Mapping) else {}
    labels = salvaged_labels(lists)
    operations: dict[str, Any] = {kind: salvaged_operations(lists.get(kind), form) for kind, form in forms.items()}
    if not labels.steps and not any(operations.values()):
        return None
    # Already validated; the lists of operations are of the fields' own types.
    return reply.model_construct(steps=labels.steps, gists=labels.gists, pages=labels.pages, **operations)
