"""The model tier of labelling: one structured call gives a whole batch of steps their contextual intent (STITCH, section 3).

The paper asks a model once a cue and step: scope, event, entities, coreference. Here one call of 8 to 20 steps gives
all of them, from the same material: the steps before, the open scopes with their gists, and the labels that are
nearest. The steps are labelled already; where a part of a reply cannot be kept, that label stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hexamem.agents.labelling.reading import AGENT, LabelReading
from hexamem.agents.labelling.schemas import BatchLabels, salvaged_labels
from hexamem.agents.labelling.task import LabelTask
from hexamem.agents.page_texts import PageTexts
from hexamem.intent.contract import Embed, LabelBatch
from hexamem.models import Budget, BudgetRefusal, CallInput, Reservation, StructuredCall, Usage, UsageMeter
from hexamem.prompts import Prompt, load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method, RetryPolicy

__all__ = ["LabelBudget", "ModelLabeler", "Refined"]


class LabelBudget(Budget):
    """What one batch may spend; it remembers what was refused.

    Attributes:
        refused: the latest refusal.
        own: whether it was this budget that refused, and not the one that pays for it.
    """

    refused: BudgetRefusal | None = None
    own = False

    def reserve(self, tokens: int, *, up_to: int | None = None) -> Reservation | BudgetRefusal:
        """As :meth:`Budget.reserve`."""
        granted = super().reserve(tokens, up_to=up_to)
        if isinstance(granted, BudgetRefusal):
            self.refused = granted
            above = self.parent.reserve(tokens) if self.parent is not None else None
            self.own = not isinstance(above, BudgetRefusal)
            if isinstance(above, Reservation):
                above.release()
        return granted


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """What a call made of a batch.

    Attributes:
        batch: each step as it is to be kept: of tier ``model``, or as it was labelled before.
        answered: whether a reply came. If none did, nothing is to be kept and the call may be made again later.
        reason: why it was not answered.
        usage: what it cost.
        pages: page id → header and memo that came with the labels.
    """

    batch: LabelBatch
    answered: bool = True
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    pages: Mapping[str, PageTexts] = field(default_factory=dict)


class ModelLabeler:
    """Labels batches of steps with a chat model. It keeps nothing between calls: all it knows is in the task.

    Args:
        user: whose steps these are.
        model: the chat model.
        embed: makes the vectors of label names.
        method: how the reply's form is asked for.
        usage: is told of every request, under the operation ``label``.
        retries: what to do about failures on the way.
    """

    def __init__(
        self,
        user: str,
        model: BaseChatModel,
        embed: Embed,
        *,
        method: Method = "json_schema",
        usage: UsageMeter | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self.user = user
        self._embed = embed
        self._prompt: Prompt = load_prompt(AGENT)
        self._usage = usage
        self._call = StructuredCall(
            model, BatchLabels, agent=AGENT, method=method, retries=retries, salvage=salvaged_labels
        )

    def refine(self, task: LabelTask, budget: Budget | None = None) -> Refined:
        """Label the chosen steps of a task: one call, and one more where the reply does not fit.

        Never raises for what a text holds or a model replies.

        Args:
            task: steps with the labels they have, and what was known before them.
            budget: what may be spent.
        """
        if not task.chosen:
            return Refined(batch=LabelBatch(steps=()))
        reading = LabelReading(self.user, task, self._embed, self._prompt)
        result = self._call.invoke(
            CallInput(
                messages=reading.messages(),
                budget=budget,
                usage=self._usage,
                operation="label",
                validate=reading.problems,
            )
        )
        if result.value is None and not result.usage.output_tokens:
            told = result.degraded[0] if result.degraded else f"{AGENT}: no reply came"
            return Refined(batch=LabelBatch(steps=task.batch), answered=False, reason=told, usage=result.usage)
        batch = reading.labelled(result.value, result.degraded)
        return Refined(batch=batch, usage=result.usage, pages=reading.notes(result.value))
