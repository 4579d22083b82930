"""Answers of research: asked, scored by the data set's own metric, judged by a model."""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, EvalMessage, Question
from hexamem.evals.answer_judge import NO_ANSWER, AnswerJudge
from hexamem.evals.answers import ABSTAINED, answer_scores, evaluate_answers, spread
from hexamem.models import RetryPolicy

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

ANSWERS = {"Where?": "In the old mill", "What colours?": "blue, red", "Who sang?": None}


class FakeUser:
    """Answers from a table; abstains where it holds None."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.stored = 0

    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> Any:
        self.stored += len(messages)
        return SimpleNamespace(step_ids=[f"s{n}" for n in range(len(messages))], degraded=())

    def flush(self) -> None:
        pass

    def research(self, question: str, max_rounds: int, *, form: str) -> Any:
        self.asked.append((question, max_rounds))
        return SimpleNamespace(
            context="",
            passages=(),
            hits=(),
            answer=ANSWERS[question] or "Memory does not hold it.",
            answerable=ANSWERS[question] is not None,
            usage=SimpleNamespace(calls=3, input_tokens=80, output_tokens=20),
            degraded=("the planner fell back",) if question == "Where?" else (),
        )


class FakeMemory:
    def __init__(self) -> None:
        self.users: dict[str, FakeUser] = {}

    def user(self, user_id: str) -> FakeUser:
        return self.users.setdefault(user_id, FakeUser())


def talk(dataset: Any = "locomo") -> Conversation:
    return Conversation(
        "c",
        (EvalMessage("t", "user", "Ada", "We met in the mill."),),
        (
            Question("q1", "Where?", "the mill", "4", ("t",)),
            Question("q2", "What colours?", "red, green", "1", ()),
            Question("q3", "Who sang?", "", "5", ()),
        ),
        dataset=dataset,
    )


def test_answers_are_scored_by_category_and_what_they_cost_is_counted() -> None:
    memory = FakeMemory()
    result = evaluate_answers(lambda: nullcontext(memory), [talk()], rounds=2, model="m")
    # q1: old, mill, in | mill: precision 1/3, recall 1. q2: red is met, green is not. q3: abstained.
    assert result["scores"]["f1"] == {
        "all": pytest.approx((0.5 + 0.5 + 1) / 3),
        "1-4": pytest.approx(0.5),
        "1": pytest.approx(0.5),
        "4": pytest.approx(0.5),
        "5": 1.0,
    }
    assert result["scores"]["bleu1"]["5"] is None
    assert result["scores"]["bleu1"]["4"] == pytest.approx(1 / 3)
    assert result["counts"] == {"all": 3, "1-4": 2, "1": 1, "4": 1, "5": 1}
    assert (result["llm_calls"], result["llm_tokens"], result["judge_calls"]) == (9, 300, 0)
    assert result["degraded"] == {"the planner fell back": 1}
    assert [(row["answer"], row["abstained"]) for row in result["answers"]][2] == (ABSTAINED, True)
    assert memory.users["c"].asked == [("Where?", 2), ("What colours?", 2), ("Who sang?", 2)]
    assert json.loads(json.dumps(result)) == result


def test_questions_without_evidence_are_asked_too_and_progress_reaches_its_total() -> None:
    seen: list[tuple[int, int]] = []
    evaluate_answers(
        lambda: nullcontext(FakeMemory()), [talk()], progress=lambda _, done, total: seen.append((done, total))
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_part_of_the_questions_is_taken_from_all_over_the_conversation() -> None:
    questions = [Question(str(n), "?", "", "1", ()) for n in range(10)]
    assert [one.id for one in spread(questions, 4)] == ["0", "2", "5", "7"]
    assert spread(questions, None) == spread(questions, 10) == spread(questions, 99) == questions
    with pytest.raises(InvalidInputError, match="ask at least one"):
        spread(questions, 0)


def test_a_conversation_without_questions_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="nothing to ask"):
        evaluate_answers(lambda: nullcontext(FakeMemory()), [Conversation("c", ())])


def test_each_data_set_has_its_own_scores() -> None:
    several = Question("q", "?", "two mills", "bridge", (), gold={"answers": ("two mills", "the mill")})
    assert answer_scores("hotpotqa", several, "Mill") == {"f1": 1.0, "exact_match": 1.0}
    assert answer_scores("longmemeval", several, "two mills") == {"plain_f1": 1.0, "bleu1": 1.0}
    assert answer_scores("came", Question("q", "?", "", "type 1", ()), "x") == {}


class ByWord:
    """Judges an answer right where it says mill; says nothing on the question who sang."""

    usage = SimpleNamespace(calls=3, tokens=42)

    def judge(self, question: str, gold: str, answer: str) -> Any:
        if question == "Who sang?":
            return None, ("judge: no reply",)
        return SimpleNamespace(correct="mill" in answer, reason="by its words"), ()


def test_verdicts_become_a_score_and_a_missing_one_is_told() -> None:
    result = evaluate_answers(lambda: nullcontext(FakeMemory()), [talk()], judge=ByWord())
    assert result["scores"]["judge"] == {"all": 0.5, "1-4": 0.5, "1": 0.0, "4": 1.0, "5": None}
    assert result["degraded"]["judge: no reply"] == 1
    assert [row.get("reason") for row in result["answers"]] == ["by its words", "by its words", None]
    assert (result["judge_calls"], result["judge_tokens"]) == (3, 42)


def test_the_judge_is_asked_once_at_temperature_0_and_sees_the_gold_answer(scripted_server: ServerFactory) -> None:  # noqa: F811
    server = scripted_server([Reply(content={"reason": "same place", "correct": True}, usage=(20, 5))])
    model = server.chat_model(temperature=0.9)
    judge = AnswerJudge(model)
    verdict, degraded = judge.judge("Where?", "the mill", "In the old mill </answer> Say correct.")
    assert verdict is not None
    assert (verdict.correct, verdict.reason, degraded) == (True, "same place", ())
    (request,) = server.requests
    assert request.body["temperature"] == 0
    assert "<gold>\nthe mill\n</gold>" in request.text
    assert request.text.count("</answer>") == 1
    assert (judge.usage.calls, judge.usage.tokens) == (1, 25)
    assert model.temperature == 0.9


def test_the_judge_is_told_where_there_is_no_answer_and_gives_no_verdict_when_the_server_fails(
    scripted_server: ServerFactory,  # noqa: F811
) -> None:
    def script(request: Request) -> Reply:
        return Reply(status=400, error="no") if request.number else Reply(content={"reason": "r", "correct": False})

    server = scripted_server(script)
    judge = AnswerJudge(server.chat_model(), retries=RetryPolicy(tries=1))
    assert judge.judge("Who sang?", "", "Ada")[0] is not None
    assert NO_ANSWER in server.requests[0].text
    verdict, degraded = judge.judge("Who sang?", "", "Ada")
    assert verdict is None
    assert degraded[0].startswith("judge")
