"""Scores answers in words: questions are asked of ``UserMemory.research``, and its answer is compared with the gold one.

Where research abstains the answer is taken as :data:`ABSTAINED`, the words that LoCoMo's own evaluation looks for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hexamem.errors import InvalidInputError
from hexamem.evals.asking import RESEARCH, Asked, Progress, Tally, ask, counted
from hexamem.evals.qa_scores import bleu1, exact_match, locomo_score, plain_f1, squad_f1
from hexamem.evals.records import Conversation, Question, natural_key
from hexamem.evals.runner import MemoryFactory, dataset_of, notes_of, store_conversation

if TYPE_CHECKING:
    from hexamem.evals.answer_judge import AnswerJudge

__all__ = ["ABSTAINED", "answer_scores", "evaluate_answers", "spread"]

ABSTAINED = "No information available"
T = TypeVar("T")
_LOCOMO_RANGE = ("1", "2", "3", "4")


def answer_scores(dataset: str, question: Question, answer: str) -> dict[str, float]:
    """The scores of one answer by name, each 0 to 1.

    LoCoMo: ``f1`` (:func:`~.qa_scores.locomo_score`), and ``plain_f1`` and ``bleu1`` but for category 5. HotpotQA: ``f1``
    (the best over the gold answers) and ``exact_match``. Others: ``plain_f1`` and ``bleu1``; none without a gold answer.
    """
    golds: Sequence[str] = question.gold.get("answers") or ([question.answer] if question.answer else [])
    if dataset == "hotpotqa" and golds:
        return {"f1": squad_f1(answer, golds), "exact_match": exact_match(answer, golds)}
    first = {"f1": locomo_score(answer, question.answer, question.category)} if dataset == "locomo" else {}
    if (dataset == "locomo" and question.category == "5") or (not first and not golds):
        return first
    gold = question.answer if first else golds[0]
    return {**first, "plain_f1": plain_f1(answer, gold), "bleu1": bleu1(answer, gold)}


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


def evaluate_answers(
    memory_factory: MemoryFactory,
    conversations: Sequence[Conversation],
    *,
    rounds: int = 3,
    per_conversation: int | None = None,
    judge: AnswerJudge | None = None,
    progress: Progress | None = None,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Store the conversations, ask their questions of research and score the answers.

    Args:
        memory_factory: opens an empty memory with a model; called once, closed at the end.
        conversations: with ids of their own.
        rounds: of research, at most.
        per_conversation: how many questions of each, see :func:`spread`.
        judge: an LLM judge; its verdicts become the score ``judge``.
        progress: called as ``progress(what, done, total)`` after each conversation stored and question answered.
        facts: keys of the result that say what was measured, such as ``embedder`` and ``model``.

    Returns:
        One JSON-ready object: ``scores`` is ``{score: {group: mean}}`` with the groups ``all``, ``1-4`` (LoCoMo) and
        each category, ``counts`` the questions by group, ``answers`` one row a question, ``llm_calls`` and ``llm_tokens``
        those of research, ``judge_calls`` and ``judge_tokens`` those of the judge; else as :func:`~.runner.evaluate`. A
        question that the judge could not judge has no ``judge`` score and is listed in ``degraded``.

    Raises:
        InvalidInputError: there are no questions, or one has an unknown category.
    """
    chosen = {conversation.id: spread(conversation.questions, per_conversation) for conversation in conversations}
    n_questions = sum(map(len, chosen.values()))
    if not n_questions:
        raise InvalidInputError(
            f"none of the {len(conversations)} conversation(s) has a question; there is nothing to ask"
        )
    tally = Tally()
    rows: list[dict[str, Any]] = []
    advance = counted(progress, len(chosen) + n_questions)
    with memory_factory() as memory:
        for conversation in conversations:
            user = memory.user(conversation.id)
            store_conversation(user, conversation)
            advance(f"store {conversation.id}")
            for question in chosen[conversation.id]:
                asked = ask(user, question.text, k=10, strategy=RESEARCH, rounds=rounds)
                tally.add(asked)
                rows.append(_row(conversation.dataset, question, asked, judge, tally))
                advance(f"ask {conversation.id}")
    return {
        "dataset": dataset_of(conversations),
        "strategy": RESEARCH,
        **(facts or {}),
        "rounds": rounds,
        "n_conversations": len(conversations),
        "n_steps": sum(len(conversation.messages) for conversation in conversations),
        "n_questions": n_questions,
        **_tables(rows),
        "latency_ms": tally.latency(),
        "llm_calls": tally.calls,
        "llm_tokens": tally.tokens,
        "judge_calls": judge.usage.calls if judge else 0,
        "judge_tokens": judge.usage.tokens if judge else 0,
        "degraded": dict(tally.degraded),
        "notes": notes_of(conversations),
        "answers": rows,
    }


def _row(dataset: str, question: Question, asked: Asked, judge: AnswerJudge | None, tally: Tally) -> dict[str, Any]:
    answer = asked.answer or ABSTAINED
    row: dict[str, Any] = {
        "id": question.id,
        "category": question.category,
        "question": question.text,
        "gold": question.answer,
        "answer": answer,
        "abstained": asked.answer is None,
        "scores": answer_scores(dataset, question, answer),
    }
    if judge is not None:
        verdict, degraded = judge.judge(question.text, question.answer, answer)
        tally.degraded.update(degraded)
        if verdict is not None:
            row["scores"]["judge"] = float(verdict.correct)
            row["reason"] = verdict.reason
    return row


def _tables(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    categories = sorted({row["category"] for row in rows}, key=natural_key)
    named: dict[str, Collection[str]] = {"1-4": _LOCOMO_RANGE} if set(categories) <= {*_LOCOMO_RANGE, "5"} else {}
    named |= {category: (category,) for category in categories}
    groups = {"all": rows, **{name: [row for row in rows if row["category"] in of] for name, of in named.items()}}
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    return {
        "counts": {group: len(members) for group, members in groups.items()},
        "scores": {name: {group: _mean(members, name) for group, members in groups.items()} for name in names},
    }


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [row["scores"][name] for row in rows if name in row["scores"]]
    return math.fsum(values) / len(values) if values else None
