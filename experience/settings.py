"""Every default of learning from experience, in one place."""

from __future__ import annotations

from hexamem.memory_types.settings import validated_settings

__all__ = ["ExperienceSettings"]


@validated_settings
class ExperienceSettings:
    """How experience is recalled, distilled and cared for.

    Attributes:
        floor: how near (0 to 1) an earlier task or an experience must be to be shown at all. With the bundled embedder
            tasks of the same sort are at 0.65 and above; beside a home of tasks, 95 of 100 sentences of a chat are below.
        items: most items and digests shown, whatever k is.
        item_tokens, trajectory_tokens: budgets of the two parts of an advice.
        most_runs: of a user's runs in an environment, so many of the newest are looked at.
        from_success, from_failure, from_contrast: most items that one distilling may bring (ReasoningBank, section 3).
        same: how alike (0 to 1) two experiences must be to be one.
        corrected: how alike an experience must be to the one whose place a model says it takes; else it is a new one.
        retire_after: an experience is retired once so many runs that were given it failed, and these are at least
            four times those that did their task.
        run_tokens: to how many tokens a run is abridged for a model; in a contrast that is shared by the runs.
        contrasted: most runs of the same task that one contrast looks at.
        from_refined: most items from a run that was re-examined (sequential scaling); a self-contrast over parallel
            runs brings ``from_contrast``.
        explored: most runs of one exploration, and most re-examinations of one run.
        repeated_errors: so many errors of the same tool, or invalid actions, one behind the other, are trouble.
        standstill: so many turns that bring nothing new are no progress.
        reflected: most similar successful runs that a reflection looks at.
        reflection_tokens: the budget of a reflection's text without a model, and of its answers with one.
        focus_points: most guiding principles of an environment.
    """

    floor: float = 0.52
    items: int = 3
    item_tokens: int = 400
    trajectory_tokens: int = 800
    most_runs: int = 2_000
    from_success: int = 3
    from_failure: int = 3
    from_contrast: int = 5
    same: float = 0.92
    corrected: float = 0.5
    retire_after: int = 4
    run_tokens: int = 4_000
    contrasted: int = 4
    from_refined: int = 3
    explored: int = 8
    repeated_errors: int = 2
    standstill: int = 3
    reflected: int = 3
    reflection_tokens: int = 500
    focus_points: int = 5
