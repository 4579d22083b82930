"""STITCH as its paper describes it, as an arm: four calls a step, behind the same interface as every labeller."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings
from hexamem.evals.arms.stitch_paper import (
    CoreferenceReply,
    EntityReply,
    EventReply,
    ScopeReply,
    StitchPaperLabeler,
    stitch_paper,
)
from hexamem.intent.contract import LabelBatch, StepView
from hexamem.models import Budget, UsageMeter, check_strict, strict_schema
from hexamem.stores.embedders import open_embedder

from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

TALK = (
    "We want a room in Porto for two nights.",
    "The Armazém has one at 95 euros.",
    "Is it quiet?",
    "The rooms look onto a yard.",
)
_EMBEDDER = open_embedder("bundled")


def embed(texts: Any) -> Any:
    return _EMBEDDER.embed_documents(list(texts))


def views(*texts: str) -> list[StepView]:
    start = datetime(2031, 5, 2, 9, tzinfo=UTC)
    vectors = embed(texts)
    return [
        StepView(
            id=f"step_{n}",
            thread_id="t",
            turn=n,
            role=("user", "assistant")[n % 2],
            speaker=("user", "assistant")[n % 2],
            text=text,
            occurred_at=start + timedelta(minutes=n),
            vector=vectors[n],
        )
        for n, text in enumerate(texts)
    ]


def answer(request: Request) -> Reply:
    """What a fair model would say to each of the four questions."""
    step = request.text.rpartition("<step>")[2].partition("</step>")[0].strip().partition("\n")[2]
    if request.name == "ScopeReply":
        known = re.search(r"^(S\d+) Room in Porto", request.text, re.M)
        return Reply(content={"scope": known[1] if known else "Room in Porto", "gist": "Two look for a room in Porto"})
    if request.name == "EventReply":
        return Reply(content={"events": ["Ask about room" if "?" in step else "Give details"]})
    if request.name == "EntityReply":
        return Reply(content={"entities": ["Room", "room"]})
    resolved = step.replace("it quiet", "the room at the Armazém quiet")
    return Reply(content={"resolved": resolved, "summary": "They speak of a room"})


@pytest.fixture
def server(scripted_server: ServerFactory) -> ScriptedServer:
    return scripted_server(answer)


def label(server: ScriptedServer, *texts: str, **options: Any) -> LabelBatch:
    return StitchPaperLabeler("ann", server.chat_model(max_retries=0), embed, **options).label(views(*texts))


def test_each_step_costs_four_calls_one_a_cue(server: ScriptedServer) -> None:
    label(server, *TALK)
    assert [one.name for one in server.requests] == ["ScopeReply", "EventReply", "EntityReply", "CoreferenceReply"] * 4


def test_the_labels_are_those_of_the_replies(server: ScriptedServer) -> None:
    batch = label(server, *TALK)
    names = {one.id: one.name for one in batch.labels}
    assert [names[one.scope] for one in batch.steps] == ["Room in Porto"] * 4
    assert [[names[event] for event in one.events] for one in batch.steps] == [
        ["Give details"], ["Give details"], ["Ask about room"], ["Give details"],
    ]  # fmt: skip
    assert [names[one] for one in batch.steps[0].entities] == ["Room"]
    assert batch.steps[2].resolved_text == "Is the room at the Armazém quiet?"
    assert batch.steps[2].summary == "They speak of a room"
    assert [one.gist for one in batch.labels if one.kind == "scope"] == ["Two look for a room in Porto"]
    assert {one.parent_id for one in batch.labels} == {None}
    assert batch.degraded == ()


def test_the_candidates_are_the_labels_in_use_and_nothing_is_shown_of_later_steps(server: ScriptedServer) -> None:
    label(server, *TALK)
    events = [one.text for one in server.requests if one.name == "EventReply"]
    assert "none yet" in events[0]
    assert "Give details" in events[1]
    for place, text in enumerate(events):
        assert all(later not in text for later in TALK[place + 1 :])


@pytest.mark.parametrize(
    "fault", [Reply(content="no"), Reply(status=401), Reply(content={"scope": 3}), Reply(content="")]
)
def test_a_step_without_replies_gets_the_simplest_labels_and_says_so(
    scripted_server: ServerFactory, fault: Reply
) -> None:
    batch = label(scripted_server([fault]), *TALK[:2])
    assert [one.resolved_text for one in batch.steps] == list(TALK[:2])
    assert all(one.events and one.scope and one.summary for one in batch.steps)
    assert batch.degraded


def test_a_reply_that_loses_the_text_is_not_kept(scripted_server: ServerFactory) -> None:
    def script(request: Request) -> Reply:
        if request.name == "CoreferenceReply":
            return Reply(content={"resolved": "Yes.", "summary": "9999 rooms"})
        return answer(request)

    [step] = label(scripted_server(script), TALK[0]).steps
    assert step.resolved_text == TALK[0]
    assert "9999" not in step.summary


def test_no_call_is_made_beyond_the_budget(server: ScriptedServer) -> None:
    batch = label(server, *TALK, budget=Budget(calls=6))
    assert server.calls == 6
    assert len(batch.steps) == 4
    assert any("budget of 6 model calls" in line for line in batch.degraded)


def test_a_memory_labels_by_it_and_takes_up_where_it_stopped(tmp_path: Path, server: ScriptedServer) -> None:
    usage = UsageMeter()
    make = stitch_paper(server.chat_model(), usage=usage)
    settings = Settings(background=False, mode="off")
    with Memory.open(tmp_path / "home", labeler=make, settings=settings) as memory:
        memory.user("ann").remember(list(TALK[:2]))
        memory.user("ann").flush()
    with Memory.open(tmp_path / "home", labeler=make, settings=settings) as memory:
        user = memory.user("ann")
        user.remember(list(TALK[2:]))
        user.flush()
        assert {user.labels.of(step.id).scope for step in user.steps()} == {"Room in Porto"}
        assert {user.labels.of(step.id).tier for step in user.steps()} == {"model"}
        assert usage.total.calls == server.calls == 16
    third = [one.text for one in server.requests if one.name == "ScopeReply"][2]
    assert "S1 Room in Porto: Two look for a room in Porto" in third
    assert "user: We want a room in Porto for two nights." in third


@pytest.mark.parametrize("schema", [ScopeReply, EventReply, EntityReply, CoreferenceReply])
def test_what_is_asked_for_is_flat_enough_for_strict_mode(schema: Any) -> None:
    assert check_strict(strict_schema(schema)) == []
