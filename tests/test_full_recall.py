"""The full tier of a recall: what a model adds, what it costs at most, and what stands without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.agents.full_recall import HitOrder, QuestionParts
from hexamem.models.schemas import check_strict, strict_schema
from hexamem.stores.ledger.usage import all_usage

from .scripted_server import Reply, Request, ScriptedServer

TALK = [
    ("Iris", "We finally bought the tent, two hundred and ten pounds, ouch."),
    ("Ben", "The stove was only forty."),
    ("Iris", "Nora joined a climbing club near the canal."),
    ("Ben", "My sister's cat is called Pickle."),
    ("Iris", "It rained for the whole of Tuesday."),
    ("Ben", "The tent leaked once."),
]
ASKED = "How much more did the tent cost than the stove?"


def opened(tmp_path: Path, server: ScriptedServer, **settings: object) -> Memory:
    chosen = Settings(background=False, mode="off", **settings)  # type: ignore[arg-type]
    return Memory.open(tmp_path / "home", model=server.chat_model(), settings=chosen)


def talk(user: UserMemory) -> tuple[str, ...]:
    messages = [{"role": "user", "name": name, "content": text} for name, text in TALK]
    return user.remember(messages, thread_id="t").step_ids


def replies(parts: list[str], best: str) -> object:
    """A script that takes the question apart, and puts the hit with some words first."""

    def answer(request: Request) -> Reply:
        if "parts" in (request.schema or {}).get("properties", {}):  # type: ignore[operator]
            return Reply(content={"parts": parts})
        line = next(one for one in request.text.splitlines() if best in one)
        return Reply(content={"best": ["H999", line.split()[0]]})

    return answer


def test_what_is_asked_of_models_keeps_to_strict_schemas() -> None:
    for reply in (QuestionParts, HitOrder):
        check_strict(strict_schema(reply))


def test_a_model_takes_the_question_apart_and_orders_the_hits(tmp_path: Path) -> None:
    with (
        ScriptedServer(replies(["the price of the stove", "the price of the tent"], "only forty")) as server,
        opened(tmp_path, server) as memory,
    ):
        user = memory.user("ann")
        ids = talk(user)
        recall = user.recall(ASKED, k=3, strategy="learned_full")
        assert recall.degraded == ()
        assert server.calls == 2
        assert len(recall.hits) == 3
        assert recall.hits[0].id == ids[1]
        assert "model" in {one.name for one in recall.hits[0].why}
        assert "multi_step" in {one.name for one in recall.hits[0].why}
        scores = [hit.score for hit in recall.hits]
        assert scores == sorted(scores, reverse=True)
        for hit in recall.hits:
            assert sum(one.share for one in hit.why) == pytest.approx(hit.score, abs=1e-6)
        kept = {row["operation"]: row["calls"] for row in all_usage(memory.ledger)}
        assert kept == {"recall_parts": 1, "recall_order": 1}


def test_without_a_model_the_full_tier_is_the_light_one_and_says_so(alice: UserMemory) -> None:
    talk(alice)
    light = alice.recall(ASKED, k=3, strategy="learned")
    full = alice.recall(ASKED, k=3, strategy="learned_full")
    assert [hit.id for hit in full.hits] == [hit.id for hit in light.hits]
    assert [hit.score for hit in full.hits] == pytest.approx([hit.score for hit in light.hits])
    assert len(full.degraded) == 2
    assert all("no model" in line for line in full.degraded)
    assert light.degraded == ()


def test_the_light_tier_asks_no_model(tmp_path: Path) -> None:
    with ScriptedServer([Reply(status=500)]) as server, opened(tmp_path, server) as memory:
        user = memory.user("ann")
        talk(user)
        assert user.recall(ASKED, strategy="learned").hits
        assert server.calls == 0


def test_what_a_model_does_not_do_is_left_to_the_rules(tmp_path: Path) -> None:
    with ScriptedServer([Reply(status=401)]) as server, opened(tmp_path, server) as memory:
        user = memory.user("ann")
        talk(user)
        recall = user.recall(ASKED, k=3, strategy="learned_full")
        assert [hit.id for hit in recall.hits] == [hit.id for hit in user.recall(ASKED, k=3, strategy="learned").hits]
        assert any("searched as a whole" in line for line in recall.degraded)
        assert any("order of the hits is that of the ranking" in line for line in recall.degraded)


def test_a_budget_that_is_spent_asks_no_more(tmp_path: Path) -> None:
    with (
        ScriptedServer(replies(["the price of the stove"], "only forty")) as server,
        opened(tmp_path, server, budget_calls=1) as memory,
    ):
        user = memory.user("ann")
        talk(user)
        recall = user.recall(ASKED, k=3, strategy="learned_full")
        assert server.calls == 1
        assert len(recall.hits) == 3
        assert any("order of the hits" in line for line in recall.degraded)


def test_an_operation_that_is_off_asks_nothing(tmp_path: Path) -> None:
    with (
        ScriptedServer(replies(["the price of the stove"], "only forty")) as server,
        opened(tmp_path, server) as memory,
    ):
        user = memory.user("ann")
        talk(user)
        user.recall(ASKED, strategy="learned_full", operations={"multi_step": False, "semantic_reranking": False})
        assert server.calls == 0
        user.recall(ASKED, strategy="learned_full", operations={"multi_step": False})
        assert server.calls == 1


def test_a_secret_in_the_question_never_reaches_the_model(tmp_path: Path) -> None:
    with ScriptedServer(replies([], "only forty")) as server, opened(tmp_path, server) as memory:
        user = memory.user("ann")
        talk(user)
        user.recall("Is my password hunter2-correct-Horse9 for the stove shop?", strategy="learned_full")
        assert server.calls == 2
        assert all("hunter2-correct-Horse9" not in one.text for one in server.requests)
