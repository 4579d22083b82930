"""The thresholds, budgets and bounds of learning from experience, in one place."""

from __future__ import annotations

FLOOR = 0.52
"""How near (0 to 1) an earlier task or an experience must be to be shown at all. With the bundled embedder tasks of the
same sort are at 0.65 and above; beside a home of tasks, 95 of 100 sentences of a chat are below."""
ITEMS = 3
"""Most items and digests shown, whatever k is."""
ITEM_TOKENS = 400
"""Budget of the items of an advice."""
TRAJECTORY_TOKENS = 800
"""Budget of the trajectories of an advice."""
MOST_RUNS = 2_000
"""So many of the newest runs of a user in an environment are looked at."""
FROM_SUCCESS = 3
"""Most items from one success (ReasoningBank, section 3)."""
FROM_FAILURE = 3
"""Most items from one failure (ReasoningBank, section 3)."""
FROM_CONTRAST = 5
"""Most items from a contrast of runs of the same task, or over parallel attempts (ReasoningBank, section 3)."""
FROM_REFINED = 3
"""Most items from a run that was re-examined (sequential scaling)."""
SAME = 0.92
"""How alike (0 to 1) two experiences must be to be merged."""
CORRECTED = 0.5
"""How alike an experience must be to the one that a model says it replaces; else it is a new one."""
RETIRE_AFTER = 4
"""An experience is retired once so many runs that were given it failed, and at least four times those that succeeded."""
RUN_TOKENS = 4_000
"""To how many tokens a run is abridged for a model; in a contrast that is shared by the runs."""
CONTRASTED = 4
"""Most runs of the same task that one contrast looks at."""
EXPLORED = 8
"""Most runs of one exploration, and most re-examinations of one run."""
REFLECTED = 3
"""Most similar successful runs that a reflection looks at."""
REFLECTION_TOKENS = 500
"""The budget of a reflection's text without a model, and of its answers with one."""
FOCUS_POINTS = 5
"""Most guiding principles of an environment."""
