"""Spending more on one task: parallel attempts and re-examination, what is chosen, what is learned, what is not called."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import InjectedToolCallId, Tool, tool
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt import InjectedState

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import ConfigError, InvalidInputError
from hexamem.experience.exploring import AttemptResult, BestRunReply, Tried, choose, choose_by_rules
from hexamem.experience.focusing import FocusReply
from hexamem.experience.side_effects import EffectGuard, guarded_tools, has_side_effects, mark_side_effects
from hexamem.exploring import Attempt
from hexamem.memory_types.experience import Run, RunStep
from hexamem.models.schemas import check_strict, strict_schema

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_experience import INVOICE, INVOICES, SEVEN, attempt, distils, item, opened


@pytest.fixture
def alice(labelled_newcomer: UserMemory) -> UserMemory:
    """Somebody new of one memory."""
    return labelled_newcomer


def acting(*ends: object) -> Callable[[Attempt], Any]:
    """An agent whose attempts end one after the other like this."""

    def runner(attempt: Attempt) -> Any:
        for n in range(attempt.number):
            attempt.run.step(action=f"attempt {attempt.number} act {n}", observation="so")
        return ends[min(attempt.number, len(ends)) - 1]

    return runner


def model(
    *items: dict[str, str], best: int = 1, points: int = 2, judge: dict[str, Any] | None = None
) -> Callable[[Request], Reply]:
    """What a model replies to the distiller, the comparer, the judge and the focuser."""

    def answer(request: Request) -> Reply:
        point = {"title": "Look at {}", "description": "When in doubt {}.", "principle": "Find out how {} is written."}
        replies: dict[str, object] = {
            "BestRunReply": {"best": best, "reason": "it checked the total"},
            "JudgeReply": judge or {"success": False, "confidence": 1.0, "reason": "nothing shows it"},
            "FocusReply": {
                "points": [{key: text.format(WORDS[n]) for key, text in point.items()} for n in range(points)]
            },
        }
        return Reply(content=replies.get(request.name or "", {"items": list(items)}))

    return answer


WORDS = ("money", "dates", "names of customers", "errors", "long lists", "drafts", "countries")


# -- parallel ---------------------------------------------------------------------------------------------------------


def test_parallel_attempts_run_at_once_under_the_same_advice(alice: UserMemory) -> None:
    earlier = attempt(alice, INVOICES)
    together = threading.Barrier(4, timeout=20)
    seen: list[str] = []

    def runner(one: Attempt) -> bool:
        together.wait()  # none goes on before all are there
        one.run.step(action=f"act {one.number}")
        seen.append(one.advice.text)
        return one.number == 3

    found = alice.experience.explore(INVOICE, runner, 4, env="billing")
    assert len(set(seen)) == 1
    assert "</experience>" in seen[0]
    assert [one.shown for one in found.runs] == [(earlier,)] * 4
    assert [one.outcome.label for one in found.runs if one.outcome] == [False, False, True, False]
    assert found.best == found.runs[2].id
    assert (found.chosen_by, found.passes) == ("outcome", 4)
    assert len({str(one.metadata["exploration"]) for one in found.runs}) == 1
    assert "waits for a model" in found.distilling


def test_the_best_is_the_one_of_the_highest_reward_and_of_those_the_shortest(alice: UserMemory) -> None:
    found = alice.experience.explore(INVOICE, acting(0.4, 0.9, 0.9), 3)
    assert (found.best, found.chosen_by) == (found.runs[1].id, "reward")
    assert found.runs[1].evidence == "reward 0.9"
    assert [one.outcome.label for one in found.runs if one.outcome] == [False, True, True]


def test_the_lowest_reward_that_is_a_success_is_a_parameter(alice: UserMemory) -> None:
    def labels(reward: object, **options: float) -> bool:
        outcome = alice.experience.explore(INVOICE, acting(reward), 1, **options).best_run.outcome
        assert outcome is not None
        return outcome.label

    assert (labels(0.5), labels(0.49)) == (True, False)
    assert (labels(0.9, success_from=1.0), labels(1.0, success_from=1.0)) == (False, True)
    assert labels(-3, success_from=-5.0)
    assert labels(AttemptResult(outcome=True, reward=0.1)), "an outcome goes before the reward"
    passes = [
        alice.experience.explore(INVOICE, acting(0.4, 0.9, 1.0), 5, mode="sequential", success_from=threshold).passes
        for threshold in (0.5, 1.0)
    ]
    assert passes == [2, 3], "a re-examined run is looked at until its reward is a success"


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_an_interrupt_of_the_agents_graph_passes_through(mode: Any, alice: UserMemory) -> None:
    def runner(one: Attempt) -> bool:
        one.run.step(action="ask a person")
        if one.number == 2:
            raise GraphInterrupt
        return False

    with pytest.raises(GraphInterrupt):
        alice.experience.explore(INVOICE, runner, 2, mode=mode)
    assert not any(step.error for run in alice.experience.runs() for step in alice.experience.steps(run.id))


def test_where_nobody_knows_a_model_compares(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(model(best=2))
    with opened(tmp_path, server) as memory:
        found = memory.user("alice").experience.explore(INVOICE, acting(None), 3)
        assert (found.best, found.chosen_by, found.reason) == (found.runs[1].id, "judge", "it checked the total")
        (request,) = server.requests
        assert all(f"Run {n}." in request.text and f"attempt {n} act 0" in request.text for n in (1, 2, 3))


@pytest.mark.parametrize("reply", ["no JSON", {"best": 7, "reason": "x"}, {"best": "first", "reason": "x"}])
def test_a_comparison_that_cannot_be_used_falls_to_rules_and_says_so(
    reply: object, tmp_path: Path, scripted_server: ServerFactory
) -> None:
    with opened(tmp_path, scripted_server([Reply(content=reply)])) as memory:
        found = memory.user("alice").experience.explore(INVOICE, acting(None), 2)
        assert (found.best, found.chosen_by) == (found.runs[0].id, "rules")
        assert found.degraded[0].startswith("judge:")


def test_without_a_model_rules_choose_and_say_so(alice: UserMemory) -> None:
    found = alice.experience.explore(INVOICE, acting(None), 2)
    assert (found.chosen_by, found.best) == ("rules", found.runs[0].id)
    assert "rules chose" in found.degraded[0]


def test_parallel_attempts_are_distilled_once_by_contrast_over_all_of_them(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(model(*SEVEN))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        found = alice.experience.explore(INVOICE, acting(False, True, True), 3, env="billing")
        assert found.distilling == ""
        assert alice.flush()
        assert [one.name for one in server.requests] == ["DistilledReply"]
        text = server.requests[0].text
        assert "independently" in text
        assert all(f"attempt {n} act 0" in text for n in (1, 2, 3))
        items = alice.experience.items()
        assert [one.origin for one in items] == ["contrast"] * 5
        assert {frozenset(one.run_ids) for one in items} == {frozenset(one.id for one in found.runs)}
        assert all(one.distilled for one in alice.experience.runs())


def test_k_agents_at_one_server_at_once_are_recorded_apart_compared_and_distilled(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    together = threading.Barrier(4, timeout=20)
    of_memory = model(*SEVEN, best=3)

    def answer(request: Request) -> Reply:
        if request.name in ("BestRunReply", "JudgeReply", "DistilledReply"):
            return of_memory(request)
        mine = re.findall(r"attempt \d", request.text)[0]
        if not any(one["role"] == "tool" for one in request.messages):
            together.wait()  # all agents ask before any is answered
            return Reply(content={"what": mine}, tool="look_up")
        return Reply(content=f"{mine} is done", plain=True)

    server = scripted_server(answer)
    agent = create_agent(server.chat_model(), [look_up])

    def runner(one: Attempt) -> None:
        messages = {"messages": [HumanMessage(f"{one.task} (attempt {one.number})")]}
        agent.invoke(messages, config={"callbacks": [one.callback()]})

    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        found = alice.experience.explore(INVOICE, runner, 4, env="billing", tools=[look_up])
        for number, run in enumerate(found.runs, start=1):
            steps = alice.experience.steps(run.id)
            assert [(step.action, step.observation) for step in steps] == [
                (f'look_up({{"what": "attempt {number}"}})', f"attempt {number} found"),
                ("answer", f"attempt {number} is done"),
            ]
        assert (found.best, found.chosen_by, found.degraded) == (found.runs[2].id, "judge", ())
        assert alice.flush()
        assert len(alice.experience.items()) == 5
        names = [one.name for one in server.requests[8:]]
        assert names == ["BestRunReply", *["JudgeReply"] * 4, "DistilledReply"]


def test_attempts_that_nobody_judged_are_judged_before_they_are_contrasted(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(model(item("Invoices")))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        alice.experience.explore(INVOICE, acting(None), 2)
        assert alice.flush()
        assert [one.name for one in server.requests] == ["BestRunReply", "JudgeReply", "JudgeReply", "DistilledReply"]
        assert [one.outcome.source for one in alice.experience.runs() if one.outcome] == ["judge"] * 2


def test_an_attempt_that_breaks_is_left_unfinished_and_the_others_count(alice: UserMemory) -> None:
    def runner(one: Attempt) -> bool:
        if one.number == 1:
            raise TimeoutError("no answer")
        return True

    found = alice.experience.explore(INVOICE, runner, 2)
    assert len(found.runs) == 1
    assert "TimeoutError" in found.degraded[0]
    broken = next(one for one in alice.experience.runs() if one.id != found.best)
    assert broken.status == "unfinished"
    assert alice.experience.steps(broken.id)[-1].error == "TimeoutError: no answer"

    def breaks(one: Attempt) -> bool:
        raise TimeoutError("never")

    with pytest.raises(TimeoutError, match="never"):
        alice.experience.explore(INVOICE, breaks, 2)


def test_an_async_agent_is_awaited_and_the_async_twin_explores(alice: UserMemory) -> None:
    async def runner(one: Attempt) -> float:
        await asyncio.sleep(0)
        await one.run.astep(action="act")
        return 1.0

    found = asyncio.run(alice.experience.aexplore(INVOICE, runner, 2))
    assert found.best_run.outcome is not None
    assert found.best_run.outcome.label
    assert alice.experience.explore(INVOICE, runner, 1, mode="sequential").passes == 1


@pytest.mark.parametrize(
    ("given", "told"),
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
def test_what_does_not_fit_is_refused(given: dict[str, Any], told: str, alice: UserMemory) -> None:
    with pytest.raises(InvalidInputError, match=told):
        alice.experience.explore(**{"task": INVOICE, "runner": acting(True), "k": 2, **given})


def test_the_attempts_at_one_task_count_once_against_what_they_were_given(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(distils(item("Invoices")))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, INVOICES)
        assert alice.flush()
        server.follow(distils())
        (one,) = alice.experience.items()
        alice.experience.explore(INVOICE, acting(False), 5, env="billing")
        assert alice.flush()
        alice.experience.explore(INVOICE, acting(False, True), 2, env="billing")
        found = alice.experience.show(one.id)
        assert (found.status, found.retrieved, found.helped, found.hurt) == ("active", 2, 1, 1)


# -- sequential -------------------------------------------------------------------------------------------------------


def test_a_run_is_examined_again_until_it_is_done(alice: UserMemory) -> None:
    seen: list[str] = []

    def runner(one: Attempt) -> bool:
        seen.append(one.earlier)
        one.run.step(action=f"pass {one.number}", observation="so")
        return one.number == 3

    found = alice.experience.explore(INVOICE, runner, 5, mode="sequential")
    assert (found.passes, len(found.runs), found.chosen_by) == (3, 1, "only")
    assert found.best_run.outcome is not None
    assert found.best_run.outcome.label
    assert seen[0] == ""
    assert "pass 1" in seen[1]
    assert "pass 2" in seen[2]
    assert seen[2].count("</earlier>") == 1
    thoughts = [step.thought for step in alice.experience.steps(found.best) if step.thought]
    assert thoughts == ["Re-examination 1 of at most 5:", "Re-examination 2 of at most 5:"]


def test_a_look_that_changes_nothing_confirms_the_run_and_k_looks_are_the_most(alice: UserMemory) -> None:
    def once(one: Attempt) -> bool | None:
        if one.number == 1:
            one.run.step(action="all of it")
            return None
        return False if one.number > 2 else None

    assert alice.experience.explore(INVOICE, once, 4, mode="sequential").passes == 2
    assert alice.experience.explore(INVOICE, acting(False), 2, mode="sequential").passes == 3


def test_a_re_examined_run_is_distilled_from_all_of_its_notes(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(model(*SEVEN))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        alice.experience.explore(INVOICE, acting(False, True), 3, mode="sequential")
        assert alice.flush()
        (request,) = server.requests
        assert "re-examination" in request.text
        assert "attempt 1 act 0" in request.text
        assert "attempt 2 act 1" in request.text
        assert [one.origin for one in alice.experience.items()] == ["success"] * 3


# -- side effects -----------------------------------------------------------------------------------------------------


def payments() -> tuple[Any, list[str]]:
    made: list[str] = []

    @tool
    def pay(amount: str) -> str:
        """Pay."""
        made.append(amount)
        return f"paid {amount}, no. {len(made)}"

    return mark_side_effects(pay), made


@tool
def look_up(what: str) -> str:
    """Look something up."""
    return f"{what} found"


def test_tools_with_side_effects_are_never_fanned_out(alice: UserMemory) -> None:
    pay, made = payments()

    def runner(one: Attempt) -> None:
        tools = {each.name: each for each in one.tools}
        assert tools["look_up"].invoke({"what": "x"}) == "x found"
        one.run.step(action="pay", observation=tools["pay"].invoke({"amount": "5"}))

    found = alice.experience.explore(INVOICE, runner, 3, tools=[pay, look_up])
    assert made == []
    assert found.kept_back == ('pay({"amount": "5"})',) * 3
    assert "was not called" in alice.experience.steps(found.best)[0].observation
    alice.experience.explore(INVOICE, runner, 1, tools=[pay, look_up])
    assert made == ["5"], "a single attempt fans nothing out"


def test_the_agent_gets_the_task_as_it_is_and_the_record_has_no_secret_of_it(
    tmp_path: Path, memory: Memory, traces: Callable[..., list[str]]
) -> None:
    alice = memory.user("alice")
    secret = "hunter2-x9Q"
    seen: list[str] = []

    def runner(one: Attempt) -> bool:
        seen.append(one.task)
        one.run.step(action=f"login {secret}")
        return one.number == 2

    alice.remember(f"the wifi password is {secret}")
    for mode in ("parallel", "sequential"):
        alice.experience.explore(f"log in with the password {secret}", runner, 2, mode=mode)
    assert all(secret in one for one in seen)
    assert traces(tmp_path, secret) == []


def test_a_graph_that_passes_the_attempts_callback_cannot_call_them_either(
    alice: UserMemory, scripted_server: ServerFactory
) -> None:
    pay, made = payments()
    server = scripted_server(lambda request: Reply(content={"amount": "5"}, tool="pay"))
    agent = create_agent(server.chat_model(), [pay])  # the tool itself, not the attempt's

    def runner(one: Attempt) -> None:
        agent.invoke({"messages": [HumanMessage(one.task)]}, config={"callbacks": [one.callback()]})

    with pytest.raises(Exception, match="side effects"):
        alice.experience.explore(INVOICE, runner, 2, tools=[pay])
    assert made == []


def test_a_re_examination_does_not_repeat_a_side_effect_but_may_have_another(alice: UserMemory) -> None:
    pay, made = payments()

    def runner(one: Attempt) -> bool:
        amount = "5" if one.number < 3 else "6"
        (guarded,) = one.tools
        one.run.step(action="pay", observation=guarded.invoke({"amount": amount}))
        return one.number == 3

    found = alice.experience.explore(INVOICE, runner, 3, mode="sequential", tools=[pay])
    assert made == ["5", "6"]
    assert found.kept_back == ('pay({"amount": "5"})',)
    said = [step.observation for step in alice.experience.steps(found.best) if step.action]
    assert said == ["paid 5, no. 1", "paid 5, no. 1", "paid 6, no. 2"]


def test_guarded_tools_work_async_and_a_failed_call_may_be_made_again(alice: UserMemory) -> None:
    tries: list[int] = []

    @tool
    async def book(day: str) -> str:
        """Book."""
        tries.append(1)
        if len(tries) == 1:
            raise TimeoutError("try again")
        return f"booked {day}"

    async def runner(one: Attempt) -> str | bool:
        (guarded,) = one.tools
        with pytest.raises(TimeoutError):
            await guarded.ainvoke({"day": "Monday"})
        return bool(await guarded.ainvoke({"day": "Monday"}) == "booked Monday")

    found = alice.experience.explore(INVOICE, runner, 1, mode="sequential", tools=[mark_side_effects(book)])
    assert found.best_run.outcome is not None
    assert found.best_run.outcome.label


@pytest.mark.parametrize(
    ("changed", "marked"),
    [
        ({}, False),
        ({"metadata": {"side_effects": True}}, True),
        ({"tags": ["side_effects"]}, True),
        ({"metadata": {"destructiveHint": True}}, True),
        ({"metadata": {"annotations": {"readOnlyHint": False}}}, True),
        ({"metadata": {"readOnlyHint": True}}, False),
    ],
)
def test_marks_are_metadata_tags_and_mcp_annotations(changed: dict[str, Any], marked: bool) -> None:
    assert has_side_effects(look_up.model_copy(update=changed)) is marked


# -- focus points -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [FocusReply, BestRunReply])
def test_the_replies_are_flat_and_strict(reply: Any) -> None:
    assert check_strict(strict_schema(reply)) == []


def test_focus_points_are_given_while_exploring_and_at_no_other_time(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(model(points=2))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        found = alice.experience.focus("billing", [INVOICE, INVOICES])
        assert [one.title for one in found.points] == ["Look at money", "Look at dates"]
        assert {(one.origin, one.environment) for one in found.points} == {("focus", "billing")}
        assert INVOICES in server.requests[0].text
        assert not alice.experience.recall("Look at money", env="billing").parts
        seen: list[str] = []
        explored = alice.experience.explore(INVOICE, lambda one: seen.append(one.advice.text) or True, 1, env="billing")
        assert "Find out how money is written." in seen[0]
        assert explored.best_run.shown == tuple(one.id for one in found.points)
        assert not alice.experience.explore(INVOICE, acting(True), 1, env="shop").best_run.shown
        done = alice.experience.retire(found.points[0].id)
        assert len(alice.experience.focus("billing", [INVOICE]).points) == 2, "what was retired may be found again"
        alice.undo(done.id)


def test_focus_points_are_at_most_five_and_said_once(tmp_path: Path, scripted_server: ServerFactory) -> None:
    with opened(tmp_path, scripted_server(model(points=7))) as memory:
        alice = memory.user("alice")
        assert len(alice.experience.focus("billing", [INVOICE]).points) == 5
        assert len(alice.experience.focus("billing", [INVOICE]).points) == 5


def test_without_a_model_or_a_usable_reply_there_are_no_new_points_and_it_says_why(
    alice: UserMemory, tmp_path: Path, scripted_server: ServerFactory
) -> None:
    assert "need a model" in alice.experience.focus("billing", [INVOICE]).degraded[0]
    with pytest.raises(InvalidInputError, match="no text"):
        alice.experience.focus("billing", [" "])
    with opened(tmp_path / "other", scripted_server([Reply(content="no JSON")])) as memory:
        found = memory.user("bob").experience.focus("billing", [INVOICE])
        assert found.points == ()
        assert found.degraded[0].startswith("focus:")


# -- the switch -------------------------------------------------------------------------------------------------------


def test_switched_off_runs_are_recorded_and_nothing_is_given_or_learned(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(model(item("Invoices")))
    with opened(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, INVOICES)
        alice.flush()
        calls = server.calls
    with Memory.open(
        tmp_path, model=server.chat_model(), settings=Settings(background=False, experience=False)
    ) as memory:
        alice = memory.user("alice")
        run = alice.experience.start(INVOICE, env="billing")
        assert not run.advice.parts
        run.step(action="post", error="400: cents")
        assert "switched off" in run.reflect().degraded[0]
        assert run.tool_advice("post").parts == ()
        assert "switched off" in run.finish(True).distilling
        assert "switched off" in alice.experience.recall(INVOICE, env="billing").degraded[0]
        assert not alice.experience.explore(INVOICE, acting(None), 2, env="billing").best_run.shown
        assert "switched off" in alice.experience.focus("billing", ["x"]).degraded[0]
        assert alice.flush()
        assert server.calls == calls
        found = alice.experience.stats("billing")
        assert (found.runs, found.with_advice) == (4, (0, 0))
        assert "switched off" in found.waiting
    with opened(tmp_path, server) as memory:
        assert memory.user("alice").flush()
        assert server.calls > calls, "once it is switched on, what waited is done"


def test_the_switch_is_true_or_false() -> None:
    with pytest.raises(ConfigError, match=r"Settings\.experience = 'off'"):
        Settings(experience="off")  # type: ignore[arg-type]


# -- choosing ---------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | st.booleans(), st.none() | st.floats(-2, 2), st.lists(st.booleans(), max_size=4)),
        min_size=1,
        max_size=6,
    )
)
def test_a_choice_is_never_worse_than_another_by_what_the_environment_said(
    made: list[tuple[bool | None, float | None, list[bool]]],
) -> None:
    tried = []
    for outcome, reward, errors in made:
        run = Run(user="alice", task="do it")
        steps = [RunStep(run_id=run.id, position=n, action="a", error="e" if e else None) for n, e in enumerate(errors)]
        tried.append(Tried(run=run, steps=steps, result=AttemptResult(outcome=outcome, reward=reward)))
    choice, among = choose(tried)
    chosen = tried[(choice or choose_by_rules(tried, among)).at].result
    if all(one.result.reward is not None for one in tried):
        assert chosen.reward == max(one.result.reward or 0 for one in tried) or len(tried) == 1
    elif any(one.result.outcome for one in tried):
        assert chosen.outcome
    else:
        assert chosen.outcome is None or all(one.result.outcome is False for one in tried)


# -- agents that finish their run themselves --------------------------------------------------------------------------


def test_an_attempt_that_breaks_after_it_has_finished_its_run_counts_as_it_was_finished(alice: UserMemory) -> None:
    def runner(one: Attempt) -> bool:
        one.run.step(action="act")
        if one.number == 1:
            one.run.finish(True, evidence="it was paid")
            raise RuntimeError("the connection is gone")
        return False

    found = alice.experience.explore(INVOICE, runner, 3)
    assert found.best == found.runs[0].id
    assert [run.status for run in found.runs] == ["finished"] * 3
    assert any("RuntimeError after its run was finished" in one for one in found.degraded)


def test_a_run_that_its_agent_has_finished_is_not_looked_at_again(alice: UserMemory) -> None:
    def runner(one: Attempt) -> None:
        one.run.step(action="act")
        one.run.finish(False, evidence="it is not there")

    found = alice.experience.explore(INVOICE, runner, 2, mode="sequential")
    assert found.passes == 1
    assert found.best_run.evidence == "it is not there"
    assert any("finished its run itself" in one for one in found.degraded)


# -- what a guarded tool keeps of the tool ----------------------------------------------------------------------------


def test_what_a_graph_injects_does_not_make_a_call_another_one() -> None:
    made: list[int] = []

    @tool(return_direct=True)
    def pay(
        amount: int, state: Annotated[dict[str, Any], InjectedState], call: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Pay."""
        made.append(amount)
        return f"paid {amount}"

    guard = EffectGuard(fanned_out=False)
    (guarded,) = guarded_tools([mark_side_effects(pay)], guard)
    assert guarded.return_direct
    said = []
    for number in range(2):
        args = {"amount": 5, "state": {"messages": [number]}}
        call = {"type": "tool_call", "name": "pay", "id": f"call {number}", "args": args}
        said.append(guarded.invoke(call))
    assert [(one.content, one.tool_call_id) for one in said] == [("paid 5", "call 0"), ("paid 5", "call 1")]
    assert made == [5]
    assert guard.kept_back == ['pay({"amount": 5})']


def test_a_tool_of_one_text_without_a_schema_is_guarded_too() -> None:
    sent: list[str] = []
    send = Tool(name="send", func=lambda text: sent.append(text) or "sent", description="send a text")
    (once,) = guarded_tools([mark_side_effects(send)], EffectGuard(fanned_out=False))
    assert [once.invoke("hello"), once.invoke("hello"), once.invoke("bye")] == ["sent"] * 3
    (never,) = guarded_tools([mark_side_effects(send)], EffectGuard(fanned_out=True))
    assert "was not called" in never.invoke("hello")
    assert sent == ["hello", "bye"]


def test_a_guarded_tool_gives_back_its_artifact() -> None:
    @tool(response_format="content_and_artifact")
    def book(day: str) -> tuple[str, dict[str, str]]:
        """Book."""
        return f"booked {day}", {"day": day}

    call = {"type": "tool_call", "name": "book", "id": "1", "args": {"day": "Monday"}}
    (once,) = guarded_tools([mark_side_effects(book)], EffectGuard(fanned_out=False))
    assert [once.invoke(call).artifact, once.invoke(call).artifact] == [{"day": "Monday"}] * 2
    (never,) = guarded_tools([mark_side_effects(book)], EffectGuard(fanned_out=True))
    assert "was not called" in never.invoke(call).content


def test_examples_that_are_too_long_are_cut_and_it_says_so(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(model(points=1))
    with opened(tmp_path, server) as memory:
        found = memory.user("alice").experience.focus("billing", ["An invoice is due. " * 3_000, INVOICE])
        assert found.points
        assert any("2 of 2 examples" in one for one in found.degraded)
        assert "An invoice is due." in server.requests[0].text
