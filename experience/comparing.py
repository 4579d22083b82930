"""Choosing the best of several runs with a chat model that compares them (best-of-n; ReasoningBank, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from hexamem.experience.digest import abridged_run, clipped
from hexamem.experience.experience_agent import ExperienceAgent
from hexamem.experience.exploring import Choice, Tried
from hexamem.experience.settings import ExperienceSettings
from hexamem.models import CallInput, ModelReply
from hexamem.prompts import load_prompt

__all__ = ["BestRunReply", "RunComparer"]


class BestRunReply(ModelReply):
    """Which of the runs did the task best."""

    best: int = Field(description="the number of the run, counted from 1")
    reason: str = Field(description="one short sentence")


class RunComparer(ExperienceAgent[BestRunReply]):
    """Compares the runs of one task."""

    name = "judge"
    reply = BestRunReply

    def best(
        self, tried: Sequence[Tried], among: Sequence[int], settings: ExperienceSettings
    ) -> tuple[Choice | None, tuple[str, ...]]:
        """The best of some attempts; None, and why, where no reply could be used.

        Args:
            among: the numbers of the attempts to compare, from 0.
        """
        share = 2 * settings.run_tokens // len(among)
        shown = []
        for number, at in enumerate(among, start=1):
            one = tried[at]
            evidence = f"\n   evidence: {clipped(one.run.evidence, 300)}" if one.run.evidence else ""
            # How the runs ended is left to the judge where nobody knows: the head says nothing about it then.
            shown.append(f"Run {number}. {abridged_run(one.run, one.steps, share, thoughts=True)}{evidence}")
        messages = load_prompt("best_run").render(
            task=tried[among[0]].run.task, runs="\n\n".join(shown), most=len(among)
        )

        def known(reply: BestRunReply) -> list[str]:
            return (
                [] if 1 <= reply.best <= len(among) else [f"best = {reply.best}: give a number from 1 to {len(among)}"]
            )

        result = self._call.invoke(CallInput(messages=messages, operation="explore", validate=known))
        if result.value is None:
            return None, result.degraded
        at = among[result.value.best - 1]
        return Choice(at=at, by="judge", reason=clipped(result.value.reason, 300)), result.degraded
