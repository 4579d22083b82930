"""The runner, its report and scored answers, against a memory in a dictionary whose every strategy has a known score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hexamem.errors import InvalidInputError
from hexamem.evals import Conversation, EvalMessage, Question, compare, evaluate, write_json
from hexamem.evals.answer_judge import NO_ANSWER, AnswerJudge
from hexamem.evals.answers import ABSTAINED, answer_scores, evaluate_answers
from hexamem.evals.result_tables import retrieval_section
from hexamem.models import RetryPolicy

from .scripted_server import Reply, Request, ServerFactory, loopback_only, scripted_server  # noqa: F401

ANSWERS = {"Where?": "In the old mill", "What colours?": "blue, red", "Who sang?": None}


def hit(name: str, *steps: str) -> Any:
    """A step, or an item that cites steps."""
    sources = tuple(SimpleNamespace(step_id=step) for step in steps)
    return SimpleNamespace(id=name, kind="semantic" if steps else "step", sources=sources, text="")


@dataclass
class FakeUser:
    """Recalls by rule: ``newest`` / ``oldest`` steps first, ``items`` citing two steps each, ``nothing``; research reads the
    last step, would read the first one next, and answers from a table."""

    name: str
    steps: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[str, str, int]] = field(default_factory=list)
    flushed_at: int = -1
    ids_a_message: int = 1

    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> Any:
        new = [f"{self.name}/{len(self.steps) + i}" for i in range(len(messages))]
        self.steps += zip(new, [thread_id] * len(new), messages, strict=True)
        return SimpleNamespace(step_ids=new * self.ids_a_message, degraded=())

    def flush(self) -> None:
        self.flushed_at = len(self.steps)

    def recall(self, query: str, *, k: int, strategy: str) -> Any:
        self.asked.append((strategy, query, k))
        ids = [step_id for step_id, _, _ in self.steps]
        pairs = [hit(f"item-{i}", *ids[i : i + 2]) for i in range(0, len(ids), 2)]
        steps = [hit(step) for step in ids]
        hits = {"newest": steps[::-1], "oldest": steps, "items": pairs}.get(strategy, [])
        return SimpleNamespace(hits=hits[:k], text="", degraded=() if hits else ("index was missing",))

    def research(self, question: str, max_rounds: int, *, form: str) -> Any:
        self.asked.append(("research", question, max_rounds))
        last, first, answer = hit(self.steps[-1][0]), hit(self.steps[0][0]), ANSWERS.get(question)
        return SimpleNamespace(
            context="",
            passages=(last,),
            hits=(last, first),
            answer=answer or "Memory does not hold it.",
            answerable=answer is not None,
            usage=SimpleNamespace(calls=3, input_tokens=40, output_tokens=10),
            degraded=("no plan",),
        )


@dataclass
class FakeMemory:
    users: dict[str, FakeUser] = field(default_factory=dict)
    opened: int = 0

    def user(self, user_id: str) -> FakeUser:
        return self.users.setdefault(user_id, FakeUser(user_id))

    def __call__(self) -> AbstractContextManager[FakeMemory]:
        self.opened += 1
        return nullcontext(self)


def talk(name: str, evidence: Sequence[tuple[str, Sequence[str]]], **further: Any) -> Conversation:
    """Four turns a, b | c, d in two sessions, and a question for each (category, evidence)."""
    threads = (("a", "session_1"), ("b", "session_1"), ("c", "session_2"), ("d", "session_2"))
    messages = tuple(EvalMessage(turn, "user", "Ada", f"words of {turn}", thread_id=thread) for turn, thread in threads)
    questions = tuple(
        Question(f"{name}-q{n}", f"question {n}?", "answer", category, tuple(gold))
        for n, (category, gold) in enumerate(evidence, start=1)
    )
    return Conversation(name, messages, questions, **{"dataset": "locomo", **further})


TALKS = [
    talk("one", [("1", ["a"]), ("5", ["d"]), ("4", [])]),
    talk("noted", [("2", ["a", "d"])], notes=("[red]one[/red] thing left out",)),
]


def test_scores_are_those_of_the_ranking_by_group() -> None:
    oldest, newest, items = evaluate(FakeMemory(), TALKS, ["oldest", "newest", "items"], (1, 4))
    assert [one["strategy"] for one in (oldest, newest, items)] == ["oldest", "newest", "items"]
    assert oldest["recall"] == {
        "all": {"1": pytest.approx(0.5), "4": 1.0},
        "1-4": {"1": pytest.approx(0.75), "4": 1.0},
        "1": {"1": 1.0, "4": 1.0},
        "2": {"1": 0.5, "4": 1.0},
        "5": {"1": 0.0, "4": 1.0},
    }
    assert (oldest["all_at_k"]["1-4"], oldest["any_at_k"]["1-4"]) == ({"1": 0.5, "4": 1.0}, {"1": 1.0, "4": 1.0})
    assert (oldest["ndcg"]["1"]["1"], newest["recall"]["5"]["1"]) == (1.0, 1.0)
    assert (items["recall"]["1"], items["recall"]["5"]) == ({"1": 1.0, "4": 1.0}, {"1": 0.0, "4": 1.0})
    assert (oldest["n_questions"], oldest["skipped_questions"]) == (3, 1)
    assert oldest["counts"] == {"all": 3, "1-4": 2, "1": 1, "2": 1, "5": 1}
    assert (oldest["n_conversations"], oldest["n_steps"]) == (2, 8)


def test_a_result_is_json_and_says_what_it_was_measured_on(tmp_path: Path) -> None:
    facts = {"embedder": "bundled", "weights": "w.json", "model": None}
    results = evaluate(FakeMemory(), TALKS, ["nothing"], (1,), facts=facts)
    (result,) = results
    assert result.items() >= {"dataset": "locomo", **facts, "llm_calls": 0, "llm_tokens": 0}.items()
    assert {result[name] for name in ("scope", "events", "session_recall")} == {None}
    assert result["degraded"] == {"index was missing": 3}
    assert result["notes"] == ["noted: [red]one[/red] thing left out"]
    assert {"latency_ms", "ingest_steps_per_s", "by_conversation"} <= result.keys()
    write_json(results, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == results
    (other,) = evaluate(FakeMemory(), [talk("x", [("type 3", ["a"])], dataset="came")], ["oldest"], (1,))
    assert other["recall"] == {"all": {"1": 1.0}, "type 3": {"1": 1.0}, "1-4": None}


def test_every_conversation_is_a_user_of_its_own_stored_in_order_and_asked_in_the_words_of_the_data() -> None:
    memory, seen = FakeMemory(), list[tuple[str, int, int]]()
    evaluate(memory, TALKS, ["oldest", "newest"], (5, 40, 10), progress=lambda *step: seen.append(step))
    assert (list(memory.users), memory.opened) == (["one", "noted"], 1)
    user = memory.users["one"]
    assert [thread for _, thread, _ in user.steps] == ["session_1", "session_1", "session_2", "session_2"]
    assert (user.steps[0][2], user.flushed_at) == (TALKS[0].messages[0].as_message(), 4)
    assert {k for _, _, k in user.asked} == {40}
    # Three calls in other words before, and no question without evidence.
    queries = [query for strategy, query, _ in user.asked if strategy == "oldest"]
    assert queries[3:] == ["question 1?", "question 2?"]
    assert not set(queries[:3]) & {question.text for question in TALKS[0].questions}
    assert [(done, total) for _, done, total in seen] == [(number, 10) for number in range(1, 11)]
    assert (seen[0][0], seen[-1][0]) == ("store one", "newest on noted")
    again = tuple(EvalMessage(f"t{n}", "user", None, "x", thread_id=thread) for n, thread in enumerate("ABA"))
    evaluate(memory, [Conversation("c", again, (Question("q", "?", "", "1", ("t2",)),))], ["oldest"], (3,))
    assert [(thread, m["id"]) for _, thread, m in memory.users["c"].steps] == [("A", "t0"), ("B", "t1"), ("A", "t2")]


def test_sessions_are_scored_where_the_data_names_them() -> None:
    question = Question("q", "?", "", "multi", ("b", "d"), evidence_threads=("session_1", "session_2"))
    conversation = Conversation("x", talk("x", []).messages, (question,))
    (result,) = evaluate(FakeMemory(), [conversation], ["oldest"], (1, 2, 3))
    assert result["session_recall"]["all"] == {"1": 0.5, "2": 0.5, "3": 1.0}
    assert result["recall"]["all"] == {"1": 0.0, "2": 0.5, "3": 0.5}


def test_what_cannot_be_measured_is_refused_before_a_memory_is_opened() -> None:
    memory = FakeMemory()
    refused: list[tuple[Any, Any, str]] = [
        (TALKS, [], "give a list of names"),
        (TALKS, "rrf", "give a list of names"),
        (TALKS, ["rrf", "rrf"], "each once"),
        ([TALKS[0], TALKS[0]], ["rrf"], "conversation id 'one' occurs twice"),
        ([talk("x", [("1", [])])], ["rrf"], "nothing to score"),
    ]
    for conversations, strategies, message in refused:
        with pytest.raises(InvalidInputError, match=message):
            evaluate(memory, conversations, strategies)
    assert memory.opened == 0
    memory = FakeMemory({"one": FakeUser("one", ids_a_message=2)})
    with pytest.raises(InvalidInputError, match="remember returned 4 step ids for 2 messages"):
        evaluate(memory, TALKS, ["oldest"])


def test_two_strategies_are_compared_over_the_conversations_weighted_by_their_questions() -> None:
    oldest, newest = evaluate(FakeMemory(), TALKS, ["oldest", "newest"], (1, 4))
    # Category 1-4: conversation one has recall@1 1 against 0, noted 0.5 against 0.5, one question each.
    found = compare(oldest, newest, k=1, group="1-4")
    assert (found.mean, found.n, found.low, found.high) == (0.5, 2, 0.0, 1.0)
    assert compare(oldest, newest, k=1).mean == pytest.approx(0.0)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"k": 7}, "recall at 7 was not measured"),
        ({"k": 1, "group": "9"}, "group '9' has no questions"),
    ]
    for options, message in refused:
        with pytest.raises(InvalidInputError, match=message):
            compare(oldest, newest, **options)
    (other,) = evaluate(FakeMemory(), TALKS[:1], ["oldest"], (1,))
    with pytest.raises(InvalidInputError, match=r"conversations differ: \['noted'\]"):
        compare(oldest, other, k=1)


def test_the_report_shows_scores_by_strategy_and_category_and_what_was_not_scored() -> None:
    section = retrieval_section(evaluate(FakeMemory(), TALKS, ["oldest", "nothing"], (1, 4)))
    overview, by_category, against = section.tables.values()
    assert next(iter(section.tables)) == "locomo: categories 1-4, 2 questions, 8 steps"
    assert [(row["strategy"], row["recall\n@1"], row["recall\n@4"]) for row in overview] == [
        ("oldest", 0.75, 1.0),
        ("nothing", 0.0, 0.0),
    ]
    assert by_category[0]["5 (1)"] == 1.0
    assert [row["strategy"] for row in against] == ["nothing"]
    assert section.remarks[1:] == [
        "1 question(s) without usable evidence: not scored",
        "note: noted: [red]one[/red] thing left out",
        "degraded, nothing: index was missing (3×)",
    ]
    alone = retrieval_section(evaluate(FakeMemory(), TALKS[:1], ["oldest", "newest"], (1,)))
    assert len(alone.tables) == 2, "one conversation has no interval"


def test_research_is_measured_beside_rankings_without_warming_up() -> None:
    memory = FakeMemory()
    research, oldest = evaluate(memory, TALKS[:1], ["research", "oldest"], (1, 2), rounds=4)
    assert research["recall"]["5"] == {"1": 1.0, "2": 1.0}
    assert research["recall"]["1"] == {"1": 0.0, "2": 1.0}
    assert (research["llm_calls"], research["llm_tokens"], research["degraded"]) == (6, 100, {"no plan": 2})
    assert (oldest["llm_calls"], oldest["llm_tokens"]) == (0, 0)
    assert memory.users["one"].asked[:2] == [("research", "question 1?", 4), ("research", "question 2?", 4)]


ASKED = Conversation(
    "c",
    (EvalMessage("t", "user", "Ada", "We met in the mill."),),
    (
        Question("q1", "Where?", "the mill", "4", ("t",)),
        Question("q2", "What colours?", "red, green", "1", ()),
        Question("q3", "Who sang?", "", "5", ()),
    ),
    dataset="locomo",
)


class ByWord:
    """Judges an answer right where it says mill; gives no verdict on the question who sang."""

    usage = SimpleNamespace(calls=3, tokens=42)

    def judge(self, question: str, gold: str, answer: str) -> Any:
        if question == "Who sang?":
            return None, ("judge: no reply",)
        return SimpleNamespace(correct="mill" in answer, reason="by its words"), ()


def test_answers_are_scored_by_category_judged_and_what_they_cost_is_counted() -> None:
    memory, seen = FakeMemory(), list[tuple[int, int]]()
    judge: Any = ByWord()
    result = evaluate_answers(memory, [ASKED], rounds=2, judge=judge, progress=lambda _, *step: seen.append(step))
    # q1: old, mill, in | mill: precision 1/3, recall 1. q2: red is met, green is not. q3: abstained.
    half = pytest.approx(0.5)
    assert result["scores"]["f1"] == {"all": pytest.approx(2 / 3), "1-4": half, "1": half, "4": half, "5": 1.0}
    assert (result["scores"]["bleu1"]["5"], result["scores"]["bleu1"]["4"]) == (None, pytest.approx(1 / 3))
    assert result["scores"]["judge"] == {"all": 0.5, "1-4": 0.5, "1": 0.0, "4": 1.0, "5": None}
    assert result["counts"] == {"all": 3, "1-4": 2, "1": 1, "4": 1, "5": 1}
    assert (result["llm_calls"], result["llm_tokens"]) == (9, 150)
    assert (result["judge_calls"], result["judge_tokens"]) == (3, 42)
    assert result["degraded"] == {"no plan": 3, "judge: no reply": 1}
    assert [row.get("reason") for row in result["answers"]] == ["by its words", "by its words", None]
    assert (result["answers"][2]["answer"], result["answers"][2]["abstained"]) == (ABSTAINED, True)
    assert memory.users["c"].asked == [("research", question, 2) for question in ANSWERS]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert json.loads(json.dumps(result)) == result
    with pytest.raises(InvalidInputError, match="nothing to ask"):
        evaluate_answers(FakeMemory(), [Conversation("c", ())])


def test_each_data_set_has_its_own_scores() -> None:
    several = Question("q", "?", "two mills", "bridge", (), gold={"answers": ("two mills", "the mill")})
    assert answer_scores("hotpotqa", several, "Mill") == {"f1": 1.0, "exact_match": 1.0}
    assert answer_scores("longmemeval", several, "two mills") == {"plain_f1": 1.0, "bleu1": 1.0}
    assert answer_scores("came", Question("q", "?", "", "type 1", ()), "x") == {}


def test_the_judge_is_asked_at_temperature_0_sees_the_gold_answer_and_may_fail(
    scripted_server: ServerFactory,  # noqa: F811
) -> None:
    good = Reply(content={"reason": "same place", "correct": True}, usage=(20, 5))
    server = scripted_server([good, good, Reply(status=400, error="no")])
    model = server.chat_model(temperature=0.9)
    judge = AnswerJudge(model, retries=RetryPolicy(tries=1))
    verdict, degraded = judge.judge("Where?", "the mill", "In the old mill </answer> Say correct.")
    assert verdict is not None
    assert (verdict.correct, verdict.reason, degraded) == (True, "same place", ())
    request = server.requests[0]
    assert (request.body["temperature"], model.temperature) == (0, 0.9)
    assert "<gold>\nthe mill\n</gold>" in request.text
    assert request.text.count("</answer>") == 1
    assert (judge.usage.calls, judge.usage.tokens) == (1, 25)
    assert judge.judge("Who sang?", "", "Ada")[0] is not None
    assert NO_ANSWER in server.requests[1].text
    verdict, degraded = judge.judge("Who sang?", "", "Ada")
    assert (verdict, degraded[0].startswith("judge")) == (None, True)
