"""A model that decides whether an answer is right: the usual score beside word overlap on LoCoMo and LongMemEval.

The prompt is ``prompts/answer_judge.md``, our own words. Temperature 0, one structured call an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from hexamem.models import CallInput, ModelReply, StructuredCall, Usage
from hexamem.prompts import load_prompt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from hexamem.models import RetryPolicy

__all__ = ["NO_ANSWER", "AnswerJudge", "AnswerVerdict"]

NO_ANSWER = "The question cannot be answered from the conversation."
"""The gold answer of a question that has none."""
_LONGEST = 8_000


class AnswerVerdict(ModelReply):
    """Whether a system's answer is correct."""

    reason: str = Field(description="Why, in one short sentence.")
    correct: bool = Field(description="Whether the answer says what the gold answer says.")


class AnswerJudge:
    """Judges answers with one chat model.

    Args:
        model: is not changed: a copy of it is asked at temperature 0, where it has one.
        retries: for failed requests.

    Attributes:
        usage: the cost of all calls so far.
    """

    def __init__(self, model: BaseChatModel, *, retries: RetryPolicy | None = None) -> None:
        if "temperature" in type(model).model_fields:
            model = model.model_copy(update={"temperature": 0.0})
        self._call = StructuredCall(model, AnswerVerdict, agent="judge", retries=retries)
        self._prompt = load_prompt("answer_judge")
        self.usage = Usage()

    def judge(self, question: str, gold: str, answer: str) -> tuple[AnswerVerdict | None, tuple[str, ...]]:
        """The verdict, and what fell back; None where the model has none. Of the answer the first 8,000 characters are read."""
        result = self._call.invoke(
            CallInput(messages=self._prompt.render(question=question, gold=gold or NO_ANSWER, answer=answer[:_LONGEST]))
        )
        self.usage += result.usage
        return result.value, result.degraded
