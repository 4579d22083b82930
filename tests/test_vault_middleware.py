"""Secrets for listed tools: the tool gets the value, and nothing else sees it."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from hexamem import Memory, MemoryMiddleware, VaultMiddleware
from hexamem.errors import ConfigError

from .conftest import Traces
from .scripted_chat import ALICE, ScriptedChat, ask, calls, thread

THREAD = thread()
SECRET = 'hunter2-"Xy99"'


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


class Doors:
    """Tools of an application; what they were given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

        @tool
        def login(password: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
            """Log in."""
            self.given.append((password, options))
            return {"ok": True, "echo": f"used {password}", "raw": json.dumps({"p": password})}

        @tool
        def fails(password: str) -> str:
            """Fail."""
            raise ValueError(f"wrong password {password}")

        @tool
        def refuses(password: str) -> str:
            """Refuse, as a result."""
            raise ToolException(f"no entry with {password}")

        refuses.handle_tool_error = True
        self.login, self.fails, self.refuses = login, fails, refuses
        self.all = [login, fails, refuses]


class Tracer(BaseTracer):
    """What a tracer records of each run."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Any] = []

    def _persist_run(self, run: Run) -> None:
        """Runs are recorded as they end."""

    def _end_trace(self, run: Run) -> None:
        self.runs.append((run.name, run.inputs, run.outputs, run.error, run.events))
        super()._end_trace(run)


@pytest.fixture
def doors() -> Doors:
    return Doors()


def keep(memory: Memory, sensitivity: str = "low", secret: str = SECRET) -> str:
    item = memory.user("alice").add(
        {"kind": "vault", "caption": "password of the mail", "sensitivity": sensitivity}, secret=secret
    )
    return f"{{{{vault:{item.secret_id}|password of the mail}}}}"


def agent(memory: Memory, script: Any, doors: Doors, saver: Any = None, **options: Any) -> tuple[Any, ScriptedChat]:
    model = ScriptedChat(script)
    vault = VaultMiddleware(memory, **{"tools": ["login", "fails", "refuses"], **options})
    built = create_agent(model, doors.all, middleware=[MemoryMiddleware(memory), vault], checkpointer=saver)
    return built, model


def test_the_tool_gets_the_value_and_nothing_else_sees_it(
    memory: Memory, doors: Doors, caplog: pytest.LogCaptureFixture, traces: Traces
) -> None:
    caplog.set_level(logging.DEBUG)
    reference, saver, tracer = keep(memory), InMemorySaver(), Tracer()
    built, model = agent(
        memory, [calls("login", password=reference, options={"again": [f"a {reference} b"]}), "In."], doors, saver
    )
    out = built.invoke(ask("Log in."), {**THREAD, "callbacks": [tracer]}, context=ALICE)
    assert doors.given == [(SECRET, {"again": [f"a {SECRET} b"]})]
    result = out["messages"][2]
    assert json.loads(result.text)["echo"] == f"used {reference}"
    steps = json.dumps([step.model_dump(mode="json") for step in memory.user("alice").steps()])
    shown = "\n".join([model.shown(), repr(out), steps, repr(tracer.runs), caplog.text])
    checkpoints = repr([list(saver.list(THREAD)), saver.storage, saver.blobs, saver.writes])
    assert "login" in repr(tracer.runs)
    for where in (shown, checkpoints):
        assert "hunter2" not in where
        assert "vault:" in where
    memory.flush()
    assert traces(memory.home, SECRET) == []


def test_a_reveal_is_audited_and_for_the_user_and_the_listed_tools_alone(memory: Memory, doors: Doors) -> None:
    alice, reference = memory.user("alice"), keep(memory, secret="4711")
    short = reference.split("|")[0] + "}}"
    built, _ = agent(memory, [calls("login", password=short), "In."], doors)
    out = built.invoke(ask("Log in."), context=ALICE)
    assert doors.given == [("4711", None)]
    assert json.loads(out["messages"][2].text)["echo"] == f"used {reference}"  # taken out as a whole word
    [entry] = alice.reveals()
    assert (entry.actor, entry.reason) == ("tool:login", "given to the tool login")
    built, _ = agent(memory, [calls("login", password=reference), "No."], doors)
    out = built.invoke(ask("Log in."), context={"user": "bob"})
    assert isinstance(out["messages"][2], ToolMessage)
    assert "no secret" in out["messages"][2].text
    built, _ = agent(memory, [calls("login", password=reference), "In."], doors, tools=["fails"])
    built.invoke(ask("Log in."), context=ALICE)
    assert doors.given[1:] == [(reference, None)]
    assert len(alice.reveals()) == 1


def test_high_sensitivity_needs_approval(memory: Memory, doors: Doors) -> None:
    built, model = agent(memory, [calls("login", password=keep(memory, "high")), "In."], doors, InMemorySaver())
    out = built.invoke(ask("Log in."), THREAD, context=ALICE)
    [asked] = out["__interrupt__"]
    assert doors.given == []
    assert asked.value["action_requests"][0]["description"] == "The tool login wants to use: password of the mail"
    assert "hunter2" not in repr(asked)
    out = built.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD, context=ALICE)
    assert doors.given == [(SECRET, None)]
    assert out["messages"][-1].text == "In."
    assert "hunter2" not in model.shown()


@pytest.mark.parametrize("answer", ["yes", {"decisions": []}, {"decisions": [{"type": "reject"}]}])
def test_what_is_not_approved_is_not_revealed(memory: Memory, doors: Doors, answer: Any) -> None:
    built, _ = agent(memory, [calls("login", password=keep(memory, "high")), "I may not."], doors, InMemorySaver())
    built.invoke(ask("Log in."), THREAD, context=ALICE)
    out = built.invoke(Command(resume=answer), THREAD, context=ALICE)
    assert out["messages"][2].status == "error"
    assert (doors.given, memory.user("alice").reveals()) == ([], [])


def test_errors_of_the_tool_do_not_tell_the_value(memory: Memory, doors: Doors) -> None:
    reference = keep(memory)
    built, model = agent(memory, [calls("refuses", password=reference), "No."], doors)
    assert built.invoke(ask("Log in."), context=ALICE)["messages"][2].text == f"no entry with {reference}"
    built, model = agent(memory, [calls("fails", password=reference), "No."], doors)
    with pytest.raises(ValueError, match="wrong password") as caught:
        built.invoke(ask("Log in."), context=ALICE)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in model.shown()


async def test_it_runs_under_asyncio(memory: Memory, doors: Doors) -> None:
    built, model = agent(memory, [calls("login", password=keep(memory, "high")), "In."], doors, InMemorySaver())
    with blockbuster_ctx("hexamem"):
        await built.ainvoke(ask("Log in."), THREAD, context=ALICE)
        await built.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD, context=ALICE)
    assert doors.given == [(SECRET, None)]
    assert "hunter2" not in model.shown()


def test_the_memorys_own_tools_get_no_secrets(memory: Memory) -> None:
    with pytest.raises(ConfigError, match="remember"):
        VaultMiddleware(memory, tools=["remember"])
    with pytest.raises(ConfigError, match="secret"):
        VaultMiddleware(memory, tools=["login"], approve=["secret"])  # type: ignore[list-item]


def test_two_calls_at_once_are_decided_each_by_its_own_interrupt(memory: Memory, doors: Doors) -> None:
    reference = keep(memory, "high")
    both = AIMessage(
        "", tool_calls=[*calls("login", password=reference).tool_calls, *calls("login", password=reference).tool_calls]
    )
    both.tool_calls[1]["id"] = "second"
    built, _ = agent(memory, [both, "In."], doors, InMemorySaver())
    out = built.invoke(ask("Log in."), THREAD, context=ALICE)
    first, second = out["__interrupt__"]
    decided = {first.id: {"decisions": [{"type": "approve"}]}, second.id: {"decisions": [{"type": "reject"}]}}
    built.invoke(Command(resume=decided), THREAD, context=ALICE)
    assert len(doors.given) == 1
