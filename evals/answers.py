"""Scores answers in words: questions are asked of ``UserMemory.research``, and its answer is compared with the gold one.

Where research abstains the answer is taken as :data:`ABSTAINED`, the words that LoCoMo's own evaluation looks for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.asking import RESEARCH, ask
from hexamem.evals.qa_scores import bleu1, exact_match, locomo_score, plain_f1, squad_f1
from hexamem.evals.records import Conversation, Question, natural_key
from hexamem.evals.runner import MemoryLike, store_conversation

__all__ = ["ABSTAINED", "answer_scores", "evaluate_answers", "spread"]

ABSTAINED = "No information available"
T = TypeVar("T")
_LOCOMO_RANGE = ("1", "2", "3", "4")


class _Verdict(Protocol):
    @property
    def correct(self) -> bool: ...
    @property
    def reason(self) -> str: ...


class _Usage(Protocol):
    @property
    def calls(self) -> int: ...
    @property
    def tokens(self) -> int: ...


class Judge(Protocol):
    """What is asked of :class:`~.answer_judge.AnswerJudge`."""

    @property
    def usage(self) -> _Usage: ...
    def judge(self, question: str, gold: str, answer: str) -> tuple[_Verdict | None, Sequence[str]]: ...


def answer_scores(dataset: str, question: Question, answer: str) -> dict[str, float]:
    """The scores of one answer by name, each 0 to 1.

    LoCoMo: ``f1`` (:func:`~.qa_scores.locomo_score`), and ``bleu1`` and ``plain_f1``, for category 5 none of these two.
    HotpotQA and NarrativeQA: ``f1`` (the best over the gold answers) and ``exact_match``. Others: ``plain_f1`` and
    ``bleu1``; none for a question without a gold answer.
    """
    if dataset == "locomo":
        scores = {"f1": locomo_score(answer, question.answer, question.category)}
        if question.category == "5":
            return scores
        return {**scores, "plain_f1": plain_f1(answer, question.answer), "bleu1": bleu1(answer, question.answer)}
    golds: Sequence[str] = question.gold.get("answers") or ([question.answer] if question.answer else [])
    if not golds:
        return {}
    if dataset in ("hotpotqa", "narrativeqa"):
        return {"f1": squad_f1(answer, golds), "exact_match": exact_match(answer, golds)}
    return {"plain_f1": plain_f1(answer, golds[0]), "bleu1": bleu1(answer, golds[0])}


def spread(questions: Sequence[T], n: int | None) -> list[T]:
    """At most n of the questions, or of other things, at equal distances from the first on; all for None.

    Raises:
        InvalidInputError: for n below 1.
    """
    if n is None or n >= len(questions):
        return list(questions)
    if n < 1:
        raise InvalidInputError(f"{n} questions: ask at least one")
    return [questions[index * len(questions) // n] for index in range(n)]


@dataclass(slots=True)
class _Tally:
    rows: list[dict[str, Any]] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    calls: int = 0
    tokens: int = 0
    degraded: Counter[str] = field(default_factory=Counter)


def evaluate_answers(
    memory_factory: Callable[[], AbstractContextManager[MemoryLike]],
    conversations: Sequence[Conversation],
    *,
    rounds: int = 3,
    per_conversation: int | None = None,
    judge: Judge | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    dataset: str | None = None,
    embedder: str | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    """Store the conversations, ask their questions of research and score the answers.

    Args:
        memory_factory: opens an empty memory with a model; called once, closed at the end.
        conversations: with ids of their own.
        rounds: of research, at most.
        per_conversation: how many questions of each, see :func:`spread`.
        judge: an LLM judge; its verdicts become the score ``judge``.
        progress: called as ``progress(what, done, total)`` after each conversation stored and question answered.
        dataset: name in the result; by default the conversations' formats.
        embedder: name in the result, as is ``model``.
        model: see there.

    Returns:
        One JSON-ready object: ``scores`` is ``{score: {group: mean}}`` with the groups ``all``, ``1-4`` (LoCoMo) and
        each category, ``counts`` the questions by group, ``answers`` one row a question (id, category, question, gold,
        answer, abstained, its scores, and the judge's reason), ``llm_calls`` and ``llm_tokens`` those of research,
        ``judge_calls`` and ``judge_tokens`` those of the judge; else as
        :func:`~.runner.evaluate`. A question that the judge could not judge has no ``judge`` score and is told in
        ``degraded``.

    Raises:
        InvalidInputError: there are no questions, or one has an unknown category.
    """
    chosen = [(one, spread(one.questions, per_conversation)) for one in conversations]
    n_questions = sum(len(questions) for _, questions in chosen)
    if not n_questions:
        raise InvalidInputError(
            f"none of the {len(conversations)} conversation(s) has a question; there is nothing to ask"
        )
    tally = _Tally()
    done, total = 0, len(chosen) + n_questions

    def advance(what: str) -> None:
        nonlocal done
        done += 1
        if progress:
            progress(what, done, total)

    with memory_factory() as memory:
        for conversation, questions in chosen:
            user = memory.user(conversation.id)
            store_conversation(user, conversation)
            advance(f"store {conversation.id}")
            for question in questions:
                _answer(user, conversation, question, rounds, judge, tally)
                advance(f"ask {conversation.id}")
    p50, p95 = (float(value) for value in np.percentile(tally.milliseconds, [50, 95]))
    return {
        "dataset": dataset or "+".join(dict.fromkeys(conversation.dataset for conversation in conversations)),
        "strategy": RESEARCH,
        "embedder": embedder,
        "model": model,
        "rounds": rounds,
        "n_conversations": len(conversations),
        "n_steps": sum(len(conversation.messages) for conversation in conversations),
        "n_questions": n_questions,
        **_tables(tally.rows),
        "latency_ms": {"p50": p50, "p95": p95},
        "llm_calls": tally.calls,
        "llm_tokens": tally.tokens,
        "judge_calls": judge.usage.calls if judge else 0,
        "judge_tokens": judge.usage.tokens if judge else 0,
        "degraded": dict(tally.degraded),
        "notes": [f"{conversation.id}: {note}" for conversation in conversations for note in conversation.notes],
        "answers": tally.rows,
    }


def _answer(
    user: Any, conversation: Conversation, question: Question, rounds: int, judge: Judge | None, tally: _Tally
) -> None:
    asked = ask(user, question.text, k=10, strategy=RESEARCH, rounds=rounds)
    answer = asked.answer or ABSTAINED
    row: dict[str, Any] = {
        "id": question.id,
        "category": question.category,
        "question": question.text,
        "gold": question.answer,
        "answer": answer,
        "abstained": asked.answer is None,
        "scores": answer_scores(conversation.dataset, question, answer),
    }
    if judge is not None:
        verdict, degraded = judge.judge(question.text, question.answer, answer)
        tally.degraded.update(degraded)
        if verdict is not None:
            row["scores"]["judge"] = float(verdict.correct)
            row["reason"] = verdict.reason
    tally.rows.append(row)
    tally.milliseconds.append(asked.seconds * 1_000)
    tally.calls, tally.tokens = tally.calls + asked.calls, tally.tokens + asked.tokens
    tally.degraded.update(asked.degraded)


def _tables(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    categories = sorted({row["category"] for row in rows}, key=natural_key)
    groups = {"all": list(rows)}
    if set(categories) <= {*_LOCOMO_RANGE, "5"}:
        groups["1-4"] = [row for row in rows if row["category"] in _LOCOMO_RANGE]
    groups |= {category: [row for row in rows if row["category"] == category] for category in categories}
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    return {
        "counts": {group: len(members) for group, members in groups.items()},
        "scores": {name: {group: _mean(members, name) for group, members in groups.items()} for name in names},
    }


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [row["scores"][name] for row in rows if name in row["scores"]]
    return math.fsum(values) / len(values) if values else None
