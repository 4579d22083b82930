"""Forgetting: what is forgotten shows nowhere, what was derived from it goes with it, and undo brings it back."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from hexamem import Memory, MemoryMiddleware, Settings, UserMemory
from hexamem.cli import main
from hexamem.errors import InvalidInputError, NotFoundError, UndoRefusedError
from hexamem.forgotten_messages import as_read_now
from hexamem.memory_types import utc_now

from .conftest import Traces
from .ledger_databases import each_memory, each_user, new_database  # noqa: F401
from .manager_script import step_line
from .scripted_chat import ScriptedChat, calls
from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .word_labeler import WordLabeler

BAND = "Arjun plays bass in a band called Slow Lantern."
CELLAR = "They rehearse in our cellar every Thursday evening."
MARK = "[forgotten]"
TALKS = {
    "English": (["My walrus is called Bartholomew.", "Lovely!", "He likes herring a lot.", "Fine."], "bartholomew"),
    "Chinese": (["我家的海象标本放在阁楼。", "好的，记下了。"], "海象"),
}
WALRUS = ["scope:Bartholomew entity:Tusks is my walrus.", "Lovely!", "it likes herring.", "Fine."]


@pytest.fixture(scope="module")
def labelling_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with the labels and items of the embedded tier."""
    quiet = Settings(background=False)
    with Memory.open(tmp_path_factory.mktemp("labels"), embedder="static", settings=quiet) as memory:
        yield memory


@pytest.fixture
def alice(labelling_memory: Memory, request: pytest.FixtureRequest) -> UserMemory:
    """A user of it who has stored nothing yet."""
    return labelling_memory.user(request.node.name)


@pytest.fixture(scope="module")
def naming_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory whose labels, gists, summaries and resolved texts repeat the words of steps."""
    quiet = Settings(background=False)
    with Memory.open(
        tmp_path_factory.mktemp("names"), embedder="static", settings=quiet, labeler=WordLabeler
    ) as memory:
        yield memory


@pytest.fixture
def named(naming_memory: Memory, request: pytest.FixtureRequest) -> UserMemory:
    """Somebody of it who has said nothing yet."""
    return naming_memory.user(request.node.name)


def tell(user: UserMemory, said: Sequence[str], thread: str = "old") -> list[str]:
    """Store what a person and an assistant say in turn, and learn from it."""
    talk = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    ids = list(user.remember(talk, thread_id=thread).step_ids)
    user.flush()
    return ids


def fact(user: UserMemory, *step_ids: str) -> str:
    """The id of an item that cites these steps."""
    sources = [{"step_id": step_id} for step_id in step_ids]
    return user.add({"kind": "semantic", "name": "Arjun", "summary": "Plays in Slow Lantern", "sources": sources}).id


def left(user: UserMemory) -> list[str]:
    return [" ".join(step.content.split()) for step in user.steps()]


def derived(user: UserMemory) -> str:
    """All that is derived from steps."""
    labels = [one.model_dump(mode="json") for one in user.labels.list()]
    labels += [user.labels.of(step.id).model_dump(mode="json") for step in user.steps()]
    pages = [(page.header, page.memo, page.scope) for page in user.pages()]
    return json.dumps([labels, pages, user.light_memory(500).text], ensure_ascii=False)


def in_chroma(user: UserMemory) -> str:
    """The metadata of the vectors."""
    user.flush()
    with closing(sqlite3.connect(user.memory.home / "chroma" / "chroma.sqlite3")) as database:
        tables = ("embedding_metadata_array", "embedding_metadata")
        found = [database.execute(f"SELECT string_value FROM {table}").fetchall() for table in tables]
    return json.dumps(found, ensure_ascii=False).casefold()


EVERY_STRATEGY = ("learned", "rrf_neighbours", "label_density", "bm25")


def shown(user: UserMemory, *questions: str, strategies: Sequence[str] = EVERY_STRATEGY) -> str:
    """What is seen of a memory by whoever asks and looks around."""
    found = [user.recall(one, strategy=name) for one in questions for name in strategies]
    pages = [hit.text for one in questions for hit in user.search_pages(one)]
    hits = [one.model_dump(mode="json", exclude={"query", "id"}) for one in found]
    return (derived(user) + json.dumps([hits, pages], ensure_ascii=False)).casefold()


# -- what is forgotten ------------------------------------------------------------------------------------------------


def test_a_step_goes_with_the_items_that_rest_on_it_alone_and_undo_brings_them_back(each_user: UserMemory) -> None:
    first, second = each_user.remember([BAND, "By the sea"]).step_ids
    resting, elsewhere = fact(each_user, first), fact(each_user, first, second)
    done = each_user.forget([first])
    assert [change.target_id for change in done.changes] == [first, resting]
    assert (left(each_user), [one.id for one in each_user.items()]) == (["By the sea"], [elsewhere])
    (undone,) = each_user.undo(done.id)
    assert (left(each_user), [one.id for one in each_user.items()]) == ([BAND, "By the sea"], [resting, elsewhere])
    each_user.undo(undone.id)
    assert left(each_user) == ["By the sea"]


def test_a_thread_a_period_and_what_a_search_found_are_forgotten(alice: UserMemory) -> None:
    for thread in "abc":
        alice.remember([{"role": "user", "content": f"In {thread}", "timestamp": "2024-05-01T12:00:00Z"}], thread)
    alice.remember([{"role": "user", "content": "Later", "timestamp": "2024-06-01T12:00:00Z"}], "c")
    alice.forget(thread_id="a")
    assert left(alice) == ["In b", "In c", "Later"]
    alice.forget(thread_id="c", where={"until": "2024-05-31"})
    assert left(alice) == ["In b", "Later"]
    alice.forget([hit.id for hit in alice.recall("Later", 1).hits])
    assert left(alice) == ["In b"]


def test_what_cannot_be_forgotten_is_refused_and_nothing_of_the_call_is_done(alice: UserMemory) -> None:
    plain, gone = alice.remember(["I like figs.", "Go."], thread_id="t").step_ids
    alice.forget([gone])
    item = fact(alice)
    alice.remove(item)
    refused: list[tuple[dict[str, Any], type[Exception]]] = [
        ({}, InvalidInputError),
        ({"where": {}}, InvalidInputError),
        ({"ids": [plain], "thread_id": "t"}, InvalidInputError),
        ({"thread_id": "u"}, NotFoundError),
        *(({"ids": [plain, one]}, NotFoundError) for one in (gone, item, "step_nope")),
    ]
    before = len(alice.history())
    for arguments, error in refused:
        with pytest.raises(error):
            alice.forget(**arguments)
    assert len(alice.history()) == before


# -- what is derived from steps ---------------------------------------------------------------------------------------


@pytest.mark.embedded
@pytest.mark.parametrize("language", TALKS)
def test_the_words_show_nowhere_until_undo_brings_them_back(memory: Memory, language: str) -> None:
    said, word = TALKS[language]
    alice = memory.user("alice")
    steps = tell(alice, [f"{said[0]} {CELLAR}", *said[1:]])
    before = [alice.labels.of(step).intent for step in steps]
    assert word in shown(alice, word)
    done = alice.forget(steps[:1])
    assert word not in shown(alice, word, "what was there? 有什么？")
    assert word not in in_chroma(alice)
    alice.undo(done.id)
    assert [alice.labels.of(step).intent for step in steps] == before
    assert steps[0] in {hit.id for hit in alice.recall(said[0]).hits}


def test_a_label_named_by_forgotten_words_gets_a_neutral_name_until_it_is_named_again(named: UserMemory) -> None:
    steps = tell(named, WALRUS)
    assert "Bartholomew" in str(named.labels.show("Bartholomew"))
    assert named.labels.of(steps[2]).resolved_text == "Tusks likes herring."
    made = len(named.history())
    done = named.forget(steps[:1])
    assert named.labels.of(steps[1]).scope == "Scope 1"
    assert (named.labels.show("Scope 1").steps, named.labels.show("Scope 1").gist) == (3, "")
    assert (
        named.labels.of(steps[2]).resolved_text == "it likes herring."
    )  # the reference was resolved by the forgotten step
    assert not any(word in shown(named, "Lovely") for word in ("bartholomew", "tusks"))
    assert [one.id for one in named.history()[made:]] == [done.id]
    with pytest.raises(NotFoundError):
        named.labels.show("Bartholomew")
    named.undo(done.id)
    assert {named.labels.of(step).scope for step in steps} == {"Scope 1"}
    again = tell(named, ["scope:Bartholomew is back."], "u")
    assert named.labels.of(again[0]).scope == "Bartholomew"


def test_a_name_stays_that_another_step_says_or_a_person_gave(named: UserMemory) -> None:
    steps = tell(named, ["scope:Bartholomew is my walrus.", "Bartholomew, what a name!", "scope:Kayak leaks.", "Oh."])
    renamed = named.labels.rename("Kayak", "My boat")
    named.forget([steps[0], steps[2]])
    assert [named.labels.of(steps[at]).scope for at in (1, 3)] == ["Bartholomew", "My boat"]
    named.undo(renamed.id)  # the name before is gone from the history too
    assert "kayak" not in shown(named, "boat")
    named.forget([steps[1]])
    assert "bartholomew" not in shown(named, "walrus")


def test_corrections_of_labels_are_undone_after_forgetting_and_bring_no_word_back(named: UserMemory) -> None:
    steps = tell(named, [*WALRUS, "scope:Red_kayak is from Gunther."])
    merged = named.labels.merge("Bartholomew", "Red kayak")
    done = named.forget(steps[:1])
    named.undo(merged.id)
    assert named.labels.of(steps[1]).scope == "Scope 1"
    scope = named.labels.of(steps[1]).intent.scope
    renamed = named.labels.rename(scope, "Compliments")
    named.labels.pin("Red kayak")
    named.undo(renamed.id)
    named.forget([steps[4]])
    named.undo(done.id)
    assert {one.name for one in named.labels.list("scope")} == {"Scope 1", "Scope 2"}
    changes = [change for one in named.history() for change in one.changes if change.target in ("label", "intent")]
    assert not any(word in str(changes) for word in ("Bartholomew", "kayak"))


def test_an_export_shows_no_forgotten_word_in_labels_and_an_older_one_brings_none_back(
    named: UserMemory, tmp_path: Path
) -> None:
    steps = tell(named, WALRUS)
    named.export(tmp_path / "before.jsonl")
    done = named.forget(steps[:1])
    named.export(tmp_path / "after.jsonl")
    named.import_(tmp_path / "before.jsonl")
    assert "bartholomew" not in shown(named, "walrus")
    bob = named.memory.user("bob of the export")
    theirs = tell(bob, ["scope:Oslo is far.", "Great!"], "u")
    bob.forget(theirs[:1])
    bob.import_(tmp_path / "after.jsonl")  # a neutral name is no reason to join two labels
    names = {str(bob.labels.of(one).scope) for one in (theirs[1], steps[1])}
    assert len(names) == 2
    assert "bartholomew" not in shown(bob, "walrus")
    bob.undo(done.id)
    assert len(bob.steps()) == 1 + len(WALRUS)


def by_model(request: Request) -> Reply:
    """Names in words of the first step and in words of nobody, and a reference that the first step resolves."""
    numbers = [n for n in range(1, 9) if f"\n[{n}] " in request.text.rpartition("<steps>")[2]]
    scopes = {1: "Walrus names", 2: "Walrus names", 3: "Unspoken affairs", 4: "Unspoken affairs"}
    made = [
        step_line(number, scopes.get(number, "Boats"), ["Announce walrus"], {"it": "the walrus"}) for number in numbers
    ]
    gists = [{"scope": "Walrus names", "gist": "A walrus called Bartholomew"}]
    return Reply(content={"steps": made, "gists": gists, "operations": []})


def test_labels_that_a_model_made_go_with_the_words_too(
    tmp_path: Path, loopback_only: None, scripted_server: ServerFactory
) -> None:
    quiet = Settings(background=False, mode="single_call")
    model = scripted_server(by_model).chat_model(max_retries=0)
    with Memory.open(tmp_path, embedder="static", model=model, settings=quiet) as memory:
        alice = memory.user("alice")
        said = ["My walrus is called Bartholomew.", "Lovely!", "The papers came from my lawyer.", "Noted."]
        steps = tell(alice, [*said, "My boat leaks; it is sad.", "Which boats do you have?"])
        assert alice.labels.of(steps[4]).resolved_text == "My boat leaks; the walrus is sad."
        names = {one.name for one in alice.labels.list()}
        assert {"Walrus names", "Unspoken affairs", "Boats", "Announce walrus", "Walrus"} <= names
        alice.forget([steps[0], steps[2]])
        text = derived(alice).casefold()
        # "Unspoken" stands in no step, but the scope was named by one that is gone.
        assert not any(word in text for word in ("walrus", "bartholomew", "unspoken"))
        assert alice.labels.of(steps[5]).scope == "Boats"
        assert alice.labels.of(steps[1]).events == ("Event 1",)


# -- any order --------------------------------------------------------------------------------------------------------

WORDS = ("zebrafinch", "okapi", "narwhal", "pangolin", "quokka", "axolotl")
ACTIONS = ("say", "say", "say", "learn", "edit", "forget", "redact", "rename", "undo", "undo")
MOVES = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 20)), min_size=3, max_size=10)
quick = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def move(user: UserMemory, action: str, pick: int) -> str | None:
    """One thing that a person does, where there is something to do it to; the word if one was redacted."""
    steps, items, word = user.steps(), user.items("semantic"), WORDS[pick % len(WORDS)]
    if action == "say":
        text = f"scope:{word.capitalize()} entity:{word} sleeps. Then I saw it. And {word.upper()} ran."
        user.remember([text, ("assistant", "it is lovely.")], thread_id=f"t{pick % 2}")
    elif action == "learn" and steps:
        step = steps[pick % len(steps)]
        user.add({"kind": "semantic", "name": "seen", "summary": step.content, "sources": [{"step_id": step.id}]})
    elif action == "edit" and items:
        user.edit(items[pick % len(items)].id, summary="edited")
    elif action == "forget" and (records := [*steps, *items]):
        user.forget([records[pick % len(records)].id])
    elif action == "rename" and (labels := user.labels.list("scope")):
        user.labels.rename(labels[pick % len(labels)].id, f"Mine {pick}")
    elif action == "undo" and (made := [one for one in user.history() if one.undone_by is None]):
        user.undo(made[pick % len(made)].id, cascade=True)
    elif action == "redact":
        user.redact(word, caption="an animal")
        return word
    return None


@quick
@given(moves=MOVES, number=st.integers(0, 2**40))
@example(moves=[("say", 0), ("say", 1), ("rename", 0), ("forget", 0), ("undo", 1), ("forget", 0)], number=0)
@example(moves=[("say", 2), ("learn", 0), ("forget", 0), ("undo", 0), ("redact", 2), ("undo", 0)], number=1)
def test_whatever_is_done_only_words_that_are_said_show_and_redacted_ones_are_in_no_row(
    naming_memory: Memory, moves: list[tuple[str, int]], number: int
) -> None:
    user = naming_memory.user(f"mover {number} {utc_now()}")
    redacted: set[str] = set()
    for action, pick in moves:
        try:
            word = move(user, action, pick)
        except (NotFoundError, InvalidInputError, UndoRefusedError):
            continue
        redacted |= {word} if word is not None else set()
        said = " ".join([*(step.content for step in user.steps()), *(item.text for item in user.items())]).casefold()
        shown_now = shown(user, "what did I see?", strategies=("learned", "bm25"))
        assert not [one for one in WORDS if one in shown_now and one not in said]
        everything = (said + str([user.history(), user.labels.list()])).casefold()
        assert not [one for one in redacted if one in everything and WORDS[pick % len(WORDS)] != one]
        redacted = {one for one in redacted if one not in said}  # it may be said again


# -- the tool, the prompts of an agent, the command line --------------------------------------------------------------


def forgetting(messages: list[BaseMessage]) -> Any:
    """A model that lists what says "Slow Lantern" where it is to forget it, and forgets all of that."""
    last = messages[-1]
    if isinstance(last, HumanMessage):
        return calls("find_to_forget", query="Slow Lantern") if "forget" in last.text else "I see."
    if last.name == "find_to_forget":
        records = json.loads(str(last.text))["records"]
        return calls("forget", ids=[one["id"] for one in records if "Slow Lantern" in one["text"]])
    return "It is forgotten."


def prompted(prompt: Sequence[BaseMessage]) -> str:
    return "\n".join(f"{one.content!r} {getattr(one, 'tool_calls', '')!r}" for one in prompt)


@pytest.mark.parametrize("checkpointer", [True, False], ids=["with a checkpointer", "with the history sent again"])
def test_what_was_forgotten_stands_in_no_later_prompt_of_any_thread(alice: UserMemory, checkpointer: bool) -> None:
    model = ScriptedChat(forgetting)
    agent: Any = create_agent(
        model, middleware=[MemoryMiddleware(alice.memory)], checkpointer=InMemorySaver() if checkpointer else None
    )
    kept: list[Any] = []

    def say(text: str, thread: str = "t") -> list[BaseMessage]:
        given = [HumanMessage(text)] if checkpointer else [*kept, {"role": "user", "content": text}]
        config = {"configurable": {"thread_id": thread}}
        out: list[BaseMessage] = agent.invoke({"messages": given}, config, context={"user": alice.name})["messages"]
        kept[:] = [*given, {"role": "assistant", "content": out[-1].text}]
        return out

    say(BAND)
    say("Please forget that about the band.")
    (forgotten,) = [done for done in alice.history() if done.kind == "forget"]
    assert "Slow Lantern" in prompted(model.prompts[1])
    out = say("What is the band of my brother called?")
    assert "Slow Lantern" not in prompted(model.prompts[-1])
    if checkpointer:
        assert BAND in [one.text for one in out]  # the host's own state is left alone
        (undone,) = alice.undo(forgotten.id)
        say("And again.")
        assert "Slow Lantern" in prompted(model.prompts[-1][1:])
        alice.undo(undone.id)
    kept.clear()
    say("What is the band of my brother called?", "another thread")
    assert "Slow Lantern" not in prompted(model.prompts[-1])


def test_calls_of_tools_keep_their_results_and_lose_their_words() -> None:
    call = AIMessage("I look up Slow Lantern.", id="a", tool_calls=[{"name": "web", "args": {"q": "Slow"}, "id": "1"}])
    messages: list[Any] = [HumanMessage("Find the band.", id="h"), call, HumanMessage("Thanks.", id="i")]
    read = as_read_now(messages, ["a", "i"])
    assert [one.content for one in read] == ["Find the band.", MARK, "Thanks."]
    assert [(one["name"], one["args"], one["id"]) for one in read[1].tool_calls] == [("web", {}, "1")]
    assert call.tool_calls[0]["args"] == {"q": "Slow"}
    assert all(after is before for after, before in zip(as_read_now(messages, []), messages, strict=True))


def test_of_what_was_listed_to_be_forgotten_the_ids_stay_and_where_nothing_was_forgotten_all() -> None:
    listed = {"records": [{"id": "step_1", "kind": "step", "text": "Slow Lantern is loud."}]}
    call = AIMessage("", id="a", tool_calls=[{"name": "find_to_forget", "args": {"query": "Slow"}, "id": "1"}])
    answer = ToolMessage(json.dumps(listed), name="find_to_forget", tool_call_id="1", id="t")
    done = json.dumps({"forgotten": ["step_2"], "undo_with": ["op_1"]})
    again = AIMessage("", id="b", tool_calls=[{"name": "forget", "args": {"ids": ["step_2"]}, "id": "2"}])
    went = ToolMessage(done, name="forget", tool_call_id="2", id="u")
    messages: list[Any] = [HumanMessage("Forget the band.", id="h"), call, answer]
    last = HumanMessage("Yes.", id="i")
    assert as_read_now([*messages, again, went, last], [])[2].content == f'{MARK} {{"records": ["step_1"]}}'
    assert as_read_now([*messages, last], [])[2] is answer


@pytest.mark.embedded
def test_the_command_line_shows_no_forgotten_word_and_forgets_by_id_thread_and_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], traces: Traces
) -> None:
    with Memory.open(tmp_path, settings=Settings(background=False)) as memory:
        steps = tell(memory.user("alice"), TALKS["English"][0])

    def run(*words: str) -> str:
        assert main([*words, "--user", "alice", "--home", str(tmp_path)]) == 0
        return capsys.readouterr().out.casefold()

    looks = [("labels", "list"), ("recall", "lovely", "--why"), ("show", steps[1])]
    assert "bartholomew" in "".join(run(*words) for words in looks)
    done = json.loads(run("forget", steps[0], "--json"))
    assert "bartholomew" not in "".join(run(*words) for words in looks)
    run("undo", done["id"])
    assert "bartholomew" in run("show", steps[0])
    run("forget", "--thread", "old", "--since", "2020-01-01")
    assert "lovely" not in run("steps")
