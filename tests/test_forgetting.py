"""Forgetting as a person means it: by the tool, in the prompts of an agent, and in the chat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import MemoryMiddleware, UserMemory, memory_tools
from hexamem.forgotten_messages import as_read_now

from .scripted_chat import ScriptedChat, calls

BAND = "Arjun plays bass in a band called Slow Lantern."
MARK = "[forgotten]"


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody who has said nothing yet."""
    return labelled_newcomer


def tell(user: UserMemory, *said: str, thread: str = "old") -> list[str]:
    """Store what a person and an assistant say in turn, and learn from it."""
    talk = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    ids = list(user.remember(talk, thread_id=thread).step_ids)
    user.flush()
    return ids


def forget(user: UserMemory, **arguments: Any) -> dict[str, Any]:
    """What a model gets from the tool."""
    model = ScriptedChat([calls("forget", **arguments), "Done."])
    out = create_agent(model, memory_tools(user.memory, names=["forget"])).invoke(
        {"messages": [HumanMessage("Go.")]}, {"configurable": {"thread_id": "now"}}, context={"user": user.name}
    )
    message = out["messages"][2]
    assert message.status == "success", message.text
    return json.loads(message.text)


def left(user: UserMemory) -> list[str]:
    return [" ".join(step.content.split()) for step in user.steps()]


# -- by ids -----------------------------------------------------------------------------------------------------------


def test_a_message_goes_by_its_id_and_with_it_what_was_learned_from_it_alone(alice: UserMemory) -> None:
    [step, reply] = tell(alice, BAND, "Noted: Slow Lantern.")
    item = alice.add(
        {"kind": "semantic", "name": "Arjun", "summary": "Plays bass in Slow Lantern", "sources": [{"step_id": step}]}
    )
    done = forget(alice, ids=[step])
    assert {step, item.id} <= set(done["forgotten"])
    assert left(alice) == ["Noted: Slow Lantern."]
    forget(alice, ids=[reply])
    assert left(alice) == []
    alice.undo(done["undo_with"][0])
    assert left(alice) == [BAND]
    assert item.id in {one.id for one in alice.items()}


def test_an_item_goes_alone_by_its_id(alice: UserMemory) -> None:
    [step, _] = tell(alice, BAND, "Noted.")
    item = alice.add(
        {"kind": "semantic", "name": "Arjun", "summary": "Plays bass in Slow Lantern", "sources": [{"step_id": step}]}
    )
    assert forget(alice, ids=[item.id])["forgotten"] == [item.id]
    assert left(alice) == [BAND, "Noted."]


# -- the prompts of an agent ------------------------------------------------------------------------------------------


def talk(
    user: UserMemory, replies: Any, *said: str, checkpointer: bool = True, thread: str = "t"
) -> tuple[ScriptedChat, list[BaseMessage]]:
    """An agent to which this is said in one thread, whose model answers so; the host keeps the conversation."""
    model = ScriptedChat(replies)
    agent: Any = create_agent(
        model, middleware=[MemoryMiddleware(user.memory)], checkpointer=InMemorySaver() if checkpointer else None
    )
    kept: list[Any] = []
    for text in said:
        given = [HumanMessage(text)] if checkpointer else [*kept, {"role": "user", "content": text}]
        out = agent.invoke({"messages": given}, {"configurable": {"thread_id": thread}}, context={"user": user.name})
        kept += [{"role": "user", "content": text}, {"role": "assistant", "content": out["messages"][-1].text}]
    return model, out["messages"]


def forgetting(messages: list[BaseMessage]) -> Any:
    """A model that lists what says "Slow Lantern" where it is to forget it, and forgets all of that."""
    last = messages[-1]
    if isinstance(last, HumanMessage):
        asked = "forget" in last.text
        return calls("find_to_forget", query="Slow Lantern") if asked else "I see."
    if last.name == "find_to_forget":
        records = json.loads(str(last.text))["records"]
        return calls("forget", ids=[one["id"] for one in records if "Slow Lantern" in one["text"]])
    return "It is forgotten."


def prompted(prompt: Sequence[BaseMessage]) -> str:
    return "\n".join(f"{one.content!r} {getattr(one, 'tool_calls', '')!r}" for one in prompt)


@pytest.mark.parametrize("checkpointer", [True, False], ids=["with a checkpointer", "with the history sent again"])
def test_what_was_forgotten_stands_in_no_later_prompt_of_the_thread(alice: UserMemory, checkpointer: bool) -> None:
    model, kept = talk(
        alice,
        forgetting,
        BAND,
        "Please forget that about the band.",
        "What is the band of my brother called?",
        checkpointer=checkpointer,
    )
    assert "Slow Lantern" in prompted(model.prompts[1])
    assert "Slow Lantern" not in prompted([one for one in model.prompts[3] if one.type == "human"])
    assert "Slow Lantern" not in prompted(model.prompts[4])
    if checkpointer:
        assert BAND in [one.text for one in kept]  # the host's own state is left alone


def test_what_was_forgotten_in_another_thread_stands_in_no_later_prompt(alice: UserMemory) -> None:
    talk(alice, ["Slow Lantern, great name!"], BAND)
    talk(alice, forgetting, "Please forget that about the band.", thread="u")
    model, _ = talk(alice, ["No idea."], "What is the band of my brother called?", thread="v")
    assert "Slow Lantern" not in prompted(model.prompts[-1])


def test_what_undo_brings_back_stands_in_the_prompt_again(alice: UserMemory) -> None:
    model = ScriptedChat(["Noted."])
    agent: Any = create_agent(model, middleware=[MemoryMiddleware(alice.memory)], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}

    def ask(text: str) -> str:
        agent.invoke({"messages": [HumanMessage(text)]}, config, context={"user": alice.name})
        return prompted(model.prompts[-1][1:])

    ask(BAND)
    done = alice.forget([alice.steps()[0].id])
    shown = ask("Hello again.")
    assert (MARK in shown, "Slow Lantern" in shown) == (True, False)
    alice.undo(done.id)
    shown = ask("And again.")
    assert (MARK in shown, "Slow Lantern" in shown) == (False, True)


def test_calls_of_tools_keep_their_results_and_lose_their_words() -> None:
    call = AIMessage("I look up Slow Lantern.", id="a", tool_calls=[{"name": "web", "args": {"q": "Slow"}, "id": "1"}])
    messages: list[Any] = [HumanMessage("Find the band.", id="h"), call, HumanMessage("Thanks.", id="i")]
    shown = as_read_now(messages, {"a": "", "i": ""})
    assert [one.content for one in shown] == ["Find the band.", MARK, "Thanks."]
    assert [(one["name"], one["args"], one["id"]) for one in shown[1].tool_calls] == [("web", {}, "1")]
    assert call.tool_calls[0]["args"] == {"q": "Slow"}


def test_of_what_was_listed_to_be_forgotten_the_ids_stay_and_where_nothing_was_forgotten_all() -> None:
    listed = {"records": [{"id": "step_1", "kind": "step", "text": "Slow Lantern is loud."}]}
    call = AIMessage("", id="a", tool_calls=[{"name": "find_to_forget", "args": {"query": "Slow"}, "id": "1"}])
    answer = ToolMessage(json.dumps(listed), name="find_to_forget", tool_call_id="1", id="t")
    done = json.dumps({"forgotten": ["step_2"], "undo_with": ["op_1"]})
    again = AIMessage("", id="b", tool_calls=[{"name": "forget", "args": {"ids": ["step_2"]}, "id": "2"}])
    went = ToolMessage(done, name="forget", tool_call_id="2", id="u")
    messages: list[Any] = [HumanMessage("Forget the band.", id="h"), call, answer]
    last = HumanMessage("Yes.", id="i")
    shown = as_read_now([*messages, again, went, last], {})
    assert shown[2].content == f'{MARK} {{"records": ["step_1"]}}'
    assert as_read_now([*messages, last], {})[2] is answer


def test_nothing_is_made_anew_where_nothing_was_forgotten() -> None:
    messages: list[Any] = [HumanMessage("Hello.", id="h"), AIMessage("Hello!", id="a")]
    assert all(after is before for after, before in zip(as_read_now(messages, {}), messages, strict=True))
