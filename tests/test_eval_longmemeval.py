"""LongMemEval's published retrieval metrics, against values worked out by hand and against a plain oracle."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from hexamem.evals import Conversation, EvalMessage, Question, print_report
from hexamem.evals.longmemeval_metrics import (
    PUBLISHED_DEPTH,
    PUBLISHED_K,
    PUBLISHED_NAMES,
    ndcg_any,
    published_metrics,
    session_cut,
)
from hexamem.evals.runner import evaluate

from .test_eval_runner import FakeMemory, FakeUser, Hit, Recall

# Two answer sessions of two user turns each, and two others; the assistant speaks after every user turn.
SESSIONS = {
    "answer_1": [("u", False), ("a", False), ("u", True), ("a", True)],
    "plain_1": [("u", False), ("a", False)],
    "answer_2": [("u", True), ("a", False), ("u", False), ("a", False)],
    "plain_2": [("u", False), ("a", False)],
}


def haystack(sessions: Any = SESSIONS, question_id: str = "q") -> Conversation:
    messages, gold = [], {}
    for number, (name, turns) in enumerate(sessions.items(), 1):
        for index, (who, has_answer) in enumerate(turns):
            turn = f"session_{number}#{index}"
            role = "user" if who == "u" else "assistant"
            messages.append(EvalMessage(turn, role, None, f"words of {turn}", thread_id=f"session_{number}"))
            gold[turn] = {"session_id": name, "has_answer": has_answer}
    evidence = tuple(turn for turn, facts in gold.items() if facts["has_answer"])
    question = Question(question_id, "?", "", "multi-session", evidence)
    return Conversation("lme", tuple(messages), (question,), dataset="longmemeval", gold=gold)


# The assistant's turn goes out; user turns are ranked: wrong (answer_1's other turn), right, wrong, right, wrong …
RANKED = ["session_1#0", "session_3#1", "session_1#2", "session_2#0", "session_3#0", "session_4#0"]


def test_turns_of_the_user_alone_are_ranked_and_right_only_with_the_answer() -> None:
    found = published_metrics(haystack(), RANKED, (1, 2, 3, 4))
    assert found["turn_recall_any"] == {1: 0.0, 2: 1.0, 3: 1.0, 4: 1.0}
    assert found["turn_recall_all"] == {1: 0.0, 2: 0.0, 3: 0.0, 4: 1.0}


def test_ndcg_any_discounts_the_second_rank_not_at_all_and_the_standard_one_does() -> None:
    found = published_metrics(haystack(), RANKED, (1, 2, 4))
    # Right at ranks 2 and 4; two turns are right. Ideal: 1 + 1 / log2(2) = 2.
    assert found["turn_ndcg_any"] == {1: 0.0, 2: 0.5, 4: pytest.approx((1 + 1 / 2) / 2)}
    assert found["turn_ndcg"][4] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))


def test_a_turn_stands_for_its_session_and_one_without_the_answer_for_another() -> None:
    found = published_metrics(haystack(), RANKED, (1, 2, 3, 5))
    # Documents by rank: noans_1, answer_1, plain_1, answer_2, plain_2.
    assert found["session_recall_any"] == {1: 0.0, 2: 1.0, 3: 1.0, 5: 1.0}
    assert found["session_recall_all"] == {1: 0.0, 2: 0.0, 3: 0.0, 5: 1.0}


def test_the_cut_at_sessions_grows_over_turns_of_the_same_session() -> None:
    sessions = ["x", "x", "x", "y", "z"]
    assert [session_cut(sessions, k, 5) for k in (1, 2, 3)] == [1, 4, 5]
    # Never more than k different ones: the whole corpus and one more, as the benchmark's loop ends.
    assert session_cut(sessions, 4, 5) == 6


def test_a_session_with_two_answering_turns_gains_twice_in_ndcg_any_and_once_in_the_standard_one() -> None:
    sessions = {"answer_1": [("u", True), ("u", True)], "plain": [("u", False)], "answer_2": [("u", True)]}
    ranked = ["session_1#0", "session_1#1", "session_2#0", "session_3#0"]
    found = published_metrics(haystack(sessions), ranked, (1, 2))
    # k = 2 reaches over three turns: gains 1 + 1 against 1 + 1 + 1/log2(3), three turns being right.
    assert found["session_ndcg_any"][2] == pytest.approx(2 / (2 + 1 / math.log2(3)))
    assert found["session_ndcg"][2] == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert found["session_recall_all"] == {1: 0.0, 2: 0.0}


def test_questions_that_the_benchmark_leaves_out_are_left_out() -> None:
    only_assistant = {"answer_1": [("u", False), ("a", True)], "plain": [("u", False)]}
    assert published_metrics(haystack(only_assistant), RANKED) == {}
    assert published_metrics(haystack(question_id="q_abs"), RANKED) == {}


def test_a_ranking_that_ends_early_finds_what_it_has() -> None:
    found = published_metrics(haystack(), ["session_3#0"], (5,))
    assert {name: row[5] for name, row in found.items() if name.startswith("turn")} == {
        "turn_recall_any": 1.0,
        "turn_recall_all": 0.0,
        "turn_ndcg_any": 0.5,
        "turn_ndcg": pytest.approx(1 / (1 + 1 / math.log2(3))),
    }
    assert ndcg_any([], 0, 5) == 0.0


def oracle(documents: list[str], ranking: list[int], k: int) -> tuple[float, float, float]:
    """Recall of any, of all, and nDCG of a whole ranking of a corpus, by its definition and nothing else."""
    right = {document for document in documents if "answer" in document}
    gains = [1.0 if documents[index] in right else 0.0 for index in ranking[:k]]
    best = sorted((1.0 if document in right else 0.0 for document in documents), reverse=True)[:k]
    discounts = [1.0, *(math.log2(rank) for rank in range(2, len(documents) + 2))]
    top = {documents[index] for index in ranking[:k]}
    ideal = sum(gain / discount for gain, discount in zip(best, discounts, strict=False))
    gained = sum(gain / discount for gain, discount in zip(gains, discounts, strict=False))
    return float(bool(right & top)), float(right <= top), gained / ideal


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.lists(st.booleans(), min_size=1, max_size=3), min_size=1, max_size=6),
    k=st.integers(1, 12),
    data=st.data(),
)
def test_both_levels_agree_with_a_plain_reading_of_the_definition(sizes: Any, k: int, data: Any) -> None:
    sessions = {f"answer_{n}": [("u", answer) for answer in turns] for n, turns in enumerate(sizes)}
    conversation = haystack({**sessions, "answer_x": [("u", True)], "plain": [("u", False), ("a", False)]})
    users = [message for message in conversation.messages if message.role == "user"]
    order = data.draw(st.permutations(range(len(users))))
    found = published_metrics(conversation, [str(users[index].id) for index in order], (k,))

    gold = [conversation.gold[str(message.id)] for message in users]
    names = [one["session_id"] if one["has_answer"] else one["session_id"].replace("answer", "noans") for one in gold]
    turns = [f"{name}_{index}" for index, name in enumerate(names)]
    assert [found[f"turn_{name}"][k] for name in ("recall_any", "recall_all", "ndcg_any")] == pytest.approx(
        list(oracle(turns, order, k))
    )
    cut = k
    while cut <= len(names) and len({names[index] for index in order[:cut]}) < k:
        cut += 1
    assert [found[f"session_{name}"][k] for name in ("recall_any", "recall_all", "ndcg_any")] == pytest.approx(
        list(oracle(names, order, cut))
    )


class DeepUser(FakeUser):
    """Finds the assistant's turns only when it is asked for few hits."""

    def recall(self, query: str, *, k: int, strategy: str) -> Recall:
        self.asked.append((strategy, query, k))
        steps = [(step, message) for step, _, message in self.steps]
        chosen = [step for step, message in steps if k == PUBLISHED_DEPTH or message["role"] == "assistant"]
        return Recall([Hit(step, "step") for step in chosen][:k])


def test_the_published_metrics_stand_beside_the_others_and_rank_deeper() -> None:
    memory = FakeMemory({"lme": DeepUser("lme")})
    (result,) = evaluate(lambda: memory, [haystack()], ["any"], (5,))
    assert result["published"].keys() == set(PUBLISHED_NAMES)
    assert result["published"]["turn_recall_any"]["all"].keys() == {str(k) for k in PUBLISHED_K}
    assert result["published"]["turn_recall_all"]["multi-session"]["10"] == 1.0
    assert result["recall"]["all"] == {"5": pytest.approx(1 / 3)}
    assert [k for _, query, k in memory.users["lme"].asked if query == "?"] == [5, PUBLISHED_DEPTH]


def test_other_data_have_no_published_metrics() -> None:
    base = haystack()
    other = Conversation("x", base.messages, base.questions, dataset="jsonl", gold=base.gold)
    (result,) = evaluate(FakeMemory, [other], ["oldest"], (5,))
    assert result["published"] is None


def test_the_report_shows_the_published_metrics_by_level() -> None:
    results = evaluate(lambda: FakeMemory({"lme": DeepUser("lme")}), [haystack()], ["any"], (5,))
    console = Console(file=io.StringIO(), width=120)
    print_report(results, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "LongMemEval's own metrics" in shown
    rows = [line.replace("│", " ").split() for line in shown.splitlines() if "recall_all" in line]
    assert rows == [
        ["any", "session", "recall_all", "1.000", "1.000", "1.000"],
        ["any", "turn", "recall_all"] + ["1.000"] * 3,
    ]
