"""The modes of the write path: what each costs, what it keeps, and that no fault of a model leaves a thing half done."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import logging
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from hexamem import Memory, Settings, UserMemory
from hexamem.graphs.ingest_state import IngestState
from hexamem.stores.ledger.usage import usage_totals

from .manager_script import WORD, answer
from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_vault import KINDS, Traces, visible

TALK = [
    "FACT Orla: is a vet in Sligo",
    ("assistant", "How interesting, tell me more."),
    "LIKES green tea",
    "EVENT 2025-03-09: piano exam in the town hall",
    "RECIPE soda bread: mix flour and soda; bake for 40 minutes",
    "PASTE poem: The wind was loud, the sea was grey, and nobody came home that day.",
    "CODE garage: swordfish#77",
    "FACT Tom: repairs old clocks in Cork",
    "LIKES rowing on the lake",
    "EVENT 2025-05-24: regatta in Sligo",
]
CHAT = ["Hi there!", ("assistant", "Hello! How can I help?"), "Good morning", "thanks", "haha ok", "see you"]


def opened(home: Path, server: ScriptedServer | None, mode: str, **settings: Any) -> Memory:
    model = None if server is None else server.chat_model()
    given = {"background": False, "batch_size": 10, "mode": mode, **settings}
    return Memory.open(home, model=model, embedder="static", settings=Settings(**given))


def kinds_of(user: UserMemory) -> Counter[str]:
    return Counter(item.kind for item in user.items())


def test_single_call_takes_at_most_13_calls_for_100_steps(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server, size = scripted_server(answer), 8
    with opened(tmp_path, server, "single_call", batch_size=size) as memory:
        user = memory.user("ann")
        user.remember([f"FACT friend{number}: keeps bees in garden {number}" for number in range(100)])
        assert user.flush()
        assert kinds_of(user)["semantic"] == 100
        assert {label.name for label in user.labels.list("scope") if label.steps} == {"daily life"}
    assert server.calls == -(-100 // size) <= 13
    assert {request.name for request in server.requests} == {"SingleReply"}
    [fixed] = {json.dumps([entry.messages[0]["content"], entry.body["response_format"]]) for entry in server.requests}
    assert len(fixed) <= 8_000, "instructions and schema are the same in each call, so that providers cache them"


def test_agents_cost_the_meta_manager_and_those_it_names(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(answer)
    with opened(tmp_path / "home", server, "agents") as memory:
        user = memory.user("ann")
        user.remember(TALK)
        assert user.flush()
        names = Counter(request.name for request in server.requests)
        assert names == {"RoutingReply": 1, **{f"{kind}_manager": 2 for kind in WORD.values()}}
        with memory.ledger.read("ann") as tx:
            rows = usage_totals(tx)
        assert {row["agent"] for row in rows} == {"meta_manager", *(f"{kind}_manager" for kind in WORD.values())}
        assert {row["operation"] for row in rows} == {"manage"}
        assert sum(row["calls"] for row in rows) == server.calls
        assert sum(row["input_tokens"] + row["output_tokens"] for row in rows) == server.tokens
        server.follow(answer)
        user.remember(["FACT Bo: paints boats in Kerry"] * 10)
        assert user.flush()
        assert [request.name for request in server.requests] == ["RoutingReply", *["semantic_manager"] * 2]


@pytest.mark.parametrize("mode", ["single_call", "agents"])
def test_all_six_kinds_are_stored_with_their_words(tmp_path: Path, scripted_server: ServerFactory, mode: str) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, server, mode) as memory:
        user = memory.user("ann")
        user.remember(TALK)
        assert user.flush()
        assert memory.notices == []
        assert kinds_of(user) == Counter(core=2, episodic=2, semantic=2, procedural=1, resource=1, vault=1)
        steps = {step.id: step.content for step in user.steps()}
        for item in user.items():
            for source in item.sources:
                assert source.start is None or steps[source.step_id][source.start : source.end] == source.quote
        [poem] = user.items("resource")
        assert poem.content.startswith("The wind was loud")  # type: ignore[union-attr]
        [hit, *_] = user.recall("Who is a vet?", kinds="semantic").hits
        assert "Orla" in hit.text
        server.follow(answer)
        memory.user("bob").remember(CHAT)
        assert memory.user("bob").flush()
        assert (memory.user("bob").items(), server.calls) == ([], 0), "small talk costs nothing"


@pytest.mark.parametrize("mode", ["single_call", "agents"])
def test_thirty_kinds_of_secrets_reach_no_prompt_checkpoint_log_notice_or_file(
    tmp_path: Path, scripted_server: ServerFactory, traces: Traces, caplog: pytest.LogCaptureFixture, mode: str
) -> None:
    for name in ("", "langgraph", "openai", "httpx", "sqlalchemy.engine", "hexamem"):
        caplog.set_level(logging.DEBUG, logger=name)
    sound, failing = scripted_server(answer), scripted_server(lambda request: Reply(status=400, error="no"))
    seen: list[str] = []
    for number, server in enumerate((sound, failing)):
        with opened(tmp_path / str(number), server, mode) as memory:
            user = memory.user("ann")
            user.remember([f"FACT number {at}: {kind.sentence}" for at, kind in enumerate(KINDS)])
            saver = InMemorySaver()
            host = StateGraph(IngestState, SimpleNamespace)
            host.add_node("memory", memory.ingesting.graph)
            host.add_edge(START, "memory")
            host.add_edge("memory", END)
            graph = host.compile(checkpointer=saver)
            place = {"configurable": {"thread_id": "1"}}
            context = SimpleNamespace(user="ann")
            done = list(graph.stream({"close": True}, place, context=context, stream_mode=["messages", "values"]))
            assert {streamed for streamed, _ in done} == {"values"}  # no words of a model
            user.flush(timeout=20)
            held = [repr(entry) for entry in saver.list(None)]
            assert held
            seen += [*held, repr(saver.blobs), repr(saver.writes), repr(done), *memory.notices, repr(user.jobs())]
            seen += [json.dumps([request.body for request in server.requests])]
    for number in range(2):
        assert visible(tmp_path / str(number), [kind.value for kind in KINDS], traces) == []
    assert sound.calls > 0
    assert failing.calls > 0
    seen += [record.getMessage() for record in caplog.records]
    result = {kind.name for kind in KINDS for text in seen if kind.value in text and len(kind.value) >= 8}
    assert result == set()


def _fault(draw: random.Random, request: Request) -> Reply:
    good = answer(request)
    if good.calls and draw.random() < 0.6:
        return replace(good, calls=[(name, _twisted(draw, given)) for name, given in good.calls])
    whole = json.dumps(good.content)
    faults = [
        good, Reply(refusal="I will not."), Reply(status=400, error="no"), Reply(choices="none"),
        Reply(content=whole[: draw.randrange(len(whole))], plain=True), Reply(content=whole, finish_reason="length"),
        Reply(content=[1, 2, "three"], plain=True), *(Reply(content=_twisted(draw, good.content)) for _ in range(2)),
    ]  # fmt: skip
    return draw.choice(faults)


ODD = (None, "", "semantic1", -1, 10**9, [], {}, "?", "x" * 5_000, "2025-99-99")


def _twisted(draw: random.Random, value: Any) -> Any:
    """The value with odd things in place of some of its parts."""
    if draw.random() < 0.06:
        return draw.choice(ODD)
    if isinstance(value, dict):
        return {key: _twisted(draw, part) for key, part in value.items()}
    if isinstance(value, list):
        return [_twisted(draw, part) for part in value] * (1 if draw.random() < 0.95 else 3)
    return value


@pytest.mark.parametrize("mode", ["single_call", "agents"])
def test_whatever_a_model_replies_nothing_is_half_applied(
    tmp_path: Path, scripted_server: ServerFactory, mode: str
) -> None:
    draw = random.Random(mode)
    server = scripted_server(lambda request: _fault(draw, request))
    with opened(tmp_path, server, mode, batch_size=5) as memory:
        user = memory.user("ann")
        user.remember(TALK)
        assert user.flush()
        assert user.jobs() == []
        stored = {step.id: step.content for step in user.steps()}
        assert len(stored) == len(TALK)
        for item in user.items(superseded=True):
            assert user.history(item.id), "each item has its operation"
            for source in item.sources:
                assert source.start is None or stored[source.step_id][source.start : source.end] == source.quote
        twice = [item.text for item in user.items()]
        assert len(set(twice)) == len(twice)
        assert "swordfish#77" not in " ".join(memory.notices)


def test_the_embedded_engine_does_what_a_model_does_not_do(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server([Reply(refusal="I will not.")])
    for mode, settings, reported in (
        ("single_call", {}, "single_call: the embedded engine did the work"),
        ("agents", {"batch_tokens": 100}, "tokens"),
    ):
        before = server.calls
        with opened(tmp_path / mode, server, mode, **settings) as memory:
            user = memory.user("ann")
            user.remember("I'm allergic to walnuts.")
            assert user.flush()
            assert any("walnuts" in item.text for item in user.items())
            assert any(reported in line for line in memory.notices)
        assert (server.calls > before) == (not settings)


def test_when_a_budget_is_used_up_steps_wait_with_the_reason(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, server, "single_call", day_calls=1) as memory:
        user = memory.user("ann")
        user.remember(TALK[:2])
        assert user.flush()
        user.remember(TALK[2:4])
        assert not user.flush()
        [job] = user.jobs()
        assert (job.status, server.calls) == ("deferred", 1)
        assert job.error == "the day's budget of 1 model calls is used up"
        assert "steps wait to be managed" in memory.notices[-1]
    with opened(tmp_path, server, "single_call", day_calls=5, budget_calls=0) as memory:
        user = memory.user("ann")
        assert not user.flush()
        assert [(job.status, "used up" in str(job.error)) for job in user.jobs()] == [("deferred", True)]
    with opened(tmp_path, server, "single_call", day_calls=5) as memory:
        user = memory.user("ann")
        assert user.flush()
        assert (user.jobs(), server.calls) == ([], 2)


def test_what_is_repeated_from_recall_is_not_learned_again(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(answer)
    with opened(tmp_path, server, "single_call") as memory:
        user = memory.user("ann")
        user.remember("FACT Orla: is a vet in Sligo and keeps seven brown hens")
        user.flush()
        before = [(item.id, item.version, len(item.sources)) for item in user.items()]
        user.recall("Who keeps hens?")
        user.remember(
            [
                ("assistant", "FACT Orla: is a vet in Sligo and keeps seven brown hens"),
                "what else about hens in Sligo then",
            ]
        )
        user.flush()
        assert [(item.id, item.version, len(item.sources)) for item in user.items()] == before
