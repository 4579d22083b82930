"""Each agent behind a server that fails: nothing is lost, the fallback is reported, and work goes on when it answers again."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hexamem import Memory, Settings
from hexamem.models import RetryPolicy

from .manager_script import answer
from .scripted_server import Reply, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401

NO_WAIT = {"Retry-After": "0"}
FAULTS = {
    "timeout": Reply(content="late", plain=True, delay=1),
    "rate limit": Reply(status=429, error="slow down", headers=NO_WAIT),
    "server error": Reply(status=503, error="overloaded", headers=NO_WAIT),
    "broken JSON": Reply(content='{"operations": [{"op": "add"', plain=True),
    "wrong schema": Reply(content={"answers": 42}),
    "empty": Reply(content="", plain=True),
    "no choices": Reply(choices="none"),
    "refusal": Reply(refusal="I will not."),
    "connection cut": Reply(content="{}", cut="middle"),
    "no JSON at all": Reply(body=b"<html>Bad gateway</html>", content_type="text/html"),
    "10 MB of JSON": Reply(content={"operations": ["x" * 10_000_000]}),
}
TALK = ["I'm allergic to walnuts.", ("assistant", "Noted."), "My sister Orla is a vet in Sligo."]


@pytest.fixture(autouse=True)
def two_quick_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hexamem.models.model_requests.RetryPolicy", partial(RetryPolicy, tries=2, first_wait=0))


def opened(home: Path, server: ScriptedServer, mode: Any, fault: str) -> Memory:
    model = server.chat_model(timeout=0.3 if fault == "timeout" else 20)
    return Memory.open(home, model=model, embedder="static", settings=Settings(background=False, mode=mode))


@pytest.mark.parametrize("mode", ["single_call", "agents"])
@pytest.mark.parametrize("fault", FAULTS)
def test_while_a_model_fails_steps_are_stored_and_managed_by_the_embedded_engine_which_is_reported(
    tmp_path: Path, scripted_server: ServerFactory, fault: str, mode: str
) -> None:
    server = scripted_server([FAULTS[fault]])
    with opened(tmp_path, server, mode, fault) as memory:
        user = memory.user("ann")
        assert len(user.remember(TALK).step_ids) == 3
        assert user.flush(timeout=60)
        assert server.calls > 0
        assert len(user.steps()) == 3
        assert "walnuts" in user.recall("What am I allergic to?").hits[0].text
        assert memory.notices, "the failure is reported"
        assert all(len(line) < 2_000 for line in memory.notices), "not with what the model sent"
        assert any("walnuts" in item.text for item in user.items())
        server.follow(answer)
        user.remember("FACT Tom: repairs old clocks in Cork")
        assert user.flush(timeout=60)
        assert any("clocks in Cork" in item.text for item in user.items())


@pytest.mark.parametrize("fault", FAULTS)
def test_while_a_model_fails_research_answers_by_evidence_and_reports_each_agent(
    tmp_path: Path, scripted_server: ServerFactory, fault: str
) -> None:
    server = scripted_server([FAULTS[fault]])
    with opened(tmp_path, server, "embedded", fault) as memory:
        user = memory.user("ann")
        user.remember(TALK)
        research = user.research("What am I allergic to?")
        assert server.calls > 0
        assert any("walnuts" in passage.text for passage in research.passages)
        assert {line.partition(":")[0] for line in research.degraded} >= {"planner", "integrator"}
        assert all(len(line) < 2_000 for line in research.degraded)
        assert json.loads(research.model_dump_json())
