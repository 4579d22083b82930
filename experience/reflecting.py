"""Reflection at failure: key information of the situation, questions to similar successful runs, corrected advice.

After CFGM (arXiv 2508.15305, section 3.4): the situation is put into its key information (KIE: goal, initial
environment, progress), and questions about it are answered from runs that did a similar task (KIR). Here by rules: where
a run that did its task met the same error, what it did next; how it called the tool that fails here; what it did next
from where this run stands. :mod:`hexamem.experience.reflecting_model` does the same with a chat model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pydantic import Field

from hexamem.experience.digest import clipped
from hexamem.experience.trouble import ANSWER, tool_of
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import AdvicePart, Run, RunStep
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["KeyInformation", "Question", "Reflection", "answer_by_rules", "key_information", "reflection_text"]

_LINE = 240
_HOW = "How was"
_DONE = 6  # last actions that make up the progress
_ALIKE = 0.72  # two errors are the same one from this ratio of equal characters on
_VALUES = re.compile(r"\d+")


class KeyInformation(Record):
    """What matters of a situation (KIE).

    Attributes:
        goal: what is to be done.
        initial: what the environment was like at the beginning.
        progress: what was done so far that worked.
        trouble: what went wrong.
    """

    goal: str
    initial: str = ""
    progress: str = ""
    trouble: str = ""


class Question(Record):
    """What was asked about the situation, and what earlier runs answer (KIR)."""

    question: str
    answer: str


class Reflection(Record):
    """What to do otherwise.

    Attributes:
        key: the key information of the situation.
        questions: what was asked and answered.
        advice: what to do next, in plain text; "" where earlier runs have nothing to say.
        text: the same for a prompt, fenced off as material that does not instruct.
        parts: experience and runs that it rests on; they count as given to the run.
        tier: who reflected.
        degraded: what could not be done as asked.
    """

    key: KeyInformation
    questions: tuple[Question, ...] = ()
    advice: str = ""
    text: str = ""
    parts: tuple[AdvicePart, ...] = ()
    tier: str = Field(default="rules", pattern="^(rules|model)$")
    degraded: tuple[str, ...] = ()


def key_information(run: Run, steps: Sequence[RunStep], error: str) -> KeyInformation:
    """The key information of a run that is under way, without a model."""
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
    found: list[Question] = []
    for run, earlier in similar:
        found += _same_error(error, run, earlier)
        if failed is not None:
            found += _same_tool(failed.action, steps, run, earlier)
    for run, earlier in similar[:1]:
        found += _next_step(steps, run, earlier)
    kept: list[Question] = []
    for one in found:
        cost = count_tokens(one.answer)
        quoted = one.answer.rsplit("`", 2)[1:2] if one.question.startswith(_HOW) else []
        said = {other.answer for other in kept}
        if (
            cost <= budget
            and one.answer not in said
            and not any(f"`{text}`" in other for text in quoted for other in said)
        ):
            kept.append(one)
            budget -= cost
    return tuple(kept)


def reflection_text(advice: str) -> str:
    """An advice fenced off as material; "" for none."""
    if not advice.strip():
        return ""
    ((_, text),) = load_prompt("experience_reflection").render(reflection=advice)
    return text


def _same_error(error: str, run: Run, steps: Sequence[RunStep]) -> list[Question]:
    """What a run did that met this error and got past it."""
    found = []
    for at, step in enumerate(steps):
        if not step.error or not _alike(step.error, error):
            continue
        past = next((later for later in steps[at + 1 :] if later.action.strip() and not later.error), None)
        if past is not None:
            answer = (
                f"When {clipped(error, 120)!r} came back to `{clipped(step.action, 160)}`, a run that did its task used "
                f"`{clipped(past.action, 160)}` instead of `{clipped(step.action, 160)}`."
            )
            found.append(Question(question=f"What got past this error in {clipped(run.task, 80)!r}?", answer=answer))
    return found[:1]


def _same_tool(failed: str, steps: Sequence[RunStep], run: Run, earlier: Sequence[RunStep]) -> list[Question]:
    """How a run called the tool that fails here."""
    tool = tool_of(failed)
    tried = {clipped(step.action, 400) for step in steps}
    worked = [step.action for step in earlier if not step.error and tool_of(step.action) == tool]
    last = next((one for one in reversed(worked) if clipped(one, 400) not in tried), None)
    if last is None:
        return []
    answer = f"When {tool} is called, a run that did {clipped(run.task, 120)!r} used `{clipped(last, 160)}`."
    return [Question(question=f"{_HOW} {tool} called where it worked?", answer=answer)]


def _next_step(steps: Sequence[RunStep], run: Run, earlier: Sequence[RunStep]) -> list[Question]:
    """What a run did from where this one stands."""
    done = {clipped(step.action, 400) for step in steps if not step.error}
    ahead = [step.action for step in earlier if step.action.strip() and not step.error and step.action != ANSWER]
    left = [one for one in ahead if clipped(one, 400) not in done]
    if not left:
        return []
    lines = "; ".join(f"`{clipped(one, 120)}`" for one in left[:_DONE])
    answer = f"A run that did {clipped(run.task, 120)!r} also did: {lines}."
    return [Question(question="What did a run that did its task do that this one has not?", answer=answer)]


def _alike(one: str, other: str) -> bool:
    """Whether two errors are the same one; numbers in them do not count."""
    first, second = (_VALUES.sub("0", clipped(text, 200).casefold()) for text in (one, other))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return first == second or (matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE)
