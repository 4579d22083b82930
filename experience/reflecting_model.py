"""Reflection at failure with a chat model: two calls, one for the key information, one that asks and answers (CFGM, 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped
from hexamem.experience.model_calls import ExperienceModel
from hexamem.experience.reflecting import KeyInformation, Question
from hexamem.memory_types.experience import Run, RunStep
from hexamem.models import ModelReply
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["KeyInformationReply", "ReflectionReply", "answer_by_model", "extract_key_information"]

_QUESTIONS = 3
_LINE = 400
_ERROR = 2_000  # characters; an error may hold all that a program has written


class KeyInformationReply(ModelReply):
    """The key information of a situation."""

    goal: str
    initial: str = Field(description="the environment at the beginning; empty where nothing shows it")
    progress: str = Field(description="which parts of the goal are done; empty where none is")
    trouble: str


class QuestionReply(ModelReply):
    """One question about the situation, answered from the material."""

    question: str
    answer: str


class ReflectionReply(ModelReply):
    """Why the agent is stuck, and what to do next."""

    questions: list[QuestionReply]
    advice: str = Field(description="one to four sentences; empty where the material has nothing to say")


def extract_key_information(
    model: ExperienceModel, run: Run, steps: Sequence[RunStep], error: str
) -> tuple[KeyInformation | None, tuple[str, ...]]:
    """The key information (KIE), and what was degraded; None where no reply could be used."""
    messages = load_prompt("key_information").render(
        task=run.task,
        run=abridged_run(run, steps, limits.RUN_TOKENS, thoughts=True) or "no step was recorded",
        error=clipped(error, _ERROR),
    )
    result = model.ask(KeyInformationReply, messages)
    reply = result.value
    if reply is None or not reply.goal.strip():
        return None, result.degraded
    values = {name: clipped(getattr(reply, name), _LINE) for name in ("goal", "initial", "progress", "trouble")}
    return KeyInformation(**values), result.degraded


def answer_by_model(
    model: ExperienceModel,
    key: KeyInformation,
    known: Sequence[str],
    similar: Sequence[tuple[Run, Sequence[RunStep]]],
) -> tuple[tuple[Question, ...], str, tuple[str, ...]] | None:
    """Questions about the situation with their answers (KIR), the advice, and what was degraded.

    Args:
        known: texts of experience that is near.
        similar: successful runs with their steps, the nearest first.

    Returns:
        None where no reply could be used.
    """
    tokens = limits.RUN_TOKENS // max(1, len(similar))
    shown = [abridged_run(run, steps, tokens, thoughts=True) for run, steps in similar]
    messages = load_prompt("run_reflection").render(
        situation="\n".join(f"{name}: {value}" for name, value in key.model_dump().items() if value),
        known="\n\n".join(known) or "nothing",
        similar="\n\n".join(text for text in shown if text) or "none",
        most=_QUESTIONS,
    )
    result = model.ask(ReflectionReply, messages)
    if result.value is None:
        return None
    left = limits.REFLECTION_TOKENS
    advice = _within(result.value.advice, left)
    left -= count_tokens(advice)
    questions: list[Question] = []
    for reply in result.value.questions[:_QUESTIONS]:
        cost = count_tokens(reply.answer)
        if reply.question.strip() and reply.answer.strip() and cost <= left:
            questions.append(Question(question=clipped(reply.question, _LINE), answer=reply.answer.strip()))
            left -= cost
    return tuple(questions), advice, result.degraded


def _within(text: str, budget: int) -> str:
    """The text, cut by sentences to a budget of tokens."""
    text = text.strip()
    while text and count_tokens(text) > budget:
        shorter = text[: len(text) * 3 // 4].rsplit(". ", 1)[0].rstrip()
        text = shorter if len(shorter) < len(text) else text[: len(text) // 2]
    return text
