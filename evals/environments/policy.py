"""A scripted agent: what it would do without experience, reordered by the advice that it is given.

Advice goes in as text and is read by :mod:`.reading`; the agent sees nothing else of the memory, and nothing of the
environment but what came back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hexamem.evals.environments.contract import Environment, Feedback, Past, Prior, Task
from hexamem.evals.environments.reading import Hint, preference, read_hints
from hexamem.experience.trouble import TroubleSettings, Turn, trouble_in

__all__ = ["Ended", "act_out", "turns_of"]

Record = Callable[[str, Feedback], None]
Reflect = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an attempt ended."""

    done: bool
    reward: float
    steps: int
    past: list[Past] = field(default_factory=list)


def act_out(
    environment: Environment,
    task: Task,
    prior: Prior,
    advice: str,
    *,
    record: Record | None = None,
    reflect: Reflect | None = None,
    chance: random.Random | None = None,
) -> Ended:
    """Attempt a task.

    Args:
        prior: what the agent would do without experience.
        advice: what it is given; "" for nothing.
        record: receives each action with what came back.
        reflect: asked in trouble, given what is wrong; its text is read like advice.
        chance: makes an attempt differ from others: what the advice prefers no more than another is drawn by lot.
    """
    episode = environment.begin(task)
    hints: list[Hint] = read_hints(advice)
    past: list[Past] = []
    back, looked = Feedback(), 0
    for _ in range(episode.limit):
        action = _next(task, episode.first, past, prior, hints, chance)
        if action is None:
            break
        back = episode.act(action)
        past.append(Past(action=action, observation=back.observation, error=back.error))
        if record is not None:
            record(action, back)
        if back.done:
            break
        trouble = trouble_in(turns_of(past[looked:]), TroubleSettings()) if reflect is not None else None
        if trouble is not None and reflect is not None:
            looked = len(past)  # as in a graph, turns count from the last look back on
            hints += read_hints(reflect(trouble.error or trouble.summary))
    return Ended(done=back.done and back.reward >= 1.0, reward=back.reward, steps=len(past), past=past)


def _next(
    task: Task, first: str, past: list[Past], prior: Prior, hints: list[Hint], chance: random.Random | None
) -> str | None:
    options = prior(task.text, first, past)
    if not options:
        return None
    last = (past[-1].error or past[-1].observation) if past else ""
    done = [one.action for one in past]
    scores = [preference(one, task.text, last, hints, done) for one in options]
    best = max(range(len(options)), key=lambda at: (scores[at], -at))
    if chance is not None:
        best = chance.choice([at for at in range(len(options)) if scores[at] == scores[best]])
    return options[best]


def turns_of(past: Sequence[Past]) -> list[Turn]:
    """These turns as trouble is looked for in them."""
    return [Turn(action=one.action, observation=one.observation, error=one.error) for one in past]
