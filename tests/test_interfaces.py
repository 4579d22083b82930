"""Graphs, middleware, tools, chat and the host's store find, isolate, forget and hide as the Python interface does."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from hexamem import (
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
from hexamem.errors import MissingUserError

from .commands import hexamem
from .scripted_chat import ScriptedChat, calls

FACT = "My daughter Mia goes to school in Hangzhou."
QUESTION = "Where does Mia go to school?"


class Interface:
    """The Python interface, and what others do in its place."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.open()

    def open(self) -> None:
        settings = Settings(background=False, labels="off", mode="off")
        self.memory = Memory.open(self.home, embedder="static", settings=settings)

    def close(self) -> None:
        self.memory.close()

    def store(self, user: str, text: str) -> None:
        """Store what a user wrote."""
        self.memory.user(user).remember(text, thread_id="t")

    def ask(self, user: str, text: str) -> str:
        """Everything that is shown for a question, in another thread."""
        return self.memory.user(user).recall(text).model_dump_json()

    def forget(self, user: str) -> None:
        steps = [step.id for step in self.memory.user(user).steps() if step.role == "user"]
        self.memory.user(user).forget(steps)


def invoke(graph: Any, user: str, text: str, thread: str) -> Any:
    given: Any = {"messages": [HumanMessage(text)]}
    config: Any = {"configurable": {"thread_id": thread}}
    return graph.invoke(given, config, context={"user": user})


class HostState(MessagesState, total=False):
    memory: str
    memory_report: dict[str, Any]


class Graph(Interface):
    def open(self) -> None:
        super().open()
        builder = StateGraph(HostState)
        builder.add_node("memory", memory_graph(self.memory))
        builder.add_node("agent", lambda state: {"messages": [AIMessage("Noted.")]})
        builder.add_node("memory_save", ingest_graph(self.memory))
        nodes = (START, "memory", "agent", "memory_save", END)
        for source, target in itertools.pairwise(nodes):
            builder.add_edge(source, target)
        self.graph = builder.compile()

    def store(self, user: str, text: str) -> None:
        invoke(self.graph, user, text, "t")

    def ask(self, user: str, text: str) -> str:
        out = invoke(self.graph, user, text, "later")
        return str(out["memory"]) + json.dumps(out["memory_report"])


class Middleware(Interface):
    def _run(self, user: str, text: str, thread: str) -> ScriptedChat:
        model = ScriptedChat(["Noted."])
        middleware = MemoryMiddleware(self.memory, settings=MiddlewareSettings(tools=()))
        invoke(create_agent(model, middleware=[middleware]), user, text, thread)
        return model

    def store(self, user: str, text: str) -> None:
        self._run(user, text, "t")

    def ask(self, user: str, text: str) -> str:
        return self._run(user, text, "later").shown()


class Tools(Interface):
    def ask(self, user: str, text: str) -> str:
        outputs = []
        for call in (
            calls("search_memory", query=text),
            calls("list_memory"),
            calls("research_memory", question=text),
            calls("use_secret", what=text),
        ):
            model = ScriptedChat([call, "Done."])
            invoke(create_agent(model, memory_tools(self.memory)), user, "Go.", "later")
            outputs.append(str(model.prompts[-1][-1].content))
        return "".join(outputs)


class Research(Interface):
    def ask(self, user: str, text: str) -> str:
        given = {"question": text, "form": "passages"}
        return json.dumps(research_graph(self.memory).invoke(given, context={"user": user}))


class ChatGraph(Interface):
    def store(self, user: str, text: str) -> None:
        invoke(chat_graph(self.memory), user, text, "t")

    def ask(self, user: str, text: str) -> str:
        return str(invoke(chat_graph(self.memory), user, text, "later")["messages"][-1].text)


class Terminal(Interface):
    def _type(self, user: str, thread: str, *lines: str) -> str:
        self.memory.close()
        words = ("chat", "--user", user, "--thread", thread, "--home", self.home)
        shown = hexamem(*words, stdin="".join(f"{line}\n" for line in lines))
        self.open()
        assert shown.code == 0, shown
        return shown.out

    def store(self, user: str, text: str) -> None:
        self._type(user, "t", text)

    def ask(self, user: str, text: str) -> str:
        return self._type(user, "later", text, "/why", f"/recall '{text}'", f"/ask '{text}'")


INTERFACES: list[type[Interface]] = [
    Interface, Graph, Middleware, Tools, Research, ChatGraph, Terminal,
]  # fmt: skip


@pytest.fixture(params=INTERFACES, ids=lambda each: each.__name__)
def interface(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Interface]:
    opened: Interface = request.param(tmp_path / "home")
    yield opened
    opened.close()


def test_what_a_user_wrote_is_found_by_that_user_alone_until_forgotten(interface: Interface) -> None:
    interface.store("alice", FACT)
    interface.store("bob", "My dog Rex sleeps in the kitchen.")
    interface.close()
    interface.open()
    assert "Hangzhou" in interface.ask("alice", QUESTION)
    assert "Hangzhou" not in interface.ask("bob", QUESTION)
    assert "kitchen" not in interface.ask("alice", "Where does the dog Rex sleep?")
    assert "kitchen" in interface.ask("bob", "Where does the dog sleep?")
    interface.forget("bob")
    assert "kitchen" not in interface.ask("bob", "Which room?")
    interface.store("alice", "My mail password is hunter2-Xy99.")
    shown = interface.ask("alice", "What is my mail password?")
    assert "hunter2-Xy99" not in shown
    assert "password" in shown


@pytest.mark.parametrize("context", [None, {}, {"user": " "}, SimpleNamespace()])
def test_no_interface_works_without_a_user_and_each_says_what_to_pass(memory: Memory, context: Any) -> None:
    given: Any = {"messages": [HumanMessage("x")], "question": "x"}
    middleware = create_agent(ScriptedChat(["x"]), middleware=[MemoryMiddleware(memory)])
    tools = create_agent(ScriptedChat([calls("list_memory")]), memory_tools(memory))
    graphs = [build(memory) for build in (memory_graph, ingest_graph, research_graph, chat_graph)]
    for graph in (*graphs, chat_graph(memory, False), memory.ingesting.graph, middleware, tools):
        with pytest.raises(MissingUserError, match=r"context=\{'user': 'alice'\}"):
            graph.invoke(given, context=context)
    assert memory.users() == []
