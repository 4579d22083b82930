"""The chat: as a graph, and as ``hexamem chat`` in the terminal."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import io
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import hexamem.served as served
from hexamem import Memory, Settings, UserMemory, chat_graph
from hexamem.errors import ConfigError

from .commands import hexamem
from .scripted_chat import ScriptedChat
from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

ALICE: Any = {"user": "alice"}
SCHOOL = "My daughter Mia goes to school in Hangzhou."
WHERE = "Where does Mia go to school?"
WIFI = "The wifi password is Tr4mw4y-Blue."
BY_MODEL = ("--model", "openai:scripted")
Chat = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def chat(home: Path) -> Chat:
    """Types lines into ``hexamem chat``; returns what it printed, stderr last."""

    def type_lines(
        *lines: str, options: tuple[str, ...] = (), user: str = "alice", embedder: str | None = "static"
    ) -> str:
        typed = "".join(f"{line}\n" for line in lines)
        done = hexamem("chat", "--user", user, "--home", home, *options, stdin=typed, embedder=embedder)
        assert done.code == 0, done
        return done.out + done.err

    return type_lines


@pytest.fixture
def server(scripted_server: ServerFactory, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """A model that repeats what its system message recalls."""

    def script(request: Request) -> Reply:
        lines = re.findall(r"^\[.*?\] user: (.*)$", str(request.messages[0]["content"]), re.MULTILINE)
        return Reply(content=f"I recall: {lines[0] if lines else 'nothing'}", plain=True)

    started = scripted_server(script)
    monkeypatch.setenv("OPENAI_BASE_URL", started.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    return started


def ask(graph: Any, text: str, config: Any = None) -> str:
    return str(graph.invoke({"messages": [HumanMessage(text)]}, config, context=ALICE)["messages"][-1].text)


def steps_of(home: Path) -> list[tuple[str, str]]:
    with Memory.open(home, embedder="static") as memory:
        return [(step.role, step.content) for step in memory.user("alice").steps()]


# The graph.


def test_without_a_model_the_graph_answers_with_the_nearest_evidence(memory: Memory, alice: UserMemory) -> None:
    alice.remember(["We went to Brittany in July with the Bakers.", "I prefer tea to coffee."])
    alice.remember(["The car needs new tyres before winter.", SCHOOL])
    graph = chat_graph(memory, False)
    for asked, quote in ((WHERE, SCHOOL), ("What does the car need?", "The car needs new tyres before winter.")):
        lines = ask(graph, asked).split("\n")
        assert f"“{quote}”" in lines[1]
        assert "Brittany" not in "".join(lines)
    assert {step.role for step in alice.steps()} == {"user"}  # evidence is not stored again


def test_with_a_model_the_graph_answers_by_it_from_what_is_stored(tmp_path: Path) -> None:
    model = ScriptedChat(["In Hangzhou."])
    settings = Settings(background=False)
    with Memory.open(tmp_path, embedder="static", models={"chat": model}, settings=settings) as memory:
        memory.user("alice").remember(SCHOOL, thread_id="old")
        assert ask(chat_graph(memory), WHERE) == "In Hangzhou."
        assert "Hangzhou" in model.prompts[0][0].text
        assert ask(chat_graph(memory, False), "Hi").startswith("Your message is stored.")
        with pytest.raises(ConfigError, match="provider"):
            chat_graph(memory, "gpt")


def test_without_a_model_what_asks_nothing_is_stored_and_not_answered(memory: Memory, alice: UserMemory) -> None:
    alice.remember(["I have a beagle called Toast.", "My sister Ilka is pregnant."])
    graph, beagle = chat_graph(memory, False), "“I have a beagle called Toast.”"
    for message, near in (
        ("Thanks!", False),
        ("好的", False),
        ("👍", False),
        ("We had soup today.", False),
        ("the beagle called Toast", True),
    ):
        reply = ask(graph, message)
        assert reply.startswith("Your message is stored.")
        assert (beagle in reply) is near


def test_without_a_model_a_question_without_an_answer_gets_the_nearest_lines(memory: Memory, alice: UserMemory) -> None:
    graph, asked = chat_graph(memory, False), "Which submarine did Zebulon buy?"
    assert ask(graph, asked).startswith("Memory holds nothing on this.")
    alice.remember("I have a beagle called Toast.")
    reply = ask(graph, asked)
    assert reply.startswith("Memory holds no clear answer. Nearest to it:\n- “I have a beagle called Toast.”")
    assert "submarine" not in reply  # the question itself is no evidence


@pytest.mark.embedded
async def test_the_served_graphs_are_those_of_langgraph_json_and_share_the_memory_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[1]
    graphs = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert graphs == {name: f"hexamem.served:{name}" for name in served.__all__}
    monkeypatch.setenv("HOME", str(tmp_path))
    await (await served.chat()).ainvoke({"messages": [HumanMessage(SCHOOL)]}, context=ALICE)
    answer = await (await served.research()).ainvoke({"question": WHERE}, context=ALICE)
    assert "Hangzhou" in answer["answer"]
    assert await served.memory() is await served.memory()
    served._memory().close()
    assert (tmp_path / ".hexamem" / "ledger.sqlite3").exists()


# The terminal, without a model.


@pytest.mark.embedded
def test_a_conversation_goes_on_after_a_restart_and_is_the_users_own(chat: Chat) -> None:
    chat = partial(chat, embedder=None)
    first = chat(SCHOOL)
    for words in ("there was no memory at", "stored 1 message", "learned semantic"):
        assert words in first
    second = chat(WHERE, "What about Mia?")
    assert "there was no memory" not in second
    assert "1 message in thread 'chat'" in second
    assert f"“{SCHOOL}”" in second
    assert "Hangzhou" not in chat(WHERE, user="bob")


def test_every_command_works_within_the_conversation_for_its_user(chat: Chat) -> None:
    lines = (
        WIFI,
        "Which wifi password is it?",
        "/why",
        "/items",
        "/help",
        "/recall --help",
        "EXIT",
        "this is never read",
    )
    shown = chat(*lines)
    for pattern in (
        "Recalled for: Which wifi",
        r"why: vector #\d+ · ",
        "password of the wifi",
        "Find what a user's memory",
    ):
        assert re.search(pattern, shown), pattern
    assert "Tr4mw4y" not in shown
    [secret] = set(re.findall(r"vault:(\w+)", shown))
    step = re.search(r"step_\w+", shown)
    assert step is not None
    again = chat(f"/reveal {secret} --reason 'to log in'", f"/forget {step[0]}", "/quit")
    assert "Tr4mw4y-Blue" in again
    operation = re.search(r"op_\w+", again)
    assert operation is not None
    restored = chat("/steps", f"/undo {operation[0]}", "/steps")
    assert restored.count("The wifi password is") == 1
    assert "learned" not in restored


def test_a_wrong_command_is_explained_and_the_conversation_goes_on(chat: Chat) -> None:
    lines = {
        "/nope": "No such command 'nope'",
        "/": "No such command ''",
        "/forget": "forget what?",
        "/forget step_nope": "'step_nope'",
        "/recall 'a": "No closing quotation",
    }
    shown = chat("I like figs.", *lines, "I like tea.")
    assert [line for line, answer in lines.items() if answer not in shown] == []
    assert shown.count("stored 1 message") == 2
    assert "unexpected error" not in shown


# The terminal, with a model.


def test_with_a_model_the_reply_is_streamed_and_stored(chat: Chat, server: ScriptedServer) -> None:
    chat(SCHOOL, options=("--thread", "one", *BY_MODEL))
    shown = chat(WHERE, "And again?", options=("--thread", "two", *BY_MODEL))
    assert f"I recall: {SCHOOL}" in shown
    assert shown.count("stored 2 messages") + shown.count("stored 1 message") >= 2
    assert [message["role"] for message in server.requests[-1].messages] == ["system", "user", "assistant", "user"]
    again = chat(options=("--thread", "two", *BY_MODEL))
    assert "4 messages in thread 'two'; answers by openai:scripted" in again


def test_a_model_that_fails_ends_the_turn(chat: Chat, server: ScriptedServer) -> None:
    server.follow([Reply(status=400, error="too long"), Reply(content="Here.", plain=True)])
    shown = chat("I moved to Porto.", "Still there?", options=BY_MODEL)
    assert "the reply failed" in shown
    assert "Here." in shown


def test_a_secret_never_reaches_the_model(chat: Chat, server: ScriptedServer) -> None:
    assert "Tr4mw4y" not in chat(WIFI, options=BY_MODEL)
    assert "/reveal ID" in chat("Which wifi password?", options=(*BY_MODEL, "--thread", "later"))
    assert not [request for request in server.requests if "Tr4mw4y" in str(request.messages)]


def test_what_the_model_forgot_or_changed_is_shown_and_comes_back_by_undo(chat: Chat, server: ScriptedServer) -> None:
    chat("Pieter wants to leave the clinic.", options=("--thread", "one"))

    def script(request: Request) -> Reply:
        turn = [message["role"] for message in request.messages].count("tool")
        if "Note Basque" in request.text:
            return Reply(content="Done.", plain=True) if turn > 2 else update
        if turn == 0:
            return Reply(tool="search_memory", content={"query": "Pieter"})
        if turn == 1:
            ids = list(dict.fromkeys(re.findall(r"(?:step|item)_\w+", str(request.messages[-1]["content"]))))
            return Reply(tool="forget", content={"ids": ids})
        return Reply(content="Done.", plain=True)

    update = Reply(tool="update_core", content={"label": "human", "value": "Speaks Basque."})
    server.follow(script)
    options = (*BY_MODEL, "--thread", "two", "--mode", "embedded")
    shown = chat("Forget what you know of him.", "/recall Pieter", "Note Basque.", options=options)
    assert "wants to leave" not in shown.partition("Done.")[2]
    assert "learned core: human: Speaks Basque." in shown
    operation = re.search(r"forgotten by the model; (/undo op_\w+)", shown)
    assert operation is not None
    assert "Pieter wants to leave the clinic." in chat(operation[1], "/recall Pieter", options=options)


def test_what_is_forgotten_is_shown_to_no_model_until_it_is_undone(chat: Chat, server: ScriptedServer) -> None:
    band = "Arjun plays bass in a band called Slow Lantern."
    server.follow([Reply(content="Great name!", plain=True)])
    options = (*BY_MODEL, "--mode", "embedded")
    step = re.search(r"step_\w+", chat(band, "/steps", options=options))
    assert step is not None
    operation = re.search(r"op_\w+", chat(f"/forget {step[0]}", "Good morning.", options=options))
    assert operation is not None
    chat(f"/undo {operation[0]}", "Good day.", options=options)
    talk = [[message["content"] for message in request.messages[1:]] for request in server.requests]
    assert band not in talk[1]
    assert band in talk[2]


def test_a_mode_that_costs_calls_learns_of_several_lines_in_one_call(chat: Chat, server: ScriptedServer) -> None:
    replies = [Reply(content=f"Noted {number}.", plain=True) for number in range(3)]
    server.follow([*replies, Reply(content="not JSON", plain=True)])
    lines = ("My dog is called Rex.", "We live in Porto.", "I work at Siemens.")
    chat(*lines, options=(*BY_MODEL, "--mode", "single_call"))
    learning = [request for request in server.requests if request.method != "function_calling"]
    assert learning
    assert all(line in request.text for request in learning for line in lines)  # the call, and its repair


# Ctrl-C.


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: a test that runs in the background inherits that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_ctrl_c_stops_the_reply_or_the_command_and_not_the_conversation(
    chat: Chat, home: Path, server: ScriptedServer, interruptible: None
) -> None:
    def script(request: Request) -> Reply:
        if "long" in str(request.messages[-1]["content"]):
            os.kill(os.getpid(), signal.SIGINT)
            # The reply is cut off; LangGraph ends the step of a command that runs by ``invoke``.
            return Reply(content="Once upon a time.", plain=True, delay=2 if request.name else 120)
        return Reply(content="Briefly.", plain=True)

    server.follow(script)
    lines = ("Tell me a long story.", "/ask 'Where was the long story told?'", "And now?")
    start = time.monotonic()
    shown = chat(*lines, options=(*BY_MODEL, "--mode", "embedded"))
    assert time.monotonic() - start < 60  # it waits for no reply
    assert "stopped; your message is stored" in shown
    assert "interrupted" in shown
    assert "Once" not in shown
    assert steps_of(home) == [("user", "Tell me a long story."), ("user", "And now?"), ("assistant", "Briefly.")]


@pytest.mark.embedded
def test_ctrl_c_at_the_prompt_ends_the_conversation(home: Path) -> None:
    class Typing(io.StringIO):
        def readline(self, *_: Any) -> str:
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    done = hexamem("chat", "--user", "alice", "--home", home, stdin=Typing("I like figs.\n"))
    assert done.code == 130
    assert "stored 1 message" in done.out + done.err
    assert steps_of(home) == [("user", "I like figs.")]
