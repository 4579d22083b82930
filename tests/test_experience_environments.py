"""The environment in which the gain by experience is measured, and the scripted agent and distiller."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem.evals.environments.advice_reading import preference, read_hints
from hexamem.evals.environments.agents import ModelAgent, ScriptedAgent
from hexamem.evals.environments.experiment import ARMS, compare, run_arm
from hexamem.evals.environments.office_api import OfficeApi

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401


class Patient(OfficeApi):
    """An environment without its limit."""

    def begin(self, task: Any) -> Any:
        episode: Any = super().begin(task)
        episode.limit = 200
        return episode


def test_tasks_are_reproducible_all_different_and_solvable_with_enough_time() -> None:
    tasks = OfficeApi(0).tasks(30)
    assert tasks == OfficeApi(0).tasks(30) != OfficeApi(1).tasks(30)
    assert len({task.text.casefold() for task in tasks}) == 30
    attempt = ScriptedAgent()
    assert attempt(OfficeApi(0), tasks[0]) == attempt(OfficeApi(0), tasks[0])
    for seed in range(2):
        patient = Patient(seed)
        assert [task.text for task in patient.tasks(20) if not attempt(patient, task).done] == []


@settings(max_examples=15, deadline=None)
@given(actions=st.lists(st.text(max_size=30), max_size=8), advice=st.text(max_size=300))
def test_no_text_breaks_an_environment_or_the_reader_or_does_a_task_by_chance(actions: list[str], advice: str) -> None:
    environment = OfficeApi(0)
    episode = environment.begin(environment.tasks(1)[0])
    hints = read_hints(f"When {advice}, use `{advice}`\n{advice}")
    for action in actions:
        assert isinstance(preference(action or " ", advice, "", hints, []), float)
        assert not episode.act(action or " ").done


def test_memory_raises_success_and_saves_steps(tmp_path: Path) -> None:
    off, on = compare([ARMS["off"], ARMS["both"]], tmp_path, count=10)
    assert on.success >= off.success + 0.15
    assert on.steps <= 0.85 * off.steps
    assert (off.advised, off.learned) == (0.0, 0)
    assert on.advised >= 0.5, "five of the ten are of a sort that was done before"
    assert on.learned > 3


def test_explored_tasks_are_attempted_several_times_and_teach(tmp_path: Path) -> None:
    outcome = run_arm(ARMS["MaTTS parallel"], tmp_path, count=2)
    assert (outcome.attempts, len(outcome.done)) == (6, 2)
    assert outcome.learned > 0


def test_a_model_acts_distils_and_judges_in_place_of_the_rules(tmp_path: Path, scripted_server: ServerFactory) -> None:
    judged = iter([True, *[False] * 4])
    lesson = {"title": "Countries", "description": "When send_parcel is called.", "facet": "tool"}
    content = "When send_parcel is called, use `country=IRL`."

    def answer(request: Request) -> Reply:
        if request.name == "ActionReply":
            return Reply(content={"thought": "let us see", "action": "check_status"})
        if request.name == "JudgeReply":
            return Reply(content={"success": next(judged), "confidence": 0.9, "reason": "so it seems"})
        return Reply(content={"items": [{**lesson, "content": content}]})

    server = scripted_server(answer)
    model = server.chat_model()
    agent = ModelAgent(model)
    options: dict[str, Any] = {"agent": agent, "models": {"experience": model}}
    outcome = run_arm(ARMS["items"], tmp_path, count=5, judge=True, **options)
    assert (outcome.success, outcome.steps, outcome.judged, agent.degraded) == (0.0, 8.0, 4 / 5, [])
    assert {agent: calls for agent, (calls, _, _) in outcome.usage.items()} == {"judge": 5, "distiller": 5}
    assert all("reward" not in request.text for request in server.requests), "the judge sees no outcome"
    acts = [request.text for request in server.requests if request.name == "ActionReply"]
    assert (len(acts), content in acts[0], content in acts[-1]) == (40, False, True)
    assert "1. check_status\n   200 OK" in acts[1]
    server.follow([Reply(content="no JSON")])
    assert run_arm(ARMS["off"], tmp_path / "bad", count=1, **options).steps == 0.0
    assert agent.degraded


def test_the_benchmark_prints_a_table_and_writes_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path(__file__).resolve().parents[1] / "benchmarks" / "experience.py"
    out = tmp_path / "figures.json"
    runpy.run_path(str(script))["main"](["--tasks", "2", "--arm", "trajectories", "--json", str(out)])
    assert [one["arm"] for one in json.loads(out.read_text())] == ["off", "trajectories"]
    assert "success" in capsys.readouterr().out
