"""Focus points: guiding principles of an environment that exploration goes by (CFGM, arXiv 2508.15305, section 3.1).

They are coarse: what to look at, not what to do. They are kept like experience, of origin "focus", and given to agents
that explore; recall before an ordinary task leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from hexamem.experience.experience_agent import ExperienceAgent
from hexamem.experience.settings import ExperienceSettings
from hexamem.memory_types.base import Record
from hexamem.memory_types.experience import Experience
from hexamem.models import CallInput, ModelReply
from hexamem.models.tokens import count_tokens
from hexamem.prompts import load_prompt

__all__ = ["Focus", "FocusReply", "Focuser"]

_EXAMPLE_TOKENS = 3_000


class Focus(Record):
    """The focus points of an environment; ``degraded`` says why there are no new ones, where that is so."""

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


class Focuser(ExperienceAgent[FocusReply]):
    """Derives focus points from examples."""

    name = "focus"
    reply = FocusReply

    def focus(
        self, user: str, environment: str, examples: Sequence[str], settings: ExperienceSettings
    ) -> tuple[list[Experience] | None, tuple[str, ...]]:
        """The points, at most ``settings.focus_points``; None, and why, where no reply could be used.

        Examples are shown up to 3,000 tokens, the first one cut to that; what was left out is told.
        """
        shown: list[str] = []
        left, short = _EXAMPLE_TOKENS, 0
        for one in examples:
            cost = count_tokens(one)
            if cost > left:
                short += 1
                if shown:
                    continue
            shown.append(one[: len(one) * left // cost].strip() if cost > left else one.strip())
            left -= min(cost, left)
        told = (
            (f"focus: {short} of {len(examples)} examples were cut or left out, since they are long",) if short else ()
        )
        messages = load_prompt("focus_points").render(
            environment=environment or "not named", examples="\n\n".join(shown), most=settings.focus_points
        )
        result = self._call.invoke(CallInput(messages=messages, operation="focus"))
        if result.value is None:
            return None, (*told, *result.degraded)
        points = [
            Experience(
                user=user,
                environment=environment,
                title=one.title.strip(),
                description=one.description.strip(),
                content=one.principle.strip(),
                origin="focus",
            )
            for one in result.value.points
            if one.title.strip() and one.description.strip() and one.principle.strip()
        ]
        return points[: settings.focus_points], (*told, *result.degraded)
