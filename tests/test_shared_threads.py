"""One thread of a host under several users: each memory takes only the turns of its own user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from hexamem import Memory, MemoryMiddleware, Settings, ingest_graph, memory_graph

from .scripted_chat import ScriptedChat, ask, stored

KIM: Any = {"user": "kim"}
LEE: Any = {"user": "lee"}
THREAD: Any = {"configurable": {"thread_id": "room"}}


class State(MessagesState, total=False):
    memory: str
    memory_report: dict[str, Any]


def reply(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You said: {state['messages'][-1].text}")]}


def graph_of(memory: Memory, save: bool = True) -> Any:
    builder = StateGraph(State)
    builder.add_node("memory", memory_graph(memory, manage="now"))
    builder.add_node("agent", reply)
    builder.add_edge(START, "memory")
    builder.add_edge("memory", "agent")
    if save:
        builder.add_node("memory_save", ingest_graph(memory))
        builder.add_edge("agent", "memory_save")
        builder.add_edge("memory_save", END)
    return builder.compile(checkpointer=InMemorySaver())


def agent_of(memory: Memory) -> Any:
    model = ScriptedChat(lambda messages: f"You said: {messages[-1].text}")
    return create_agent(model, middleware=[MemoryMiddleware(memory)], checkpointer=InMemorySaver())


@pytest.mark.parametrize("build", [graph_of, agent_of])
def test_each_user_of_a_shared_thread_keeps_their_own_turns(tmp_path: Path, build: Any) -> None:
    of_kim = ("My salary is 5,000 euros.", "I'm allergic to peanuts.")
    of_lee = ("Hi there", "I'm allergic to walnuts.")
    with Memory.open(tmp_path / "home", settings=Settings(background=False)) as memory:
        host = build(memory)
        for kim, lee in zip(of_kim, of_lee, strict=True):
            host.invoke(ask(kim), THREAD, context=KIM)
            host.invoke(ask(lee), THREAD, context=LEE)
        learned = {}
        for user, texts in (("kim", of_kim), ("lee", of_lee)):
            assert stored(memory, user) == [line for text in texts for line in (text, f"You said: {text}")]
            memory.user(user).flush()
            learned[user] = " ".join(item.text for item in memory.user(user).items())
    assert "peanuts" in learned["kim"]
    assert "walnuts" in learned["lee"]
    assert "walnuts" not in learned["kim"]
    assert not any(word in learned["lee"] for word in ("peanuts", "salary"))


def test_without_a_node_behind_the_agent_each_turn_goes_to_who_began_it(memory: Memory) -> None:
    graph = graph_of(memory, save=False)
    graph.invoke(ask("My salary is 5,000 euros."), THREAD, context=KIM)
    graph.invoke(ask("Hi there"), THREAD, context=LEE)
    graph.invoke(ask("And now?"), THREAD, context=KIM)
    assert stored(memory, "kim") == ["My salary is 5,000 euros.", "You said: My salary is 5,000 euros.", "And now?"]
    assert stored(memory, "lee") == ["Hi there"]


@pytest.mark.parametrize("forgotten", [True, False], ids=["forgotten", "remembered"])
@pytest.mark.parametrize("text", ["My salary is 5,000 euros.", "My PIN is 4711, keep it."], ids=["plain", "secret"])
def test_what_another_stated_or_forgot_is_left_to_them_and_reported_without_words(
    memory: Memory, text: str, forgotten: bool
) -> None:
    graph = graph_of(memory)
    graph.invoke(ask(text), THREAD, context=KIM)
    if forgotten:
        memory.user("kim").forget(thread_id="room")
    out = graph.invoke(ask("Hi there"), THREAD, context=LEE)
    assert stored(memory, "lee") == ["Hi there", "You said: Hi there"]
    (line,) = out["memory_report"]["degraded"]
    assert "2 messages in thread 'room'" in line
    assert "separate thread ids" in line
    assert not any(word in line for word in ("kim", "salary", "4711"))


def history(*turns: tuple[str, str]) -> list[HumanMessage | AIMessage]:
    return [
        message
        for name, text in turns
        for message in (HumanMessage(text, id=name), AIMessage(f"Noted: {text}", id=f"{name}-reply"))
    ]


def ingest(memory: Memory, messages: Any, context: Any) -> dict[str, Any]:
    saved: dict[str, Any] = ingest_graph(memory).invoke({"messages": messages}, THREAD, context=context)["memory_saved"]
    return saved


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m1", "Hello"),  # counted within the conversation: says nothing about anybody else's
        ("message-0000000001", "I live in Ghent."),  # as long as a unique one, but other words
    ],
)
def test_ids_that_two_hosts_threads_share_by_chance_lose_nothing(memory: Memory, name: str, text: str) -> None:
    ingest(memory, history((name, "Hello")), KIM)
    saved = ingest(memory, history((name, text)), LEE)
    assert stored(memory, "lee") == [text, f"Noted: {text}"]
    assert not saved["degraded"]
