"""What a model adds to a recall: the parts of the question, and the order of the best hits, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.errors import HexamemError
from hexamem.memory_types import Hit
from hexamem.models import Budget, CallInput, StructuredCall, UsageMeter
from hexamem.models.schemas import ModelReply
from hexamem.prompts import load_prompt
from hexamem.retrieval.packing import hit_text
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.usage import keep_usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method, RetryPolicy

__all__ = ["FullRecall", "HitOrder", "QuestionParts"]

_PARTS = 4
_TEXT, _QUESTION = 500, 2_000
_CALLS, _TOKENS = 4, 16_000
"""What one recall may cost, the repair of a reply included."""


class QuestionParts(ModelReply):
    """The searches that a question needs beside its own."""

    parts: list[str] = Field(description="One sentence each; empty where one search does.")


class HitOrder(ModelReply):
    """The hits that answer a question."""

    best: list[str] = Field(description="Handles, the most telling first.")


class FullRecall:
    """Asks chat models about one recall. Safe to use from several threads; make one for each recall.

    What a model does not do is left as it is, and ``degraded`` says why.

    Args:
        ledger: where the calls' cost is kept.
        planner: takes questions apart; None for nobody.
        reader: orders hits; None for nobody.
        budget: what all calls of the memory may spend; one recall takes at most 4 calls and 16,000 tokens of it.
    """

    def __init__(
        self,
        ledger: Ledger,
        planner: BaseChatModel | None,
        reader: BaseChatModel | None,
        *,
        method: Method = "json_schema",
        budget: Budget | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._ledger = ledger
        self._planner = (
            None
            if planner is None
            else StructuredCall(planner, QuestionParts, agent="planner", method=method, retries=retries)
        )
        self._reader = (
            None
            if reader is None
            else StructuredCall(reader, HitOrder, agent="integrator", method=method, retries=retries)
        )
        self._budget = (budget or Budget()).child(calls=_CALLS, tokens=_TOKENS)
        self.degraded: list[str] = []

    def parts(self, user: str, question: str) -> tuple[str, ...]:
        """The parts of a question; none where it has none, or no model names them.

        Args:
            question: as a model may see it.
        """
        if self._planner is None:
            self.degraded.append("no model takes the question apart: it is searched as a whole")
            return ()
        usage = UsageMeter("recall_parts")
        messages = load_prompt("question_parts").render(question=question[:_QUESTION], most=_PARTS)
        result = self._planner.invoke(CallInput(messages=messages, budget=self._budget, usage=usage))
        self._keep(user, usage)
        if result.value is None:
            self.degraded += [f"the question is searched as a whole: {line}" for line in result.degraded]
            return ()
        said = (" ".join(one.split())[:_QUESTION] for one in result.value.parts)
        return tuple(dict.fromkeys(one for one in said if one))[:_PARTS]

    def order(self, user: str, question: str, hits: Sequence[Hit], most: int) -> list[str] | None:
        """The ids of the hits that a model chose, best first; None where none told.

        Args:
            hits: to choose from, in the order of the ranking.
            most: how many at most.
        """
        if self._reader is None:
            self.degraded.append("no model orders the hits: their order is that of the ranking")
            return None
        if len(hits) < 2:
            return None
        handles = {f"H{number}": hit.id for number, hit in enumerate(hits, 1)}
        lines = [_line(handle, hit) for handle, hit in zip(handles, hits, strict=True)]
        usage = UsageMeter("recall_order")
        messages = load_prompt("hit_order").render(
            question=question[:_QUESTION], hits="\n".join(lines), most=min(most, len(hits))
        )
        result = self._reader.invoke(CallInput(messages=messages, budget=self._budget, usage=usage))
        self._keep(user, usage)
        if result.value is None:
            self.degraded += [f"the order of the hits is that of the ranking: {line}" for line in result.degraded]
            return None
        chosen = (handles.get(one.strip().upper()) for one in result.value.best)
        return list(dict.fromkeys(one for one in chosen if one is not None))[:most]

    def _keep(self, user: str, usage: UsageMeter) -> None:
        try:
            keep_usage(self._ledger, user, usage.drain())
        except HexamemError as error:  # what was found is right all the same
            self.degraded.append(f"what the model cost could not be noted: {error}")


def _line(handle: str, hit: Hit) -> str:
    text = " ".join(hit_text(hit).split())
    when = f"[{hit.occurred_at:%Y-%m-%d}] " if hit.occurred_at else ""
    note = " (no longer believed)" if hit.superseded else ""
    return f"{handle} {when}{hit.speaker or hit.kind}: {text[:_TEXT]}{'…' if len(text) > _TEXT else ''}{note}"
