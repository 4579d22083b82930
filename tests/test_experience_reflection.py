"""Looking back where a run is stuck: by rules from similar runs, and by a model in two calls."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexamem import Memory, Settings, UserMemory
from hexamem.errors import InvalidInputError
from hexamem.experience import limits
from hexamem.experience.reflecting import answer_by_rules
from hexamem.experience.reflecting_model import KeyInformationReply, ReflectionReply
from hexamem.experience.trouble import TroubleSettings, Turn, tool_of, trouble_in
from hexamem.memory_types.experience import Outcome, Run, RunStep
from hexamem.models.schemas import check_strict, strict_schema
from hexamem.models.tokens import count_tokens

from .scripted_server import Reply, Request, ScriptedServer, ServerFactory, loopback_only, scripted_server  # noqa: F401
from .test_experience import INVOICE, INVOICES, attempt, distils, item, opened

PLANTS = "Water the plants on the balcony before noon"
ERROR = "422: amount is not acceptable"
KEY = {"goal": "an invoice for customer 42", "initial": "logged in", "progress": "", "trouble": "the amount is refused"}
LOOK = {
    "questions": [{"question": "How did others write it?", "answer": "In cents, without a point."}],
    "advice": "Write the amount in cents.",
}


def stuck(user: UserMemory, task: str = INVOICE, **options: Any) -> Any:
    """A run that fails twice at the same thing."""
    run = user.experience.start(task, env="billing", recall=False, **options)
    run.step(action="look", observation="You are logged in.")
    for amount in ("42.00", "42,00"):
        run.step(action=f"create_invoice amount={amount}", error=ERROR)
    return run


def learned(user: UserMemory, task: str = INVOICES) -> str:
    """A run that met the same error, and did its task."""
    run = user.experience.start(task, env="billing", recall=False)
    run.step(action="create_invoice amount=77.00", error=ERROR)
    run.step(action="create_invoice amount=7700", observation="201 created")
    run.finish(True)
    return str(run.id)


def test_without_a_model_the_look_back_says_what_got_past_the_same_error(alice: UserMemory) -> None:
    run_id = learned(alice)
    run = stuck(alice)
    found = run.reflect()
    assert (found.tier, found.key.goal, found.key.initial) == ("rules", INVOICE, "You are logged in.")
    assert found.key.trouble == ERROR
    assert "used `create_invoice amount=7700` instead of `create_invoice amount=77.00`" in found.advice
    assert found.text.count("</reflection>") == 1
    assert [part.id for part in found.parts] == [run_id]
    (kept,) = [one for one in alice.experience.runs() if one.id == run.id]
    assert kept.shown == (run_id,), "what it was given counts"


def test_failed_and_foreign_runs_have_nothing_to_say(alice: UserMemory) -> None:
    attempt(alice, INVOICES, False, actions=("create_invoice amount=1",))
    attempt(alice, INVOICES, True, env="shop", actions=("create_invoice amount=2",))
    attempt(alice, "Water the plants", True, actions=("create_invoice amount=3",))
    found = stuck(alice).reflect("it does not work")
    assert (found.advice, found.text, found.parts, found.questions) == ("", "", (), ())


def test_the_very_same_task_is_left_out_where_its_run_asked_for_that(alice: UserMemory) -> None:
    learned(alice, INVOICE)
    assert stuck(alice, same_task=False).reflect().advice == ""
    assert stuck(alice).reflect().advice


def test_with_nothing_wrong_there_is_nothing_to_reflect_on(alice: UserMemory) -> None:
    run = alice.experience.start(INVOICE)
    run.step(action="look", observation="fine")
    with pytest.raises(InvalidInputError, match=r"run\.reflect\(error\)"):
        run.reflect()


def test_what_is_known_of_a_tool_is_offered_once(tmp_path: Path, scripted_server: ServerFactory) -> None:
    items = [
        item("create_invoice takes cents", content="Amounts of create_invoice are in cents."),
        item("Where things are", "environment", "Customers come before invoices with create_invoice."),
        item("send_mail needs a subject", content="Never leave the subject of send_mail empty."),
    ]
    with opened(tmp_path, scripted_server(distils(*items))) as memory:
        alice = memory.user("alice")
        attempt(alice)
        alice.flush()
        run = alice.experience.start("something else entirely", env="billing")
        told = run.tool_advice("create_invoice", ERROR)
        assert "create_invoice takes cents" in told.text
        assert len(told.parts) == 1, "of this tool, and of the facet tool, alone"
        assert run.tool_advice("create_invoice", ERROR).parts == ()
        assert not alice.experience.start("x", env="shop").tool_advice("create_invoice").parts
        (kept,) = [one for one in alice.experience.runs() if one.id == run.id]
        assert set(told.ids) <= set(kept.shown), "what it was given counts"


# -- by a model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [KeyInformationReply, ReflectionReply])
def test_the_replies_are_flat_and_strict(reply: Any) -> None:
    assert check_strict(strict_schema(reply)) == []


def by_model(key: object = KEY, look: object = LOOK) -> Callable[[Request], Reply]:
    """What a model replies to each of the two calls."""

    def answer(request: Request) -> Reply:
        return Reply(
            content={"KeyInformationReply": key, "ReflectionReply": look}.get(request.name or "", {"items": []})
        )

    return answer


def reflecting(tmp_path: Path, server: ScriptedServer) -> Memory:
    """A memory whose reflections are a model's; nothing is distilled."""
    return Memory.open(
        tmp_path, models={"experience": server.chat_model()}, settings=Settings(background=False, mode="embedded")
    )


def test_a_model_extracts_key_information_and_answers_its_questions_from_similar_runs(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        learned(alice)
        run = stuck(alice)
        found = run.reflect()
        assert [one.name for one in server.requests] == ["KeyInformationReply", "ReflectionReply"]
        assert (found.tier, found.key.model_dump(), found.advice) == ("model", KEY, LOOK["advice"])
        assert found.questions[0].answer == "In cents, without a point."
        assert ERROR in server.requests[0].text
        assert "amount=7700" in server.requests[1].text
        assert "an invoice for customer 42" in server.requests[1].text
        assert found.degraded == ()
        assert "Write the amount in cents." in found.text


def test_where_no_run_is_similar_the_second_call_is_not_made(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, PLANTS)
        assert stuck(alice).reflect().text == ""
        assert server.calls == 1


def test_where_nothing_was_learned_and_no_run_was_done_no_model_is_asked(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, INVOICES, outcome=False)
        attempt(alice, INVOICES, env="elsewhere")
        found = stuck(alice).reflect()
        assert (found.tier, found.text, found.degraded, server.calls) == ("rules", "", (), 0)
        assert found.key.trouble == ERROR


@pytest.mark.parametrize(("key", "look"), [("no JSON", "no JSON"), (KEY, {"advice": 3})])
def test_replies_that_cannot_be_used_leave_it_to_the_rules(
    key: object, look: object, tmp_path: Path, scripted_server: ServerFactory
) -> None:
    with reflecting(tmp_path, scripted_server(by_model(key, look))) as memory:
        alice = memory.user("alice")
        learned(alice)
        found = stuck(alice).reflect()
        assert found.tier == "rules"
        assert "create_invoice amount=7700" in found.advice
        assert any("not usable" in one for one in found.degraded)


def test_a_model_is_asked_three_times_a_run_at_most(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        learned(alice)
        run = stuck(alice)
        assert [run.reflect().tier for _ in range(4)] == ["model"] * 3 + ["rules"]
        assert server.calls == 6


def test_a_model_that_finds_nothing_is_not_asked_for_ever_either(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, PLANTS)
        run = stuck(alice)  # there is no similar run, so that only the first call is made
        assert [run.reflect().tier for _ in range(5)] == ["rules"] * 5
        assert server.calls == 3


def test_an_error_of_any_length_takes_its_share_of_a_prompt(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        attempt(alice, PLANTS)
        stuck(alice).reflect("it broke " * 20_000)
        assert len(server.requests[0].text) < 20_000


def test_a_long_reply_is_cut_to_its_budget(tmp_path: Path, scripted_server: ServerFactory) -> None:
    long = {"questions": [{"question": "q", "answer": "word " * 900}] * 9, "advice": "Do as the others did. " * 300}
    with reflecting(tmp_path, scripted_server(by_model(look=long))) as memory:
        alice = memory.user("alice")
        learned(alice)
        found = stuck(alice).reflect()
        assert 0 < count_tokens(found.advice) <= limits.REFLECTION_TOKENS
        assert found.questions == ()


def test_secrets_are_taken_out_before_a_model_looks_back(tmp_path: Path, scripted_server: ServerFactory) -> None:
    server = scripted_server(by_model())
    with reflecting(tmp_path, server) as memory:
        alice = memory.user("alice")
        learned(alice)
        alice.remember("the wifi password is hunter2-x9Q")
        stuck(alice).reflect("login refused: hunter2-x9Q is wrong")
        assert server.calls == 2
        assert not [one for one in server.requests if "hunter2-x9Q" in one.text]


def test_another_users_experience_never_reaches_a_prompt_or_an_advice(
    tmp_path: Path, scripted_server: ServerFactory
) -> None:
    server = scripted_server(distils(item("Bobs zanzibar trick", content="The zanzibarquokka is in cents.")))
    with opened(tmp_path, server) as memory:
        alice, bob = memory.user("alice"), memory.user("bob")
        learned(bob, "Create a zanzibarquokka invoice for customer 42 in the billing API")
        assert bob.flush()
        (one,) = bob.experience.items()
        bob.experience.promote(one.id)
        server.follow(by_model())
        run = stuck(alice, "Create a zanzibarquokka invoice for customer 42 in the billing API")
        assert run.reflect().parts == ()
        assert run.tool_advice("create_invoice").parts == ()
        found = alice.experience.recall("Bobs zanzibar trick", env="billing", k=5, include="both")
        assert (found.parts, alice.experience.items(), alice.experience.focus("billing", ["x"]).points) == ((), (), ())
        explored = alice.experience.explore("Bobs zanzibar trick", lambda attempt: bool(attempt.advice.parts), 2)
        assert not any(one.shown for one in explored.runs)
        assert alice.flush()
        assert not [one for one in server.requests if "is in cents" in one.text or "amount=7700" in one.text]


# -- invariants -------------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60), st.none() | st.text(max_size=60)), max_size=8),
    st.text(max_size=80),
    st.integers(0, 200),
)
def test_answers_by_rules_keep_to_their_budget(
    steps: list[tuple[str, str, str | None]], error: str, budget: int
) -> None:
    run = Run(user="alice", task="do it", outcome=Outcome(label=True))
    made = [RunStep(run_id=run.id, position=n, action=a, observation=o, error=e) for n, (a, o, e) in enumerate(steps)]
    found = answer_by_rules(made, error, [(run, made)], budget)
    assert sum(count_tokens(one.answer) for one in found) <= budget


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12), st.text(max_size=6)), max_size=10))
def test_new_observations_without_errors_are_never_trouble(turns: list[tuple[str, str, str]]) -> None:
    fresh = [Turn(action=a or "act", observation=f"{n} {o}") for n, (a, o, _) in enumerate(turns)]
    found = trouble_in(fresh, TroubleSettings())
    assert found is None or found.sort == "invalid_action"


@pytest.mark.parametrize(
    ("action", "tool"), [("go to shelf 1", "go"), ("search[red]", "search"), ('post({"a": 1})', "post"), ("", "")]
)
def test_the_tool_is_the_first_word_of_an_action(action: str, tool: str) -> None:
    assert tool_of(action) == tool
