"""The chat: as a graph, and as ``hexamem chat`` in the terminal."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import io
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

import hexamem.served as served
from hexamem import Memory, Settings, UserMemory, chat_graph
from hexamem.errors import ConfigError, MissingUserError

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
        for given in (None, False):
            with pytest.raises(MissingUserError, match="context="):
                chat_graph(memory, given).invoke({"messages": [HumanMessage("Hi")]})


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
    assert "/forget takes records out" in ask(graph, "Forget that my sister is pregnant.")
    assert alice.steps()[1].content == "My sister Ilka is pregnant."


def test_without_a_model_a_question_without_an_answer_gets_the_nearest_lines(memory: Memory, alice: UserMemory) -> None:
    graph, asked = chat_graph(memory, False), "Which submarine did Zebulon buy?"
    assert ask(graph, asked).startswith("Memory holds nothing on this.")
    alice.remember("I have a beagle called Toast.")
    reply = ask(graph, asked)
    assert reply.startswith("Memory holds no clear answer. Nearest to it:\n- “I have a beagle called Toast.”")
    assert "submarine" not in reply  # the question itself is no evidence


def test_that_no_model_is_set_is_mentioned_once_a_thread(memory: Memory) -> None:
    graph = chat_graph(memory, False, checkpointer=InMemorySaver())
    for name in ("one", "two"):
        replies = [ask(graph, line, {"configurable": {"thread_id": name}}) for line in ("I like figs.", "Why?", "Ok")]
        assert sum("(No model is set" in reply for reply in replies) == 1


def test_an_item_that_only_asks_is_not_listed_among_what_was_recalled(memory: Memory, alice: UserMemory) -> None:
    alice.remember("The dentist is on 4 May at 9.")
    for summary in ("When is the dentist?", "Called the dentist."):
        alice.add({"kind": "episodic", "summary": summary, "occurred_at": "2026-04-01"})
    asked = {"messages": [HumanMessage("When is my dentist appointment?")]}
    events = list(chat_graph(memory, False).stream(asked, context=ALICE, stream_mode="custom"))
    listed = " ".join(hit["text"] for event in events if event["stage"] == "recall" for hit in event["recall"]["hits"])
    assert "Called the dentist." in listed
    assert "When is the dentist?" not in listed


async def test_the_served_graphs_are_those_of_langgraph_json_and_share_the_memory_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).resolve().parents[1]
    graphs = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert graphs == {name: f"hexamem.served:{name}" for name in served.__all__}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(served, "_served", served._Served())
    await (await served.chat()).ainvoke({"messages": [HumanMessage(SCHOOL)]}, context=ALICE)
    answer = await (await served.research()).ainvoke({"question": WHERE}, context=ALICE)
    assert "Hangzhou" in answer["answer"]
    assert await served.memory() is await served.memory()
    served._served._memory.close()
    assert (tmp_path / ".hexamem" / "ledger.sqlite3").exists()


# The terminal, without a model.


def test_a_conversation_goes_on_after_a_restart_and_is_the_users_own(chat: Chat) -> None:
    chat = partial(chat, embedder=None)
    first = chat(SCHOOL)
    for words in ("there was no memory at", "stored 1 message", "learned semantic"):
        assert words in first
    second = chat(WHERE, "What about Mia?")
    assert "there was no memory" not in second
    assert "1 message in thread 'chat'" in second
    assert f"“{SCHOOL}”" in second
    assert second.count("(No model is set") == 1
    assert "Hangzhou" not in chat(WHERE, user="bob")


def test_commands_list_forget_bring_back_and_explain(chat: Chat) -> None:
    shown = chat(
        SCHOOL, WHERE, "/why", "/forget 1", "/MEMORY school in Hangzhou", "/Undo", "/memory",
        f"/research {WHERE}", "/why", "/model", "/help", "/quit", "this is never read", embedder=None,
    )  # fmt: skip
    for pattern in (
        f"Recalled for: {re.escape(WHERE)}",
        r"why: vector #\d+ · ",
        "Forgotten: step_",
        "Undone: op_",
        r"2 messages; .*semantic",
        rf"Researched for: {re.escape(WHERE)}",
        "No model",
        "/research   QUESTION",
        "show these commands",
    ):
        assert re.search(pattern, shown), pattern
    assert "3 messages" not in shown


def test_forget_lists_what_words_may_mean_and_forgets_by_number_until_the_next_message(chat: Chat) -> None:
    aunts = [f"My aunt {name} grows tulips." for name in ("Ada", "Bea", "Cleo")]
    shown = chat(*aunts, "/forget tulips", "/forget 1 2", "I like figs.", "/forget 1")
    assert "Nothing is forgotten yet. /forget NUMBER forgets one of these" in shown
    first = re.search(r"^ 1  (\w+) “", shown, re.MULTILINE)
    assert first is not None
    assert f"Forgotten: {first[1]} “" in shown
    assert "/forget 1: there is no list to take it from; type /why or /memory for one" in shown
    assert "holds nothing near" in chat("/forget zebras", user="nobody")


def test_a_secret_is_shown_on_request_alone_and_an_undone_forget_is_not_learned_again(chat: Chat) -> None:
    shown = chat(WIFI, "What is the wifi password?", "/reveal 1", "/reveal 2", "/memory", "/forget 1", "/undo")
    assert re.search(r"“The wifi password is \{\{vault:\S+\|password of the wifi\}\}\.”", shown)
    assert shown.index("/reveal shows the secret here") < shown.index("Tr4mw4y-Blue")
    assert shown.count("Tr4mw4y-Blue") == 1
    assert "/reveal 2: the last list has 1 entries" in shown
    assert shown.count("learned vault") == 1
    other = chat("The car needs new tyres.", "/memory tyres", "/reveal 1", user="carol")
    assert re.search(r"/reveal 1: step_\S+ refers to no secret", other)


def test_a_wrong_command_says_what_is_wrong_and_the_conversation_goes_on(chat: Chat) -> None:
    lines = {
        "/nope": "there is no /nope",
        "/forget": "/forget needs",
        "/forget , ,": "/forget needs numbers of a list",
        "/forget 9": "/forget 9: there is no list to take it from",
        f"/forget {'9' * 5_000}": "/forget",
        "/reveal ²": "/reveal",
        "/forget step_nope": "'step_nope'",
        "/undo": "nothing was forgotten",
        "/model gpt": "provider",
        "/research  ": "/research needs a question: /research QUESTION",
        "/why 3": "/why takes no arguments: type /why alone",
        "/QUIT now": "/quit takes no arguments: type /quit alone",
    }
    shown = chat(*lines, "I like tea.")
    assert [line for line, answer in lines.items() if answer not in shown] == []
    assert "stored 1 message" in shown
    assert "unexpected error" not in shown
    assert "9" * 1_000 not in shown


def test_exit_and_quit_alone_end_the_conversation(chat: Chat) -> None:
    chat("I quit", "exit stage left", "退出", "exit", "I like tea.")
    for line in ("QUIT", "/exit"):
        chat(line, "I like tea.")
    assert "3 messages in thread" in chat("/quit")


def test_answers_come_from_statements_and_not_from_what_was_asked_before(chat: Chat) -> None:
    shown = chat("The dentist is on 4 May at 9.", "When is the dentist?", "When is my dentist appointment?")
    answer = shown[shown.rindex("recalled") :]
    assert "“When" not in answer
    assert "“The dentist is on 4 May at 9.”" in answer


# The terminal, with a model.


def test_with_a_model_the_reply_is_streamed_and_stored(chat: Chat, server: ScriptedServer) -> None:
    chat(SCHOOL, options=("--thread", "one", *BY_MODEL))
    shown = chat(WHERE, "And again?", options=("--thread", "two", *BY_MODEL))
    assert f"I recall: {SCHOOL}" in shown
    assert shown.count("stored 2 messages") + shown.count("stored 1 message") >= 2
    assert [message["role"] for message in server.requests[-1].messages] == ["system", "user", "assistant", "user"]
    again = chat(options=("--thread", "two", *BY_MODEL))
    assert "4 messages in thread 'two'; answers by openai:scripted" in again


def test_a_model_that_fails_ends_the_turn_and_one_set_later_sees_no_quotes_of_before(
    chat: Chat, server: ScriptedServer
) -> None:
    server.follow([Reply(status=400, error="too long"), Reply(content="Here.", plain=True)])
    shown = chat("I moved to Porto.", "Still there?", options=BY_MODEL)
    assert "the reply failed" in shown
    assert "Here." in shown
    server.follow([Reply(content="Hm.", plain=True)])
    chat("Where does Mia go?", "/model openai:scripted", "And Tom?", user="bob")
    [request] = server.requests
    assert "No model is set" not in request.text
    typed = [message["content"] for message in request.messages if message["role"] == "user"]
    assert typed == ["Where does Mia go?", "And Tom?"]


def test_a_secret_never_reaches_the_model(chat: Chat, server: ScriptedServer) -> None:
    assert "Tr4mw4y" not in chat(WIFI, options=BY_MODEL)
    shown = chat("Which wifi password?", "/reveal", options=(*BY_MODEL, "--thread", "later"))
    assert shown.index("/reveal shows the secret here") < shown.index("Tr4mw4y-Blue")
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
    lines = ("Forget what you know of him.", "/memory Pieter", "/undo", "/memory Pieter", "Note Basque.")
    shown = chat(*lines, options=(*BY_MODEL, "--thread", "two", "--mode", "embedded"))
    assert "forgotten by the model; /undo brings it back" in shown
    before, after = shown.split("Undone: op_")
    assert "wants to leave" not in before.partition("Done.")[2]
    assert "Pieter wants to leave the clinic." in after
    assert "learned core: human: Speaks Basque." in after


def test_what_is_forgotten_is_shown_to_no_model_until_it_is_undone(chat: Chat, server: ScriptedServer) -> None:
    band = "Arjun plays bass in a band called Slow Lantern."
    server.follow([Reply(content=text, plain=True) for text in ("Slow Lantern, great name!", "Hello!", "Hi again!")])
    lines = (band, "/forget Slow Lantern", "/forget 1 2", "Good morning.", "/undo", "Good day.")
    chat(*lines, options=(*BY_MODEL, "--mode", "embedded"))
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
            return Reply(content="Once upon a time.", plain=True, delay=120)
        return Reply(content="Briefly.", plain=True)

    server.follow(script)
    lines = ("Tell me a long story.", "/research Where was the long story told?", "And now?")
    shown = chat(*lines, options=(*BY_MODEL, "--mode", "embedded"))
    assert "stopped; your message is stored" in shown
    assert "hexamem: stopped\n" in shown
    assert "Once" not in shown
    assert steps_of(home) == [("user", "Tell me a long story."), ("user", "And now?"), ("assistant", "Briefly.")]


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
