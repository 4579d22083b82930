"""The chat: as a graph, and as ``hexamem chat`` in the terminal."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, Settings, chat_graph
from hexamem.cli.app import run
from hexamem.errors import ConfigError, MissingUserError

from .scripted_chat import ScriptedChat
from .scripted_server import Reply, Request, ScriptedServer

ALICE: Any = {"user": "alice"}
Chat = Callable[..., str]


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chat:
    """Types lines into ``hexamem chat``; gives what it printed, stderr last."""

    def typed(*lines: str, options: tuple[str, ...] = (), user: str = "alice") -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert run(["chat", "--user", user, "--home", str(tmp_path / "home"), *options]) == 0
        shown = capsys.readouterr()
        return shown.out + shown.err

    return typed


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A model that repeats what its system message recalls."""

    def script(request: Request) -> Reply:
        system = str(request.messages[0]["content"])
        lines = re.findall(r"^\[.*?\] user: (.*)$", system, re.MULTILINE)
        return Reply(content=f"I recall: {lines[0] if lines else 'nothing'}", plain=True)

    with ScriptedServer(script) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
        yield started


def test_without_a_model_it_answers_with_the_evidence_and_says_so(memory: Memory) -> None:
    graph = chat_graph(memory)
    for text in ("My daughter Mia goes to school in Hangzhou.", "Where does Mia go to school?"):
        out = graph.invoke({"messages": [HumanMessage(text)]}, context=ALICE)
    reply = out["messages"][-1].text
    assert "“My daughter Mia goes to school in Hangzhou.”" in reply
    assert "No model is set" in reply
    assert [step.role for step in memory.user("alice").steps()] == ["user", "user"]  # evidence is not stored again


def test_without_a_model_the_nearest_sentence_stands_first_and_unrelated_ones_are_left_out(memory: Memory) -> None:
    user = memory.user("alice")
    for text in (
        "We went to Brittany in July with the Bakers.",
        "I prefer tea to coffee and go to the gym on Mondays.",
        "The car needs new tyres before winter.",
        "My daughter Mia goes to school in Hangzhou.",
    ):
        user.remember(text)
    graph = chat_graph(memory, False)
    for asked, said in (
        ("Where does Mia go to school?", "“My daughter Mia goes to school in Hangzhou.”"),
        ("What does the car need?", "“The car needs new tyres before winter.”"),
    ):
        lines = graph.invoke({"messages": [HumanMessage(asked)]}, context=ALICE)["messages"][-1].text.split("\n")
        assert said in lines[1]
        assert "Brittany" not in "".join(lines)


def test_with_a_model_it_answers_by_it(memory: Memory) -> None:
    memory.user("alice").remember("My daughter Mia goes to school in Hangzhou.", thread_id="old")
    model = ScriptedChat(["In Hangzhou."])
    graph = chat_graph(memory, model, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    out = graph.invoke({"messages": [HumanMessage("Where does Mia go to school?")]}, thread, context=ALICE)
    assert out["messages"][-1].text == "In Hangzhou."
    assert "Hangzhou" in model.prompts[0][0].text


def test_it_uses_the_memorys_own_chat_model_unless_told_not_to(tmp_path: Path) -> None:
    models = {"chat": ScriptedChat(["Hello."])}
    with Memory.open(tmp_path / "home", models=models, settings=Settings(background=False)) as memory:
        for model, expected in ((None, "Hello."), (False, "Your message is stored.")):
            out = chat_graph(memory, model).invoke({"messages": [HumanMessage("Hi")]}, context=ALICE)
            assert out["messages"][-1].text.startswith(expected)
        with pytest.raises(ConfigError, match="provider"):
            chat_graph(memory, "gpt")


@pytest.mark.parametrize("model", [False, ScriptedChat(["Hi."])])
def test_it_needs_a_user(memory: Memory, model: Any) -> None:
    with pytest.raises(MissingUserError, match="context="):
        chat_graph(memory, model).invoke({"messages": [HumanMessage("Hi")]})


def test_a_conversation_goes_on_after_a_restart(chat: Chat) -> None:
    first = chat("My daughter Mia goes to school in Hangzhou.")
    assert "stored 1 message" in first
    assert "learned semantic" in first
    second = chat("Where does Mia go to school?")
    assert "1 message in thread 'chat'" in second
    assert "“My daughter Mia goes to school in Hangzhou.”" in second
    assert chat("Where does Mia go to school?", user="bob").count("Hangzhou") == 0


def test_with_a_model_the_reply_is_streamed_and_stored(chat: Chat, server: ScriptedServer) -> None:
    model = ("--model", "openai:scripted")
    chat("My daughter Mia goes to school in Hangzhou.", options=("--thread", "one", *model))
    shown = chat("Where does Mia go to school?", "And again?", options=("--thread", "two", *model))
    assert "I recall: My daughter Mia goes to school in Hangzhou." in shown
    assert shown.count("stored 2 messages") + shown.count("stored 1 message") >= 2
    last = server.requests[-1].messages
    assert [one["role"] for one in last] == ["system", "user", "assistant", "user"]
    again = chat(options=("--thread", "two", *model))
    assert "4 messages in thread 'two'; answers by openai:scripted" in again


def test_a_model_that_fails_ends_the_turn_and_not_the_conversation(chat: Chat, server: ScriptedServer) -> None:
    server.follow([Reply(status=400, error="too long"), Reply(content="Here.", plain=True)])
    shown = chat("I moved to Porto.", "Still there?", options=("--model", "openai:scripted"))
    assert "the reply failed" in shown
    assert "Here." in shown
    assert "3 messages" in chat()


def test_commands(chat: Chat) -> None:
    shown = chat(
        "My daughter Mia goes to school in Hangzhou.",
        "Where does Mia go to school?",
        "/why",
        "/forget 1",
        "/memory school in Hangzhou",
        "/undo",
        "/memory",
        "/research Where does Mia go to school?",
        "/model",
        "/help",
        "/quit",
        "this is never read",
    )
    assert "Recalled for: Where does Mia go to school?" in shown
    assert re.search(r"why: \S", shown)
    assert "Forgotten: step_" in shown
    assert "Undone: op_" in shown
    assert re.search(r"2 messages; .*semantic", shown)
    assert "No model" in shown
    assert "/research   QUESTION" in shown
    assert "3 messages" not in shown


def test_why_tells_of_each_hit_the_signals_and_its_rank_in_each(chat: Chat) -> None:
    shown = chat(
        "My daughter Mia goes to school in Hangzhou.",
        "The wifi password is Tr4mw4y-Blue.",
        "What is the wifi password?",
        "/why",
    )
    reasons = re.findall(r"why: (.+)", shown)
    assert len(reasons) == 2
    assert re.fullmatch(r"vector #1 · keyword #1 · recall #1 · late #1 \(\d+\.\d\d\)", reasons[0])
    assert re.match(r"vector #2 · ", reasons[1])
    assert "keyword" not in reasons[1]  # it shares no word with the question


def test_why_after_research_tells_of_the_research(chat: Chat) -> None:
    told = ("My daughter Mia goes to school in Hangzhou.", "My car is a green Fabia.", "Which car do I have?")
    shown = chat(*told, "/research Where does Mia go to school?", "/why", "/research What is my shoe size?", "/why")
    asked = re.findall(r"(?:Recalled|Researched|Research found nothing) for: (.+)", shown)
    assert asked == ["Where does Mia go to school?", "What is my shoe size?"]
    assert re.search(r"Researched for: Where does Mia.*\n +1  step .*\n +user: My daughter Mia goes", shown)
    again = chat("Which car do I have?", "/why")
    assert "Recalled for: Which car do I have?" in again


def test_what_undo_brings_back_is_not_told_as_learned(chat: Chat) -> None:
    shown = chat("The wifi password is Tr4mw4y-Blue.", "/memory", "/forget 1", "/undo", "/memory")
    assert "Undone: op_" in shown
    assert shown.count("1  vault  password of the wifi") == 2
    assert shown.count("learned vault") == 1


def test_the_numbers_of_reveal_are_those_of_the_last_reply_until_a_list_is_shown(chat: Chat) -> None:
    told = "The wifi password is Tr4mw4y-Blue."
    asked = "What is the wifi password?"
    shown = chat(told, asked, "/reveal 1", "/reveal 2")
    assert shown.count("Tr4mw4y-Blue") == 1
    assert "/reveal 2: the last list has 1 entries" in shown
    shown = chat(told, asked, "/why", "/reveal 1", "/memory", "/reveal 1", user="bob")  # a message, then a vault item
    assert shown.count("Tr4mw4y-Blue") == 2
    shown = chat("The car needs new tyres.", "/memory tyres", "/reveal 1", user="carol")
    assert re.search(r"/reveal 1: step_\S+ refers to no secret", shown)


@pytest.mark.parametrize("given", [",", ", ,"])
def test_forget_needs_more_than_commas(chat: Chat, given: str) -> None:
    shown = chat("The bridge is closed.", f"/forget {given}")
    assert "/forget needs numbers of a list" in shown
    assert "Nothing is forgotten yet" not in shown


@pytest.mark.parametrize("number", ["9" * 5_000, "²"])
def test_what_is_no_number_of_a_list_does_not_end_the_conversation(chat: Chat, number: str) -> None:
    shown = chat(f"/forget {number}", f"/reveal {number}", "The bridge is closed.")
    assert "stored 1 message" in shown
    assert "unexpected error" not in shown
    assert number[:1_000] not in shown or len(number) == 1


def test_a_secret_is_shown_on_request_and_to_nobody_else(chat: Chat, server: ScriptedServer) -> None:
    shown = chat("The wifi password is Tr4mw4y-Blue.", "/reveal", options=("--model", "openai:scripted"))
    assert "refers to no secret" in shown  # this model repeats only what was said in other threads
    assert "Tr4mw4y" not in shown
    shown = chat("Which wifi password?", "/reveal", options=("--model", "openai:scripted", "--thread", "later"))
    assert shown.index("/reveal shows the secret here") < shown.index("Tr4mw4y-Blue")
    assert not [one for one in server.requests if "Tr4mw4y" in str(one.messages)]


def test_without_a_model_a_secret_is_shown_on_request_too(chat: Chat) -> None:
    shown = chat("The wifi password is Tr4mw4y-Blue.", "What is the wifi password?", "/reveal")
    assert re.search(r"“The wifi password is \{\{vault:\S+\|password of the wifi\}\}\.”", shown)
    assert shown.index("/reveal shows the secret here") < shown.index("Tr4mw4y-Blue")


def test_what_the_model_forgot_comes_back_by_undo(chat: Chat, server: ScriptedServer) -> None:
    chat("Pieter wants to leave the clinic.", options=("--thread", "one"))
    forgetting: list[str] = []

    def script(request: Request) -> Reply:
        if not forgetting:
            forgetting.append("search")
            return Reply(tool="search_memory", content={"query": "Pieter"})
        if forgetting == ["search"]:
            forgetting.append("forget")
            ids = list(dict.fromkeys(re.findall(r"(?:step|item)_\w+", str(request.messages[-1]["content"]))))
            return Reply(tool="forget", content={"ids": ids})
        return Reply(content="Done.", plain=True)

    server.follow(script)
    model = ("--model", "openai:scripted", "--thread", "two")
    shown = chat("Forget what I told you of him.", "/memory Pieter", "/undo", "/memory Pieter", options=model)
    assert "forgotten by the model; /undo brings it back" in shown
    before, after = shown.split("Undone: op_")
    assert "wants to leave" not in before.partition("Done.")[2]
    assert "Pieter wants to leave the clinic." in after


def test_what_is_forgotten_is_shown_to_no_model_until_it_is_undone(chat: Chat, server: ScriptedServer) -> None:
    band = "Arjun plays bass in a band called Slow Lantern."
    replies = ("Slow Lantern, great name!", "Hello!", "Hello again!")
    server.follow([Reply(content=one, plain=True) for one in replies])
    lines = (band, "/forget Slow Lantern", "/forget 1 2", "Good morning.", "/undo", "Good day.")
    shown = chat(*lines, options=("--model", "openai:scripted"))
    assert "Nothing is forgotten yet." in shown
    assert "Forgotten: " in shown
    talk = [one for one in server.requests if one.messages[-1]["content"] in (band, "Good morning.", "Good day.")]
    said = [[one["content"] for one in request.messages if one["role"] != "system"] for request in talk]
    assert band not in said[1]
    assert band in said[2]


def test_forget_lists_what_words_may_mean_and_forgets_by_number_or_id(chat: Chat) -> None:
    aunts = [f"My aunt {name} grows tulips." for name in ("Ada", "Bea", "Cleo")]
    shown = chat(*aunts, "/forget tulips", "/forget 1", "/memory")
    assert "Nothing is forgotten yet. /forget NUMBER forgets one of these" in shown
    listed = re.search(r"^ 1  (\w+) “", shown, re.MULTILINE)
    assert listed is not None
    assert f"Forgotten: {listed[1]} “" in shown
    assert "holds nothing near" in chat("/forget zebras", user="nobody")
    both = chat("The bridge is closed.", "The lamp flickers.", "/memory bridge lamp", "/forget 1 2", user="bob")
    assert "Forgotten: step_" in both


def test_where_nothing_was_forgotten_the_model_still_has_the_ids_to_go_on_with(
    chat: Chat, server: ScriptedServer
) -> None:
    done = Reply(content="Which of it?", plain=True)
    server.follow([done, Reply(tool="find_to_forget", content={"query": "Arjun's band"}), done, done])
    said = ("What is the name of Arjun's band?", "Forget Arjun's band.", "Yes, that.")
    chat(*said, options=("--model", "openai:scripted", "--mode", "embedded"))  # the replies are for the chat alone
    assert re.search(r'"records": ?\[\{"id": ?"step_', server.requests[-1].text)


def test_what_was_recalled_is_shown_once_a_turn(chat: Chat, server: ScriptedServer) -> None:
    chat("My daughter Mia goes to school in Hangzhou.", "Please forget Arjun's band.", options=("--thread", "one"))
    forgetting = Reply(tool="find_to_forget", content={"query": "Arjun's band"})
    server.follow([forgetting, Reply(content="In Hangzhou.", plain=True)])
    shown = chat("Where does Mia go to school?", options=("--model", "openai:scripted", "--thread", "two"))
    assert shown.count("recalled ") == 1


def test_a_model_is_not_shown_what_was_quoted_while_there_was_none(chat: Chat, server: ScriptedServer) -> None:
    chat("Where does Mia go?", "/model openai:scripted", "And Tom?")
    [request] = server.requests
    assert "No model is set" not in request.text
    assert [one["content"] for one in request.messages if one["role"] == "user"] == ["Where does Mia go?", "And Tom?"]


def test_a_mode_that_costs_calls_learns_of_several_lines_in_one_call(chat: Chat, server: ScriptedServer) -> None:
    replies = [Reply(content=f"Noted {number}.", plain=True) for number in range(3)]
    server.follow([*replies, Reply(content="not JSON", plain=True)])
    said = ("My dog is called Rex.", "We live in Porto.", "I work at Siemens.")
    shown = chat(*said, options=("--model", "openai:scripted", "--mode", "single_call"))
    learning = [one for one in server.requests if one.method != "function_calling"]
    assert all(any(text in one.text for one in learning) for text in said)
    assert all(sum(text in one.text for text in said) == 3 for one in learning)  # the call, and its repair
    assert shown.index("Noted 2.") < shown.index("learned")


def test_what_changes_of_an_item_is_told(chat: Chat, server: ScriptedServer) -> None:
    values = ("Speaks Basque.", "Speaks Basque and Welsh.")
    calls = [Reply(tool="update_core", content={"label": "human", "value": value}) for value in values]
    done = Reply(content="Done.", plain=True)
    server.follow([calls[0], done, calls[1], done])
    shown = chat("Note Basque.", "And Welsh.", options=("--model", "openai:scripted"))
    assert "learned core: human: Speaks Basque.\n" in shown
    assert "changed core: human: Speaks Basque and Welsh." in shown


def test_wrong_commands_say_what_is_wrong(chat: Chat) -> None:
    shown = chat("/nope", "/forget", "/forget 9", "/undo", "/model gpt", "/forget step_nope")
    for told in (
        "there is no /nope",
        "/forget needs",
        "there is no list to take it from",
        "nothing was forgotten",
        "provider",
        "'step_nope'",
    ):
        assert told in shown


def test_the_served_graphs_are_those_of_langgraph_json() -> None:
    import hexamem.served as served

    root = Path(__file__).resolve().parents[1]
    graphs = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert graphs == {name: f"hexamem.served:{name}" for name in served.__all__}


async def test_the_served_graphs_share_the_memory_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hexamem.served as served

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(served, "_served", served._Served())
    given = {"messages": [HumanMessage("Mia goes to school in Hangzhou.")]}
    await (await served.chat()).ainvoke(given, context=ALICE)
    found = await (await served.research()).ainvoke({"question": "Where does Mia go to school?"}, context=ALICE)
    assert "Hangzhou" in found["answer"]
    assert await served.memory() is await served.memory()
    served._served._memory.close()
    assert (tmp_path / ".hexamem" / "ledger.sqlite3").exists()


def test_a_changed_fact_leaves_what_else_was_said_with_it(chat: Chat) -> None:
    shown = chat(
        "My sister Lea is coming on Friday with her dog Max.",
        "Actually, she's coming on Sunday.",
        "What is the name of the dog that is coming with Lea?",
    )
    assert "Max" in shown[shown.index("From memory:") :]


@pytest.mark.parametrize("said", ["Thanks!", "Ok", "好的", "Great, thank you so much", "👍"])
def test_thanks_are_noted_and_not_answered_with_memory(memory: Memory, said: str) -> None:
    user = memory.user("alice")
    user.remember("I have a beagle called Toast.")
    user.flush()
    out = chat_graph(memory, False).invoke({"messages": [HumanMessage(said)]}, context=ALICE)
    assert out["messages"][-1].text.startswith("Your message is stored.")
    assert "Toast" not in out["messages"][-1].text
    assert [step.content for step in user.steps()][-1] == said


def test_a_message_without_a_question_mark_is_stored_and_what_is_near_to_it_is_shown(memory: Memory) -> None:
    user = memory.user("alice")
    user.remember("I have a beagle called Toast.")
    user.flush()
    graph = chat_graph(memory, False)
    for said, near in (("We had soup today.", False), ("the beagle called Toast", True)):
        reply = graph.invoke({"messages": [HumanMessage(said)]}, context=ALICE)["messages"][-1].text
        assert reply.startswith("Your message is stored.")
        assert ("“I have a beagle called Toast.”" in reply) is near


def test_a_question_without_an_answer_is_told_so_with_the_nearest_lines(memory: Memory) -> None:
    graph = chat_graph(memory, False)
    asked = "Which submarine did Zebulon buy?"
    empty = graph.invoke({"messages": [HumanMessage(asked)]}, context=ALICE)["messages"][-1].text
    assert empty.startswith("Memory holds nothing on this.")
    memory.user("alice").remember("I have a beagle called Toast.")
    reply = graph.invoke({"messages": [HumanMessage(asked)]}, context=ALICE)["messages"][-1].text
    assert reply.startswith("Memory holds no clear answer. Nearest to it:\n- “I have a beagle called Toast.”")
    assert "submarine" not in reply


def test_without_a_model_a_request_to_forget_forgets_nothing_and_says_how_to(memory: Memory) -> None:
    user = memory.user("alice")
    user.remember("My sister Ilka is pregnant.")
    out = chat_graph(memory, False).invoke(
        {"messages": [HumanMessage("Forget that my sister is pregnant.")]}, context=ALICE
    )
    assert "/forget takes records out" in out["messages"][-1].text
    assert user.steps()[0].content == "My sister Ilka is pregnant."


def test_that_no_model_is_set_is_said_once_a_session(chat: Chat) -> None:
    for _ in range(2):
        assert chat("I like figs.", "What do I like?", "Thanks!").count("(No model is set") == 1


def test_that_no_model_is_set_is_said_once_a_thread(memory: Memory) -> None:
    graph = chat_graph(memory, False, checkpointer=InMemorySaver())
    for name in ("one", "two"):
        thread: Any = {"configurable": {"thread_id": name}}
        for line in ("I like figs.", "What do I like?", "Thanks!"):
            out = graph.invoke({"messages": [HumanMessage(line)]}, thread, context=ALICE)
        assert sum("(No model is set" in one.text for one in out["messages"]) == 1


def test_what_was_asked_before_is_no_evidence(chat: Chat) -> None:
    shown = chat("The dentist is on 4 May at 9.", "When is the dentist?", "When is my dentist appointment?")
    answer = shown[shown.rindex("recalled") :]
    assert "recalled 1" in answer
    assert "“When" not in answer
    assert "“The dentist is on 4 May at 9.”" in answer


def test_an_item_that_only_asks_is_not_listed_among_what_was_recalled(memory: Memory) -> None:
    alice = memory.user("alice")
    alice.remember("The dentist is on 4 May at 9.")
    alice.add({"kind": "episodic", "summary": "When is the dentist?", "occurred_at": "2026-04-01"})
    alice.add({"kind": "episodic", "summary": "Called the dentist.", "occurred_at": "2026-04-02"})
    asked = {"messages": [HumanMessage("When is my dentist appointment?")]}
    events = list(chat_graph(memory, False).stream(asked, context=ALICE, stream_mode="custom"))
    listed = " ".join(hit["text"] for event in events if event["stage"] == "recall" for hit in event["recall"]["hits"])
    assert "Called the dentist." in listed
    assert "When is the dentist?" not in listed


def test_an_animal_is_meant_by_its_kind(chat: Chat) -> None:
    shown = chat("My sister Lea is coming on Friday.", "I have a beagle called Toast.", "What's my dog's name?")
    answer = shown[shown.index("From memory:") :]
    assert "Toast" in answer
    assert "Lea" not in answer


def test_numbers_of_forget_end_with_the_next_message_and_the_words_are_shown(chat: Chat) -> None:
    shown = chat("I like figs.", "/memory figs", "My PIN is 4711.", "/forget 1", "/memory figs", "/forget 1")
    assert "/forget 1: there is no list to take it from" in shown
    assert re.search(r"Forgotten: step_\S+ “I like figs\.”", shown)
    assert shown.count("Forgotten:") == 1


def test_without_a_model_what_is_noted_of_just_what_was_asked_stands_among_the_best(chat: Chat) -> None:
    chat("I work as a nurse at the Cottage Hospital.", "I go swimming before work on Thursdays.")
    chat("I quit my old habit of smoking, I start a course as a school nurse next month.")
    said = chat("Where do I work?")
    assert "Cottage Hospital" in said.partition("From memory:")[2]


def test_a_new_memory_is_told_at_the_start_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[str] = []

    class Typing(io.StringIO):
        def readline(self, *_: Any) -> str:
            heard.append(capsys.readouterr().err)
            return super().readline()

    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", Typing("I like figs.\n/quit\n"))
        assert run(["chat", "--user", "alice", "--home", str(tmp_path / "home")]) == 0
    assert "there was no memory at" in heard[0]
    assert not any("there was no memory" in one for one in heard[1:])


@pytest.mark.parametrize("line", ["exit", "quit", "Exit", "QUIT", "/exit", "/QUIT"])
def test_exit_and_quit_alone_end_the_conversation_and_are_not_stored(chat: Chat, line: str) -> None:
    chat("I like figs.", line, "I like tea.")
    assert "1 message in thread" in chat("/quit")


@pytest.mark.parametrize("line", ["exit stage left", "I quit", "quit my job today", "exit.", "退出"])
def test_words_beside_exit_or_quit_make_a_message(chat: Chat, line: str) -> None:
    assert chat(line, "I like tea.").count("stored 1 message") == 2


def test_commands_are_read_in_any_case(chat: Chat) -> None:
    shown = chat("The bridge is closed.", "/MEMORY bridge", "/Forget 1", "/Undo", "/HELP")
    assert "Forgotten: step_" in shown
    assert "Undone: op_" in shown
    assert "show these commands" in shown
    assert "there is no /" not in shown


@pytest.mark.parametrize("line", ["/why 3", "/quit now", "/exit 1", "/HELP me"])
def test_a_command_that_takes_nothing_says_so(chat: Chat, line: str) -> None:
    shown = chat(line, "I like tea.")
    name = line.split(maxsplit=1)[0].casefold()
    assert f"{name} takes nothing behind it: type {name} alone" in shown
    assert "stored 1 message" in shown


def test_research_without_a_question_says_how_to_ask(chat: Chat) -> None:
    shown = chat("/research", "/research   ")
    assert shown.count("/research needs a question: /research QUESTION") == 2
    assert "question = ''" not in shown


def test_a_number_where_there_is_no_list_says_how_to_get_one(chat: Chat) -> None:
    told = "there is no list to take it from; type /why or /memory for one"
    assert f"/forget 1: {told}" in chat("/forget 1")
    shown = chat("The bridge is closed.", "/memory bridge", "/forget 1", "The lamp flickers.", "/forget 1", "/reveal 1")
    assert f"/forget 1: {told}" in shown
    assert f"/reveal 1: {told}" in shown
    shown = chat("/memory bridge", "/forget 9")
    assert "/forget 9: the last list has 1 entries" in shown
