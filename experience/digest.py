"""A run in a few lines without a model, and a run abridged to a budget of tokens. What is cut is marked with "…"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hexamem.memory_types.experience import Run, RunDigest, RunStep
from hexamem.models.tokens import count_tokens

__all__ = ["abridged_run", "clipped", "digest_of", "digest_text", "normal_task"]

_ACTION, _ERROR, _TASK = 160, 240, 300
_MOST_ACTIONS = 12
_SPACE = re.compile(r"\s+")
_SHORTENED = (400, 200, 100, 50)


def clipped(text: str, most: int) -> str:
    """The text on one line, at most so many characters."""
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def normal_task(task: str) -> str:
    """A task in the form by which two are the same: capitals, white space and the last stop do not count."""
    return _SPACE.sub(" ", task).strip().rstrip(".!").casefold()


def digest_of(run: Run, steps: Sequence[RunStep]) -> RunDigest:
    """The digest of a run.

    Args:
        steps: its steps in order.

    Returns:
        Task, outcome, what was done (each action once, in order; at most 12, of more the first and the last ones) and
        the first error.
    """
    actions = list(dict.fromkeys(clipped(step.action, _ACTION) for step in steps if step.action.strip()))
    if len(actions) > _MOST_ACTIONS:
        half = _MOST_ACTIONS // 2
        actions = [*actions[:half], "…", *actions[-(_MOST_ACTIONS - half - 1) :]]
    return RunDigest(
        run_id=run.id,
        task=run.task,
        environment=run.environment,
        outcome=None if run.outcome is None else run.outcome.label,
        actions=tuple(actions),
        first_error=clipped(next((step.error for step in steps if step.error), "") or "", _ERROR),
        steps=len(steps),
    )


def digest_text(digest: RunDigest) -> str:
    """A digest in lines for a prompt or a person."""
    ended = {True: "done", False: "failed", None: "outcome unknown"}[digest.outcome]
    turns = f"{digest.steps} step{'' if digest.steps == 1 else 's'}"
    lines = [f"Earlier run ({ended}, {turns}): {clipped(digest.task, _TASK)}"]
    if digest.actions:
        lines.append(f"Did: {'; '.join(digest.actions)}")
    if digest.first_error:
        lines.append(f"First error: {digest.first_error}")
    return "\n".join(lines)


def abridged_run(
    run: Run,
    steps: Sequence[RunStep],
    budget: int,
    *,
    count: Callable[[str], int] = count_tokens,
    thoughts: bool = False,
) -> str:
    """A run as text within a budget of tokens: observations are shortened first, then steps in the middle left out.

    Args:
        budget: tokens.
        thoughts: whether what the agent thought goes along, as a distiller needs it.

    Returns:
        The text; "" where not even the task with its last step fits.
    """
    ended = {True: " (done)", False: " (failed)"}.get(run.outcome.label if run.outcome else None, "")  # type: ignore[arg-type]
    head = f"Task{ended}: {clipped(run.task, 2 * _TASK)}"
    text = head
    for most in _SHORTENED:
        text = "\n".join([head, *(_step_line(step, most, thoughts) for step in steps)])
        if count(text) <= budget:
            return text
    lines = [_step_line(step, _SHORTENED[-1], thoughts) for step in steps]

    def without_middle(retained: int) -> str:
        return "\n".join([head, *lines[: (retained + 1) // 2], "…", *lines[len(lines) - retained // 2 :]])

    least, most_kept = 0, len(lines) - 1
    while least < most_kept:  # a run may have thousands of steps, and each count reads all that is left
        retained = (least + most_kept + 1) // 2
        least, most_kept = (retained, most_kept) if count(without_middle(retained)) <= budget else (least, retained - 1)
    if least > 0:
        return without_middle(least)
    return head if not steps and count(head) <= budget else ""


def _step_line(step: RunStep, most: int, thoughts: bool) -> str:
    parts = []
    if thoughts and step.thought.strip():
        parts.append(f"   thought: {clipped(step.thought, most)}")
    parts.append(f"   action: {clipped(step.action, max(most, 120))}" if step.action.strip() else "   (no action)")
    if step.observation.strip():
        parts.append(f"   observation: {clipped(step.observation, most)}")
    if step.error:
        parts.append(f"   error: {clipped(step.error, most)}")
    parts[0] = f"{step.position + 1}. {parts[0].lstrip()}"
    return "\n".join(parts)
