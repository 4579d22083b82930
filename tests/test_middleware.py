"""MemoryMiddleware in agents made by ``create_agent``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, MemoryMiddleware, MiddlewareSettings, PromptSettings, memory_tools
from hexamem.aligning import MEMORY_TOOLS
from hexamem.errors import ConfigError

from .scripted_chat import ALICE, Reply, ScriptedChat, ask, calls, stored, thread

SECRET = "hunter2-Xy99"


@pytest.fixture
def memory(plain_memory: Memory) -> Memory:
    return plain_memory


def agent(
    memory: Memory, script: Any, tools: Any = (), checkpointer: Any = None, **settings: Any
) -> tuple[Any, ScriptedChat]:
    model = ScriptedChat(script)
    chosen = MiddlewareSettings(**settings) if settings else None
    built = create_agent(
        model,
        list(tools),
        system_prompt="Be kind.",
        middleware=[MemoryMiddleware(memory, settings=chosen)],
        checkpointer=checkpointer,
    )
    return built, model


@dataclass
class AppContext:
    user_id: str


@pytest.mark.parametrize(
    ("schema", "context", "config"),
    [
        (None, {"user_id": "alice"}, None),
        (None, AppContext("alice"), None),
        (AppContext, AppContext("alice"), None),
        (AppContext, {"user_id": "alice"}, None),
        (None, None, {"configurable": {"user_id": "alice"}}),
    ],
)
def test_a_run_names_its_user_with_or_without_a_context_schema(
    memory: Memory, schema: Any, context: Any, config: Any
) -> None:
    middleware = [MemoryMiddleware(memory, settings=MiddlewareSettings(tools=()))]
    built = create_agent(ScriptedChat(["Noted."]), middleware=middleware, context_schema=schema)
    built.invoke(ask("I moved to Porto."), config, context=context)
    assert stored(memory) == ["I moved to Porto.", "Noted."]


def test_a_model_that_raises_loses_no_message_of_the_user(memory: Memory) -> None:
    built, model = agent(memory, [RuntimeError("overloaded"), "Here I am."], checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="overloaded"):
        built.invoke(ask("I moved to Porto."), thread(), context=ALICE)
    assert stored(memory) == ["I moved to Porto."]
    built.invoke(None, thread(), context=ALICE)  # taken up again where it failed
    assert stored(memory) == ["I moved to Porto.", "Here I am."]
    assert len(model.prompts) == 2


def test_what_a_failed_run_left_out_is_stored_in_its_place_at_the_next_run(memory: Memory) -> None:
    @tool
    def clock() -> str:
        """Tell the time."""
        return "10:15"

    script: list[Reply] = [calls("clock"), RuntimeError("overloaded"), "A quarter past ten."]
    built, _ = agent(memory, script, [clock], InMemorySaver())
    with pytest.raises(RuntimeError):
        built.invoke(ask("What time is it?"), thread(), context=ALICE)
    assert stored(memory) == ["What time is it?"]
    built.invoke(ask("Well?"), thread(), context=ALICE)
    assert stored(memory) == ["What time is it?", "", "10:15", "Well?", "A quarter past ten."]


def test_memory_is_added_to_the_system_message_as_data_and_never_to_the_history(memory: Memory) -> None:
    memory.user("alice").remember("My daughter Mia goes to school in Hangzhou.", thread_id="old")
    built, model = agent(memory, ["In Hangzhou."], checkpointer=InMemorySaver())
    out = built.invoke(ask("Where does Mia go to school?"), thread(), context=ALICE)
    [prompt] = model.prompts
    assert isinstance(prompt[0], SystemMessage)
    assert prompt[0].text.startswith("Be kind.\n\n<memory>")
    assert "Mia goes to school in Hangzhou" in prompt[0].text
    assert [message.text for message in out["messages"]] == ["Where does Mia go to school?", "In Hangzhou."]
    assert set(out) == {"messages"}
    assert "<memory>" not in str(stored(memory))
    model = ScriptedChat(["Yes."])
    block = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
    built = create_agent(model, system_prompt=SystemMessage([block]), middleware=[MemoryMiddleware(memory)])
    built.invoke(ask("Where does Mia go to school?"), context=ALICE)
    first, second = model.prompts[0][0].content
    assert first == block
    assert second["text"].startswith("<memory>")


def test_it_recalls_again_when_the_topic_shifts_and_only_then(memory: Memory) -> None:
    statements = ["The red bicycle stands in the cellar.", "Aunt Rosa is allergic to walnuts in cakes."]
    for user in ("alice", "bob"):
        memory.user(user).remember(statements, thread_id="old")

    @tool
    def look(what: str) -> str:
        """Look something up."""
        return what

    def run(user: str, first: str) -> list[str]:  # a user each: what one run called is in no recall of the other
        built, model = agent(
            memory, [calls("look", what=first), "Done."], [look], prompt=PromptSettings(k=1), topic_shift=0.2
        )
        events = built.stream(
            ask("Where does the red bicycle stand?"), thread(first), context={"user": user}, stream_mode="custom"
        )
        stages = [entry["stage"] for entry in events if entry["stage"] == "recall"]
        return [*stages, model.prompts[-1][0].text]

    shifted = run("alice", "a cake with walnuts for aunt Rosa")
    assert len(shifted) == 3
    assert "walnuts" in shifted[-1]
    same = run("bob", "the red bicycle stands over there")
    assert len(same) == 2
    assert "bicycle stands in the cellar" in same[-1]


def test_it_offers_the_tools_and_does_not_store_what_they_gave(memory: Memory) -> None:
    memory.user("alice").remember("Mia goes to school in Hangzhou.", thread_id="old")
    built, model = agent(memory, [calls("search_memory", query="Mia"), "In Hangzhou."])
    out = built.invoke(ask("Where is Mia?"), thread(), context=ALICE)
    assert set(model.offered) == MEMORY_TOOLS == {entry.name for entry in memory_tools(memory)}
    result = json.loads(out["messages"][2].text)["results"]
    assert [entry["text"] for entry in result] == ["Mia goes to school in Hangzhou."]  # not what the conversation shows
    assert stored(memory)[1:] == ["Where is Mia?", "In Hangzhou."]


def test_settings_choose_what_goes_into_a_prompt(memory: Memory) -> None:
    alice = memory.user("alice")
    alice.add({"kind": "core", "label": "human", "value": "Alice, a cellist."})
    alice.remember("Mia goes to school in Hangzhou.", thread_id="old")
    built, model = agent(memory, ["Yes."], tools=(), prompt=PromptSettings(core=False, kinds=("core",)))
    built.invoke(ask("Where does Mia go to school?"), context=ALICE)
    assert "Alice, a cellist" in model.prompts[0][0].text  # recalled, as the only kind that is
    assert "Hangzhou" not in model.prompts[0][0].text
    assert model.offered == sorted(MEMORY_TOOLS)
    with pytest.raises(ConfigError, match="tokens"):
        PromptSettings(tokens=5)
    with pytest.raises(ConfigError, match="topic_shift"):
        MiddlewareSettings(topic_shift=2)


def prompt_of(memory: Memory, question: str, user: str = "alice", **settings: Any) -> str:
    """The first system message of a run in a new thread."""
    built, model = agent(memory, ["Yes."], **settings)
    built.invoke(ask(question), thread("later"), context={"user": user})
    return model.prompts[0][0].text


def test_the_day_is_in_a_prompt_unless_switched_off_also_where_nothing_is_recalled(memory: Memory) -> None:
    for today in (True, False):
        text = prompt_of(memory, "Where does Mia go to school?", f"{today}", prompt=PromptSettings(today=today))
        assert (re.search(r"Today is \w+day, [\d-]+\.", text) is not None) is today


def test_hits_are_in_order_with_the_users_times_and_the_days_of_events(memory: Memory) -> None:
    alice = memory.user("alice", timezone="Europe/Copenhagen")
    stated = [("Leo and Alba are four years old.", "09:00"), ("Leo and Alba are five, they had a birthday.", "10:00")]
    steps = [
        alice.remember({"role": "user", "content": text, "timestamp": f"2024-11-22T{at}Z"}, "old").step_ids[0]
        for text, at in stated
    ]
    event = {"kind": "episodic", "sources": [{"step_id": steps[0]}]}
    texts = (
        ("Leo and Alba turned older on 2024-12-09", "2024-12-09"), ("The party of Leo and Alba", "2024-12-14"),
        ("Dinner of Leo and Alba", "2024-12-14T19:00"),
    )  # fmt: skip
    for text, day in texts:
        alice.add({**event, "summary": text, "occurred_at": day})
    for summary, day, precision in (
        ("Alba and Leo moved", "1996-03-01", "month"),
        ("Leo and Alba learned to swim", "2023-01-01", "year"),
        ("Leo and Alba camped", "2024-06-01", "season"),
        ("Alba and Leo were ill", "2024-11-11", "week"),
    ):
        alice.add({**event, "summary": summary, "occurred_at": day, "metadata": {"precision": precision}})
    alice.add({**event, "kind": "semantic", "name": "Leo", "summary": "Leo has a sister, Alba"})
    text = prompt_of(memory, "How old are Leo and Alba?", prompt=PromptSettings(k=20))
    lines = [line for line in text.splitlines() if line.startswith("[")]
    assert (lines[0], lines[-1]) == (
        "[2024-11-22 10:00] user: Leo and Alba are four years old.",
        "[2024-11-22 11:00] user: Leo and Alba are five, they had a birthday.",
    )
    assert set(lines[1:-1]) == {
        "[2024-11-22 10:00] (episodic) Leo and Alba turned older on 2024-12-09",
        "[2024-11-22 10:00] (episodic, on 2024-12-14) The party of Leo and Alba",
        "[2024-11-22 10:00] (episodic, on 2024-12-14 19:00) Dinner of Leo and Alba",
        "[2024-11-22 10:00] (episodic, in 1996-03) Alba and Leo moved",
        "[2024-11-22 10:00] (episodic, in 2023) Leo and Alba learned to swim",
        "[2024-11-22 10:00] (episodic, in summer 2024) Leo and Alba camped",
        "[2024-11-22 10:00] (episodic, in week of 2024-11-11) Alba and Leo were ill",
        "[2024-11-22 10:00] (semantic) Leo has a sister, Alba",
    }
    bob = memory.user("bob")
    bob.remember([f"Step {word} of the valve check" for word in ("one", "two", "three", "four")], thread_id="old")
    text = prompt_of(memory, "What is step three of the valve check, and step two?", "bob")
    assert re.findall(r"Step (\w+) of", text) == ["one", "two", "three", "four"]  # said at once, in order


def test_each_hit_is_one_entry_without_index_words_and_repetitions(memory: Memory) -> None:
    alice = memory.user("alice", timezone="Europe/Berlin")
    event = {
        "kind": "episodic",
        "summary": "Party at the zoo",
        "occurred_at": "2024-03-01",
        "event_type": "celebration",
    }
    alice.add(event)
    alice.add({**event, "summary": "Cake for the party", "occurred_at": "2024-03-01T15:30", "actor": "Mark"})
    alice.add({"kind": "semantic", "name": "Zoo", "summary": "The zoo allows a party of forty"})
    text = prompt_of(memory, "When is the party at the zoo?")
    lines = text.splitlines()
    assert "(episodic, on 2024-03-01) Party at the zoo" in lines
    assert "(episodic, on 2024-03-01 15:30) Cake for the party (Mark)" in lines
    assert [line.endswith("(semantic) The zoo allows a party of forty") for line in lines].count(True) == 1
    assert "celebration" not in text
    bob = memory.user("bob")
    reply = {"role": "assistant", "content": "For the window:\n\n- pigs of marzipan\n- a sleigh"}
    [step] = bob.remember([reply], thread_id="old").step_ids
    bob.add({"kind": "procedural", "summary": "Marzipan pigs", "steps": ["Knead it", "Cut it"]})
    for content in ("pigs of marzipan", "Almonds\n  Sugar"):  # the first is in the words of its step
        bob.add({"kind": "resource", "title": "Marzipan", "content": content, "sources": [{"step_id": step}]})
    text = prompt_of(memory, "How do I make the pigs of marzipan for the window?", "bob")
    assert "assistant: For the window: / - pigs of marzipan / - a sleigh\n" in text
    assert "(procedural) Marzipan pigs / Knead it / Cut it\n" in text
    assert "(resource) Marzipan\n  Almonds\n    Sugar\n" in text
    assert text.count("(resource)") == 1


def test_core_memory_is_what_holds_now_with_its_label_once_and_what_has_ended_is_marked(memory: Memory) -> None:
    alice = memory.user("alice")
    over, on = {"valid_to": "2024-03-01"}, {"valid_to": "2999-03-01"}
    alice.add({"kind": "core", "label": "languages", "value": "Learns Welsh", **over})
    alice.add({"kind": "core", "label": "hobbies", "value": "Plays the oboe", **on})
    alice.add({"kind": "core", "label": "partner", "value": "Partner: Tom"})
    alice.add({"kind": "semantic", "name": "Welsh lessons", "summary": "Welsh lessons are in Cardiff", **over})
    alice.add({"kind": "semantic", "name": "oboe", "summary": "Oboe lessons are in Leeds", **on})
    prompt = prompt_of(memory, "Where are my Welsh and oboe lessons?")
    assert "<core>\nhobbies: Plays the oboe\nPartner: Tom\n</core>" in prompt
    assert "(semantic) Welsh lessons are in Cardiff (no longer believed)\n" in prompt
    assert "(semantic) Oboe lessons are in Leeds\n" in prompt
    then = alice.recall("Where are my Welsh lessons?", as_of="2024-02-01", kinds="semantic").hits
    assert [hit.superseded for hit in then if "Welsh" in hit.text] == [False]


def test_secrets_reach_neither_the_model_nor_memory_nor_the_state(memory: Memory) -> None:
    @tool
    def account() -> dict[str, str]:
        """Show the account."""
        return {"user": "alice", "password": "other3-Zz77"}

    saver = InMemorySaver()
    built, model = agent(memory, [calls("account"), "Noted."], [account], saver)
    out = built.invoke(ask(f"My mail password is {SECRET}."), thread(), context=ALICE)
    assert "{{vault:" in out["messages"][0].text
    for secret in (SECRET, "other3-Zz77"):
        assert secret not in model.shown()
        assert secret not in repr(out)
        assert secret not in json.dumps([step.model_dump(mode="json") for step in memory.user("alice").steps()])
    assert SECRET not in repr(saver.get_tuple(thread()))
    [item, *_] = memory.user("alice").items("vault")
    assert memory.user("alice").reveal(item.id, reason="test") == SECRET


def test_a_host_may_keep_secrets_out_of_its_first_checkpoint_too_or_show_them_to_the_model(memory: Memory) -> None:
    from hexamem import redact_messages

    alice, saver = memory.user("alice"), InMemorySaver()
    built, _ = agent(memory, ["Noted."], checkpointer=saver)
    given = [HumanMessage(f"My mail password is {SECRET}.", id="m1"), AIMessage("Hm.")]
    hidden = redact_messages(alice, given)
    assert hidden[0].id == "m1"
    assert hidden[1] is given[1]
    built.invoke({"messages": hidden}, thread(), context=ALICE)
    assert SECRET not in repr(list(saver.list(thread()))) + repr(saver.storage) + repr(saver.blobs) + repr(saver.writes)
    [item] = alice.items("vault")
    assert alice.reveal(item.id, reason="test") == SECRET
    built, model = agent(memory, ["Noted."], hide_secrets=False)
    built.invoke(ask(f"My mail password is {SECRET}."), thread("shown"), context=ALICE)
    assert SECRET in model.shown()
    assert SECRET not in str(stored(memory))


async def test_it_runs_under_asyncio(memory: Memory) -> None:
    memory.user("alice").remember("My daughter Mia goes to school in Hangzhou.", thread_id="old")
    built, model = agent(memory, [calls("search_memory", query="Mia"), "In Hangzhou."])
    with blockbuster_ctx("hexamem"):
        await built.ainvoke(ask("Where does Mia go to school?"), thread(), context=ALICE)
    assert "Hangzhou" in model.prompts[0][0].text
    assert stored(memory)[1:] == ["Where does Mia go to school?", "In Hangzhou."]


def test_a_recall_that_fails_does_not_stop_the_agent(memory: Memory) -> None:
    built, _ = agent(memory, ["Hi."], prompt=PromptSettings(strategy="no such strategy"))
    events = list(built.stream(ask("Hello"), context=ALICE, stream_mode="custom"))
    assert "no such strategy" in events[1]["degraded"][0]
    assert stored(memory) == ["Hello", "Hi."]


def test_a_summary_that_takes_the_place_of_old_messages_is_not_stored(memory: Memory) -> None:
    saver, model = InMemorySaver(), ScriptedChat(lambda messages: f"Reply {len(messages)}")
    summarizer = ScriptedChat(["They talked."])
    shortener = SummarizationMiddleware(summarizer, trigger=("messages", 4), keep=("messages", 2))
    settings = MiddlewareSettings(tools=())
    built = create_agent(model, middleware=[MemoryMiddleware(memory, settings=settings), shortener], checkpointer=saver)
    for turn in range(5):
        built.invoke(ask(f"Message {turn}"), thread(), context=ALICE)
    assert summarizer.prompts
    assert [step.content for step in memory.user("alice").steps() if step.role == "user"] == [
        f"Message {turn}" for turn in range(5)
    ]
    assert len(stored(memory)) == 10


async def test_a_model_that_can_call_no_tools_is_refused_with_what_to_do(memory: Memory) -> None:
    model = FakeListChatModel(responses=["Noted."])
    built = create_agent(model, middleware=[MemoryMiddleware(memory)])
    given: Any = {"messages": [HumanMessage("I moved to Porto.")]}
    with pytest.raises(ConfigError, match=r"FakeListChatModel cannot call tools .*MiddlewareSettings\(tools=\(\)\)"):
        built.invoke(given, context={"user": "alice"})
    with pytest.raises(ConfigError, match="cannot call tools"):
        await built.ainvoke(given, context={"user": "alice"})
    bare = create_agent(model, middleware=[MemoryMiddleware(memory, settings=MiddlewareSettings(tools=()))])
    assert bare.invoke(given, context={"user": "alice"})["messages"][-1].text == "Noted."
