"""A scripted agent: it takes the actions of an agent without experience, in the order that the advice prefers.

It reads advice as text, by :mod:`.reading`, and knows nothing else of the memory, and of the environment only its replies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hexamem.evals.environments.office_api import Feedback, OfficeApi, Task, prior
from hexamem.evals.environments.reading import Hint, preference, read_hints
from hexamem.experience.trouble import TroubleSettings, Turn, trouble_in

__all__ = ["Attempted", "act_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """The result of an attempt: whether the task was done, and in how many actions."""

    done: bool
    steps: int


def act_out(
    environment: OfficeApi,
    task: Task,
    advice: str,
    *,
    record: Callable[[str, Feedback], None] | None = None,
    reflect: Callable[[str], str] | None = None,
    chance: random.Random | None = None,
) -> Attempted:
    """Attempt a task.

    Args:
        advice: the text of the advice; "" for none.
        record: called with each action and its reply.
        reflect: called in trouble with a description of it; the text that it returns is read as advice.
        chance: chooses among equally preferred actions; by default the most plausible one is taken.
    """
    episode = environment.begin(task)
    hints = read_hints(advice)
    past: list[Turn] = []
    feedback, reflected = Feedback(), 0
    while len(past) < episode.limit and not feedback.done:
        action = _next(task, past, hints, chance)
        if action is None:
            break
        feedback = episode.act(action)
        past.append(Turn(action=action, observation=feedback.observation, error=feedback.error))
        if record is not None:
            record(action, feedback)
        if reflect is None or feedback.done:
            continue
        if trouble := trouble_in(past[reflected:], TroubleSettings()):
            reflected = len(past)  # as in a graph, turns count from the last reflection on
            hints += read_hints(reflect(trouble.error or trouble.summary))
    return Attempted(done=feedback.done, steps=len(past))


def _next(task: Task, past: list[Turn], hints: Sequence[Hint], chance: random.Random | None) -> str | None:
    options = prior(task.text, past)
    if not options:
        return None
    last = (past[-1].error or past[-1].observation) if past else ""
    scores = [preference(option, task.text, last, hints, [turn.action for turn in past]) for option in options]
    best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
    return best[0] if chance is None else chance.choice(best)
