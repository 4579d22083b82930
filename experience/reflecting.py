"""Reflection at failure: key information of the situation, questions to similar successful runs, corrected advice.

After CFGM (arXiv 2508.15305, section 3.4): the situation is put into its key information (KIE: goal, initial
environment, progress), and questions about it are answered from runs that did a similar task (KIR). Here by rules: where
a run that did its task met the same error, what it did next; how it called the tool that fails here; what it did next
from the state of this run; or by a chat model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pydantic import Field

from hexamem.experience import limits
from hexamem.experience.digest import abridged_run, clipped
from hexamem.experience.model_calls import ExperienceModel
from hexamem.experience.trouble import ANSWER, tool_of
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import AdvicePart, Run, RunStep
from hexamem.models import ModelReply
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = [
    "KeyInformation",
    "KeyInformationReply",
    "Question",
    "Reflection",
    "ReflectionReply",
    "answer_by_model",
    "answer_by_rules",
    "extract_key_information",
    "key_information",
    "reflection_text",
]

_LINE = 240
_HOW = "How was"
_DONE = 6  # last actions that make up the progress
_ALIKE = 0.72  # two errors are the same one from this ratio of equal characters on
_VALUES = re.compile(r"\d+")


class KeyInformation(Record):
    """The key information of a situation (KIE).

    Attributes:
        goal: the task.
        initial: the environment at the beginning.
        progress: the actions so far that worked.
        trouble: what went wrong.
    """

    goal: str
    initial: str = ""
    progress: str = ""
    trouble: str = ""


class Question(Record):
    """A question about the situation, with the answer from earlier runs (KIR)."""

    question: str
    answer: str


class Reflection(Record):
    """The result of a reflection.

    Attributes:
        key: the key information of the situation.
        questions: questions about it, with answers.
        advice: what to do next, in plain text; "" if earlier runs give no answer.
        text: the same for a prompt, delimited as data.
        parts: the experience and runs that it comes from; they count as shown to the run.
        tier: "rules" or "model".
        degraded: a line for each failure and fallback.
    """

    key: KeyInformation
    questions: tuple[Question, ...] = ()
    advice: str = ""
    text: str = ""
    parts: tuple[AdvicePart, ...] = ()
    tier: str = Field(default="rules", pattern="^(rules|model)$")
    degraded: tuple[str, ...] = ()


def key_information(run: Run, steps: Sequence[RunStep], error: str) -> KeyInformation:
    """The key information of an unfinished run, without a model."""
    first = next((step.observation for step in steps if step.observation.strip()), "")
    worked = [clipped(step.action, 120) for step in steps if step.action.strip() and not step.error]
    return KeyInformation(
        goal=clipped(run.task, _LINE),
        initial=clipped(first, _LINE),
        progress="; ".join(list(dict.fromkeys(worked))[-_DONE:]),
        trouble=clipped(error, _LINE),
    )


def answer_by_rules(
    steps: Sequence[RunStep], error: str, similar: Sequence[tuple[Run, Sequence[RunStep]]], budget: int
) -> tuple[Question, ...]:
    """Questions about the situation that similar successful runs answer, the most telling first.

    Args:
        steps: of the run that is stuck, in order.
        error: what went wrong.
        similar: successful runs with their steps, the nearest first.
        budget: tokens of all answers together.
    """
    failed = next((step for step in reversed(steps) if step.action.strip()), None)
    questions: list[Question] = []
    for run, earlier in similar:
        questions += _same_error(error, run, earlier)
        if failed is not None:
            questions += _same_tool(failed.action, steps, run, earlier)
    for run, earlier in similar[:1]:
        questions += _next_step(steps, run, earlier)
    chosen: list[Question] = []
    for question in questions:
        cost = count_tokens(question.answer)
        actions = question.answer.rsplit("`", 2)[1:2] if question.question.startswith(_HOW) else []
        answers = {other.answer for other in chosen}
        if (
            cost <= budget
            and question.answer not in answers
            and not any(f"`{text}`" in other for text in actions for other in answers)
        ):
            chosen.append(question)
            budget -= cost
    return tuple(chosen)


def reflection_text(advice: str) -> str:
    """An advice delimited as data; "" for none."""
    if not advice.strip():
        return ""
    ((_, text),) = load_prompt("experience_reflection").render(reflection=advice)
    return text


def _same_error(error: str, run: Run, steps: Sequence[RunStep]) -> list[Question]:
    """What a run that had the same error did next with success."""
    questions = []
    for index, step in enumerate(steps):
        if not step.error or not _alike(step.error, error):
            continue
        past = next((later for later in steps[index + 1 :] if later.action.strip() and not later.error), None)
        if past is not None:
            answer = (
                f"When {clipped(error, 120)!r} came back to `{clipped(step.action, 160)}`, a run that did its task used "
                f"`{clipped(past.action, 160)}` instead of `{clipped(step.action, 160)}`."
            )
            questions.append(
                Question(question=f"What got past this error in {clipped(run.task, 80)!r}?", answer=answer)
            )
    return questions[:1]


def _same_tool(failed: str, steps: Sequence[RunStep], run: Run, earlier: Sequence[RunStep]) -> list[Question]:
    """How a run called the tool that fails here."""
    tool = tool_of(failed)
    tried = {clipped(step.action, 400) for step in steps}
    worked = [step.action for step in earlier if not step.error and tool_of(step.action) == tool]
    last = next((action for action in reversed(worked) if clipped(action, 400) not in tried), None)
    if last is None:
        return []
    answer = f"When {tool} is called, a run that did {clipped(run.task, 120)!r} used `{clipped(last, 160)}`."
    return [Question(question=f"{_HOW} {tool} called where it worked?", answer=answer)]


def _next_step(steps: Sequence[RunStep], run: Run, earlier: Sequence[RunStep]) -> list[Question]:
    """What a run did that this one has not done yet."""
    done = {clipped(step.action, 400) for step in steps if not step.error}
    ahead = [step.action for step in earlier if step.action.strip() and not step.error and step.action != ANSWER]
    left = [action for action in ahead if clipped(action, 400) not in done]
    if not left:
        return []
    lines = "; ".join(f"`{clipped(action, 120)}`" for action in left[:_DONE])
    answer = f"A run that did {clipped(run.task, 120)!r} also did: {lines}."
    return [Question(question="What did a run that did its task do that this one has not?", answer=answer)]


def _alike(one: str, other: str) -> bool:
    """Whether two errors are the same one; numbers in them do not count."""
    first, second = (_VALUES.sub("0", clipped(text, 200).casefold()) for text in (one, other))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return first == second or (matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE)


_QUESTIONS = 3
_LONGEST_LINE = 400
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
    values = {name: clipped(getattr(reply, name), _LONGEST_LINE) for name in ("goal", "initial", "progress", "trouble")}
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
            questions.append(Question(question=clipped(reply.question, _LONGEST_LINE), answer=reply.answer.strip()))
            left -= cost
    return tuple(questions), advice, result.degraded


def _within(text: str, budget: int) -> str:
    """The text, cut by sentences to a budget of tokens."""
    text = text.strip()
    while text and count_tokens(text) > budget:
        shorter = text[: len(text) * 3 // 4].rsplit(". ", 1)[0].rstrip()
        text = shorter if len(shorter) < len(text) else text[: len(text) // 2]
    return text
