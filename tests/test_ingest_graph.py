"""The write path as a graph: what it draws, streams and stores, when batches close, sync and async alike."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from hexamem import Memory, Settings, UserMemory, memory_graph
from hexamem.doctor import examine
from hexamem.errors import ConfigError, MissingUserError
from hexamem.graphs.ingest import ingest_graph
from hexamem.graphs.ingest_batches import read_managed
from hexamem.graphs.ingest_state import IngestContext, IngestState
from hexamem.stores.ledger.jobs import claim, enqueue, enqueue_bare
from hexamem.stores.ledger.schema import jobs

from .manager_script import answer, steps_in
from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

MANAGERS = {f"{kind}_manager" for kind in ("core", "episodic", "semantic", "procedural", "resource", "vault")}
TOLD = "My name is Orla and I live in Cork."


def opened(home: Path, **settings: Any) -> Memory:
    given = {name: settings.pop(name) for name in ("model", "models") if name in settings}
    return Memory.open(home, settings=Settings(**{"background": False, "mode": "embedded", **settings}), **given)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory that learns by rules, without the background thread."""
    with opened(tmp_path / "home", mode="embedded") as found:
        yield found


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    return memory.user("alice")


def texts(user: UserMemory) -> list[str]:
    return [item.text for item in user.items()]


def run(memory: Memory, user: str = "alice", **given: Any) -> dict[str, Any]:
    return memory.ingesting.graph().invoke(given, context=IngestContext(user=user))


# Drawing and streaming.


def test_the_graph_shows_its_real_nodes_and_managers_with_a_model_as_agents(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    model = scripted_server(answer).chat_model()
    for mode, managers in (("embedded", MANAGERS), ("agents", MANAGERS), ("single_call", {"single_call"})):
        with opened(tmp_path / mode, mode=mode, model=model) as memory:
            plain, deep = (memory.ingesting.graph().get_graph(xray=xray) for xray in (False, True))
            whole = memory_graph(memory).get_graph(xray=True)
        assert set(plain.nodes) == {"__start__", "record", "label", "route", *managers, "apply", "project", "__end__"}
        assert {(one.source, one.target) for one in plain.edges if one.source in managers} == {
            (one, "apply") for one in managers
        }
        inner = {f"{manager}:{node}" for manager in MANAGERS for node in ("model", "tools")}
        assert (inner <= set(deep.nodes)) == (mode == "agents")
        assert ("remember:core_manager:tools" in whole.nodes) == (mode == "agents")


def test_the_agents_of_managers_leave_no_words_of_steps_in_the_hosts_checkpoints_and_stream(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, mode="agents", model=server.chat_model()) as memory:
        memory.user("alice").remember(["FACT Orla: is a vet", "CODE garage: swordfish#77"])
        host = StateGraph(IngestState, SimpleNamespace)
        host.add_node("memory", memory.ingesting.graph())
        host.add_edge(START, "memory")
        saver = InMemorySaver()
        run: Any = {"configurable": {"thread_id": "1"}}
        streamed = list(
            host.compile(checkpointer=saver).stream(
                {"close": True}, run, context=SimpleNamespace(user="alice"), stream_mode=["messages", "values"]
            )
        )
        assert {item.kind for item in memory.user("alice").items()} == {"semantic", "vault"}
    assert "Orla" in repr(saver.blobs)
    assert "swordfish" not in repr([*saver.list(None), saver.blobs, saver.writes, streamed])
    assert {mode for mode, _ in streamed} == {"values"}


def test_an_interrupt_passes_through_the_agent_of_a_manager(tmp_path: Path, scripted_server: ServerFactory) -> None:
    def script(request: Request) -> Reply:
        return Reply(calls=[("search_memory", {"query": "Orla"})]) if request.manager else answer(request)

    with opened(tmp_path, mode="agents", model=scripted_server(script).chat_model()) as memory:
        memory.user("alice").remember("FACT Orla: is a vet")
        parts = memory.ingesting.parts()

        def nearest(user: str, texts: Any, kinds: Any) -> Any:
            return interrupt("search?") if texts == ["Orla"] else parts.nearest(user, texts, kinds)

        graph = ingest_graph(replace(parts, nearest=nearest))
        done = graph.invoke({"close": True}, context=IngestContext(user="alice"))
        assert done["__interrupt__"][0].value == "search?"
        assert memory.ingesting.waiting("alice") == 1


def test_each_node_tells_what_it_does(memory: Memory) -> None:
    graph = memory.ingesting.graph()
    given = {"messages": [TOLD], "close": True}
    events = list(graph.stream(given, context=IngestContext(user="alice"), stream_mode="custom"))
    stages = list(dict.fromkeys(event["stage"] for event in events))
    assert stages == ["record", "label", "route", "manage", "apply", "project"]
    assert {event["user"] for event in events} == {"alice"}
    [applied] = [event for event in events if event["stage"] == "apply"]
    assert any(one["kind"] == "core" and "Cork" in one["text"] and one["operation"] for one in applied["remembered"])


def test_a_manager_streams_beside_the_others_and_the_state_is_plain_json(memory: Memory) -> None:
    graph = memory.ingesting.graph()
    given = {"messages": [TOLD, "On 24 May 2025 I row in the regatta at Sligo."], "close": True}
    values = list(graph.stream(given, context=IngestContext(user="alice"), stream_mode="values"))
    assert json.loads(json.dumps(values[-1])) == values[-1]
    assert set(values[-1]) <= set(IngestState.__annotations__)


# Batches.


def test_remember_only_queues_and_flush_manages(alice: UserMemory) -> None:
    alice.remember(TOLD)
    [job] = alice.jobs()
    assert (job.kind, job.status) == ("manage", "waiting")
    assert job.due_at > job.created_at
    assert alice.items() == []
    assert alice.flush()
    assert any("Cork" in text for text in texts(alice))
    assert alice.jobs() == []


def test_there_is_one_job_a_user_however_much_is_said(memory: Memory, alice: UserMemory) -> None:
    for number in range(30):
        alice.remember(f"message {number}")
    memory.user("bob").remember("hello")
    assert [len(memory.user(name).jobs()) for name in ("alice", "bob")] == [1, 1]


def test_a_full_batch_is_due_at_once(memory: Memory, alice: UserMemory) -> None:
    alice.remember([f"message {number}" for number in range(memory.settings.batch_size - 1)])
    assert not memory.runner.run_one("alice")
    alice.remember("the last one")
    assert memory.runner.run_one("alice")


def test_a_batch_closes_when_the_talk_rests(tmp_path: Path) -> None:
    with opened(tmp_path, batch_idle=0) as memory:
        user = memory.user("alice")
        user.remember(TOLD)
        assert memory.runner.run_one("alice")
        assert any("Cork" in text for text in texts(user))


def test_a_job_that_is_due_while_the_talk_goes_on_waits_on(memory: Memory, alice: UserMemory) -> None:
    alice.remember(TOLD)
    memory.ingesting.hurry("alice")
    assert memory.runner.run_one("alice")
    assert alice.items() == []
    [job] = alice.jobs()
    assert job.due_at > job.created_at


def test_a_batch_that_fills_after_a_job_waited_on_is_due_at_once(memory: Memory, alice: UserMemory) -> None:
    full = memory.settings.batch_size
    alice.remember([f"message {number}" for number in range(full - 1)])
    memory.ingesting.hurry("alice")
    assert memory.runner.run_one("alice")  # the talk goes on: these steps are not forgotten by the count
    assert not memory.runner.run_one("alice")
    alice.remember("the last one")
    assert memory.runner.run_one("alice")
    assert memory.ingesting.waiting("alice") == 0


def test_the_graph_leaves_an_open_batch_to_the_queue(memory: Memory, alice: UserMemory) -> None:
    done = run(memory, messages=[("user", TOLD)])
    assert [step.content for step in alice.steps()] == [TOLD]
    assert (done["step_ids"], alice.items()) == ([step.id for step in alice.steps()], [])
    assert len(alice.jobs()) == 1
    assert alice.recall("Where does Orla live?").hits[0].text == TOLD


def test_nothing_is_managed_twice(memory: Memory, alice: UserMemory) -> None:
    run(memory, messages=[TOLD], close=True)
    held = [(item.id, item.version) for item in alice.items()]
    assert held
    run(memory, close=True)
    alice.flush()
    assert [(item.id, item.version) for item in alice.items()] == held
    assert alice.jobs() == []


def test_of_two_runs_on_the_same_steps_one_applies(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(TOLD)
    parts = memory.ingesting.parts()
    done: list[dict[str, Any]] = []

    def meanwhile(*args: Any, **options: Any) -> Any:
        if not done:
            done.append({})
            done[0] = run(memory, close=True)
        return parts.apply(*args, **options)

    late = ingest_graph(replace(parts, apply=meanwhile)).invoke({"close": True}, context=IngestContext(user="alice"))
    assert done[0]["remembered"]
    assert late["remembered"] == []
    assert "managed by another run" in late["degraded"][-1]
    operations = [one for item in alice.items() for one in alice.history(item.id)]
    assert [one.kind for one in operations] == ["add"] * len(alice.items())


def test_more_than_a_batch_is_managed_in_batches_of_30_steps_or_24_000_characters(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, mode="single_call", model=server.chat_model()) as memory:
        user = memory.user("alice")
        for count, words in ((32, 0), (9, 1_300), (7, 9_000)):  # of a step that is longer, 4,000 characters are read
            user.remember([f"FACT friend{words}x{number}: has coins\n{'la ' * words}" for number in range(count)])
            assert user.flush()
        assert len(user.items("semantic")) == 48
    assert [len(steps_in(request)) for request in server.requests] == [30, 2, 6, 3, 6, 1]


def test_steps_of_a_job_that_was_claimed_before_they_came_get_a_job_of_their_own(
    memory: Memory, alice: UserMemory
) -> None:
    alice.remember("first")
    memory.ingesting.hurry("alice")
    assert claim(memory.ledger, {"manage"}, memory.runner.clock(), home="x") is not None
    memory.ingesting._unqueued("alice")  # as the first thing that its handler does
    alice.remember(TOLD)
    assert [job.status for job in alice.jobs()].count("waiting") == 1


def test_a_call_that_fails_queues_nothing_and_the_next_one_does(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember("hello")
    alice.flush()
    inner = memory.ingesting._queue

    def fail(tx: Any, steps: int) -> None:
        inner(tx, steps)
        raise OSError("the disk is away")

    with monkeypatch.context() as patched:
        patched.setattr(memory.ingesting, "_queue", fail)
        with pytest.raises(OSError, match="away"):
            alice.remember("lost")
    assert ([step.content for step in alice.steps()], alice.jobs()) == (["hello"], [])
    alice.remember(TOLD)
    assert len(alice.jobs()) == 1


def test_a_user_who_was_erased_begins_anew(memory: Memory, alice: UserMemory) -> None:
    alice.remember(TOLD)
    alice.erase()
    alice.remember("I live in Galway.")
    assert len(alice.jobs()) == 1
    assert alice.flush()
    assert not any("Cork" in text for text in texts(alice))


def test_a_dropped_job_comes_again_with_the_next_message(memory: Memory, alice: UserMemory) -> None:
    alice.remember(TOLD)
    memory.drop_job(alice.jobs()[0].id, user="alice")
    alice.remember("hello")
    alice.flush()
    assert any("Cork" in text for text in texts(alice)), "what was dropped is not lost, only put off"


def test_what_is_imported_is_not_learned_again(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    alice.remember(TOLD)
    alice.flush()
    alice.export(tmp_path / "alice.jsonl")
    bob = memory.user("bob")
    bob.import_(tmp_path / "alice.jsonl")
    bob.flush()
    assert sorted(texts(bob)) == sorted(texts(alice))


def test_mode_off_learns_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, mode="off") as memory:
        user = memory.user("alice")
        user.remember(TOLD)
        assert (user.jobs(), user.flush(), user.items()) == ([], True, [])


def test_small_talk_is_managed_and_leaves_nothing(memory: Memory, alice: UserMemory) -> None:
    alice.remember(["Hi!", ("assistant", "Hello, how can I help?"), "Just saying hello."])
    assert alice.flush()
    assert alice.items() == []
    with memory.ledger.read("alice") as tx:
        assert read_managed(tx) == max(step.seq for step in alice.steps())


# As a subgraph.


class HostState(IngestState, total=False):
    """A host's own state."""


def test_as_a_subgraph_it_needs_no_more_than_a_context_with_a_user(memory: Memory, alice: UserMemory) -> None:
    host = StateGraph(HostState, SimpleNamespace)
    host.add_node("memory", memory.ingesting.graph())
    host.add_edge(START, "memory")
    host.add_edge("memory", END)
    graph = host.compile(checkpointer=InMemorySaver())
    given = {"messages": [TOLD], "close": True}
    done = graph.invoke(given, {"configurable": {"thread_id": "1"}}, context=SimpleNamespace(user="alice"))
    assert any("Cork" in one["text"] for one in done["remembered"])
    assert any("Cork" in text for text in texts(alice))


@pytest.mark.parametrize("context", [SimpleNamespace(), SimpleNamespace(user=" "), {}, None])
def test_without_a_user_it_is_refused(memory: Memory, context: Any) -> None:
    with pytest.raises(MissingUserError, match="does not know whose memory"):
        memory.ingesting.graph().invoke({"messages": ["hi"]}, context=context)
    assert memory.users() == []


# Async.


@pytest.mark.parametrize("mode", ["embedded", "agents", "single_call"])
async def test_it_runs_async_without_blocking_the_event_loop(
    tmp_path: Path, scripted_server: ServerFactory, mode: str
) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, mode=mode, model=server.chat_model()) as memory:
        graph = memory.ingesting.graph()
        memory.user("alice").recall("warm the indexes up")
        given = {"messages": ["FACT Orla: is a vet", TOLD, "LIKES tea"], "close": True}
        events = []
        with blockbuster_ctx("hexamem"):
            async for event in graph.astream(given, context=IngestContext(user="alice"), stream_mode="custom"):
                events.append(event)
        assert [event["stage"] for event in events][-1] == "project"
        assert memory.user("alice").items()
        assert (server.calls > 0) == (mode != "embedded")


# Settings.


def test_a_mode_that_needs_a_model_is_refused_without_one(tmp_path: Path) -> None:
    for mode in ("agents", "single_call"):
        with pytest.raises(ConfigError, match=f"'{mode}' needs a model"):
            opened(tmp_path, mode=mode)
    with pytest.raises(ConfigError, match="mode = 'magic'"):
        Settings(mode="magic")  # type: ignore[arg-type]
    for name, value in (("batch_size", 0), ("batch_size", 61), ("batch_idle", -1), ("day_calls", 1.5)):
        with pytest.raises(ConfigError, match=name):
            Settings(**{name: value})


def test_labels_are_not_paid_for_twice(tmp_path: Path, scripted_server: ServerFactory) -> None:
    with pytest.raises(ConfigError, match="pay for it twice"):
        opened(tmp_path, mode="single_call", labels="model", model=scripted_server(answer).chat_model())


def test_doctor_tells_how_many_steps_wait(memory: Memory, alice: UserMemory) -> None:
    alice.remember([TOLD, "hello"])
    [before] = [one.detail for one in examine(memory) if one.name == "managers"]
    alice.flush()
    [after] = [one.detail for one in examine(memory) if one.name == "managers"]
    assert before.startswith("mode embedded: 2 steps wait")
    assert after == "mode embedded: every step was read"


def test_everything_can_be_managed_here_and_now_under_a_progress(memory: Memory, alice: UserMemory) -> None:
    alice.remember([f"My friend number {number} is a vet." for number in range(250)])
    steps: list[int] = []
    assert memory.ingesting.manage_all("alice", steps.append)
    assert (sum(steps), memory.ingesting.waiting("alice"), alice.jobs()) == (250, 0, [])
    assert len(steps) > 1


def test_queueing_a_batch_is_what_enqueueing_is(memory: Memory, alice: UserMemory) -> None:
    """The short way of ``remember`` beside the queue's own, from the same states."""
    alice.remember("hello")
    alice.flush()
    first, second = datetime(2030, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC)

    def short(tx: Any, due: datetime) -> None:
        enqueue_bare(tx, "short", "k", due)

    def own(tx: Any, due: datetime) -> None:
        enqueue(tx, "own", {}, key="k", due_at=due)

    def state(kind: str) -> list[dict[str, Any]]:
        with memory.ledger.read("alice") as tx:
            rows = tx.all(jobs.select().where(jobs.c.kind == kind))
        return [{**row._mapping, "id": "", "kind": "", "created_at": None} for row in rows]

    for change in (None, None, "deferred", "running", None):
        for put, kind in ((short, "short"), (own, "own")):
            with memory.ledger.write("alice") as tx:
                if change:
                    tx.connection.execute(jobs.update().where(jobs.c.kind == kind).values(status=change))
                put(tx, first if change is None else second)
        assert state("short") == state("own")
    assert len(state("own")) == 2
