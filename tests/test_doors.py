"""One engine, many ways in: the same behaviour, and the same isolation, through every door."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from hexamem import (
    ChromaStore,
    Memory,
    MemoryMiddleware,
    MiddlewareSettings,
    Settings,
    chat_graph,
    ingest_graph,
    memory_graph,
    memory_tools,
    research_graph,
)
from hexamem.cli.app import run
from hexamem.errors import HexamemError

from .scripted_chat import ScriptedChat, calls

SECRET = "hunter2-Xy99"
FACT = "My daughter Mia goes to school in Hangzhou."
QUESTION = "Where does Mia go to school?"


class Door:
    """A way in: ``tell`` stores what a user says in a thread, ``ask`` gives all that the door shows for a question."""

    redacts = True

    def __init__(self, home: Path) -> None:
        self.home = home
        self.start()

    def start(self) -> None:
        """What a process does when it begins."""
        self.memory = Memory.open(self.home, settings=Settings(background=False))
        self.open()

    def open(self) -> None:
        """Make what is used."""

    def tell(self, user: str, text: str, thread: str) -> None:
        raise NotImplementedError

    def ask(self, user: str, text: str, thread: str) -> str:
        raise NotImplementedError

    def forget(self, user: str) -> None:
        steps = [step.id for step in self.memory.user(user).steps() if step.role == "user"]
        self.memory.user(user).forget(steps)

    def close(self) -> None:
        self.memory.close()


def given(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class Plain(Door):
    def tell(self, user: str, text: str, thread: str) -> None:
        self.memory.user(user).remember(text, thread_id=thread)

    def ask(self, user: str, text: str, thread: str) -> str:
        return self.memory.user(user).recall(text).model_dump_json()


class State(MessagesState, total=False):
    memory: str
    memory_report: dict[str, Any]


class Graph(Door):
    def open(self) -> None:
        builder = StateGraph(State)
        builder.add_node("memory", memory_graph(self.memory))
        builder.add_node("agent", lambda state: {"messages": [AIMessage("Noted.")]})
        builder.add_node("memory_save", ingest_graph(self.memory))
        for one, other in ((START, "memory"), ("memory", "agent"), ("agent", "memory_save"), ("memory_save", END)):
            builder.add_edge(one, other)
        self.graph = builder.compile()

    def tell(self, user: str, text: str, thread: str) -> None:
        self.graph.invoke(given(text), config(thread), context={"user": user})

    def ask(self, user: str, text: str, thread: str) -> str:
        out = self.graph.invoke(given(text), config(thread), context={"user": user})
        return out["memory"] + json.dumps(out["memory_report"])


class AsyncGraph(Graph):
    def tell(self, user: str, text: str, thread: str) -> None:
        asyncio.run(self.graph.ainvoke(given(text), config(thread), context={"user": user}))


class Middleware(Door):
    def _run(self, user: str, text: str, thread: str) -> ScriptedChat:
        model = ScriptedChat(["Noted."])
        settings = MiddlewareSettings(tools=())
        agent = create_agent(model, middleware=[MemoryMiddleware(self.memory, settings=settings)])
        agent.invoke(given(text), config(thread), context={"user": user})
        return model

    def tell(self, user: str, text: str, thread: str) -> None:
        self._run(user, text, thread)

    def ask(self, user: str, text: str, thread: str) -> str:
        return self._run(user, text, thread).said()


class AsyncMiddleware(Middleware):
    def _run(self, user: str, text: str, thread: str) -> ScriptedChat:
        model = ScriptedChat(["Noted."])
        settings = MiddlewareSettings(tools=())
        agent = create_agent(model, middleware=[MemoryMiddleware(self.memory, settings=settings)])
        asyncio.run(agent.ainvoke(given(text), config(thread), context={"user": user}))
        return model


class Tools(Door):
    def _run(self, user: str, thread: str, call: AIMessage) -> ScriptedChat:
        model = ScriptedChat([call, "Done."])
        agent = create_agent(model, memory_tools(self.memory))
        agent.invoke(given("Go."), config(thread), context={"user": user})
        return model

    def tell(self, user: str, text: str, thread: str) -> None:
        # What a model writes may hold no secret: it never sees one. A person's message comes by another door.
        self.memory.user(user).remember(text, thread_id=thread)

    def ask(self, user: str, text: str, thread: str) -> str:
        asked = (
            calls("search_memory", query=text),
            calls("list_memory"),
            calls("research_memory", question=text),
            calls("use_secret", what=text),
        )
        return "".join(str(self._run(user, thread, call).prompts[-1][-1].content) for call in asked)


class Research(Plain):
    def ask(self, user: str, text: str, thread: str) -> str:
        out = research_graph(self.memory).invoke({"question": text, "form": "passages"}, context={"user": user})
        return json.dumps(out)


class ChatWithout(Door):
    def tell(self, user: str, text: str, thread: str) -> None:
        chat_graph(self.memory).invoke(given(text), config(thread), context={"user": user})

    def ask(self, user: str, text: str, thread: str) -> str:
        out = chat_graph(self.memory).invoke(given(text), config(thread), context={"user": user})
        return str(out["messages"][-1].text)


class Terminal(Door):
    def open(self) -> None:
        self.memory.close()

    def _type(self, user: str, thread: str, *lines: str) -> str:
        held, shown = (sys.stdin, sys.stdout), io.StringIO()
        sys.stdin, sys.stdout = io.StringIO("\n".join(lines) + "\n"), shown
        try:
            assert run(["chat", "--user", user, "--thread", thread, "--home", str(self.memory.home)]) == 0
        finally:
            sys.stdin, sys.stdout = held
        return shown.getvalue()

    def tell(self, user: str, text: str, thread: str) -> None:
        self._type(user, thread, text)

    def ask(self, user: str, text: str, thread: str) -> str:
        return self._type(user, thread, text, "/why", f"/memory {text}", f"/research {text}")

    def forget(self, user: str) -> None:
        with Memory.open(self.memory.home, settings=Settings(background=False)) as memory:
            memory.user(user).forget([step.id for step in memory.user(user).steps() if step.role == "user"])


class Store(Door):
    """The host's own store: it keeps what it is given, users apart by namespace."""

    redacts = False

    def open(self) -> None:
        self.store = ChromaStore(self.memory.home / "store")

    def tell(self, user: str, text: str, thread: str) -> None:
        self.store.put(("memories", user), text, {"text": text, "thread": thread})

    def ask(self, user: str, text: str, thread: str) -> str:
        return repr([one.value for one in self.store.search(("memories", user), query=text)])

    def forget(self, user: str) -> None:
        for one in self.store.search(("memories", user)):
            self.store.delete(one.namespace, one.key)

    def close(self) -> None:
        self.store.close()
        super().close()


DOORS: list[type[Door]] = [
    Plain,
    Graph,
    AsyncGraph,
    Middleware,
    AsyncMiddleware,
    Tools,
    Research,
    ChatWithout,
    Terminal,
    Store,
]


@pytest.fixture(params=DOORS, ids=lambda door: door.__name__)
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Door]:
    opened: Door = request.param(tmp_path / "home")
    yield opened
    opened.close()


def test_what_a_user_says_is_found_later_and_no_other_user_ever_sees_it(door: Door) -> None:
    door.tell("alice", FACT, "t")
    door.tell("bob", "My dog Rex sleeps in the kitchen.", "t")
    assert "Hangzhou" in door.ask("alice", QUESTION, "later")
    assert "Hangzhou" not in door.ask("bob", QUESTION, "t")
    assert "kitchen" not in door.ask("alice", "Where does the dog Rex sleep?", "later")
    assert "kitchen" in door.ask("bob", "Where does the dog sleep?", "later")


def test_what_was_said_before_a_restart_is_found_after_it(door: Door) -> None:
    door.tell("alice", FACT, "t")
    door.close()
    door.start()
    assert "Hangzhou" in door.ask("alice", QUESTION, "t")


def test_what_was_forgotten_does_not_come_back(door: Door) -> None:
    door.tell("alice", FACT, "t")
    door.forget("alice")
    assert "Hangzhou" not in door.ask("alice", "Which school?", "later")


def test_a_secret_is_never_shown(door: Door) -> None:
    if not door.redacts:
        pytest.skip("the store is the host's own and keeps what it is given")
    door.tell("alice", f"My mail password is {SECRET}.", "t")
    shown = door.ask("alice", "What is my mail password?", "later")
    assert SECRET not in shown
    assert "password" in shown


WITHOUT_USER: dict[str, Callable[[Memory], object]] = {
    "plain": lambda memory: memory.user(""),
    "memory_graph": lambda memory: memory_graph(memory).invoke(given("x")),
    "ingest_graph": lambda memory: ingest_graph(memory).invoke(given("x")),
    "research_graph": lambda memory: research_graph(memory).invoke({"question": "x"}),
    "chat_graph": lambda memory: chat_graph(memory).invoke(given("x")),
    "middleware": lambda memory: create_agent(ScriptedChat(["x"]), middleware=[MemoryMiddleware(memory)]).invoke(
        given("x")
    ),
    "tools": lambda memory: create_agent(ScriptedChat([calls("list_memory")]), memory_tools(memory)).invoke(given("x")),
}


@pytest.mark.parametrize("name", WITHOUT_USER)
def test_no_door_opens_without_a_user(memory: Memory, name: str) -> None:
    memory.user("alice").remember(FACT)
    with pytest.raises(HexamemError, match="user"):
        WITHOUT_USER[name](memory)
