"""What an environment is: tasks in words, episodes that answer actions in words, and nothing else that an agent sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Environment", "Episode", "Feedback", "Past", "Prior", "Task", "numbered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Task ``number`` (from 0) of an environment; ``text`` is all that an agent is given of it."""

    environment: str
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What came back of an action. ``error`` where it failed; ``done`` once the task is done, or lost for good."""

    observation: str = ""
    error: str = ""
    done: bool = False
    reward: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One turn as the agent remembers it."""

    action: str
    observation: str = ""
    error: str = ""


class Episode(Protocol):
    """One attempt at a task: ``first`` is what the agent sees at the beginning, ``limit`` how many actions it has."""

    first: str
    limit: int

    def act(self, action: str) -> Feedback:
        """Do something."""


class Environment(Protocol):
    """A world with rules of its own, the same for all of its tasks.

    Attributes:
        name: as experience is stored under it.
        help: what every agent is given of the actions there are.
    """

    name: str
    help: str

    def tasks(self, count: int) -> list[Task]:
        """The first tasks, no two of the same text."""

    def begin(self, task: Task) -> Episode:
        """A new attempt."""


Prior = Callable[[str, str, Sequence[Past]], list[str]]
"""What an agent without experience would do next, the most plausible first: (task, first observation, past) → actions.

It stands in for what a model knows of the world. It sees what an agent sees, and no rule of the environment."""


def numbered(environment: str, texts: Sequence[str]) -> list[Task]:
    """Tasks of these texts."""
    return [Task(environment=environment, number=number, text=text) for number, text in enumerate(texts)]
