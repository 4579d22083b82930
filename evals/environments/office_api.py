"""An API with argument rules that no documentation tells: it says which argument it refuses, and not why.

Its own rules are the same in every task: the form of each argument, and what has to be called before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from hexamem.evals.environments.contract import Feedback, Past, Task

__all__ = ["OfficeApi", "prior"]

_DAYS = ((24, 12), (3, 11), (17, 10), (28, 9), (5, 12))
_MONTHS = {9: "September", 10: "October", 11: "November", 12: "December"}
_COUNTRIES = {"Ireland": ("IE", "IRL"), "Spain": ("ES", "ESP"), "Norway": ("NO", "NOR"), "Japan": ("JP", "JPN")}
_TOOLS: dict[str, tuple[str, ...]] = {
    "create_invoice": ("customer", "amount", "due"),
    "add_contact": ("phone", "country", "born"),
    "log_hours": ("project", "duration", "day"),
    "send_parcel": ("weight", "country", "pickup"),
}
_KINDS = {
    "due": "date", "born": "date", "day": "date", "pickup": "date", "customer": "number", "project": "number",
    "amount": "amount", "phone": "phone", "country": "country", "duration": "duration", "weight": "weight",
}  # fmt: skip
_SETUP = ("check_status", "list_rights", "start_session")
_LIMIT = 8  # the median of what an agent without experience needs, over twenty APIs


def _forms(kind: str, value: str) -> tuple[str, ...]:
    """The ways in which a value is commonly written."""
    if kind == "date":
        day, name = value.split("-")
        month = next(number for number, one in _MONTHS.items() if one == name)
        return (f"2026-{month:02}-{int(day):02}", f"{int(day):02}.{month:02}.2026", f"{month:02}/{int(day):02}/2026",
                f"2026{month:02}{int(day):02}")  # fmt: skip
    if kind == "number":
        return (value, f"C-{value}", f"ID{value}", f"{value}/1")
    if kind == "amount":
        return (value, f"EUR{value}", value.replace(".", ""), value.replace(".", ","))
    if kind == "phone":
        plain = value.replace("-", "")
        return (value, plain, f"00{plain.lstrip('+')}x", f"tel:{plain}")
    if kind == "country":
        return (value, *_COUNTRIES[value])
    if kind == "duration":
        hours, _, minutes = value.partition("h")
        total = 60 * int(hours) + int(minutes)
        return (f"{hours}h{minutes}m", f"{total}min", f"{hours}:{minutes}", f"PT{hours}H{minutes}M")
    return (f"{value}kg", value, f"{int(float(value) * 1000)}g", f"{value}-KG")


class OfficeApi:
    """The environment; ``seed`` makes another API."""

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
            (tool, name): rules.randrange(len(_forms(_KINDS[name], _sample(_KINDS[name], random.Random(1)))))
            for tool, names in _TOOLS.items()
            for name in names
        }
        self.before = {tool: rules.choice((None, *_SETUP)) for tool in _TOOLS}

    def tasks(self, count: int) -> list[Task]:
        """The first tasks: the tools in turn, with values by the seed."""
        chance = random.Random(f"tasks {self.seed}")
        texts: list[str] = []
        while len(texts) < count:
            tool = list(_TOOLS)[len(texts) % len(_TOOLS)]
            given = ", ".join(f"{name} {_sample(_KINDS[name], chance)}" for name in _TOOLS[tool])
            text = f"Use {tool} with {given}"
            if text not in texts:
                texts.append(text)
        return [Task(environment=self.name, number=at, text=text) for at, text in enumerate(texts)]

    def begin(self, task: Task) -> OfficeApiEpisode:
        """A new attempt."""
        return OfficeApiEpisode(self, task)


class OfficeApiEpisode:
    """One attempt."""

    limit = _LIMIT
    first = "You are logged in."

    def __init__(self, api: OfficeApi, task: Task) -> None:
        self._api = api
        self._tool, values = _read(task.text)
        self._wanted = {name: _forms(_KINDS[name], value)[api.form[self._tool, name]] for name, value in values.items()}
        self._called: set[str] = set()

    def act(self, action: str) -> Feedback:
        """Call a tool."""
        tool, *arguments = action.split() or [""]
        if tool in _SETUP:
            self._called.add(tool)
            return Feedback(observation="200 OK")
        if tool not in _TOOLS:
            return Feedback(error=f"404: unknown tool {tool}")
        given = dict(one.partition("=")[::2] for one in arguments)
        before = self._api.before[tool]
        if before is not None and before not in self._called:
            return Feedback(error="409: not possible in this state")
        for name in _TOOLS[tool]:
            if tool != self._tool or given.get(name) != self._wanted[name]:
                return Feedback(error=f"422: {name} is not acceptable")
        return Feedback(observation="201 created", done=True, reward=1.0)


def prior(task: str, first: str, past: Sequence[Past]) -> list[str]:
    """Call the tool with the usual forms; change what is refused; where the state is, look for what has to go before."""
    tool, values = _read(task)
    names = list(values)
    refused: set[str] = set()
    for one in past:
        if one.error.startswith("422: "):
            name = one.error.split()[1]
            refused |= {argument for argument in one.action.split()[1:] if argument.startswith(f"{name}=")}
    if past and past[-1].error.startswith("409"):
        done = {one.action for one in past}
        return [one for one in _SETUP if one not in done]
    forms = [[f"{name}={one}" for one in _forms(_KINDS[name], values[name])] for name in names]
    left = [[one for one in options if one not in refused] for options in forms]
    ranked = sorted(product(*(enumerate(options) for options in left)), key=lambda told: sum(at for at, _ in told))
    calls = [" ".join([tool, *(argument for _, argument in told)]) for told in ranked]
    return [*calls, *(one for one in _SETUP if one not in {turn.action for turn in past})]


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


def _read(task: str) -> tuple[str, dict[str, str]]:
    """The tool and the values that a task names."""
    words = task.removeprefix("Use ").partition(" with ")
    pairs: Sequence[str] = words[2].split(", ")
    return words[0], {one.split(" ", 1)[0]: one.split(" ", 1)[1] for one in pairs}
