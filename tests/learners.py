"""Users who learn from experience: runs of their agents, and a model that follows the script of the test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings, UserMemory

from .scripted_server import Reply, Request, Script, ScriptedServer

INVOICE = "Create an invoice for customer 42 in the billing API"
INVOICES = "Create an invoice for customer 77"
Learner = Callable[..., tuple[UserMemory, ScriptedServer]]
_numbers = itertools.count(1)


def attempt(
    user: UserMemory,
    task: str = INVOICE,
    outcome: bool | None = True,
    env: str = "billing",
    actions: tuple[str, ...] = ("GET /customers/42", "POST /invoices amount=4200"),
    error: str | None = None,
    **options: Any,
) -> str:
    """Record a run; returns its id."""
    run = user.experience.start(task, env=env, **options)
    for action in actions:
        run.step(thought="on we go", action=action, observation=f"{action} came back")
    if error:
        run.step(action="the last try", error=error)
    run.finish(outcome)
    return run.id


def learn(user: UserMemory, *arguments: Any, **options: Any) -> str:
    """Record a run and distil it; returns its id."""
    run_id = attempt(user, *arguments, **options)
    user.flush()
    return run_id


def lesson(title: str, facet: str = "tool", content: str = "Amounts are in cents.") -> dict[str, Any]:
    """An item as the distiller writes it."""
    when = f"When the task is about {title.lower()}; not otherwise."
    return {"title": title, "description": when, "content": content, "facet": facet}


SEVEN = [
    lesson("Look up the customer", content="Ask for the customer before anything is written."),
    lesson("Amounts in cents", content="The service counts money in cents."),
    lesson("Read error bodies", "observation", "A 400 names the field at fault."),
    lesson("Retry on 503", "observation", "Wait and try once more when the server is busy."),
    lesson("Page through lists", "environment", "Lists end only where next is null."),
    lesson("Close drafts", "environment", "Drafts block a new bill: finish them."),
    lesson("Use ISO dates", content="Dates are written as year, month, day."),
]


def replies(*lessons: dict[str, Any], **by_name: object) -> Callable[[Request], Reply]:
    """A script: the reply to each named request, and these lessons to every other one."""

    def answer(request: Request) -> Reply:
        return Reply(content=by_name.get(request.name or "", {"items": list(lessons)}))

    return answer


def opened(home: Path, server: ScriptedServer | None, **settings: Any) -> Memory:
    """A memory whose only use of a model is for experience."""
    model = None if server is None else server.chat_model()
    return Memory.open(home, model=model, settings=Settings(background=False, mode="embedded", **settings))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, ScriptedServer]]:
    """One memory for a module, and the server of its model: opening one takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch, ScriptedServer([]) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):  # clients read them when they are made
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        with opened(tmp_path_factory.mktemp("learning"), server) as memory:
            yield memory, server


@pytest.fixture
def learner(taught: tuple[Memory, ScriptedServer], loopback_only: None) -> Learner:
    """Lets the model follow a script; gives a new user, and the server."""
    memory, server = taught

    def start(script: Script) -> tuple[UserMemory, ScriptedServer]:
        server.follow(script)
        return memory.user(f"learner {next(_numbers)}"), server

    return start


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """A new user of a memory without a model."""
    return labelled_newcomer
