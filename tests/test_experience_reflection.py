"""Reflection on a run that does not get on: by rules from similar runs, and by a model in two calls."""
# ruff: noqa: F811 - fixtures come by import

from __future__ import annotations

from typing import Any

import pytest

from hexamem import UserMemory
from hexamem.errors import InvalidInputError

from .learners import INVOICE, INVOICES, Learner, alice, attempt, learn, learner, lesson, replies, taught  # noqa: F401
from .scripted_server import loopback_only  # noqa: F401

PLANTS = "Water the plants on the balcony before noon"
ERROR = "422: amount is not acceptable"
KEY = {"goal": "an invoice for customer 42", "initial": "logged in", "progress": "", "trouble": "the amount is refused"}
ANSWERED = {
    "questions": [{"question": "How did others write it?", "answer": "In cents, without a point."}],
    "advice": "Write the amount in cents.",
}


def reflecting(key: object = KEY, answers: object = ANSWERED) -> Any:
    """What a model replies to each of the two calls; nothing is distilled."""
    return replies(KeyInformationReply=key, ReflectionReply=answers)


def stuck(user: UserMemory, task: str = INVOICE, **options: Any) -> Any:
    """A run that fails twice in the same way."""
    run = user.experience.start(task, env="billing", recall=False, **options)
    run.step(action="look", observation="You are logged in.")
    for amount in ("42.00", "42,00"):
        run.step(action=f"create_invoice amount={amount}", error=ERROR)
    return run


def learned(user: UserMemory, task: str = INVOICES) -> str:
    """A run that met the same error, and succeeded."""
    run = user.experience.start(task, env="billing", recall=False)
    run.step(action="create_invoice amount=77.00", error=ERROR)
    run.step(action="create_invoice amount=7700", observation="201 created")
    run.finish(True)
    return str(run.id)


def shown_to(user: UserMemory, run: Any) -> tuple[str, ...]:
    """What a run is recorded to have been given."""
    return next(stored.shown for stored in user.experience.runs() if stored.id == run.id)


# By rules.


def test_without_a_model_reflection_names_what_got_past_the_same_error(alice: UserMemory) -> None:
    run_id = learned(alice)
    run = stuck(alice)
    reflection = run.reflect()
    assert (reflection.tier, reflection.key.goal, reflection.key.initial) == ("rules", INVOICE, "You are logged in.")
    assert reflection.key.trouble == ERROR
    assert "used `create_invoice amount=7700` instead of `create_invoice amount=77.00`" in reflection.advice
    assert reflection.text.count("</reflection>") == 1
    assert [part.id for part in reflection.parts] == [run_id]
    assert shown_to(alice, run) == (run_id,)


def test_failed_and_foreign_runs_and_on_request_those_of_the_same_task_are_not_used(alice: UserMemory) -> None:
    attempt(alice, INVOICES, False, actions=("create_invoice amount=1",))
    attempt(alice, INVOICES, True, env="shop", actions=("create_invoice amount=2",))
    attempt(alice, "Water the plants", True, actions=("create_invoice amount=3",))
    nothing = stuck(alice).reflect("it does not work")
    assert (nothing.advice, nothing.text, nothing.parts, nothing.questions) == ("", "", (), ())
    learned(alice, INVOICE)
    assert stuck(alice, same_task=False).reflect().advice == ""
    assert stuck(alice).reflect().advice
    run = alice.experience.start(INVOICE)
    run.step(action="look", observation="fine")
    with pytest.raises(InvalidInputError, match=r"run\.reflect\(error\)"):
        run.reflect()


def test_what_is_known_of_a_tool_is_offered_once(learner: Learner) -> None:
    lessons = [
        lesson("create_invoice takes cents", content="Amounts of create_invoice are in cents."),
        lesson("Where things are", "environment", "Customers come before invoices with create_invoice."),
        lesson("send_mail needs a subject", content="Never leave the subject of send_mail empty."),
    ]
    user, _ = learner(replies(*lessons))
    learn(user)
    run = user.experience.start("something else entirely", env="billing")
    advice = run.tool_advice("create_invoice", ERROR)
    assert "create_invoice takes cents" in advice.text
    assert len(advice.parts) == 1, "of this tool, and of the facet tool, alone"
    assert run.tool_advice("create_invoice", ERROR).parts == ()
    assert not user.experience.start("x", env="shop").tool_advice("create_invoice").parts
    assert set(advice.ids) <= set(shown_to(user, run))


# By a model.


def test_a_model_extracts_key_information_and_answers_its_questions_from_similar_runs(learner: Learner) -> None:
    user, server = learner(reflecting())
    learned(user)
    user.remember("the wifi password is hunter2-x9Q")
    run = stuck(user)
    reflection = run.reflect()
    first, second = server.requests
    assert (first.name, second.name) == ("KeyInformationReply", "ReflectionReply")
    assert ERROR in first.text
    assert all(part in second.text for part in ("amount=7700", "an invoice for customer 42"))
    assert (reflection.tier, reflection.key.model_dump(), reflection.degraded) == ("model", KEY, ())
    assert (reflection.advice, reflection.questions[0].answer) == (ANSWERED["advice"], "In cents, without a point.")
    assert "Write the amount in cents." in reflection.text
    run.reflect("login refused: hunter2-x9Q is wrong")
    assert server.calls == 4
    assert not [request for request in server.requests if "hunter2-x9Q" in request.text]
    assert [run.reflect().tier for _ in range(2)] == ["model", "rules"], "three times a run at most"
    assert server.calls == 6


def test_without_similar_runs_the_second_call_is_not_made_and_without_successful_ones_none(learner: Learner) -> None:
    user, server = learner(reflecting())
    attempt(user, INVOICES, outcome=False)
    attempt(user, INVOICES, env="elsewhere")
    reflection = stuck(user).reflect()
    assert (reflection.tier, reflection.text, reflection.degraded, server.calls) == ("rules", "", (), 0)
    assert reflection.key.trouble == ERROR
    user, server = learner(reflecting())
    attempt(user, PLANTS)
    run = stuck(user)
    reflections = [run.reflect(), run.reflect("it broke " * 20_000), *(run.reflect() for _ in range(3))]
    assert [(reflection.tier, reflection.text) for reflection in reflections] == [("rules", "")] * 5
    assert [request.name for request in server.requests] == ["KeyInformationReply"] * 3
    assert len(server.requests[1].text) < 20_000, "an error of any length is cut"


@pytest.mark.parametrize(("key", "answers"), [("no JSON", "no JSON"), (KEY, {"advice": 3})])
def test_for_replies_that_cannot_be_used_the_rules_answer(key: object, answers: object, learner: Learner) -> None:
    user, _ = learner(reflecting(key, answers))
    learned(user)
    reflection = stuck(user).reflect()
    assert reflection.tier == "rules"
    assert "create_invoice amount=7700" in reflection.advice
    assert any("not usable" in reason for reason in reflection.degraded)


def test_another_users_experience_never_reaches_a_prompt_or_an_advice(learner: Learner) -> None:
    task = "Create a zanzibarquokka invoice for customer 42 in the billing API"
    bob, _ = learner(replies(lesson("Bobs zanzibar trick", content="The zanzibarquokka is in cents.")))
    learned(bob, task)
    assert bob.flush()
    bob.experience.promote(bob.experience.items()[0].id)
    user, server = learner(reflecting())
    run = stuck(user, task)
    assert (run.reflect().parts, run.tool_advice("create_invoice").parts) == ((), ())
    advice = user.experience.recall("Bobs zanzibar trick", env="billing", k=5, include="both")
    assert (advice.parts, user.experience.items(), user.experience.focus("billing", ["x"]).points) == ((), (), ())
    explored = user.experience.explore("Bobs zanzibar trick", lambda attempt: bool(attempt.advice.parts), 2)
    assert not any(run.shown for run in explored.runs)
    assert user.flush()
    texts = [request.text for request in server.requests]
    assert not [text for text in texts if "is in cents" in text or "amount=7700" in text]
