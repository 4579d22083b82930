"""Focus points: guiding principles for exploring an environment (CFGM, arXiv 2508.15305, section 3.1).

They are coarse: what to examine, not what to do. They are stored as experience of origin "focus" and shown only to
agents that explore.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from hexamem.experience import limits
from hexamem.experience.model_calls import ExperienceModel
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import Experience
from hexamem.models import ModelReply
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["Focus", "FocusReply", "focus_points"]

_EXAMPLE_TOKENS = 3_000


class Focus(Record):
    """The focus points of an environment; ``degraded`` says why there are no new ones, if there are none."""

    points: tuple[Experience, ...] = ()
    degraded: tuple[str, ...] = ()


class FocusPoint(ModelReply):
    """One guiding principle."""

    title: str = Field(description="a few words")
    description: str = Field(description="one sentence: in which situations it matters")
    principle: str = Field(description="one or two sentences: what to look at or to find out, and why")


class FocusReply(ModelReply):
    """What to look at while exploring an environment, the most useful first."""

    points: list[FocusPoint]


def focus_points(
    model: ExperienceModel, user: str, environment: str, examples: Sequence[str]
) -> tuple[list[Experience], tuple[str, ...]]:
    """Derive focus points from examples.

    Args:
        examples: texts, shown up to 3,000 tokens together; one that does not fit is left out, the first one cut.

    Returns:
        At most ``limits.FOCUS_POINTS``, and what was degraded; none where no reply could be used.
    """
    shown: list[str] = []
    left, short = _EXAMPLE_TOKENS, 0
    for example in examples:
        cost = count_tokens(example)
        if cost > left:
            short += 1
            if shown:
                continue
        shown.append(example[: len(example) * min(left, cost) // max(cost, 1)].strip())
        left -= min(cost, left)
    cut = f"focus: {short} of {len(examples)} examples were cut or left out, since they are long"
    messages = load_prompt("focus_points").render(
        environment=environment or "not named", examples="\n\n".join(shown), most=limits.FOCUS_POINTS
    )
    result = model.ask(FocusReply, messages)
    points = [
        Experience(
            user=user,
            environment=environment,
            title=point.title.strip(),
            description=point.description.strip(),
            content=point.principle.strip(),
            origin="focus",
        )
        for point in (result.value.points if result.value is not None else ())
        if point.title.strip() and point.description.strip() and point.principle.strip()
    ]
    return points[: limits.FOCUS_POINTS], (*((cut,) if short else ()), *result.degraded)
