"""Recording agents from outside: a callback records the runs of a graph, an edge and a middleware answer trouble."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
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

from hexamem import UserMemory
from hexamem.errors import HexamemError
from hexamem.graphs.experience import MARK, ExperienceMiddleware, add_reflection, trouble_of

from .learners import INVOICE, INVOICES, Learner, alice, attempt, learn, learner, lesson, replies, taught  # noqa: F401
from .scripted_server import Reply, Request, Script, ServerFactory, loopback_only, scripted_server  # noqa: F401

in_both_ways = pytest.mark.parametrize("asynchronous", [False, True])


@tool
def post_invoice(amount: str) -> str:
    """Post an invoice."""
    if "." in amount:
        raise ValueError("400: amount must be a whole number of cents")
    return "201 created"


def handled(error: Exception) -> str:
    """What a graph's tool node returns to the model for a failure."""
    return str(error)


def says(*turns: Any) -> Script:
    """A model that calls tools or answers, one turn after another: (name, arguments) or a text."""
    return [
        Reply(content=turn, plain=True) if isinstance(turn, str) else Reply(tool=turn[0], content=turn[1])
        for turn in turns
    ]


class State(TypedDict):
    """A state with messages."""

    messages: Annotated[list[AnyMessage], add_messages]


def graph_of(model: Any, tools: list[Any], *, reflecting: bool = False) -> Any:
    """A tool-calling graph as people write them, on request with the edge of reflection."""
    bound = model.bind_tools(tools)
    graph = StateGraph(State)
    graph.add_node("agent", lambda state: {"messages": [bound.invoke(state["messages"])]})
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


def invoked(agent: Any, config: Any, asynchronous: bool) -> list[AnyMessage]:
    answer = asyncio.run(agent.ainvoke(asked(), config)) if asynchronous else agent.invoke(asked(), config)
    return list(answer["messages"])


def marks_of(messages: list[AnyMessage]) -> list[str]:
    return [message.additional_kwargs[MARK] for message in messages if MARK in message.additional_kwargs]


@pytest.mark.parametrize("build", [create_agent, graph_of])
def test_a_run_is_recorded_without_a_change_of_the_agent(
    build: Any, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "4200"}), "Done."))
    handler = alice.experience.callback(env="billing", outcome=lambda output: "Done" in output["messages"][-1].text)
    build(server.chat_model(), [post_invoice]).invoke(asked(), config={"callbacks": [handler]})
    (run,) = alice.experience.runs()
    assert (run.task, run.environment, run.status) == (INVOICE, "billing", "finished")
    assert run.outcome is not None
    assert run.outcome.label
    assert [(step.action, step.observation) for step in alice.experience.steps(run.id)] == [
        ('post_invoice({"amount": "4200"})', "201 created"),
        ("answer", "Done."),
    ]
    assert handler.degraded == []


def test_failures_of_tools_and_unknown_tools_are_errors_of_their_steps(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    turns = (("post_invoice", {"amount": "42.00"}), ("send_mail", {"to": "bob"}), "I give up.")
    agent = graph_of(scripted_server(says(*turns)).chat_model(), [post_invoice])
    agent.invoke(asked(), config={"callbacks": [alice.experience.callback(env="billing")]})
    (run,) = alice.experience.runs()
    first, second, answer = alice.experience.steps(run.id)
    assert "whole number of cents" in (first.error or "")
    assert second.action == 'send_mail({"to": "bob"})'
    assert "send_mail is not a valid tool" in (second.error or "")
    assert (answer.action, run.outcome) == ("answer", None)


def test_concurrent_and_streamed_runs_are_recorded_apart(alice: UserMemory, scripted_server: ServerFactory) -> None:
    def answer(request: Request) -> Reply:
        if request.messages[-1]["role"] == "tool":
            return Reply(content="Done.", plain=True)
        amount = str(request.messages[-1]["content"]).rsplit(" ", 1)[-1]
        return Reply(content={"amount": amount}, tool="post_invoice")

    agent = create_agent(scripted_server(answer).chat_model(), [post_invoice])
    config: Any = {"callbacks": [alice.experience.callback(env="billing")]}

    async def several() -> None:
        await asyncio.gather(*(agent.ainvoke(asked(f"Post an invoice of {n}"), config=config) for n in range(3)))
        async for _ in agent.astream(asked("Post an invoice of 3"), config=config):
            pass

    asyncio.run(several())
    first_actions = {
        (run.task, run.status, alice.experience.steps(run.id)[0].action) for run in alice.experience.runs()
    }
    assert first_actions == {
        (f"Post an invoice of {n}", "finished", f'post_invoice({{"amount": "{n}"}})') for n in range(4)
    }


def test_a_run_that_uses_up_its_steps_has_failed_and_one_that_raises_is_unfinished(
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


def test_an_interrupted_run_goes_on_with_its_thread_whose_next_turn_is_another_run(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    @tool
    def ask_person(what: str) -> str:
        """Ask a person."""
        return str(interrupt(what))

    server = scripted_server(says(("ask_person", {"what": "really?"}), "Done.", "You are welcome."))
    agent = create_agent(server.chat_model(), [ask_person], checkpointer=InMemorySaver())
    config: Any = {"callbacks": [alice.experience.callback()], "configurable": {"thread_id": "t"}}
    agent.invoke(asked(), config=config)
    assert [run.status for run in alice.experience.runs()] == ["unfinished"]
    agent.invoke(Command(resume="yes"), config=config)
    (run,) = alice.experience.runs()
    assert run.status == "finished"
    (step, _) = alice.experience.steps(run.id)
    assert (step.action, step.observation, step.error) == ('ask_person({"what": "really?"})', "yes", None)
    agent.invoke(asked("thank you"), config=config)
    second, first = alice.experience.runs()
    assert (first.task, second.task) == (INVOICE, "thank you")
    assert [step.observation for step in alice.experience.steps(second.id)] == ["You are welcome."]


def test_what_cannot_be_recorded_is_reported_and_the_agent_goes_on(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    agent = create_agent(scripted_server(says("Hello.")).chat_model(), [])
    handler = alice.experience.callback()
    agent.invoke({"messages": [AIMessage("so?")]}, config={"callbacks": [handler]})
    assert alice.experience.runs() == []
    assert "names no task" in handler.degraded[0]


# Trouble.


def called(name: str, result: str, status: Any = "success", number: int = 0) -> list[AnyMessage]:
    call = {"name": name, "args": {"n": number}, "id": f"{name}{number}"}
    return [AIMessage("", tool_calls=[call]), ToolMessage(result, tool_call_id=f"{name}{number}", status=status)]


def marked(mark: str) -> HumanMessage:
    return HumanMessage("look back", additional_kwargs={MARK: mark})


POST, AGAIN = called("post", "400", "error", 1), called("post", "401", "error", 2)


@pytest.mark.parametrize(
    ("messages", "sort"),
    [
        ([*POST, *AGAIN], "repeated_error"),
        ([*POST, marked("tool post"), *AGAIN], "repeated_error"),
        ([*POST, marked("reflection"), *AGAIN], None),  # turns count from the last reflection
        ([*POST, HumanMessage("go on"), *AGAIN], None),
        ([*POST, *called("get", "404", "error", 2)], None),
        ([*called("a", "x", "error", 1), *called("b", "y", "error", 2), *called("c", "z", "error", 3)], "no_progress"),
        ([*called("look", "a wall"), *called("look", "a wall")] * 2, "no_progress"),
        ([*called("look", "a wall", number=1), *called("look", "a door", number=2)], None),
        ([], None),
    ],
)
def test_trouble_is_repeated_errors_and_no_progress(messages: list[AnyMessage], sort: str | None) -> None:
    trouble = trouble_of({"messages": [HumanMessage("do it"), *messages]})
    assert (None if trouble is None else trouble.sort) == sort


@in_both_ways
def test_the_edge_leads_to_a_reflection_on_similar_successful_runs(
    asynchronous: bool, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    attempt(alice, INVOICES, actions=('post_invoice({"amount": "7700"})',))

    def answer(request: Request) -> Reply:
        text = str(request.messages[-1]["content"])
        if "201" in text:
            return Reply(content="Done.", plain=True)
        reflected = request.messages[-1]["role"] == "user" and "7700" in text
        return Reply(content={"amount": "4200" if reflected else "42.00"}, tool="post_invoice")

    agent = graph_of(scripted_server(answer).chat_model(), [post_invoice], reflecting=True)
    handler = alice.experience.callback(env="billing", recall=False)
    messages = invoked(agent, {"callbacks": [handler], "recursion_limit": 20}, asynchronous)
    assert (messages[-1].text, marks_of(messages)) == ("Done.", ["reflection"])
    assert any("</reflection>" in message.text for message in messages)
    run = alice.experience.runs()[0]
    assert [bool(step.error) for step in alice.experience.steps(run.id)] == [True, True, False, False]
    assert len(run.shown) == 1, "what the reflection rests on counts as given"


def test_without_a_recorded_run_the_node_says_what_to_do(scripted_server: ServerFactory) -> None:
    server = scripted_server(says(("post_invoice", {"amount": "4.2"})))
    with pytest.raises(HexamemError, match=r"user\.experience\.callback"):
        graph_of(server.chat_model(), [post_invoice], reflecting=True).invoke(asked())


@in_both_ways
def test_the_middleware_shows_advice_for_the_task_and_leaves_it_out_of_the_thread(
    asynchronous: bool, alice: UserMemory, scripted_server: ServerFactory
) -> None:
    attempt(alice, INVOICES, actions=("post_invoice in cents",))
    server = scripted_server(says(("post_invoice", {"amount": "4200"}), "Done."))
    agent = create_agent(server.chat_model(), [post_invoice], middleware=[ExperienceMiddleware()])
    messages = invoked(agent, {"callbacks": [alice.experience.callback(env="billing")]}, asynchronous)
    for request in server.requests:
        advice, task = request.messages[:2]
        assert "post_invoice in cents" in advice["content"]
        assert (advice["role"], task["content"]) == ("user", INVOICE)
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert alice.experience.runs()[0].shown


@in_both_ways
@pytest.mark.parametrize("before", [False, True])
def test_the_middleware_shows_what_is_known_of_a_tool_before_it_is_called_or_after_it_failed_once(
    before: bool, asynchronous: bool, learner: Learner, scripted_server: ServerFactory
) -> None:
    days: list[str] = []

    @tool
    def book_room(day: str) -> str:
        """Book a room."""
        days.append(day)
        if "-" not in day:
            raise ToolException("422: day")
        return "booked"

    book_room.handle_tool_error = True
    known = "Give book_room the day as 2026-12-24."
    user, _ = learner(replies(lesson("book_room takes ISO dates", content=known)))
    learn(user, "Water the plants", env="office")
    turns = [("book_room", {"day": day}) for day in ("Monday", "Tuesday")]
    if before:
        turns[1:] = [("book_room", {"day": "2026-12-24"})]
    server = scripted_server(says(*turns, "Done."))
    middleware = ExperienceMiddleware() if before else ExperienceMiddleware(before_tools=False)
    agent = create_agent(server.chat_model(), [book_room], middleware=[middleware])
    messages = invoked(agent, {"callbacks": [user.experience.callback(env="office")]}, asynchronous)
    assert known in str(server.requests[1].messages[-1]["content"])
    assert known not in server.requests[0].text
    assert marks_of(messages).count("tool book_room") == 1
    (run,) = [run for run in user.experience.runs() if run.task == INVOICE]
    assert user.experience.items()[0].id in run.shown
    if before:
        assert days == ["2026-12-24"], "the call that was meant without knowing is not made"
        assert [message.type for message in messages] == ["human", "human", "ai", "tool", "ai"]
        steps = [step.action for step in user.experience.steps(run.id)]
        assert (steps, server.calls) == (['book_room({"day": "2026-12-24"})', "answer"], 3)
    else:
        assert days == ["Monday", "Tuesday"]
