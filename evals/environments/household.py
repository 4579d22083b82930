"""A household in the manner of ALFWorld's: find a thing, make it clean, hot or cool, and put it somewhere.

Its own rules are the same in every task: where each kind of thing is usually found, and which appliances are out of order.
About one thing in eight lies elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from hexamem.evals.environments.contract import Feedback, Past, Task, numbered

__all__ = ["Household", "prior"]

_PLACES = (
    "countertop 1", "shelf 1", "table 1", "cabinet 1", "drawer 1", "desk 1", "shelf 2", "cabinet 2", "drawer 2", "cart 1",
    "cabinet 3", "drawer 3", "shelf 3", "chest 1",
)  # fmt: skip
_CLOSED = ("cabinet", "drawer", "chest")
_THINGS = ("mug", "plate", "potato", "apple", "spoon", "egg", "towel")
_TARGETS = ("sofa 1", "counter 9", "tray 1", "stool 1")
_APPLIANCES = {
    "clean": ("sinkbasin 1", "dishwasher 1", "bathtub 1"),
    "heat": ("microwave 1", "stove 1", "oven 1"),
    "cool": ("fridge 1", "freezer 1", "cellar 1"),
}
_OPENING = "You are in the middle of a room. You see "


class Household:
    """The environment; ``seed`` makes another household."""

    name = "household"
    help = (
        "Actions: go to PLACE | open PLACE | take THING from PLACE | clean|heat|cool THING with APPLIANCE | "
        "put THING in PLACE. One has to be at a place to use it, and appliances are places too: sinkbasin 1, dishwasher 1 "
        "and bathtub 1 clean, microwave 1, stove 1 and oven 1 heat, fridge 1, freezer 1 and cellar 1 cool. Some are out of order."
    )

    def __init__(self, seed: int = 0) -> None:
        rules = random.Random(f"household {seed}")
        self.seed = seed
        self.usual = {thing: rules.choice(_PLACES) for thing in _THINGS}
        self.works = {verb: rules.choice(of) for verb, of in _APPLIANCES.items()}

    def tasks(self, count: int) -> list[Task]:
        """The first tasks: things, what is done to them and targets mixed by the seed."""
        every = list(product(_THINGS, _APPLIANCES, _TARGETS))
        random.Random(f"tasks {self.seed}").shuffle(every)
        texts = [f"{verb.title()} a {thing} and put it in the {target}" for thing, verb, target in every]
        return numbered(self.name, texts[:count])

    def begin(self, task: Task) -> HouseholdEpisode:
        """A new attempt; where the thing lies depends on the task alone."""
        return HouseholdEpisode(self, task)


class HouseholdEpisode:
    """One attempt."""

    limit = 18  # the median of what an agent without experience needs, over twenty households

    def __init__(self, house: Household, task: Task) -> None:
        self._verb, self._thing, self._target = _read(task.text)
        chance = random.Random(f"{house.seed} {task.text}")
        self._lies = chance.choice(_PLACES) if chance.random() < 0.125 else house.usual[self._thing]
        self._works = house.works
        self._at, self._open, self._holds, self._is = "", set[str](), False, ""
        self.first = f"{_OPENING}{', '.join(_PLACES)}, and the {self._target}."

    def act(self, action: str) -> Feedback:
        """Do something; what cannot be done brings "Nothing happens."."""
        verb, _, rest = action.strip().partition(" ")
        if verb == "go" and rest.startswith("to "):
            self._at = rest[3:]
            return self._look()
        if verb == "open" and rest == self._at:
            self._open.add(rest)
            return self._look()
        if verb == "take" and self._at == self._lies and not self._shut and rest == f"{self._thing} from {self._lies}":
            self._holds = True
            return Feedback(observation=f"You take the {self._thing}.")
        if self._holds and verb in _APPLIANCES and rest == f"{self._thing} with {self._at}":
            if self._at != self._works[verb]:
                return Feedback(error=f"The {self._at} is out of order.")
            self._is = verb
            return Feedback(observation=f"You {verb} the {self._thing}.")
        if self._holds and verb == "put" and self._at == self._target and rest == f"{self._thing} in {self._at}":
            done = self._is == self._verb
            observation = f"You put the {self._thing} in the {self._target}."
            return Feedback(observation=observation, done=done, reward=float(done))
        return Feedback(error="Nothing happens.")

    @property
    def _shut(self) -> bool:
        return self._at.startswith(_CLOSED) and self._at not in self._open

    def _look(self) -> Feedback:
        if self._shut:
            return Feedback(observation=f"The {self._at} is closed.")
        here = f"a {self._thing}" if self._at == self._lies and not self._holds else "nothing of use"
        return Feedback(observation=f"At the {self._at} you see {here}.")


def prior(task: str, first: str, past: Sequence[Past]) -> list[str]:
    """Look through the places in the order in which they are seen; then use the appliances that usually serve."""
    verb, thing, target = _read(task)
    done = [one.action for one in past if not one.error]
    at = next((action[6:] for action in reversed(done) if action.startswith("go to ")), "")
    last = past[-1].observation if past else ""
    if not any(action.startswith("take ") for action in done):
        if last.endswith("is closed."):
            return [f"open {at}"]
        if last == f"At the {at} you see a {thing}.":
            return [f"take {thing} from {at}"]
        seen = first.removeprefix(_OPENING).partition(", and the ")[0].split(", ")
        return [f"go to {place}" for place in seen if f"go to {place}" not in done]
    if not any(action.startswith(f"{verb} ") for action in done):
        broken = {one.action.rpartition(" with ")[2] for one in past if one.error}
        left = [appliance for appliance in _APPLIANCES[verb] if appliance not in broken]
        return [f"{verb} {thing} with {at}"] if at in left else [f"go to {appliance}" for appliance in left]
    return [f"put {thing} in {target}"] if at == target else [f"go to {target}"]


def _read(task: str) -> tuple[str, str, str]:
    """What is done to which thing, and where it goes."""
    words = task.split()
    return words[0].lower(), words[2], " ".join(words[-2:])
