"""Recording agents from outside: a callback sees the runs of a graph, an edge and a middleware answer trouble."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt

from hexamem import Memory, UserMemory
from hexamem.errors import HexamemError
from hexamem.graphs.experience import MARK, add_reflection, trouble_of, turns_in
from hexamem.graphs.experience_middleware import ExperienceMiddleware
from hexamem.graphs.experience_recording import RunRecordingHandler, task_in

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_experience import INVOICE, INVOICES, attempt, distils, item, opened

Script = Callable[[Request], Reply]


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody new of one memory."""
    return labelled_newcomer


@tool
def post_invoice(amount: str) -> str:
    """Post an invoice."""
    if "." in amount:
        raise ValueError("400: amount must be a whole number of cents")
    return "201 created"


def handled(error: Exception) -> str:
    """What a graph's tool node tells the model of a failure."""
    return str(error)


def says(*turns: Any) -> Script:
    """A model that calls tools or answers, one turn after another: (name, arguments) or a text."""
    count = iter(range(100))

    def answer(request: Request) -> Reply:
        turn = turns[min(next(count), len(turns) - 1)]
        if isinstance(turn, str):
            return Reply(content=turn, plain=True)
        name, arguments = turn
        return Reply(content=arguments, tool=name)

    return answer


class State(TypedDict):
    """A state with messages."""

    messages: Annotated[list[AnyMessage], add_messages]


def graph_of(model: Any, tools: list[Any], *, reflecting: bool = False) -> Any:
    """A tool-calling graph as people write them; with the ready-made edge where that is wanted."""
    bound = model.bind_tools(tools)

    def agent(state: State) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    graph = StateGraph(State)
    graph.add_node("agent", agent)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=handled))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition, ["tools", END])
    if reflecting:
        add_reflection(graph, after="tools", before="agent")
    else:
        graph.add_edge("tools", "agent")
    return graph.compile()


def asked(text: str = INVOICE) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def invoked(agent: Any, config: Any, asynchronous: bool) -> Any:
    return asyncio.run(agent.ainvoke(asked(), config=config)) if asynchronous else agent.invoke(asked(), config=config)


@pytest.mark.parametrize("made", ["create_agent", "graph"])
def test_a_run_is_recorded_without_touching_the_agent(
    made: str, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "4200"}), "Done."))
    agent = (
        create_agent(server.chat_model(), [post_invoice])
        if made == "create_agent"
        else graph_of(server.chat_model(), [post_invoice])
    )
    handler = alice.experience.callback(env="billing", outcome=lambda output: "Done" in output["messages"][-1].text)
    agent.invoke(asked(), config={"callbacks": [handler]})
    (run,) = alice.experience.runs()
    steps = alice.experience.steps(run.id)
    assert (run.task, run.environment, run.status) == (INVOICE, "billing", "finished")
    assert run.outcome is not None
    assert run.outcome.label
    assert [step.action for step in steps] == ['post_invoice({"amount": "4200"})', "answer"]
    assert [step.observation for step in steps] == ["201 created", "Done."]
    assert handler.degraded == []


def test_failures_of_tools_and_tools_that_there_are_not_are_errors_of_their_steps(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    turns = (("post_invoice", {"amount": "42.00"}), ("send_mail", {"to": "bob"}), "I give up.")
    agent = graph_of(scripted_server(says(*turns)).chat_model(), [post_invoice])
    agent.invoke(asked(), config={"callbacks": [alice.experience.callback(env="billing")]})
    (run,) = alice.experience.runs()
    first, second, answer = alice.experience.steps(run.id)
    assert first.error is not None
    assert "whole number of cents" in first.error
    assert second.action == 'send_mail({"to": "bob"})'
    assert "send_mail is not a valid tool" in (second.error or "")
    assert (answer.action, run.outcome) == ("answer", None)


def test_async_and_streamed_runs_are_recorded_each_on_its_own(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    def answer(request: Request) -> Reply:
        if request.messages[-1]["role"] == "tool":
            return Reply(content="Done.", plain=True)
        amount = str(request.messages[-1]["content"]).rsplit(" ", 1)[-1]
        return Reply(content={"amount": amount}, tool="post_invoice")

    agent = create_agent(scripted_server(answer).chat_model(), [post_invoice])
    handler = alice.experience.callback(env="billing")
    config: Any = {"callbacks": [handler]}

    async def several() -> None:
        await asyncio.gather(*(agent.ainvoke(asked(f"Post an invoice of {n}"), config=config) for n in range(3)))
        async for _ in agent.astream(asked("Post an invoice of 3"), config=config):
            pass

    asyncio.run(several())
    runs = {run.task: run for run in alice.experience.runs()}
    assert len(runs) == 4
    for n in range(4):
        run = runs[f"Post an invoice of {n}"]
        assert run.status == "finished"
        assert alice.experience.steps(run.id)[0].action == f'post_invoice({{"amount": "{n}"}})'


def test_a_run_that_uses_up_its_steps_failed_and_one_that_breaks_is_unfinished(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "42.00"})))
    config: Any = {"callbacks": [alice.experience.callback()], "recursion_limit": 5}
    with pytest.raises(GraphRecursionError):
        graph_of(server.chat_model(), [post_invoice]).invoke(asked(), config=config)
    (run,) = alice.experience.runs()
    assert run.outcome is not None
    assert not run.outcome.label
    with pytest.raises(ValueError, match="whole number"):
        create_agent(server.chat_model(), [post_invoice]).invoke(asked("another"), config=config)
    broken = alice.experience.runs()[0]
    assert (broken.task, broken.status) == ("another", "unfinished")
    assert "whole number" in (alice.experience.steps(broken.id)[-1].error or "")


def test_an_interrupted_run_goes_on_with_its_thread(alice: UserMemory, scripted_server: ServerFactory) -> None:
    @tool
    def ask_person(what: str) -> str:
        """Ask a person."""
        return str(interrupt(what))

    server = scripted_server(says(("ask_person", {"what": "really?"}), "Done."))
    agent = create_agent(server.chat_model(), [ask_person], checkpointer=InMemorySaver())
    config: Any = {"callbacks": [alice.experience.callback()], "configurable": {"thread_id": "t"}}
    agent.invoke(asked(), config=config)
    (run,) = alice.experience.runs()
    assert run.status == "unfinished"
    agent.invoke(Command(resume="yes"), config=config)
    (run,) = alice.experience.runs()
    assert run.status == "finished"
    (step, _) = alice.experience.steps(run.id)
    assert (step.action, step.observation, step.error) == ('ask_person({"what": "really?"})', "yes", None)


def test_only_the_new_turn_of_a_thread_is_its_run(alice: UserMemory, scripted_server: ServerFactory) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "1"}), "Done.", "You are welcome."))
    agent = create_agent(server.chat_model(), [post_invoice], checkpointer=InMemorySaver())
    config: Any = {"callbacks": [alice.experience.callback()], "configurable": {"thread_id": "t"}}
    agent.invoke(asked(), config=config)
    agent.invoke(asked("thank you"), config=config)
    second, first = alice.experience.runs()
    assert (first.task, second.task) == (INVOICE, "thank you")
    assert [step.observation for step in alice.experience.steps(second.id)] == ["You are welcome."]


def test_secrets_of_a_recorded_run_do_not_reach_the_disk(
    tmp_path: Path, memory: Memory, scripted_server: ServerFactory, traces: Callable[..., list[str]]
) -> None:
    alice = memory.user("alice")

    @tool
    def log_in(password: str) -> str:
        """Log in."""
        return f"the password {password} is right"

    secret = "hunter2-x9Q"
    server = scripted_server(says(("log_in", {"password": secret}), f"I logged in; the password is {secret}."))
    agent = create_agent(server.chat_model(), [log_in])
    agent.invoke(asked(f"log in with the password {secret}"), config={"callbacks": [alice.experience.callback()]})
    (run,) = alice.experience.runs()
    assert len(alice.experience.steps(run.id)) == 2
    assert traces(tmp_path, secret) == []


def test_what_cannot_be_recorded_is_told_and_the_agent_goes_on(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    agent = create_agent(scripted_server(says("Hello.")).chat_model(), [])
    handler = alice.experience.callback()
    agent.invoke({"messages": [AIMessage("so?")]}, config={"callbacks": [handler]})
    assert alice.experience.runs() == []
    assert "names no task" in handler.degraded[0]


@pytest.mark.parametrize(
    ("inputs", "task"),
    [
        (asked(" water the plants "), "water the plants"),
        ({"messages": [("user", "one"), ("ai", "two"), ("user", "three")]}, "three"),
        ({"messages": {"role": "user", "content": "one"}}, "one"),
        ({"task": "paint"}, "paint"),
        ("sing", "sing"),
        (Command(resume=1), ""),
        ({"n": 3}, ""),
    ],
)
def test_the_task_is_read_off_a_graphs_input(inputs: Any, task: str) -> None:
    assert task_in(inputs) == task


# -- trouble ----------------------------------------------------------------------------------------------------------


def called(name: str, result: str, status: Any = "success", number: int = 0) -> list[AnyMessage]:
    call = {"name": name, "args": {"n": number}, "id": f"{name}{number}"}
    return [AIMessage("", tool_calls=[call]), ToolMessage(result, tool_call_id=f"{name}{number}", status=status)]


@pytest.mark.parametrize(
    ("messages", "sort"),
    [
        ([*called("post", "400", "error", 1), *called("post", "401", "error", 2)], "repeated_error"),
        ([*called("post", "400", "error", 1), *called("get", "404", "error", 2)], None),
        ([*called("a", "Unknown command", number=1), *called("b", "Nothing happens.", number=2)], "invalid_action"),
        ([*called("a", "x", "error", 1), *called("b", "y", "error", 2), *called("c", "z", "error", 3)], "no_progress"),
        ([*called("look", "a wall"), *called("look", "a wall")] * 2, "no_progress"),
        ([*called("look", "a wall", number=1), *called("look", "a door", number=2)], None),
        ([*called("post", "400", "error", 1), HumanMessage("go on"), *called("post", "400", "error", 2)], None),
        ([], None),
    ],
)
def test_trouble_is_repeated_errors_invalid_actions_and_no_progress(
    messages: list[AnyMessage], sort: str | None
) -> None:
    found = trouble_of({"messages": [HumanMessage("do it"), *messages]})
    assert (None if found is None else found.sort) == sort


def test_turns_count_from_the_last_reflection_on() -> None:
    marked = HumanMessage("look back", additional_kwargs={MARK: "reflection"})
    told = HumanMessage("of the tool", additional_kwargs={MARK: "tool post"})
    failed = called("post", "400", "error")
    assert len(turns_in([HumanMessage("do it"), *failed, told, *failed])) == 2
    assert len(turns_in([HumanMessage("do it"), *failed, marked, *failed])) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_edge_leads_to_a_look_back_at_similar_runs_that_did_their_task(
    asynchronous: bool, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    attempt(alice, INVOICES, actions=('post_invoice({"amount": "7700"})',))
    bad = ("post_invoice", {"amount": "42.00"})

    def answer(request: Request) -> Reply:
        text = str(request.messages[-1]["content"])
        if request.messages[-1]["role"] == "user" and "7700" in text:
            return Reply(content={"amount": "4200"}, tool="post_invoice")
        if "201" in text:
            return Reply(content="Done.", plain=True)
        return Reply(content=bad[1], tool=bad[0])

    server = scripted_server(answer)
    agent = graph_of(server.chat_model(), [post_invoice], reflecting=True)
    handler = alice.experience.callback(env="billing", recall=False)
    found = invoked(agent, {"callbacks": [handler], "recursion_limit": 20}, asynchronous)
    assert found["messages"][-1].text == "Done."
    looks = [one for one in found["messages"] if one.additional_kwargs.get(MARK) == "reflection"]
    assert len(looks) == 1
    assert "</reflection>" in looks[0].text
    run = alice.experience.runs()[0]
    assert [bool(step.error) for step in alice.experience.steps(run.id)] == [True, True, False, False]
    assert len(run.shown) == 1, "what it rests on counts as given"


def test_without_a_recorded_run_the_node_says_what_to_do(scripted_server: ServerFactory) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "4.2"})))
    with pytest.raises(HexamemError, match=r"user\.experience\.callback"):
        graph_of(server.chat_model(), [post_invoice], reflecting=True).invoke(asked())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_middleware_shows_advice_for_the_task_and_keeps_it_out_of_the_thread(
    asynchronous: bool, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    attempt(alice, INVOICES, actions=("post_invoice in cents",))
    server = scripted_server(says(("post_invoice", {"amount": "4200"}), "Done."))
    agent = create_agent(server.chat_model(), [post_invoice], middleware=[ExperienceMiddleware()])
    config: Any = {"callbacks": [alice.experience.callback(env="billing")]}
    found = invoked(agent, config, asynchronous)
    for request in server.requests:
        advice, task = request.messages[:2]
        assert "post_invoice in cents" in advice["content"]
        assert (advice["role"], task["content"]) == ("user", INVOICE)
    assert [type(one) for one in found["messages"]] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert alice.experience.runs()[0].shown


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_middleware_tells_what_is_known_of_a_tool_that_failed_once(
    asynchronous: bool, tmp_path: Path, scripted_server: ServerFactory
) -> None:
    @tool
    def book_room(day: str) -> str:
        """Book a room."""
        raise ToolException("422: day")

    book_room.handle_tool_error = True
    known = item("book_room takes ISO dates", content="Give book_room the day as 2026-12-24.")
    turns = (("book_room", {"day": "Monday"}), ("book_room", {"day": "Tuesday"}), "I give up.")
    with opened(tmp_path, scripted_server(distils(known))) as memory:
        alice = memory.user("alice")
        attempt(alice, "Water the plants", env="office")
        assert alice.flush()
        server = scripted_server(says(*turns))
        agent = create_agent(server.chat_model(), [book_room], middleware=[ExperienceMiddleware(before_tools=False)])
        found = invoked(agent, {"callbacks": [alice.experience.callback(env="office")]}, asynchronous)
        marks = [one.additional_kwargs[MARK] for one in found["messages"] if MARK in one.additional_kwargs]
        assert marks[0] == "tool book_room"
        assert marks.count("tool book_room") == 1
        assert "Give book_room the day as 2026-12-24." in str(server.requests[1].messages[-1]["content"])
        assert "Give book_room" not in server.requests[0].text


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_middleware_tells_what_is_known_of_a_tool_before_it_is_called(
    asynchronous: bool, tmp_path: Path, scripted_server: ServerFactory
) -> None:
    called_with: list[str] = []

    @tool
    def book_room(day: str) -> str:
        """Book a room."""
        called_with.append(day)
        return "booked"

    known = item("book_room takes ISO dates", content="Give book_room the day as 2026-12-24.")
    with opened(tmp_path, scripted_server(distils(known))) as memory:
        alice = memory.user("alice")
        attempt(alice, "Water the plants", env="office")
        assert alice.flush()
        turns = (("book_room", {"day": "Thursday"}), ("book_room", {"day": "2026-12-24"}), "Done.")
        server = scripted_server(says(*turns))
        agent = create_agent(server.chat_model(), [book_room], middleware=[ExperienceMiddleware()])
        found = invoked(agent, {"callbacks": [alice.experience.callback(env="office")]}, asynchronous)
        assert called_with == ["2026-12-24"], "the call that was meant without knowing is not made"
        assert [type(one) for one in found["messages"]] == [
            HumanMessage,
            HumanMessage,
            AIMessage,
            ToolMessage,
            AIMessage,
        ]
        assert found["messages"][1].additional_kwargs[MARK] == "tool book_room"
        assert "Give book_room the day as 2026-12-24." in str(server.requests[1].messages[-1]["content"])
        assert server.calls == 3
        (run,) = [one for one in alice.experience.runs() if one.task == INVOICE]
        assert run.shown == (alice.experience.items()[0].id,), "it counts as given"
        acted = [step.action for step in alice.experience.steps(run.id)]
        assert acted == ['book_room({"day": "2026-12-24"})', "answer"]


def test_an_attempt_can_refuse_tools_that_must_not_be_called(alice: UserMemory, scripted_server: ServerFactory) -> None:
    called_with: list[str] = []

    @tool
    def pay(amount: str) -> str:
        """Pay."""
        called_with.append(amount)
        return "paid"

    run = alice.experience.start("pay the bill")
    handler = RunRecordingHandler(run, forbidden=["pay"])
    agent = graph_of(scripted_server(says(("pay", {"amount": "1"}), "Done.")).chat_model(), [pay])
    agent.invoke(asked(), config={"callbacks": [handler]})
    assert called_with == []
    assert "side effects" in json.dumps([step.model_dump(mode="json") for step in alice.experience.steps(run.id)])
    assert alice.experience.runs()[0].status == "unfinished", "who began it finishes it"
