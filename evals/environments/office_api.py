"""An API with undocumented argument rules: an error names the argument that is refused, and not the reason.

The rules are the same in every task: the form of each argument, and which call has to come before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from hexamem.experience.trouble import Turn

__all__ = ["Feedback", "OfficeApi", "OfficeApiEpisode", "Task", "prior"]

_DAYS = ((24, 12), (3, 11), (17, 10), (28, 9), (5, 12))
_MONTHS = {9: "September", 10: "October", 11: "November", 12: "December"}
_COUNTRIES = {"Ireland": ("IE", "IRL"), "Spain": ("ES", "ESP"), "Norway": ("NO", "NOR"), "Japan": ("JP", "JPN")}
_TOOLS: dict[str, dict[str, str]] = {
    "create_invoice": {"customer": "number", "amount": "amount", "due": "date"},
    "add_contact": {"phone": "phone", "country": "country", "born": "date"},
    "log_hours": {"project": "number", "duration": "duration", "day": "date"},
    "send_parcel": {"weight": "weight", "country": "country", "pickup": "date"},
}
"""Tool → the kind of each argument."""
_SETUP = ("check_status", "list_rights", "start_session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Task ``number`` (from 0); ``text`` is all that an agent reads of it."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The reply to an action: an ``error`` where it failed; ``done`` once the task is done."""

    observation: str = ""
    error: str = ""
    done: bool = False


def _forms(kind: str, value: str) -> tuple[str, ...]:
    """The common forms of a value."""
    if kind == "date":
        day, name = value.split("-")
        d, m = f"{int(day):02}", f"{next(number for number, month in _MONTHS.items() if month == name):02}"
        return f"2026-{m}-{d}", f"{d}.{m}.2026", f"{m}/{d}/2026", f"2026{m}{d}"
    if kind == "number":
        return value, f"C-{value}", f"ID{value}", f"{value}/1"
    if kind == "amount":
        return value, f"EUR{value}", value.replace(".", ""), value.replace(".", ",")
    if kind == "phone":
        plain = value.replace("-", "")
        return value, plain, f"00{plain.lstrip('+')}x", f"tel:{plain}"
    if kind == "country":
        return value, *_COUNTRIES[value]
    if kind == "duration":
        hours, _, minutes = value.partition("h")
        return (
            f"{hours}h{minutes}m",
            f"{60 * int(hours) + int(minutes)}min",
            f"{hours}:{minutes}",
            f"PT{hours}H{minutes}M",
        )
    return f"{value}kg", value, f"{int(float(value) * 1000)}g", f"{value}-KG"


def _sample(kind: str, chance: random.Random) -> str:
    if kind == "date":
        day, month = chance.choice(_DAYS)
        return f"{day}-{_MONTHS[month]}"
    if kind == "country":
        return chance.choice(sorted(_COUNTRIES))
    if kind == "phone":
        return f"+{chance.randrange(30, 99)}-{chance.randrange(10, 99)}-{chance.randrange(1000000, 9999999)}"
    if kind == "amount":
        return f"{chance.randrange(20, 900)}.{chance.choice((25, 50, 75))}"
    if kind == "duration":
        return f"{chance.randrange(1, 8)}h{chance.choice((10, 15, 30, 45))}"
    if kind == "weight":
        return f"{chance.randrange(1, 20)}.5"
    return str(chance.randrange(11, 99))


class OfficeApi:
    """The environment; each ``seed`` has rules of its own."""

    name = "office-api"
    help = (
        "Actions are calls: TOOL name=value name=value …, with create_invoice (customer, amount, due), add_contact "
        "(phone, country, born), log_hours (project, duration, day), send_parcel (weight, country, pickup), and "
        "check_status, list_rights, start_session without arguments. Some tools refuse until one of these three was "
        "called. Each argument of each tool takes its value in one form only, which is not documented: "
        "a date as 2026-10-24, 24.10.2026, 10/24/2026 or 20261024; customer and project as 42, C-42, ID42 or 42/1; "
        "amount as 99.50, EUR99.50, 9950 or 99,50; phone as +44-20-1234567, +44201234567, 0044201234567x or "
        "tel:+44201234567; country as Spain, ES or ESP; duration as 2h30m, 150min, 2:30 or PT2H30M; weight as 2.5kg, "
        "2.5, 2500g or 2.5-KG."
    )

    def __init__(self, seed: int = 0) -> None:
        rules = random.Random(f"api {seed}")
        self.seed = seed
        self.form = {
            (tool, name): rules.randrange(len(_forms(kind, _sample(kind, random.Random(1)))))
            for tool, kinds in _TOOLS.items()
            for name, kind in kinds.items()
        }
        self.before = {tool: rules.choice((None, *_SETUP)) for tool in _TOOLS}

    def tasks(self, count: int) -> list[Task]:
        """The first tasks, all different: the tools in turn, with values by the seed."""
        chance = random.Random(f"tasks {self.seed}")
        texts: dict[str, None] = {}
        while len(texts) < count:
            tool = list(_TOOLS)[len(texts) % len(_TOOLS)]
            given = ", ".join(f"{name} {_sample(kind, chance)}" for name, kind in _TOOLS[tool].items())
            texts[f"Use {tool} with {given}"] = None
        return [Task(number=number, text=text) for number, text in enumerate(texts)]

    def begin(self, task: Task) -> OfficeApiEpisode:
        """Start an attempt."""
        return OfficeApiEpisode(self, task)


class OfficeApiEpisode:
    """One attempt.

    Attributes:
        first: what the agent reads at the beginning.
        limit: how many actions it has: the median of what an agent without experience needs, over twenty APIs.
    """

    limit = 8
    first = "You are logged in."

    def __init__(self, api: OfficeApi, task: Task) -> None:
        self._tool, forms = _read(task.text)
        self._wanted = {name: several[api.form[self._tool, name]] for name, several in forms.items()}
        self._before, self._called = api.before, set[str]()

    def act(self, action: str) -> Feedback:
        """Call a tool."""
        tool, *arguments = action.split() or [""]
        if tool in _SETUP:
            self._called.add(tool)
            return Feedback(observation="200 OK")
        if tool not in _TOOLS:
            return Feedback(error=f"404: unknown tool {tool}")
        if self._before[tool] not in (None, *self._called):
            return Feedback(error="409: not possible in this state")
        given = dict(argument.partition("=")[::2] for argument in arguments)
        for name in _TOOLS[tool]:
            if tool != self._tool or given.get(name) != self._wanted[name]:
                return Feedback(error=f"422: {name} is not acceptable")
        return Feedback(observation="201 created", done=True)


def prior(task: str, past: Sequence[Turn]) -> list[str]:
    """The actions that an agent without experience would try next, the most plausible first.

    It stands in for the general knowledge of a model, reads what an agent reads, and knows no rule of the API: it calls the
    tool with the usual forms, changes the argument that is refused, and tries the setup calls when the state is refused.
    """
    tool, forms = _read(task)
    refused: set[str] = set()
    for turn in past:
        if turn.error.startswith("422: "):
            name = turn.error.split()[1]
            refused |= {argument for argument in turn.action.split()[1:] if argument.startswith(f"{name}=")}
    setup = [action for action in _SETUP if action not in {turn.action for turn in past}]
    if past and past[-1].error.startswith("409"):
        return setup
    options = [
        [argument for form in several if (argument := f"{name}={form}") not in refused]
        for name, several in forms.items()
    ]
    ranked = sorted(product(*map(enumerate, options)), key=lambda chosen: sum(place for place, _ in chosen))
    return [*(" ".join([tool, *(argument for _, argument in chosen)]) for chosen in ranked), *setup]


def _read(task: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The tool, and the common forms of each value of the task."""
    tool, _, given = task.removeprefix("Use ").partition(" with ")
    values = (pair.split(" ", 1) for pair in given.split(", "))
    return tool, {name: _forms(_TOOLS[tool][name], value) for name, value in values}
