"""Spending more on one task: parallel attempts and re-examination, what is chosen, what is learned, what is not called."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.errors import GraphInterrupt

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import ConfigError, InvalidInputError
from hexamem.experience.exploring import AttemptResult
from hexamem.experience.side_effects import has_side_effects, mark_side_effects
from hexamem.exploring import Attempt

from .learners import INVOICE, INVOICES, SEVEN, Learner, alice, attempt, learn, learner, lesson, opened, replies, taught  # noqa: F401
from .scripted_server import Reply, ServerFactory, loopback_only, scripted_server  # noqa: F401

BEST = {"best": 2, "reason": "it checked the total"}
FAILED = {"success": False, "confidence": 1.0, "reason": "nothing shows it"}
POINTS = {
    "points": [
        {"title": f"Look at {word}", "description": "When in doubt.", "principle": f"Find out how {word} is written."}
        for word in ("money", "dates")
    ]
}


def acting(*ends: object) -> Callable[[Attempt], Any]:
    """An agent whose attempts end one after the other like this."""

    def runner(attempt: Attempt) -> Any:
        for n in range(attempt.number):
            attempt.run.step(action=f"attempt {attempt.number} act {n}", observation="so")
        return ends[min(attempt.number, len(ends)) - 1]

    return runner


def labels_of(exploration: Any) -> list[bool]:
    return [run.outcome.label for run in exploration.runs if run.outcome]


# Parallel attempts.


def test_parallel_attempts_run_at_once_under_the_same_advice(alice: UserMemory) -> None:
    earlier = attempt(alice, INVOICES)
    together = threading.Barrier(4, timeout=20)
    advice: list[str] = []

    def runner(attempt: Attempt) -> bool:
        together.wait()  # none goes on before all are there
        attempt.run.step(action=f"act {attempt.number}")
        advice.append(attempt.advice.text)
        return attempt.number == 3

    explored = alice.experience.explore(INVOICE, runner, 4, env="billing")
    assert (len(set(advice)), "</experience>" in advice[0]) == (1, True)
    assert [run.shown for run in explored.runs] == [(earlier,)] * 4
    assert labels_of(explored) == [False, False, True, False]
    assert (explored.best, explored.chosen_by, explored.passes) == (explored.runs[2].id, "outcome", 4)
    assert len({str(run.metadata["exploration"]) for run in explored.runs}) == 1
    assert "waits for a model" in explored.distilling


def test_the_best_has_the_highest_reward_and_then_the_fewest_steps_and_the_least_success_is_a_parameter(
    alice: UserMemory,
) -> None:
    explored = alice.experience.explore(INVOICE, acting(0.4, 0.9, 0.9), 3)
    assert (explored.best, explored.chosen_by) == (explored.runs[1].id, "reward")
    assert (explored.runs[1].evidence, labels_of(explored)) == ("reward 0.9", [False, True, True])
    for reward, least, label in (
        (0.5, {}, True),
        (0.49, {}, False),
        (0.9, {"success_from": 1.0}, False),
        (-3, {"success_from": -5.0}, True),
        (AttemptResult(outcome=True, reward=0.1), {}, True),  # an outcome goes before the reward
    ):
        assert labels_of(alice.experience.explore(INVOICE, acting(reward), 1, **least)) == [label]
    for least, passes in ((0.5, 2), (1.0, 3)):  # a re-examined run goes on until its reward is a success
        runner = acting(0.4, 0.9, 1.0)
        again = alice.experience.explore(INVOICE, runner, 5, mode="sequential", success_from=least)
        assert again.passes == passes


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_an_interrupt_of_the_agents_graph_passes_through(mode: Any, alice: UserMemory) -> None:
    def runner(attempt: Attempt) -> bool:
        attempt.run.step(action="ask a person")
        if attempt.number == 2:
            raise GraphInterrupt
        return False

    with pytest.raises(GraphInterrupt):
        alice.experience.explore(INVOICE, runner, 2, mode=mode)
    assert not any(step.error for run in alice.experience.runs() for step in alice.experience.steps(run.id))


def test_attempts_without_an_outcome_are_compared_by_a_model_judged_and_distilled(learner: Learner) -> None:
    user, server = learner(replies(lesson("Invoices"), BestRunReply=BEST, JudgeReply=FAILED))
    explored = user.experience.explore(INVOICE, acting(None), 3)
    assert (explored.best, explored.chosen_by, explored.reason) == (explored.runs[1].id, "judge", BEST["reason"])
    (request,) = server.requests
    assert all(f"Run {n}." in request.text and f"attempt {n} act 0" in request.text for n in (1, 2, 3))
    assert user.flush()
    assert [request.name for request in server.requests[1:]] == [*["JudgeReply"] * 3, "DistilledReply"]
    assert [run.outcome.source for run in user.experience.runs() if run.outcome] == ["judge"] * 3


@pytest.mark.parametrize("reply", [None, "no JSON", {"best": 7, "reason": "x"}])
def test_without_a_usable_comparison_rules_choose_and_report_it(
    reply: object, alice: UserMemory, learner: Learner
) -> None:
    user = alice if reply is None else learner([Reply(content=reply)])[0]
    explored = user.experience.explore(INVOICE, acting(None), 2)
    assert (explored.best, explored.chosen_by) == (explored.runs[0].id, "rules")
    assert ("rules chose" if reply is None else "judge:") in explored.degraded[0]


@pytest.mark.parametrize(("mode", "origin"), [("parallel", "contrast"), ("sequential", "success")])
def test_all_attempts_or_passes_are_distilled_once(mode: Any, origin: str, learner: Learner) -> None:
    user, server = learner(replies(*SEVEN))
    explored = user.experience.explore(INVOICE, acting(False, True), 2, env="billing", mode=mode)
    assert explored.distilling == ""
    assert user.flush()
    (request,) = server.requests
    how = "independently" if mode == "parallel" else "re-examination"
    assert all(part in request.text for part in (how, "attempt 1 act 0", "attempt 2 act 1"))
    items = user.experience.items()
    assert [item.origin for item in items] == [origin] * (5 if mode == "parallel" else 3)
    assert {frozenset(item.run_ids) for item in items} == {frozenset(run.id for run in explored.runs)}
    assert all(run.distilled for run in user.experience.runs())


def test_an_attempt_that_fails_is_left_unfinished_unless_it_had_finished_and_the_others_count(
    alice: UserMemory,
) -> None:
    def runner(attempt: Attempt) -> bool:
        attempt.run.step(action="act")
        if attempt.number == 1:
            raise TimeoutError("no answer")
        if attempt.number == 2:
            attempt.run.finish(True, evidence="it was paid")
            raise RuntimeError("the connection is gone")
        return False

    explored = alice.experience.explore(INVOICE, runner, 3)
    assert [run.status for run in explored.runs] == ["finished"] * 2
    assert explored.best == explored.runs[0].id
    assert all(part in str(explored.degraded) for part in ("TimeoutError", "RuntimeError after its run was finished"))
    (broken,) = [run for run in alice.experience.runs() if run.status == "unfinished"]
    assert alice.experience.steps(broken.id)[-1].error == "TimeoutError: no answer"

    def fails(_: Attempt) -> bool:
        raise TimeoutError("never")

    with pytest.raises(TimeoutError, match="never"):
        alice.experience.explore(INVOICE, fails, 2)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"k": 0}, "whole number from 1 to 8"),
        ({"k": 9}, "whole number from 1 to 8"),
        ({"mode": "zigzag"}, "parallel, sequential"),
        ({"runner": 3}, "takes an attempt"),
        ({"task": " "}, "blank"),
        ({"runner": lambda attempt: "fine"}, "AttemptResult"),
        ({"runner": lambda attempt: float("nan")}, "AttemptResult"),
        ({"success_from": float("nan")}, "success_from = nan"),
    ],
)
def test_an_impossible_exploration_is_refused(wrong: dict[str, Any], rule: str, alice: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match=rule):
        alice.experience.explore(**{"task": INVOICE, "runner": acting(True), "k": 2, **wrong})


def test_the_attempts_at_one_task_count_once_for_what_they_were_given(learner: Learner) -> None:
    user, server = learner(replies(lesson("Invoices")))
    learn(user, INVOICES)
    server.follow(replies())
    (item,) = user.experience.items()
    user.experience.explore(INVOICE, acting(False), 5, env="billing")
    assert user.flush()
    user.experience.explore(INVOICE, acting(False, True), 2, env="billing")
    item = user.experience.show(item.id)
    assert (item.status, item.retrieved, item.helped, item.hurt) == ("active", 2, 1, 1)


# Re-examination.


def test_a_run_is_examined_again_until_it_is_done(alice: UserMemory) -> None:
    earlier: list[str] = []

    def runner(attempt: Attempt) -> bool:
        earlier.append(attempt.earlier)
        attempt.run.step(action=f"pass {attempt.number}", observation="so")
        return attempt.number == 3

    explored = alice.experience.explore(INVOICE, runner, 5, mode="sequential")
    assert (explored.passes, len(explored.runs), explored.chosen_by) == (3, 1, "only")
    assert labels_of(explored) == [True]
    assert earlier[0] == ""
    assert ("pass 1" in earlier[1], "pass 2" in earlier[2], earlier[2].count("</earlier>")) == (True, True, 1)
    thoughts = [step.thought for step in alice.experience.steps(explored.best) if step.thought]
    assert thoughts == ["Re-examination 1 of at most 5:", "Re-examination 2 of at most 5:"]


def test_a_pass_that_changes_nothing_or_finishes_the_run_is_the_last_and_there_are_k_at_most(
    alice: UserMemory,
) -> None:
    def once(attempt: Attempt) -> None:
        if attempt.number == 1:
            attempt.run.step(action="all of it")

    def finishing(attempt: Attempt) -> None:
        attempt.run.step(action="act")
        attempt.run.finish(False, evidence="it is not there")

    assert alice.experience.explore(INVOICE, once, 4, mode="sequential").passes == 2
    assert alice.experience.explore(INVOICE, acting(False), 2, mode="sequential").passes == 3
    finished = alice.experience.explore(INVOICE, finishing, 2, mode="sequential")
    assert (finished.passes, finished.best_run.evidence) == (1, "it is not there")
    assert "finished its run itself" in finished.degraded[0]


# Side effects.


def payments() -> tuple[Any, list[str]]:
    paid: list[str] = []

    @tool
    def pay(amount: str) -> str:
        """Pay."""
        paid.append(amount)
        return f"paid {amount}, no. {len(paid)}"

    return mark_side_effects(pay), paid


@tool
def look_up(what: str) -> str:
    """Look something up."""
    return f"{what} found"


def test_tools_with_side_effects_are_never_fanned_out(alice: UserMemory, scripted_server: ServerFactory) -> None:
    pay, paid = payments()

    def runner(attempt: Attempt) -> None:
        tools = {tool.name: tool for tool in attempt.tools}
        assert tools["look_up"].invoke({"what": "x"}) == "x found"
        attempt.run.step(action="pay", observation=tools["pay"].invoke({"amount": "5"}))

    explored = alice.experience.explore(INVOICE, runner, 3, tools=[pay, look_up])
    assert (paid, explored.kept_back) == ([], ('pay({"amount": "5"})',) * 3)
    assert "was not called" in alice.experience.steps(explored.best)[0].observation
    agent = create_agent(scripted_server([Reply(content={"amount": "5"}, tool="pay")]).chat_model(), [pay])

    def passing(attempt: Attempt) -> None:  # the tool itself, and the attempt's callback
        agent.invoke({"messages": [HumanMessage(attempt.task)]}, config={"callbacks": [attempt.callback()]})

    with pytest.raises(Exception, match="side effects"):
        alice.experience.explore(INVOICE, passing, 2, tools=[pay])
    assert paid == []
    alice.experience.explore(INVOICE, runner, 1, tools=[pay, look_up])
    assert paid == ["5"], "a single attempt fans nothing out"


def test_the_agent_gets_the_task_unchanged_and_the_record_has_no_secret_of_it(
    tmp_path: Path, memory: Memory, traces: Callable[..., list[str]]
) -> None:
    user, secret, tasks = memory.user("alice"), "hunter2-x9Q", list[str]()

    def runner(attempt: Attempt) -> bool:
        tasks.append(attempt.task)
        attempt.run.step(action=f"login {secret}")
        return attempt.number == 2

    user.remember(f"the wifi password is {secret}")
    for mode in ("parallel", "sequential"):
        user.experience.explore(f"log in with the password {secret}", runner, 2, mode=mode)
    assert all(secret in task for task in tasks)
    assert traces(tmp_path, secret) == []


def test_a_re_examination_does_not_repeat_a_side_effect_but_may_have_another(alice: UserMemory) -> None:
    pay, paid = payments()

    def runner(attempt: Attempt) -> bool:
        (guarded,) = attempt.tools
        observation = guarded.invoke({"amount": "5" if attempt.number < 3 else "6"})
        attempt.run.step(action="pay", observation=observation)
        return attempt.number == 3

    explored = alice.experience.explore(INVOICE, runner, 3, mode="sequential", tools=[pay])
    assert (paid, explored.kept_back) == (["5", "6"], ('pay({"amount": "5"})',))
    observations = [step.observation for step in alice.experience.steps(explored.best) if step.action]
    assert observations == ["paid 5, no. 1", "paid 5, no. 1", "paid 6, no. 2"]


def test_guarded_tools_work_async_and_a_failed_call_may_be_repeated(alice: UserMemory) -> None:
    tries: list[int] = []

    @tool
    async def book(day: str) -> str:
        """Book."""
        tries.append(1)
        if len(tries) == 1:
            raise TimeoutError("try again")
        return f"booked {day}"

    async def runner(attempt: Attempt) -> bool:
        (guarded,) = attempt.tools
        with pytest.raises(TimeoutError):
            await guarded.ainvoke({"day": "Monday"})
        return bool(await guarded.ainvoke({"day": "Monday"}) == "booked Monday")

    explored = alice.experience.explore(INVOICE, runner, 1, mode="sequential", tools=[mark_side_effects(book)])
    assert labels_of(explored) == [True]


def test_marks_are_metadata_tags_and_mcp_annotations() -> None:
    marks: list[tuple[dict[str, Any], bool]] = [
        ({}, False),
        ({"metadata": {"side_effects": True}}, True),
        ({"tags": ["side_effects"]}, True),
        ({"metadata": {"destructiveHint": True}}, True),
        ({"metadata": {"annotations": {"readOnlyHint": False}}}, True),
        ({"metadata": {"readOnlyHint": True}}, False),
    ]
    for changed, marked in marks:
        assert has_side_effects(look_up.model_copy(update=changed)) is marked, changed


# Focus points, and the switch.


def test_focus_points_are_shown_while_exploring_and_at_no_other_time(learner: Learner, alice: UserMemory) -> None:
    user, server = learner(replies(FocusReply=POINTS))
    points = user.experience.focus("billing", [INVOICE, INVOICES]).points
    assert [point.title for point in points] == ["Look at money", "Look at dates"]
    assert {(point.origin, point.environment) for point in points} == {("focus", "billing")}
    assert INVOICES in server.requests[0].text
    assert not user.experience.recall("Look at money", env="billing").parts
    advice: list[str] = []
    explored = user.experience.explore(INVOICE, lambda one: advice.append(one.advice.text) or True, 1, env="billing")
    assert "Find out how money is written." in advice[0]
    assert explored.best_run.shown == tuple(point.id for point in points)
    assert not user.experience.explore(INVOICE, acting(True), 1, env="shop").best_run.shown
    user.experience.retire(points[0].id)
    assert len(user.experience.focus("billing", [INVOICE]).points) == 2, "what was retired may be found again"
    assert "need a model" in alice.experience.focus("billing", [INVOICE]).degraded[0]
    with pytest.raises(InvalidInputError, match="no text"):
        alice.experience.focus("billing", [" "])
    user, _ = learner([Reply(content="no JSON")])
    focused = user.experience.focus("billing", [INVOICE])
    assert (focused.points, focused.degraded[0][:6]) == ((), "focus:")


def test_switched_off_runs_are_recorded_and_nothing_is_shown_or_learned(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(replies(lesson("Invoices"), JudgeReply=FAILED))
    with opened(tmp_path, server) as memory:
        learn(memory.user("alice"), INVOICES)
        calls = server.calls
    off = Settings(background=False, experience=False)
    with Memory.open(tmp_path, model=server.chat_model(), settings=off) as memory:
        alice = memory.user("alice")
        run = alice.experience.start(INVOICE, env="billing")
        run.step(action="post", error="400: cents")
        assert (run.advice.parts, run.tool_advice("post").parts) == ((), ())
        for text in (
            run.reflect().degraded[0],
            run.finish(True).distilling,
            alice.experience.recall(INVOICE, env="billing").degraded[0],
            alice.experience.focus("billing", ["x"]).degraded[0],
            alice.experience.stats("billing").waiting,
        ):
            assert "switched off" in text
        assert not alice.experience.explore(INVOICE, acting(None), 2, env="billing").best_run.shown
        assert alice.flush()
        stats = alice.experience.stats("billing")
        assert (server.calls, stats.runs, stats.with_advice) == (calls, 4, (0, 0))
    with opened(tmp_path, server) as memory:
        assert memory.user("alice").flush()
        assert server.calls > calls, "once it is switched on, what waited is done"
    with pytest.raises(ConfigError, match=r"Settings\.experience = 'off'"):
        Settings(experience="off")  # type: ignore[arg-type]
