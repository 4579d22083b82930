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

from hexamem.evals.environments.distiller import lessons
from hexamem.evals.environments.experiment import ARMS, Outcome, compare, run_arm
from hexamem.evals.environments.model_agent import ActionReply, ModelAgent
from hexamem.evals.environments.office_api import OfficeApi, _forms
from hexamem.evals.environments.policy import act_out
from hexamem.evals.environments.reading import preference, read_hints
from hexamem.models.schemas import check_strict, strict_schema

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401


def test_tasks_are_the_same_each_time_and_all_different() -> None:
    first, again = OfficeApi(0).tasks(30), OfficeApi(0).tasks(30)
    assert first == again
    assert len({task.text.casefold() for task in first}) == 30
    assert first != OfficeApi(1).tasks(30)
    for task in first[:3]:
        assert act_out(OfficeApi(0), task, "") == act_out(OfficeApi(0), task, "")


class Patient(OfficeApi):
    """An environment without its limit."""

    def begin(self, task: Any) -> Any:
        episode: Any = super().begin(task)
        episode.limit = 200
        return episode


def test_every_task_can_be_done_by_an_agent_with_time_enough() -> None:
    for seed in range(2):
        patient = Patient(seed)
        assert [task.text for task in patient.tasks(20) if not act_out(patient, task, "").done] == []


@settings(max_examples=15, deadline=None)
@given(actions=st.lists(st.text(max_size=30), max_size=8))
def test_no_action_breaks_an_environment_or_does_a_task_by_chance(actions: list[str]) -> None:
    environment = OfficeApi(0)
    episode = environment.begin(environment.tasks(1)[0])
    for action in actions:
        assert not episode.act(action or " ").done


# -- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("advice", "task", "better", "worse"),
    [
        (
            "When post is called, use `amount=4200` instead of `amount=42.00`.",
            "Use post with amount 7.50",
            "post amount=750",
            "post amount=7.50",
        ),
        ("When post is called, use `login` first.", "Use post with amount 7.50", "login", "logout"),
        (
            "Task (done): Use post with amount 9.25\n1. action: post amount=9.25\n   error: 422: amount\n"
            "2. action: post amount=925\n   observation: 201",
            "Use post with amount 7.50",
            "post amount=750",
            "post amount=7.50",
        ),
    ],
)
def test_advice_changes_what_is_preferred(advice: str, task: str, better: str, worse: str) -> None:
    hints = read_hints(advice)
    last = "" if "login" not in advice else "post"
    assert preference(better, f"{task} post", last, hints, []) > preference(worse, f"{task} post", last, hints, [])


def test_advice_for_another_situation_changes_nothing() -> None:
    hints = read_hints("When add_contact is called, use `country=ESP` instead of `country=Spain`.")
    assert preference("send_parcel country=ESP", "Use send_parcel with country Spain", "", hints, []) == 0.0


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=300), st.text(min_size=1, max_size=40), st.text(max_size=60))
def test_no_text_breaks_the_reader(advice: str, action: str, task: str) -> None:
    assert isinstance(preference(action, task, "", read_hints(f"When {advice}, use `{advice}`\n{advice}"), []), float)


def test_the_distiller_sees_what_went_wrong_and_what_put_it_right() -> None:
    runs = (
        "Task (done): Use post with amount 42.00\n"
        "1. action: post amount=42.00\n   error: 409: not now\n"
        "2. action: open_books\n   observation: OK\n"
        "3. action: post amount=42.00\n   error: 422: amount\n"
        "4. action: post amount=4200\n   observation: 201"
    )
    contents = [item["content"] for item in lessons(runs)]
    assert contents[0].startswith("When post is called, use `open_books` first.")
    assert contents[1] == "When post is called, use `amount=4200` instead of `amount=42.00`."
    assert lessons("Task (done): sing\n1. action: sing\n   observation: la") == []


# -- measuring --------------------------------------------------------------------------------------------------------


def test_memory_raises_success_and_saves_steps(tmp_path: Path) -> None:
    off, on = compare([ARMS["off"], ARMS["both"]], tmp_path, count=10)
    assert on.success >= off.success + 0.15
    assert on.steps <= 0.85 * off.steps
    assert (off.advised, off.learned) == (0.0, 0)
    assert on.advised >= 0.5, "five of the ten are of a sort that was done before"
    assert on.learned > 3


def test_explored_tasks_are_attempted_several_times_and_teach(tmp_path: Path) -> None:
    found = run_arm(ARMS["MaTTS parallel"], tmp_path, count=2)
    assert (found.attempts, len(found.done)) == (6, 2)
    assert isinstance(found, Outcome)
    assert found.learned > 0


def test_a_model_acts_distils_and_judges_in_place_of_the_rules(tmp_path: Path, scripted_server: ServerFactory) -> None:
    content = "When send_parcel is called, use `country=IRL`."

    def answer(request: Request) -> Reply:
        if request.name == "ActionReply":
            return Reply(content={"thought": "let us see", "action": "check_status"})
        made = {"title": "Countries", "description": "When send_parcel is called.", "content": content, "facet": "tool"}
        return Reply(content={"items": [made]})

    server = scripted_server(answer)
    model = server.chat_model()
    agent = ModelAgent(model)
    options: dict[str, Any] = {"agent": agent, "models": {"experience": model}}
    found = run_arm(ARMS["items"], tmp_path, count=5, **options)
    assert (found.success, found.steps, agent.degraded) == (0.0, 8.0, [])
    acts = [one.text for one in server.requests if one.name == "ActionReply"]
    assert len(acts) == 40
    assert content not in acts[0]
    assert content in acts[-1]
    assert "1. check_status\n   200 OK" in acts[1]
    server.follow([Reply(content="no JSON")])
    assert run_arm(ARMS["off"], tmp_path / "bad", count=1, **options).steps == 0.0
    assert agent.degraded


def test_the_judge_is_compared_with_the_environment(tmp_path: Path, scripted_server: ServerFactory) -> None:
    judged = iter([True, False, False])

    def answer(request: Request) -> Reply:
        if request.name == "ActionReply":
            return Reply(content={"thought": "let us see", "action": "check_status"})
        if request.name == "JudgeReply":
            return Reply(content={"success": next(judged), "confidence": 0.9, "reason": "so it seems"})
        return Reply(content={"items": []})

    server = scripted_server(answer)
    model = server.chat_model()
    options: dict[str, Any] = {"models": {"experience": model}, "judge": True}
    found = run_arm(ARMS["items"], tmp_path, count=3, agent=ModelAgent(model), **options)
    assert (found.success, found.judged) == (0.0, 2 / 3)
    assert {agent: calls for agent, (calls, _, _) in found.usage.items()} == {"judge": 3, "distiller": 3}
    assert all("reward" not in one.text for one in server.requests)


def test_the_help_for_a_model_lists_every_form_that_the_scripted_agent_tries() -> None:
    examples = {
        "date": "24-October", "number": "42", "amount": "99.50", "phone": "+44-20-1234567", "country": "Spain",
        "duration": "2h30", "weight": "2.5",
    }  # fmt: skip
    assert all(form in OfficeApi.help for kind, value in examples.items() for form in _forms(kind, value))


def test_the_agents_reply_is_flat_and_strict() -> None:
    assert check_strict(strict_schema(ActionReply)) == []


def test_the_benchmark_prints_a_table_and_writes_its_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path(__file__).resolve().parents[1] / "benchmarks" / "experience.py"
    out = tmp_path / "figures.json"
    runpy.run_path(str(script))["main"](["--tasks", "2", "--arm", "trajectories", "--json", str(out)])
    assert [one["arm"] for one in json.loads(out.read_text())] == ["off", "trajectories"]
    assert "success" in capsys.readouterr().out
