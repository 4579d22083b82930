"""The write path as a graph: what it draws, streams and stores, when batches close, sync and async alike."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langgraph.types import interrupt

from hexamem import Memory, Settings, UserMemory, memory_graph
from hexamem.errors import ConfigError
from hexamem.graphs.ingest import ingest_graph
from hexamem.graphs.ingest_state import IngestContext, IngestState

from .manager_script import answer, steps_in
from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

MANAGERS = {f"{kind}_manager" for kind in ("core", "episodic", "semantic", "procedural", "resource", "vault")}
INTRODUCTION = "My name is Orla and I live in Cork."


def opened(home: Path, **settings: Any) -> Memory:
    given = {name: settings.pop(name) for name in ("model", "models") if name in settings}
    chosen = Settings(**{"background": False, "mode": "embedded", "labels": "off", **settings})
    return Memory.open(home, embedder="static", settings=chosen, **given)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory that learns by rules, without the background thread."""
    with opened(tmp_path / "home", mode="embedded") as result:
        yield result


@pytest.fixture
def alice(memory: Memory) -> UserMemory:
    return memory.user("alice")


def texts(user: UserMemory) -> list[str]:
    return [item.text for item in user.items()]


def run(memory: Memory, user: str = "alice", **given: Any) -> dict[str, Any]:
    return memory.ingesting.graph.invoke(given, context=IngestContext(user=user))


def test_the_graph_shows_its_nodes_and_managers_as_agents(tmp_path: Path, scripted_server: ServerFactory) -> None:
    model = scripted_server(answer).chat_model()
    for mode, managers in (("embedded", MANAGERS), ("agents", MANAGERS), ("single_call", {"single_call"})):
        with opened(tmp_path / mode, mode=mode, model=model) as memory:
            plain, deep = (memory.ingesting.graph.get_graph(xray=xray) for xray in (False, True))
            whole = memory_graph(memory).get_graph(xray=True)
        assert set(plain.nodes) == {"__start__", "record", "label", "route", *managers, "apply", "project", "__end__"}
        assert {(entry.source, entry.target) for entry in plain.edges if entry.source in managers} == {
            (entry, "apply") for entry in managers
        }
        inner = {f"{manager}:{node}" for manager in MANAGERS for node in ("model", "tools")}
        assert (inner <= set(deep.nodes)) == (mode == "agents")
        assert ("remember:core_manager:tools" in whole.nodes) == (mode == "agents")


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


def test_nodes_stream_events_and_plain_json_and_nothing_is_managed_twice(memory: Memory, alice: UserMemory) -> None:
    given = {"messages": [INTRODUCTION, "On 24 May 2025 I row in the regatta at Sligo."], "close": True}
    context, modes = IngestContext(user="alice"), ["custom", "values"]
    streamed = list(memory.ingesting.graph.stream(given, context=context, stream_mode=modes))
    events = [event for mode, event in streamed if mode == "custom"]
    stages = list(dict.fromkeys(event["stage"] for event in events))
    assert stages == ["record", "label", "route", "manage", "apply", "project"]
    assert {event["user"] for event in events} == {"alice"}
    [applied] = [event for event in events if event["stage"] == "apply"]
    remembered = [item for item in applied["remembered"] if item["kind"] == "core" and "Cork" in item["text"]]
    assert all(item["operation"] for item in remembered)
    assert remembered
    values = [state for mode, state in streamed if mode == "values"][-1]
    assert json.loads(json.dumps(values)) == values
    assert set(values) <= set(IngestState.__annotations__)
    held = [(item.id, item.version) for item in alice.items()]
    run(memory, close=True)
    alice.flush()
    assert [(item.id, item.version) for item in alice.items()] == held
    assert alice.jobs() == []


def test_remember_queues_one_job_a_user_which_flush_runs(memory: Memory, alice: UserMemory) -> None:
    for message in (INTRODUCTION, *map(str, range(9))):
        alice.remember(message)
    memory.user("bob").remember("hello")
    [job] = alice.jobs()
    assert (job.kind, job.status, job.due_at > job.created_at) == ("manage", "waiting", True)
    assert (alice.items(), len(memory.user("bob").jobs())) == ([], 1)
    assert alice.flush()
    assert any("Cork" in text for text in texts(alice))
    assert (alice.jobs(), len(memory.user("bob").jobs())) == ([], 1)


@pytest.mark.parametrize("of_user", [True, False])
def test_a_flush_does_not_wait_for_what_is_stored_while_it_runs(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch, of_user: bool
) -> None:
    alice.remember([INTRODUCTION, "Hello."])
    index, batches = memory.projector.catch_up, list[object]()

    def beside_a_writer(*args: Any) -> int:
        if len(batches) < 20:
            batches.append(alice.remember([f"message {number}" for number in range(memory.ingesting.size)]))
        return index(*args)

    monkeypatch.setattr(memory.projector, "catch_up", beside_a_writer)
    assert (alice if of_user else memory).flush()
    assert any("Cork" in text for text in texts(alice))
    assert len(batches) < 10
    assert memory.ingesting.waiting("alice") > 0


def test_a_batch_closes_when_it_is_full_or_the_talk_rests(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    alice.remember([f"message {number}" for number in range(memory.settings.batch_size - 1)])
    assert not memory.runner.run_one("alice")
    memory.ingesting.hurry("alice")
    assert memory.runner.run_one("alice")  # the talk goes on: these steps are not forgotten by the count
    [job] = alice.jobs()
    assert (alice.items(), job.due_at > job.created_at, memory.runner.run_one("alice")) == ([], True, False)
    alice.remember("the last one")
    assert memory.runner.run_one("alice")
    assert memory.ingesting.waiting("alice") == 0
    with opened(tmp_path / "idle", batch_idle=0) as resting:
        user = resting.user("alice")
        user.remember(INTRODUCTION)
        assert resting.runner.run_one("alice")
        assert any("Cork" in text for text in texts(user))


def test_of_two_runs_on_the_same_steps_one_applies(
    memory: Memory, alice: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember(INTRODUCTION)
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
    operations = [entry for item in alice.items() for entry in alice.history(item.id)]
    assert [entry.kind for entry in operations] == ["add"] * len(alice.items())


def test_a_batch_is_30_steps_up_to_40_if_these_are_the_last_or_24_000_characters(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, mode="single_call", model=server.chat_model()) as memory:
        user = memory.user("alice")
        for count, words in (
            (40, 0),
            (41, 1),
            (9, 1_300),
            (7, 9_000),
        ):  # of a step that is longer, 4,000 characters are read
            user.remember([f"FACT friend{words}x{number}: has coins\n{'la ' * words}" for number in range(count)])
            assert user.flush()
        assert len(user.items("semantic")) == 97
    assert [len(steps_in(request)) for request in server.requests] == [40, 30, 11, 6, 3, 6, 1]


@pytest.mark.parametrize("mode", ["embedded", "agents", "single_call"])
async def test_it_does_not_block_the_event_loop(tmp_path: Path, scripted_server: ServerFactory, mode: str) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, mode=mode, model=server.chat_model()) as memory:
        graph = memory.ingesting.graph
        memory.user("alice").recall("warm the indexes up")
        given = {"messages": ["FACT Orla: is a vet", INTRODUCTION, "LIKES tea"], "close": True}
        context = IngestContext(user="alice")
        with blockbuster_ctx("hexamem"):
            events = [event async for event in graph.astream(given, context=context, stream_mode="custom")]
        assert events[-1]["stage"] == "project"
        assert memory.user("alice").items()
        assert (server.calls > 0) == (mode != "embedded")


def test_settings_that_cannot_work_are_refused(tmp_path: Path, scripted_server: ServerFactory) -> None:
    for mode in ("agents", "single_call"):
        with pytest.raises(ConfigError, match=f"'{mode}' needs a model"):
            opened(tmp_path, mode=mode)
    assert not (tmp_path / "home").exists()
    settings: list[tuple[str, Any]] = [
        ("mode", "magic"), ("batch_size", 0), ("batch_size", 61), ("batch_idle", -1), ("day_calls", 1.5),
        ("labels", "both"),
    ]  # fmt: skip
    for name, value in settings:
        with pytest.raises(ConfigError, match=name):
            Settings(**{name: value})


def test_small_talk_and_mode_off_leave_nothing(memory: Memory, alice: UserMemory, tmp_path: Path) -> None:
    alice.remember(["Hi!", ("assistant", "Hello, how can I help?"), "Just saying hello."])
    assert (alice.flush(), alice.items(), memory.ingesting.waiting("alice")) == (True, [], 0)
    with opened(tmp_path / "off", mode="off") as off:
        user = off.user("alice")
        user.remember(INTRODUCTION)
        assert (user.jobs(), user.flush(), user.items()) == ([], True, [])
