"""The calls of a recall with a chat model: splits the question into parts, and orders the best hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from hexamem.errors import HexamemError
from hexamem.memory_types import Hit
from hexamem.models import Budget, CallInput, StructuredCall, UsageMeter
from hexamem.models.schemas import ModelReply
from hexamem.prompts import PromptLoader, load_prompt
from hexamem.prompts.fences import one_line
from hexamem.retrieval.packing import hit_text
from hexamem.stores.ledger import Ledger
from hexamem.stores.ledger.usage import store_usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import Method

__all__ = ["FullRecall", "HitOrder", "QuestionParts"]

R = TypeVar("R", bound=ModelReply)
_MOST_PARTS = 4
_LONGEST_TEXT, _LONGEST_QUESTION = 500, 2_000  # characters
_CALLS, _TOKENS = 4, 16_000  # the budget of one recall, including repair turns


class QuestionParts(ModelReply):
    """The searches that a question needs beside its own."""

    parts: list[str] = Field(description="One sentence each; empty where one search does.")


class HitOrder(ModelReply):
    """The hits that answer a question."""

    best: list[str] = Field(description="Handles, the most telling first.")


class FullRecall:
    """Calls chat models for one recall. Thread-safe; make one for each recall.

    Without a reply the recall is as without a model, and ``degraded`` has the reason.

    Args:
        ledger: where the cost of the calls is stored.
        planner: the model that splits questions; None for none.
        reader: the model that orders hits; None for none.
        method: how the schemas of the replies are sent.
        budget: what all calls of the memory may spend; one recall spends at most 4 calls and 16,000 tokens of it.
    """

    def __init__(
        self,
        ledger: Ledger,
        planner: BaseChatModel | None,
        reader: BaseChatModel | None,
        *,
        method: Method,
        budget: Budget,
        prompts: PromptLoader = load_prompt,
    ) -> None:
        self._ledger, self._method, self._planner, self._reader = ledger, method, planner, reader
        self._prompts = prompts
        self._budget = budget.child(calls=_CALLS, tokens=_TOKENS)
        self.degraded: list[str] = []

    def parts(self, user: str, question: str) -> tuple[str, ...]:
        """The parts of a question; empty where it has none, or there is no reply.

        Args:
            question: the question, without secrets.
        """
        if self._planner is None:
            self.degraded.append("no model takes the question apart: it is searched as a whole")
            return ()
        call = StructuredCall(self._planner, QuestionParts, agent="planner", method=self._method)
        messages = self._prompts("question_parts").render(question=question[:_LONGEST_QUESTION], most=_MOST_PARTS)
        reply = self._ask(user, call, messages, "recall_parts", "the question is searched as a whole")
        parts = (" ".join(part.split())[:_LONGEST_QUESTION] for part in reply.parts) if reply is not None else ()
        return tuple(dict.fromkeys(part for part in parts if part))[:_MOST_PARTS]

    def order(self, user: str, question: str, hits: Sequence[Hit], most: int) -> list[str] | None:
        """The ids of the hits that a model chose, best first; None where there is no reply.

        Args:
            hits: the hits in the order of the ranking.
            most: the most hits to choose.
        """
        if self._reader is None:
            self.degraded.append("no model orders the hits: their order is that of the ranking")
            return None
        if len(hits) < 2:
            return None
        handles = {f"H{number}": hit for number, hit in enumerate(hits, 1)}
        call = StructuredCall(self._reader, HitOrder, agent="integrator", method=self._method)
        messages = self._prompts("hit_order").render(
            question=question[:_LONGEST_QUESTION],
            hits="\n".join(_line(handle, hit) for handle, hit in handles.items()),
            most=min(most, len(hits)),
        )
        reply = self._ask(user, call, messages, "recall_order", "the order of the hits is that of the ranking")
        if reply is None:
            return None
        chosen = (handles.get(handle.strip().upper()) for handle in reply.best)
        return list(dict.fromkeys(hit.id for hit in chosen if hit is not None))[:most]

    def _ask(
        self, user: str, call: StructuredCall[R], messages: list[tuple[str, str]], operation: str, fallback: str
    ) -> R | None:
        usage = UsageMeter(operation)
        result = call.invoke(CallInput(messages=messages, budget=self._budget, usage=usage))
        try:
            store_usage(self._ledger, user, usage.drain())
        except HexamemError as error:  # the reply is valid all the same
            self.degraded.append(f"the cost of the model could not be stored: {error}")
        if result.value is None:
            self.degraded += [f"{fallback}: {line}" for line in result.degraded]
        return result.value


def _line(handle: str, hit: Hit) -> str:
    text = " ".join(hit_text(hit).split())
    when = f"[{hit.occurred_at:%Y-%m-%d}] " if hit.occurred_at else ""
    note = " (no longer believed)" if hit.superseded else ""
    return f"{handle} {when}{one_line(hit.speaker or hit.kind)}: {text[:_LONGEST_TEXT]}{'…' if len(text) > _LONGEST_TEXT else ''}{note}"
