"""The full tier of a recall: what a model adds, what it costs at most, and what happens without one."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexamem import Memory, Settings, UserMemory
from hexamem.stores.ledger.usage import all_usage

from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

TALK = [
    ("Iris", "We finally bought the tent, two hundred and ten pounds, ouch."),
    ("Ben", "The stove was only forty."),
    ("Iris", "Nora joined a climbing club near the canal."),
    ("Ben", "My sister's cat is called Pickle."),
    ("Iris", "It rained for the whole of Tuesday."),
    ("Ben", "The tent leaked once."),
]
ASKED = "How much more did the tent cost than the stove?"
Opened = Callable[..., tuple[UserMemory, ScriptedServer]]


def parts_and_order(request: Request) -> Reply:
    """Takes the question apart, and puts the price of the stove first."""
    if "parts" in (request.schema or {}).get("properties", {}):
        return Reply(content={"parts": ["the price of the stove", "the price of the tent"]})
    line = next(line for line in request.text.splitlines() if "only forty" in line)
    return Reply(content={"best": ["H999", line.split()[0]]})


@pytest.fixture
def opened(tmp_path: Path, scripted_server: ServerFactory) -> Iterator[Opened]:
    memories: list[Memory] = []

    def start(script: object = parts_and_order, **settings: object) -> tuple[UserMemory, ScriptedServer]:
        server = scripted_server(script)  # type: ignore[arg-type]
        chosen = Settings(background=False, mode="off", **settings)  # type: ignore[arg-type]
        memories.append(Memory.open(tmp_path, embedder="static", model=server.chat_model(), settings=chosen))
        user = memories[0].user("ann")
        user.remember([{"role": "user", "name": name, "content": text} for name, text in TALK], thread_id="t")
        return user, server

    yield start
    for memory in memories:
        memory.close()


def test_a_model_takes_the_question_apart_and_orders_the_hits(opened: Opened) -> None:
    user, server = opened()
    recall = user.recall(ASKED, k=3, strategy="learned_full")
    assert (recall.degraded, server.calls, len(recall.hits)) == ((), 2, 3)
    assert recall.hits[0].text == "The stove was only forty."
    assert {"model", "multi_step"} <= {signal.name for signal in recall.hits[0].why}
    scores = [hit.score for hit in recall.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in recall.hits:
        assert sum(signal.share for signal in hit.why) == pytest.approx(hit.score, abs=1e-6)
    counted = {row["operation"]: row["calls"] for row in all_usage(user.memory.ledger)}
    assert counted == {"recall_parts": 1, "recall_order": 1}


def test_the_light_tier_and_operations_that_are_off_ask_nothing_and_no_secret_is_sent(opened: Opened) -> None:
    user, server = opened()
    assert user.recall(ASKED, strategy="learned").hits
    user.recall(ASKED, strategy="learned_full", operations={"multi_step": False, "semantic_reranking": False})
    assert server.calls == 0
    user.recall(ASKED, strategy="learned_full", operations={"multi_step": False})
    assert server.calls == 1
    user.recall("Is my password hunter2-correct-Horse9 for the stove shop?", strategy="learned_full")
    assert server.calls == 3
    assert all("hunter2-correct-Horse9" not in request.text for request in server.requests)


@pytest.mark.parametrize("model", ["none", "refusing"])
def test_without_a_model_that_answers_the_full_tier_is_the_light_one_and_reports_it(
    opened: Opened, alice: UserMemory, model: str
) -> None:
    user = opened([Reply(status=401)])[0] if model == "refusing" else alice
    user.remember("The tent cost more than the stove.")
    light, full = (user.recall(ASKED, k=3, strategy=strategy) for strategy in ("learned", "learned_full"))
    assert [(hit.id, round(hit.score, 5)) for hit in full.hits] == [(hit.id, round(hit.score, 5)) for hit in light.hits]
    assert light.degraded == ()
    words = ["searched as a whole", "order of the hits is that of the ranking"] if model == "refusing" else ["no model"]
    assert len(full.degraded) == 2
    assert all(any(word in line for line in full.degraded) for word in words)


def test_a_spent_budget_asks_no_more(opened: Opened) -> None:
    user, server = opened(budget_calls=1)
    recall = user.recall(ASKED, k=3, strategy="learned_full")
    assert (server.calls, len(recall.hits)) == (1, 3)
    assert any("order of the hits" in line for line in recall.degraded)
