"""How the runs of a user ended, with and without advice, and what was learned from them."""

from __future__ import annotations

from collections.abc import Sequence

from hexamem.memory_types.experience import Experience, ExperienceStats, Run

__all__ = ["stats_of"]


def stats_of(env: str | None, runs: Sequence[Run], learned: Sequence[Experience], waits: str) -> ExperienceStats:
    """The counts of an environment.

    Args:
        env: its name; None for all.
        runs: of it.
        learned: of it, retired experience among it.
        waits: why nothing is distilled; "" where something is.
    """
    judged = [run for run in runs if run.outcome is not None]
    done = [run for run in runs if run.status == "finished"]
    waiting = [run for run in done if not run.distilled]

    def ended(with_advice: bool) -> tuple[int, int]:
        chosen = [run.outcome for run in judged if bool(run.shown) == with_advice]
        return sum(outcome.label for outcome in chosen if outcome is not None), len(chosen)

    return ExperienceStats(
        environment=env,
        runs=len(runs),
        unfinished=len(runs) - len(done),
        succeeded=sum(run.outcome.label for run in judged if run.outcome),
        failed=sum(not run.outcome.label for run in judged if run.outcome),
        unjudged=sum(run.outcome is None for run in done),
        undistilled=len(waiting),
        active=sum(experience.status == "active" for experience in learned),
        retired=sum(experience.status == "retired" for experience in learned),
        with_advice=ended(True),
        without_advice=ended(False),
        waiting=waits if waiting else "",
    )
