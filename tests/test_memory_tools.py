"""The memory's tools, and the table of operations that they are made from."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, MemoryMiddleware, memory_tools
from hexamem.aligning import MEMORY_TOOLS
from hexamem.errors import ConfigError
from hexamem.tools.operations import OPERATIONS

from .scripted_chat import ScriptedChat, calls

SECRET = "hunter2-Xy99"


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


def use(memory: Memory, name: str, user: str = "alice", **arguments: Any) -> ToolMessage:
    """What an agent of a user gets from one call."""
    model = ScriptedChat([calls(name, **arguments), "Done."])
    out = create_agent(model, memory_tools(memory)).invoke(
        {"messages": [HumanMessage("Go.")]}, {"configurable": {"thread_id": "t"}}, context={"user": user}
    )
    assert SECRET not in model.shown()
    return out["messages"][2]


def ask(agent: Any, text: str) -> Any:
    """What alice gets from an agent in her conversation."""
    config = {"configurable": {"thread_id": "t"}}
    return agent.invoke({"messages": [HumanMessage(text)]}, config, context={"user": "alice"})


def result(memory: Memory, name: str, user: str = "alice", **arguments: Any) -> dict[str, Any]:
    message = use(memory, name, user, **arguments)
    assert message.status == "success", message.text
    return json.loads(message.text)


def test_the_tools_are_those_that_a_model_may_call_with_strict_schemas_without_a_user(memory: Memory) -> None:
    offered = {operation.name for operation in OPERATIONS}
    assert {tool.name for tool in memory_tools(memory)} == offered == MEMORY_TOOLS
    assert [tool.name for tool in memory_tools(memory, names=["forget"])] == ["forget"]
    with pytest.raises(ConfigError, match="undo"):
        memory_tools(memory, names=["undo"])
    for tool in memory_tools(memory):
        fields = set(convert_to_openai_tool(tool)["function"]["parameters"]["properties"])
        assert fields
        assert not fields & {"user", "runtime", "state", "store", "config"}
    for operation in OPERATIONS:
        text = json.dumps(operation.input.model_json_schema())
        assert not any(word in text for word in ("oneOf", "discriminator", '"additionalProperties": {'))


def test_every_operation_describes_itself_and_returns_only_what_there_is(memory: Memory) -> None:
    alice = memory.user("alice")
    alice.remember(["Mia goes to school in Hangzhou.", f"My mail password is {SECRET}."])
    stored = result(memory, "remember", title="Tea", text="Alice likes jasmine tea.")
    given: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "Mia's school", "kinds": ["step"], "until": "2020-01-01"},
        "research_memory": {"question": "Where does Mia go to school?"},
        "remember": {"title": "Leek soup", "text": "Cut leek.\nBoil it.", "kind": "procedural"},
        "update_core": {"label": "human", "value": "Alice"},
        "list_memory": {"kind": "semantic"},
        "read_resource": {"id": stored["id"], "length": 5},
        "use_secret": {"what": "mail password"},
        "find_to_forget": {"query": "jasmine tea"},
        "forget": {"ids": [stored["id"]]},
    }
    for operation in OPERATIONS:
        assert operation.description
        assert None not in result(memory, operation.name, **given[operation.name]).values()
    assert stored["id"] not in {item.id for item in alice.items()}


def test_a_message_of_this_conversation_is_searched_and_forgotten_by_its_id(memory: Memory) -> None:
    def script(messages: list[Any]) -> Any:
        last = messages[-1]
        if last.type == "human" and "Dahl" in last.text:
            return calls("search_memory", query="Dahl")
        if last.type == "tool" and last.name == "search_memory":
            outcome = json.loads(last.text)
            assert [entry["text"] for entry in outcome["results"]] == ["Dahl leads the department."]
            here = [entry for entry in outcome["in_this_conversation"] if "Dahl" in entry["begins"]]
            assert all(entry["when"].startswith(str(datetime.now(UTC).year)) for entry in here)
            return calls("forget", ids=[entry["id"] for entry in (*outcome["results"], *here)])
        return "Done."

    memory.user("alice").remember("Dahl leads the department.", thread_id="old")
    agent = create_agent(ScriptedChat(script), middleware=[MemoryMiddleware(memory)], checkpointer=InMemorySaver())
    for text in ("I am well.", "My head is Pernille Dahl."):
        ask(agent, text)
    assert not [step for step in memory.user("alice").steps() if "Dahl" in step.content]
    assert "I am well." in [step.content for step in memory.user("alice").steps()]


def test_what_a_model_remembers_rests_on_the_message_that_it_answers(memory: Memory) -> None:
    model = ScriptedChat([calls("remember", title="Tea", text="Alice likes jasmine tea."), "Kept.", "In the tea room."])
    agent = create_agent(model, middleware=[MemoryMiddleware(memory)], checkpointer=InMemorySaver())
    for text in ("Keep it: jasmine.", "Where is my tea?"):
        ask(agent, text)
    alice = memory.user("alice")
    [item] = alice.items("semantic")
    steps = {step.content: step.id for step in alice.steps()}
    assert [entry.step_id for entry in item.sources] == [steps["Keep it: jasmine."]]
    assert "jasmine tea" not in model.prompts[-1][0].text  # the conversation shows it
    alice.forget([steps["Keep it: jasmine."]])
    assert alice.items("semantic") == []


def test_what_is_stored_twice_is_stored_once_and_a_core_block_is_changed(memory: Memory) -> None:
    for expected in ("new", "known already"):
        assert result(memory, "remember", title="Tea", text="Alice likes tea.")["stored"] == expected
    when = {"kind": "episodic", "title": "Concert", "text": "Alice played.", "when": "2025-03-04T20:00:00+01:00"}
    event = memory.user("alice").get(result(memory, "remember", **when)["id"])
    assert event.occurred_at.isoformat() == "2025-03-04T19:00:00+00:00"
    states = [result(memory, "update_core", label="Human", value=value)["stored"] for value in ("A", "B", "B")]
    assert states == ["new", "changed", "known already"]
    assert [item.value for item in memory.user("alice").items("core")] == ["B"]


def test_forgetting_is_by_ids_whole_or_not_at_all_and_can_be_undone(memory: Memory) -> None:
    alice = memory.user("alice")
    [step] = alice.remember("I like Ann.").step_ids
    for arguments in ({"ids": [step, "item_nope"]}, {}, {"ids": []}, {"what": "that I like Ann"}):
        refused = use(memory, "forget", **arguments)
        assert (refused.status, len(alice.steps())) == ("error", 1)
        assert "item_nope" in refused.text or "ids" in refused.text
    done = result(memory, "forget", ids=[step], reason="she asked")
    assert alice.steps() == []
    for operation_id in done["undo_with"]:
        alice.undo(operation_id)
    assert [entry.id for entry in alice.steps()] == [step]


def test_a_search_for_what_to_forget_lists_ids_with_the_message_behind_an_item(memory: Memory) -> None:
    alice = memory.user("alice")
    ids = alice.remember(["I stay at the Anker Hotel.", "We sleep where the ships lie."], thread_id="old").step_ids
    for day in (3, 4):
        message = {"role": "user", "content": f"Tulips, day {day}.", "timestamp": f"2026-05-0{day}T10:00:00Z"}
        alice.remember(message, thread_id="old")
    listed = result(memory, "find_to_forget", query="the Anker Hotel", k=1)["records"]
    assert [(record["id"], record["text"]) for record in listed] == [(ids[0], "I stay at the Anker Hotel.")]
    listed = result(memory, "find_to_forget", query="tulips", since="2026-05-04")["records"]
    assert "Tulips, day 4." in [record["text"] for record in listed]
    assert "Tulips, day 3." not in [record["text"] for record in listed]
    assert len(alice.steps()) == 4
    assert result(memory, "forget", ids=[ids[0]])["forgotten"] == [ids[0]]
    stay = {"kind": "semantic", "name": "stay", "summary": "Stays at the Anker Hotel", "sources": [{"step_id": ids[1]}]}
    item = alice.add(stay)
    listed = result(memory, "find_to_forget", query="Anker Hotel", k=1)["records"]
    assert [record["id"] for record in listed] == [item.id, ids[1]]


def test_a_secret_comes_as_its_reference_only(memory: Memory) -> None:
    memory.user("alice").remember(f"My mail password is {SECRET}.")
    [outcome] = result(memory, "use_secret", what="password of the mail account")["secrets"]
    assert outcome["reference"].startswith("{{vault:")
    assert memory.user("alice").reveal(outcome["reference"], reason="test") == SECRET
    assert use(memory, "use_secret", "bob", what="mail password").status == "error"


def test_every_tool_tells_times_by_the_users_clock_and_whole_days_as_dates(memory: Memory) -> None:
    alice = memory.user("alice", timezone="Europe/Copenhagen")
    message = {"role": "user", "content": "Sofie starts at the bakery.", "timestamp": "2026-11-22T23:30:00+00:00"}
    [step] = alice.remember(message, "old").step_ids
    rests = {"sources": [{"step_id": step}]}
    alice.add({"kind": "episodic", "summary": "Sofie begins her time", "occurred_at": "2026-12-07", **rests})
    alice.add({"kind": "episodic", "summary": "Sofie's party", "occurred_at": "2026-12-07T19:30", **rests})
    alice.add({"kind": "semantic", "name": "Sofie", "summary": "Sofie is an apprentice", **rests})
    times = {
        "Sofie starts at the bakery.": "2026-11-23T00:30+01:00",
        "Sofie begins her time": "2026-12-07",
        "Sofie's party": "2026-12-07T19:30+01:00",
        "Sofie is an apprentice": "2026-11-23T00:30+01:00",
    }
    outcome = result(memory, "search_memory", query="Sofie", kinds=["step", "episodic", "semantic"])["results"]
    listed = result(memory, "list_memory")["items"]
    assert {entry["text"]: entry["when"] for entry in outcome} == times
    assert {entry["text"]: entry["when"] for entry in listed}.items() <= times.items()
    assert len(listed) == 3
    assert result(memory, "read_resource", id=step)["title"] == "user, 2026-11-23T00:30+01:00"
    evidence = result(memory, "research_memory", question="Where does Sofie start?")["evidence"]
    assert [entry["when"] for entry in evidence if "bakery" in entry["quote"]] == ["2026-11-23T00:30+01:00"]
