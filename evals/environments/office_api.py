"""An API with undocumented argument rules: an error names the argument that is refused, and not the reason.

The rules are the same in every task: the form of each argument, and which call has to come before.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["FORMS", "SETUP", "TOOLS", "Episode", "Feedback", "OfficeApi", "Task", "forms_in"]

_COUNTRIES = (("Ireland", "IE", "IRL"), ("Spain", "ES", "ESP"), ("Norway", "NO", "NOR"), ("Japan", "JP", "JPN"))
_DAYS = ((24, 12, "December"), (3, 11, "November"), (17, 10, "October"), (28, 9, "September"), (5, 12, "December"))
FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "date": {
        f"{day}-{name}": (f"2026-{m}-{day:02}", f"{day:02}.{m}.2026", f"{m}/{day:02}/2026", f"2026{m}{day:02}")
        for day, month, name in _DAYS
        for m in (f"{month:02}",)
    },
    "number": {f"{n}": (f"{n}", f"C-{n}", f"ID{n}", f"{n}/1") for n in range(11, 99)},
    "amount": {
        f"{euros}.{cents}": (f"{euros}.{cents}", f"EUR{euros}.{cents}", f"{euros}{cents}", f"{euros},{cents}")
        for euros in range(20, 900)
        for cents in (25, 50, 75)
    },
    "phone": {
        f"+{country}-20-{n}": (f"+{country}-20-{n}", f"+{country}20{n}", f"00{country}20{n}x", f"tel:+{country}20{n}")
        for country in range(30, 99)
        for n in range(1234567, 9999999, 1234567)
    },
    "country": {name: (name, short, long) for name, short, long in _COUNTRIES},
    "duration": {
        f"{hours}h{rest}": (f"{hours}h{rest}m", f"{60 * hours + rest}min", f"{hours}:{rest}", f"PT{hours}H{rest}M")
        for hours in range(1, 8)
        for rest in (10, 15, 30, 45)
    },
    "weight": {f"{kilos}.5": (f"{kilos}.5kg", f"{kilos}.5", f"{kilos}500g", f"{kilos}.5-KG") for kilos in range(1, 20)},
}
"""Kind of argument → value as a task names it → its common forms."""
TOOLS = {
    "create_invoice": {"customer": "number", "amount": "amount", "due": "date"},
    "add_contact": {"phone": "phone", "country": "country", "born": "date"},
    "log_hours": {"project": "number", "duration": "duration", "day": "date"},
    "send_parcel": {"weight": "weight", "country": "country", "pickup": "date"},
}
"""Tool → the kind of each argument."""
SETUP = ("check_status", "list_rights", "start_session")
_TOOL_LIST = ", ".join(f"{tool} ({', '.join(arguments)})" for tool, arguments in TOOLS.items())
_FORM_LIST = "; ".join(f"a {kind} as {', '.join(next(iter(values.values())))}" for kind, values in FORMS.items())


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


class OfficeApi:
    """The environment; each ``seed`` has rules of its own."""

    name = "office-api"
    help = (
        f"Actions are calls: TOOL name=value name=value …, with {_TOOL_LIST}, and {', '.join(SETUP)} without arguments. "
        "Some tools refuse until one of these three was called. Each argument of each tool takes its value in one form "
        f"only, which is not documented: {_FORM_LIST}."
    )

    def __init__(self, seed: int = 0) -> None:
        rules = random.Random(f"api {seed}")
        self.seed = seed
        self.form = {
            (tool, name): rules.randrange(len(next(iter(FORMS[kind].values()))))
            for tool, kinds in TOOLS.items()
            for name, kind in kinds.items()
        }
        self.before = {tool: rules.choice((None, *SETUP)) for tool in TOOLS}

    def tasks(self, count: int) -> list[Task]:
        """The first tasks, all different: the tools in turn, with values by the seed."""
        chance = random.Random(f"tasks {self.seed}")
        texts: dict[str, None] = {}
        while len(texts) < count:
            tool = list(TOOLS)[len(texts) % len(TOOLS)]
            given = ", ".join(f"{name} {chance.choice(list(FORMS[kind]))}" for name, kind in TOOLS[tool].items())
            texts[f"Use {tool} with {given}"] = None
        return [Task(number=number, text=text) for number, text in enumerate(texts)]

    def begin(self, task: Task) -> Episode:
        """Start an attempt."""
        return Episode(self, task)


class Episode:
    """One attempt.

    Attributes:
        first: what the agent reads at the beginning.
        limit: how many actions it has: the median of what an agent without experience needs, over twenty APIs.
    """

    limit = 8
    first = "You are logged in."

    def __init__(self, api: OfficeApi, task: Task) -> None:
        self._tool, forms = forms_in(task.text)
        self._wanted = {name: several[api.form[self._tool, name]] for name, several in forms.items()}
        self._before, self._called = api.before, set[str]()

    def act(self, action: str) -> Feedback:
        """Call a tool."""
        tool, *arguments = action.split() or [""]
        if tool in SETUP:
            self._called.add(tool)
            return Feedback(observation="200 OK")
        if tool not in TOOLS:
            return Feedback(error=f"404: unknown tool {tool}")
        if self._before[tool] not in (None, *self._called):
            return Feedback(error="409: not possible in this state")
        given = dict(argument.partition("=")[::2] for argument in arguments)
        for name in TOOLS[tool]:
            if tool != self._tool or given.get(name) != self._wanted[name]:
                return Feedback(error=f"422: {name} is not acceptable")
        return Feedback(observation="201 created", done=True)


def forms_in(task: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    """The tool of a task, and the common forms of each value that the task names."""
    tool, _, given = task.removeprefix("Use ").partition(" with ")
    values = (pair.split(" ", 1) for pair in given.split(", "))
    return tool, {name: FORMS[TOOLS[tool][name]][value] for name, value in values}
